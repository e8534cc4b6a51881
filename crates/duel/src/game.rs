//! One game of a match.

use crate::contestant::Contestant;
use crate::error::{Error, Result};
use crate::player::{Choice, Player, one_of};
use crate::score::Points;
use manaka_core::{Color, Move16, Packed};
use manaka_corpus::book::Opening;
use manaka_search::Random;
use manaka_selfplay::{Ending, Shogi};
use serde::{Serialize, Serializer};

/// A game that was played.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Played {
    /// The pair it belongs to.
    pub pair: u64,
    /// Whether the first player had the first move.
    pub first_moves_first: bool,
    /// The position it began from, as SFEN with its move number.
    pub opening: String,
    /// The moves, in USI.
    #[serde(serialize_with = "as_usi")]
    pub moves: Vec<Move16>,
    /// Why it ended: by the rules, or because a player gave it up ([`Ending::Resignation`]).
    pub ending: Ending,
    /// What it brought the first player: 1, 0 or −1.
    pub points: Points,
}

fn as_usi<S: Serializer>(moves: &[Move16], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(moves.iter().map(ToString::to_string))
}

/// The draws of a match that belong to no move of a game.
const OPENING: u32 = u32::MAX;

/// The position that both games of a pair begin from: an opening, and random moves behind it. A move that would end the
/// game is not played.
pub(crate) fn opening(shogi: &mut Shogi, from: Opening, plies: u32, seed: u64, pair: u64) -> (Packed, u32) {
    let set = shogi.set(&from.packed, from.ply.into());
    debug_assert_eq!(set, Ok(()), "openings can be played on");
    let mut draws = Random::new(seed, pair, OPENING);
    let mut moves = Vec::new();
    for _ in 0..plies {
        shogi.board().legal_moves(&mut moves);
        let Some(mv) = one_of(&moves, &mut draws) else { break };
        if shogi.advance(mv).is_err() {
            break;
        }
        if shogi.end().is_some() {
            shogi.retreat();
            break;
        }
    }
    (shogi.packed(), shogi.board().ply())
}

/// Plays one game. `players[0]` is the first player, whoever moves first, and made of `contestants[0]`.
pub(crate) fn play(
    shogi: &mut Shogi,
    players: &mut [Box<dyn Player + '_>; 2],
    contestants: [&Contestant; 2],
    (position, ply): &(Packed, u32),
    (seed, pair): (u64, u64),
    first_moves_first: bool,
) -> Result<Played> {
    let set = shogi.set(position, *ply);
    debug_assert_eq!(set, Ok(()), "openings can be played on");
    for player in players.iter_mut() {
        player.begin(shogi)?;
    }
    let side_of_first = if first_moves_first { shogi.side() } else { shogi.side().flip() };
    let mut moves = Vec::new();
    // Each game of a pair has draws of its own.
    let number = 2 * pair + u64::from(!first_moves_first);
    let (ending, winner) = loop {
        if let Some(end) = shogi.end() {
            break (end.ending, end.winner);
        }
        let side = shogi.side();
        let turn = usize::from(side != side_of_first);
        match players[turn].choose(shogi, Random::new(seed, number, shogi.board().ply()))? {
            Choice::Resign => break (Ending::Resignation, Some(side.flip())),
            Choice::Move(mv) => {
                if shogi.advance(mv).is_err() {
                    return Err(Error::Illegal {
                        player: format!("the {} player, {}", ["first", "second"][turn], contestants[turn]),
                        position: shogi.packed().sfen(Some(shogi.board().ply())).to_string(),
                        mv,
                    });
                }
                moves.push(mv);
                for player in players.iter_mut() {
                    player.played(mv);
                }
            }
        }
    };
    let points = winner.map_or(0, |winner: Color| if winner == side_of_first { 1 } else { -1 });
    let opening = position.sfen(Some(*ply)).to_string();
    Ok(Played { pair, first_moves_first, opening, moves, ending, points })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays these moves, whatever the position.
    struct Script(Vec<&'static str>);

    impl Player for Script {
        fn choose(&mut self, _game: &mut Shogi, _draws: Random) -> Result<Choice> {
            Ok(Choice::Move(Move16::from_usi(self.0.remove(0)).unwrap()))
        }
    }

    #[test]
    fn a_player_that_chooses_an_illegal_move_is_named_with_the_position_and_the_move() {
        let mut shogi = Shogi::new(320);
        let book = manaka_corpus::book::Book::startpos().unwrap();
        let from = opening(&mut shogi, book.openings()[0], 0, 1, 0);
        let mut error = |moves: [&'static str; 2], first_moves_first| {
            let [a, b] = moves.map(|mv| Box::new(Script(vec![mv, "7h7g"])) as Box<dyn Player>);
            let contestants = [&Contestant::Random, &Contestant::Random];
            play(&mut shogi, &mut [a, b], contestants, &from, (1, 0), first_moves_first)
                .unwrap_err()
                .to_string()
        };
        // A pawn that is not White's, behind 7g7f.
        let behind = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2";
        assert_eq!(
            error(["7g7f", "2g2f"], true),
            format!("the second player, random moves: chose 2g2f, which is not legal in {behind}")
        );
        assert_eq!(
            error(["2g2f", "7g7f"], false),
            format!("the first player, random moves: chose 2g2f, which is not legal in {behind}")
        );
        let start = manaka_core::sfen::STARTPOS;
        assert_eq!(
            error(["7g7e", "3c3d"], true),
            format!("the first player, random moves: chose 7g7e, which is not legal in {start}")
        );
    }
}
