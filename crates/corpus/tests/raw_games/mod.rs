//! Games played at random, as raw records.
#![allow(clippy::missing_panics_doc, reason = "a test tool")]

use manaka_core::{Color, Move16, Packed, sfen::STARTPOS};
use manaka_corpus::psv::{Layout, Record, Writer};
use manaka_shogi::Board;
use std::path::Path;

/// A small generator with a fixed sequence.
pub struct Draws(u64);

impl Draws {
    pub fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// A game of at most `plies` moves from some start; Black wins, loses or draws. Each record lists its played move and
/// up to `candidates` − 1 others.
pub fn game_from(sfen: &str, seed: u64, plies: u16, candidates: usize) -> Vec<Record> {
    let mut draws = Draws::new(seed);
    let mut board = Board::from_packed(&Packed::from_sfen(sfen).unwrap().0, 1).unwrap();
    let black = [1, -1, 0][draws.below(3)];
    let (mut moves, mut records) = (Vec::new(), Vec::new());
    for ply in 1..=plies {
        board.legal_moves(&mut moves);
        if moves.is_empty() {
            break;
        }
        let mv = moves[draws.below(moves.len())];
        let score = i16::try_from(draws.below(4001)).unwrap() - 2000;
        let mut list: Vec<(Move16, i16)> = vec![(mv, score)];
        while list.len() < candidates.min(moves.len()) {
            let other = moves[draws.below(moves.len())];
            if list.iter().all(|&(listed, _)| listed != other) {
                list.push((other, score - i16::try_from(list.len()).unwrap() * 7));
            }
        }
        list.truncate(candidates);
        records.push(Record {
            packed: board.to_packed(),
            score,
            mv: Some(mv),
            ply,
            result: if board.side() == Color::Black { black } else { -black },
            pad: 0,
            candidates: list,
        });
        board.play(mv).unwrap();
    }
    records
}

pub fn game(seed: u64, plies: u16, candidates: usize) -> Vec<Record> {
    game_from(STARTPOS, seed, plies, candidates)
}

pub fn write(path: &Path, layout: Layout, records: &[Record]) {
    let mut writer = Writer::new(Vec::new(), layout);
    writer.write_game(records).unwrap();
    std::fs::write(path, writer.into_inner()).unwrap();
}
