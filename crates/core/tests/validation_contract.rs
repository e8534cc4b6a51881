//! Every rule of stream.md §6, at the writer and at every reader.

mod readers;
mod sample;

use manaka_core::conventions::{NO_CP, NO_OUTCOME, NO_VISITS};
use manaka_core::stream::{Header, MappedStream, Record, StreamReader, StreamSet, StreamWriter};
use manaka_core::{Conventions, Move16, PolicySource};
use readers::{Event, Fault, in_every_way, last_fault};
use sample::{V4, borders, scored, stream, visited};
use std::path::Path;

/// A way to break a record, with the id it must be reported by. In the order of stream.md §6.3.
type Break = (&'static str, fn(&mut Record));

const SCORES: &[Break] = &[
    ("no_candidates", |r| r.candidates.clear()),
    ("value_z", |r| r.value_z = 0.5),
    ("value_z", |r| r.value_z = -0.999_999_94),
    ("value_z", |r| r.value_z = 1e-45),
    ("value_z", |r| r.value_z = 2.0),
    ("value_z", |r| r.value_z = f32::NAN),
    ("value_z", |r| r.value_z = f32::NEG_INFINITY),
    ("value_q", |r| r.value_q = 1.000_000_1),
    ("value_q", |r| r.value_q = -1.000_000_1),
    ("value_q", |r| r.value_q = f32::NAN),
    ("value_q", |r| r.value_q = f32::INFINITY),
    ("move16", |r| r.candidates[2].mv = Move16::from_bits(1 << 15 | 24 << 7 | 23)),
    ("move16", |r| r.candidates[0].mv = Move16::from_bits(24 << 7 | 81)),
    ("move16", |r| r.candidates[1].mv = Move16::from_bits(88 << 7 | 40)),
    ("move16", |r| r.candidates[1].mv = Move16::from_bits(1 << 14 | 81 << 7 | 40)),
    ("some_visits", |r| r.candidates[1].visits = 1),
    ("some_visits", |r| r.candidates[..2].iter_mut().for_each(|c| c.visits = u32::MAX)),
    ("some_cp", |r| r.candidates[2].cp = NO_CP),
    ("missing_half", |r| r.candidates.iter_mut().for_each(|c| c.cp = NO_CP)),
    ("foreign_half", |r| r.candidates.iter_mut().for_each(|c| c.visits = 1)),
];

const VISITS: &[Break] = &[
    ("some_visits", |r| r.candidates[2].visits = NO_VISITS),
    ("some_cp", |r| r.candidates[0].cp = 0),
    ("missing_half", |r| r.candidates.iter_mut().for_each(|c| c.visits = NO_VISITS)),
    ("foreign_half", |r| r.candidates.iter_mut().for_each(|c| c.cp = 0)),
];

/// Every break with its stream: a sound record, the broken one, a sound one.
fn broken() -> impl Iterator<Item = (&'static str, Conventions, Vec<Record>)> {
    let of = |conventions: Conventions, make: fn(u16, usize) -> Record, breaks: &'static [Break]| {
        breaks.iter().map(move |(id, break_it)| {
            let mut records = vec![make(0, 2), make(1, 3), make(2, 1)];
            break_it(&mut records[1]);
            (*id, conventions, records)
        })
    };
    of(Conventions::TEACHER, scored, SCORES).chain(of(Conventions::VISITS, visited, VISITS))
}

#[test]
fn a_writer_refuses_every_broken_record_with_its_place_and_goes_on_as_if_it_had_not_been_there() {
    for (id, conventions, records) in broken() {
        let mut writer = StreamWriter::new(Vec::new(), conventions).unwrap();
        writer.write(&records[0]).unwrap();
        let before = writer.summary();
        let error = writer.write(&records[1]).unwrap_err();
        assert_eq!((error.kind.id(), error.record, error.offset), (id, Some(1), 24 + 124));
        assert!(error.to_string().starts_with("record 1 at byte 148: "), "{error}");
        assert_eq!(writer.summary(), before);
        writer.write(&records[2]).unwrap();
        let (bytes, summary) = writer.into_inner().unwrap();
        assert_eq!(bytes, stream(conventions, &[records[0].clone(), records[2].clone()]), "{id}");
        assert_eq!((summary.records, summary.bytes + 24), (2, bytes.len() as u64));
    }
}

#[test]
fn a_record_of_more_candidates_than_the_format_counts_is_refused() {
    let mut writer = StreamWriter::new(Vec::new(), Conventions::VISITS).unwrap();
    writer.write(&visited(0, 1)).unwrap();
    let mut record = visited(0, 81);
    record.candidates = record.candidates.iter().copied().cycle().take(65_536).collect();
    let error = writer.write(&record).unwrap_err();
    assert_eq!((error.kind.id(), error.record), ("many_candidates", Some(1)));
    record.candidates.pop();
    writer.write(&record).unwrap();
    let (bytes, _) = writer.into_inner().unwrap();
    let mut reader = StreamReader::new(&bytes[..]).unwrap();
    assert!(reader.next_ref().unwrap().is_some());
    assert_eq!(reader.next_ref().unwrap().unwrap().n_cand(), 65_535);
    assert!(reader.next_ref().unwrap().is_none());
}

#[test]
fn every_reader_refuses_every_broken_record_with_its_place_and_can_go_on_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part-00000.mpk");
    for (id, conventions, records) in broken() {
        let bytes = stream(conventions, &records);
        let borders = borders(&records);
        let events = in_every_way(&bytes, &path);
        let expected = [
            Event::Header(Header::new(conventions)),
            Event::Record(bytes[24..borders[1]].to_vec()),
            Event::Fault(Fault { kind: id, record: Some(1), offset: borders[1] as u64 }),
            Event::Record(bytes[borders[2]..].to_vec()),
        ];
        assert_eq!(events, expected, "{id}");
    }
}

#[test]
fn of_two_broken_rules_the_one_that_stands_first_on_the_page_is_reported() {
    // (first, second): both break the record, in a stream of scores.
    let pairs: [(Break, Break); 7] = [
        (SCORES[0], SCORES[1]),
        (SCORES[0], SCORES[9]),
        (SCORES[1], SCORES[9]),
        (SCORES[9], SCORES[11]),
        (SCORES[11], SCORES[15]),
        (SCORES[15], SCORES[17]),
        // cp absent and visits present on all: missing before foreign.
        (SCORES[18], SCORES[19]),
    ];
    for (first, second) in pairs {
        for order in [[first, second], [second, first]] {
            let mut record = scored(1, 3);
            // A cleared list cannot be broken further, so that break goes last.
            for (_, break_it) in order.iter().filter(|b| b.0 != "no_candidates") {
                break_it(&mut record);
            }
            if first.0 == "no_candidates" {
                (first.1)(&mut record);
            }
            let mut writer = StreamWriter::new(Vec::new(), Conventions::TEACHER).unwrap();
            assert_eq!(writer.write(&record).unwrap_err().kind.id(), first.0);
            let fault = readers::by_slice(&stream(Conventions::TEACHER, &[record]));
            assert_eq!(last_fault(&fault).unwrap().kind, first.0);
        }
    }
    // Some scores absent in a visits stream without visits: the half rule waits.
    let mut record = visited(1, 3);
    record.candidates.iter_mut().for_each(|c| c.visits = NO_VISITS);
    record.candidates[0].cp = 5;
    let fault = readers::by_slice(&stream(Conventions::VISITS, &[record]));
    assert_eq!(last_fault(&fault).unwrap().kind, "some_cp");
}

#[test]
fn what_the_rules_allow_passes_at_its_limits() {
    let dir = tempfile::tempdir().unwrap();
    let mut draw = scored(1, 3);
    draw.value_z = -0.0;
    draw.value_q = -0.0;
    let mut ends = scored(2, 3);
    (ends.value_z, ends.value_q, ends.ply) = (-1.0, -1.0, 0);
    ends.candidates[0].cp = -32_767;
    ends.candidates[1].cp = i16::MAX;
    ends.candidates[2].cp = 0;
    // One move twice is not a reader's business, nor is a position that is none.
    ends.candidates[1].mv = ends.candidates[0].mv;
    ends.packed.as_bytes_mut().fill(0xEE);
    let mut other = scored(0, 1);
    (other.value_q, other.ply) = (1.0, u16::MAX);
    other.candidates[0].mv = Move16::from_bits(87 << 7 | 80);

    let records = [draw, ends, other];
    let mut writer = StreamWriter::new(Vec::new(), Conventions::TEACHER).unwrap();
    for record in &records {
        writer.write(record).unwrap();
    }
    let (bytes, _) = writer.into_inner().unwrap();
    let events = in_every_way(&bytes, &dir.path().join("a"));
    assert_eq!((readers::records(&events), last_fault(&events)), (3, None));
    // The sign of a draw is kept as it was.
    assert_eq!(bytes[24 + 2..24 + 10], [0, 0, 0, 0x80, 0, 0, 0, 0x80]);
}

/// The one fault among events, wherever it stands.
fn the_fault(events: &[Event]) -> Option<(&'static str, Option<u64>)> {
    let mut faults = events.iter().filter_map(|event| match event {
        Event::Fault(fault) => Some((fault.kind, fault.record)),
        _ => None,
    });
    let fault = faults.next();
    assert_eq!(faults.next(), None);
    fault
}

#[test]
fn only_a_version_3_record_may_leave_its_outcome_out() {
    let dir = tempfile::tempdir().unwrap();
    let mut absent = scored(1, 3);
    absent.value_z = NO_OUTCOME;
    let records = [scored(0, 2), absent, scored(2, 1)];
    let mut bytes = stream(Conventions::TEACHER, &records);
    for (version, faults) in [(1, true), (2, true), (3, false)] {
        bytes[4] = version;
        let events = in_every_way(&bytes, &dir.path().join("a"));
        assert_eq!(the_fault(&events), faults.then_some(("value_z", Some(1))));
        assert_eq!(readers::records(&events), if faults { 2 } else { 3 });
    }
    let mut reader = StreamReader::new(&bytes[..]).unwrap();
    let mut read = Record::default();
    let mut outcomes = Vec::new();
    while reader.read_record(&mut read).unwrap() {
        outcomes.push((read.outcome(), read.value_z));
    }
    assert_eq!(outcomes, [(Some(1.0), 1.0), (None, 2.0), (Some(-1.0), -1.0)]);

    bytes[4] = 2;
    let mut reader = StreamReader::new(&bytes[..]).unwrap();
    reader.next_ref().unwrap();
    assert_eq!(
        reader.next_ref().err().unwrap().to_string(),
        "record 1 at byte 148: value_z is 2, an absent outcome, which only version 3 allows"
    );
}

#[test]
fn a_version_3_record_breaks_every_other_rule_as_any_does() {
    let dir = tempfile::tempdir().unwrap();
    let near = [-2.0, f32::from_bits(0x3FFF_FFFF), f32::from_bits(0x4000_0001), 0.5, f32::NAN];
    let broken = broken().filter(|(_, _, records)| records[1].value_z != NO_OUTCOME);
    let near = near.into_iter().map(|value_z| {
        let mut records = vec![scored(0, 2), scored(1, 3), scored(2, 1)];
        records[1].value_z = value_z;
        ("value_z", Conventions::TEACHER, records)
    });
    for (id, conventions, mut records) in broken.chain(near) {
        if id != "value_z" {
            // An outcome that is left out excuses nothing.
            records[1].value_z = NO_OUTCOME;
        }
        let mut bytes = stream(conventions, &records);
        bytes[4] = 3;
        let events = in_every_way(&bytes, &dir.path().join("a"));
        assert_eq!(the_fault(&events), Some((id, Some(1))), "{id}");
        assert_eq!(readers::records(&events), 2, "{id}");
    }
}

#[test]
fn every_header_rule_is_broken_alike_for_every_reader() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk");
    let nan = f32::NAN.to_le_bytes();
    let breaks: &[(&str, &[(usize, u8)])] = &[
        ("magic", &[(0, b'm')]),
        ("magic", &[(3, b'2'), (4, 9)]),
        ("version", &[(4, 0)]),
        ("version", &[(4, 4), (6, 95)]),
        ("version", &[(5, 2)]),
        ("packed_len", &[(6, 95), (8, 7)]),
        ("packed_len", &[(7, 1)]),
        ("pov", &[(8, 2), (9, 2)]),
        ("policy_source", &[(9, 2), (20, 1)]),
        ("reserved", &[(4, 1), (20, 1)]),
        ("flags", &[(20, 1), (19, 0xff)]),
        ("flags", &[(23, 0x80)]),
        ("inconsistent_header", &[(16, nan[0]), (17, nan[1]), (18, nan[2]), (19, nan[3])]),
        ("inconsistent_header", &[(18, 0x80), (19, 0x7f), (17, 0), (16, 0)]),
        ("inconsistent_header", &[(19, 0xc4)]),
        ("inconsistent_header", &[(14, 0x00), (15, 0x7d)]),
        ("inconsistent_header", &[(10, 0), (11, 0)]),
        ("inconsistent_header", &[(10, 64), (11, 1), (14, 0)]),
    ];
    for (id, changes) in breaks {
        let mut bytes = stream(Conventions::TEACHER, &[scored(0, 1)]);
        bytes[..24].copy_from_slice(&V4);
        for (at, value) in *changes {
            bytes[*at] = *value;
        }
        let fault = Event::Fault(Fault { kind: id, record: None, offset: 0 });
        assert_eq!(in_every_way(&bytes, &path), [fault], "{changes:?}");
        assert_eq!(StreamSet::open(vec![path.clone()]).err().unwrap().kind.id(), *id);
    }
}

#[test]
fn a_writer_states_no_conventions_that_a_reader_refuses_or_that_mean_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk");
    let teacher = Conventions::TEACHER;
    for (id, conventions) in [
        ("inconsistent_header", Conventions { eval_coef: f32::NAN, ..teacher }),
        ("inconsistent_header", Conventions { eval_coef: -1.0, ..teacher }),
        ("inconsistent_header", Conventions { mate_slack: 30_000, ..teacher }),
        ("inconsistent_header", Conventions { mate_scale: 0, mate_slack: 1, ..teacher }),
        ("inconsistent_header", Conventions { mate_scale: 320, ..teacher }),
        ("unsupported", Conventions { policy_source: PolicySource::Visits, ..teacher }),
        ("unsupported", Conventions { fv_scale: 20, ..Conventions::VISITS }),
    ] {
        assert_eq!(StreamWriter::new(Vec::new(), conventions).err().unwrap().kind.id(), id);
        let error = StreamWriter::create(&path, conventions, manaka_core::stream::Compression::None);
        let error = error.err().unwrap();
        assert_eq!((error.kind.id(), error.path.as_deref()), (id, Some(&*path)));
        let error = StreamWriter::append(&path, conventions).err().unwrap();
        assert_eq!((error.kind.id(), error.path.as_deref()), (id, Some(&*path)));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    }
}

#[test]
fn an_error_says_which_file_which_record_and_which_byte() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part-00007.mpk");
    let mut records = [scored(0, 2), scored(1, 3)];
    records[1].candidates[2].mv = Move16::from_bits(0xffff);
    std::fs::write(&path, stream(Conventions::TEACHER, &records)).unwrap();

    let mut reader = StreamReader::open(&path).unwrap();
    reader.next_ref().unwrap();
    let error = reader.next_ref().err().unwrap();
    let expected = format!("{}: record 1 at byte 148: candidate 2: 0xffff is no move16", path.display());
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.path.as_deref(), Some(&*path));

    let map = MappedStream::open(&path).unwrap();
    let mut reader = map.records();
    reader.next_ref().unwrap();
    assert_eq!(reader.next_ref().err().unwrap().to_string(), expected);

    std::fs::write(&path, b"RIFF....").unwrap();
    for error in [
        StreamReader::open(&path).err().unwrap(),
        MappedStream::open(&path).unwrap_err(),
        StreamSet::open(vec![path.clone()]).err().unwrap(),
    ] {
        let expected = format!(
            "{}: header at byte 0: not an MPK1 stream: it begins with [52, 49, 46, 46]",
            path.display()
        );
        assert_eq!(error.to_string(), expected);
    }
    let missing = Path::new("/nowhere/at/all.mpk");
    for error in [StreamReader::open(missing).err().unwrap(), MappedStream::open(missing).unwrap_err()] {
        assert_eq!((error.kind.id(), error.path.as_deref()), ("io", Some(missing)));
    }
    // A directory is no stream either.
    assert_eq!(StreamReader::open(dir.path()).err().unwrap().kind.id(), "io");
    assert_eq!(MappedStream::open(dir.path()).unwrap_err().kind.id(), "io");
}
