//! A set cut into parts, or into two sets by a draw of games (docs/guide/edit.md, `split`).

use crate::error::{Error, Result};
use crate::lineage::{FileFacts, InOut};
use crate::output::{OutputOptions, Parts};
use crate::report::{Figures, Report};
use crate::run::{Begun, Done, Job};
use manaka_core::stream::{PartsOptions, StreamSet, opens_game};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::PathBuf;

/// Where a set is cut.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SplitBy {
    /// Into so many parts, as equal as can be.
    Parts(NonZeroU64),
    /// Into parts of so many records; with `whole_games` each goes on to the end of its last game.
    Records(NonZeroU64),
    /// Into parts of so many games.
    Games(NonZeroU64),
    /// Into two sets, `train` and `validation` below the output directory, by a draw for each game.
    Validation {
        /// The share of games that go to `validation`, above 0 and below 1.
        share: f64,
        /// What the draws follow from.
        seed: u64,
    },
}

/// How a set is split.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SplitOptions {
    /// Where.
    pub by: SplitBy,
    /// Parts end only where games do. Parts of games and drawn sets always do.
    pub whole_games: bool,
    /// How parts are written; `records_per_part` is for drawn sets alone.
    pub output: OutputOptions,
}

/// What went into each set of a drawn split.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SplitSet {
    /// The directory, below the output directory.
    pub name: &'static str,
    /// Games in it.
    pub games: u64,
    /// Records in it.
    pub records: u64,
}

/// Splits a set.
///
/// # Errors
/// [`Error::Usage`] for a share outside (0, 1); the first fault of the streams; whatever stands in the way of writing.
pub fn split(job: Job<'_>, options: &SplitOptions) -> Result<Report> {
    if let SplitBy::Validation { share, seed } = options.by {
        if !(share > 0.0 && share < 1.0) {
            return Err(Error::Usage(format!("a share of {share} leaves one of the two sets empty")));
        }
        return draw(job, options, share, seed);
    }
    if options.output.records_per_part.is_some() {
        return Err(Error::Usage("where parts end is stated twice".to_owned()));
    }
    let whole_games = options.whole_games || matches!(options.by, SplitBy::Games(_));
    let unit = if whole_games { Unit::Games } else { Unit::Records };
    // How much there is has to be known before it can be halved.
    let total = match options.by {
        SplitBy::Parts(_) => count(&job, unit)?,
        _ => 0,
    };
    let mut begun = Begun::new(job, "edit split")?;
    let header = *begun.source.header();
    let compression = options.output.compression(&begun.source);
    let asked = if let SplitBy::Parts(n) = options.by { n.get() } else { 0 };
    let mut parts = Parts::numbered(job.out, header, compression, asked)?;
    let mut done = Done { options: options.state(whole_games), ..Done::default() };
    options.output.state(compression, &mut done.options);
    let (mut games, mut records, mut part, mut in_part) = (0u64, 0u64, 0usize, 0u64);
    let mut last = None;
    while let Some((_, record)) = begun.source.next()? {
        let opens = last.is_none_or(|last| opens_game(last, record.ply()));
        last = Some(record.ply());
        // The number of this record or game, as the parts count it.
        let number = if whole_games { games } else { records };
        if opens || !whole_games {
            match options.by {
                SplitBy::Parts(n) => part = share_of(number, total, n),
                SplitBy::Records(n) if in_part >= n.get() => (part, in_part) = (part + 1, 0),
                SplitBy::Games(n) => part = usize::try_from(number / n).unwrap_or(usize::MAX),
                _ => {}
            }
        }
        games += u64::from(opens);
        records += 1;
        in_part += 1;
        parts.write_to(part, record)?;
    }
    done.outputs = parts.finish()?;
    done.games = Some(InOut { input: games, output: games });
    let (step, unlisted) = begun.conclude(&header, done, &[job.out.to_owned()])?;
    Ok(Report { step, figures: Figures::None {}, unlisted, out: job.out.to_owned() })
}

#[derive(Clone, Copy)]
enum Unit {
    Records,
    Games,
}

/// How many records or games a set has.
fn count(job: &Job<'_>, unit: Unit) -> Result<u64> {
    let mut set = StreamSet::open(job.inputs.to_vec())?;
    job.progress.phase("counting", None, "records");
    let (mut total, mut last, mut records) = (0, None, 0u64);
    while let Some(record) = set.next_ref()? {
        let opens = last.is_none_or(|last| opens_game(last, record.ply()));
        last = Some(record.ply());
        total += u64::from(opens || matches!(unit, Unit::Records));
        records += 1;
        if records.is_multiple_of(4096) {
            job.progress.advance(4096);
            if job.progress.cancelled() {
                return Err(Error::Interrupted);
            }
        }
    }
    Ok(total)
}

/// The part that number `number` of `total` belongs to when there are `parts`, which differ by one at most.
fn share_of(number: u64, total: u64, parts: NonZeroU64) -> usize {
    let part = u128::from(number) * u128::from(parts.get()) / u128::from(total.max(1));
    usize::try_from(part).unwrap_or(usize::MAX)
}

/// One set of a drawn split.
struct Set {
    name: &'static str,
    dir: PathBuf,
    parts: Parts,
    games: u64,
    records: u64,
}

/// Two sets by a draw for each game: the `n`th number of the stream that the seed names is the `n`th game's.
fn draw(job: Job<'_>, options: &SplitOptions, share: f64, seed: u64) -> Result<Report> {
    let mut begun = Begun::new(job, "edit split")?;
    let header = *begun.source.header();
    let per_part = options.output.records_per_part.unwrap_or(PartsOptions::DEFAULT_RECORDS_PER_PART);
    let output = OutputOptions { records_per_part: Some(per_part), ..options.output };
    let open = |name| -> Result<Set> {
        let dir = job.out.join(name);
        std::fs::create_dir(&dir).map_err(|error| Error::Io { path: dir.clone(), error })?;
        let parts = Parts::of(&dir, &begun.source, header, &output)?;
        Ok(Set { name, dir, parts, games: 0, records: 0 })
    };
    let mut sets = [open("train")?, open("validation")?];
    let mut draws = ChaCha8Rng::seed_from_u64(seed);
    let bound = bound(share);
    let (mut chosen, mut last) = (0, None);
    while let Some((_, record)) = begun.source.next()? {
        let opens = last.is_none_or(|last| opens_game(last, record.ply()));
        last = Some(record.ply());
        if opens {
            chosen = usize::from(draws.next_u64() < bound);
        }
        let set = &mut sets[chosen];
        set.games += u64::from(opens);
        set.records += 1;
        set.parts.write_to(0, record)?;
    }
    let mut done = Done { options: options.state(true), ..Done::default() };
    output.state(output.compression(&begun.source), &mut done.options);
    let games = sets.iter().map(|set| set.games).sum();
    done.games = Some(InOut { input: games, output: games });
    let (mut figures, mut dirs) = (Vec::new(), Vec::new());
    for set in sets {
        let below = |file: FileFacts| FileFacts { name: format!("{}/{}", set.name, file.name), ..file };
        done.outputs.extend(set.parts.finish()?.into_iter().map(below));
        figures.push(SplitSet { name: set.name, games: set.games, records: set.records });
        dirs.push(set.dir);
    }
    let (step, unlisted) = begun.conclude(&header, done, &dirs)?;
    Ok(Report { step, figures: Figures::Split { sets: figures }, unlisted, out: job.out.to_owned() })
}

/// The number that a share of all 64-bit draws lies below.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share in (0, 1) of 2^64")]
fn bound(share: f64) -> u64 {
    (share * 18_446_744_073_709_551_616.0) as u64
}

impl SplitOptions {
    fn state(&self, whole_games: bool) -> BTreeMap<String, Value> {
        let mut options: BTreeMap<String, Value> = ["parts", "records", "games", "validation", "seed"]
            .map(|name| (name.to_owned(), Value::Null))
            .into();
        options.insert("whole_games".to_owned(), whole_games.into());
        let mut state = |name: &str, value: Value| drop(options.insert(name.to_owned(), value));
        match self.by {
            SplitBy::Parts(n) => state("parts", n.get().into()),
            SplitBy::Records(n) => state("records", n.get().into()),
            SplitBy::Games(n) => state("games", n.get().into()),
            SplitBy::Validation { share, seed } => {
                state("validation", share.into());
                state("seed", seed.into());
            }
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_as_equal_as_can_be() {
        for (total, parts) in [(10, 3), (3, 5), (1, 1), (1000, 7)] {
            let mut sizes = vec![0u64; parts];
            let n = NonZeroU64::new(parts as u64).unwrap();
            (0..total).for_each(|number| sizes[share_of(number, total, n)] += 1);
            assert_eq!(sizes.iter().sum::<u64>(), total);
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
        }
    }

    #[test]
    fn a_share_of_the_draws_lies_below_the_bound() {
        assert_eq!(bound(0.5), 1 << 63);
        assert_eq!(bound(0.25), 1 << 62);
    }
}
