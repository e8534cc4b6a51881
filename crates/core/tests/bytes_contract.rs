//! The bytes of headers and records, written out by hand (stream.md §2 to §5).

mod sample;

use manaka_core::conventions::{NO_CP, NO_VISITS};
use manaka_core::stream::{Candidate, Header, Record, RecordRef, StreamReader, StreamWriter};
use manaka_core::{Conventions, Move16, PolicySource, Pov};
use sample::{V4, V4_CONVENTIONS, packed};

/// A header in which every field has a value of its own.
#[rustfmt::skip]
const HEADER: [u8; 24] = [
    0x4d, 0x50, 0x4b, 0x31, // magic
    0x02, 0x00,             // version 2
    0x60, 0x00,             // packed_len 96
    0x01,                   // pov: Black
    0x01,                   // policy_source: softmax over cp
    0x30, 0x75,             // mate_scale 30000
    0x14, 0x00,             // fv_scale 20
    0x2c, 0x01,             // mate_slack 300
    0x00, 0x00, 0x16, 0x44, // eval_coef 600.0
    0x00, 0x00, 0x00, 0x00, // flags
];

const CONVENTIONS: Conventions = Conventions {
    pov: Pov::Black,
    policy_source: PolicySource::SoftmaxCp,
    mate_scale: 30000,
    mate_slack: 300,
    fv_scale: 20,
    eval_coef: 600.0,
};

/// White to move, with a promoted piece of two kinds on the board and pieces in both hands.
#[rustfmt::skip]
const RECORD: [u8; 108 + 3 * 8] = [
    0x2b, 0x01,             // ply 299
    0x00, 0x00, 0x80, 0xbf, // value_z -1.0
    0x00, 0x00, 0xc0, 0x3e, // value_q 0.375
    0x03, 0x00,             // n_cand 3
    // The board, a line a file, 9 to 1, from rank a to rank i.
    0x16, 0xff, 0x17, 0xff, 0xff, 0xff, 0x07, 0xff, 0x06,
    0x15, 0xff, 0x17, 0xff, 0xff, 0xff, 0x07, 0x02, 0x05,
    0x14, 0xff, 0x17, 0xff, 0xff, 0xff, 0xff, 0xff, 0x04,
    0xff, 0xff, 0x17, 0xff, 0xff, 0xff, 0x07, 0xff, 0x03,
    0x10, 0xff, 0x17, 0xff, 0xff, 0xff, 0x07, 0xff, 0x00,
    0xff, 0xff, 0x17, 0xff, 0xff, 0xff, 0x07, 0xff, 0xff,
    0x14, 0xff, 0x17, 0xff, 0xff, 0xff, 0x07, 0xff, 0x04,
    0x15, 0x11, 0x17, 0x0d, 0xff, 0xff, 0x07, 0x08, 0x05,
    0x16, 0xff, 0xff, 0xff, 0xff, 0xff, 0x07, 0xff, 0x06,
    // Black's hand, P L N S G B R: three gold.
    0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00,
    // White's hand: a pawn and a bishop.
    0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00,
    0x01,                   // White to move
    // 3c3d: (9-3)*9+2 = 56, 57 -> 56<<7 | 57 = 7225
    0x39, 0x1c, 0x00, 0x00, 0x00, 0x00, 0x2c, 0x01, // cp 300
    // 2b2c+: 64, 65 -> 16384 + 64<<7 + 65 = 24641
    0x41, 0x60, 0x00, 0x00, 0x00, 0x00, 0xd4, 0xfe, // cp -300
    // B*5e: 86<<7 | 40 = 11048
    0x28, 0x2b, 0x00, 0x00, 0x00, 0x00, 0x01, 0x80, // cp -32767
];

fn record() -> Record {
    let scored = |usi, cp| Candidate { mv: Move16::from_usi(usi).unwrap(), visits: NO_VISITS, cp };
    Record {
        ply: 299,
        value_z: -1.0,
        value_q: 0.375,
        packed: packed("lns1k1snl/7r1/pppppppp1/7+P1/9/9/PP1PPPPPP/1B5+R1/LNSGK1SNL w 3Gpb 299"),
        candidates: vec![scored("3c3d", 300), scored("2b2c+", -300), scored("B*5e", -32767)],
    }
}

#[test]
fn the_v4_header_is_written_and_read_as_its_card_prints_it() {
    let writer = StreamWriter::new(Vec::new(), V4_CONVENTIONS).unwrap();
    assert_eq!(writer.into_inner().unwrap().0, V4);
    let header = *StreamReader::new(&V4[..]).unwrap().header();
    assert_eq!(header, Header { version: 2, conventions: V4_CONVENTIONS });
    assert_eq!(header.conventions.mate_threshold(), Some(31900));
}

#[test]
fn every_header_field_stands_where_the_page_says() {
    let header = Header::decode(&HEADER).unwrap();
    assert_eq!(header, Header { version: 2, conventions: CONVENTIONS });
    assert_eq!(Header::new(CONVENTIONS).encode(), HEADER);
}

#[test]
fn a_version_1_header_reads_as_the_same_without_a_slack_and_is_never_written() {
    let mut bytes = HEADER;
    bytes[4] = 1;
    bytes[14..16].fill(0);
    let header = Header::decode(&bytes).unwrap();
    assert_eq!(header, Header { version: 1, conventions: Conventions { mate_slack: 0, ..CONVENTIONS } });
    bytes[4] = 2;
    assert_eq!(header.encode(), bytes);
}

#[test]
fn a_visits_header_is_zero_behind_its_position_width() {
    let mut bytes = [0; 24];
    bytes[..8].copy_from_slice(&HEADER[..8]);
    assert_eq!(Header::new(Conventions::VISITS).encode(), bytes);
    assert_eq!(Header::decode(&bytes).unwrap().conventions, Conventions::VISITS);
}

#[test]
fn a_record_is_written_and_read_byte_by_byte_as_the_page_says() {
    let mut writer = StreamWriter::new(Vec::new(), CONVENTIONS).unwrap();
    writer.write(&record()).unwrap();
    let (bytes, summary) = writer.into_inner().unwrap();
    assert_eq!(bytes[..24], HEADER);
    assert_eq!(bytes[24..], RECORD);
    assert_eq!((summary.records, summary.bytes), (1, 132));

    let mut read = Record::default();
    let mut reader = StreamReader::new(&bytes[..]).unwrap();
    assert!(reader.read_record(&mut read).unwrap());
    assert_eq!(read, record());
    assert!(!reader.read_record(&mut read).unwrap());

    let view = RecordRef::frame(&RECORD).unwrap();
    assert_eq!((view.ply(), view.value_z(), view.value_q(), view.n_cand()), (299, -1.0, 0.375, 3));
    assert_eq!(view.packed(), record().packed);
    assert_eq!(view.candidates().collect::<Vec<_>>(), record().candidates);
    assert_eq!(view.bytes(), RECORD);
}

#[test]
fn a_visits_record_marks_its_scores_absent() {
    let mut record = record();
    record.candidates.truncate(1);
    record.candidates[0] = Candidate { visits: 0x0102_0304, cp: NO_CP, ..record.candidates[0] };
    let mut writer = StreamWriter::new(Vec::new(), Conventions::VISITS).unwrap();
    writer.write(&record).unwrap();
    let (bytes, _) = writer.into_inner().unwrap();
    assert_eq!(bytes[24 + 108..], [0x39, 0x1c, 0x04, 0x03, 0x02, 0x01, 0x00, 0x80]);
}

#[test]
fn a_record_is_framed_by_its_own_count_and_by_nothing_behind_it() {
    for have in 0..RECORD.len() {
        let need = if have < 108 { 108 } else { 132 };
        assert_eq!(RecordRef::frame(&RECORD[..have]).err(), Some(need), "{have}");
    }
    let longer = [&RECORD[..], &[0xAA; 50]].concat();
    assert_eq!(RecordRef::frame(&longer).unwrap().bytes(), RECORD);
}
