//! The SFEN scanner of `manaka-core` beside the parser of the rules library, its slow twin.
//!
//! The scanner must never accept what the library refuses, nor read other bytes; it may refuse more. Where it does,
//! it is about the spelling: a position that the library holds and finds valid is accepted in canonical spelling.

mod games;

use games::games;
use manaka_core::Packed;
use manaka_core::sfen::STARTPOS;
use proptest::prelude::*;
use rsshogi::board::{Position, generate_sfen_from_position_state, parse_sfen, position_from_position_state};

/// The text as the library reads it: the position, spelled canonically without its move number, and that number.
fn library(text: &str) -> Option<(String, u16)> {
    let state = parse_sfen(text).ok()?;
    Some((generate_sfen_from_position_state(&state, false), state.ply))
}

fn valid(text: &str) -> bool {
    parse_sfen(text)
        .map(|state| position_from_position_state(&state))
        .is_ok_and(|position: Position| position.validate_all().is_valid())
}

/// The move number of a text that has four fields, when it is a number.
fn number(text: &str) -> Option<u64> {
    text.split(' ').nth(3)?.parse().ok()
}

fn compare(text: &str) -> Result<(), TestCaseError> {
    let theirs = library(text);
    match Packed::from_sfen(text) {
        Ok((packed, ply)) => {
            let Some((canonical, their_ply)) = theirs else {
                // The one exception: the library counts moves in 16 bits.
                prop_assert!(
                    number(text).is_some_and(|ply| ply > u64::from(u16::MAX)),
                    "refused by the library: {}",
                    text
                );
                return Ok(());
            };
            prop_assert_eq!(packed.sfen(None).to_string(), canonical);
            // A missing move number is 0 there and nothing here.
            prop_assert_eq!(ply.unwrap_or(0), u32::from(their_ply));
            prop_assert!(valid(text), "not valid to the library: {}", text);
        }
        Err(_) => {
            if let Some((canonical, _)) = theirs {
                let accepted = Packed::from_sfen(&canonical);
                prop_assert_eq!(accepted.is_ok(), valid(text), "{}: {:?}", text, accepted);
            }
        }
    }
    Ok(())
}

/// A change to a text: where, what is done, and the byte that comes in.
fn mutation() -> impl Strategy<Value = (prop::sample::Index, u8, u8)> {
    let alphabet = b"KRBGSNLPkrbgsnlp+0123456789/-bw  \t*?.x\n";
    let byte = prop_oneof![9 => prop::sample::select(alphabet.to_vec()), 1 => 0..128u8];
    (any::<prop::sample::Index>(), 0..4u8, byte)
}

/// A rank without a king: most have nine squares, a few anything.
fn rank() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "9|8[PpGgRr]|[Ss][Nn]7|\\+[RrPpBbSsNnLl]8|3[Pp]1[Pp]3",
        1 => "[1-9PpRrGg+]{0,4}",
    ]
}

/// A text that has the look of an SFEN, each field sound or not.
fn fields() -> impl Strategy<Value = String> {
    (
        "4k4|k8|8k|3k5|[1-9]k{0,2}[1-9]",
        prop::collection::vec(rank(), 7),
        "4K4|9|8K|2K6",
        "b|w|[bwBW]?",
        "-|([2-4]?[GgSsPp]){0,3}|([0-9]{0,2}[RrPpK]){0,4}",
        "| [0-9]{1,6}| moves",
    )
        .prop_map(|(first, ranks, last, side, hands, ply)| {
            format!("{first}/{}/{last} {side} {hands}{ply}", ranks.join("/"))
        })
}

/// How many of many texts a property is about are accepted: a property about refused texts alone says little.
#[test]
fn many_a_text_of_fields_is_accepted() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let accepted = (0..5000)
        .filter(|_| Packed::from_sfen(&fields().new_tree(&mut runner).unwrap().current()).is_ok())
        .count();
    assert!(accepted > 100, "{accepted} of 5000");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn both_read_the_same_bytes_in_every_position_of_a_game(game in games(150)) {
        game.walk(|board| {
            let packed = board.to_packed();
            for ply in [None, Some(board.ply())] {
                let text = packed.sfen(ply).to_string();
                prop_assert_eq!(Packed::from_sfen(&text), Ok((packed, ply)));
                compare(&text)?;
            }
            Ok(())
        })?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn a_mutated_text_is_read_alike_or_refused(
        game in games(40),
        mutations in prop::collection::vec(mutation(), 1..4),
    ) {
        let mut text = String::new();
        game.walk(|board| {
            text = board.to_packed().sfen(Some(board.ply())).to_string();
            Ok(())
        })?;
        let mut bytes = text.into_bytes();
        for (at, what, byte) in mutations {
            let at = at.index(bytes.len());
            match what {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => bytes.push(byte),
                _ if bytes.len() > 1 => _ = bytes.remove(at),
                _ => {}
            }
        }
        compare(&String::from_utf8(bytes).unwrap())?;
    }

    #[test]
    fn a_text_of_fields_is_read_alike_or_refused(text in fields()) {
        compare(&text)?;
    }
}

#[test]
fn the_scanner_is_stricter_about_spelling_only_where_it_says_so() {
    let board = "4k4/9/9/9/9/9/9/9/4K4";
    for (why, text) in [
        ("a field of another length", format!("{board} b  - 1")),
        ("space before", format!(" {board} b - 1")),
        ("space behind", format!("{board} b - 1 ")),
        ("another kind of space", format!("{board}\tb - 1")),
        ("something behind the move number", format!("{board} b - 1 moves 5i5h")),
        ("a hand count of zero", format!("{board} b 0P2p 1")),
        ("a hand count with a leading zero", format!("{board} b 02P 1")),
        ("a kind twice in a hand", format!("{board} b PRP 1")),
        ("two counts side by side", "4k4/54/9/9/9/9/9/9/4K4 b - 1".to_owned()),
    ] {
        assert!(library(&text).is_some(), "{why}: the library has become stricter");
        assert!(Packed::from_sfen(&text).is_err(), "{why}");
    }
    for ply in ["65536", "4294967295"] {
        let text = STARTPOS.replace(" 1", &format!(" {ply}"));
        assert!(library(&text).is_none() && Packed::from_sfen(&text).is_ok(), "{text}");
    }
    // What real files hold is tolerated by both.
    for text in [format!("{board} b p2P"), format!("{board} w 10p8P 0"), format!("{board} b - 007")] {
        assert!(library(&text).is_some() && Packed::from_sfen(&text).is_ok(), "{text}");
    }
}
