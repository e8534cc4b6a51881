//! Records, or whole games, that meet conditions (docs/guide/edit.md, `filter`).

use crate::error::Result;
use crate::games::{DEFAULT_GAME_BYTES, Game};
use crate::lineage::{Count, InOut};
use crate::output::{OutputOptions, Parts};
use crate::report::{Figures, Report};
use crate::run::{Begun, Done, Job};
use manaka_core::stream::RecordRef;
use serde::Serialize;
use serde_json::Value;

/// What is taken of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Take {
    /// Records that meet the conditions.
    #[default]
    Records,
    /// Whole games of which some record meets them.
    GamesWithAny,
    /// Whole games of which every record meets them.
    GamesWithAll,
}

impl Take {
    /// As options and steps name it.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Records => "records",
            Self::GamesWithAny => "any",
            Self::GamesWithAll => "all",
        }
    }
}

/// How a stream is filtered.
#[derive(Clone, Debug)]
pub struct FilterOptions {
    /// The conditions, by the names of the options that state them.
    pub conditions: Vec<(String, Value)>,
    /// What is taken.
    pub take: Take,
    /// Take what would be left, and leave what would be taken.
    pub invert: bool,
    /// How parts are written.
    pub output: OutputOptions,
    /// Bytes of one game that are kept in memory at most.
    pub game_bytes: usize,
}

impl Default for FilterOptions {
    fn default() -> Self {
        Self {
            conditions: Vec::new(),
            take: Take::Records,
            invert: false,
            output: OutputOptions::default(),
            game_bytes: DEFAULT_GAME_BYTES,
        }
    }
}

/// What a filter found, beside the counts of its step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Default)]
pub struct FilterFigures {
    /// Records that meet the conditions, wherever they went.
    pub matching: u64,
}

/// Writes the records, or the games, that `matches` takes.
///
/// # Errors
/// [`Error::LongGame`](crate::Error::LongGame) when whole games are taken; the first fault of the streams; whatever
/// stands in the way of writing.
pub fn filter(
    job: Job<'_>,
    options: &FilterOptions,
    matches: impl Fn(&RecordRef<'_>) -> bool,
) -> Result<Report> {
    let mut begun = Begun::new(job, "edit filter")?;
    let header = *begun.source.header();
    let mut parts = Parts::of(job.out, &begun.source, header, &options.output)?;
    let mut done = Done::default();
    options.output.state(options.output.compression(&begun.source), &mut done.options);
    done.options.extend(options.conditions.iter().cloned());
    done.options.insert("games".to_owned(), (options.take != Take::Records).then_some(options.take.id()).into());
    done.options.insert("invert".to_owned(), options.invert.into());
    let mut figures = FilterFigures::default();
    let mut dropped = Count::records(0);
    if options.take == Take::Records {
        while let Some((place, record)) = begun.source.next()? {
            let met = matches(&record);
            figures.matching += u64::from(met);
            if met == options.invert {
                dropped.records += 1;
            } else {
                parts.write_to(place.part, record)?;
            }
        }
    } else {
        let mut sieve = Sieve { options, game: Game::default(), met: 0, games: InOut::default(), dropped: Count::of_games(0, 0) };
        while let Some((place, record)) = begun.source.next()? {
            if sieve.game.opens(record.ply()) {
                sieve.close(&mut parts)?;
            }
            let met = u64::from(matches(&record));
            sieve.met += met;
            figures.matching += met;
            sieve.game.keep(place, record, options.game_bytes, job.inputs)?;
        }
        sieve.close(&mut parts)?;
        done.games = Some(sieve.games);
        dropped = sieve.dropped;
    }
    done.dropped.push(("not_selected", dropped));
    done.outputs = parts.finish()?;
    let (step, unlisted) = begun.conclude(&header, done, &[job.out.to_owned()])?;
    Ok(Report { step, figures: Figures::Filter(figures), unlisted, out: job.out.to_owned() })
}

/// Takes games or leaves them.
struct Sieve<'a> {
    options: &'a FilterOptions,
    game: Game,
    /// Records of the open game that meet the conditions.
    met: u64,
    games: InOut,
    dropped: Count,
}

impl Sieve<'_> {
    fn close(&mut self, parts: &mut Parts) -> Result<()> {
        if !self.game.is_open() {
            return Ok(());
        }
        let records = self.game.len() as u64;
        let met = match self.options.take {
            Take::GamesWithAll => self.met == records,
            Take::GamesWithAny | Take::Records => self.met > 0,
        };
        self.games.input += 1;
        if met == self.options.invert {
            self.dropped.add_game(records);
        } else {
            self.games.output += 1;
            self.game.write(parts)?;
        }
        self.game.clear();
        self.met = 0;
        Ok(())
    }
}
