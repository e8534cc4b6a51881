//! One module a verb: its arguments, how they resolve, what it runs and prints.

pub mod check;
pub mod corpus;
pub mod duel;
pub mod generate;
pub mod gensfen;
pub mod info;
pub mod pack;
pub mod selfplay;
pub mod stat;
pub mod teacher;
pub mod train_kp;
pub mod view;

use std::num::NonZeroUsize;

/// Arguments that every parallel verb has.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct Threads {
    /// Threads to use; the cores of the machine unless given. The output does not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl Threads {
    /// The number to use.
    pub fn get(self) -> NonZeroUsize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}
