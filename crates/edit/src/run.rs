//! What every editor does around its own work: the chain before it, the lineage behind it.

use crate::error::Result;
use crate::lineage::{Count, FileFacts, InOut, Lineage, Step};
use crate::source::Source;
use manaka_core::progress::Progress;
use manaka_core::stream::{Header, StreamSet};
use manaka_core::{Conventions, out_dir};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The program that steps name.
const TOOL: &str = concat!("manaka ", env!("CARGO_PKG_VERSION"));

/// What an edit reads and where it writes.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The streams, in the order of one logical stream.
    pub inputs: &'a [PathBuf],
    /// The output directory; created, or empty.
    pub out: &'a Path,
    /// Who hears of the progress.
    pub progress: &'a dyn Progress,
}

/// An edit under way: inputs compared, output directory there, chain read.
pub struct Begun<'a> {
    pub source: Source<'a>,
    chain: Lineage,
    verb: &'static str,
}

impl<'a> Begun<'a> {
    /// Opens everything that can be wrong before the work begins.
    pub fn new(job: Job<'a>, verb: &'static str) -> Result<Self> {
        let source = Source::open(job.inputs, "reading", job.progress)?;
        let chain = Lineage::of(job.inputs)?;
        out_dir::create_empty(job.out)?;
        Ok(Self { source, chain, verb })
    }

    /// The conventions of the set, before anything is written.
    pub fn conventions(job: &Job<'_>) -> Result<Conventions> {
        Ok(*StreamSet::open(job.inputs.to_vec())?.conventions())
    }

    /// Writes the lineage into `dirs` and gives the step and the inputs it does not reach.
    pub fn conclude(self, header: &Header, done: Done, dirs: &[PathBuf]) -> Result<(Step, Vec<String>)> {
        let Self { source, mut chain, verb, .. } = self;
        let inputs = source.into_facts();
        let sum = |files: &[FileFacts]| files.iter().map(|file| file.records).sum();
        let records = InOut { input: sum(&inputs), output: sum(&done.outputs) };
        // Only where there is a chain can something be missing from it.
        let unlisted =
            |file: &&FileFacts| !chain.steps.is_empty() && chain.maker_of(&file.xxh3_128).is_none();
        let unlisted = inputs.iter().filter(unlisted).map(|file| file.name.clone()).collect();
        let named = |counts: Vec<(&str, Count)>| {
            counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect::<BTreeMap<_, _>>()
        };
        let step = Step {
            verb: verb.to_owned(),
            tool: TOOL.to_owned(),
            options: done.options,
            conventions: (&header.conventions).into(),
            inputs,
            outputs: done.outputs,
            records,
            games: done.games,
            dropped: named(done.dropped),
            changed: named(done.changed),
            refused: named(done.refused),
        };
        chain.push(step.clone());
        dirs.iter().try_for_each(|dir| chain.write(dir))?;
        Ok((step, unlisted))
    }
}

/// What an edit did, as its step tells it.
#[derive(Default)]
pub struct Done {
    pub options: BTreeMap<String, Value>,
    pub outputs: Vec<FileFacts>,
    pub games: Option<InOut>,
    pub dropped: Vec<(&'static str, Count)>,
    pub changed: Vec<(&'static str, Count)>,
    pub refused: Vec<(&'static str, Count)>,
}
