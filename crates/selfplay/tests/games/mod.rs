//! What the tests share: an evaluator with opinions, runs, and their streams read back.
#![allow(dead_code, reason = "each test file uses some of it")]

use manaka_core::stream::{Record, StreamReader};
use manaka_search::{Gumbel, Options as Search, Puct};
use manaka_selfplay::{
    DATA, Evaluator, EvaluatorError, Evaluators, GameLine, Identity, JOURNAL, Options, Replies, Report,
    Request, run,
};
use std::fs;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// An evaluator whose opinions are a hash of the position and the move, and of no use: no two positions are alike.
#[derive(Clone, Copy, Debug)]
pub struct Opinions {
    /// Positions it likes in a batch.
    pub batch: usize,
    /// How strong its opinions on moves are.
    pub sharpness: f32,
}

impl Default for Opinions {
    fn default() -> Self {
        Self { batch: 1, sharpness: 3.0 }
    }
}

/// Uniform in −1 to 1.
pub fn hashed(bytes: &[u8], seed: u64) -> f32 {
    (xxh3_64_with_seed(bytes, seed) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

impl Evaluator for Opinions {
    fn batch_hint(&self) -> usize {
        self.batch
    }

    fn evaluate(&mut self, batch: &[Request<'_>], replies: &mut Replies) -> Result<(), EvaluatorError> {
        assert_eq!(batch.len(), replies.len());
        for (request, reply) in batch.iter().zip(replies.iter_mut()) {
            let bytes = request.position.as_bytes();
            for (logit, mv) in reply.logits.iter_mut().zip(request.moves) {
                *logit = self.sharpness * hashed(bytes, mv.bits().into());
            }
            *reply.value = hashed(bytes, u64::MAX);
        }
        Ok(())
    }
}

impl Evaluators for Opinions {
    fn identity(&self) -> Identity {
        Identity::new("opinions", None)
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        Ok(Box::new(*self))
    }
}

/// Short games of small Gumbel searches.
pub fn gumbel(games: u64) -> Options {
    let mut options = Options::new(Search::new(8, Gumbel { considered: 4, ..Gumbel::default() }), games);
    options.max_ply = 40;
    options
}

/// Short games of small PUCT searches.
pub fn puct(games: u64) -> Options {
    let mut options = Options::new(Search::new(12, Puct::default()), games);
    options.max_ply = 40;
    options
}

/// A whole run in a new directory.
pub fn play(options: &Options, evaluators: &dyn Evaluators) -> (Report, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (run(options, evaluators, dir.path(), &()).unwrap(), dir)
}

/// The bytes of stream and journal.
pub fn bytes(dir: &Path) -> (Vec<u8>, Vec<u8>) {
    (fs::read(dir.join(DATA)).unwrap(), fs::read(dir.join(JOURNAL)).unwrap())
}

/// The games of a run: their lines and records.
pub fn games(dir: &Path) -> Vec<(GameLine, Vec<Record>)> {
    let mut records = StreamReader::open(&dir.join(DATA)).unwrap().records();
    fs::read_to_string(dir.join(JOURNAL))
        .unwrap()
        .lines()
        .map(|line| {
            let line: GameLine = serde_json::from_str(line).unwrap();
            let records = records.by_ref().take(line.records as usize).map(Result::unwrap).collect();
            (line, records)
        })
        .collect()
}
