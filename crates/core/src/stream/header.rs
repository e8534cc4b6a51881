//! The 24 bytes at the head of a stream (stream.md §2).

use super::error::Kind;
use crate::conventions::{Conventions, PolicySource, Pov};
use crate::packed::PACKED_LEN;

/// Bytes of the header: magic 4, version 2, packed_len 2, pov 1, policy_source 1, mate_scale 2, fv_scale 2,
/// mate_slack 2, eval_coef 4, flags 4.
pub const HEADER_LEN: usize = 4 + 2 + 2 + 1 + 1 + 2 + 2 + 2 + 4 + 4;
const _: () = assert!(HEADER_LEN == 24);

/// The first four bytes.
pub const MAGIC: [u8; 4] = *b"MPK1";
/// The version written where no record needs a later one. Versions 1 to 3 are read.
pub const VERSION: u16 = 2;
/// The first version in which a record's outcome may be absent, and the latest that is read.
pub const ABSENT_OUTCOME_VERSION: u16 = 3;

#[expect(clippy::cast_possible_truncation, reason = "96")]
const PACKED_LEN_FIELD: u16 = PACKED_LEN as u16;

/// A header, decoded. Unknown versions, flags and position widths never become one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Header {
    /// The version it was read from, or is to be written in.
    pub version: u16,
    /// The conventions it states.
    pub conventions: Conventions,
}

impl Header {
    /// A header of version 2: every record states its outcome.
    #[must_use]
    pub const fn new(conventions: Conventions) -> Self {
        Self { version: VERSION, conventions }
    }

    /// The header of version 3 that states the same.
    #[must_use]
    pub const fn allowing_absent_outcomes(self) -> Self {
        Self { version: ABSENT_OUTCOME_VERSION, ..self }
    }

    /// Whether records may leave their outcome out.
    #[must_use]
    pub const fn allows_absent_outcomes(&self) -> bool {
        self.version >= ABSENT_OUTCOME_VERSION
    }

    /// The bytes of the header. Version 1 is not written any more: such a header is written as version 2.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_LEN] {
        let c = &self.conventions;
        // stream.md §2, field by field.
        let mut bytes = [0; HEADER_LEN];
        bytes[0..4].copy_from_slice(&MAGIC);
        bytes[4..6].copy_from_slice(&self.version.clamp(VERSION, ABSENT_OUTCOME_VERSION).to_le_bytes());
        bytes[6..8].copy_from_slice(&PACKED_LEN_FIELD.to_le_bytes());
        bytes[8] = c.pov as u8;
        bytes[9] = c.policy_source as u8;
        bytes[10..12].copy_from_slice(&c.mate_scale.to_le_bytes());
        bytes[12..14].copy_from_slice(&c.fv_scale.to_le_bytes());
        bytes[14..16].copy_from_slice(&c.mate_slack.to_le_bytes());
        bytes[16..20].copy_from_slice(&unsigned_zero(c.eval_coef).to_le_bytes());
        // 20..24 are the flags: none is defined.
        bytes
    }

    /// Decodes a header.
    ///
    /// # Errors
    /// A [`Kind`] that names the first field that cannot be accepted; see stream.md §2.
    pub fn decode(bytes: &[u8; HEADER_LEN]) -> Result<Self, Kind> {
        // The order of stream.md §6.1.
        let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let u32_at = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);

        let found = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if found != MAGIC {
            return Err(Kind::Magic { found });
        }
        let version = u16_at(4);
        if !(1..=ABSENT_OUTCOME_VERSION).contains(&version) {
            return Err(Kind::Version { found: version });
        }
        if u16_at(6) != PACKED_LEN_FIELD {
            return Err(Kind::PackedLen { found: u16_at(6) });
        }
        let pov = match bytes[8] {
            0 => Pov::SideToMove,
            1 => Pov::Black,
            found => return Err(Kind::Pov { found }),
        };
        let policy_source = match bytes[9] {
            0 => PolicySource::Visits,
            1 => PolicySource::SoftmaxCp,
            found => return Err(Kind::PolicySource { found }),
        };
        let mate_slack = u16_at(14);
        if version == 1 && mate_slack != 0 {
            return Err(Kind::Reserved { found: mate_slack });
        }
        let flags = u32_at(20);
        if flags != 0 {
            return Err(Kind::Flags { found: flags });
        }
        let conventions = Conventions {
            pov,
            policy_source,
            mate_scale: u16_at(10),
            mate_slack,
            fv_scale: u16_at(12),
            eval_coef: unsigned_zero(f32::from_bits(u32_at(16))),
        };
        match conventions.inconsistency() {
            Some(inconsistency) => Err(Kind::Inconsistent(inconsistency)),
            None => Ok(Self { version, conventions }),
        }
    }
}

/// The absent `eval_coef` has one form, or else the text in a footer would depend on which file was read first.
fn unsigned_zero(value: f32) -> f32 {
    if value == 0.0 { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of every part of the V4 corpus, as its card prints it.
    const V4: [u8; 24] = [
        0x4d, 0x50, 0x4b, 0x31, 0x02, 0x00, 0x60, 0x00, 0x00, 0x01, 0x00, 0x7d, 0x1c, 0x00, 0x64, 0x00, 0x89,
        0x05, 0xbd, 0x44, 0x00, 0x00, 0x00, 0x00,
    ];

    #[test]
    fn the_v4_header_is_a_golden_vector() {
        let header = Header::decode(&V4).unwrap();
        assert_eq!(
            header,
            Header {
                version: 2,
                conventions: Conventions {
                    pov: Pov::SideToMove,
                    policy_source: PolicySource::SoftmaxCp,
                    mate_scale: 32000,
                    mate_slack: 100,
                    fv_scale: 28,
                    eval_coef: 1512.173,
                },
            }
        );
        assert_eq!(header.encode(), V4);
        assert_eq!(header.conventions.mate_threshold(), Some(31900));
    }

    #[test]
    fn a_version_1_header_has_a_reserved_field_instead_of_the_slack() {
        let mut bytes = V4;
        bytes[4] = 1;
        assert!(matches!(Header::decode(&bytes), Err(Kind::Reserved { found: 100 })));
        bytes[14] = 0;
        let header = Header::decode(&bytes).unwrap();
        assert_eq!((header.version, header.conventions.effective_mate_slack()), (1, 320));
    }

    #[test]
    fn version_3_states_what_version_2_does_and_allows_absent_outcomes() {
        let mut bytes = V4;
        bytes[4] = 3;
        let header = Header::decode(&bytes).unwrap();
        let version_2 = Header::decode(&V4).unwrap();
        assert_eq!(header, version_2.allowing_absent_outcomes());
        assert_eq!((header.version, header.conventions), (3, version_2.conventions));
        assert_eq!((header.allows_absent_outcomes(), version_2.allows_absent_outcomes()), (true, false));
        assert_eq!(header.encode(), bytes);
        assert_eq!(Header { version: 1, ..version_2 }.encode(), V4);
    }

    #[test]
    fn an_absent_eval_coef_has_no_sign() {
        let mut bytes = V4;
        bytes[16..20].copy_from_slice(&(-0.0f32).to_le_bytes());
        let header = Header::decode(&bytes).unwrap();
        assert_eq!(header.conventions.eval_coef.to_bits(), 0);
        let conventions = Conventions { eval_coef: -0.0, ..header.conventions };
        assert_eq!(Header::new(conventions).encode()[16..20], [0; 4]);
    }

    #[test]
    fn every_field_that_cannot_be_accepted_is_named() {
        for (at, value, id) in [
            (0, b'N', "magic"),
            (4, 0, "version"),
            (4, 4, "version"),
            (5, 1, "version"),
            (6, 95, "packed_len"),
            (8, 2, "pov"),
            (9, 2, "policy_source"),
            (15, 0x7e, "inconsistent_header"),
            (19, 0xC4, "inconsistent_header"),
            (20, 1, "flags"),
            (23, 0x80, "flags"),
        ] {
            let mut bytes = V4;
            bytes[at] = value;
            assert_eq!(Header::decode(&bytes).unwrap_err().id(), id, "byte {at} = {value}");
        }
        let mut bytes = V4;
        bytes[16..20].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(Header::decode(&bytes).unwrap_err().id(), "inconsistent_header");
    }
}
