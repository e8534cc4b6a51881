//! `manaka selfplay`: searches play games against themselves and leave visit records.

use crate::evaluators::{OnnxArgs, Shared};
use crate::exit::{Outcome, Usage};
use crate::output::{Format, grouped, print, print_json};
use crate::progress::is_stopping;
use anyhow::{Result, bail};
use manaka_search::{Gumbel, MateTest, Puct, PuctQ, QScale, Rule, Schedule, Unvisited};
use manaka_selfplay::{
    DATA, Identity, Kp256, Live, Observer, Openings, Options, Report, Resign, Shogi, Totals, Uniform,
    run as play,
};
use std::cell::Cell;
use std::fmt::Write;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Threads;

/// Play games of a search against itself and append every searched position to an MPK1 stream of visits.
///
/// Games are numbered, and everything random in one follows from --seed and its number: the stream does not depend on
/// --threads or --batch. A killed run goes on with --resume. The first SIGINT lets the games in play come to their end,
/// a second one ends the process at once; both can be resumed.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Games to play.
    #[arg(long, value_name = "N")]
    games: u64,

    /// Directory for games.mpk, games.jsonl and selfplay.json.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    #[command(flatten)]
    threads: Threads,

    /// Games that each thread plays at the same time, one position of each in a batch; what the evaluator likes unless
    /// given. The stream does not depend on it.
    #[arg(long, value_name = "N")]
    batch: Option<NonZeroUsize>,

    /// Where everything random comes from; every machine that adds to one set of data needs another.
    #[arg(long, value_name = "N", default_value_t = Options::DEFAULT_SEED)]
    seed: u64,

    /// What judges positions.
    #[arg(long, value_enum, default_value_t, help_heading = "Evaluator")]
    evaluator: Judge,

    /// A net for the evaluator: kp256 has one in this program, onnx has none.
    #[arg(long, value_name = "FILE", help_heading = "Evaluator")]
    net: Option<PathBuf>,

    #[command(flatten)]
    onnx: OnnxArgs,

    #[command(flatten)]
    search: SearchArgs,

    /// Openings: a file of SFENs or `startpos moves …` lines.
    #[arg(long, value_name = "FILE", help_heading = "Games")]
    book: Option<PathBuf>,

    /// Plies drawn from the evaluator's policy behind the opening, neither searched nor recorded.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Games")]
    opening_plies: u32,

    /// How lost a search has to find its side, from 0 to 1, for it to think of resigning.
    #[arg(long, value_name = "X", default_value_t = Resign::DEFAULT_VALUE, help_heading = "Games")]
    resign_value: f64,

    /// Searches of one side in a row that find it so, after which it resigns; 0 never.
    #[arg(long, value_name = "N", default_value_t = Resign::DEFAULT_COUNT, help_heading = "Games")]
    resign_count: u32,

    /// Share of games in which nobody resigns, so that the rate of false resignations is known.
    #[arg(long, value_name = "P", default_value_t = Resign::DEFAULT_PLAY_ON, help_heading = "Games")]
    play_on: f64,

    /// Last move number of a game, counted on the board whatever the game began with; behind it is a draw.
    #[arg(long, value_name = "PLY", default_value_t = Shogi::DEFAULT_MAX_PLY, help_heading = "Games")]
    max_ply: u16,

    /// Seconds that finished games may wait for being brought to disk.
    #[arg(long, value_name = "S", default_value_t = Options::DEFAULT_SYNC.as_secs_f64())]
    sync_seconds: f64,

    /// Go on with the run in the directory.
    #[arg(long)]
    resume: bool,

    /// Say what would be played, and about how much disk and memory it takes; play nothing.
    #[arg(long)]
    dry_run: bool,

    /// How to print the report.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Which evaluator.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Judge {
    /// A small network, the one in this program or another of its kind (--net).
    #[default]
    Kp256,
    /// A network with dlshogi's inputs and outputs (--net), run by ONNX Runtime; in programs built with it.
    Onnx,
    /// Knows nothing: every move as good as the next, every position even.
    Uniform,
}

/// Which search.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Kind {
    /// AlphaZero's, 800 playouts; visits are counts.
    #[default]
    Puct,
    /// Gumbel AlphaZero's, 64 simulations; visits are the improved policy in 65536ths.
    Gumbel,
}

/// How values of moves are scaled.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Scale {
    /// From 0 for a loss to 1 for a win.
    Unit,
    /// From −1 to 1 (Gumbel).
    Signed,
    /// From 0 to 1 between the least and the greatest value among the moves (Gumbel).
    MinMax,
    /// MuZero's, from 0 to 1 between the least and the greatest value met so far (PUCT).
    Siblings,
}

/// Every constant of the two searches.
#[derive(clap::Args, Debug)]
struct SearchArgs {
    /// The search.
    #[arg(long, value_enum, default_value_t, overrides_with = "search", help_heading = "Search")]
    search: Kind,

    /// Simulations of each search, which is what the visits sum to: 800 for PUCT, 64 for Gumbel unless given.
    #[arg(long, visible_alias = "simulations", value_name = "N", help_heading = "Search")]
    playouts: Option<NonZeroU32>,

    /// Do not test leaves for a mate in one.
    #[arg(long, help_heading = "Search")]
    no_mate_test: bool,

    /// The scale of values: unit, signed or min-max under Gumbel, unit or siblings under PUCT.
    #[arg(long, value_enum, default_value_t = Scale::Unit, help_heading = "Search")]
    q_scale: Scale,

    /// PUCT: the constant part of the exploration factor.
    #[arg(long, value_name = "X", default_value_t = Puct::C_INIT, help_heading = "PUCT")]
    c_init: f64,

    /// PUCT: the base of the growing part of the exploration factor, ln((1 + N + base) / base).
    #[arg(long, value_name = "X", default_value_t = Puct::C_BASE, help_heading = "PUCT")]
    c_base: f64,

    /// PUCT: the value of moves without visits: loss, node, or a number to take from the node's.
    #[arg(long, value_name = "WHAT", default_value = "loss", value_parser = unvisited, help_heading = "PUCT")]
    unvisited: Unvisited,

    /// PUCT: α of the Dirichlet noise on the root's priors.
    #[arg(long, value_name = "ALPHA", default_value_t = Puct::NOISE_ALPHA, help_heading = "PUCT")]
    noise_alpha: f64,

    /// PUCT: ε, the share of the noise.
    #[arg(long, value_name = "EPSILON", default_value_t = Puct::NOISE_SHARE, help_heading = "PUCT")]
    noise_epsilon: f64,

    /// PUCT: the temperature at which the first moves are drawn from the visits; 0 plays the most visited.
    #[arg(long, value_name = "T", default_value_t = 1.0, help_heading = "PUCT")]
    temperature: f64,

    /// PUCT: how many moves of a game those are, counted on the board.
    #[arg(long, value_name = "N", default_value_t = Puct::TEMPERATURE_PLIES, help_heading = "PUCT")]
    temperature_plies: u32,

    /// PUCT: the temperature behind them.
    #[arg(long, value_name = "T", default_value_t = 0.0, help_heading = "PUCT")]
    final_temperature: f64,

    /// Gumbel: m, the root moves that sequential halving starts with.
    #[arg(long, visible_alias = "m", value_name = "M", default_value_t = Gumbel::CONSIDERED, help_heading = "Gumbel")]
    considered: u32,

    /// Gumbel: c_visit.
    #[arg(long, value_name = "X", default_value_t = Gumbel::C_VISIT, help_heading = "Gumbel")]
    c_visit: f64,

    /// Gumbel: c_scale.
    #[arg(long, value_name = "X", default_value_t = Gumbel::C_SCALE, help_heading = "Gumbel")]
    c_scale: f64,

    /// Gumbel: the factor of the root's noise.
    #[arg(long, value_name = "X", default_value_t = 1.0, help_heading = "Gumbel")]
    gumbel_scale: f64,

    /// Gumbel: how many moves of a game have this noise, counted on the board; all of them unless given.
    #[arg(long, value_name = "N", help_heading = "Gumbel")]
    gumbel_plies: Option<u32>,
}

fn unvisited(text: &str) -> Result<Unvisited, String> {
    match text {
        "loss" => Ok(Unvisited::Loss),
        "node" => Ok(Unvisited::Node),
        below => below.parse().map(Unvisited::Below).map_err(|_| "it is loss, node, or a number".to_owned()),
    }
}

impl SearchArgs {
    fn resolve(&self) -> Result<manaka_search::Options> {
        let (rule, budget) = match self.search {
            Kind::Puct => (Rule::Puct(self.puct()?), Options::DEFAULT_PLAYOUTS),
            Kind::Gumbel => (Rule::Gumbel(self.gumbel()?), Options::DEFAULT_SIMULATIONS),
        };
        Ok(manaka_search::Options {
            budget: self.playouts.map_or(budget, NonZeroU32::get),
            rule,
            mate_test: if self.no_mate_test { MateTest::Off } else { MateTest::Leaf },
        })
    }

    fn puct(&self) -> Result<Puct> {
        Ok(Puct {
            c_init: self.c_init,
            c_base: self.c_base,
            q: match self.q_scale {
                Scale::Unit => PuctQ::Unit(self.unvisited),
                Scale::Siblings => PuctQ::Siblings,
                Scale::Signed | Scale::MinMax => {
                    bail!(Usage("PUCT takes values on the scale unit or siblings".to_owned()))
                }
            },
            noise_alpha: self.noise_alpha,
            noise_share: self.noise_epsilon,
            temperature: Schedule {
                first: self.temperature,
                plies: self.temperature_plies,
                then: self.final_temperature,
            },
        })
    }

    fn gumbel(&self) -> Result<Gumbel> {
        Ok(Gumbel {
            considered: self.considered,
            c_visit: self.c_visit,
            c_scale: self.c_scale,
            q: match self.q_scale {
                Scale::Unit => QScale::Unit,
                Scale::Signed => QScale::Signed,
                Scale::MinMax => QScale::MinMax,
                Scale::Siblings => {
                    bail!(Usage("Gumbel takes values on the scale unit, signed or min-max".to_owned()))
                }
            },
            noise_scale: match self.gumbel_plies {
                None => Schedule::constant(self.gumbel_scale),
                Some(plies) => Schedule { first: self.gumbel_scale, plies, then: 0.0 },
            },
        })
    }
}

/// What there is to do.
struct Task {
    options: Options,
    evaluators: Shared,
    out: PathBuf,
    dry_run: bool,
    format: Format,
}

impl Args {
    fn resolve(self) -> Result<Task> {
        let options = Options {
            openings: Openings { book: self.book, policy_plies: self.opening_plies },
            resign: Resign { value: self.resign_value, count: self.resign_count, play_on: self.play_on },
            max_ply: self.max_ply,
            seed: self.seed,
            threads: self.threads.get(),
            batch: self.batch,
            sync: Duration::try_from_secs_f64(self.sync_seconds)
                .map_err(|_| Usage(format!("{} seconds are none", self.sync_seconds)))?,
            resume: self.resume,
            ..Options::new(self.search.resolve()?, self.games)
        };
        if self.evaluator != Judge::Onnx {
            self.onnx.refuse()?;
        }
        let evaluators: Shared = match (self.evaluator, &self.net) {
            (Judge::Kp256, None) => Arc::new(Kp256::embedded()),
            (Judge::Kp256, Some(net)) => Arc::new(Kp256::open(net)?),
            (Judge::Onnx, Some(net)) => self.onnx.open(net, self.batch)?,
            (Judge::Onnx, None) => bail!(Usage("the evaluator onnx needs a network (--net FILE)".to_owned())),
            (Judge::Uniform, None) => Arc::new(Uniform::default()),
            (Judge::Uniform, Some(_)) => bail!(Usage("the evaluator uniform has no net".to_owned())),
        };
        Ok(Task { options, evaluators, out: self.out, dry_run: self.dry_run, format: self.format })
    }
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let Task { options, evaluators, out, dry_run, format } = args.resolve()?;
    if dry_run {
        let estimate = manaka_selfplay::estimate(&options, evaluators.as_ref())?;
        match format {
            Format::Text => print(estimate)?,
            Format::Json => print_json(&estimate)?,
        }
        return Ok(Outcome::Done);
    }
    let watcher = Watcher::new();
    let report = play(&options, evaluators.as_ref(), &out, &watcher)?;
    match format {
        Format::Text => print(text(&report, &out.join(DATA)))?,
        Format::Json => print_json(&report)?,
    }
    if !report.complete && is_stopping() {
        bail!("interrupted: the games so far are whole, and the same command with --resume goes on");
    }
    Ok(Outcome::Done)
}

fn counted<K: std::fmt::Debug>(counts: impl IntoIterator<Item = (K, u64)>) -> String {
    let some = counts.into_iter().filter(|(_, n)| *n > 0);
    let texts: Vec<String> = some.map(|(kind, n)| format!("{kind:?}={n}").to_lowercase()).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join("  ") }
}

fn endings(totals: &Totals) -> String {
    let some = totals.endings.iter().filter(|(_, n)| **n > 0);
    let texts: Vec<String> = some.map(|(ending, n)| format!("{ending}={n}")).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join("  ") }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("none".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

fn text(report: &Report, data: &std::path::Path) -> String {
    let totals = &report.totals;
    let mut text = format!(
        "{} games, {} positions, {:.1} plies a game\n  endings: {}\n  won: {}; the first mover won {} of those with a winner\n",
        grouped(totals.games),
        grouped(totals.positions),
        report.mean_plies.unwrap_or(0.0),
        endings(totals),
        counted(totals.winners.iter().map(|(winner, n)| (*winner, *n))),
        percent(report.first_mover_win_share),
    );
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "  resignation: in {} games nobody was to resign; in {} of them a side would have, and did not lose {}",
        grouped(totals.played_on),
        grouped(totals.given_up),
        percent(report.false_resign_rate),
    );
    if totals.empty_games > 0 {
        let _ = writeln!(text, "  {} games were over where they began", grouped(totals.empty_games));
    }
    let _ = write!(
        text,
        "  {:.0} positions and {:.0} evaluations per second\n  {}",
        report.positions_per_second,
        report.evaluations_per_second,
        data.display()
    );
    text
}

/// Says how a run goes on, on stderr.
struct Watcher {
    began: Instant,
    said: Cell<Instant>,
    games: Cell<u64>,
    /// Games that were there when it began.
    before: Cell<u64>,
}

/// Between two lines.
const EVERY: Duration = Duration::from_secs(10);

impl Watcher {
    fn new() -> Self {
        let now = Instant::now();
        Self { began: now, said: Cell::new(now), games: Cell::new(0), before: Cell::new(0) }
    }
}

impl Observer for Watcher {
    fn begin(&self, evaluator: &Identity, games: u64, totals: &Totals) {
        self.games.set(games);
        self.before.set(totals.games);
        let net = evaluator.net.as_ref().map_or(String::new(), |net| format!(" {net}"));
        let provider =
            evaluator.provider.as_ref().map_or(String::new(), |provider| format!(" on {provider}"));
        eprintln!("manaka: selfplay: evaluator {}{net}{provider}", evaluator.name);
        if totals.games > 0 {
            eprintln!("manaka: selfplay: {} games are there already", grouped(totals.games));
        }
    }

    fn tick(&self, live: Live, totals: &Totals) {
        if self.said.get().elapsed() < EVERY {
            return;
        }
        self.said.set(Instant::now());
        let seconds = self.began.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "figures for reading")]
        let rate = |n: u64| n as f64 / seconds;
        let left = self.games.get().saturating_sub(totals.games);
        let played = totals.games - self.before.get();
        #[expect(clippy::cast_precision_loss, reason = "figures for reading")]
        let eta = match played {
            0 => String::new(),
            played => format!(", about {:.0} s to go", left as f64 / rate(played)),
        };
        eprintln!(
            "manaka: selfplay: {} of {} games{eta}; {:.0} positions and {:.0} evaluations per second; {:.1} plies a game; {}",
            grouped(totals.games),
            grouped(self.games.get()),
            rate(live.positions),
            rate(live.evaluations),
            totals.mean_plies().unwrap_or(0.0),
            endings(totals),
        );
    }

    fn notice(&self, text: &str) {
        eprintln!("manaka: {text}");
    }

    fn cancelled(&self) -> bool {
        is_stopping()
    }
}
