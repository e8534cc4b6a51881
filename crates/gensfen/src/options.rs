//! What a run is asked to do. Every default is a constant with its reason.

use crate::error::{Error, Result};
use crate::usi::{MateScale, Setting};
use manaka_corpus::psv::{self, MoveLayout, PlayedMove};
use std::fmt;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// A run: who plays, how, how much, and into what.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// The engine and what is asked of it.
    pub engine: EngineOptions,
    /// How games begin.
    pub openings: Openings,
    /// How moves are chosen and games end.
    pub play: PlayOptions,
    /// How records are laid out; it needs a slot for every line, or none at all.
    pub layout: psv::Layout,
    /// Games to play, those that a fault ends included. Not looked at by a recovery, which has the games of its source.
    pub games: u64,
    /// Where all randomness comes from, together with the number of a game. Two runs with one seed play the same games.
    pub seed: u64,
    /// Engines that play at the same time, each in a process of its own. Nothing of it reaches the data.
    pub workers: NonZeroUsize,
    /// Games between two moments at which everything is brought to disk.
    pub sync_games: NonZeroU64,
    /// Faults in a row, in the order of the games, after which the run stops: the engine does not work.
    pub max_faults: u64,
    /// Goes on with what is in the directory. Without it the directory must hold no run.
    pub resume: bool,
    /// Instead of new games: takes over those of this directory, and plays to their end the ones that stop without a
    /// result. Resignation is off.
    pub recover_from: Option<PathBuf>,
}

impl Options {
    /// The seed unless told otherwise: a constant, for a clock could not be run again. Every machine that adds to one
    /// corpus needs another.
    pub const DEFAULT_SEED: u64 = 1;
    /// Some minutes of play at the default nodes: little to play again after a power cut.
    pub const DEFAULT_SYNC_GAMES: NonZeroU64 = NonZeroU64::new(10).unwrap();
    /// An engine that fails ten games in a row is not unlucky.
    pub const DEFAULT_MAX_FAULTS: u64 = 10;

    /// The defaults: one worker, and raw records of YaneuraOu's moves with a slot for each line.
    #[must_use]
    pub fn new(engine: EngineCommand, games: u64) -> Self {
        Self {
            engine: EngineOptions::new(engine),
            openings: Openings::default(),
            play: PlayOptions::default(),
            layout: psv::Layout::multipv(Self::DEFAULT_MOVES, EngineOptions::DEFAULT_MULTIPV),
            games,
            seed: Self::DEFAULT_SEED,
            workers: NonZeroUsize::MIN,
            sync_games: Self::DEFAULT_SYNC_GAMES,
            max_faults: Self::DEFAULT_MAX_FAULTS,
            resume: false,
            recover_from: None,
        }
    }

    /// The move layout unless told otherwise: the one that most tools take PSV to have.
    pub const DEFAULT_MOVES: MoveLayout = MoveLayout::YaneuraOu;

    /// # Errors
    /// [`Error::Option`] for the first thing that makes no sense.
    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |what: String| Err(Error::Option(what));
        let (engine, play) = (&self.engine, &self.play);
        if engine.multipv == 0 {
            return refuse("multipv must be at least 1".to_owned());
        }
        if engine.settings.iter().any(|setting| setting.name == MULTIPV) {
            return refuse(format!("{MULTIPV} is set by the multipv option, not as an option of the engine"));
        }
        let (slots, lines) = (self.layout.candidates, engine.multipv);
        if slots != 0 && slots < lines {
            return refuse(format!(
                "the layout has {slots} slots for {lines} lines; it needs {lines}, or none"
            ));
        }
        if self.layout.played != PlayedMove::Listed {
            return refuse(
                "the layout must list the played move: not every one is the first line".to_owned(),
            );
        }
        if !(0.0..=1.0).contains(&play.random_move) {
            return refuse(format!("random_move {} is no share between 0 and 1", play.random_move));
        }
        if !(play.softmax_temp_cp.is_finite() && play.softmax_temp_cp > 0.0) {
            return refuse(format!("a softmax temperature of {} cp is none", play.softmax_temp_cp));
        }
        if play.resign_score < 0 {
            let score = play.resign_score;
            return refuse(format!("resign_score {score}: state how far behind, as a positive number"));
        }
        if play.max_ply == 0 {
            return refuse("max_ply must be at least 1".to_owned());
        }
        if MateScale::new(play.mate_scale).is_none() {
            let (scale, above) = (play.mate_scale, MateScale::SLACK);
            return refuse(format!("mate_scale {scale}: must be above {above} and at most {}", i16::MAX));
        }
        Ok(())
    }
}

/// The option of the protocol that asks for several lines.
pub(crate) const MULTIPV: &str = "MultiPV";

/// The engine and what is asked of it.
#[derive(Clone, PartialEq, Debug)]
pub struct EngineOptions {
    /// How it is started.
    pub command: EngineCommand,
    /// Options it is given after the handshake, in this order.
    pub settings: Vec<Setting>,
    /// What to do about a setting that the engine does not declare.
    pub unknown: UnknownOption,
    /// Where each search ends.
    pub limit: Limit,
    /// Lines asked for. 1 asks for nothing and takes any engine.
    pub multipv: u16,
    /// How long each answer is waited for.
    pub timeouts: Timeouts,
    /// How long an engine lives.
    pub life: EngineLife,
}

impl EngineOptions {
    /// The seeds' width.
    pub const DEFAULT_MULTIPV: u16 = 5;

    /// The defaults.
    #[must_use]
    pub fn new(command: EngineCommand) -> Self {
        Self {
            command,
            settings: Vec::new(),
            unknown: UnknownOption::Refuse,
            limit: Limit::default(),
            multipv: Self::DEFAULT_MULTIPV,
            timeouts: Timeouts::default(),
            life: EngineLife::default(),
        }
    }
}

/// A program and its arguments. No shell takes part.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EngineCommand {
    /// The program: a path, or a name that is looked up as the system does.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
}

/// Words separated by blanks; what stands in single or double quotes is one word, and a backslash takes the next
/// character as it is.
impl FromStr for EngineCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words: Vec<String> = Vec::new();
        let (mut word, mut quote) = (None::<String>, None);
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (None | Some('"'), '\\') => {
                    let next = chars.next().ok_or_else(|| format!("{text:?} ends in a backslash"))?;
                    word.get_or_insert_default().push(next);
                }
                (None, c) if c.is_whitespace() => words.extend(word.take()),
                (_, c) => word.get_or_insert_default().push(c),
            }
        }
        if quote.is_some() {
            return Err(format!("{text:?} has a quote that is not closed"));
        }
        words.extend(word);
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty());
        let program = program.ok_or_else(|| format!("{text:?} names no program"))?;
        Ok(Self { program, args: words.collect() })
    }
}

impl fmt::Display for EngineCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program)?;
        self.args.iter().try_for_each(|arg| write!(f, " {arg}"))
    }
}

/// What to do about a setting that the engine does not declare.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum UnknownOption {
    /// The run does not start: a misspelt name would play a whole corpus with the wrong settings.
    #[default]
    Refuse,
    /// Leaves it out, and says so.
    Warn,
}

/// Where each search ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Limit {
    /// `go nodes`: the same on every machine.
    Nodes(NonZeroU64),
    /// `go depth`.
    Depth(NonZeroU64),
    /// `go btime 0 wtime 0 byoyomi`, in milliseconds: what every engine knows, and no two runs repeat.
    Byoyomi(NonZeroU64),
}

impl Limit {
    /// The seeds' nodes.
    pub const DEFAULT: Self = Self::Nodes(NonZeroU64::new(100_000).unwrap());

    /// The time the search itself may take.
    pub(crate) const fn duration(self) -> Duration {
        match self {
            Self::Byoyomi(ms) => Duration::from_millis(ms.get()),
            Self::Nodes(_) | Self::Depth(_) => Duration::ZERO,
        }
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The command of the protocol.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes(nodes) => write!(f, "go nodes {nodes}"),
            Self::Depth(depth) => write!(f, "go depth {depth}"),
            Self::Byoyomi(ms) => write!(f, "go btime 0 wtime 0 byoyomi {ms}"),
        }
    }
}

/// How long each answer is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Timeouts {
    /// For `usiok`.
    pub handshake: Duration,
    /// For `readyok`; engines load their nets meanwhile.
    pub ready: Duration,
    /// For a best move, beyond the byoyomi.
    pub search: Duration,
    /// For its leaving, before it is killed.
    pub quit: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { handshake: seconds(30), ready: seconds(120), search: seconds(60), quit: seconds(2) }
    }
}

/// How long an engine lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum EngineLife {
    /// For one game. Engines do not forget all that they should at `usinewgame` (fairy-stockfish 11.1 keeps its pawn
    /// table), and what one still knows of the game before makes a game depend on who played which.
    #[default]
    Game,
    /// For the whole run, for engines that forget, or take long to start; it ends with a fault all the same.
    Run,
}

/// How games begin. The opening itself is not recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Openings {
    /// A file of positions, each used as often as every other; the starting position without one.
    pub book: Option<PathBuf>,
    /// Legal moves drawn at random from there.
    pub random_plies: u32,
}

/// How moves are chosen and games end.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayOptions {
    /// The share of moves that are drawn at random from all legal ones, and marked. With a mate in sight none is.
    pub random_move: f64,
    /// The temperature in cp at which a move is drawn from the candidates.
    pub softmax_temp_cp: f64,
    /// The move number from which on the best move is played instead.
    pub random_until_ply: u32,
    /// Bad scores of one side in a row after which it resigns; 0 never.
    pub resign_count: u32,
    /// How far behind a bad score is, as a positive number.
    pub resign_score: i16,
    /// The last move number of which a position is searched. Counted on the board, whatever the game began with.
    pub max_ply: u16,
    /// A root score further from zero than this ends the game for the side that is ahead.
    pub eval_limit: Option<u16>,
    /// The scale that mates are folded to.
    pub mate_scale: u16,
}

impl PlayOptions {
    /// No random moves.
    pub const DEFAULT_RANDOM_MOVE: f64 = 0.0;
    /// The seeds' temperature.
    pub const DEFAULT_SOFTMAX_TEMP_CP: f64 = 30.0;
    /// The seeds' end of the opening.
    pub const DEFAULT_RANDOM_UNTIL_PLY: u32 = 60;
    /// The seeds' patience.
    pub const DEFAULT_RESIGN_COUNT: u32 = 4;
    /// The seeds' lost position.
    pub const DEFAULT_RESIGN_SCORE: i16 = 3000;
    /// The seeds' longest game, and that of computer shogi.
    pub const DEFAULT_MAX_PLY: u16 = 320;
    /// The scale that `corpus` and `teacher` expect.
    pub const DEFAULT_MATE_SCALE: u16 = manaka_core::conventions::DEFAULT_MATE_SCALE;
}

impl Default for PlayOptions {
    fn default() -> Self {
        Self {
            random_move: Self::DEFAULT_RANDOM_MOVE,
            softmax_temp_cp: Self::DEFAULT_SOFTMAX_TEMP_CP,
            random_until_ply: Self::DEFAULT_RANDOM_UNTIL_PLY,
            resign_count: Self::DEFAULT_RESIGN_COUNT,
            resign_score: Self::DEFAULT_RESIGN_SCORE,
            max_ply: Self::DEFAULT_MAX_PLY,
            eval_limit: None,
            mate_scale: Self::DEFAULT_MATE_SCALE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let command: EngineCommand = text.parse().unwrap();
        std::iter::once(command.program).chain(command.args).collect()
    }

    #[test]
    fn engine_commands_are_split_into_words() {
        assert_eq!(words("engine"), ["engine"]);
        assert_eq!(words("  engine  -N 1\t--x "), ["engine", "-N", "1", "--x"]);
        assert_eq!(words("'my engine' \"a b\"c '' \\'"), ["my engine", "a bc", "", "'"]);
        assert_eq!(words("\"a\\\"b\" '\\n'"), ["a\"b", "\\n"]);
        for text in ["", "  ", "''", "'engine", "engine \\"] {
            assert!(text.parse::<EngineCommand>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn limits_are_commands_of_the_protocol() {
        let n = NonZeroU64::new(7).unwrap();
        assert_eq!(Limit::DEFAULT.to_string(), "go nodes 100000");
        assert_eq!(Limit::Depth(n).to_string(), "go depth 7");
        assert_eq!(Limit::Byoyomi(n).to_string(), "go btime 0 wtime 0 byoyomi 7");
    }

    #[test]
    fn options_that_make_no_sense_are_refused() {
        let sound = Options::new("engine".parse().unwrap(), 1);
        assert!(sound.check().is_ok());
        let refused = |change: &dyn Fn(&mut Options)| {
            let mut options = sound.clone();
            change(&mut options);
            options.check().unwrap_err().to_string()
        };
        assert!(refused(&|o| o.engine.multipv = 0).contains("multipv"));
        assert!(refused(&|o| o.engine.multipv = 6).contains("5 slots for 6 lines"));
        assert!(refused(&|o| o.engine.settings = vec!["MultiPV=3".parse().unwrap()]).contains("MultiPV"));
        assert!(refused(&|o| o.layout.played = PlayedMove::Implied).contains("list the played move"));
        assert!(refused(&|o| o.play.random_move = 1.5).contains("random_move"));
        assert!(refused(&|o| o.play.random_move = f64::NAN).contains("random_move"));
        assert!(refused(&|o| o.play.softmax_temp_cp = 0.0).contains("temperature"));
        assert!(refused(&|o| o.play.resign_score = -3000).contains("resign_score"));
        assert!(refused(&|o| o.play.max_ply = 0).contains("max_ply"));
        assert!(refused(&|o| o.play.mate_scale = 320).contains("mate_scale"));
        let mut plain = sound.clone();
        plain.layout.candidates = 0;
        assert!(plain.check().is_ok());
    }
}
