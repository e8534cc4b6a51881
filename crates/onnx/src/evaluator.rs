//! The evaluator: planes in, the logits of the legal moves and a value out.

use crate::error::{Error, Result};
use crate::interface::{INPUTS, OUTPUTS, fixed_batch};
use crate::runtime::Runtime;
use crate::session::{Provider, session};
use manaka_core::sfen::STARTPOS;
use manaka_core::{Packed, Square};
use manaka_load::features::{Board, LABELS, PLANES1, PLANES2, Planes, View, label};
use manaka_selfplay::{Evaluator, EvaluatorError, Evaluators, Identity, Replies, ReplyMut, Request};
use ort::session::Session;
use ort::value::TensorRef;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// Numbers of one position in each input.
const WIDTH1: usize = PLANES1 * Square::COUNT;
const WIDTH2: usize = PLANES2 * Square::COUNT;

/// A network in ONNX that takes and gives what dlshogi's do.
#[derive(Debug)]
pub struct Onnx {
    runtime: Runtime,
    provider: Provider,
    path: PathBuf,
    network: Vec<u8>,
    shape: Batches,
    /// The session that has proved the network, for the first who wants one: some take minutes to make.
    proved: Mutex<Option<Session>>,
}

/// How batches are cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Batches {
    /// Most positions at once.
    most: usize,
    /// Whether batches with fewer are filled up.
    padded: bool,
}

impl Onnx {
    /// Opens a network and tries it: names, types and shapes of what goes in and comes out, and whether the values of
    /// some positions are win rates. `batch` is how many positions it takes at once, [`Provider::default_batch`] unless
    /// given; a network whose own shape fixes that has it its way.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Refused`] where ONNX Runtime cannot read it, [`Error::Foreign`] where it is another kind
    /// of network, [`Error::Provider`].
    pub fn open(
        path: &Path,
        runtime: &Runtime,
        provider: Provider,
        batch: Option<NonZeroUsize>,
    ) -> Result<Self> {
        let network = std::fs::read(path).map_err(|error| Error::Io { path: path.to_owned(), error })?;
        let foreign = |reason| Error::Foreign { path: path.to_owned(), reason };
        let session = session(runtime, provider, path, &network)?;
        let fixed = fixed_batch(&session).map_err(foreign)?;
        let asked = batch.map_or(provider.default_batch(), NonZeroUsize::get);
        let shape =
            Batches { most: fixed.unwrap_or(asked), padded: fixed.is_some() || provider.wants_one_shape() };
        let mut worker = Worker::new(session, shape);
        worker.prove().map_err(foreign)?;
        let proved = Mutex::new(Some(worker.session));
        Ok(Self { runtime: runtime.clone(), provider, path: path.to_owned(), network, shape, proved })
    }
}

impl Evaluators for Onnx {
    fn identity(&self) -> Identity {
        Identity {
            name: "onnx".to_owned(),
            net: Some(format!("xxh3:{:016x}", xxh3_64(&self.network))),
            provider: Some(self.provider.to_string()),
        }
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        let proved = self.proved.lock().unwrap_or_else(PoisonError::into_inner).take();
        let session = match proved {
            Some(session) => session,
            None => session(&self.runtime, self.provider, &self.path, &self.network)
                .map_err(EvaluatorError::new)?,
        };
        Ok(Box::new(Worker::new(session, self.shape)))
    }
}

/// What one thread has.
struct Worker {
    session: Session,
    shape: Batches,
    planes: Planes,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Worker {
    fn new(session: Session, shape: Batches) -> Self {
        Self { session, shape, planes: Planes::EMPTY, first: Vec::new(), second: Vec::new() }
    }

    /// Asks about positions that are even, won and lost, with a batch that is not full.
    fn prove(&mut self) -> Result<(), String> {
        const WON: &str = "4k4/9/9/9/9/9/9/1R5B1/4K4 b RB4G4S4N4L18P 1";
        const LOST: &str = "4k4/1b5r1/9/9/9/9/9/9/4K4 b rb4g4s4n4l18p 1";
        let positions =
            [STARTPOS, WON, LOST].map(|sfen| Packed::from_sfen(sfen).map(|(position, _)| position));
        for position in positions {
            let position = position.map_err(|error| error.to_string())?;
            let batch = [Request { position: &position, moves: &[] }];
            let mut replies = Replies::new();
            replies.fit(&batch);
            self.some(&batch, &mut replies.iter_mut())?;
        }
        Ok(())
    }

    /// Evaluates as many positions as fit.
    fn some<'r>(
        &mut self,
        batch: &[Request<'_>],
        replies: &mut impl Iterator<Item = ReplyMut<'r>>,
    ) -> Result<(), String> {
        let rows = if self.shape.padded { self.shape.most } else { batch.len() };
        self.first.clear();
        self.first.resize(rows * WIDTH1, 0.0);
        self.second.clear();
        self.second.resize(rows * WIDTH2, 0.0);
        let (first, _) = self.first.as_chunks_mut::<WIDTH1>();
        let (second, _) = self.second.as_chunks_mut::<WIDTH2>();
        for ((request, first), second) in batch.iter().zip(first).zip(second) {
            let board = Board::new(request.position.as_bytes()).map_err(|fault| fault.to_string())?;
            self.planes.set(&board, View::of(board.mover()));
            self.planes.unfold(first, second);
        }
        let failed = |error: ort::Error| error.message().trim().to_owned();
        let [name1, name2] = INPUTS;
        let outputs = self
            .session
            .run(ort::inputs![
                name1 => TensorRef::from_array_view(([rows, PLANES1, 9, 9], &*self.first)).map_err(failed)?,
                name2 => TensorRef::from_array_view(([rows, PLANES2, 9, 9], &*self.second)).map_err(failed)?,
            ])
            .map_err(failed)?;
        let output = |name: &str, width: usize| {
            let (shape, numbers) =
                outputs.get(name).ok_or("no output")?.try_extract_tensor::<f32>().map_err(failed)?;
            if numbers.len() == rows * width && shape.first() == Some(&(rows as i64)) {
                Ok(numbers)
            } else {
                Err(format!("{rows} positions give {name}{shape:?}"))
            }
        };
        let (policy, _) = output(OUTPUTS[0], LABELS)?.as_chunks::<LABELS>();
        let values = output(OUTPUTS[1], 1)?;
        for (((request, policy), &win_rate), reply) in batch.iter().zip(policy).zip(values).zip(replies) {
            let view = View::of(request.position.side());
            for (logit, &mv) in reply.logits.iter_mut().zip(request.moves) {
                let label = label(mv, view).ok_or_else(|| format!("{mv} has no label"))?;
                *logit = policy[usize::from(label)];
            }
            *reply.value = value(win_rate)?;
        }
        Ok(())
    }
}

/// A win rate on the scale of values, from −1 to 1.
fn value(win_rate: f32) -> Result<f32, String> {
    // A sigmoid in half precision may end a little beyond.
    const SLACK: f32 = 1e-3;
    if !(-SLACK..=1.0 + SLACK).contains(&win_rate) {
        return Err(format!("{} is {win_rate}, and no win rate from 0 to 1", OUTPUTS[1]));
    }
    Ok((2.0 * win_rate - 1.0).clamp(-1.0, 1.0))
}

impl Evaluator for Worker {
    fn batch_hint(&self) -> usize {
        self.shape.most
    }

    fn evaluate(&mut self, batch: &[Request<'_>], replies: &mut Replies) -> Result<(), EvaluatorError> {
        let mut replies = replies.iter_mut();
        for batch in batch.chunks(self.shape.most) {
            self.some(batch, &mut replies).map_err(EvaluatorError::new)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_win_rate_becomes_a_value_and_what_is_none_is_refused() {
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(|rate| value(rate).unwrap()), [-1.0, -0.5, 0.0, 1.0]);
        assert_eq!([-5e-4, 1.0005].map(|rate| value(rate).unwrap()), [-1.0, 1.0]);
        for wrong in [-0.01, 1.01, f32::NAN, f32::INFINITY] {
            assert!(value(wrong).unwrap_err().contains("no win rate"), "{wrong}");
        }
    }
}
