//! A report as JSON, with the conventions that were stated.

use crate::report::Report;
use manaka_core::Conventions;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Json<'a> {
    rows: u64,
    written: u64,
    off_search: u64,
    rejected: u64,
    rejected_by_reason: BTreeMap<&'static str, u64>,
    mates: u64,
    beyond_mate_scale: u64,
    conventions: Stated,
    parts: Vec<Cow<'a, str>>,
    bytes: u64,
}

#[derive(Serialize)]
struct Stated {
    pov: &'static str,
    policy_source: &'static str,
    mate_scale: u16,
    mate_slack: u16,
    fv_scale: u16,
    eval_coef: f32,
}

impl Report {
    /// The report as JSON, beside the conventions that went into the headers. Part names that are no UTF-8 lose the
    /// bytes that are none.
    #[must_use]
    pub fn stating(&self, conventions: &Conventions) -> impl Serialize {
        Json {
            rows: self.rows,
            written: self.written,
            off_search: self.off_search,
            rejected: self.rejected.total(),
            rejected_by_reason: self.rejected.iter().map(|(reason, n)| (reason.id(), n)).collect(),
            mates: self.mates,
            beyond_mate_scale: self.beyond_mate_scale,
            conventions: Stated {
                pov: conventions.pov.id(),
                policy_source: conventions.policy_source.id(),
                mate_scale: conventions.mate_scale,
                mate_slack: conventions.mate_slack,
                fv_scale: conventions.fv_scale,
                eval_coef: conventions.eval_coef,
            },
            parts: self.parts.paths.iter().map(|path| path.to_string_lossy()).collect(),
            bytes: self.parts.bytes,
        }
    }
}
