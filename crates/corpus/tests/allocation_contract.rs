//! What pages and footers state is no memory: a small file that agrees with itself on billions of elements is an error
//! before there is room for them.

mod corpus_writer;

use allocation_counter::measure;
use corpus_writer::*;
use manaka_corpus::{CorpusFile, Error, Rows};
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
use parquet::file::properties::WriterVersion;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Elements of a page, and pages: six billion elements.
const MANY: u32 = i32::MAX as u32;
const PAGES: u32 = 3;
/// What an error may take, and rows of the longest lists that are read.
const BOUND: u64 = 64 << 20;

/// Places of columns in the files of this test.
const SFEN: usize = 0;
const CAND_MOVE: usize = 5;
const CAND_CP: usize = 6;

/// Parquet's numbers for encodings.
const PLAIN: u32 = 0;
const DELTA_LENGTHS: u32 = 6;
const DELTA_TEXTS: u32 = 7;
const DICTIONARY: u32 = 8;

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Fields of a Thrift struct that follow one another, all of them i32.
fn fields(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|&value| [vec![0x15], varint(2 * u64::from(value))].concat()).collect()
}

/// A run of equal levels or indices.
fn run(value: u8, count: u32) -> Vec<u8> {
    [varint(2 * u64::from(count)), vec![value]].concat()
}

fn lengths(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_le_bytes(), bytes].concat()
}

fn page(kind: u32, len: usize, own: &[&[u8]]) -> Vec<u8> {
    let len = u32::try_from(len).unwrap();
    [&fields(&[kind, len, len]), &own.concat()[..], &[0]].concat()
}

fn dictionary(count: u32, values: &[u8]) -> Vec<u8> {
    // Field 7: count, encoding.
    [page(2, values.len(), &[&[0x4C], &fields(&[count, PLAIN]), &[0]]), values.to_vec()].concat()
}

/// A data page of version 1: levels in runs, then values.
fn first(count: u32, encoding: u32, levels: &[&[u8]], values: &[u8]) -> Vec<u8> {
    let body = [levels.iter().flat_map(|levels| lengths(levels)).collect(), values.to_vec()].concat();
    // Field 5: count, encoding, those of both levels.
    [page(0, body.len(), &[&[0x2C], &fields(&[count, encoding, 3, 3]), &[0]]), body].concat()
}

/// The same of version 2, with one row in it.
fn second(count: u32, encoding: u32, levels: &[&[u8]], values: &[u8]) -> Vec<u8> {
    let [rep, def] = [0, 1].map(|at| u32::try_from(levels[at].len()).unwrap());
    let body = [&levels.concat(), values].concat();
    // Field 8: count, nulls, rows, encoding, bytes of both levels, not compressed.
    let own = fields(&[count, 0, 1, encoding, def, rep]);
    [page(3, body.len(), &[&[0x5C], &own, &[0x12, 0]]), body].concat()
}

/// A sound file of one row, in which one column has other pages, and a footer that knows no other ones.
fn forged(dir: &Path, column: usize, values: u64, pages: &[Vec<u8>], has_dictionary: bool) -> PathBuf {
    let path = dir.join("corpus.parquet");
    write(
        &path,
        &Layout { compression: Compression::UNCOMPRESSED, ..Layout::default() },
        &[RowSpec::sound()],
    );
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&File::open(&path).unwrap()).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let footer = bytes[bytes.len() - 8..][..4].try_into().map(u32::from_le_bytes).unwrap() as usize;
    bytes.truncate(bytes.len() - 8 - footer);

    let group = metadata.row_group(0).clone();
    let mut chunks = group.columns().to_vec();
    let at = bytes.len() as i64;
    let data = at + if has_dictionary { pages[0].len() as i64 } else { 0 };
    chunks[column] = chunks[column]
        .clone()
        .into_builder()
        .set_num_values(i64::try_from(values).unwrap())
        .set_total_compressed_size(pages.iter().map(Vec::len).sum::<usize>() as i64)
        .set_dictionary_page_offset(has_dictionary.then_some(at))
        .set_data_page_offset(data)
        .build()
        .unwrap();
    bytes.extend(pages.concat());
    let group = group.into_builder().set_column_metadata(chunks).build().unwrap();
    let metadata = metadata.into_builder().set_row_groups(vec![group]).build();
    ParquetMetaDataWriter::new(&mut bytes, &metadata).finish().unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

/// All rows: how many candidates each list has.
fn read(path: &Path) -> Result<Vec<(usize, usize)>, Error> {
    let file = CorpusFile::open(path)?;
    let (mut rows, mut lens) = (Rows::default(), Vec::new());
    for group in 0..file.row_groups() {
        let mut batches = file.batches(group)?;
        while batches.read(&mut rows)? {
            lens.extend(
                rows.iter().map(|row| (row.cand_move().unwrap().len(), row.cand_cp().unwrap().len())),
            );
        }
    }
    Ok(lens)
}

fn refused(path: &Path, what: &str) -> String {
    let mut error = String::new();
    let taken = measure(|| error = read(path).unwrap_err().to_string()).bytes_max;
    assert!(taken < BOUND, "{what}: {taken} bytes of memory: {error}");
    error
}

#[test]
fn six_billion_elements_in_a_few_runs_are_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let ints = 7i64.to_le_bytes().to_vec();
    let text = lengths(b"7g7f");
    for (name, column, value) in [("cand_cp", CAND_CP, &ints), ("cand_move", CAND_MOVE, &text)] {
        for (version, data) in [(1, first as fn(_, _, &[&[u8]], &[u8]) -> _), (2, second)] {
            // A value of the dictionary each, or a null each.
            for null in [false, true] {
                let def = run(if null { 2 } else { 3 }, MANY);
                let values = [vec![1], if null { Vec::new() } else { run(0, MANY) }].concat();
                let mut pages = vec![dictionary(1, value)];
                pages.extend((0..PAGES).map(|at| {
                    let rep = if at == 0 { [run(0, 1), run(1, MANY - 1)].concat() } else { run(1, MANY) };
                    data(MANY, DICTIONARY, &[&rep, &def], &values)
                }));
                let path = forged(dir.path(), column, u64::from(MANY) * u64::from(PAGES), &pages, true);
                assert!(std::fs::metadata(&path).unwrap().len() < 5000);
                let what = format!("{name}, version {version}, null {null}");
                let error = refused(&path, &what);
                assert!(error.contains(name), "{what}: {error}");
                assert!(error.contains("512 rows have more than 1048576 elements"), "{what}: {error}");
            }
        }
    }
}

#[test]
fn a_dictionary_that_states_more_values_than_it_has_bytes_for_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let levels: [&[u8]; 2] = [&[run(0, 1), run(1, 1)].concat(), &run(3, 2)];
    let values = [vec![1], run(0, 2)].concat();
    for (column, value) in [(CAND_CP, 7i64.to_le_bytes().to_vec()), (CAND_MOVE, lengths(b"7g7f"))] {
        for data in [first(2, DICTIONARY, &levels, &values), second(2, DICTIONARY, &levels, &values)] {
            let sound = forged(dir.path(), column, 2, &[dictionary(1, &value), data.clone()], true);
            assert_eq!(read(&sound).unwrap(), [(2, 2)]);
            let path = forged(dir.path(), column, 2, &[dictionary(MANY, &value), data], true);
            let error = refused(&path, "a dictionary");
            assert!(error.contains("states more values than its bytes can hold"), "{error}");
        }
    }
}

#[test]
fn levels_that_are_packed_without_runs_are_read_and_bounded() {
    let dir = tempfile::tempdir().unwrap();
    // Encoding 4 for the repetition levels: one bit, no length.
    let packed = |count: u32| {
        let body = [&[0][..], &lengths(&run(3, count)), &7i64.to_le_bytes()].concat();
        let own = [&[0x2C][..], &fields(&[count, PLAIN, 3, 4]), &[0]];
        forged(
            dir.path(),
            CAND_CP,
            count.into(),
            &[[page(0, body.len(), &own), body.clone()].concat()],
            false,
        )
    };
    assert_eq!(read(&packed(1)).unwrap(), [(2, 1)]);
    let error = refused(&packed(MANY), "packed levels");
    assert!(error.contains("more than 1048576 elements"), "{error}");
}

/// A header of packed differences, and a first value.
fn deltas(count: u64, first: u64) -> Vec<u8> {
    [varint(128), varint(4), varint(count), varint(2 * first)].concat()
}

#[test]
fn texts_that_a_delta_encoding_states_and_does_not_have_are_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let sfen = |encoding, parts: &[&[u8]]| {
        forged(dir.path(), SFEN, 1, &[first(1, encoding, &[&run(1, 1)], &parts.concat())], false)
    };
    assert_eq!(read(&sfen(DELTA_LENGTHS, &[&deltas(1, 3), b"abc"])).unwrap().len(), 1);
    assert_eq!(read(&sfen(DELTA_TEXTS, &[&deltas(1, 0), &deltas(1, 3), b"abc"])).unwrap().len(), 1);
    for many in [2, 1 << 33, 1 << 40] {
        for path in [
            sfen(DELTA_LENGTHS, &[&deltas(many, 3), b"abc"]),
            sfen(DELTA_TEXTS, &[&deltas(many, 0), &deltas(1, 3), b"abc"]),
            sfen(DELTA_TEXTS, &[&deltas(1, 0), &deltas(many, 3), b"abc"]),
            // A length below 0 hides nothing behind it.
            sfen(DELTA_TEXTS, &[&varint(128), &varint(4), &varint(1), &varint(1), &deltas(many, 3), b"abc"]),
        ] {
            let error = refused(&path, "texts");
            assert!(error.contains(&format!("a page states {many} texts; it can have 1")), "{error}");
        }
    }
}

#[test]
fn texts_that_share_their_beginnings_are_not_written_out_beyond_the_bound_of_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corpus.parquet");
    // A page of a megabyte; its texts have 400.
    let long = RowSpec::sound().with(|row| row.sfen = Some(vec![b'x'; 1 << 20]));
    let layout = Layout {
        dictionary: false,
        text_encoding: Some(Encoding::DELTA_BYTE_ARRAY),
        version: WriterVersion::PARQUET_2_0,
        ..Layout::default()
    };
    write(&path, &layout, &vec![long.clone(); 400]);
    assert!(std::fs::metadata(&path).unwrap().len() < 1 << 20);
    let error = refused(&path, "beginnings");
    assert!(error.contains("share their beginnings"), "{error}");
    write(&path, &layout, &vec![long; 20]);
    assert_eq!(read(&path).unwrap().len(), 20);
}

/// Lists that are far too long for a record are rows to refuse, not damage.
#[test]
fn long_lists_are_read_by_both_readers_up_to_the_same_bound() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corpus.parquet");
    let long = |len: usize| RowSpec::sound().candidates(&vec![("7g7f", 35); len]);
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let layout = Layout { version, ..Layout::default() };
        write(&path, &layout, &[long(70_000), long(1)]);
        assert_eq!(read(&path).unwrap(), [(70_000, 70_000), (1, 1)]);
        // Two steps: as many as there may be, with an empty list among them.
        let mut rows = vec![long(2048); 1024];
        (rows[3], rows[4]) = (long(0), long(4095));
        write(&path, &layout, &rows);
        let lens = read(&path).unwrap();
        assert_eq!((lens.len(), lens[3].0, lens[4].0), (1024, 0, 4095));
        for at in [4, 1023] {
            let mut rows = rows.clone();
            rows[at] = long(rows[at].cand_cp.as_ref().unwrap().len() + 1);
            write(&path, &layout, &rows);
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains("cand_move") && error.contains("more than 1048576 elements"), "{error}");
        }
    }
}
