//! Writers: what appears when, what is refused, what survives an interruption (stream.md §7).

mod readers;
mod sample;

use manaka_core::conventions::NO_OUTCOME;
use manaka_core::stream::{
    Compression, Error, FileSink, Header, PartsOptions, PartsWriter, Record, RecordRef, StreamReader,
    StreamSet, StreamWriter,
};
use manaka_core::{Conventions, Move16};
use readers::{by_file, by_stream, frame, in_every_way, last_fault};
use sample::{V4_CONVENTIONS, borders, scored, stream, three, visited};
use std::fs;
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::path::Path;

const TEACHER: Conventions = Conventions::TEACHER;

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A disk that takes so many bytes and no more.
struct Full(Vec<u8>, usize);

impl Write for Full {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let room = self.1.saturating_sub(self.0.len()).min(buf.len());
        if room == 0 && !buf.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.extend_from_slice(&buf[..room]);
        Ok(room)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_failed_write_poisons_the_writer_wherever_it_failed() {
    let (records, borders) = (three(), borders(&three()));
    let bytes = stream(TEACHER, &records);
    for room in 0..bytes.len() {
        let mut disk = Full(Vec::new(), room);
        let mut writer = match StreamWriter::new(&mut disk, TEACHER) {
            Ok(writer) => writer,
            Err(error) => {
                assert!(room < 24);
                assert_eq!((error.kind.id(), error.record, error.offset), ("io", None, 0));
                continue;
            }
        };
        let failed = records.iter().position(|record| match writer.write(record) {
            Ok(()) => false,
            Err(error) => {
                let written = writer.summary().records;
                let offset = borders[usize::try_from(written).unwrap()] as u64;
                assert_eq!((error.kind.id(), error.record, error.offset), ("io", Some(written), offset));
                true
            }
        });
        let whole = borders.iter().filter(|border| **border <= room).count() - 1;
        assert_eq!(failed, Some(whole), "room for {room} bytes");
        // A small record that would fit is not written either.
        assert_eq!(writer.write(&scored(0, 1)).unwrap_err().kind.id(), "poisoned");
        let again = RecordRef::frame(&bytes[24..]).unwrap();
        assert_eq!(writer.write_ref(again).unwrap_err().kind.id(), "poisoned");
        assert_eq!(writer.summary().records, whole as u64);
        assert_eq!(writer.into_inner().err().unwrap().kind.id(), "poisoned");
        assert_eq!(disk.0, bytes[..room]);
    }
}

#[test]
fn a_file_appears_with_its_name_only_when_it_is_finished() {
    for compression in [Compression::None, Compression::DEFAULT] {
        let dir = tempfile::tempdir().unwrap();
        let name = format!("a{}", compression.suffix());
        let path = dir.path().join(&name);
        let write = || {
            let mut writer = StreamWriter::create(&path, TEACHER, compression).unwrap();
            three().iter().for_each(|record| writer.write(record).unwrap());
            assert_eq!(names(dir.path()), [format!("{name}.tmp")]);
            writer
        };
        // Dropped: nothing stays, under no name.
        drop(write());
        assert_eq!(names(dir.path()).len(), 0);
        // Two writers cannot share a name, whole or not.
        let writer = write();
        let error = StreamWriter::create(&path, TEACHER, compression).err().unwrap();
        assert_eq!((error.kind.id(), error.path.as_deref()), ("io", Some(&*path)));

        let (summary, bytes) = writer.finish().unwrap();
        assert_eq!(names(dir.path()), [&*name]);
        assert_eq!((summary.records, summary.bytes), (3, 116 + 132 + 148));
        assert_eq!(bytes, fs::metadata(&path).unwrap().len());
        assert_eq!(by_file(&path), by_stream(&stream(TEACHER, &three())[..]));
        let error = StreamWriter::create(&path, TEACHER, compression).err().unwrap();
        assert_eq!((error.kind.id(), names(dir.path())), ("io", vec![name]));
    }
}

#[test]
fn a_raw_part_is_its_records_and_a_compressed_one_is_one_frame_with_a_checksum() {
    let dir = tempfile::tempdir().unwrap();
    let write = |compression: Compression| {
        let path = dir.path().join(format!("a{}", compression.suffix()));
        let mut writer = StreamWriter::create(&path, TEACHER, compression).unwrap();
        three().iter().for_each(|record| writer.write(record).unwrap());
        writer.finish().unwrap();
        fs::read(path).unwrap()
    };
    let raw = write(Compression::None);
    assert_eq!(raw, stream(TEACHER, &three()));
    let compressed = write(Compression::Zstd { level: 1 });
    assert_eq!(compressed[..4], [0x28, 0xb5, 0x2f, 0xfd]);
    assert_eq!(compressed[4] & 0b100, 0b100, "the frame has a content checksum");
    let mut one_frame = zstd::stream::read::Decoder::new(&compressed[..]).unwrap().single_frame();
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut one_frame, &mut bytes).unwrap();
    assert_eq!(bytes, raw);
    assert!(one_frame.finish().fill_buf_is_empty(), "one frame and nothing behind it");
}

/// Whether a buffered reader has nothing more.
trait AtEnd {
    fn fill_buf_is_empty(self) -> bool;
}

impl<R: io::BufRead> AtEnd for R {
    fn fill_buf_is_empty(mut self) -> bool {
        self.fill_buf().unwrap().is_empty()
    }
}

#[test]
fn a_torn_file_reopened_at_any_cut_becomes_the_stream_it_would_have_been() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk");
    let records = three();
    let (bytes, borders) = (stream(TEACHER, &records), borders(&records));
    for have in 0..=bytes.len() {
        fs::write(&path, &bytes[..have]).unwrap();
        let (mut writer, found) = StreamWriter::append(&path, TEACHER).unwrap();
        let whole = borders.iter().filter(|border| **border <= have).count().saturating_sub(1);
        let keep = if have < 24 { 0 } else { borders[whole] };
        assert_eq!((found.records, found.cut), (whole as u64, (have - keep) as u64), "cut at {have}");
        // Opening alone already leaves a whole stream.
        assert_eq!(fs::read(&path).unwrap(), bytes[..keep.max(24)], "cut at {have}");
        for record in &records[whole..] {
            writer.write(record).unwrap();
        }
        let (summary, len) = writer.finish().unwrap();
        assert_eq!((summary.records, len), (3 - whole as u64, bytes.len() as u64));
        assert_eq!(fs::read(&path).unwrap(), bytes, "cut at {have}");
    }
}

#[test]
fn an_appended_file_keeps_what_was_written_when_the_writer_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk");
    let records = three();
    let (mut writer, found) = StreamWriter::append(&path, TEACHER).unwrap();
    assert_eq!((found.records, found.cut), (0, 0));
    assert_eq!(names(dir.path()), ["a.mpk"], "an appended file has its name from the start");
    writer.write(&records[0]).unwrap();
    writer.sync().unwrap();
    assert_eq!(fs::read(&path).unwrap(), stream(TEACHER, &records[..1]));
    writer.write(&records[1]).unwrap();
    drop(writer);
    let (mut writer, found) = StreamWriter::append(&path, TEACHER).unwrap();
    assert_eq!((found.records, found.cut), (2, 0));
    writer.write(&records[2]).unwrap();
    writer.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), stream(TEACHER, &records));
}

#[test]
fn errors_of_an_appending_writer_count_from_the_start_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk");
    fs::write(&path, stream(TEACHER, &three())).unwrap();
    let (mut writer, _) = StreamWriter::append(&path, TEACHER).unwrap();
    let mut bad = scored(3, 1);
    bad.value_q = 7.0;
    let place = |error: Error| (error.kind.id(), error.record, error.offset, error.path.unwrap());
    assert_eq!(
        place(writer.write(&bad).unwrap_err()),
        ("value_q", Some(3), 24 + 116 + 132 + 148, path.clone())
    );
    writer.write(&scored(3, 1)).unwrap();
    assert_eq!(
        place(writer.write(&bad).unwrap_err()),
        ("value_q", Some(4), 24 + 116 + 132 + 148 + 116, path)
    );
}

#[test]
fn appending_goes_on_under_the_header_that_stands_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk");
    let mut bytes = stream(TEACHER, &three());
    bytes[4] = 1;
    fs::write(&path, &bytes).unwrap();
    let (mut writer, _) = StreamWriter::append(&path, TEACHER).unwrap();
    assert_eq!(writer.header().version, 1);
    writer.write(&scored(9, 2)).unwrap();
    writer.finish().unwrap();
    let grown = fs::read(&path).unwrap();
    assert_eq!(grown[..bytes.len()], bytes);
    assert_eq!(readers::records(&in_every_way(&grown, &dir.path().join("b"))), 4);
}

#[test]
fn nothing_is_appended_to_what_is_no_whole_stream_of_the_same_conventions() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk");
    let whole = stream(TEACHER, &three());
    let mut damaged = whole.clone();
    damaged[24 + 116 + 10..][..2].fill(0);
    let mut unread = whole.clone();
    unread[4] = 4;
    let other = |conventions| stream(conventions, &[]);
    for (id, bytes) in [
        ("unsupported", frame(&whole)),
        ("unsupported", other(V4_CONVENTIONS)),
        ("unsupported", other(Conventions { eval_coef: 1.0, ..TEACHER })),
        ("unsupported", other(Conventions::VISITS)),
        ("no_candidates", damaged),
        ("second_header", [&whole[..], &whole[..]].concat()),
        ("version", unread),
        ("magic", b"a text that somebody needs".to_vec()),
        // Shorter than a header, and not the start of ours.
        ("truncated", other(V4_CONVENTIONS)[..20].to_vec()),
        ("truncated", b"MP4".to_vec()),
        ("truncated", frame(&whole)[..3].to_vec()),
    ] {
        fs::write(&path, &bytes).unwrap();
        let error = StreamWriter::append(&path, TEACHER).err().unwrap();
        assert_eq!((error.kind.id(), error.path.as_deref()), (id, Some(&*path)), "{error}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "{id}: the file is as it was");
    }
}

/// The record without its outcome.
fn unknown(record: Record) -> Record {
    Record { value_z: NO_OUTCOME, ..record }
}

/// The bytes of a stream of version 3.
fn version_3(records: &[Record]) -> Vec<u8> {
    let mut bytes = stream(TEACHER, records);
    bytes[4] = 3;
    bytes
}

#[test]
fn a_writer_that_was_not_told_refuses_an_absent_outcome_and_stays_of_version_2() {
    let dir = tempfile::tempdir().unwrap();
    let records = [scored(0, 2), unknown(scored(1, 3)), scored(2, 1)];
    for compression in [Compression::None, Compression::DEFAULT] {
        let path = dir.path().join(format!("a{}", compression.suffix()));
        let mut writer = StreamWriter::create(&path, TEACHER, compression).unwrap();
        writer.write(&records[0]).unwrap();
        let error = writer.write(&records[1]).unwrap_err();
        assert_eq!((error.kind.id(), error.record, error.offset), ("value_z", Some(1), 148));
        writer.write(&records[2]).unwrap();
        writer.finish().unwrap();
        let sound = stream(TEACHER, &[records[0].clone(), records[2].clone()]);
        assert_eq!(by_file(&path), by_stream(&sound[..]));
    }
    let mut writer = StreamWriter::new(Vec::new(), TEACHER).unwrap();
    assert_eq!(writer.write(&records[1]).unwrap_err().kind.id(), "value_z");
    // What cannot be gone back in says so from its start.
    let header = Header::new(TEACHER).allowing_absent_outcomes();
    let mut writer = StreamWriter::with_header(Vec::new(), header).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    assert_eq!(writer.into_inner().unwrap().0, version_3(&records));
}

/// Where the first record without an outcome stands, if one does.
fn cases() -> Vec<Vec<Record>> {
    let known = |n: u16| (0..n).map(|i| scored(i, 1 + usize::from(i % 5))).collect::<Vec<_>>();
    let mut cases = vec![known(0), known(4)];
    for at in [0, 1, 3] {
        let mut records = known(4);
        records[at].value_z = NO_OUTCOME;
        cases.push(records);
    }
    let mut late = known(60);
    late[57].value_z = NO_OUTCOME;
    late[59].value_z = NO_OUTCOME;
    cases.push(late);
    cases
}

/// The whole content of a part, raw or of one frame.
fn content(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    if bytes.starts_with(b"MPK1") {
        return bytes;
    }
    let mut frame = zstd::stream::read::Decoder::new(&bytes[..]).unwrap().single_frame();
    let mut content = Vec::new();
    io::Read::read_to_end(&mut frame, &mut content).unwrap();
    assert!(frame.finish().fill_buf_is_empty(), "one frame and nothing behind it");
    content
}

#[test]
fn a_part_is_of_version_3_exactly_when_a_record_of_it_has_no_outcome() {
    for compression in [Compression::None, Compression::DEFAULT] {
        for records in cases() {
            let dir = tempfile::tempdir().unwrap();
            let name = format!("a{}", compression.suffix());
            let path = dir.path().join(&name);
            let mut writer = StreamWriter::create(&path, TEACHER, compression).unwrap();
            writer.allow_absent_outcomes();
            for record in &records {
                writer.write(record).unwrap();
                assert_eq!(names(dir.path()), [format!("{name}.tmp")], "no name before it is whole");
            }
            let absent = records.iter().any(|record| record.outcome().is_none());
            assert_eq!(writer.header().version, if absent { 3 } else { 2 });
            let (summary, bytes) = writer.finish().unwrap();
            let expected = if absent { version_3(&records) } else { stream(TEACHER, &records) };
            assert_eq!(content(&path), expected);
            assert_eq!((summary.records, summary.bytes + 24), (records.len() as u64, expected.len() as u64));
            assert_eq!((names(dir.path()), bytes), (vec![name], fs::metadata(&path).unwrap().len()));
            if !absent {
                // Nobody can tell that it was allowed.
                let other = dir.path().join(format!("b{}", compression.suffix()));
                let mut writer = StreamWriter::create(&other, TEACHER, compression).unwrap();
                records.iter().for_each(|record| writer.write(record).unwrap());
                writer.finish().unwrap();
                assert_eq!(fs::read(&path).unwrap(), fs::read(&other).unwrap());
            }
        }
    }
}

#[test]
fn a_compressed_part_of_many_blocks_loses_nothing_when_it_is_compressed_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk.zst");
    let mut records: Vec<Record> = (0..9000).map(|i| scored(i % 64, 40)).collect();
    records[8990].value_z = NO_OUTCOME;
    let mut writer = StreamWriter::create(&path, TEACHER, Compression::Zstd { level: 1 }).unwrap();
    writer.allow_absent_outcomes();
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.finish().unwrap();
    assert_eq!(content(&path), version_3(&records));
    assert_eq!(fs::read(&path).unwrap()[4] & 0b100, 0b100, "the frame has a content checksum");
}

#[test]
fn a_record_that_is_refused_raises_no_version() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk");
    let mut writer = StreamWriter::create(&path, TEACHER, Compression::None).unwrap();
    writer.allow_absent_outcomes();
    let mut bad = unknown(scored(0, 2));
    bad.value_q = 7.0;
    assert_eq!(writer.write(&bad).unwrap_err().kind.id(), "value_q");
    writer.write(&scored(1, 1)).unwrap();
    writer.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), stream(TEACHER, &[scored(1, 1)]));
}

#[test]
fn the_header_of_an_appended_file_allows_what_stands_behind_it_at_every_moment() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk");
    for version in [1, 2] {
        let mut before = stream(TEACHER, &[scored(0, 2)]);
        before[4] = version;
        fs::write(&path, &before).unwrap();
        let (mut writer, _) = StreamWriter::append(&path, TEACHER).unwrap();
        assert_eq!(writer.write(&unknown(scored(1, 3))).unwrap_err().kind.id(), "value_z");
        writer.allow_absent_outcomes();
        writer.write(&scored(2, 1)).unwrap();
        writer.sync().unwrap();
        assert_eq!(fs::read(&path).unwrap()[..before.len()], before, "no record needs more yet");
        writer.write(&unknown(scored(1, 3))).unwrap();
        // The record waits in a buffer; the version does not.
        let on_disk = fs::read(&path).unwrap();
        assert_eq!(on_disk, version_3(&[scored(0, 2), scored(2, 1)]));
        drop(writer);
        let all = [scored(0, 2), scored(2, 1), unknown(scored(1, 3))];
        assert_eq!(fs::read(&path).unwrap(), version_3(&all));

        // A header that allows it goes on allowing it; at any cut the file is taken up again.
        let whole = version_3(&all);
        for have in 0..=whole.len() {
            fs::write(&path, &whole[..have]).unwrap();
            let (mut writer, found) = StreamWriter::append(&path, TEACHER).unwrap();
            writer.allow_absent_outcomes();
            for record in &all[usize::try_from(found.records).unwrap()..] {
                writer.write(record).unwrap();
            }
            writer.finish().unwrap();
            assert_eq!(fs::read(&path).unwrap(), whole, "cut at {have}");
        }
    }
}

#[test]
fn only_a_file_that_is_appended_to_can_be_synced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk");
    let mut writer: StreamWriter<FileSink> = StreamWriter::create(&path, TEACHER, Compression::None).unwrap();
    assert_eq!(writer.sync().unwrap_err().kind.id(), "unsupported");
    writer.write(&scored(0, 1)).unwrap();
    writer.finish().unwrap();
}

fn options(records_per_part: u64, compression: Compression) -> PartsOptions {
    PartsOptions {
        conventions: TEACHER,
        records_per_part: NonZeroU64::new(records_per_part).unwrap(),
        compression,
    }
}

#[test]
fn a_run_is_cut_exactly_at_the_records_per_part() {
    for compression in [Compression::None, Compression::DEFAULT] {
        for (records, per_part) in [(0, 3), (1, 3), (2, 3), (3, 3), (4, 3), (6, 3), (7, 3), (3, 1), (5, 100)]
        {
            let dir = tempfile::tempdir().unwrap();
            let mut writer = PartsWriter::create(dir.path(), options(per_part, compression)).unwrap();
            let all: Vec<_> = (0..records).map(|i| scored(i, 1 + usize::from(i % 3))).collect();
            for (i, record) in all.iter().enumerate() {
                if i % 2 == 0 {
                    writer.write(record).unwrap();
                } else {
                    writer.write_ref(RecordRef::frame(&readers::encode(record)).unwrap()).unwrap();
                }
            }
            let summary = writer.finish().unwrap();

            let parts: Vec<&[_]> = if all.is_empty() {
                vec![&[]]
            } else {
                all.chunks(usize::try_from(per_part).unwrap()).collect()
            };
            let expected: Vec<String> =
                (0..parts.len()).map(|i| format!("part-0000{i}{}", compression.suffix())).collect();
            assert_eq!(names(dir.path()), expected);
            assert_eq!(summary.paths, expected.iter().map(|name| dir.path().join(name)).collect::<Vec<_>>());
            let bytes: u64 = summary.paths.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
            assert_eq!((summary.records, summary.bytes), (u64::from(records), bytes));
            for (path, records) in summary.paths.iter().zip(parts) {
                assert_eq!(by_file(path), by_stream(&stream(TEACHER, records)[..]), "{}", path.display());
            }
            let mut set = StreamSet::open(summary.paths).unwrap();
            for record in &all {
                assert_eq!(set.next_ref().unwrap().unwrap().bytes(), readers::encode(record));
            }
            assert!(set.next_ref().unwrap().is_none());
        }
    }
}

#[test]
fn the_parts_of_a_run_are_of_version_3_one_by_one_and_are_read_as_one_set() {
    for compression in [Compression::None, Compression::DEFAULT] {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = PartsWriter::create(dir.path(), options(2, compression)).unwrap();
        assert_eq!(writer.write(&unknown(scored(9, 1))).unwrap_err().kind.id(), "value_z");
        writer.allow_absent_outcomes();
        let records: Vec<Record> =
            (0..7).map(|i| if i == 1 || i == 4 { unknown(scored(i, 2)) } else { scored(i, 2) }).collect();
        records.iter().for_each(|record| writer.write(record).unwrap());
        let summary = writer.finish().unwrap();
        let versions: Vec<u16> =
            summary.paths.iter().map(|path| StreamReader::open(path).unwrap().header().version).collect();
        assert_eq!(versions, [3, 2, 3, 2]);
        let mut set = StreamSet::open(summary.paths).unwrap();
        for record in &records {
            assert_eq!(set.next_ref().unwrap().unwrap().bytes(), readers::encode(record));
        }
        assert!(set.next_ref().unwrap().is_none());
    }
}

#[test]
fn a_part_appears_when_the_next_one_begins_and_a_dropped_run_leaves_only_whole_parts() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = PartsWriter::create(dir.path(), options(2, Compression::None)).unwrap();
    assert_eq!(names(dir.path()), ["part-00000.mpk.tmp"]);
    for i in 0..5 {
        writer.write(&scored(i, 1)).unwrap();
    }
    assert_eq!(names(dir.path()), ["part-00000.mpk", "part-00001.mpk", "part-00002.mpk.tmp"]);
    drop(writer);
    assert_eq!(names(dir.path()), ["part-00000.mpk", "part-00001.mpk"]);
}

#[test]
fn a_refused_record_shifts_no_border_and_leaves_no_empty_part() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = PartsWriter::create(dir.path(), options(2, Compression::None)).unwrap();
    let mut bad = scored(0, 1);
    bad.candidates[0].mv = Move16::from_bits(u16::MAX);
    for i in 0..4 {
        assert_eq!(writer.write(&bad).unwrap_err().kind.id(), "move16");
        writer.write(&scored(i, 1)).unwrap();
    }
    // This one finds the last part full and begins another for nothing.
    assert_eq!(writer.write(&bad).unwrap_err().kind.id(), "move16");
    let summary = writer.finish().unwrap();
    assert_eq!(
        (summary.records, names(dir.path())),
        (4, vec!["part-00000.mpk".into(), "part-00001.mpk".into()])
    );
    assert_eq!(by_file(&summary.paths[1]), by_stream(&stream(TEACHER, &[scored(2, 1), scored(3, 1)])[..]));
}

#[test]
fn a_directory_with_parts_of_another_run_is_refused_before_anything_is_written() {
    for name in [
        "part-00000.mpk",
        "part-00000.mpk.zst",
        "part-00007.mpk",
        "part-00003.mpk.zst.tmp",
        "part-00000.mpk.tmp",
        "part-one.mpk",
    ] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(name), b"").unwrap();
        let error = PartsWriter::create(dir.path(), options(2, Compression::DEFAULT)).err().unwrap();
        assert_eq!(error.path, Some(dir.path().join(name)));
        let manaka_core::stream::Kind::Io(io) = &error.kind else { panic!("{error}") };
        assert_eq!((io.kind(), names(dir.path())), (io::ErrorKind::AlreadyExists, vec![name.to_owned()]));
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("README.md"), b"").unwrap();
    fs::write(dir.path().join("report.json"), b"").unwrap();
    PartsWriter::create(dir.path(), options(2, Compression::DEFAULT)).unwrap().finish().unwrap();
    let missing = dir.path().join("missing");
    let error = PartsWriter::create(&missing, options(2, Compression::DEFAULT)).err().unwrap();
    assert_eq!((error.kind.id(), error.path), ("io", Some(missing)));
}

#[test]
fn a_run_that_lost_a_part_writes_nothing_more() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = PartsWriter::create(dir.path(), options(2, Compression::None)).unwrap();
    for i in 0..2 {
        writer.write(&scored(i, 1)).unwrap();
    }
    // Someone takes the file away under its temporary name.
    fs::remove_file(dir.path().join("part-00000.mpk.tmp")).unwrap();
    assert_eq!(writer.write(&scored(2, 1)).unwrap_err().kind.id(), "io");
    assert_eq!(writer.write(&scored(2, 1)).unwrap_err().kind.id(), "poisoned");
    assert_eq!(writer.finish().unwrap_err().kind.id(), "poisoned");
    assert_eq!(names(dir.path()).len(), 0);
}

#[test]
fn a_writer_of_visits_refuses_scores_and_the_other_way_round() {
    let mut writer = StreamWriter::new(Vec::new(), Conventions::VISITS).unwrap();
    assert_eq!(writer.write(&scored(0, 2)).unwrap_err().kind.id(), "missing_half");
    writer.write(&visited(0, 2)).unwrap();
    let mut writer = StreamWriter::new(Vec::new(), TEACHER).unwrap();
    assert_eq!(writer.write(&visited(0, 2)).unwrap_err().kind.id(), "missing_half");
}

#[test]
fn an_unfinished_compressed_file_read_under_its_temporary_name_is_truncated() {
    // What a killed run leaves behind: readable up to the last whole record, and never taken for whole.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk.zst");
    let mut writer = StreamWriter::create(&path, TEACHER, Compression::DEFAULT).unwrap();
    for i in 0..9000 {
        writer.write(&scored(i % 64, 40)).unwrap();
    }
    let left = fs::read(dir.path().join("a.mpk.zst.tmp")).unwrap();
    if !left.is_empty() {
        assert_eq!(last_fault(&by_stream(&left[..])).unwrap().kind, "truncated");
    }
    let (summary, _) = writer.finish().unwrap();
    let mut reader = StreamReader::open(&path).unwrap();
    let mut record = manaka_core::stream::Record::default();
    let mut records = 0;
    while reader.read_record(&mut record).unwrap() {
        records += 1;
    }
    assert_eq!(records, summary.records);
}
