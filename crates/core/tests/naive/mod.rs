//! The slow twin of `Packed::faults`: stream.md §4.4 word by word, over a board of letters.
//!
//! The fuzz targets include this file too.

use manaka_core::{Fault, Packed};

/// The faults of a position, in the order of the page.
pub fn faults(packed: &Packed) -> Vec<Fault> {
    let bytes = packed.as_bytes();
    // (is it White's, letters, file, rank) of everything that stands on the board.
    let mut pieces: Vec<(bool, &str, u8, u8)> = Vec::new();
    let mut strange = false;
    for file in 1..=9u8 {
        for rank in 1..=9u8 {
            let byte = bytes[usize::from((9 - file) * 9 + (rank - 1))];
            let names = ["K", "R", "B", "G", "S", "N", "L", "P", "+R", "+B", "+S", "+N", "+L", "+P"];
            match byte {
                0xFF => {}
                0x00..=0x0D => pieces.push((false, names[usize::from(byte)], file, rank)),
                0x10..=0x1D => pieces.push((true, names[usize::from(byte - 0x10)], file, rank)),
                _ => strange = true,
            }
        }
    }
    let kings = |white| pieces.iter().filter(|p| p.0 == white && p.1 == "K").count();
    let total = |letter: &str, hand: usize| {
        let on_board = pieces.iter().filter(|p| p.1.trim_start_matches('+') == letter).count();
        on_board + usize::from(bytes[81 + hand]) + usize::from(bytes[88 + hand])
    };
    let pawns = |white, file| pieces.iter().filter(|p| p.0 == white && p.1 == "P" && p.2 == file).count();
    let stuck = |letter, ranks: [u8; 2]| {
        pieces.iter().any(|p| {
            let from_its_own_side = if p.0 { 10 - p.3 } else { p.3 };
            p.1 == letter && ranks.contains(&from_its_own_side)
        })
    };
    [
        (strange, Fault::BoardByte),
        (bytes[95] != 0 && bytes[95] != 1, Fault::SideByte),
        (kings(false) == 0, Fault::NoBlackKing),
        (kings(false) >= 2, Fault::ManyBlackKings),
        (kings(true) == 0, Fault::NoWhiteKing),
        (kings(true) >= 2, Fault::ManyWhiteKings),
        (total("P", 0) > 18, Fault::TooManyPawns),
        (total("L", 1) > 4, Fault::TooManyLances),
        (total("N", 2) > 4, Fault::TooManyKnights),
        (total("S", 3) > 4, Fault::TooManySilvers),
        (total("G", 4) > 4, Fault::TooManyGolds),
        (total("B", 5) > 2, Fault::TooManyBishops),
        (total("R", 6) > 2, Fault::TooManyRooks),
        ((1..=9).any(|file| pawns(false, file) > 1), Fault::NifuBlack),
        ((1..=9).any(|file| pawns(true, file) > 1), Fault::NifuWhite),
        (stuck("P", [1, 1]), Fault::DeadPawn),
        (stuck("L", [1, 1]), Fault::DeadLance),
        (stuck("N", [1, 2]), Fault::DeadKnight),
    ]
    .into_iter()
    .filter_map(|(holds, fault)| holds.then_some(fault))
    .collect()
}
