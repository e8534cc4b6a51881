//! Conventions stated that a header left unsaid (docs/guide/edit.md, `set-header`).

use crate::error::{Error, Result};
use crate::output::{OutputOptions, Parts};
use crate::report::{Figures, Report};
use crate::run::{Begun, Done, Job};
use manaka_core::conventions::Inconsistency;
use manaka_core::stream::Header;
use manaka_core::{Conventions, PolicySource};
use serde::Serialize;
use std::path::Path;

/// What is to be stated. The other fields of a header are never unsaid: `pov` and `policy_source` have no such value, and
/// a `mate_scale` or `eval_coef` of 0 says that there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SetHeaderOptions {
    /// The FV_SCALE the scores were read at.
    pub fv_scale: Option<u16>,
    /// How far below `mate_scale` mates reach.
    pub mate_slack: Option<u16>,
    /// How parts are written.
    pub output: OutputOptions,
}

/// A field before and behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SetField {
    /// Its name.
    pub field: &'static str,
    /// What the inputs stated; 0 where they did not.
    pub before: u16,
    /// What the outputs state.
    pub after: u16,
}

/// Writes the same records under headers that state more.
///
/// # Errors
/// [`Error::Usage`] when nothing or a 0 is to be stated; [`Error::Contradiction`] when a header states something else or
/// cannot state it; the first fault of the streams; whatever stands in the way of writing.
pub fn set_header(job: Job<'_>, options: &SetHeaderOptions) -> Result<Report> {
    let SetHeaderOptions { fv_scale, mate_slack, output } = *options;
    if fv_scale.is_none() && mate_slack.is_none() {
        return Err(Error::Usage("nothing is to be stated: give an FV_SCALE or a mate slack".to_owned()));
    }
    if fv_scale == Some(0) || mate_slack == Some(0) {
        return Err(Error::Usage("0 states nothing: it is how a header leaves a field unsaid".to_owned()));
    }
    // The header alone is looked at first: a contradiction leaves no directory behind.
    let before = Begun::conventions(&job)?;
    let conventions = state(&before, options, &job.inputs[0])?;
    let mut begun = Begun::new(job, "edit set-header")?;
    let header = Header { conventions, ..*begun.source.header() };
    let mut parts = Parts::of(job.out, &begun.source, header, &output)?;
    let mut done = Done::default();
    output.state(output.compression(&begun.source), &mut done.options);
    done.options.insert("fv_scale".to_owned(), fv_scale.into());
    done.options.insert("mate_slack".to_owned(), mate_slack.into());
    while let Some((place, record)) = begun.source.next()? {
        parts.write_to(place.part, record)?;
    }
    done.outputs = parts.finish()?;
    let (step, unlisted) = begun.conclude(&header, done, &[job.out.to_owned()])?;
    let field = |field, before, after| SetField { field, before, after };
    let figures = Figures::SetHeader {
        fields: vec![
            field("fv_scale", before.fv_scale, conventions.fv_scale),
            field("mate_slack", before.mate_slack, conventions.mate_slack),
        ],
    };
    Ok(Report { step, figures, unlisted, out: job.out.to_owned() })
}

/// The conventions with what they left unsaid.
fn state(stated: &Conventions, options: &SetHeaderOptions, path: &Path) -> Result<Conventions> {
    let refuse = |key, why| Err(Error::Contradiction { path: path.to_owned(), key, why });
    let mut conventions = *stated;
    for (key, asked, field) in [
        ("fv_scale", options.fv_scale, &mut conventions.fv_scale),
        ("mate_slack", options.mate_slack, &mut conventions.mate_slack),
    ] {
        let Some(asked) = asked else { continue };
        if stated.policy_source == PolicySource::Visits {
            return refuse(key, "a visits stream is not on the centipawn scale, and states none".to_owned());
        }
        if *field != 0 && *field != asked {
            return refuse(
                key,
                format!("the header states {field}, not {asked}; what is stated is not changed"),
            );
        }
        *field = asked;
    }
    match conventions.inconsistency() {
        None => Ok(conventions),
        Some(Inconsistency::MateSlack) if conventions.mate_scale == 0 => {
            refuse("mate_slack", "the header states that there are no mates (mate_scale 0)".to_owned())
        }
        Some(wrong) => refuse("mate_slack", wrong.to_string()),
    }
}
