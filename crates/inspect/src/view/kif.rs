//! A move as kifu files write it: where to, what, and where from.

use super::board::{kanji_number, name};
use manaka_core::{Move16, Packed, PieceKind};

/// `７六歩(77)`, `２二角成(88)`, `５五歩打`; `None` when nothing stands where the move comes from.
pub fn kif(packed: &Packed, mv: Move16) -> Option<String> {
    const FILES: [char; 9] = ['１', '２', '３', '４', '５', '６', '７', '８', '９'];
    let to = mv.to_square().filter(|_| mv.is_well_formed())?;
    let mut text = String::from(FILES[usize::from(to.file()) - 1]);
    text.push_str(&kanji_number(to.rank()));
    if let Some(kind) = mv.dropped_kind() {
        text.push_str(name(kind.piece_kind()));
        text.push('打');
        return Some(text);
    }
    let from = mv.from_square()?;
    let (_, kind) = packed.piece(from)?;
    text.push_str(match kind {
        PieceKind::ProSilver => "成銀",
        PieceKind::ProKnight => "成桂",
        PieceKind::ProLance => "成香",
        kind => name(kind),
    });
    if mv.is_promote() {
        text.push('成');
    }
    text.push_str(&format!("({}{})", from.file(), from.rank()));
    Some(text)
}

/// Cells of a terminal that a text takes: kanji are two wide.
pub fn cells(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_named_by_where_they_go_what_moves_and_where_from() {
        let sfen = "ln1g2+Bnl/1k4g2/1p+P1p2p1/p2+s1+r2p/9/P+N1+lP3P/1P3PP2/2G1K4/7RL w B2S6Pgsn 85";
        let (packed, _) = Packed::from_sfen(sfen).unwrap();
        for (usi, expected) in [
            ("8b7c", Some("７三玉(82)")),
            ("N*5e", Some("５五桂打")),
            ("6f6g", Some("６七成香(66)")),
            ("9d9e", Some("９五歩(94)")),
            ("6d6e", Some("６五成銀(64)")),
            ("4d4i", Some("４九龍(44)")),
            ("2c2d+", Some("２四歩成(23)")),
            ("5e5f", None),
        ] {
            assert_eq!(kif(&packed, Move16::from_usi(usi).unwrap()).as_deref(), expected, "{usi}");
        }
        assert_eq!(kif(&packed, Move16::from_bits(u16::MAX)), None);
        assert_eq!(cells("７三玉(82)"), 10);
    }
}
