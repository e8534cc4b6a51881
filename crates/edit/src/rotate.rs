//! The colour-flip twin of every record (docs/guide/edit.md, `rotate`).

use crate::error::Result;
use crate::lineage::Count;
use crate::output::{OutputOptions, Parts};
use crate::report::{Figures, Report};
use crate::run::{Begun, Done, Job};
use manaka_core::conventions::{NO_CP, NO_OUTCOME};
use manaka_core::stream::{Candidate, RecordMut, RecordRef};
use manaka_core::{Packed, Pov};

/// Writes the twin of every record: board, hands, side to move and moves turned, numbers kept in the view `pov` names.
///
/// Where that is the side to move the numbers stay: the mover of the twin stands as the mover stood. Where it is Black, the
/// Black of the twin is who was White, and values, outcomes and scores change sign. Plies stay. Done twice it is the
/// identity, byte for byte.
///
/// # Errors
/// The first fault of the streams; whatever stands in the way of writing.
pub fn rotate(job: Job<'_>, output: &OutputOptions) -> Result<Report> {
    let mut begun = Begun::new(job, "edit rotate")?;
    let header = *begun.source.header();
    let mut parts = Parts::of(job.out, &begun.source, header, output)?;
    let mut done = Done::default();
    output.state(output.compression(&begun.source), &mut done.options);
    let mut twin = Vec::new();
    let mut records = 0;
    while let Some((place, record)) = begun.source.next()? {
        turn(record, header.conventions.pov, &mut twin);
        if let Ok(twin) = RecordRef::frame(&twin) {
            parts.write_to(place.part, twin)?;
            records += 1;
        }
    }
    done.outputs = parts.finish()?;
    done.changed.push(("rotated", Count::records(records)));
    let (step, unlisted) = begun.conclude(&header, done, &[job.out.to_owned()])?;
    Ok(Report { step, figures: Figures::None {}, unlisted, out: job.out.to_owned() })
}

/// Puts the twin of a record into `out`.
fn turn(record: RecordRef<'_>, pov: Pov, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(record.bytes());
    // The bytes are those of a record.
    let Ok(mut twin) = RecordMut::frame(out) else { return };
    twin.set_packed(Packed::from_bytes(*record.packed_bytes()).rotated().as_bytes());
    match pov {
        Pov::SideToMove => twin.map_candidates(|c| Candidate { mv: c.mv.rotated(), ..c }),
        Pov::Black => {
            twin.set_value_z(other_side(record.value_z()));
            twin.set_value_q(other_side(record.value_q()));
            twin.map_candidates(|c| {
                // What is absent is so in every view; the negative of every other cp is one.
                let cp = if c.cp == NO_CP { NO_CP } else { -c.cp };
                Candidate { mv: c.mv.rotated(), cp, ..c }
            });
        }
    }
}

/// A value from the other side. Zeros stay as they are: a minus zero is somebody's, and no new one is made. So does an
/// outcome that is absent.
fn other_side(value: f32) -> f32 {
    if value == 0.0 || value == NO_OUTCOME { value } else { -value }
}
