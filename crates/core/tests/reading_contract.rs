//! Cut, damaged, concatenated and oddly delivered streams, and sets of parts (stream.md §6.2 and §7).

mod readers;
mod sample;

use manaka_core::stream::{Header, Kind, MappedStream, SliceReader, StreamReader, StreamSet};
use manaka_core::{Conventions, Pov};
use readers::{Event, Fault, OneByte, by_file, by_slice, by_stream, frame, frames, in_every_way, last_fault};
use sample::{V4_CONVENTIONS, borders, scored, stream, three, visited};
use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;

const TEACHER: Conventions = Conventions::TEACHER;

/// What a reader must say of the first `have` bytes of a whole stream.
fn expected_of_cut(bytes: &[u8], borders: &[usize], have: usize) -> Vec<Event> {
    let fault = |kind, record, offset: usize| Event::Fault(Fault { kind, record, offset: offset as u64 });
    if have == 0 {
        return vec![fault("empty", None, 0)];
    }
    if have < 24 {
        return vec![fault("truncated", None, 0)];
    }
    let mut events = vec![Event::Header(Header::new(TEACHER))];
    let whole = borders.iter().filter(|border| **border <= have).count() - 1;
    for ends in borders.windows(2).take(whole) {
        events.push(Event::Record(bytes[ends[0]..ends[1]].to_vec()));
    }
    if !borders.contains(&have) {
        events.push(fault("truncated", Some(whole as u64), borders[whole]));
    }
    events
}

#[test]
fn a_stream_cut_at_any_byte_gives_every_whole_record_and_then_says_truncated() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk");
    let (bytes, borders) = (stream(TEACHER, &three()), borders(&three()));
    for have in 0..=bytes.len() {
        let events = in_every_way(&bytes[..have], &path);
        assert_eq!(events, expected_of_cut(&bytes, &borders, have), "cut at {have}");
    }
}

#[test]
fn a_truncation_says_how_much_is_there_and_how_much_is_needed() {
    let bytes = stream(TEACHER, &three());
    for (have, there, needed) in [(10, 10, 24), (25, 1, 108), (24 + 107, 107, 108), (24 + 110, 110, 116)] {
        let mut reader = match SliceReader::new(&bytes[..have]) {
            Ok(reader) => reader,
            Err(error) => {
                assert!(matches!(error.kind, Kind::Truncated { have: 10, need: 24 }), "{error}");
                continue;
            }
        };
        let Kind::Truncated { have, need } = reader.next_ref().err().unwrap().kind else { panic!("{have}") };
        assert_eq!((have, need), (there, needed));
    }
}

/// As many bytes as a prefix of compressed data decompresses to.
fn decompressed(prefix: &[u8]) -> usize {
    let mut out = Vec::new();
    // Single bytes, so that what was decompressed before the cut is not lost in the call that finds it.
    let mut decoder = zstd::stream::read::Decoder::new(prefix).unwrap();
    let mut byte = [0];
    while let Ok(1) = decoder.read(&mut byte) {
        out.push(byte[0]);
    }
    out.len()
}

#[test]
fn a_compressed_stream_cut_at_any_byte_gives_every_whole_record_and_never_ends_well() {
    let (bytes, borders) = (stream(TEACHER, &three()), borders(&three()));
    let compressed = frame(&bytes);
    for have in 0..compressed.len() {
        let cut = &compressed[..have];
        let events = by_stream(cut);
        assert_eq!(by_stream(OneByte(cut)), events, "cut at {have}");
        let fault = last_fault(&events).unwrap_or_else(|| panic!("cut at {have}: no error"));
        assert_eq!(fault.kind, if have == 0 { "empty" } else { "truncated" }, "cut at {have}");
        // Below four bytes nothing says that it is compressed.
        let seen = if have < 4 { have } else { decompressed(cut) };
        let whole = borders.iter().filter(|border| **border <= seen).count().saturating_sub(1);
        assert_eq!(readers::records(&events), whole, "cut at {have}, {seen} bytes seen");
        if seen >= 24 {
            assert_eq!((fault.record, fault.offset), (Some(whole as u64), borders[whole] as u64));
        }
    }
    // All but the checksum is there: every record, and still no good end.
    let cut = &compressed[..compressed.len() - 1];
    assert_eq!((readers::records(&by_stream(cut)), decompressed(cut)), (3, bytes.len()));
}

#[test]
fn frames_may_end_anywhere_and_skippable_ones_are_passed_over() {
    let (bytes, borders) = (stream(TEACHER, &three()), borders(&three()));
    let whole = expected_of_cut(&bytes, &borders, bytes.len());
    let skippable = |n: u8| [&[0x50 + n, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
    for step in 1..=bytes.len() {
        assert_eq!(by_stream(&frames(&bytes, step)[..]), whole, "frames of {step} bytes");
    }
    for at in 0..=bytes.len() {
        let (front, back) = bytes.split_at(at);
        let data = [skippable(0), frame(front), skippable(15), frame(back), skippable(7)].concat();
        assert_eq!(by_stream(&data[..]), whole, "split at {at}");
        // Cut exactly between the frames it is judged as the raw data cut there would be.
        let cut = [skippable(3), frame(front)].concat();
        assert_eq!(by_stream(&cut[..]), expected_of_cut(&bytes, &borders, at), "cut at {at}");
    }
    // Compressed nothing, and nothing but what is skipped.
    for data in [frame(b""), skippable(1)] {
        assert_eq!(last_fault(&by_stream(&data[..])).unwrap().kind, "empty");
    }
}

#[test]
fn damaged_compressed_data_is_an_error_wherever_the_damage_is() {
    let (bytes, borders) = (stream(TEACHER, &three()), borders(&three()));
    let whole = expected_of_cut(&bytes, &borders, bytes.len());
    let good = frame(&bytes);
    let mut kinds = std::collections::BTreeMap::new();
    let mut harmless = 0;
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let events = by_stream(&bad[..]);
        if events == whole {
            // A few bits mean nothing: they ask for a larger window, or pad a bit stream.
            harmless += 1;
            continue;
        }
        let fault = last_fault(&events).unwrap_or_else(|| panic!("bit {bit}: no error"));
        *kinds.entry(fault.kind).or_insert(0) += 1;
    }
    assert!(kinds["compression"] > good.len() * 6 && harmless < 16, "{kinds:?}, {harmless} harmless");

    let checksum = good.len() - 4..good.len();
    for at in checksum {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert_eq!(last_fault(&by_stream(&bad[..])).unwrap().kind, "compression");
    }
    // Something else behind the last frame.
    let data = [&good[..], b"something"].concat();
    assert_eq!(last_fault(&by_stream(&data[..])).unwrap().kind, "compression");
}

#[test]
fn concatenated_parts_are_recognised_where_the_second_begins() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk");
    // Under V4's mate scale a second header read as a record claims 256 kB; under VISITS it claims no candidate.
    let long: Vec<_> = (0..400).map(|i| scored(i % 60, 81)).collect();
    for (conventions, records) in [
        (V4_CONVENTIONS, vec![scored(0, 2)]),
        (V4_CONVENTIONS, long),
        (Conventions::VISITS, vec![visited(0, 2)]),
    ] {
        let part = stream(conventions, &records);
        let twice = [&part[..], &part[..]].concat();
        let events = in_every_way(&twice, &path);
        let fault =
            Fault { kind: "second_header", record: Some(records.len() as u64), offset: part.len() as u64 };
        assert_eq!((readers::records(&events), last_fault(&events)), (records.len(), Some(&fault)));
        let compressed = [frame(&part), frame(&part)].concat();
        assert_eq!(by_stream(&compressed[..]), events);
        // Also when the second is cut.
        assert_eq!(in_every_way(&twice[..part.len() + 10], &path), events);
        let cut = [frame(&part), frame(&part)].concat();
        assert_eq!(last_fault(&by_stream(&cut[..cut.len() - 2])).unwrap().kind, "second_header");
    }
}

#[test]
fn a_count_of_65535_at_the_end_is_believed_only_as_far_as_bytes_are_there() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = stream(TEACHER, &three());
    let borders = borders(&three());
    let at = borders[2] + 10;
    bytes[at..at + 2].copy_from_slice(&[0xff, 0xff]);
    let events = in_every_way(&bytes, &dir.path().join("a"));
    let fault = Fault { kind: "truncated", record: Some(2), offset: borders[2] as u64 };
    assert_eq!((readers::records(&events), last_fault(&events)), (2, Some(&fault)));
    let mut reader = SliceReader::new(&bytes).unwrap();
    let error = std::iter::repeat_with(|| reader.next_ref()).find_map(Result::err).unwrap();
    assert!(error.to_string().ends_with("truncated: 148 bytes where at least 524388 belong"), "{error}");
}

/// A reader that is interrupted before every read and gives a few bytes at a time.
struct Interrupted<'a>(&'a [u8], bool);

impl Read for Interrupted<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = buf.len().min(7);
        self.0.read(&mut buf[..len])
    }
}

#[test]
fn interrupted_and_short_reads_change_nothing() {
    let bytes = stream(TEACHER, &three());
    let whole = by_stream(&bytes[..]);
    for data in [bytes.clone(), frame(&bytes), frames(&bytes, 50)] {
        assert_eq!(by_stream(Interrupted(&data, false)), whole);
        assert_eq!(by_stream(OneByte(&data)), whole);
    }
    let cut = &bytes[..200];
    assert_eq!(by_stream(Interrupted(cut, false)), by_stream(cut));
}

/// A reader that fails in its own words once its bytes are used up.
struct Fails<'a>(&'a [u8], fn() -> io::Error);

impl Read for Fails<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err((self.1)()) } else { self.0.read(buf) }
    }
}

#[test]
fn a_failing_source_gives_the_records_before_it_and_is_not_taken_for_damage_or_an_end() {
    let (bytes, borders) = (stream(TEACHER, &three()), borders(&three()));
    let errors: [fn() -> io::Error; 3] = [
        || io::Error::other("the store is gone"),
        || io::ErrorKind::UnexpectedEof.into(),
        || io::Error::from_raw_os_error(5),
    ];
    for error in errors {
        for have in [0, 3, 10, 24, 30, borders[1], borders[2] + 1, bytes.len()] {
            let events = by_stream(Fails(&bytes[..have], error));
            let fault = last_fault(&events).unwrap();
            let whole = borders.iter().filter(|border| **border <= have).count().saturating_sub(1);
            assert_eq!((fault.kind, readers::records(&events)), ("io", whole), "{have}");
            let place = if have < 24 { (None, 0) } else { (Some(whole as u64), borders[whole] as u64) };
            assert_eq!((fault.record, fault.offset), place);
            // The same through zstd, which passes the error on among its own.
            let compressed = frame(&bytes[..have]);
            let events = by_stream(Fails(&compressed, error));
            let fault = last_fault(&events).unwrap();
            assert_eq!((fault.kind, readers::records(&events)), ("io", whole), "compressed {have}");
            assert_eq!((fault.record, fault.offset), place);
        }
    }
}

#[test]
fn a_reader_goes_on_behind_broken_records_however_many_there_are() {
    let dir = tempfile::tempdir().unwrap();
    let mut records: Vec<_> = (0..40).map(|i| scored(i, 1 + usize::from(i % 4))).collect();
    for i in [0, 1, 7, 20, 38, 39] {
        records[i].value_z = f32::NAN;
    }
    let bytes = stream(TEACHER, &records);
    let events = in_every_way(&bytes, &dir.path().join("a"));
    let faults: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Fault(fault) => fault.record,
            _ => None,
        })
        .collect();
    assert_eq!((faults, readers::records(&events)), (vec![0, 1, 7, 20, 38, 39], 34));
}

#[test]
fn compressed_data_is_told_by_content_and_cannot_be_read_in_place() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = stream(TEACHER, &three());
    let whole = by_stream(&bytes[..]);
    let (raw, compressed) = (dir.path().join("raw.mpk.zst"), dir.path().join("compressed.mpk"));
    fs::write(&raw, &bytes).unwrap();
    fs::write(&compressed, frame(&bytes)).unwrap();
    assert_eq!(by_file(&raw), whole);
    assert_eq!(by_file(&compressed), whole);
    assert_eq!(last_fault(&by_slice(&frame(&bytes))).unwrap().kind, "unsupported");
    let error = MappedStream::open(&compressed).unwrap_err();
    assert_eq!((error.kind.id(), error.path), ("unsupported", Some(compressed)));
}

#[test]
fn a_reader_hands_back_what_it_reads_from() {
    let bytes = stream(TEACHER, &three());
    for data in [bytes.clone(), frame(&bytes)] {
        let reader = StreamReader::new(io::Cursor::new(data.clone())).unwrap();
        assert_eq!(reader.into_inner().into_inner(), data);
    }
}

/// Writes parts into a directory.
fn parts(dir: &tempfile::TempDir, parts: &[(&str, Vec<u8>)]) -> Vec<PathBuf> {
    parts
        .iter()
        .map(|(name, bytes)| {
            let path = dir.path().join(name);
            fs::write(&path, bytes).unwrap();
            path
        })
        .collect()
}

/// The plies a set gives, with the file each came from.
fn plies(set: &mut StreamSet) -> Vec<(u16, String)> {
    let mut found = Vec::new();
    while let Some(record) = set.next_ref().unwrap() {
        let ply = record.ply();
        let file = set.current().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        found.push((ply, file));
    }
    found
}

#[test]
fn a_set_is_one_stream_in_the_order_given_raw_and_compressed_alike() {
    let dir = tempfile::tempdir().unwrap();
    let of = |range: std::ops::Range<u16>| stream(TEACHER, &range.map(|i| scored(i, 1)).collect::<Vec<_>>());
    // A version 1 header and a slack that states the fallback say the same.
    let mut old = of(5..6);
    old[4] = 1;
    let stated = stream(Conventions { mate_slack: 320, ..TEACHER }, &[scored(6, 1)]);
    let paths = parts(
        &dir,
        &[
            ("part-00000.mpk.zst", frame(&of(0..2))),
            ("part-00001.mpk", of(2..2)),
            ("part-00002.mpk", of(2..5)),
            ("part-00003.mpk", old),
            ("part-00004.mpk.zst", frames(&stated, 9)),
        ],
    );
    let resolved =
        manaka_core::inputs::resolve(&[dir.path().to_owned()], manaka_core::inputs::STREAM_SUFFIXES).unwrap();
    assert_eq!(resolved.files, paths);
    let mut set = StreamSet::open(resolved.files).unwrap();
    assert_eq!((set.conventions(), set.paths(), set.current()), (&TEACHER, &paths[..], None));
    let expected: Vec<_> = [(100, 0), (101, 0), (102, 2), (103, 2), (104, 2), (105, 3), (106, 4)]
        .map(|(ply, part)| (ply, paths[part].file_name().unwrap().to_string_lossy().into_owned()))
        .into();
    assert_eq!(plies(&mut set), expected);
    assert!(set.next_ref().unwrap().is_none());

    let mut backwards = StreamSet::open(paths.iter().rev().cloned().collect()).unwrap();
    let order: Vec<_> = plies(&mut backwards).into_iter().map(|(ply, _)| ply).collect();
    assert_eq!(order, [106, 105, 102, 103, 104, 100, 101]);
    assert_eq!(StreamSet::open(Vec::new()).err().unwrap().kind.id(), "empty");
}

#[test]
fn parts_that_disagree_are_refused_by_convention_with_both_files_and_both_values() {
    let dir = tempfile::tempdir().unwrap();
    let first = Conventions { mate_scale: 32000, mate_slack: 100, fv_scale: 28, ..TEACHER };
    for (other, key, here, there) in [
        (Conventions { pov: Pov::Black, ..first }, "pov", "black", "side_to_move"),
        (Conventions::VISITS, "policy_source", "visits", "softmax_cp"),
        (Conventions { mate_scale: 30000, ..first }, "mate_scale", "30000", "32000"),
        (Conventions { mate_slack: 0, ..first }, "mate_slack", "320", "100"),
        (Conventions { fv_scale: 0, ..first }, "fv_scale", "0", "28"),
        (Conventions { eval_coef: 1200.5, ..first }, "eval_coef", "1200.5", "1512.173"),
    ] {
        let paths = parts(
            &dir,
            &[
                ("a.mpk", stream(first, &[])),
                ("b.mpk", stream(first, &[])),
                ("c.mpk.zst", frame(&stream(other, &[]))),
            ],
        );
        let error = StreamSet::open(paths.clone()).err().unwrap();
        assert_eq!((error.kind.id(), error.path.as_ref()), ("conflict", Some(&paths[2])));
        let expected = format!("{key} is {here} here and {there} in {}", paths[0].display());
        assert!(error.to_string().ends_with(&expected), "{error}");
        let Kind::Conflict(conflict) = error.kind else { panic!() };
        assert_eq!((conflict.conflict.key, &conflict.other), (key, &paths[0]));
    }
}

#[test]
fn an_error_inside_a_set_names_its_part_and_is_met_once() {
    let dir = tempfile::tempdir().unwrap();
    let part = |i: u16| stream(TEACHER, &[scored(i, 1), scored(i + 1, 2)]);
    let cut = part(2)[..200].to_vec();
    let paths = parts(&dir, &[("a.mpk", part(0)), ("b.mpk", cut), ("c.mpk", part(4)), ("d.mpk", part(6))]);
    let mut set = StreamSet::open(paths.clone()).unwrap();
    // One part disappears and one changes its meaning after the set was opened.
    fs::remove_file(&paths[2]).unwrap();
    fs::write(&paths[3], stream(V4_CONVENTIONS, &[scored(6, 1)])).unwrap();
    let (mut plies, mut errors) = (Vec::new(), Vec::new());
    loop {
        match set.next_ref() {
            Ok(Some(record)) => plies.push(record.ply()),
            Ok(None) => break,
            Err(error) => errors.push((error.kind.id(), error.record, error.offset, error.path.unwrap())),
        }
        assert!(errors.len() < 10, "an error that comes back for ever");
    }
    assert_eq!(plies, [100, 101, 102]);
    let [_, b, c, d] = <[PathBuf; 4]>::try_from(paths).unwrap();
    assert_eq!(errors, [("truncated", Some(1), 24 + 116, b), ("io", None, 0, c), ("conflict", None, 0, d)]);
}
