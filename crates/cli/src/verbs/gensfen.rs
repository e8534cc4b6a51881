//! `manaka gensfen`: a USI engine plays itself and leaves raw PSV records.

use crate::exit::Outcome;
use crate::output::{Format, grouped, print, print_json};
use crate::progress::is_stopping;
use anyhow::{Result, bail};
use manaka_corpus::psv::{Layout, MoveLayout};
use manaka_gensfen::usi::Identity;
use manaka_gensfen::{
    DATA, EngineCommand, EngineLife, EngineOptions, Entry, Fault, Limit, Observer, Openings, Options,
    PlayOptions, Report, Setting, Timeouts, Totals, UnknownOption, run as play,
};
use std::cell::Cell;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Let a USI engine play itself and record every position as raw PSV.
///
/// Games are numbered, and everything random in one follows from --seed and its number: with an engine that repeats
/// itself (one thread, fixed nodes) the data does not depend on --workers. A killed run goes on with --resume.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The engine and its arguments, in one argument.
    #[arg(long, value_name = "CMD")]
    engine: EngineCommand,

    /// An option of the engine, NAME=VALUE; may be given several times.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<Setting>,

    /// Leave out options that the engine does not have, instead of refusing to start.
    #[arg(long)]
    skip_unknown_options: bool,

    /// Keep an engine for many games instead of starting it anew for each: faster where starting takes long, but one
    /// that does not forget everything between games then plays other games on other numbers of workers.
    #[arg(long)]
    keep_engine: bool,

    /// Games to play.
    #[arg(
        long,
        value_name = "N",
        required_unless_present = "recover_from",
        default_value_if("recover_from", clap::builder::ArgPredicate::IsPresent, "0")
    )]
    games: u64,

    /// Directory for games.psv and gensfen.json.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Engines that play at the same time. The data does not depend on it.
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN)]
    workers: NonZeroUsize,

    /// Nodes of each search.
    #[arg(long, value_name = "N", conflicts_with_all = ["depth", "byoyomi"], help_heading = "Search")]
    nodes: Option<NonZeroU64>,

    /// Depth of each search.
    #[arg(long, value_name = "N", conflicts_with = "byoyomi", help_heading = "Search")]
    depth: Option<NonZeroU64>,

    /// Milliseconds of each search.
    #[arg(long, value_name = "MS", help_heading = "Search")]
    byoyomi: Option<NonZeroU64>,

    /// Lines asked for.
    #[arg(long, value_name = "N", default_value_t = EngineOptions::DEFAULT_MULTIPV, help_heading = "Search")]
    multipv: u16,

    /// Seconds to wait for a best move, beyond the byoyomi, before the engine counts as hung.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, help_heading = "Search")]
    timeout: u64,

    /// Openings: a file of SFENs or `startpos moves …` lines.
    #[arg(long, value_name = "FILE", help_heading = "Games")]
    book: Option<PathBuf>,

    /// Moves drawn at random behind the opening.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Games")]
    random_plies: u32,

    /// Share of moves that are drawn at random from all legal ones, and marked.
    #[arg(long, value_name = "P", default_value_t = PlayOptions::DEFAULT_RANDOM_MOVE, help_heading = "Games")]
    random_move: f64,

    /// Temperature in centipawns at which a move is drawn from the candidates.
    #[arg(long, value_name = "CP", default_value_t = PlayOptions::DEFAULT_SOFTMAX_TEMP_CP, help_heading = "Games")]
    move_temp_cp: f64,

    /// Move number from which on the best move is played.
    #[arg(long, value_name = "PLY", default_value_t = PlayOptions::DEFAULT_RANDOM_UNTIL_PLY, help_heading = "Games")]
    random_until_ply: u32,

    /// Bad scores of one side in a row after which it resigns; 0 never.
    #[arg(long, value_name = "N", default_value_t = PlayOptions::DEFAULT_RESIGN_COUNT, help_heading = "Games")]
    resign_count: u32,

    /// How far behind a bad score is.
    #[arg(long, value_name = "CP", default_value_t = PlayOptions::DEFAULT_RESIGN_SCORE, help_heading = "Games")]
    resign_score: i16,

    /// Last move number of a game, counted on the board whatever the game began with.
    #[arg(long, value_name = "PLY", default_value_t = PlayOptions::DEFAULT_MAX_PLY, help_heading = "Games")]
    max_ply: u16,

    /// A root score further from zero than this ends the game for the side that is ahead.
    #[arg(long, value_name = "CP", help_heading = "Games")]
    eval_limit: Option<u16>,

    /// The scale that mates are folded to.
    #[arg(long, value_name = "CP", default_value_t = PlayOptions::DEFAULT_MATE_SCALE, help_heading = "Games")]
    mate_scale: u16,

    /// Where everything random comes from; every machine that adds to one corpus needs another.
    #[arg(long, value_name = "N", default_value_t = Options::DEFAULT_SEED)]
    seed: u64,

    /// Layout of moves in the records: yaneuraou, apery or manaka.
    #[arg(long, value_name = "LAYOUT", default_value_t = Options::DEFAULT_MOVES)]
    move16: MoveLayout,

    /// Games between two moments at which everything is brought to disk.
    #[arg(long, value_name = "N", default_value_t = Options::DEFAULT_SYNC_GAMES)]
    sync_games: NonZeroU64,

    /// Games in a row that a fault may end before the run stops.
    #[arg(long, value_name = "N", default_value_t = Options::DEFAULT_MAX_FAULTS)]
    max_faults: u64,

    /// Go on with the run in the directory.
    #[arg(long)]
    resume: bool,

    /// Take over the games of this run and play those to their end that stop without a result.
    #[arg(long, value_name = "DIR")]
    recover_from: Option<PathBuf>,

    /// How to print the report.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Args {
    fn resolve(self) -> (Options, PathBuf, Format) {
        let limit = match (self.nodes, self.depth, self.byoyomi) {
            (_, Some(depth), _) => Limit::Depth(depth),
            (_, _, Some(ms)) => Limit::Byoyomi(ms),
            (nodes, ..) => nodes.map_or(Limit::DEFAULT, Limit::Nodes),
        };
        let options = Options {
            engine: EngineOptions {
                settings: self.options,
                unknown: if self.skip_unknown_options { UnknownOption::Warn } else { UnknownOption::Refuse },
                limit,
                multipv: self.multipv,
                timeouts: Timeouts { search: Duration::from_secs(self.timeout), ..Timeouts::default() },
                life: if self.keep_engine { EngineLife::Run } else { EngineLife::Game },
                ..EngineOptions::new(self.engine.clone())
            },
            openings: Openings { book: self.book, random_plies: self.random_plies },
            play: PlayOptions {
                random_move: self.random_move,
                softmax_temp_cp: self.move_temp_cp,
                random_until_ply: self.random_until_ply,
                resign_count: self.resign_count,
                resign_score: self.resign_score,
                max_ply: self.max_ply,
                eval_limit: self.eval_limit,
                mate_scale: self.mate_scale,
            },
            // A single line is the played move or next to it: the plain record has all of it.
            layout: match self.multipv {
                1 => Layout::plain(self.move16),
                lines => Layout::multipv(self.move16, lines),
            },
            seed: self.seed,
            workers: self.workers,
            sync_games: self.sync_games,
            max_faults: self.max_faults,
            resume: self.resume,
            recover_from: self.recover_from,
            ..Options::new(self.engine, self.games)
        };
        (options, self.out, self.format)
    }
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let (options, out, format) = args.resolve();
    let watcher = Watcher::new();
    let report = play(&options, &out, &watcher)?;
    match format {
        Format::Text => print(text(&report, &out.join(DATA)))?,
        Format::Json => print_json(&report)?,
    }
    if !report.complete && is_stopping() {
        bail!("interrupted: the games so far are whole, and the same command with --resume goes on");
    }
    Ok(Outcome::findings(report.totals.dropped > 0))
}

fn counted<K: std::fmt::Display>(counts: impl IntoIterator<Item = (K, u64)>) -> String {
    let some = counts.into_iter().filter(|(_, n)| *n > 0);
    let texts: Vec<String> = some.map(|(kind, n)| format!("{kind}={n}")).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join("  ") }
}

fn text(report: &Report, data: &std::path::Path) -> String {
    let totals = &report.totals;
    let mut text = format!(
        "{} games written, {} dropped, {} positions\n  endings: {}\n  {} positions per second\n  {}",
        totals.games,
        totals.dropped,
        grouped(totals.positions),
        counted(totals.endings.iter().map(|(ending, n)| (*ending, *n))),
        report.positions_per_second.round(),
        data.display()
    );
    if totals.dropped > 0 {
        let faults = counted(totals.faults.iter().map(|(fault, n)| (*fault, *n)));
        text.push_str(&format!("\n{} games dropped for faults of the engine: {faults}", totals.dropped));
    }
    text
}

/// Says how a run goes on, on stderr.
struct Watcher {
    began: Instant,
    said: Cell<Instant>,
    games: Cell<Option<u64>>,
    /// Games and positions that were there when it began.
    before: Cell<(u64, u64)>,
}

/// Between two lines.
const EVERY: Duration = Duration::from_secs(10);

impl Watcher {
    fn new() -> Self {
        let now = Instant::now();
        Self { began: now, said: Cell::new(now), games: Cell::new(None), before: Cell::new((0, 0)) }
    }
}

impl Observer for Watcher {
    fn begin(&self, engine: &Identity, games: Option<u64>, totals: &Totals) {
        self.games.set(games);
        self.before.set((totals.games + totals.dropped, totals.positions));
        eprintln!("manaka: engine {} by {}", engine.name, engine.author);
    }

    fn game(&self, _entry: &Entry, totals: &Totals) {
        if self.said.get().elapsed() < EVERY {
            return;
        }
        self.said.set(Instant::now());
        let seconds = self.began.elapsed().as_secs_f64();
        let (games_before, positions_before) = self.before.get();
        let played = totals.games + totals.dropped;
        #[expect(clippy::cast_precision_loss, reason = "figures for reading")]
        let rate = |n: u64| n as f64 / seconds;
        let eta = self.games.get().map_or(String::new(), |games| {
            let left = games.saturating_sub(played);
            #[expect(clippy::cast_precision_loss, reason = "figures for reading")]
            let seconds = left as f64 / rate(played - games_before).max(1e-9);
            format!(" of {games}, about {seconds:.0} s to go")
        });
        eprintln!(
            "manaka: gensfen: {played} games{eta}, {} positions, {:.0} per second; {}",
            grouped(totals.positions),
            rate(totals.positions - positions_before),
            counted(totals.endings.iter().map(|(ending, n)| (*ending, *n)))
        );
    }

    fn fault(&self, game: u64, fault: &Fault) {
        eprintln!("manaka: game {game} dropped: {}", fault.log());
    }

    fn notice(&self, text: &str) {
        eprintln!("manaka: {text}");
    }

    fn cancelled(&self) -> bool {
        is_stopping()
    }
}
