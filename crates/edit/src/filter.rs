//! Records, or whole games, that meet conditions (docs/guide/edit.md, `filter`).

use crate::error::{Error, Result};
use crate::games::{DEFAULT_GAME_BYTES, Game, Seams};
use crate::lineage::{Count, InOut};
use crate::output::{OutputOptions, Parts};
use crate::report::{Figures, Report};
use crate::run::{Begun, Done, Job};
use manaka_core::Color;
use manaka_core::select::{Data, Outcome, Select};
use manaka_core::stream::RecordRef;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

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
#[derive(Clone, PartialEq, Debug)]
pub struct FilterOptions {
    /// The conditions.
    pub select: Select,
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
            select: Select::default(),
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
    /// Where whole games are taken: games of the outputs that readers take for a part of the game before them, because what
    /// stood between is gone.
    pub games_run_together: u64,
}

/// Writes the records, or the games, that meet the conditions.
///
/// # Errors
/// [`Error::Select`](crate::Error::Select) for a condition that these streams have nothing to be held to;
/// [`Error::LongGame`](crate::Error::LongGame) when whole games are taken; the first fault of the streams; whatever
/// stands in the way of writing.
pub fn filter(job: Job<'_>, options: &FilterOptions) -> Result<Report> {
    if options.select.is_all() {
        return Err(Error::Usage("no condition is given: everything would be taken".to_owned()));
    }
    let matcher = options.select.on(Data::Stream(&Begun::conventions(&job)?))?;
    let matches = |record: RecordRef<'_>| matcher.matches(&record.into());
    let mut begun = Begun::new(job, "edit filter")?;
    let header = *begun.source.header();
    let mut parts = Parts::of(job.out, &begun.source, header, &options.output)?;
    let mut done = Done::default();
    options.output.state(options.output.compression(&begun.source), &mut done.options);
    conditions(&options.select, &mut done.options);
    done.options
        .insert("games".to_owned(), (options.take != Take::Records).then_some(options.take.id()).into());
    done.options.insert("invert".to_owned(), options.invert.into());
    let mut figures = FilterFigures::default();
    let mut dropped = Count::records(0);
    if options.take == Take::Records {
        while let Some((place, record)) = begun.source.next()? {
            let met = matches(record);
            figures.matching += u64::from(met);
            if met == options.invert {
                dropped.records += 1;
            } else {
                parts.write_to(place.part, record)?;
            }
        }
    } else {
        let mut sieve = Sieve {
            options,
            game: Game::default(),
            met: 0,
            games: InOut::default(),
            dropped: Count::of_games(0, 0),
            seams: Seams::default(),
        };
        while let Some((place, record)) = begun.source.next()? {
            if sieve.game.opens(record.ply()) {
                sieve.close(&mut parts)?;
            }
            let met = u64::from(matches(record));
            sieve.met += met;
            figures.matching += met;
            sieve.game.keep(place, record, options.game_bytes, job.inputs)?;
        }
        sieve.close(&mut parts)?;
        done.games = Some(sieve.games);
        figures.games_run_together = sieve.seams.run_together;
        dropped = sieve.dropped;
    }
    done.dropped.push(("not_selected", dropped));
    done.outputs = parts.finish()?;
    let (step, unlisted) = begun.conclude(&header, done, &[job.out.to_owned()])?;
    Ok(Report { step, figures: Figures::Filter(figures), unlisted, out: job.out.to_owned() })
}

/// The conditions as a step states them: by their names, in the text that asks for them.
fn conditions(select: &Select, options: &mut BTreeMap<String, Value>) {
    let Select {
        ply,
        min_weight,
        max_weight,
        mate,
        sfen,
        side,
        value_q,
        value_z,
        min_candidates,
        max_candidates,
        mv,
        cp,
    } = select;
    let side = side.map(|side| if side == Color::Black { "b" } else { "w" });
    let values: [(&str, Value); 12] = [
        ("ply", ply.map(|plies| plies.to_string()).into()),
        ("min_weight", (*min_weight).into()),
        ("max_weight", (*max_weight).into()),
        ("mate", (*mate).into()),
        ("sfen", sfen.map(|packed| packed.sfen(None).to_string()).into()),
        ("side", side.into()),
        ("value_q", value_q.map(|values| values.to_string()).into()),
        ("value_z", value_z.map(Outcome::id).into()),
        ("min_candidates", (*min_candidates).into()),
        ("max_candidates", (*max_candidates).into()),
        ("move", mv.map(|mv| mv.to_string()).into()),
        ("cp", cp.map(|scores| scores.to_string()).into()),
    ];
    options.extend(values.into_iter().map(|(name, value)| (name.to_owned(), value)));
}

/// Takes games or leaves them.
struct Sieve<'a> {
    options: &'a FilterOptions,
    game: Game,
    /// Records of the open game that meet the conditions.
    met: u64,
    games: InOut,
    dropped: Count,
    seams: Seams,
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
            self.game.write(parts, &mut self.seams)?;
        }
        self.game.clear();
        self.met = 0;
        Ok(())
    }
}
