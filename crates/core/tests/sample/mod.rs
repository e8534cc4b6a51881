//! Small sound streams to break, and the bytes of one written out by hand.
#![allow(dead_code, reason = "each test crate uses its own part")]

use manaka_core::conventions::{NO_CP, NO_VISITS};
use manaka_core::stream::{Candidate, Header, Record};
use manaka_core::{Conventions, Move16, Packed};

/// The header of every part of the V4 corpus, as its card prints it.
pub const V4: [u8; 24] = [
    0x4d, 0x50, 0x4b, 0x31, 0x02, 0x00, 0x60, 0x00, 0x00, 0x01, 0x00, 0x7d, 0x1c, 0x00, 0x64, 0x00, 0x89,
    0x05, 0xbd, 0x44, 0x00, 0x00, 0x00, 0x00,
];

/// What [`V4`] states.
pub const V4_CONVENTIONS: Conventions =
    Conventions { mate_scale: 32000, mate_slack: 100, fv_scale: 28, ..Conventions::TEACHER };

/// A position with a ply.
pub fn packed(text: &str) -> Packed {
    Packed::from_sfen(text).unwrap().0
}

/// A sound score record with `n` candidates; `seed` makes it differ from others.
pub fn scored(seed: u16, n: usize) -> Record {
    record(seed, n, |i| (NO_VISITS, i16::try_from(i).unwrap() * 7 - i16::try_from(seed).unwrap()))
}

/// A sound visits record with `n` candidates.
pub fn visited(seed: u16, n: usize) -> Record {
    record(seed, n, |i| (u32::try_from(i).unwrap() + 1, NO_CP))
}

fn record(seed: u16, n: usize, halves: impl Fn(usize) -> (u32, i16)) -> Record {
    let mut packed = packed("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1");
    packed.as_bytes_mut()[95] = u8::from(seed % 2 == 1);
    let candidates = (0..n)
        .map(|i| {
            let (visits, cp) = halves(i);
            // Origin and target by counting: well-formed, and each once.
            let bits = u16::try_from((i % 81) | ((i / 81 + 1) << 7)).unwrap();
            Candidate { mv: Move16::from_bits(bits), visits, cp }
        })
        .collect();
    Record {
        ply: 100 + seed,
        value_z: [1.0, 0.0, -1.0][usize::from(seed % 3)],
        value_q: f32::from(seed) / 64.0,
        packed,
        candidates,
    }
}

/// The bytes of a stream.
pub fn stream(conventions: Conventions, records: &[Record]) -> Vec<u8> {
    let mut bytes = Header::new(conventions).encode().to_vec();
    for record in records {
        record.encode(&mut bytes).unwrap();
    }
    bytes
}

/// Where each record of a stream ends, the header's end first.
pub fn borders(records: &[Record]) -> Vec<usize> {
    let mut borders = vec![24];
    for record in records {
        borders.push(borders[borders.len() - 1] + 108 + 8 * record.candidates.len());
    }
    borders
}

/// A stream of three records and 24 + 116 + 132 + 108 + 40 bytes.
pub fn three() -> Vec<Record> {
    vec![scored(0, 1), scored(1, 3), scored(2, 5)]
}
