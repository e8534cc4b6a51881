//! A position in 32 bytes: known bytes, a slow twin, and everything that can be wrong (psv.md §3).

mod compose;
mod psv_naive;

use compose::any_position;
use manaka_core::packed::{EMPTY, Fault, Faults, SIDE};
use manaka_core::sfen::STARTPOS;
use manaka_core::{Color, HandKind, Packed};
use manaka_corpus::psv::{DecodeFault, EncodeFault, decode_position, encode_position};
use proptest::prelude::*;

fn packed(sfen: &str) -> Packed {
    Packed::from_sfen(sfen).unwrap().0
}

fn bytes(hex: &str) -> [u8; 32] {
    let byte = |i: usize| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap();
    assert_eq!(hex.len(), 64);
    std::array::from_fn(byte)
}

/// Positions with the bytes that YaneuraOu's format gives them.
const KNOWN: [(&str, &str); 5] = [
    (STARTPOS, "58a451220ceb67227e9653221caf447824c22b119e53221ceb6f223e9651220c"),
    // The most pieces in the box: all of them.
    ("4k4/9/9/9/9/9/9/9/4K4 w - 1", "59240000000000000000008024499224499294524aadb5b6d65a7beffd7afd7e"),
    // The most pieces in hand.
    (
        "4k4/9/9/9/9/9/9/9/4K4 b RBGSNLPrb3g3s3n3l17p 1",
        "5824000000000000000000004219e7f1214992244992648cb1d63ae7bcf73ebf",
    ),
    // A handicap of two pieces, White to move.
    (
        "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "59a451220cab44fc2ca744385e89f0488457223ca744385689f858468930bc7e",
    ),
    // Promoted pieces, and hands of both sides.
    (
        "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
        "2381510a86f515e900473c3ed5010020c52758530004cb48123fc3f99024ebbc",
    ),
];

#[test]
fn known_positions_have_their_known_bytes() {
    for (sfen, hex) in KNOWN {
        let position = packed(sfen);
        assert_eq!(encode_position(&position), Ok(bytes(hex)), "{sfen}");
        assert_eq!(decode_position(&bytes(hex)), Ok(position), "{sfen}");
    }
}

#[test]
fn the_start_position_begins_with_the_bits_of_the_specification() {
    // Black to move 0; the king on 5i, 44, lowest bit first; the one on 5a, 36; 1a is White's lance: 1100, not
    // promoted, White; 1b is empty; 1c is White's pawn: 10, not promoted, White.
    let bits: Vec<u8> = "0 0011010 0010010 1100 0 1 0 10 0 1".bytes().filter(|&b| b != b' ').collect();
    let encoded = encode_position(&packed(STARTPOS)).unwrap();
    for (i, bit) in bits.into_iter().enumerate() {
        assert_eq!(encoded[i / 8] >> (i % 8) & 1, bit - b'0', "bit {i}");
    }
}

#[test]
fn hands_and_box_are_read_in_any_order() {
    // The box of the second known position begins behind the squares, at bit 94: pawns 010, 18 of them, then lances.
    let swap = |hex: &str, from: usize, a: usize, b: usize| {
        let mut bits: Vec<u8> =
            bytes(hex).iter().flat_map(|byte| (0..8).map(move |i| byte >> i & 1)).collect();
        bits[from..from + a + b].rotate_left(a);
        let mut out = [0; 32];
        bits.iter().enumerate().for_each(|(i, bit)| out[i / 8] |= bit << (i % 8));
        out
    };
    // Pawns behind lances (five bits each), and the last rook (seven bits) in front of everything else.
    let (sfen, hex) = KNOWN[1];
    for (from, a, b) in [(94, 18 * 3, 4 * 5), (94, 256 - 94 - 7, 7)] {
        let turned = swap(hex, from, a, b);
        assert_ne!(turned, bytes(hex));
        assert_eq!(decode_position(&turned), Ok(packed(sfen)));
        assert_eq!(encode_position(&packed(sfen)), Ok(bytes(hex)));
    }
}

#[test]
fn bytes_that_are_no_position_are_refused_by_name() {
    let start = bytes(KNOWN[0].1);
    let with = |change: fn(&mut [u8; 32])| {
        let mut bytes = start;
        change(&mut bytes);
        decode_position(&bytes).unwrap_err()
    };
    assert_eq!(
        with(|b| b[0] = b[0] & 1 | 81 << 1),
        DecodeFault::KingSquare { color: Color::Black, square: 81 }
    );
    assert_eq!(
        with(|b| b[1] = b[1] & 0x80 | 127),
        DecodeFault::KingSquare { color: Color::White, square: 127 }
    );
    assert_eq!(with(|b| b[1] = b[1] & 0x80 | 44), DecodeFault::KingsMeet { square: 44 });
    // All bits set: 30 rooks fill the 241 bits and one over; the last one is cut.
    assert_eq!(with(|b| b[2..].fill(0xFF)), DecodeFault::Overrun);
    // Behind the empty board, nothing but pawns of Black: 54 of them.
    assert_eq!(with(|b| b[2..].fill(0)), DecodeFault::Inventory { kind: HandKind::Pawn, found: 54 });
    // Bit 94 is where the box of the bare kings begins; a promoted White pawn in hand is nothing.
    let mut bare = bytes(KNOWN[1].1);
    bare[11] |= 0b1100_0000;
    bare[12] &= !1;
    bare[11] &= !0b0100_0000;
    bare[12] |= 1;
    assert_eq!(decode_position(&bare), Err(DecodeFault::Code { bit: 94 }));
}

#[test]
fn a_piece_that_stands_for_another_is_counted() {
    let encoded = encode_position(&packed("4k4/9/9/9/9/9/9/9/4K4 b G 1")).unwrap();
    let mut bits: Vec<u8> = encoded.iter().flat_map(|byte| (0..8).map(move |i| byte >> i & 1)).collect();
    // Behind the 94 bits of side, kings and squares: a gold in Black's hand. A silver there has as many bits.
    assert_eq!(bits[94..99], [1, 1, 1, 0, 0]);
    bits[94..99].copy_from_slice(&[1, 1, 0, 0, 0]);
    let mut bytes = [0; 32];
    bits.iter().enumerate().for_each(|(i, bit)| bytes[i / 8] |= bit << (i % 8));
    let fault = DecodeFault::Inventory { kind: HandKind::Silver, found: 5 };
    assert_eq!(decode_position(&bytes), Err(fault));
    assert_eq!(fault.to_string(), "board, hands and box hold 5 Silvers, and a set has 4");
}

#[test]
fn positions_that_have_no_bytes_are_refused_with_every_fault_in_the_way() {
    let fault = |packed: &Packed| encode_position(packed).unwrap_err();
    let faults = |list: &[Fault]| EncodeFault(list.iter().copied().collect::<Faults>());
    assert_eq!(fault(&Packed::empty()), faults(&[Fault::NoBlackKing, Fault::NoWhiteKing]));
    let start = packed(STARTPOS);
    let with = |changes: &[(usize, u8)]| {
        let mut packed = start;
        changes.iter().for_each(|&(at, byte)| packed.as_bytes_mut()[at] = byte);
        fault(&packed)
    };
    // 5e is square 40, 5i is 44.
    assert_eq!(with(&[(40, 0x00)]), faults(&[Fault::ManyBlackKings]));
    assert_eq!(with(&[(44, EMPTY)]), faults(&[Fault::NoBlackKing]));
    assert_eq!(with(&[(40, 0x01)]), faults(&[Fault::TooManyRooks]));
    assert_eq!(with(&[(40, 0x0D)]), faults(&[Fault::TooManyPawns]));
    assert_eq!(with(&[(81, 1)]), faults(&[Fault::TooManyPawns]));
    assert_eq!(with(&[(81, 255), (88, 255)]), faults(&[Fault::TooManyPawns]));
    assert_eq!(with(&[(40, 0x2E)]), faults(&[Fault::BoardByte]));
    assert_eq!(with(&[(40, 0x1E)]), faults(&[Fault::BoardByte]));
    assert_eq!(with(&[(SIDE, 2)]), faults(&[Fault::SideByte]));
    assert_eq!(with(&[(SIDE, 2), (40, 0x02)]), faults(&[Fault::SideByte, Fault::TooManyBishops]));
    // Two pawns on a file and pieces that cannot move are no hindrance: 9d is square 3, 9a is 0.
    let mut odd = Packed::empty();
    for (at, byte) in [(40, 0x00), (44, 0x10), (0, 0x07), (3, 0x07), (9, 0x05)] {
        odd.as_bytes_mut()[at] = byte;
    }
    assert!(!odd.faults().is_empty());
    assert_eq!(encode_position(&odd).map(|bytes| decode_position(&bytes)), Ok(Ok(odd)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_position_survives_and_has_the_bytes_of_the_slow_twin(position in any_position()) {
        let encoded = encode_position(&position);
        prop_assert_eq!(encoded, Ok(psv_naive::encode(&position)));
        prop_assert_eq!(decode_position(&encoded.unwrap()), Ok(position));
        prop_assert_eq!(psv_naive::decode(&encoded.unwrap()), Some(position));
    }

    #[test]
    fn damaged_positions_are_judged_as_the_slow_twin_judges_them(
        position in any_position(),
        flips in prop::collection::vec(0usize..256, 1..4),
    ) {
        let mut bytes = psv_naive::encode(&position);
        flips.into_iter().for_each(|bit| bytes[bit / 8] ^= 1 << (bit % 8));
        prop_assert_eq!(decode_position(&bytes).ok(), psv_naive::decode(&bytes));
    }

    #[test]
    fn random_bytes_are_judged_as_the_slow_twin_judges_them(bytes in any::<[u8; 32]>(), zeros in 0usize..32) {
        let mut bytes = bytes;
        bytes[32 - zeros..].fill(0);
        prop_assert_eq!(decode_position(&bytes).ok(), psv_naive::decode(&bytes));
    }

    #[test]
    fn whatever_is_packed_into_96_bytes_there_is_no_panic(
        position in any_position(),
        changes in prop::collection::vec((0usize..96, any::<u8>()), 0..5),
    ) {
        let mut packed = position;
        changes.into_iter().for_each(|(at, byte)| packed.as_bytes_mut()[at] = byte);
        if let Ok(bytes) = encode_position(&packed) {
            prop_assert_eq!(decode_position(&bytes), Ok(packed));
        }
    }
}
