//! What a stream states about its numbers.

use crate::errors::usage;
use manaka_core::stream::{ABSENT_OUTCOME_VERSION, HEADER_LEN, VERSION};
use manaka_core::{Conventions, PolicySource, Pov, stream};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

/// The conventions of a stream (stream.md §2): whose view numbers are in and what they are measured against.
///
/// `pov` is "side_to_move" or "black", `policy_source` "visits" or "softmax_cp"; neither has a default, because a
/// wrong one is silent. A 0 says "not stated" (`mate_slack`, `fv_scale`) or "not applicable" (`mate_scale`,
/// `eval_coef`). Streams of visits state no scale. Raises UsageError for another name.
#[pyclass(module = "manaka", frozen, eq)]
#[derive(PartialEq)]
pub struct Header {
    pub header: stream::Header,
}

impl Header {
    pub const fn conventions(&self) -> &Conventions {
        &self.header.conventions
    }
}

#[pymethods]
impl Header {
    #[new]
    #[pyo3(signature = (*, pov, policy_source, mate_scale = 0, mate_slack = 0, fv_scale = 0, eval_coef = 0.0))]
    fn new(
        pov: &str,
        policy_source: &str,
        mate_scale: u16,
        mate_slack: u16,
        fv_scale: u16,
        eval_coef: f32,
    ) -> PyResult<Self> {
        let pov = [Pov::SideToMove, Pov::Black]
            .into_iter()
            .find(|known| known.id() == pov)
            .ok_or_else(|| usage("pov", format!("pov '{pov}': must be 'side_to_move' or 'black'")))?;
        let policy_source = [PolicySource::Visits, PolicySource::SoftmaxCp]
            .into_iter()
            .find(|known| known.id() == policy_source)
            .ok_or_else(|| {
                let message = format!("policy_source '{policy_source}': must be 'visits' or 'softmax_cp'");
                usage("policy_source", message)
            })?;
        let conventions = Conventions { pov, policy_source, mate_scale, mate_slack, fv_scale, eval_coef };
        Ok(Self { header: stream::Header::new(conventions) })
    }

    /// The version of the header that was read; writers write 2, or 3 where an outcome is absent.
    #[getter]
    const fn version(&self) -> u16 {
        self.header.version
    }

    /// Whose view scores and outcomes are stated from: "side_to_move" or "black".
    #[getter]
    const fn pov(&self) -> &'static str {
        self.conventions().pov.id()
    }

    /// Which half of the candidates is filled: "visits" or "softmax_cp".
    #[getter]
    const fn policy_source(&self) -> &'static str {
        self.conventions().policy_source.id()
    }

    /// The cp that mates are folded to; 0 not applicable.
    #[getter]
    const fn mate_scale(&self) -> u16 {
        self.conventions().mate_scale
    }

    /// How far below `mate_scale` mates reach, as stated; 0 not stated.
    #[getter]
    const fn mate_slack(&self) -> u16 {
        self.conventions().mate_slack
    }

    /// The slack in force: 320 where none is stated, 0 without a mate scale.
    #[getter]
    const fn mate_slack_in_force(&self) -> u16 {
        self.conventions().effective_mate_slack()
    }

    /// The |cp| from which a score is a mate; None without a mate scale.
    #[getter]
    const fn mate_threshold(&self) -> Option<u16> {
        self.conventions().mate_threshold()
    }

    /// The FV_SCALE of the engine that made the scores; 0 not stated.
    #[getter]
    const fn fv_scale(&self) -> u16 {
        self.conventions().fv_scale
    }

    /// The cp scale of the tanh behind `value_q`; 0.0 not applicable.
    #[getter]
    const fn eval_coef(&self) -> f32 {
        self.conventions().eval_coef
    }

    /// What pickles name: the 24 bytes of the header.
    #[classmethod]
    fn _unpickle(_cls: &Bound<'_, PyType>, bytes: [u8; HEADER_LEN]) -> PyResult<Self> {
        let header = stream::Header::decode(&bytes).map_err(|kind| usage(kind.id(), kind.to_string()))?;
        Ok(Self { header })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let unpickle = slf.get_type().getattr("_unpickle")?;
        let header = slf.get().header;
        let mut bytes = header.encode();
        // stream.md §2: a header that was read keeps its version.
        bytes[4..6].copy_from_slice(&header.version.to_le_bytes());
        Ok((unpickle, (PyBytes::new(slf.py(), &bytes),)))
    }

    fn __repr__(&self) -> String {
        let c = self.conventions();
        format!(
            "Header(pov='{}', policy_source='{}', mate_scale={}, mate_slack={}, fv_scale={}, eval_coef={:?})",
            c.pov.id(),
            c.policy_source.id(),
            c.mate_scale,
            c.mate_slack,
            c.fv_scale,
            c.eval_coef
        )
    }
}

const _: () = assert!(VERSION == 2 && ABSENT_OUTCOME_VERSION == 3, "the docs above name them");
