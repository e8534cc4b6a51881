//! Games cut at a ply, and those that were never finished taken out (docs/guide/edit.md, `cut`).

use crate::error::{Error, Result};
use crate::games::{DEFAULT_GAME_BYTES, Game, Seams};
use crate::lineage::{Count, InOut};
use crate::output::{OutputOptions, Parts};
use crate::report::{Figures, Report};
use crate::run::{Begun, Done, Job};
use manaka_core::conventions::NO_OUTCOME;
use manaka_core::stream::RecordRef;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What a cut does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CutOptions {
    /// Records above this ply are dropped.
    pub max_ply: Option<u16>,
    /// What becomes of the outcome of a game that reached it; to be stated with `max_ply`.
    pub relabel: Option<Relabel>,
    /// Which games were never finished and are taken out; `None` keeps all.
    pub drop_unfinished: Option<Unfinished>,
    /// How parts are written.
    pub output: OutputOptions,
    /// Bytes of one game that are kept in memory at most.
    pub game_bytes: usize,
}

impl Default for CutOptions {
    fn default() -> Self {
        Self {
            max_ply: None,
            relabel: None,
            drop_unfinished: None,
            output: OutputOptions::default(),
            game_bytes: DEFAULT_GAME_BYTES,
        }
    }
}

/// What becomes of the outcome of every record of a game that reached the ply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relabel {
    /// A draw, +0.0.
    Draw,
    /// None: the end of the game is not in the data. Streams become version 3 by it.
    Unknown,
    /// What it was.
    Keep,
}

impl Relabel {
    /// The outcome that is written.
    const fn value_z(self) -> Option<f32> {
        match self {
            Self::Draw => Some(0.0),
            Self::Unknown => Some(NO_OUTCOME),
            Self::Keep => None,
        }
    }

    /// As options and steps name it.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Draw => "draw",
            Self::Unknown => "unknown",
            Self::Keep => "keep",
        }
    }
}

/// Which games count as never finished.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfinished {
    /// Those without a record that was won or lost: for generators that know no drawn game and write 0 where they stopped.
    Drawn,
    /// Those without a record that states an outcome: where a draw is one.
    Unstated,
}

impl Unfinished {
    /// As options and steps name it.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Drawn => "drawn",
            Self::Unstated => "unstated",
        }
    }
}

/// What a cut found and did, beside the counts of its step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Default)]
pub struct CutFigures {
    /// Games that had a record at the ply or above it.
    pub games_at_max_ply: u64,
    /// Of those, games that are left without a record at the ply itself, because theirs was missing there. Afterwards
    /// nothing tells them from games that stopped early.
    pub games_short_of_max_ply: u64,
    /// Of those at the ply, games that the inputs already had as draws.
    pub games_drawn_before: u64,
    /// Records of relabelled games whose outcome was another one, the sign of a zero not regarded.
    pub outcomes_changed: u64,
    /// Games of which nothing is left: they opened above the ply.
    pub games_above_max_ply: u64,
    /// Games with drawn records and decided ones. No one game has both: the data is not in game order, or two games
    /// follow one another without the ply showing it.
    pub games_at_odds: u64,
    /// Games of the outputs that readers take for a part of the game before them: they open above the ply at which that one
    /// now ends, because what stood between is gone.
    pub games_run_together: u64,
    /// How many games ended at each ply, in the inputs.
    pub terminal_plies: Vec<TerminalPly>,
    /// The same in the outputs.
    pub terminal_plies_out: Vec<TerminalPly>,
}

/// Games by the ply of their last record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct TerminalPly {
    /// The ply.
    pub ply: u16,
    /// Games whose last record has it.
    pub games: u64,
    /// Of those, games of which no record is won or lost.
    pub undecided: u64,
}

/// Cuts games and takes out the unfinished ones.
///
/// # Errors
/// [`Error::Usage`] when nothing was asked for, or a ply without saying what becomes of outcomes; [`Error::LongGame`]; the
/// first fault of the streams; whatever stands in the way of writing.
pub fn cut(job: Job<'_>, options: &CutOptions) -> Result<Report> {
    options.check()?;
    let mut begun = Begun::new(job, "cut")?;
    let mut header = *begun.source.header();
    if options.relabel == Some(Relabel::Unknown) {
        header = header.allowing_absent_outcomes();
    }
    let parts = Parts::of(job.out, &begun.source, header, &options.output)?;
    let mut cutter =
        Cutter { options, parts, game: Game::default(), seen: Seen::default(), sums: Sums::default() };
    while let Some((place, record)) = begun.source.next()? {
        let ply = record.ply();
        if cutter.game.opens(ply) {
            cutter.close()?;
        }
        cutter.seen.look(&record);
        if options.max_ply.is_some_and(|most| ply > most) {
            cutter.sums.beyond += 1;
            cutter.game.pass(ply);
        } else {
            cutter.seen.last_kept = ply;
            cutter.game.keep(place, record, options.game_bytes, job.inputs)?;
        }
    }
    cutter.close()?;
    let Cutter { parts, sums, .. } = cutter;
    let mut done = Done {
        options: options.state(),
        outputs: parts.finish()?,
        games: Some(InOut { input: sums.games_in, output: sums.games_out }),
        ..Done::default()
    };
    options.output.state(options.output.compression(&begun.source), &mut done.options);
    if options.max_ply.is_some() {
        done.dropped.push(("beyond_max_ply", Count::of_games(sums.beyond, sums.figures.games_above_max_ply)));
    }
    if options.drop_unfinished.is_some() {
        done.dropped.push(("unfinished", sums.unfinished));
    }
    if options.relabel.is_some_and(|relabel| relabel != Relabel::Keep) {
        done.changed.push(("relabelled", sums.relabelled));
    }
    let (step, unlisted) = begun.conclude(&header, done, &[job.out.to_owned()])?;
    let list = |plies: BTreeMap<u16, (u64, u64)>| {
        plies.into_iter().map(|(ply, (games, undecided))| TerminalPly { ply, games, undecided }).collect()
    };
    let figures = CutFigures {
        terminal_plies: list(sums.before),
        terminal_plies_out: list(sums.behind),
        games_run_together: sums.seams.run_together,
        ..sums.figures
    };
    Ok(Report { step, figures: Figures::Cut(figures), unlisted, out: job.out.to_owned() })
}

impl CutOptions {
    fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::Usage(what.to_owned()));
        match (self.max_ply, self.relabel) {
            (None, None) if self.drop_unfinished.is_none() => {
                wrong("a cut needs a greatest ply, or unfinished games to drop")
            }
            (Some(_), None) => wrong(
                "games that are cut do not end as they did: state what becomes of their outcome (a draw, or kept)",
            ),
            (None, Some(_)) => wrong("without a greatest ply no game is cut, and none is relabelled"),
            (Some(0), _) => wrong("a greatest ply of 0 leaves nothing that a search looked at"),
            _ => Ok(()),
        }
    }

    fn state(&self) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("max_ply".to_owned(), self.max_ply.into()),
            ("relabel_cut".to_owned(), self.relabel.map(Relabel::id).into()),
            ("drop_unfinished".to_owned(), self.drop_unfinished.map(Unfinished::id).into()),
        ])
    }
}

/// What the records of the open game say of its end.
#[derive(Default)]
struct Seen {
    decided: u64,
    drawn: u64,
    last_kept: u16,
}

impl Seen {
    fn look(&mut self, record: &RecordRef<'_>) {
        match record.outcome() {
            Some(0.0) => self.drawn += 1,
            Some(_) => self.decided += 1,
            None => {}
        }
    }
}

struct Sums {
    games_in: u64,
    games_out: u64,
    beyond: u64,
    unfinished: Count,
    relabelled: Count,
    before: BTreeMap<u16, (u64, u64)>,
    behind: BTreeMap<u16, (u64, u64)>,
    seams: Seams,
    figures: CutFigures,
}

impl Default for Sums {
    fn default() -> Self {
        let none = Count::of_games(0, 0);
        Self {
            games_in: 0,
            games_out: 0,
            beyond: 0,
            unfinished: none,
            relabelled: none,
            before: BTreeMap::new(),
            behind: BTreeMap::new(),
            seams: Seams::default(),
            figures: CutFigures::default(),
        }
    }
}

struct Cutter<'a> {
    options: &'a CutOptions,
    parts: Parts,
    game: Game,
    seen: Seen,
    sums: Sums,
}

impl Cutter<'_> {
    /// Decides what becomes of the open game, and forgets it.
    fn close(&mut self) -> Result<()> {
        let Some(last) = self.game.last_ply() else { return Ok(()) };
        let Self { options, parts, game, seen, sums } = self;
        let records = game.len() as u64;
        let undecided = seen.decided == 0;
        let note = |plies: &mut BTreeMap<u16, (u64, u64)>, ply, undecided: bool| {
            let entry = plies.entry(ply).or_default();
            *entry = (entry.0 + 1, entry.1 + u64::from(undecided));
        };
        sums.games_in += 1;
        note(&mut sums.before, last, undecided);
        sums.figures.games_at_odds += u64::from(!undecided && seen.drawn > 0);
        let reached = options.max_ply.is_some_and(|most| last >= most);
        sums.figures.games_at_max_ply += u64::from(reached);
        sums.figures.games_drawn_before += u64::from(reached && undecided && seen.drawn > 0);
        // A game that the cut stopped has a reason to have no outcome; one that stops earlier has none.
        let unfinished = !reached
            && match options.drop_unfinished {
                None => false,
                Some(Unfinished::Drawn) => undecided,
                Some(Unfinished::Unstated) => undecided && seen.drawn == 0,
            };
        if unfinished {
            sums.unfinished.add_game(records);
        } else if records == 0 {
            sums.figures.games_above_max_ply += 1;
        } else {
            let label = options.relabel.and_then(Relabel::value_z).filter(|_| reached);
            if let Some(label) = label {
                let changed = &mut sums.figures.outcomes_changed;
                game.each_mut(|mut record| {
                    *changed += u64::from(record.value_z() != label);
                    record.set_value_z(label);
                });
                sums.relabelled.add_game(records);
            }
            let short = reached && options.max_ply.is_some_and(|most| seen.last_kept < most);
            sums.figures.games_short_of_max_ply += u64::from(short);
            game.write(parts, &mut sums.seams)?;
            sums.games_out += 1;
            note(&mut sums.behind, seen.last_kept, undecided || label.is_some());
        }
        game.clear();
        *seen = Seen::default();
        Ok(())
    }
}
