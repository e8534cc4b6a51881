//! Random games for the property tests: starting positions and a walk through their legal moves.

use manaka_core::{Move16, Packed};
use manaka_shogi::Board;
use proptest::prelude::*;

/// Even game, handicaps of every size with White to move, and sharp middle games with full hands.
pub const STARTS: [&str; 10] = [
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "lnsgkgsnl/1r7/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "2sgkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w 3p 1",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "4k4/9/9/9/9/9/9/9/4K4 b 2R2B2G2S2N2L9P2g2s2n2l9p 1",
    "l5snl/3g5/2n2p1p1/p1+R5p/2pp1B1P1/P1k2PS1P/1P1PP1N2/1SG1KG2+b/LN6r b 3Pgsl2p 1",
    "1g1gp4/1+Ss1G2P+P/P1nn3r1/4P4/LPP3k2/LN1sb+r3/2p+b4K/1Nl2pppP/1LgP1sP2 w P3p 380",
];

/// A starting position and the draws that choose the moves.
#[derive(Clone, Debug)]
pub struct Game {
    start: usize,
    draws: Vec<u16>,
}

/// Games of up to `plies` moves.
pub fn games(plies: usize) -> impl Strategy<Value = Game> {
    (0..STARTS.len(), prop::collection::vec(any::<u16>(), 0..plies))
        .prop_map(|(start, draws)| Game { start, draws })
}

impl Game {
    /// Plays the game, calling `visit` with every position before its move is played and with the last one.
    ///
    /// Every third draw prefers a move that gives check, so that checked positions are common.
    pub fn walk(
        &self,
        mut visit: impl FnMut(&mut Board) -> Result<(), TestCaseError>,
    ) -> Result<(), TestCaseError> {
        let (packed, ply) = Packed::from_sfen(STARTS[self.start]).unwrap();
        let mut board = Board::from_packed(&packed, ply.unwrap()).unwrap();
        let (mut moves, mut checks) = (Vec::new(), Vec::new());
        for &draw in &self.draws {
            visit(&mut board)?;
            board.legal_moves(&mut moves);
            checks.clear();
            if draw % 3 == 0 {
                checks.extend(moves.iter().copied().filter(|&mv| board.gives_check(mv)));
            }
            let choice: &[Move16] = if checks.is_empty() { &moves } else { &checks };
            if choice.is_empty() {
                return Ok(());
            }
            board.play(choice[usize::from(draw) / 3 % choice.len()]).unwrap();
        }
        visit(&mut board)
    }
}
