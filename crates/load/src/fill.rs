//! Rows of decoded groups to the arrays of a batch: what worker threads do (loading.md §3, features.md).

use crate::batch::{Batch, Features, Policy};
use crate::error::{Error, Result, RowFault};
use crate::features::{self, Board, KP_WIDTH, LABELS, Planes, PositionFault, View};
use crate::options::Options;
use crate::slot::{Group, Slot};
use crate::targets;
use manaka_core::packed::{PACKED_LEN, SIDE};
use manaka_core::{Color, Move16, Pov};
use std::ops::Range;
use std::sync::Arc;

/// A batch to be filled, and from what.
#[derive(Default)]
pub struct Task {
    /// Counts batches.
    pub number: u64,
    pub batch: Batch,
    pub slots: Vec<Arc<Slot>>,
    pub spans: Vec<Span>,
}

/// Neighbouring rows of one group.
#[derive(Clone, Copy)]
pub struct Span {
    /// In the slots of the task.
    pub slot: usize,
    pub start: usize,
    pub rows: usize,
}

/// A part of a span whose first row goes to row `at` of the batch.
struct Part<'a> {
    slot: &'a Slot,
    group: &'a Group,
    rows: Range<usize>,
    at: usize,
}

impl Part<'_> {
    /// The rows, each with its place in the batch.
    fn each(&self) -> impl Iterator<Item = (usize, usize)> {
        self.rows.clone().zip(self.at..)
    }

    fn error(&self, row: usize, fault: RowFault) -> Error {
        let place = self.slot.place();
        let path = self.slot.set().shards()[place.shard].path().to_owned();
        Error::Row { path, row: place.first_row + row as u64, fault }
    }

    fn packed(&self, row: usize) -> &[u8; PACKED_LEN] {
        &self.group.rows.packed[row]
    }

    /// Who moves and whether the row is mirrored.
    fn view(&self, row: usize) -> Result<View, RowFault> {
        let mover = match self.packed(row)[SIDE] {
            0 => Color::Black,
            1 => Color::White,
            _ => return Err(PositionFault::SideByte.into()),
        };
        Ok(View::of(mover).mirrored(self.group.mirrored(row)))
    }

    /// Calls `make` with the board and view of each row and its place in the batch.
    fn boards(&self, make: impl FnMut(usize, &Board<'_>, View)) -> Result<()> {
        self.boards_by(Board::new, make)
    }

    /// The same by another way to look at a position.
    #[inline(always)]
    fn boards_by<'a>(
        &'a self,
        look: impl Fn(&'a [u8; PACKED_LEN]) -> Result<Board<'a>, PositionFault>,
        mut make: impl FnMut(usize, &Board<'_>, View),
    ) -> Result<()> {
        for (row, at) in self.each() {
            let board = look(self.packed(row)).map_err(|fault| self.error(row, fault.into()))?;
            let view = View::of(board.mover()).mirrored(self.group.mirrored(row));
            make(at, &board, view);
        }
        Ok(())
    }
}

/// Fills the task's batch.
pub fn fill(task: &mut Task, options: &Options) -> Result<()> {
    let Task { batch, slots, spans, .. } = task;
    batch.prepare(options, spans.iter().map(|span| span.rows).sum());
    let mut at = 0;
    for span in &*spans {
        let slot = &*slots[span.slot];
        let part = Part { slot, group: slot.group()?, rows: span.start..span.start + span.rows, at };
        targets(&part, options, batch)?;
        columns(&part, options, batch);
        features(&part, &mut batch.features)?;
        policy(&part, &mut batch.policy)?;
        at += span.rows;
    }
    Ok(())
}

fn targets(part: &Part<'_>, options: &Options, batch: &mut Batch) -> Result<()> {
    let rows = &part.group.rows;
    let to = part.at..part.at + part.rows.len();
    let values = &mut batch.value[to.clone()];
    let fault = |(row, fault)| part.error(part.rows.start + row, fault);
    let (value_z, value_q) = (rows.value_z.get(part.rows.clone()), rows.value_q.get(part.rows.clone()));
    targets::values(value_z, value_q, options.blend, values).map_err(fault)?;
    targets::weights(&rows.weight[part.rows.clone()], options.weight, &mut batch.weight[to])
        .map_err(fault)?;
    if part.slot.set().conventions().pov == Pov::Black {
        // conventions.md §2: stated by Black, and White's is the opposite.
        for (row, at) in part.each() {
            let view = part.view(row).map_err(|fault| part.error(row, fault))?;
            if Pov::Black.negates_for(view.mover()) {
                batch.value[at] = -batch.value[at];
            }
        }
    }
    Ok(())
}

fn columns(part: &Part<'_>, options: &Options, batch: &mut Batch) {
    let rows = &part.group.rows;
    let to = part.at..part.at + part.rows.len();
    if options.columns.packed {
        let packed = rows.packed[part.rows.clone()].as_flattened();
        batch.packed[to.start * PACKED_LEN..to.end * PACKED_LEN].copy_from_slice(packed);
    }
    if options.columns.ply {
        batch.ply[to].copy_from_slice(&rows.ply[part.rows.clone()]);
    }
}

fn features(part: &Part<'_>, out: &mut Features) -> Result<()> {
    match out {
        Features::None => Ok(()),
        Features::Indices { width, mover, opponent } => indices(part, *width, mover, opponent),
        Features::Bits { first, second } => {
            let (first, second) = (first.as_chunks_mut().0, second.as_chunks_mut().0);
            planes(part, |at, planes| planes.bits(&mut first[at], &mut second[at]))
        }
        Features::Bytes { first, second } => {
            let (first, second) = (first.as_chunks_mut().0, second.as_chunks_mut().0);
            planes(part, |at, planes| planes.unfold::<u8>(&mut first[at], &mut second[at]))
        }
        Features::Floats(floats) => {
            #[cfg(target_arch = "x86_64")]
            if features::wide::available()
                && let Some(lines) = features::Lines::of(floats)
            {
                // SAFETY: the processor has what the function is compiled for. `features::floats` has the tests.
                return unsafe { floats_wide(part, lines) };
            }
            let (first, second) = floats.rows_mut();
            planes(part, |at, planes| planes.unfold(&mut first[at], &mut second[at]))
        }
    }
}

/// Calls `write` with the planes of each row and its place in the batch.
fn planes(part: &Part<'_>, write: impl FnMut(usize, &Planes)) -> Result<()> {
    #[cfg(target_arch = "x86_64")]
    if features::wide::available() {
        // SAFETY: as above.
        return unsafe { planes_wide(part, write) };
    }
    planes_by(part, Board::new, write)
}

#[inline(always)]
fn planes_by<'a>(
    part: &'a Part<'_>,
    look: impl Fn(&'a [u8; PACKED_LEN]) -> Result<Board<'a>, PositionFault>,
    mut write: impl FnMut(usize, &Planes),
) -> Result<()> {
    let mut planes = Planes::EMPTY;
    part.boards_by(look, |at, board, view| {
        planes.set(board, view);
        write(at, &planes);
    })
}

/// The same with AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt")]
fn planes_wide(part: &Part<'_>, write: impl FnMut(usize, &Planes)) -> Result<()> {
    planes_by(part, |packed| features::wide::board(packed), write)
}

/// Lines that change.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt")]
fn floats_wide(part: &Part<'_>, mut lines: features::Lines<'_>) -> Result<()> {
    let filled =
        planes_by(part, |packed| features::wide::board(packed), |at, planes| lines.write(at, planes));
    lines.finish();
    filled
}

fn indices(part: &Part<'_>, width: usize, mover: &mut [i32], opponent: &mut [i32]) -> Result<()> {
    #[cfg(target_arch = "x86_64")]
    if features::wide::available() {
        // SAFETY: the processor has what the function is compiled for. `features::wide` has the tests.
        return unsafe { indices_wide(part, width, mover, opponent) };
    }
    if width == KP_WIDTH {
        let (mover, opponent) = (mover.as_chunks_mut().0, opponent.as_chunks_mut().0);
        part.boards(|at, board, view| features::kp(board, view, &mut mover[at], &mut opponent[at]))
    } else {
        let (mover, opponent) = (mover.as_chunks_mut().0, opponent.as_chunks_mut().0);
        part.boards(|at, board, view| features::halfkp(board, view, &mut mover[at], &mut opponent[at]))
    }
}

/// The same with AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt")]
fn indices_wide(part: &Part<'_>, width: usize, mover: &mut [i32], opponent: &mut [i32]) -> Result<()> {
    use features::wide;
    let look = |packed| wide::board(packed);
    let men =
        |board: &Board<'_>, view, add, own: &mut _, other: &mut _| wide::men(board, view, add, own, other);
    if width == KP_WIDTH {
        let (mover, opponent) = (mover.as_chunks_mut().0, opponent.as_chunks_mut().0);
        part.boards_by(look, |at, board, view| {
            features::kp_by(men, board, view, &mut mover[at], &mut opponent[at]);
        })
    } else {
        let (mover, opponent) = (mover.as_chunks_mut().0, opponent.as_chunks_mut().0);
        part.boards_by(look, |at, board, view| {
            features::halfkp_by(men, board, view, &mut mover[at], &mut opponent[at]);
        })
    }
}

fn policy(part: &Part<'_>, out: &mut Policy) -> Result<()> {
    if *out == Policy::None {
        return Ok(());
    }
    let rows = &part.group.rows;
    for (row, at) in part.each() {
        let candidates = rows.candidates(row);
        let moves = rows.mv[candidates.clone()].iter().zip(&rows.prob[candidates]);
        let take = || {
            let view = part.view(row)?;
            let mut sum = 0.0;
            for (&mv, &p) in moves {
                let mv = Move16::from_bits(mv);
                let number = features::label(mv, view).ok_or(RowFault::Move(mv))?;
                if !(0.0..=1.0).contains(&p) {
                    return Err(RowFault::Prob(p));
                }
                sum += p;
                match out {
                    Policy::None => {}
                    Policy::Sparse { label, prob, .. } => {
                        label.push(number);
                        prob.push(p);
                    }
                    Policy::Dense(probs) => probs[at * LABELS + usize::from(number)] += p,
                }
            }
            // Rounded f32s of a whole: of 65,535 equal ones the sum is off by less.
            if (sum - 1.0).abs() > 1e-2 {
                return Err(RowFault::ProbSum(sum));
            }
            if let Policy::Sparse { offsets, label, .. } = out {
                offsets.push(u32::try_from(label.len()).unwrap_or(u32::MAX));
            }
            Ok(())
        };
        take().map_err(|fault| part.error(row, fault))?;
    }
    Ok(())
}
