//! Proving moves legal without generating any: pins, checks and occupied squares of one position.
//!
//! The rules library answers the same questions, and the tests hold the two equal; what it does for each position it can
//! be asked about (attack tables, hashes, a history of moves) costs several times what five moves take to prove.

use crate::board::Unplayable;
use crate::lines::{
    ALL, DIRECTIONS, KNIGHT, LINES, RAYS, Squares, Way, ZONE, bit, dead, inside, is_long, nearest,
};
use manaka_core::packed::{BOARD, EMPTY, WHITE_BIT, board_byte};
use manaka_core::{Color, HandKind, Move16, Packed, PieceKind, Square};

/// A position that moves can be proved in.
#[derive(Clone, Debug)]
pub(crate) struct Prover {
    packed: Packed,
    occupied: Squares,
    /// By colour: lances, bishops, rooks, horses and dragons.
    long: [Squares; 2],
    /// By colour.
    kings: [usize; 2],
    /// Where a move of another piece than the king must end: anywhere, or where it answers the check. Nowhere in a
    /// double check.
    targets: Squares,
    /// The mover's pieces that may not leave a line to their king, and by its direction from the king, that line.
    pinned: Squares,
    pins: [Squares; DIRECTIONS],
}

const KNIGHTS: [u8; 2] =
    [board_byte(Color::Black, PieceKind::Knight), board_byte(Color::White, PieceKind::Knight)];

impl Prover {
    /// The position of these bytes, behind the gate of [`Board::set`](crate::Board::set).
    ///
    /// # Errors
    /// [`Unplayable::Faults`], [`Unplayable::OpponentInCheck`].
    pub(crate) fn new(packed: &Packed) -> Result<Self, Unplayable> {
        let faults = packed.faults();
        if !faults.is_empty() {
            return Err(Unplayable::Faults(faults));
        }
        let mut prover = Self {
            packed: *packed,
            occupied: 0,
            long: [0; 2],
            kings: [0; 2],
            targets: ALL,
            pinned: 0,
            pins: [0; DIRECTIONS],
        };
        for (square, &byte) in packed.as_bytes()[BOARD].iter().enumerate() {
            prover.occupied |= if byte == EMPTY { 0 } else { bit(square) };
            if is_long(byte) {
                prover.long[usize::from(byte & WHITE_BIT != 0)] |= bit(square);
            }
            if byte & !WHITE_BIT == PieceKind::King as u8 {
                prover.kings[usize::from(byte & WHITE_BIT != 0)] = square;
            }
        }
        let mover = packed.side();
        if prover.attacked(prover.kings[mover.flip() as usize], mover, prover.occupied) {
            return Err(Unplayable::OpponentInCheck);
        }
        prover.look(None);
        Ok(prover)
    }

    /// The position.
    pub(crate) const fn packed(&self) -> &Packed {
        &self.packed
    }

    /// Goes to the position behind a legal move: `next` is [`Packed::after`] it. The gate stays shut: a legal move leads
    /// from a playable position to a playable one.
    pub(crate) fn advance(&mut self, mv: Move16, next: &Packed) {
        debug_assert!(self.is_legal(mv) && self.packed.after(mv) == Some(*next));
        self.packed = *next;
        let mut moved = None;
        if let Some(to) = mv.to_square().map(Square::index) {
            moved = Some(to);
            let mut left = bit(to);
            self.occupied |= bit(to);
            if let Some(from) = mv.from_square().map(Square::index) {
                left |= bit(from);
                self.occupied &= !bit(from);
                if let Some(king) = self.kings.iter_mut().find(|king| **king == from) {
                    *king = to;
                }
            }
            let byte = self.byte(to);
            for (long, color) in self.long.iter_mut().zip(Color::ALL) {
                *long &= !left;
                if is_long(byte) && is(byte, color) {
                    *long |= bit(to);
                }
            }
        }
        self.look(moved);
    }

    fn byte(&self, square: usize) -> u8 {
        self.packed.as_bytes()[BOARD][square]
    }

    /// Finds checks and pins. `moved` is where the last move led: no other piece gives check from nearby.
    fn look(&mut self, moved: Option<usize>) {
        let mover = self.packed.side();
        let king = self.kings[mover as usize];
        let (mut checks, mut answers) = (0, ALL);
        let mut near = |checker: usize| {
            let (byte, way) = (self.packed.as_bytes()[BOARD][checker], Way::between(checker, king));
            if is(byte, mover.flip()) && !is_long(byte) && way.is_near() && way.suits(byte) {
                checks += 1;
                answers = bit(checker);
            }
        };
        match moved {
            Some(moved) => near(moved),
            None => {
                let steps = RAYS.iter().enumerate();
                steps.filter_map(|(direction, rays)| nearest(direction, rays[king])).for_each(&mut near);
                KNIGHT[mover as usize][king]
                    .into_iter()
                    .map(usize::from)
                    .filter(|&from| from < Square::COUNT)
                    .for_each(near);
            }
        }
        self.pinned = 0;
        let mut rest = self.long[mover.flip() as usize] & LINES[king];
        while rest != 0 {
            let attacker = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let way = Way::between(king, attacker);
            if !Way::between(attacker, king).suits(self.byte(attacker)) {
                continue;
            }
            let line = inside(way.direction(), king, attacker);
            let between = line & self.occupied;
            if between == 0 {
                checks += 1;
                answers = line | bit(attacker);
            } else if between & (between - 1) == 0 && is(self.byte(between.trailing_zeros() as usize), mover)
            {
                self.pinned |= between;
                self.pins[way.direction()] = line | bit(attacker);
            }
        }
        self.targets = match checks {
            0 => ALL,
            1 => answers,
            _ => 0,
        };
    }

    /// Knights of a colour that attack a square.
    fn knights(&self, square: usize, by: Color) -> impl Iterator<Item = usize> {
        // They stand where knights of the other colour would jump to.
        let board = &self.packed.as_bytes()[BOARD];
        KNIGHT[by.flip() as usize][square]
            .into_iter()
            .map(usize::from)
            .filter(move |&from| board.get(from) == Some(&KNIGHTS[by as usize]))
    }

    /// Whether a side attacks a square, with these squares occupied.
    fn attacked(&self, square: usize, by: Color, occupied: Squares) -> bool {
        let along = |direction: usize| {
            nearest(direction, RAYS[direction][square] & occupied).is_some_and(|from| {
                let byte = self.byte(from);
                is(byte, by) && Way::between(from, square).suits(byte)
            })
        };
        (0..DIRECTIONS).any(along) || self.knights(square, by).next().is_some()
    }

    /// Whether the move is legal. Any bits can be asked about.
    pub(crate) fn is_legal(&self, mv: Move16) -> bool {
        if !mv.is_well_formed() {
            return false;
        }
        let Some(to) = mv.to_square() else { return false };
        match (mv.from_square(), mv.dropped_kind()) {
            (Some(from), None) => self.is_legal_on_board(from.index(), to.index(), mv.is_promote()),
            (None, Some(kind)) => self.is_legal_drop(kind, to.index(), mv),
            _ => false,
        }
    }

    fn is_legal_on_board(&self, from: usize, to: usize, promote: bool) -> bool {
        let mover = self.packed.side();
        let (byte, captured) = (self.byte(from), self.byte(to));
        let way = Way::between(from, to);
        if !is(byte, mover) || is(captured, mover) || !way.suits(byte) {
            return false;
        }
        if !way.is_near() && inside(way.direction(), from, to) & self.occupied != 0 {
            return false;
        }
        let Some((_, kind)) = manaka_core::packed::piece_of(byte) else { return false };
        let allowed = if promote {
            kind.promoted().is_some() && (bit(from) | bit(to)) & ZONE[mover as usize] != 0
        } else {
            dead(mover, kind) & bit(to) == 0
        };
        if !allowed {
            return false;
        }
        if kind == PieceKind::King {
            // It does not hide behind itself.
            return !self.attacked(to, mover.flip(), self.occupied & !bit(from));
        }
        if self.targets & bit(to) == 0 {
            return false;
        }
        if self.pinned & bit(from) == 0 {
            return true;
        }
        let line = Way::between(self.kings[mover as usize], from);
        self.pins[line.direction() % DIRECTIONS] & bit(to) != 0
    }

    fn is_legal_drop(&self, kind: HandKind, to: usize, mv: Move16) -> bool {
        let mover = self.packed.side();
        if self.packed.hand(mover, kind) == 0
            || self.byte(to) != EMPTY
            || (dead(mover, kind.piece_kind()) | !self.targets) & bit(to) != 0
        {
            return false;
        }
        if kind != HandKind::Pawn {
            return true;
        }
        let pawn = board_byte(mover, PieceKind::Pawn);
        let file = to - to % 9;
        let second_on_file = self.packed.as_bytes()[BOARD][file..file + 9].contains(&pawn);
        let gives_check = Way::between(to, self.kings[mover.flip() as usize]).suits(pawn);
        !(second_on_file || gives_check && self.pawn_drop_mates(mv, to))
    }

    /// Whether a pawn dropped in front of the other king mates. Nothing fits in between: the king moves, or the pawn is
    /// taken.
    fn pawn_drop_mates(&self, mv: Move16, to: usize) -> bool {
        let Some(next) = self.packed.after(mv) else { return false };
        let mut reply = Self { packed: next, occupied: self.occupied | bit(to), ..self.clone() };
        reply.look(Some(to));
        let defender = next.side();
        let king = reply.kings[defender as usize];
        let escapes = (0..Square::COUNT).any(|square| reply.is_legal_on_board(king, square, false));
        // A pawn that is taken is not on a rank on which a knight, lance or pawn of the taker's could be dead and not
        // promote; so it may promote or not, and either way it is taken.
        let taken = (0..Square::COUNT).any(|from| {
            is(reply.byte(from), defender)
                && [false, true].into_iter().any(|promote| reply.is_legal_on_board(from, to, promote))
        });
        !escapes && !taken
    }
}

/// Whether a board byte is a piece of this colour.
const fn is(byte: u8, color: Color) -> bool {
    byte & !(0x0F) == (color as u8) << 4
}

const _: () = assert!(WHITE_BIT == (Color::White as u8) << 4 && EMPTY & 0xE0 != 0);
