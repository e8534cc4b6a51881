//! A record's bytes, to be changed in place without being decoded and encoded again.

use super::record::{CANDIDATE_LEN, Candidate, FIXED_LEN, RecordRef};
use crate::packed::PACKED_LEN;

/// A framed record whose values can be set; its length stays. Nothing is judged: whoever writes it validates it.
pub struct RecordMut<'a> {
    bytes: &'a mut [u8],
}

impl<'a> RecordMut<'a> {
    /// Frames the record at the start of `input`, as [`RecordRef::frame`] does.
    ///
    /// # Errors
    /// The least length of `input` with which to try again.
    pub fn frame(input: &'a mut [u8]) -> Result<Self, usize> {
        let len = RecordRef::frame(input)?.bytes().len();
        Ok(Self { bytes: &mut input[..len] })
    }

    /// The outcome as it is stored.
    #[must_use]
    pub const fn value_z(&self) -> f32 {
        f32::from_le_bytes([self.bytes[2], self.bytes[3], self.bytes[4], self.bytes[5]])
    }

    /// Sets the outcome.
    pub fn set_value_z(&mut self, value_z: f32) {
        self.bytes[2..6].copy_from_slice(&value_z.to_le_bytes());
    }

    /// Sets the root value.
    pub fn set_value_q(&mut self, value_q: f32) {
        self.bytes[6..10].copy_from_slice(&value_q.to_le_bytes());
    }

    /// Sets the position.
    pub fn set_packed(&mut self, packed: &[u8; PACKED_LEN]) {
        self.bytes[FIXED_LEN..FIXED_LEN + PACKED_LEN].copy_from_slice(packed);
    }

    /// Replaces each candidate by another.
    pub fn map_candidates(&mut self, map: impl Fn(Candidate) -> Candidate) {
        let (candidates, _) = self.bytes[FIXED_LEN + PACKED_LEN..].as_chunks_mut::<CANDIDATE_LEN>();
        for bytes in candidates {
            let new = map(Candidate::from_bytes(bytes));
            bytes[0..2].copy_from_slice(&new.mv.bits().to_le_bytes());
            bytes[2..6].copy_from_slice(&new.visits.to_le_bytes());
            bytes[6..8].copy_from_slice(&new.cp.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::move16::Move16;
    use crate::packed::Packed;
    use crate::stream::Record;

    #[test]
    fn values_that_are_set_are_those_an_encoded_record_has() {
        let candidate = |bits, cp| Candidate { mv: Move16::from_bits(bits), visits: 7, cp };
        let mut record =
            Record { ply: 9, candidates: vec![candidate(1, 2), candidate(3, 4)], ..Record::default() };
        let mut bytes = Vec::new();
        record.encode(&mut bytes).unwrap();
        bytes.extend_from_slice(b"behind");

        let mut packed = *Packed::empty().as_bytes();
        packed[..2].copy_from_slice(&[3, 4]);
        let mut changed = RecordMut::frame(&mut bytes).ok().unwrap();
        changed.set_value_z(-1.0);
        changed.set_value_q(0.25);
        changed.set_packed(&packed);
        changed.map_candidates(|c| Candidate {
            cp: -c.cp,
            visits: c.visits + 1,
            mv: Move16::from_bits(c.mv.bits() + 1),
        });

        record.value_z = -1.0;
        record.value_q = 0.25;
        record.packed = Packed::from_bytes(packed);
        record.candidates =
            vec![Candidate { visits: 8, ..candidate(2, -2) }, Candidate { visits: 8, ..candidate(4, -4) }];
        let mut expected = Vec::new();
        record.encode(&mut expected).unwrap();
        expected.extend_from_slice(b"behind");
        assert_eq!(bytes, expected);
        assert_eq!(RecordMut::frame(&mut bytes[..100]).err(), Some(108));
    }
}
