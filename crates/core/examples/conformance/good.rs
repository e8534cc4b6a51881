//! Streams that every reader must accept, and their JSON.

use super::vectors::{
    EMPTY_BOARD, Head, Rec, V4, VISITS, late, mv, position, put, start, stored, stream, visited,
};
use std::fmt::Write as _;
use std::io;

pub struct Good {
    pub file: &'static str,
    /// What the vector is there for; the JSON carries it.
    pub about: &'static str,
    pub head: Head,
    pub records: Vec<Rec>,
    pub pack: fn(&[u8]) -> Vec<u8>,
}

impl Good {
    pub fn raw(&self) -> Vec<u8> {
        stream(&self.head, &self.records)
    }

    pub fn json(&self) -> String {
        let Self { head, .. } = self;
        // The slack in force, and the threshold: conventions.md §3.
        let slack = match (head.mate_scale, head.mate_slack) {
            (0, _) => 0,
            (_, 0) => 320,
            (_, slack) => slack,
        };
        let threshold =
            if head.mate_scale == 0 { "null".to_owned() } else { (head.mate_scale - slack).to_string() };
        let mut json = format!("{{\n  \"about\": \"{}\",\n  \"header\": {{\n", self.about);
        _ = writeln!(json, "    \"version\": {},", head.version);
        _ = writeln!(json, "    \"packed_len\": {},", head.packed_len);
        _ = writeln!(json, "    \"pov\": {},", head.pov);
        _ = writeln!(json, "    \"policy_source\": {},", head.policy_source);
        _ = writeln!(json, "    \"mate_scale\": {},", head.mate_scale);
        _ = writeln!(json, "    \"fv_scale\": {},", head.fv_scale);
        _ = writeln!(json, "    \"mate_slack\": {},", head.mate_slack);
        // Negative zero reads as the absent marker, which has no sign.
        _ = writeln!(
            json,
            "    \"eval_coef\": {},",
            number(if head.eval_coef == 0.0 { 0.0 } else { head.eval_coef })
        );
        _ = writeln!(json, "    \"flags\": {},", head.flags);
        _ = writeln!(json, "    \"mate_slack_in_force\": {slack},");
        _ = writeln!(json, "    \"mate_threshold\": {threshold}\n  }},");
        json.push_str("  \"records\": [");
        let mut offset = 24;
        for (i, record) in self.records.iter().enumerate() {
            json.push_str(if i == 0 { "\n" } else { ",\n" });
            _ = writeln!(json, "    {{\n      \"offset\": {offset},");
            _ = writeln!(json, "      \"ply\": {},", record.ply);
            let outcome = if record.value_z == 2.0 { "null".to_owned() } else { number(record.value_z) };
            _ = writeln!(json, "      \"value_z\": {outcome},");
            _ = writeln!(json, "      \"value_q\": {},", number(record.value_q));
            let hex = record.packed.iter().fold(String::new(), |mut hex, byte| {
                _ = write!(hex, "{byte:02x}");
                hex
            });
            _ = writeln!(json, "      \"packed\": \"{hex}\",");
            match record.sfen {
                "" => json.push_str("      \"sfen\": null,\n"),
                sfen => _ = writeln!(json, "      \"sfen\": \"{sfen}\","),
            }
            let faults: Vec<String> = record.faults.iter().map(|fault| format!("\"{fault}\"")).collect();
            _ = writeln!(json, "      \"faults\": [{}],", faults.join(", "));
            json.push_str("      \"candidates\": [");
            for (j, (mv, visits, cp)) in record.candidates.iter().enumerate() {
                json.push_str(if j == 0 { "\n" } else { ",\n" });
                let usi = usi(*mv);
                _ = write!(
                    json,
                    "        {{\"mv\": {mv}, \"usi\": \"{usi}\", \"visits\": {visits}, \"cp\": {cp}}}"
                );
            }
            json.push_str("\n      ]\n    }");
            offset += record.bytes().len();
        }
        json.push_str(if self.records.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        json
    }
}

/// An f32 as the decimal of the same f64, so that a reader of any language compares equal.
pub fn number(value: f32) -> String {
    format!("{:?}", f64::from(value))
}

/// stream.md §5 in short.
pub fn usi(mv: u16) -> String {
    let square = |at: u16| format!("{}{}", 9 - at / 9, char::from(b'a' + (at % 9) as u8));
    let (to, origin) = (mv & 127, mv >> 7 & 127);
    if origin > 80 {
        return format!("{}*{}", &"PLNSGBR"[usize::from(origin) - 81..][..1], square(to));
    }
    format!("{}{}{}", square(origin), square(to), if mv & 1 << 14 == 0 { "" } else { "+" })
}

pub fn raw(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

/// Frames that end anywhere, empty ones and skippable ones among them.
pub fn many_frames(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, b'n', b'o', b't', b'e'];
    for (i, chunk) in bytes.chunks(101).enumerate() {
        out.extend(stored(chunk));
        if i % 2 == 0 {
            out.extend(stored(b""));
            out.extend([0x5F, 0x2A, 0x4D, 0x18, 0, 0, 0, 0]);
        }
    }
    out
}

/// One compressed frame with a checksum, as parts are written.
pub fn one_frame(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = match zstd::stream::Encoder::new(Vec::new(), 3) {
        Ok(encoder) => encoder,
        Err(_) => return Vec::new(),
    };
    let done = encoder.include_checksum(true).and_then(|()| io::copy(&mut &*bytes, &mut encoder));
    done.and_then(|_| encoder.finish()).unwrap_or_default()
}

/// Every good vector.
pub fn good() -> Vec<Good> {
    let of = |file, about, head, records| Good { file, about, head, records, pack: raw };
    let both = || vec![start(), late()];
    let version_1 = Head { version: 1, mate_scale: 30000, fv_scale: 0, mate_slack: 0, ..V4 };
    let unsigned = Head { eval_coef: -0.0, ..V4 };
    let mut drawn = start();
    (drawn.value_z, drawn.value_q) = (-0.0, -0.0);
    let mut most = visited(start());
    most.candidates[1].1 = u32::MAX;
    let visits = vec![visited(start()), visited(late())];
    let version_3 = Head { version: 3, ..V4 };
    let visits_version_3 = Head { version: 3, ..VISITS };
    let unknown = |record: Rec| Rec { value_z: 2.0, ..record };
    let empty = "the header of every part of the V4 corpus; a stream may be only a header";
    let scores = "scored records under that header, with mates on both sides of the threshold";
    let old = "version 1: the slack is reserved and 320 is in force";
    let scaled = "a visits header that declares a scale is read, though none is written";
    let unsound_about = "positions that are none are still records; their faults are named";
    let many_about = "600 candidates, more than any position has moves, and a record behind them";
    let absent = "version 3: an outcome that is absent, between two that are not";
    let absent_visits = "version 3: no record of visits has an outcome";
    let stated = "version 3 with an outcome in every record, which a reader takes for what it is";
    let frames =
        "frames that end inside header and records, empty and skippable ones among them, no checksums";
    vec![
        of("v4_header.mpk", empty, V4, vec![]),
        of("scores.mpk", scores, V4, vec![start(), late(), mates()]),
        of("scores_version_1.mpk", old, version_1, both()),
        of("visits.mpk", "visit counts; every cp is absent", VISITS, visits),
        of("visits_with_a_scale.mpk", scaled, Head { policy_source: 0, ..V4 }, vec![visited(start())]),
        of("black_pov.mpk", "numbers in Black's view for either mover", Head { pov: 1, ..V4 }, both()),
        of("negative_zero.mpk", "a draw stored as -0.0, and a root value of -0.0", V4, vec![drawn]),
        of("negative_zero_eval_coef.mpk", "an eval_coef of -0.0 is absent", unsigned, vec![start()]),
        of("extremes.mpk", "every field at its limits, every drop, one move twice", V4, extremes()),
        of("extreme_visits.mpk", "the largest count", VISITS, vec![most]),
        of("unsound_positions.mpk", unsound_about, VISITS, unsound()),
        of("many_candidates.mpk", many_about, VISITS, vec![many(), visited(late())]),
        of("absent_outcome.mpk", absent, version_3, vec![start(), unknown(late()), mates()]),
        of(
            "absent_outcome_visits.mpk",
            absent_visits,
            visits_version_3,
            vec![unknown(visited(start())), unknown(visited(late()))],
        ),
        of("scores_version_3.mpk", stated, version_3, both()),
        Good {
            pack: one_frame,
            ..of("zstd_one_frame.mpk.zst", "one frame with a checksum, as parts are", V4, both())
        },
        Good { pack: many_frames, ..of("zstd_many_frames.mpk.zst", frames, V4, both()) },
    ]
}

/// Scores at, above and below the mate threshold of V4.
fn mates() -> Rec {
    let scores = [("8h8i", 31999), ("G*4h", 31900), ("1c1d", 31899), ("R*2h", -31900), ("P*2g", -31998)];
    Rec { ply: 144, value_q: 1.0, candidates: scores.map(|(usi, cp)| (mv(usi), 0, cp)).to_vec(), ..late() }
}

/// 600 well-formed moves, each once.
fn many() -> Rec {
    let candidate = |i: u16| {
        let origin = i / 80;
        ((origin << 7) | ((origin + 1 + i % 80) % 81), 1 + u32::from(i), i16::MIN)
    };
    Rec { candidates: (0..600).map(candidate).collect(), ..visited(start()) }
}

fn extremes() -> Vec<Rec> {
    let mut low = start();
    (low.ply, low.value_z, low.value_q) = (0, -1.0, -1.0);
    low.candidates = vec![(mv("9a1i"), 0, -32767), (mv("1i9a+"), 0, 32767)];
    let mut high = late();
    (high.ply, high.value_z, high.value_q) = (65535, 0.0, 1.0);
    high.candidates =
        ["P*1i", "L*1i", "N*1i", "S*1i", "G*1i", "B*1i", "R*1i", "R*1i"].map(|usi| (mv(usi), 0, 1)).to_vec();
    let mut small = start();
    // The least f32 above zero, and the greatest below one.
    (small.value_z, small.value_q) = (0.0, f32::from_bits(1));
    let mut near = start();
    near.value_q = f32::from_bits(0xBF7F_FFFF);
    vec![low, high, small, near]
}

pub fn unsound() -> Vec<Rec> {
    let of = |pieces: &str, black, white, side, sfen, faults| {
        let mut board = EMPTY_BOARD;
        put(&mut board, pieces);
        let packed = position(board, black, white, side);
        visited(Rec { packed, sfen, faults, ..start() })
    };
    let none = [0; 7];
    let mut strange = of("K5i k5a", none, none, 2, "", &["board_byte", "side_byte"]);
    strange.packed[40] = 0x0E;
    let mut high_bits = of("K5i k5a", none, none, 0, "", &["board_byte", "no_white_king"]);
    high_bits.packed[36] = 0x30;
    vec![
        strange,
        high_bits,
        of("", none, none, 0, "9/9/9/9/9/9/9/9/9 b -", &["no_black_king", "no_white_king"]),
        of(
            "K5i K4i k5a k6a",
            none,
            none,
            1,
            "3kk4/9/9/9/9/9/9/9/4KK3 w -",
            &["many_black_kings", "many_white_kings"],
        ),
        of(
            "K5i k5a",
            [255, 3, 5, 2, 4, 1, 0],
            [0, 2, 0, 3, 1, 2, 3],
            0,
            "4k4/9/9/9/9/9/9/9/4K4 b B4G2S5N3L255P3r2bg3s2l",
            &[
                "too_many_pawns",
                "too_many_lances",
                "too_many_knights",
                "too_many_silvers",
                "too_many_golds",
                "too_many_bishops",
                "too_many_rooks",
            ],
        ),
        of(
            "K5i k5a P9b P9h +P9c p1b p1h",
            none,
            none,
            0,
            "4k4/P7p/+P8/9/9/9/9/P7p/4K4 b -",
            &["nifu_black", "nifu_white"],
        ),
        of(
            "K5i k5a P9a l1i N8b",
            none,
            none,
            0,
            "P3k4/1N7/9/9/9/9/9/9/4K3l b -",
            &["dead_pawn", "dead_lance", "dead_knight"],
        ),
    ]
}
