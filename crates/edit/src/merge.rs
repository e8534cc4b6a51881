//! Parts joined to larger ones, or cut anew (docs/guide/edit.md, `merge`).

use crate::error::Result;
use crate::output::{OutputOptions, Parts};
use crate::report::{Figures, Report};
use crate::run::{Begun, Done, Job};
use manaka_core::stream::{PartsOptions, opens_game};
use serde::Serialize;

/// How the inputs meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Default)]
pub struct MergeFigures {
    /// Places where one input follows another and both have records.
    pub joins: u64,
    /// Of those, joins over which a game goes on by its plies: right for parts of one run; between two runs one game's
    /// records are then taken for another's.
    pub joins_inside_games: u64,
}

/// Writes all records, in order, into as few parts as `records_per_part` allows
/// ([`PartsOptions::DEFAULT_RECORDS_PER_PART`] unless given).
///
/// # Errors
/// Headers that differ, with both files and both values; the first fault of the streams; whatever stands in the way of
/// writing.
pub fn merge(job: Job<'_>, output: &OutputOptions) -> Result<Report> {
    let per_part = output.records_per_part.unwrap_or(PartsOptions::DEFAULT_RECORDS_PER_PART);
    let output = OutputOptions { records_per_part: Some(per_part), ..*output };
    let mut begun = Begun::new(job, "edit merge")?;
    let header = *begun.source.header();
    let mut parts = Parts::of(job.out, &begun.source, header, &output)?;
    let mut done = Done::default();
    output.state(output.compression(&begun.source), &mut done.options);
    let mut figures = MergeFigures::default();
    let mut last: Option<(usize, u16)> = None;
    while let Some((place, record)) = begun.source.next()? {
        if let Some((part, ply)) = last
            && part != place.part
        {
            figures.joins += 1;
            figures.joins_inside_games += u64::from(!opens_game(ply, record.ply()));
        }
        last = Some((place.part, record.ply()));
        parts.write_to(place.part, record)?;
    }
    done.outputs = parts.finish()?;
    let (step, unlisted) = begun.conclude(&header, done, &[job.out.to_owned()])?;
    Ok(Report { step, figures: Figures::Merge(figures), unlisted, out: job.out.to_owned() })
}
