//! How the bytes lie: the schema of shards and corpora, the layout of streams and raw records, in short; the law is
//! docs/spec.

use super::markdown::{Doc, Left, Right, code, grouped};
use crate::stat::Stat;
use manaka_core::conventions::{Conventions, PolicySource};
use manaka_core::packed::PACKED_LEN;
use manaka_core::stream::{CANDIDATE_LEN, FIXED_LEN, HEADER_LEN, Header};
use manaka_corpus::psv::{Layout, LayoutText, PSV_LEN};

const PACKED: &str = "\
bytes
 0..81   the board, a byte a square, by square index
81..88   Black's hand, a count a kind
88..95   White's hand
    95   the side to move: 0 Black, 1 White";

const MOVE16: &str = "\
bits
 0..7    the square it goes to
 7..14   the square it comes from; for a drop 81 + the index of the hand
    14   promotes
    15   0";

/// The position and the move, which shards and streams have in common.
fn position(doc: &mut Doc) {
    doc.heading(3, "A position");
    doc.paragraph(&format!(
        "`packed`, {PACKED_LEN} bytes: the position itself, not the input of some network."
    ));
    doc.code_block("text", PACKED);
    doc.paragraph(
        "Square 0 is 9a and square 80 is 1i: `(9 − file) · 9 + (rank − 1)`; ranks 1 to 3 are White's camp. An empty square \
         is `0xFF`. On others bit 4 is the colour (0 Black, 1 White) and the low four bits are the kind, in the order \
         `K R B G S N L P +R +B +S +N +L +P`. Hands count in **another** order: `P L N S G B R`.",
    );
    doc.heading(3, "A move");
    doc.paragraph(
        "`mv`, 16 bits. It states where the piece comes from, so no move generator is needed to read it.",
    );
    doc.code_block("text", MOVE16);
}

/// The schema of shards.
pub fn shard(doc: &mut Doc, stat: &Stat, conventions: &Conventions) {
    doc.heading(2, "Schema");
    let visits = conventions.policy_source == PolicySource::Visits;
    let known = |name: &str| match name {
        "packed" => ("fixed binary (96)", "the position"),
        "ply" => ("uint16", "the least move number at which it was met"),
        "value_z" => ("float32", "the mean outcome of its games, in [−1, 1]; null where none is known"),
        "value_q" => ("float32", "the mean root value of its searches, in [−1, 1]"),
        "weight" => ("uint32", "records that were folded into the row"),
        "candidates.list.element.mv" => ("uint16", "a move"),
        "candidates.list.element.prob" => ("float32", "its share of the policy"),
        "candidates.list.element.cp" if visits => ("int16", "null in every row: this policy has no scores"),
        "candidates.list.element.cp" => ("int16", "its mean score in centipawns"),
        _ => ("", ""),
    };
    let rows = stat.columns.iter().map(|column| {
        let (kind, meaning) = known(&column.name);
        [code(&column.name), kind.to_owned(), meaning.to_owned()]
    });
    doc.table([("column", Left), ("type", Left), ("meaning", Left)], rows);
    let mut text = "A row is one position. Records of the same 96 bytes were folded into it: values are means, candidates \
                    the union of all lists, and `prob` was computed last, from what stands in the row. Candidates stand \
                    by `prob`, descending. There is no list of legal moves and no split column."
        .to_owned();
    if !visits {
        text.push_str(
            " There is no `value_z` either: a search was handed a position and no game, and an absent column cannot be \
             mistaken for a draw.",
        );
    }
    doc.paragraph(&text);
    position(doc);
}

/// The layout of streams.
pub fn stream(doc: &mut Doc, conventions: &Conventions, headers: &[Header]) {
    doc.heading(2, "Format");
    doc.paragraph(
        "MPK1 is a binary stream of records, little-endian throughout. Parts do not concatenate: each opens with a header \
         of its own. There is neither a record count nor an index; a part is read by walking it.",
    );
    let text = format!(
        "header, {HEADER_LEN} bytes\n  magic 4 bytes \"MPK1\" | version u16 | packed_len u16\n  pov u8 | policy_source u8 | \
         mate_scale u16\n  fv_scale u16 | mate_slack u16 | eval_coef f32 | flags u32\n\n\
         record, {} + {CANDIDATE_LEN} · n_cand bytes\n  ply u16 | value_z f32 | value_q f32 | n_cand u16\n  \
         packed [u8; {PACKED_LEN}]\n  n_cand candidates: mv u16 | visits u32 | cp i16",
        FIXED_LEN + PACKED_LEN
    );
    doc.code_block("text", &text);
    let half = match conventions.policy_source {
        PolicySource::Visits => "Candidates carry `visits`, and their `cp` is −32768, which means absent.",
        PolicySource::SoftmaxCp => "Candidates carry `cp`, and their `visits` is 0, which means absent.",
    };
    let absent = match headers.iter().any(Header::allows_absent_outcomes) {
        true => " (2 where that is not known, which is no draw)",
        false => "",
    };
    doc.paragraph(&format!(
        "`value_z` is the outcome of the record's game{absent}, `value_q` the search's value of the root. {half} They stand in the \
         order of the producer. A score or a count is stored and no probability: the division is made where records are \
         folded."
    ));
    position(doc);
}

/// The headers that streams open with, byte by byte.
pub fn headers(doc: &mut Doc, headers: &[Header]) {
    let mut found: Vec<(String, u64)> = Vec::new();
    for header in headers {
        let mut bytes = header.encode();
        // Version 1 is not written any more, and this is what was read.
        bytes[4..6].copy_from_slice(&header.version.to_le_bytes());
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let hex = hex.join(" ");
        match found.iter_mut().find(|(other, _)| *other == hex) {
            Some((_, count)) => *count += 1,
            None => found.push((hex, 1)),
        }
    }
    match found.as_slice() {
        [(hex, _)] => {
            doc.paragraph(&format!("Every part opens with the same {HEADER_LEN} bytes:"));
            doc.code_block("text", hex);
        }
        several => {
            doc.paragraph("Headers state the same in different bytes:");
            doc.table(
                [("header", Left), ("parts", Right)],
                several.iter().map(|(hex, count)| [code(hex), grouped(*count)]),
            );
        }
    }
}

/// The schema of corpus parquet.
pub fn corpus(doc: &mut Doc) {
    doc.heading(2, "Schema");
    let rows = [
        ("sfen", "text", "the position"),
        ("side", "integer", "the side to move: 0 Black, 1 White"),
        ("ply", "integer", "the move number, as the generator counts it"),
        ("cp", "integer", "the score of the root in centipawns, **from the side to move**"),
        ("depth", "integer", "the depth of the root's search"),
        ("cand_move", "list of texts", "the moves that the search listed, in its order, in USI"),
        ("cand_cp", "list of integers", "their scores, **from the side to move**"),
        ("move", "text", "the move that was played, in USI"),
        ("result", "integer", "how the game ended, **from Black**: 1 won, 0 drawn, −1 lost"),
    ];
    doc.table(
        [("column", Left), ("type", Left), ("meaning", Left)],
        rows.map(|(name, kind, meaning)| [code(name), kind.to_owned(), meaning.to_owned()]),
    );
    doc.paragraph("A row is one searched position of one game.");
}

/// The layout of raw records.
pub fn raw(doc: &mut Doc, layout: Layout) {
    doc.heading(2, "Format");
    doc.paragraph(&format!(
        "PackedSfenValue: records of {} bytes, little-endian, one behind the other, without a header.",
        grouped(layout.record_len() as u64)
    ));
    let slots = match layout.candidates {
        0 => String::new(),
        slots => format!(
            "\n{PSV_LEN}..{}   {slots} slots for candidates: a move and a score each",
            layout.record_len()
        ),
    };
    let text = format!(
        "bytes\n 0..32   the position, 256 bits\n32..34   score i16, from the side to move\n34..36   move u16; 0 when \
         absent\n36..38   ply u16\n38..39   result i8, from the side to move: 1 won, 0 drawn, -1 lost\n39..40   anything{slots}"
    );
    doc.code_block("text", &text);
    let order = LayoutText { order: layout.order, played: layout.played };
    let mut rows = vec![["how moves lie in their 16 bits".to_owned(), code(&layout.moves.to_string())]];
    if layout.candidates > 0 {
        rows.push(["how candidates lie in their slots".to_owned(), code(&order.to_string())]);
    }
    doc.paragraph("The files do not say how they are to be read; this was found in them, or told:");
    doc.table([("layout", Left), ("found", Left)], rows);
}
