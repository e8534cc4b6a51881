//! The loop of one game.

use crate::RANDOM_MOVE_PAD;
use crate::ending::{Ending, Outcome};
use crate::fault::{FaultKind, Halt};
use crate::game::choice::Chooser;
use crate::game::dice::Dice;
use crate::options::PlayOptions;
use crate::usi::{Answer, Block, Engine, MateScale, Reply};
use manaka_core::sfen::STARTPOS;
use manaka_core::{Color, Move16, Packed};
use manaka_corpus::book::Opening;
use manaka_corpus::psv::Record;
use manaka_shogi::{Board, Repetition, Verdict};
use std::fmt::Write;

/// The rules by which games are played and ended.
#[derive(Debug)]
pub(crate) struct Referee {
    chooser: Chooser,
    scale: MateScale,
    multipv: usize,
    resign_count: u32,
    resign_score: i16,
    max_ply: u32,
    eval_limit: Option<u16>,
}

/// What a game goes on from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Start {
    /// The position that the engine is told, and its move number.
    pub packed: Packed,
    pub ply: u32,
    /// The moves from there to the first position to search; their positions count for repetition.
    pub moves: Vec<Move16>,
    /// Records of the game that are there already.
    pub kept: Vec<Record>,
}

/// A game that came to its end.
#[derive(Debug)]
pub(crate) struct Played {
    /// Every position that was searched with a score and moved on from.
    pub records: Vec<Record>,
    pub ending: Ending,
    pub outcome: Outcome,
    /// How many of the records were there at the start.
    pub kept: usize,
    /// By record that was not: the depth of its lines.
    pub depths: Vec<u32>,
    /// Positions whose search gave no score: played on, and not recorded.
    pub unscored: u32,
    /// Positions in which the engine's best move was none of the levelled lines.
    pub unlisted: u32,
    /// Lines left out because a better one had the same move.
    pub duplicates: u32,
}

/// A game being played.
struct Game<'g> {
    board: Board,
    repetition: Repetition,
    verdict: Verdict,
    /// What stands behind `position`, up to the position on the board.
    line: String,
    any_move: bool,
    dice: &'g mut Dice,
    /// By side: bad scores in a row.
    bad: [u32; 2],
    searches: u32,
    /// Whether one of them gave a score.
    scored: bool,
    played: Played,
}

impl Referee {
    /// The rules of these options, which were checked.
    pub(crate) fn new(play: &PlayOptions, scale: MateScale, multipv: u16) -> Self {
        Self {
            chooser: Chooser::new(play, scale),
            scale,
            multipv: multipv.into(),
            resign_count: play.resign_count,
            resign_score: play.resign_score,
            max_ply: play.max_ply.into(),
            eval_limit: play.eval_limit,
        }
    }

    /// The start of a new game: the opening, and up to `plies` random moves from it. They stop short of a position
    /// without a legal move and of the last move number.
    pub(crate) fn open(&self, opening: Opening, plies: u32, dice: &mut Dice) -> Start {
        let (mut packed, mut ply) = (opening.packed, u32::from(opening.ply));
        if let (true, Ok(mut board)) = (plies > 0, Board::from_packed(&packed, ply)) {
            let mut legal = Vec::new();
            for _ in 0..plies {
                board.legal_moves(&mut legal);
                let drawn = legal.get(dice.below(legal.len().max(1)));
                let played = drawn.is_some_and(|&mv| board.ply() < self.max_ply && board.play(mv).is_ok());
                if !played {
                    break;
                }
                if board.is_mated() {
                    board.undo();
                    break;
                }
            }
            (packed, ply) = (board.to_packed(), board.ply());
        }
        Start { packed, ply, moves: Vec::new(), kept: Vec::new() }
    }

    /// Plays a game to its end. `start` is sound: a position that can be played on, and legal moves from it.
    pub(crate) fn play(
        &self,
        engine: &mut Engine<'_>,
        start: Start,
        dice: &mut Dice,
    ) -> Result<Played, Halt> {
        engine.new_game()?;
        let mut game = Game::begin(start, dice);
        let (ending, outcome) = loop {
            if let Some(end) = self.end(&game) {
                break end;
            }
            if let Some(end) = self.step(&mut game, engine)? {
                break end;
            }
        };
        let mut played = game.played;
        if game.searches > 0 && !game.scored && played.kept == 0 {
            let detail = format!(
                "not one score in {} searches; if the engine plays from a book of its own, switch that off",
                game.searches
            );
            return Err(engine.fault(FaultKind::NoScore, &detail));
        }
        (played.ending, played.outcome) = (ending, outcome);
        for record in &mut played.records {
            record.result = outcome.result_for(record.packed.side());
        }
        Ok(played)
    }

    /// Whether the game is over in the position on the board. The rules of shogi come first, then what the run adds.
    fn end(&self, game: &Game<'_>) -> Option<(Ending, Outcome)> {
        let board = &game.board;
        let (mover, other) = (board.side(), board.side().flip());
        if board.is_mated() {
            return Some((Ending::Mate, Outcome::won_by(other)));
        }
        match game.verdict {
            Verdict::None => {}
            Verdict::Draw => return Some((Ending::Repetition, Outcome::Draw)),
            Verdict::PerpetualCheck { loser } => {
                return Some((Ending::PerpetualCheck, Outcome::won_by(loser.flip())));
            }
        }
        if board.can_declare() {
            return Some((Ending::Declaration, Outcome::won_by(mover)));
        }
        if self.resign_count > 0
            && let Some(loser) =
                Color::ALL.into_iter().find(|&side| game.bad[side as usize] >= self.resign_count)
        {
            return Some((Ending::Resignation, Outcome::won_by(loser.flip())));
        }
        (board.ply() > self.max_ply).then_some((Ending::MaxPly, Outcome::Draw))
    }

    /// Searches the position on the board, records it and plays a move.
    fn step(&self, game: &mut Game<'_>, engine: &mut Engine<'_>) -> Result<Option<(Ending, Outcome)>, Halt> {
        let wanted = self.multipv.min(game.board.legal_count());
        let Answer { reply, block } = engine.search(&game.line, wanted)?;
        game.searches += 1;
        game.scored |= block.is_some();
        let candidates = match &block {
            Some(block) => self.candidates(&game.board, block, engine)?,
            None => Vec::new(),
        };
        let mover = game.board.side();
        let lost = (Ending::Resignation, Outcome::won_by(mover.flip()));
        let best = match reply {
            Reply::Move(mv) if !game.board.is_legal(mv) => {
                return Err(illegal(engine, &game.board, mv, "its best move"));
            }
            Reply::Move(mv) => Some(mv),
            // With resignation off the first line is played on; without lines there is nothing to play.
            Reply::Resign if self.resign_count > 0 || candidates.is_empty() => return Ok(Some(lost)),
            Reply::Resign => None,
            Reply::Win => {
                let detail = "it declares a win that the 27-point rule does not give";
                return Err(engine.fault(FaultKind::FalseWin, detail));
            }
            Reply::None => {
                return Err(engine.fault(FaultKind::NoMove, "it has no move where there is a legal one"));
            }
        };
        let (Some(block), Some(&(_, score))) = (block, candidates.first()) else {
            game.played.unscored += 1;
            game.advance(best, engine)?;
            return Ok(None);
        };
        game.played.duplicates += block.duplicates;
        game.played.unlisted +=
            u32::from(best.is_some_and(|best| candidates.iter().all(|&(mv, _)| mv != best)));
        if self.eval_limit.is_some_and(|limit| score.unsigned_abs() > limit) {
            let winner = if score > 0 { mover } else { mover.flip() };
            return Ok(Some((Ending::EvalLimit, Outcome::won_by(winner))));
        }
        let bad = &mut game.bad[mover as usize];
        *bad = if score <= -self.resign_score { *bad + 1 } else { 0 };

        let choice = self.chooser.choose(&game.board, &candidates, best, game.dice);
        game.played.depths.push(block.depth);
        game.played.records.push(Record {
            packed: game.board.to_packed(),
            score,
            mv: Some(choice.mv),
            // At most max_ply, which has 16 bits.
            ply: u16::try_from(game.board.ply()).unwrap_or(u16::MAX),
            result: 0,
            pad: if choice.random { RANDOM_MOVE_PAD } else { 0 },
            candidates,
        });
        game.advance(Some(choice.mv), engine)?;
        Ok(None)
    }

    /// The lines as candidates with folded scores. Every line must begin with a legal move: an engine that shows
    /// another one has a different position before it.
    fn candidates(
        &self,
        board: &Board,
        block: &Block,
        engine: &mut Engine<'_>,
    ) -> Result<Vec<(Move16, i16)>, Halt> {
        let mut candidates = Vec::with_capacity(block.lines.len());
        for line in &block.lines {
            if !board.is_legal(line.mv) {
                return Err(illegal(engine, board, line.mv, "the first move of a line"));
            }
            candidates.push((line.mv, self.scale.fold(line.score, line.plies)));
        }
        Ok(candidates)
    }
}

fn illegal(engine: &mut Engine<'_>, board: &Board, mv: Move16, what: &str) -> Halt {
    let position = board.to_packed();
    let detail = format!("{mv}, {what}, is not legal in {}", position.sfen(Some(board.ply())));
    engine.fault(FaultKind::IllegalMove, &detail)
}

impl<'g> Game<'g> {
    fn begin(start: Start, dice: &'g mut Dice) -> Self {
        let Start { packed, ply, moves, kept } = start;
        let sfen = packed.sfen(Some(ply)).to_string();
        let line = if sfen == STARTPOS { "startpos".to_owned() } else { format!("sfen {sfen}") };
        let mut board = Board::start();
        // Sound, as the caller has seen.
        let sound = board.set(&packed, ply);
        debug_assert_eq!(sound, Ok(()));
        let mut repetition = Repetition::new();
        let verdict = repetition.push(&packed, board.in_check()).verdict;
        let played = Played {
            kept: kept.len(),
            records: kept,
            ending: Ending::MaxPly,
            outcome: Outcome::Draw,
            depths: Vec::new(),
            unscored: 0,
            unlisted: 0,
            duplicates: 0,
        };
        let mut game = Self {
            board,
            repetition,
            verdict,
            line,
            any_move: false,
            dice,
            bad: [0; 2],
            searches: 0,
            scored: false,
            played,
        };
        for mv in moves {
            game.play(mv);
        }
        game
    }

    /// Plays a move; false, and nothing done, if it is not legal.
    fn play(&mut self, mv: Move16) -> bool {
        if self.board.play(mv).is_err() {
            return false;
        }
        if !std::mem::replace(&mut self.any_move, true) {
            self.line.push_str(" moves");
        }
        // Writing to a String cannot fail.
        let _ = write!(self.line, " {mv}");
        self.verdict = self.repetition.push(&self.board.to_packed(), self.board.in_check()).verdict;
        true
    }

    fn advance(&mut self, mv: Option<Move16>, engine: &mut Engine<'_>) -> Result<(), Halt> {
        match mv {
            Some(mv) if self.play(mv) => Ok(()),
            Some(mv) => Err(illegal(engine, &self.board, mv, "the move to play")),
            None => Err(engine.fault(FaultKind::NoMove, "there is no move to play")),
        }
    }
}
