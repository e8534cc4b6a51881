//! Records: known bytes, every layout, readers and writers (psv.md §2, §4, §5).

mod compose;

use compose::any_position;
use manaka_core::sfen::STARTPOS;
use manaka_core::{Move16, Packed};
use manaka_corpus::psv::{
    Appended, CandidateOrder, DecodeFault, EncodeError, Kind, Layout, LayoutText, MoveLayout, PlayedMove,
    Reader, Record, RecordFault, Writer, encode_position,
};
use proptest::prelude::*;
use std::fs;
use std::io::{self, Read, Write};

fn mv(usi: &str) -> Move16 {
    Move16::from_usi(usi).unwrap()
}

fn start() -> Packed {
    Packed::from_sfen(STARTPOS).unwrap().0
}

/// The start position with 7g7f played and two candidates.
fn record() -> Record {
    Record {
        packed: start(),
        score: -258,
        mv: Some(mv("7g7f")),
        ply: 0x0201,
        result: -1,
        pad: 0xAB,
        candidates: vec![(mv("7g7f"), -258), (mv("2g2f"), 32767)],
    }
}

fn layout(order: CandidateOrder, played: PlayedMove, candidates: u16) -> Layout {
    Layout { moves: MoveLayout::YaneuraOu, candidates, order, played }
}

fn encoded(layout: &Layout, record: &Record) -> Vec<u8> {
    let mut out = Vec::new();
    layout.encode(record, &mut out).unwrap();
    out
}

fn decoded(layout: &Layout, bytes: &[u8]) -> Result<Record, RecordFault> {
    let mut record = Record::default();
    layout.decode(bytes, &mut record).map(|()| record)
}

#[test]
fn a_record_has_the_bytes_of_the_specification() {
    // psv.md §2: the position; the score −258; 7g7f as YaneuraOu writes it, 59 | 60 << 7; the ply; the result; the pad.
    let fixed = [0xFE, 0xFE, 0x3B, 0x1E, 0x01, 0x02, 0xFF, 0xAB];
    // 2g2f is 14 | 15 << 7.
    let [first, second] = [[0x3B, 0x1E, 0xFE, 0xFE], [0x8E, 0x07, 0xFF, 0x7F]];
    let whole = |candidates: &[u8]| {
        let mut bytes = encode_position(&start()).unwrap().to_vec();
        bytes.extend(fixed);
        bytes.extend(candidates);
        bytes
    };
    let layout = Layout::multipv(MoveLayout::YaneuraOu, 3);
    let expected = whole(&[first, second, [0; 4]].concat());
    assert_eq!(layout.record_len(), 52);
    assert_eq!(encoded(&layout, &record()), expected);
    assert_eq!(decoded(&layout, &expected), Ok(record()));

    let plain = Record { candidates: vec![], ..record() };
    let layout = Layout::plain(MoveLayout::YaneuraOu);
    assert_eq!(encoded(&layout, &plain), whole(&[]));
    assert_eq!(decoded(&layout, &whole(&[])), Ok(plain));
    assert_eq!(Layout::multipv(MoveLayout::Apery, 5).record_len(), 60);
}

#[test]
fn every_order_of_candidates_has_its_bytes() {
    use CandidateOrder::*;
    let [m1, m2] = [[0x3B, 0x1E], [0x8E, 0x07]];
    let [s1, s2] = [[0xFE, 0xFE], [0xFF, 0x7F]];
    let zero = [0; 2];
    for (order, halves) in [
        (MoveScore, [m1, s1, m2, s2, zero, zero]),
        (ScoreMove, [s1, m1, s2, m2, zero, zero]),
        (MovesScores, [m1, m2, zero, s1, s2, zero]),
        (ScoresMoves, [s1, s2, zero, m1, m2, zero]),
    ] {
        let layout = layout(order, PlayedMove::Listed, 3);
        let bytes = encoded(&layout, &record());
        assert_eq!(bytes[40..], halves.concat(), "{order:?}");
        assert_eq!(decoded(&layout, &bytes), Ok(record()), "{order:?}");
    }
}

#[test]
fn an_implied_played_move_is_the_first_candidate_and_takes_no_slot() {
    let layout = layout(CandidateOrder::MoveScore, PlayedMove::Implied, 1);
    let bytes = encoded(&layout, &record());
    assert_eq!(bytes[40..], [0x8E, 0x07, 0xFF, 0x7F]);
    assert_eq!(decoded(&layout, &bytes), Ok(record()));
    let refused = |record: &Record| layout.encode(record, &mut Vec::new()).unwrap_err();
    let swapped = Record { candidates: vec![(mv("2g2f"), 32767), (mv("7g7f"), -258)], ..record() };
    assert_eq!(refused(&swapped), EncodeError::NotPlayed);
    assert_eq!(refused(&Record { candidates: vec![], ..record() }), EncodeError::NotPlayed);
    assert_eq!(refused(&Record { mv: None, ..record() }), EncodeError::NotPlayed);
    let nothing = Record { mv: None, candidates: vec![], ..record() };
    assert_eq!(decoded(&layout, &encoded(&layout, &nothing)), Ok(nothing));
}

#[test]
fn absent_moves_are_zero_wherever_they_stand() {
    let layout = Layout::multipv(MoveLayout::YaneuraOu, 3);
    let mut bytes = encoded(&layout, &record());
    bytes[34..36].fill(0);
    // The first candidate's move; its score is no one's.
    bytes[40..42].fill(0);
    let expected = Record { mv: None, candidates: vec![(mv("2g2f"), 32767)], ..record() };
    assert_eq!(decoded(&layout, &bytes), Ok(expected.clone()));
    assert_eq!(encoded(&layout, &expected)[34..36], [0, 0]);
}

#[test]
fn what_cannot_be_written_is_refused_and_leaves_nothing() {
    let layout = Layout::multipv(MoveLayout::Apery, 2);
    let refused = |change: fn(&mut Record)| {
        let (mut record, mut out) = (record(), b"before".to_vec());
        change(&mut record);
        let error = layout.encode(&record, &mut out).unwrap_err();
        assert_eq!(out, b"before");
        error
    };
    assert!(matches!(refused(|r| r.packed = Packed::empty()), EncodeError::Position(_)));
    assert_eq!(refused(|r| r.result = 2), EncodeError::Result(2));
    let still = Move16::from_bits(5 << 7 | 5);
    assert_eq!(refused(|r| r.mv = Some(Move16::from_bits(5 << 7 | 5))), EncodeError::Move(still));
    assert_eq!(
        refused(|r| r.candidates[1].0 = Move16::from_bits(0xFFFF)),
        EncodeError::Candidate { at: 1, mv: Move16::from_bits(0xFFFF) }
    );
    assert_eq!(
        refused(|r| r.candidates.push((Move16::from_usi("1g1f").unwrap(), 0))),
        EncodeError::TooManyCandidates { have: 3, room: 2 }
    );
}

#[test]
fn bytes_that_are_no_record_are_refused_by_name() {
    let layout = Layout::multipv(MoveLayout::Manaka, 2);
    let good = encoded(&layout, &record());
    let fault = |at: usize, bytes: &[u8]| {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        decoded(&layout, &bad).unwrap_err()
    };
    assert!(matches!(fault(2, &[0; 30]), RecordFault::Position(DecodeFault::Inventory { .. })));
    assert_eq!(fault(38, &[2]), RecordFault::Result(2));
    assert_eq!(fault(38, &[0x80]), RecordFault::Result(-128));
    let layout_of = MoveLayout::Manaka;
    assert_eq!(fault(34, &[0xFF, 0xFF]), RecordFault::Move { bits: 0xFFFF, layout: layout_of });
    // 9b9b goes nowhere.
    assert_eq!(fault(34, &[0x81, 0x00]), RecordFault::Move { bits: 0x0081, layout: layout_of });
    let candidate = RecordFault::Candidate { slot: 1, bits: 0x8001, layout: layout_of };
    assert_eq!(fault(44, &[0x01, 0x80]), candidate);
    assert_eq!(decoded(&layout, &good[..47]), Err(RecordFault::Length { have: 47, want: 48 }));
    assert_eq!(decoded(&layout, &[]), Err(RecordFault::Length { have: 0, want: 48 }));
    // The first thing that is wrong is the one that is told.
    assert_eq!(fault(34, &[0xFF, 0xFF, 0, 0, 2]), RecordFault::Result(2));
}

#[test]
fn a_layout_is_written_as_it_is_read() {
    for (text, order, played) in [
        ("move-score", CandidateOrder::MoveScore, PlayedMove::Listed),
        ("score-move", CandidateOrder::ScoreMove, PlayedMove::Listed),
        ("moves-scores,implied", CandidateOrder::MovesScores, PlayedMove::Implied),
        ("scores-moves,implied", CandidateOrder::ScoresMoves, PlayedMove::Implied),
    ] {
        let layout: LayoutText = text.parse().unwrap();
        assert_eq!(layout, LayoutText { order, played });
        assert_eq!(layout.to_string(), text);
    }
    assert_eq!(LayoutText::default().to_string(), "move-score");
    for text in ["", "move", "move-score,", "implied", "move-score,Implied"] {
        let error = text.parse::<LayoutText>().unwrap_err();
        assert!(error.contains("move-score, score-move, moves-scores, scores-moves"), "{error}");
    }
}

/// Gives its bytes a few at a time, then fails or ends.
struct Trickle<'a> {
    bytes: &'a [u8],
    fails: bool,
}

impl Read for Trickle<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.bytes.is_empty() && std::mem::take(&mut self.fails) {
            return Err(io::Error::other("the disk is gone"));
        }
        let take = self.bytes.len().min(buf.len()).min(7);
        buf[..take].copy_from_slice(&self.bytes[..take]);
        self.bytes = &self.bytes[take..];
        Ok(take)
    }
}

fn three() -> (Layout, Vec<u8>) {
    let layout = Layout::multipv(MoveLayout::YaneuraOu, 5);
    let mut writer = Writer::new(Vec::new(), layout);
    writer.write_game(&[record(), Record { ply: 2, ..record() }]).unwrap();
    writer.write_record(&Record { ply: 3, ..record() }).unwrap();
    assert_eq!(writer.records(), 3);
    (layout, writer.into_inner())
}

#[test]
fn a_file_that_ends_inside_a_record_gives_the_whole_ones_first() {
    let (layout, bytes) = three();
    for cut in 0..=bytes.len() {
        let mut reader = Reader::new(Trickle { bytes: &bytes[..cut], fails: false }, layout);
        let records: Vec<_> = reader.records().collect();
        let whole = records.iter().take_while(|record| record.is_ok()).count();
        assert_eq!(whole, cut / 60);
        match records.get(whole) {
            None => assert_eq!(cut % 60, 0),
            Some(last) => {
                let error = last.as_ref().unwrap_err();
                assert_eq!((error.record, error.offset), (whole as u64, (whole * 60) as u64));
                assert!(
                    matches!(error.kind, Kind::Truncated { have, need: 60 } if have == cut % 60),
                    "{error}"
                );
                assert_eq!(error.kind.id(), "truncated");
                assert_eq!(records.len(), whole + 1);
            }
        }
        assert!(!reader.read_record(&mut Record::default()).unwrap());
    }
}

#[test]
fn a_failing_source_gives_the_whole_records_first_and_its_error_once() {
    let (layout, bytes) = three();
    for cut in [0, 59, 60, 119, 180] {
        let mut reader = Reader::new(Trickle { bytes: &bytes[..cut], fails: true }, layout);
        let records: Vec<_> = reader.records().collect();
        assert_eq!(records.len(), cut / 60 + 1);
        let error = records.last().unwrap().as_ref().unwrap_err();
        assert!(matches!(error.kind, Kind::Io(_)), "{error}");
        assert_eq!(
            error.to_string(),
            format!("record {0} at byte {1}: the disk is gone", cut / 60, cut / 60 * 60)
        );
    }
}

#[test]
fn a_reader_goes_on_behind_a_record_that_is_none() {
    let (layout, mut bytes) = three();
    bytes[60 + 38] = 7;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("raw.psv");
    fs::write(&path, &bytes).unwrap();
    let mut reader = Reader::open(&path, layout).unwrap();
    let mut out = Record::default();
    assert!(reader.read_record(&mut out).unwrap());
    assert_eq!((reader.position(), reader.offset()), (1, 60));
    let error = reader.read_record(&mut out).unwrap_err();
    assert_eq!(error.kind.id(), "bad_result");
    let expected = format!("{}: record 1 at byte 60: the result is 7, and not -1, 0 or 1", path.display());
    assert_eq!(error.to_string(), expected);
    assert!(reader.read_record(&mut out).unwrap());
    assert_eq!(out.ply, 3);
    assert!(!reader.read_record(&mut out).unwrap());
}

#[test]
fn many_records_pass_through_the_buffer() {
    let layout = Layout::plain(MoveLayout::Apery);
    let mut writer = Writer::new(Vec::new(), layout);
    for ply in 0..20_000 {
        writer.write_record(&Record { ply, candidates: vec![], ..record() }).unwrap();
    }
    let bytes = writer.into_inner();
    let mut reader = Reader::new(bytes.as_slice(), layout);
    for (ply, read) in reader.records().enumerate() {
        assert_eq!(usize::from(read.unwrap().ply), ply);
    }
    assert_eq!((reader.position(), reader.offset()), (20_000, 800_000));
}

#[test]
fn a_writer_appends_behind_the_last_whole_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("raw.psv");
    let (layout, bytes) = three();
    let (mut writer, found) = Writer::append(&path, layout).unwrap();
    assert_eq!(found, Appended { records: 0, torn: 0 });
    writer.write_game(&[record(), Record { ply: 2, ..record() }]).unwrap();
    writer.sync().unwrap();
    drop(writer);
    assert_eq!(fs::read(&path).unwrap(), bytes[..120]);

    fs::write(&path, &bytes[..143]).unwrap();
    let (mut writer, found) = Writer::append(&path, layout).unwrap();
    assert_eq!(found, Appended { records: 2, torn: 23 });
    assert_eq!(writer.records(), 2);
    // The torn record is gone at once, not only when something is written over it.
    assert_eq!(fs::read(&path).unwrap(), bytes[..120]);
    writer.write_record(&Record { ply: 3, ..record() }).unwrap();
    drop(writer);
    assert_eq!(fs::read(&path).unwrap(), bytes);
    let missing = Writer::append(&dir.path().join("no/raw.psv"), layout).unwrap_err();
    assert!(missing.to_string().contains("no/raw.psv"), "{missing}");
}

/// Takes what it is given, up to some number of bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let take = buf.len().min(self.0);
        self.0 -= take;
        if take == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(take) }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_record_that_cannot_be_written_spoils_nothing_and_a_sink_that_fails_spoils_the_writer() {
    let layout = Layout::plain(MoveLayout::YaneuraOu);
    let good = || Record { candidates: vec![], ..record() };
    let mut writer = Writer::new(Full(100), layout);
    writer.write_record(&good()).unwrap();
    let error = writer.write_game(&[good(), Record { result: 3, ..good() }]).unwrap_err();
    assert_eq!((error.record, error.offset, error.kind.id()), (2, 80, "unwritable"));
    assert_eq!(writer.records(), 1);
    writer.write_record(&good()).unwrap();
    let error = writer.write_record(&good()).unwrap_err();
    assert!(matches!(error.kind, Kind::Io(_)), "{error}");
    let error = writer.write_record(&good()).unwrap_err();
    assert!(matches!(error.kind, Kind::Poisoned), "{error}");
    assert!(matches!(writer.flush().unwrap_err().kind, Kind::Poisoned));
    assert_eq!(writer.records(), 2);
}

fn any_move() -> impl Strategy<Value = Move16> {
    any::<u16>().prop_filter_map("a move", |bits| MoveLayout::Manaka.decode(bits))
}

fn any_layout() -> impl Strategy<Value = Layout> {
    use CandidateOrder::*;
    (
        prop::sample::select(MoveLayout::ALL.to_vec()),
        0u16..9,
        prop::sample::select(vec![MoveScore, ScoreMove, MovesScores, ScoresMoves]),
        prop::sample::select(vec![PlayedMove::Listed, PlayedMove::Implied]),
    )
        .prop_map(|(moves, candidates, order, played)| Layout { moves, candidates, order, played })
}

prop_compose! {
    fn any_record()(
        packed in any_position(),
        score in any::<i16>(),
        mv in prop::option::of(any_move()),
        ply in any::<u16>(),
        result in -1i8..=1,
        pad in any::<u8>(),
        candidates in prop::collection::vec((any_move(), any::<i16>()), 0..9),
    ) -> Record {
        Record { packed, score, mv, ply, result, pad, candidates }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_record_survives_in_every_layout(mut record in any_record(), layout in any_layout()) {
        record.candidates.truncate(layout.candidates.into());
        if layout.played == PlayedMove::Implied {
            match record.mv {
                Some(mv) => record.candidates.insert(0, (mv, record.score)),
                None => record.candidates.clear(),
            }
        }
        let bytes = encoded(&layout, &record);
        prop_assert_eq!(bytes.len(), layout.record_len());
        prop_assert_eq!(decoded(&layout, &bytes), Ok(record));
    }

    #[test]
    fn damaged_records_are_refused_or_read_and_never_panic(
        record in any_record(),
        layout in any_layout(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in 0usize..100,
    ) {
        let layout = Layout { played: PlayedMove::Listed, candidates: layout.candidates.max(8), ..layout };
        let mut bytes = encoded(&layout, &record);
        for (at, byte) in changes {
            *at.get_mut(&mut bytes) = byte;
        }
        if let Ok(read) = decoded(&layout, &bytes) {
            // Absent slots keep nothing, so the bytes come back up to those.
            prop_assert_eq!(decoded(&layout, &encoded(&layout, &read)), Ok(read));
        }
        bytes.truncate(bytes.len() - cut.min(bytes.len()));
        let mut reader = Reader::new(bytes.as_slice(), layout);
        prop_assert!(reader.records().count() <= 1);
    }
}
