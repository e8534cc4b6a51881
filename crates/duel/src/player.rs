//! Players: a position of a game in, what is done there out.

use crate::error::{Error, Result};
use manaka_core::Move16;
use manaka_core::sfen::STARTPOS;
use manaka_gensfen::usi::{self, Refusal, Reply as UsiReply};
use manaka_gensfen::{EngineOptions, FaultKind, Halt};
use manaka_search::{Options as Search, Random, Step};
use manaka_selfplay::{Evaluator, Replies, Request, Shogi};
use std::fmt::Write;
use std::sync::atomic::AtomicBool;

/// What a player does in a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    /// A move, which is legal.
    Move(Move16),
    /// It gives the game up.
    Resign,
}

/// One side of games, one after the other.
pub(crate) trait Player {
    /// A game begins at this position.
    fn begin(&mut self, _game: &Shogi) -> Result<()> {
        Ok(())
    }

    /// Either side has played this move; the game stands behind it.
    fn played(&mut self, _mv: Move16) {}

    /// Chooses where the game is not over. `draws` are those of the game and ply. The game is left as it was.
    fn choose(&mut self, game: &mut Shogi, draws: Random) -> Result<Choice>;
}

/// A net with a search.
pub(crate) struct Searcher<'c> {
    evaluator: Box<dyn Evaluator + 'c>,
    search: manaka_search::Search<Move16>,
    replies: Replies,
    moves: Vec<Move16>,
}

impl<'c> Searcher<'c> {
    pub fn new(evaluator: Box<dyn Evaluator + 'c>, search: Search) -> Result<Self> {
        let search = manaka_search::Search::new(search)?;
        Ok(Self { evaluator, search, replies: Replies::new(), moves: Vec::new() })
    }
}

impl Player for Searcher<'_> {
    fn choose(&mut self, game: &mut Shogi, draws: Random) -> Result<Choice> {
        self.search.begin(draws, game.board().ply().saturating_sub(1));
        loop {
            match self.search.step(game)? {
                Step::Evaluate(moves) => {
                    self.moves.clear();
                    self.moves.extend_from_slice(moves);
                    let position = game.packed();
                    let batch = [Request { position: &position, moves: &self.moves }];
                    self.replies.fit(&batch);
                    self.evaluator.evaluate(&batch, &mut self.replies)?;
                    if let Some(reply) = self.replies.iter().next() {
                        self.search.apply(reply.logits, reply.value)?;
                    }
                }
                Step::Done(outcome) => {
                    return outcome
                        .best()
                        .map(Choice::Move)
                        .ok_or(Error::Search(manaka_search::Error::NoMoves));
                }
            }
        }
    }
}

/// The policy of a net.
pub(crate) struct Policy<'c> {
    evaluator: Box<dyn Evaluator + 'c>,
    replies: Replies,
    moves: Vec<Move16>,
}

impl<'c> Policy<'c> {
    pub fn new(evaluator: Box<dyn Evaluator + 'c>) -> Self {
        Self { evaluator, replies: Replies::new(), moves: Vec::new() }
    }
}

impl Player for Policy<'_> {
    fn choose(&mut self, game: &mut Shogi, _draws: Random) -> Result<Choice> {
        game.board().legal_moves(&mut self.moves);
        let position = game.packed();
        let batch = [Request { position: &position, moves: &self.moves }];
        self.replies.fit(&batch);
        self.evaluator.evaluate(&batch, &mut self.replies)?;
        let mut best: Option<(f32, Move16)> = None;
        for reply in self.replies.iter() {
            for (&mv, &logit) in self.moves.iter().zip(reply.logits) {
                if best.is_none_or(|(highest, _)| logit > highest) {
                    best = Some((logit, mv));
                }
            }
        }
        best.map(|(_, mv)| Choice::Move(mv)).ok_or(Error::Search(manaka_search::Error::NoMoves))
    }
}

/// Moves drawn at random.
#[derive(Default)]
pub(crate) struct Drawn {
    moves: Vec<Move16>,
}

impl Player for Drawn {
    fn choose(&mut self, game: &mut Shogi, mut draws: Random) -> Result<Choice> {
        game.board().legal_moves(&mut self.moves);
        one_of(&self.moves, &mut draws).map(Choice::Move).ok_or(Error::Search(manaka_search::Error::NoMoves))
    }
}

/// One of these, each as likely as the next.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a position has fewer than 600 moves"
)]
pub(crate) fn one_of(moves: &[Move16], draws: &mut Random) -> Option<Move16> {
    moves.get((draws.unit() * moves.len() as f64) as usize).copied()
}

/// A USI engine.
pub(crate) struct Engine<'c> {
    options: &'c EngineOptions,
    cancel: &'c AtomicBool,
    engine: Option<usi::Engine<'c>>,
    /// What stands behind `position`.
    line: String,
    any_move: bool,
}

impl<'c> Engine<'c> {
    pub fn new(options: &'c EngineOptions, cancel: &'c AtomicBool) -> Self {
        Self { options, cancel, engine: None, line: String::new(), any_move: false }
    }
}

/// Why the match stops when an engine does.
fn stopped(halt: Halt) -> Error {
    match halt {
        Halt::Cancelled => Error::Cancelled,
        fault @ Halt::Fault(_) => Error::Engine(Refusal::Halt(fault)),
    }
}

impl Player for Engine<'_> {
    /// Engines keep state between games: each game has a fresh one, as in `gensfen`.
    fn begin(&mut self, game: &Shogi) -> Result<()> {
        if let Some(engine) = self.engine.take() {
            engine.quit();
        }
        let (mut engine, _) =
            usi::Engine::start(self.options, self.cancel).map_err(|refusal| match refusal {
                Refusal::Halt(halt) => stopped(halt),
                unsuitable @ Refusal::Unsuitable { .. } => Error::Engine(unsuitable),
            })?;
        engine.new_game().map_err(stopped)?;
        self.engine = Some(engine);
        let sfen = game.packed().sfen(Some(game.board().ply())).to_string();
        self.line = if sfen == STARTPOS { "startpos".to_owned() } else { format!("sfen {sfen}") };
        self.any_move = false;
        Ok(())
    }

    fn played(&mut self, mv: Move16) {
        if !std::mem::replace(&mut self.any_move, true) {
            self.line.push_str(" moves");
        }
        // Writing to a String cannot fail.
        let _ = write!(self.line, " {mv}");
    }

    fn choose(&mut self, game: &mut Shogi, _draws: Random) -> Result<Choice> {
        let Some(engine) = &mut self.engine else { return Err(Error::Worker) };
        let reply = engine.search(&self.line, 1).map_err(stopped)?.reply;
        let wrong = match reply {
            UsiReply::Move(mv) if game.board().is_legal(mv) => return Ok(Choice::Move(mv)),
            UsiReply::Resign => return Ok(Choice::Resign),
            UsiReply::Move(mv) => (FaultKind::IllegalMove, format!("{mv} is not legal behind {}", self.line)),
            // The game would be over where the rule gives the win.
            UsiReply::Win => {
                (FaultKind::FalseWin, "it declares a win that the 27-point rule does not give".to_owned())
            }
            UsiReply::None => (FaultKind::NoMove, "it has no move where there is a legal one".to_owned()),
        };
        Err(stopped(engine.fault(wrong.0, &wrong.1)))
    }
}
