//! Torn streams kept up to their last whole record (docs/guide/edit.md, `repair`).

use crate::error::Result;
use crate::lineage::Count;
use crate::output::{OutputOptions, Parts};
use crate::report::{Figures, Report};
use crate::run::{Begun, Done, Job};
use serde::Serialize;

/// A file that was torn, and what it lost.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TornFile {
    /// Its name.
    pub name: String,
    /// Whole records kept: all that stood in front of the tear.
    pub records: u64,
    /// The number of the last of them, from 0; absent where there is none.
    pub last_record: Option<u64>,
    /// Where the last whole record ends, in the decompressed stream.
    pub offset: u64,
    /// Bytes of the decompressed stream behind that, which are lost: a record in part. 0 where compressed data was cut
    /// behind a whole record; how many records were to follow, nobody can say.
    pub lost_bytes: u64,
}

/// Writes every whole record of every file; only a torn tail (`truncated`, stream.md §6.2) is forgiven.
///
/// Raw data cut exactly between two records is a shorter stream, and nothing shows that it was longer.
///
/// # Errors
/// Any fault but a torn tail, a torn header included: nothing is whole there; whatever stands in the way of writing.
pub fn repair(job: Job<'_>, output: &OutputOptions) -> Result<Report> {
    let mut begun = Begun::new(job, "edit repair")?;
    begun.source = begun.source.up_to_tears();
    let header = *begun.source.header();
    let mut parts = Parts::of(job.out, &begun.source, header, output)?;
    let mut done = Done::default();
    output.state(output.compression(&begun.source), &mut done.options);
    while let Some((place, record)) = begun.source.next()? {
        parts.write_to(place.part, record)?;
    }
    done.outputs = parts.finish()?;
    let torn: Vec<_> = (begun.source.tears().iter())
        .map(|tear| TornFile {
            name: crate::source::name_of(&job.inputs[tear.part]),
            records: tear.records,
            last_record: tear.records.checked_sub(1),
            offset: tear.offset,
            lost_bytes: tear.lost,
        })
        .collect();
    let lost = torn.iter().map(|file| file.lost_bytes).sum();
    let partial = torn.iter().filter(|file| file.lost_bytes > 0).count() as u64;
    done.refused.push(("truncated", Count { records: partial, games: None, bytes: Some(lost) }));
    let (step, unlisted) = begun.conclude(&header, done, &[job.out.to_owned()])?;
    Ok(Report { step, figures: Figures::Repair { torn }, unlisted, out: job.out.to_owned() })
}
