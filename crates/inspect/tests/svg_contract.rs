//! A drawn board shows what the position holds, and is well-formed XML whatever the 96 bytes are.

use manaka_core::sfen::STARTPOS;
use manaka_core::{Move16, Packed};
use manaka_inspect::board_svg;

fn draw(sfen: &str, marked: Option<&str>) -> String {
    let (packed, _) = Packed::from_sfen(sfen).unwrap();
    board_svg(&packed, marked.map(|usi| Move16::from_usi(usi).unwrap())).to_string()
}

/// Tags open and close in pairs, and no attribute value is left open.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').unwrap();
        assert!(!text.contains(['"', '&']), "{text}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{svg}");
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn every_piece_is_drawn_on_its_square_and_white_upside_down() {
    let svg = draw(STARTPOS, None);
    assert_well_formed(&svg);
    // 2h is the 8th file from the left and the 8th rank: 80 + 7·48 + 24, 36 + 7·48 + 24.
    let rook = svg.split("<g transform=").find(|g| g.starts_with("\"translate(440 396)\"")).unwrap();
    assert!(rook.contains(">飛<"), "{rook}");
    let white =
        svg.split("<g transform=").find(|g| g.starts_with("\"translate(152 108) rotate(180)\"")).unwrap();
    assert!(white.contains(">飛<"), "{white}");
    assert_eq!(svg.matches("rotate(180)").count(), 20);
    assert_eq!(svg.matches(">歩<").count(), 18);
}

#[test]
fn hands_are_drawn_with_their_counts_and_the_mover_has_the_dot() {
    let black = draw("4k4/9/9/9/9/9/9/9/4K4 b R2Bg12p 1", None);
    assert_well_formed(&black);
    for (text, count) in [(">飛<", 1), (">角<", 1), (">2</text>", 2), (">金<", 1), (">12<", 1)] {
        // The 2 stands beside the bishops and above the second file.
        assert_eq!(black.matches(text).count(), count, "{text}");
    }
    let white = draw("4k4/9/9/9/9/9/9/9/4K4 w R2Bg12p 1", None);
    assert!(black.contains(r#"cy="479" r="6""#) && !black.contains(r#"cy="14" r="6""#));
    assert!(white.contains(r#"cy="14" r="6""#) && !white.contains(r#"cy="479" r="6""#));
}

#[test]
fn both_squares_of_a_move_are_marked_and_the_one_of_a_drop() {
    let marks = |usi| draw(STARTPOS, Some(usi)).matches("#e9a23b").count();
    assert_eq!((marks("7g7f"), marks("P*5e")), (2, 1));
    assert_eq!(draw(STARTPOS, None).matches("#e9a23b").count(), 0);
}

#[test]
fn bytes_that_name_no_piece_are_drawn_as_a_question_mark() {
    let mut packed = Packed::empty();
    packed.as_bytes_mut().fill(0x2e);
    let svg = board_svg(&packed, Some(Move16::from_bits(u16::MAX))).to_string();
    assert_well_formed(&svg);
    assert_eq!(svg.matches(">?<").count(), 81);
}
