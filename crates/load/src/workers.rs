//! The threads that decode and fill, and the order that does not show who did what.

use crate::error::{Error, Result};
use crate::fill::{Task, fill};
use crate::slot::{Context, Slot};
use crossbeam_channel::{Receiver, Sender, unbounded};
use manaka_core::guard;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Threads at work. Dropping them waits until each has ended what it is at.
pub struct Workers {
    /// `None` once they are to end.
    jobs: Option<Sender<Job>>,
    done: Receiver<Lot>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Batches that are filled one after the other and handed over together, each with what came of it.
pub type Lot = Vec<(Task, Result<()>)>;

enum Job {
    Decode(Arc<Slot>),
    Fill(Vec<Task>),
}

impl Workers {
    pub fn start(context: &Arc<Context>) -> Result<Self> {
        let (jobs, inbox) = unbounded();
        let (outbox, done) = unbounded();
        let stop = Arc::new(AtomicBool::new(false));
        let mut workers = Self { jobs: Some(jobs), done, stop: Arc::clone(&stop), threads: Vec::new() };
        for number in 0..context.options.threads.get() {
            let (inbox, outbox) = (inbox.clone(), outbox.clone());
            let (context, stop) = (Arc::clone(context), Arc::clone(&stop));
            let thread = thread::Builder::new()
                .name(format!("load-{number}"))
                .spawn(move || work(&context, &inbox, &outbox, &stop))
                .map_err(|error| Error::Worker(error.to_string()))?;
            workers.threads.push(thread);
        }
        Ok(workers)
    }

    /// Has a group decoded.
    pub fn decode(&self, slot: Arc<Slot>) {
        self.send(Job::Decode(slot));
    }

    /// Has batches filled.
    pub fn fill(&self, tasks: Vec<Task>) {
        self.send(Job::Fill(tasks));
    }

    /// Waits for any batches.
    pub fn wait(&self) -> Result<Lot> {
        self.done.recv().map_err(|error| Error::Worker(error.to_string()))
    }

    fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // Without a worker nothing is ever done, and waiting says so.
            let _ = jobs.send(job);
        }
    }
}

fn work(context: &Context, inbox: &Receiver<Job>, outbox: &Sender<Lot>, stop: &AtomicBool) {
    for job in inbox {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        match job {
            // What goes wrong is told to the batches that need the group.
            Job::Decode(slot) => {
                let _ = guard::foreign(|| slot.group().is_ok());
            }
            Job::Fill(tasks) => {
                let filled = tasks.into_iter().map(|mut task| {
                    let result = guard::foreign(|| fill(&mut task, &context.options));
                    (task, result.unwrap_or_else(|text| Err(Error::Worker(text))))
                });
                if outbox.send(filled.collect()).is_err() {
                    return;
                }
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // A panic of a worker was told as an error.
            let _ = thread.join();
        }
    }
}
