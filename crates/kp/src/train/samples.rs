//! Rows of shards as a training wants them, in memory: inputs, all legal moves' labels, targets.

use super::error::{Error, Result, SampleFault};
use manaka_core::packed::PACKED_LEN;
use manaka_core::progress::Progress;
use manaka_core::{Move16, Packed};
use manaka_load::features::{Board as Seen, KP_WIDTH, PAD, View, kp, label};
use manaka_load::{
    Batch, Loader, Options as LoadOptions, OutcomeAbsent, Policy, PolicyTarget, ShardSet, WeightMode,
};
use manaka_shogi::Board;
use std::num::NonZeroUsize;

/// No input: what stands behind the last of fewer pieces.
pub const NONE: u16 = u16::MAX;

/// Rows to learn from or to measure by. One takes about 270 bytes.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// The mover's list of KP, with [`NONE`] behind it.
    rows: Vec<[u16; KP_WIDTH]>,
    value: Vec<f32>,
    weight: Vec<f32>,
    /// Where the legal moves and the candidates of each sample end.
    ends: Vec<[usize; 2]>,
    /// Labels of all legal moves.
    labels: Vec<u16>,
    /// Candidates: which of the legal moves, and its prob.
    candidates: Vec<(u16, f32)>,
}

/// One of [`Samples`].
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The mover's list of KP.
    pub rows: &'a [u16],
    /// The value target in [−1, 1].
    pub value: f32,
    /// The weight, positive.
    pub weight: f32,
    /// Labels of all legal moves, at least one.
    pub labels: &'a [u16],
    /// Candidates: which of the legal moves, and its prob.
    pub candidates: &'a [(u16, f32)],
}

impl Samples {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Legal moves of all of them.
    #[must_use]
    pub const fn moves(&self) -> usize {
        self.labels.len()
    }

    /// Bytes of memory they hold.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<[u16; KP_WIDTH]>()
            + (self.value.capacity() + self.weight.capacity()) * size_of::<f32>()
            + self.ends.capacity() * size_of::<[usize; 2]>()
            + self.labels.capacity() * size_of::<u16>()
            + self.candidates.capacity() * size_of::<(u16, f32)>()
    }

    /// Adds a position: the value target, the weight, and candidates by label with their probs. `board` is worked on.
    ///
    /// # Errors
    /// [`SampleFault`]; nothing was added.
    pub fn push(
        &mut self,
        board: &mut Board,
        position: &Packed,
        [value, weight]: [f32; 2],
        candidates: impl IntoIterator<Item = (u16, f32)>,
    ) -> Result<(), SampleFault> {
        let sound =
            |what, found: f32, yes| if yes { Ok(()) } else { Err(SampleFault::Number { what, found }) };
        sound("the value", value, (-1.0..=1.0).contains(&value))?;
        sound("the weight", weight, weight > 0.0 && weight.is_finite())?;
        board.set(position, 0)?;
        let mut moves: Vec<Move16> = Vec::new();
        board.legal_moves(&mut moves);
        // A board that was set is one that features can be made of.
        let Ok(seen) = Seen::new(position.as_bytes()) else { return Err(SampleFault::NoMoves) };
        let view = View::of(seen.mover());
        let (first_label, first_candidate) = (self.labels.len(), self.candidates.len());
        self.labels.extend(moves.iter().filter_map(|&mv| label(mv, view)));
        let labels = &self.labels[first_label..];
        if labels.is_empty() {
            return Err(SampleFault::NoMoves);
        }
        let mut fault = None;
        for (label, prob) in candidates {
            let at = labels.iter().position(|&legal| legal == label).and_then(|at| u16::try_from(at).ok());
            match at {
                Some(at) if prob >= 0.0 && prob.is_finite() => self.candidates.push((at, prob)),
                Some(_) => fault = Some(SampleFault::Number { what: "a prob", found: prob }),
                None => fault = Some(SampleFault::Candidate { label }),
            }
        }
        if let Some(fault) = fault {
            self.labels.truncate(first_label);
            self.candidates.truncate(first_candidate);
            return Err(fault);
        }
        let (mut own, mut other) = ([PAD; KP_WIDTH], [PAD; KP_WIDTH]);
        kp(&seen, view, &mut own, &mut other);
        self.rows.push(own.map(|row| u16::try_from(row).unwrap_or(NONE)));
        self.value.push(value);
        self.weight.push(weight);
        self.ends.push([self.labels.len(), self.candidates.len()]);
        Ok(())
    }

    /// Reads all rows of shards, in their order.
    ///
    /// `blend` is `r` of the value target `(1 − r)·value_z + r·value_q`, in [0, 1]; shards without outcomes give
    /// `value_q` whole (loading.md §3). `limit` is the memory they may take, in bytes. Threads decode.
    ///
    /// # Errors
    /// [`Error::Load`], [`Error::Row`], [`Error::Memory`]; [`Error::Cancelled`].
    pub fn load(
        set: ShardSet,
        blend: f32,
        weight: WeightMode,
        limit: u64,
        threads: NonZeroUsize,
        progress: &impl Progress,
    ) -> Result<Self> {
        let shards: Vec<_> =
            set.shards().iter().map(|shard| (shard.path().to_owned(), shard.rows())).collect();
        let place = |mut row: u64| {
            for (path, rows) in &shards {
                if row < *rows {
                    return (path.clone(), row);
                }
                row -= rows;
            }
            Default::default()
        };
        let mut options = LoadOptions {
            threads,
            blend,
            outcome_absent: OutcomeAbsent::UseSearch,
            weight,
            policy: PolicyTarget::Sparse,
            ..LoadOptions::default()
        };
        options.columns.packed = true;
        let rows = set.rows();
        let mut loader = Loader::new(vec![set.into()], options)?;
        progress.phase("rows", Some(rows), "rows");
        let (mut samples, mut board, mut batch) = (Self::new(), Board::start(), Batch::default());
        while loader.next_into(&mut batch)? {
            if progress.cancelled() {
                return Err(Error::Cancelled);
            }
            let Policy::Sparse { offsets, label, prob } = &batch.policy else { continue };
            let (positions, _) = batch.packed.as_chunks::<PACKED_LEN>();
            for (at, position) in positions.iter().enumerate() {
                let candidates = offsets[at] as usize..offsets[at + 1] as usize;
                let candidates =
                    label[candidates.clone()].iter().copied().zip(prob[candidates].iter().copied());
                let position = Packed::from_bytes(*position);
                let numbers = [batch.value[at], batch.weight[at]];
                if let Err(fault) = samples.push(&mut board, &position, numbers, candidates) {
                    let (path, row) = place(samples.len() as u64);
                    return Err(Error::Row { path, row, fault });
                }
            }
            if samples.bytes() as u64 > limit {
                return Err(Error::Memory { rows, fit: samples.len() as u64, limit });
            }
            progress.advance(batch.rows as u64);
        }
        Ok(samples)
    }

    /// The sample of this number.
    pub fn get(&self, at: usize) -> Sample<'_> {
        let [label, candidate] = if at == 0 { [0, 0] } else { self.ends[at - 1] };
        let [label_end, candidate_end] = self.ends[at];
        let rows = &self.rows[at];
        Sample {
            rows: &rows[..rows.iter().position(|&row| row == NONE).unwrap_or(KP_WIDTH)],
            value: self.value[at],
            weight: self.weight[at],
            labels: &self.labels[label..label_end],
            candidates: &self.candidates[candidate..candidate_end],
        }
    }
}
