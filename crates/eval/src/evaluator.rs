//! A network that follows a search: positions on a stack, each with its accumulator.

use crate::accumulator::Accumulator;
use crate::net::Net;
use manaka_core::{Move16, Packed};
use manaka_load::features::{Board, PositionFault};

/// A stack of positions and their accumulators. Going on costs the pieces that moved, going back costs nothing.
#[derive(Clone, Debug)]
pub struct Evaluator<'a> {
    net: &'a Net,
    /// Never empty.
    stack: Vec<Frame>,
}

#[derive(Clone, Debug)]
struct Frame {
    position: Packed,
    accumulator: Accumulator,
}

impl Frame {
    fn of(net: &Net, position: &Packed) -> Result<Self, PositionFault> {
        let board = Board::new(position.as_bytes())?;
        Ok(Self { position: *position, accumulator: Accumulator::of(net, &board) })
    }
}

impl<'a> Evaluator<'a> {
    /// Begins at a position.
    ///
    /// # Errors
    /// [`PositionFault`]: there are no features of such bytes.
    pub fn new(net: &'a Net, position: &Packed) -> Result<Self, PositionFault> {
        Ok(Self { net, stack: vec![Frame::of(net, position)?] })
    }

    /// Begins anew at another position, which nothing can be undone behind.
    ///
    /// # Errors
    /// [`PositionFault`]: there are no features of such bytes. Nothing has changed.
    pub fn set(&mut self, position: &Packed) -> Result<(), PositionFault> {
        let frame = Frame::of(self.net, position)?;
        self.stack.clear();
        self.stack.push(frame);
        Ok(())
    }

    /// Goes on to a position, from whatever move generator: what differs from the present one is what costs. It need
    /// not be a move away.
    ///
    /// # Errors
    /// [`PositionFault`]: there are no features of such bytes. Nothing has changed.
    pub fn push(&mut self, position: &Packed) -> Result<(), PositionFault> {
        let new = Board::new(position.as_bytes())?;
        let present = self.present();
        let old = Board::new(present.position.as_bytes())?;
        let mut accumulator = present.accumulator.clone();
        accumulator.update(self.net, present.position.as_bytes(), &old, position.as_bytes(), &new);
        self.stack.push(Frame { position: *position, accumulator });
        Ok(())
    }

    /// Plays a move; `false` where no piece of the mover's could make it ([`Packed::after`]), and nothing has changed.
    /// Legality is not looked at.
    pub fn play(&mut self, mv: Move16) -> bool {
        self.position().after(mv).is_some_and(|next| self.push(&next).is_ok())
    }

    /// Takes the last move back; `false` at the position it began with.
    pub fn undo(&mut self) -> bool {
        self.stack.len() > 1 && self.stack.pop().is_some()
    }

    /// The present position.
    #[must_use]
    pub fn position(&self) -> &Packed {
        &self.present().position
    }

    /// Its accumulator.
    #[must_use]
    pub fn accumulator(&self) -> &Accumulator {
        &self.present().accumulator
    }

    /// The network's output for the side to move; [`centipawns`](crate::centipawns) makes a score of it.
    #[must_use]
    pub fn output(&self) -> i32 {
        self.net.propagate(self.accumulator(), self.position().side())
    }

    fn present(&self) -> &Frame {
        // Never empty: it begins with one, and `undo` leaves one.
        &self.stack[self.stack.len() - 1]
    }
}
