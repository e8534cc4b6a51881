//! A position drawn in text.

use super::Notation;
use manaka_core::packed::EMPTY;
use manaka_core::{Color, HandKind, Packed, PieceKind, Square};
use std::fmt;

/// A position as `manaka view` draws it; every line with its end.
pub fn board_text(packed: &Packed, notation: Notation) -> impl fmt::Display {
    fmt::from_fn(move |f| draw(f, packed, notation))
}

/// Draws a position, every line with its end.
pub(super) fn draw(f: &mut fmt::Formatter<'_>, packed: &Packed, notation: Notation) -> fmt::Result {
    const BORDER: &str = "+---------------------------+";
    let kanji = notation == Notation::Kanji;
    hand(f, packed, Color::White, kanji)?;
    writeln!(f, "{}", if kanji { "  ９ ８ ７ ６ ５ ４ ３ ２ １" } else { "   9  8  7  6  5  4  3  2  1" })?;
    writeln!(f, "{BORDER}")?;
    for rank in 1..=9u8 {
        f.write_str("|")?;
        for square in (1..=9).rev().filter_map(|file| Square::at(file, rank)) {
            cell(f, packed, square, kanji)?;
        }
        if kanji {
            writeln!(f, "|{}", kanji_number(rank))?;
        } else {
            writeln!(f, "|{}", char::from(b'a' + rank - 1))?;
        }
    }
    writeln!(f, "{BORDER}")?;
    hand(f, packed, Color::Black, kanji)?;
    match (packed.side(), kanji) {
        (Color::Black, true) => writeln!(f, "先手番"),
        (Color::White, true) => writeln!(f, "後手番"),
        (side, false) => writeln!(f, "{side} to move"),
    }
}

/// One square, three cells wide: whose piece it is, and the piece.
fn cell(f: &mut fmt::Formatter<'_>, packed: &Packed, square: Square, kanji: bool) -> fmt::Result {
    let piece = packed.piece(square);
    match piece {
        Some((color, kind)) if kanji => {
            let mark = if color == Color::White { 'v' } else { ' ' };
            write!(f, "{mark}{}", name(kind))
        }
        Some((Color::Black, kind)) => write!(f, "{:>3}", kind.sfen()),
        Some((Color::White, kind)) => write!(f, "{:>3}", kind.sfen().to_lowercase()),
        None if packed.as_bytes()[square.index()] != EMPTY => f.write_str(" ??"),
        None if kanji => f.write_str(" ・"),
        None => f.write_str("  ."),
    }
}

/// The hand of a side, strongest piece first.
fn hand(f: &mut fmt::Formatter<'_>, packed: &Packed, color: Color, kanji: bool) -> fmt::Result {
    match (color, kanji) {
        (Color::Black, true) => f.write_str("先手の持駒：")?,
        (Color::White, true) => f.write_str("後手の持駒：")?,
        (_, false) => write!(f, "{color} in hand:")?,
    }
    let mut first = true;
    for kind in HandKind::ALL.into_iter().rev() {
        let count = packed.hand(color, kind);
        if count == 0 {
            continue;
        }
        if kanji {
            // Separated by a space as wide as a kanji.
            f.write_str(if first { "" } else { "\u{3000}" })?;
            f.write_str(name(kind.piece_kind()))?;
            if count > 1 {
                f.write_str(&kanji_number(count))?;
            }
        } else {
            match count {
                1 => write!(f, " {}", kind.letter())?,
                _ => write!(f, " {count}{}", kind.letter())?,
            }
        }
        first = false;
    }
    match (first, kanji) {
        (true, true) => writeln!(f, "なし"),
        (true, false) => writeln!(f, " none"),
        (false, _) => writeln!(f),
    }
}

pub(super) const fn name(kind: PieceKind) -> &'static str {
    match kind {
        PieceKind::King => "玉",
        PieceKind::Rook => "飛",
        PieceKind::Bishop => "角",
        PieceKind::Gold => "金",
        PieceKind::Silver => "銀",
        PieceKind::Knight => "桂",
        PieceKind::Lance => "香",
        PieceKind::Pawn => "歩",
        PieceKind::Dragon => "龍",
        PieceKind::Horse => "馬",
        PieceKind::ProSilver => "全",
        PieceKind::ProKnight => "圭",
        PieceKind::ProLance => "杏",
        PieceKind::ProPawn => "と",
    }
}

/// A number as kanji write it; counts that only broken data hold are left in digits.
pub(super) fn kanji_number(n: u8) -> String {
    const DIGITS: [&str; 10] = ["", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
    match n {
        1..=9 => DIGITS[usize::from(n)].to_owned(),
        10..=19 => format!("十{}", DIGITS[usize::from(n) - 10]),
        _ => n.to_string(),
    }
}
