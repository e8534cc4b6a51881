//! `manaka match`: which of two players is the stronger one.

use crate::exit::{Outcome, Usage};
use crate::output::{Format, print, print_json};
use crate::progress::is_stopping;
use anyhow::{Context, Result, bail};
use manaka_duel::{
    Contestant, Observer, Options, Played, Report, Score, Sprt, Standing, Verdict, run as play,
};
use manaka_gensfen::{EngineOptions, Limit, Setting};
use manaka_search::{Gumbel, MateTest, Puct};
use manaka_selfplay::Shogi;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Threads;
use crate::evaluators::{OnnxArgs, evaluators, is_onnx};

/// Play two players against each other: same openings, colours swapped, Elo with error bars.
///
/// A player is a net with a search (`kp256` for the net in the binary, the file of a net of its kind, a FILE.onnx, or
/// `uniform`), `policy:NET` for a net's policy without a search, `random`, or `usi:COMMAND`. Nets search without noise,
/// so a match of them depends on --seed alone, not on --threads. Games come in pairs: both begin from the same opening,
/// and each player has the first move once.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The first player, whose wins and Elo are reported.
    #[arg(long, value_name = "PLAYER")]
    a: String,

    /// The second player.
    #[arg(long, value_name = "PLAYER")]
    b: String,

    /// Games to play at most, an even number.
    #[arg(long, value_name = "N", default_value_t = 200)]
    games: u64,

    #[command(flatten)]
    threads: Threads,

    /// Where openings come from.
    #[arg(long, value_name = "N", default_value_t = Options::DEFAULT_SEED)]
    seed: u64,

    /// The search of both players.
    #[arg(long, value_enum, default_value_t, help_heading = "Search")]
    search: Kind,

    /// That of the first player.
    #[arg(long, value_enum, value_name = "SEARCH", help_heading = "Search")]
    a_search: Option<Kind>,

    /// That of the second player.
    #[arg(long, value_enum, value_name = "SEARCH", help_heading = "Search")]
    b_search: Option<Kind>,

    /// Simulations of each search.
    #[arg(
        long,
        visible_alias = "simulations",
        value_name = "N",
        default_value = "100",
        help_heading = "Search"
    )]
    playouts: NonZeroU32,

    /// Those of the first player.
    #[arg(long, value_name = "N", help_heading = "Search")]
    a_playouts: Option<NonZeroU32>,

    /// Those of the second player.
    #[arg(long, value_name = "N", help_heading = "Search")]
    b_playouts: Option<NonZeroU32>,

    /// The first player does not test leaves for a mate in one.
    #[arg(long, help_heading = "Search")]
    a_no_mate_test: bool,

    /// Nor does the second.
    #[arg(long, help_heading = "Search")]
    b_no_mate_test: bool,

    /// Openings: a file of SFENs or `startpos moves …` lines.
    #[arg(long, value_name = "FILE", help_heading = "Games")]
    book: Option<PathBuf>,

    /// Plies behind the opening that are drawn from all legal moves.
    #[arg(long, value_name = "N", default_value_t = Options::DEFAULT_RANDOM_PLIES, help_heading = "Games")]
    random_plies: u32,

    /// Last move number of a game, counted on the board; behind it is a draw.
    #[arg(long, value_name = "PLY", default_value_t = Shogi::DEFAULT_MAX_PLY, help_heading = "Games")]
    max_ply: u16,

    /// End the match as soon as a sequential test takes one of two Elo differences: ELO0,ELO1.
    #[arg(long, value_name = "ELO0,ELO1", value_parser = elos, allow_hyphen_values = true, help_heading = "Test")]
    sprt: Option<(f64, f64)>,

    /// How often the test may take ELO1 where ELO0 is true.
    #[arg(long, value_name = "P", default_value_t = Sprt::DEFAULT_RATE, help_heading = "Test")]
    alpha: f64,

    /// How often it may take ELO0 where ELO1 is true.
    #[arg(long, value_name = "P", default_value_t = Sprt::DEFAULT_RATE, help_heading = "Test")]
    beta: f64,

    /// Nodes of each search of a USI engine.
    #[arg(long, value_name = "N", conflicts_with_all = ["depth", "byoyomi"], help_heading = "USI engines")]
    nodes: Option<NonZeroU64>,

    /// Depth of each search of a USI engine.
    #[arg(long, value_name = "N", conflicts_with = "byoyomi", help_heading = "USI engines")]
    depth: Option<NonZeroU64>,

    /// Milliseconds of each search of a USI engine.
    #[arg(long, value_name = "MS", help_heading = "USI engines")]
    byoyomi: Option<NonZeroU64>,

    /// An option of a USI engine, NAME=VALUE; may be given several times.
    #[arg(long = "option", value_name = "NAME=VALUE", help_heading = "USI engines")]
    options: Vec<Setting>,

    #[command(flatten)]
    onnx: OnnxArgs,

    /// Write every counted game to this file, a JSON object a line: opening, moves, ending, points of the first player.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// How to print the report.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Which search.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Kind {
    /// AlphaZero's.
    #[default]
    Puct,
    /// Gumbel AlphaZero's.
    Gumbel,
}

fn elos(text: &str) -> Result<(f64, f64), String> {
    let (low, high) = text.split_once(',').ok_or("two numbers with a comma between them")?;
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| format!("{text:?} is no number"));
    Ok((number(low)?, number(high)?))
}

impl Args {
    fn contestant(&self, player: &str, own: Own) -> Result<Contestant> {
        if player == "random" {
            return Ok(Contestant::Random);
        }
        if let Some(command) = player.strip_prefix("usi:") {
            let limit = match (self.nodes, self.depth, self.byoyomi) {
                (Some(nodes), ..) => Limit::Nodes(nodes),
                (_, Some(depth), _) => Limit::Depth(depth),
                (.., Some(ms)) => Limit::Byoyomi(ms),
                _ => bail!(Usage("a USI engine needs --nodes, --depth or --byoyomi".to_owned())),
            };
            let command = command.parse().map_err(Usage)?;
            let options = EngineOptions {
                settings: self.options.clone(),
                limit,
                multipv: 1,
                ..EngineOptions::new(command)
            };
            return Ok(Contestant::Engine(Box::new(options)));
        }
        if let Some(net) = player.strip_prefix("policy:") {
            return Ok(Contestant::Policy { evaluators: evaluators(net, &self.onnx)? });
        }
        let budget = own.playouts.unwrap_or(self.playouts).get();
        let mut search = match own.search.unwrap_or(self.search) {
            Kind::Puct => manaka_search::Options::new(budget, Puct::default()),
            Kind::Gumbel => manaka_search::Options::new(budget, Gumbel::default()),
        };
        search.mate_test = if own.no_mate_test { MateTest::Off } else { MateTest::Leaf };
        Ok(Contestant::search(evaluators(player, &self.onnx)?, search))
    }
}

/// What one player has of its own.
#[derive(Clone, Copy)]
struct Own {
    search: Option<Kind>,
    playouts: Option<NonZeroU32>,
    no_mate_test: bool,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    if !args.games.is_multiple_of(2) {
        bail!(Usage(format!("{} games are no pairs; state an even number", args.games)));
    }
    let nets = [&args.a, &args.b].map(|player| player.strip_prefix("policy:").unwrap_or(player));
    if !nets.iter().any(|net| is_onnx(net)) {
        args.onnx.refuse()?;
    }
    let own = Own { search: args.a_search, playouts: args.a_playouts, no_mate_test: args.a_no_mate_test };
    let a = args.contestant(&args.a, own)?;
    let own = Own { search: args.b_search, playouts: args.b_playouts, no_mate_test: args.b_no_mate_test };
    let b = args.contestant(&args.b, own)?;
    let options = Options {
        book: args.book,
        random_plies: args.random_plies,
        max_ply: args.max_ply,
        seed: args.seed,
        threads: args.threads.get(),
        sprt: args.sprt.map(|(elo0, elo1)| Sprt { elo0, elo1, alpha: args.alpha, beta: args.beta }),
        ..Options::new(args.games / 2)
    };
    let record = match &args.record {
        Some(path) => {
            let file = File::create_new(path).with_context(|| path.display().to_string())?;
            Some((BufWriter::new(file), path.clone()))
        }
        None => None,
    };
    eprintln!("manaka: match: {a} against {b}");
    let watcher = Watcher::new(args.games, record);
    let report = play(&options, [&a, &b], &watcher)?;
    watcher.finish()?;
    match args.format {
        Format::Text => print(text(&report))?,
        Format::Json => print_json(&report)?,
    }
    Ok(Outcome::Done)
}

fn elo(report: &Report) -> String {
    let Some(share) = report.share else { return "unknown".to_owned() };
    let number = |elo: Option<f64>, beyond: &str| elo.map_or(beyond.to_owned(), |elo| format!("{elo:+.0}"));
    let error = match report.interval {
        Some([low, high]) => format!(" (95 %: {} to {})", number(low, "−∞"), number(high, "+∞")),
        None => String::new(),
    };
    format!("{}{error}", number(report.elo, if share < 0.5 { "−∞" } else { "+∞" }))
}

fn score(score: &Score) -> String {
    format!("{} won, {} drawn, {} lost", score.wins, score.draws, score.losses)
}

fn text(report: &Report) -> String {
    let percent =
        |share: Option<f64>| share.map_or("none".to_owned(), |share| format!("{:.1} %", share * 100.0));
    let Report { players: [a, b], .. } = report;
    let mut text = format!("{a} against {b}\n  {} games: {}\n", report.score.games(), score(&report.score));
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  {} of the points, Elo {}", percent(report.share), elo(report));
    let _ = writeln!(
        text,
        "  sign test over decisive games: p = {:.2e}; pairs by half points: {:?}",
        report.sign_test, report.score.pairs
    );
    if let Some(Standing { elo0, elo1, llr, bounds: [low, high], verdict }) = report.sprt {
        let said = match verdict {
            Verdict::Elo0 => format!("no better than {elo0:+} Elo"),
            Verdict::Elo1 => format!("at least {elo1:+} Elo better"),
            Verdict::Undecided => "undecided".to_owned(),
        };
        let _ = writeln!(
            text,
            "  test of {elo0:+} against {elo1:+} Elo: {said}; LLR {llr:.2} in [{low:.2}, {high:.2}]"
        );
    }
    let endings: Vec<String> = report.endings.iter().map(|(ending, n)| format!("{ending}={n}")).collect();
    let _ = write!(
        text,
        "  endings: {}; {:.0} plies a game; the first mover won {} of decisive games",
        if endings.is_empty() { "none".to_owned() } else { endings.join("  ") },
        report.mean_plies.unwrap_or(0.0),
        percent(report.first_mover_win_share)
    );
    text
}

/// Says on stderr how the match goes on, and keeps its games.
struct Watcher {
    games: u64,
    state: Mutex<State>,
}

struct State {
    record: Option<(BufWriter<File>, PathBuf)>,
    failed: Option<std::io::Error>,
    began: Instant,
    said: Instant,
}

/// Between two lines.
const EVERY: Duration = Duration::from_secs(10);

impl Watcher {
    fn new(games: u64, record: Option<(BufWriter<File>, PathBuf)>) -> Self {
        let now = Instant::now();
        Self { games, state: Mutex::new(State { record, failed: None, began: now, said: now }) }
    }

    fn finish(self) -> Result<()> {
        let State { record, failed, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some((mut file, path)) = record else { return Ok(()) };
        let written = failed.map_or_else(|| file.flush(), Err);
        written.with_context(|| path.display().to_string())
    }
}

impl Observer for Watcher {
    fn pair(&self, games: &[Played; 2], now: &Score, sprt: Option<&Standing>) {
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some((file, _)), None) = (&mut state.record, &state.failed) {
            for game in games {
                let line = serde_json::to_string(game).map_err(Into::into);
                if let Err(error) = line.and_then(|line| writeln!(file, "{line}")) {
                    state.failed = Some(error);
                }
            }
        }
        if state.said.elapsed() < EVERY {
            return;
        }
        state.said = Instant::now();
        #[expect(clippy::cast_precision_loss, reason = "figures for reading")]
        let left =
            state.began.elapsed().as_secs_f64() * (self.games - now.games()) as f64 / now.games() as f64;
        let llr = sprt.map_or(String::new(), |standing| format!("; LLR {:.2}", standing.llr));
        eprintln!(
            "manaka: match: {} of {} games, about {left:.0} s to go; {}{llr}",
            now.games(),
            self.games,
            score(now)
        );
    }

    fn is_stopping(&self) -> bool {
        is_stopping() || self.state.lock().unwrap_or_else(PoisonError::into_inner).failed.is_some()
    }
}
