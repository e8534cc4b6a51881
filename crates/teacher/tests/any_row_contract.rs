//! Whatever a row holds: it is refused, or its record is sound. Never a panic.

#[path = "../../corpus/tests/corpus_writer/mod.rs"]
mod corpus_writer;

use corpus_writer::*;
use manaka_core::stream::{Compression, StreamReader};
use manaka_shogi::Board;
use manaka_teacher::{OffSearch, Options, Reason, Strictness, convert};
use proptest::collection::vec;
use proptest::prelude::*;

/// Mostly `sound`, and at times what `odd` gives.
fn mostly<T: Clone + std::fmt::Debug + 'static>(
    sound: impl Strategy<Value = T> + 'static,
    odd: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = T> {
    prop_oneof![12 => sound, 1 => odd]
}

fn number(sound: std::ops::RangeInclusive<i64>) -> impl Strategy<Value = Option<i64>> {
    mostly(
        sound.prop_map(Some),
        prop_oneof![Just(None), any::<i64>().prop_map(Some), (-4i64..4).prop_map(Some)],
    )
}

fn move_text() -> impl Strategy<Value = Vec<u8>> {
    let sound =
        prop_oneof![Just("7g7f"), Just("2g2f"), Just("P*5e"), Just("3c3d"), Just("8h2b+"), Just("resign")];
    mostly(
        sound.prop_map(|text| text.as_bytes().to_vec()),
        prop_oneof!["[1-9][a-i][1-9][a-i][+]?".prop_map(String::into_bytes), vec(any::<u8>(), 0..9)],
    )
}

/// A sound SFEN with some bytes replaced by others that SFENs have.
fn sfen() -> impl Strategy<Value = Vec<u8>> {
    let bases = prop_oneof![
        Just("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"),
        Just("ln1g3nl/1ks2gr2/1ppp1s1pp/p3pp3/5P1P1/P1P1P4/1PSP1GPBP/1KG2S1R1/LN5NL w Bp 46"),
        Just("4k4/9/9/9/9/9/9/9/4K4 b R2b4g4s4n4l18p 1"),
    ];
    let edits =
        vec((any::<prop::sample::Index>(), prop::sample::select(b"KkRrPpLlNnGg123459+/ bw-".to_vec())), 0..3);
    (bases, edits).prop_map(|(base, edits)| {
        let mut text = base.as_bytes().to_vec();
        for (at, byte) in edits {
            let at = at.index(text.len());
            text[at] = byte;
        }
        text
    })
}

fn row() -> impl Strategy<Value = RowSpec> {
    let texts = (
        mostly(sfen().prop_map(Some), prop_oneof![Just(None), vec(any::<u8>(), 0..2000).prop_map(Some)]),
        mostly(vec(mostly(move_text().prop_map(Some), Just(None)), 0..6).prop_map(Some), Just(None)),
        mostly(move_text().prop_map(Some), Just(None)),
    );
    let numbers = (
        number(0..=1),
        number(0..=65535),
        number(-32767..=32767),
        mostly(vec(number(-32767..=32767), 0..6).prop_map(Some), Just(None)),
        number(-1..=1),
        any::<bool>(),
    );
    (texts, numbers).prop_map(|((sfen, cand_move, mv), (side, ply, cp, cand_cp, result, fit))| {
        let mut row = RowSpec { sfen, side, ply, cp, depth: None, cand_move, cand_cp, mv, result };
        // Lists of one length and a played move among them, or no row would get far.
        if let (true, Some(moves), Some(scores)) = (fit, &mut row.cand_move, &mut row.cand_cp) {
            scores.resize(moves.len(), Some(5));
            row.mv = moves.first().cloned().unwrap_or(row.mv);
        }
        row
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_row_is_refused_or_becomes_a_sound_record(
        rows in vec(row(), 0..80), strict in any::<bool>(), keep in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let corpus = dir.path().join("corpus.parquet");
        write(&corpus, &Layout { side: PLAIN_64, result: PLAIN_64, ..Layout::default() }, &rows);
        let strictness = if strict { Strictness::Strict } else { Strictness::Lenient };
        let rejects = dir.path().join("rejects.tsv");
        let mut options = Options { strictness, rejects: Some(rejects.clone()), ..Options::default() };
        options.parts.compression = Compression::None;
        if keep {
            options.off_search = OffSearch::Keep;
        }
        let report = convert(&[corpus], &dir.path().join("out"), &options, &()).unwrap();
        prop_assert_eq!(report.rows, rows.len() as u64);
        prop_assert_eq!(report.written + report.rejected.total(), report.rows);
        let table = std::fs::read_to_string(&rejects).unwrap();
        prop_assert_eq!(table.lines().count() as u64, 1 + report.rejected.total());
        prop_assert!(table.lines().all(|line| line.split('\t').count() == 4));
        let reader = StreamReader::open(&report.parts.paths[0]).unwrap();
        let version = reader.header().version;
        let mut unknown = 0;
        for record in reader.records() {
            let record = record.unwrap();
            unknown += u64::from(record.outcome().is_none());
            prop_assert!(record.packed.faults().is_empty());
            if strict {
                let board = Board::from_packed(&record.packed, 0).unwrap();
                prop_assert!(record.candidates.iter().all(|candidate| board.is_legal(candidate.mv)));
            }
        }
        prop_assert_eq!((unknown, version), (report.off_search, if unknown > 0 { 3 } else { 2 }));
        prop_assert!(keep || unknown == 0);
        prop_assert!(!keep || report.rejected.get(Reason::MoveNotCandidate) == 0);
    }
}
