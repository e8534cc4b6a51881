//! Whatever is wrong with a shard is an error that names the file: never a panic, never an early end.

mod naive;
mod shards;

use manaka_load::features::PositionFault;
use manaka_load::{Batch, Error, FeatureSet, Loader, Options, PolicyTarget, RawColumns, RowFault, ShardSet};
use naive::outs;
use parquet::file::metadata::{
    FileMetaData, ParquetMetaData, ParquetMetaDataBuilder, ParquetMetaDataReader, ParquetMetaDataWriter,
};
use shards::{Row, Shard, rows, shard};
use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

fn everything(threads: usize) -> Options {
    Options {
        batch_size: NonZeroUsize::new(16).unwrap(),
        threads: NonZeroUsize::new(threads).unwrap(),
        features: FeatureSet::HalfKp,
        policy: PolicyTarget::Sparse,
        columns: RawColumns { packed: true, ply: true },
        ..Options::default()
    }
}

/// Loads a whole epoch: the rows, or the first error.
fn load(path: &Path, threads: usize) -> Result<Vec<naive::Out>, Error> {
    let set = ShardSet::open(&[path.to_owned()])?;
    let stated = set.rows();
    let mut loader = Loader::new(vec![set.into()], everything(threads))?;
    let (mut batch, mut all) = (Batch::default(), Vec::new());
    while loader.next_into(&mut batch)? {
        all.extend(outs(&batch));
    }
    assert_eq!(all.len() as u64, stated, "an early end");
    Ok(all)
}

fn names(error: &Error, path: &Path) {
    let text = error.to_string();
    assert!(text.contains(path.to_str().unwrap()), "{text}");
    assert!(!text.contains('\n') && text.len() < 600, "{text}");
}

fn good(dir: &Path) -> (PathBuf, Vec<Row>) {
    let rows = rows(60, 5);
    (shard(false, rows.clone(), 25).write(dir.join("a.parquet")), rows)
}

#[test]
fn a_truncated_shard_is_an_error_wherever_it_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = good(dir.path());
    let bytes = fs::read(&path).unwrap();
    for length in (0..bytes.len()).step_by(37).chain(bytes.len() - 20..bytes.len()) {
        fs::write(&path, &bytes[..length]).unwrap();
        names(&load(&path, 1).unwrap_err(), &path);
    }
}

#[test]
fn a_shard_that_shrinks_while_it_is_open_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = good(dir.path());
    let set = ShardSet::open(std::slice::from_ref(&path)).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(500).unwrap();
    let mut loader = Loader::new(vec![set.into()], everything(2)).unwrap();
    let mut batch = Batch::default();
    names(&loader.next_into(&mut batch).unwrap_err(), &path);
    assert!(matches!(loader.next_into(&mut batch), Err(Error::Poisoned)));
    assert!(matches!(loader.begin_epoch(1), Err(Error::Poisoned)));
}

/// Parquet pages as they are written carry no checksum: a flip inside a compressed page may give other, plausible
/// numbers. It must never give a panic, another number of rows, or rows that the ranges of shards.md §2 rule out.
#[test]
fn a_flipped_bit_anywhere_is_an_error_or_changes_plausible_numbers_only() {
    let dir = tempfile::tempdir().unwrap();
    // Panics of the decoder are told as errors.
    manaka_core::guard::quiet_panics();
    let (path, _) = good(dir.path());
    let bytes = fs::read(&path).unwrap();
    let whole = load(&path, 1).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&fs::File::open(&path).unwrap()).unwrap();
    let pages: Vec<_> = metadata
        .row_groups()
        .iter()
        .flat_map(|group| group.columns())
        .map(|column| column.byte_range())
        .collect();
    let (mut errors, mut same, mut other) = (0, 0, 0);
    // Every third byte reaches every region.
    for at in (0..bytes.len()).step_by(3) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&path, &flipped).unwrap();
        match load(&path, 1) {
            Err(error) => {
                names(&error, &path);
                errors += 1;
            }
            Ok(rows) if rows == whole => same += 1,
            Ok(rows) => {
                assert_eq!(rows.len(), whole.len());
                let inside = |&(start, len): &(u64, u64)| (start..start + len).contains(&(at as u64));
                // The footer states conventions; a flip in one may be another that is allowed.
                let footer = at as u64 >= pages.iter().map(|(start, len)| start + len).max().unwrap();
                assert!(pages.iter().any(inside) || footer, "byte {at}");
                other += 1;
            }
        }
    }
    // Regions in which a flip has to be seen.
    for at in [bytes.len() - 1, bytes.len() - 4, bytes.len() - 8] {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        fs::write(&path, &flipped).unwrap();
        names(&load(&path, 1).unwrap_err(), &path);
    }
    assert!(
        errors > bytes.len() / 9,
        "{errors} errors, {same} the same, {other} other rows of {}",
        bytes.len()
    );
}

#[test]
fn what_is_no_shard_is_an_error_that_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    fs::write(&path, b"").unwrap();
    names(&load(&path, 1).unwrap_err(), &path);
    fs::write(&path, vec![b'x'; 5000]).unwrap();
    names(&load(&path, 1).unwrap_err(), &path);

    let shard = shard(false, rows(20, 1), 20);
    type Change = fn(String) -> String;
    let changes: [(Change, &str); 4] = [
        (|schema| schema.replace("value_q", "value"), "columns"),
        (|schema| schema.replace("required int32 ply", "optional int32 ply"), "ply"),
        (|schema| schema.replace("(INTEGER(32,false))", ""), "weight"),
        (|schema| schema.replace("INTEGER(16,true)", "INTEGER(32,true)"), "candidates"),
    ];
    for (change, name) in changes {
        let written = std::panic::catch_unwind(|| shard.write_as(path.clone(), change));
        // The writer of these tests cannot write an optional ply; its footer is not there then.
        let error = load(&path, 1).unwrap_err();
        names(&error, &path);
        if written.is_ok() {
            assert!(error.to_string().contains("not a shard") && error.to_string().contains(name), "{error}");
        }
    }
    let footers = Shard { footer: Vec::new(), ..shard };
    let error = load(&footers.write(path.clone()), 1).unwrap_err();
    names(&error, &path);
    assert!(error.to_string().contains("the footer has no key pov"), "{error}");
    assert!(matches!(ShardSet::open(&[dir.path().join("none.parquet")]), Err(Error::Inputs(_))));
}

#[test]
fn a_shard_without_rows_is_part_of_a_set_and_a_set_without_rows_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let empty = shard(false, Vec::new(), 25).write(dir.path().join("empty.parquet"));
    let set = ShardSet::open(std::slice::from_ref(&empty)).unwrap();
    assert_eq!((set.rows(), set.shards().len()), (0, 1));
    let error = Loader::new(vec![set.into()], Options::default()).err().unwrap();
    assert!(matches!(error, Error::NoRows { shards: 1, .. }));
    names(&error, &empty);

    good(dir.path());
    let set = ShardSet::open(&[dir.path().to_owned()]).unwrap();
    assert_eq!((set.rows(), set.shards().len()), (60, 2));
    let mut loader = Loader::new(vec![set.into()], Options::default()).unwrap();
    let mut batch = Batch::default();
    assert!(loader.next_into(&mut batch).unwrap());
    assert_eq!(batch.rows, 60);
}

#[test]
fn shards_of_other_conventions_are_refused_with_both_files_the_key_and_both_values() {
    let dir = tempfile::tempdir().unwrap();
    let (first, _) = good(dir.path());
    for (key, value, was) in [
        ("pov", "black", "side_to_move"),
        ("softmax_temp_cp", "80", "100"),
        ("mate_scale", "32000", "30000"),
        ("mate_slack", "100", "320"),
        ("eval_coef", "1200", "1512.173"),
        ("fv_scale", "16", "0"),
    ] {
        let shard = shard(false, rows(9, 2), 25).with(key, value);
        let second = shard.write(dir.path().join("b.parquet"));
        let error = ShardSet::open(&[first.clone(), second.clone()]).err().unwrap();
        assert!(matches!(error, Error::Conflict { .. }));
        names(&error, &first);
        names(&error, &second);
        let text = error.to_string();
        assert!(text.contains(&format!("{key} is {was} in one and {value} in the other")), "{text}");
    }
    let visits = shard(true, rows(9, 2), 25).write(dir.path().join("b.parquet"));
    let error = ShardSet::open(&[first.clone(), visits]).err().unwrap();
    assert!(error.to_string().contains("policy_source"), "{error}");
    let shard = shard(false, rows(9, 2), 25).with("writer", "another 7");
    assert!(ShardSet::open(&[first, shard.write(dir.path().join("b.parquet"))]).is_ok());
}

/// The file with a footer that states other row counts of groups, and their sum.
fn restate(path: &Path, group: impl Fn(usize, i64) -> i64) {
    let bytes = fs::read(path).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&fs::File::open(path).unwrap()).unwrap();
    let about = metadata.file_metadata();
    let footer = FileMetaData::new(
        about.version(),
        about.num_rows(),
        about.created_by().map(str::to_owned),
        about.key_value_metadata().cloned(),
        about.schema_descr_ptr(),
        None,
    );
    let groups = metadata.row_groups().iter().enumerate();
    let groups = groups.map(|(at, of)| {
        let rows = group(at, of.num_rows());
        of.clone().into_builder().set_num_rows(rows).build().unwrap()
    });
    let restated: ParquetMetaData =
        ParquetMetaDataBuilder::new(footer).set_row_groups(groups.collect()).build();
    let end = metadata
        .row_groups()
        .iter()
        .flat_map(|group| group.columns())
        .map(|column| column.byte_range().0 + column.byte_range().1)
        .max();
    let mut out = bytes[..usize::try_from(end.unwrap()).unwrap()].to_vec();
    ParquetMetaDataWriter::new(&mut out, &restated).finish().unwrap();
    fs::File::create(path).unwrap().write_all(&out).unwrap();
}

#[test]
fn fewer_or_more_rows_than_the_footer_states_are_an_error_and_never_an_early_end() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = good(dir.path());
    restate(&path, |_, rows| rows);
    assert_eq!(load(&path, 1).unwrap().len(), 60);
    // 60 rows in groups of 25, 25 and 10; the last is said to have more, or the first fewer.
    for by in [1, 40, 1 << 20, -1, -9] {
        let (path, _) = good(dir.path());
        restate(&path, |at, rows| if at == 2 { rows + by } else { rows });
        // With few columns and with many: each has to see it by itself.
        let values = Options { batch_size: everything(1).batch_size, ..Options::default() };
        let packed = Options { columns: RawColumns { packed: true, ply: false }, ..values.clone() };
        for options in [values, packed, everything(1), everything(3)] {
            let set = ShardSet::open(std::slice::from_ref(&path)).unwrap();
            assert_eq!(set.rows(), (60 + by) as u64);
            let mut loader = Loader::new(vec![set.into()], options).unwrap();
            let (mut batch, mut delivered) = (Batch::default(), 0);
            let error = loop {
                match loader.next_into(&mut batch) {
                    Ok(true) => delivered += batch.rows,
                    Ok(false) => panic!("an early end"),
                    Err(error) => break error,
                }
            };
            names(&error, &path);
            // Whole batches in front of the damaged group come first.
            assert_eq!(delivered, 48);
        }
    }
    // The row count of the file alone: a field of 60 as a zigzag varint behind its header, made 61.
    let (path, _) = good(dir.path());
    let mut bytes = fs::read(&path).unwrap();
    let found: Vec<usize> = (0..bytes.len() - 1).filter(|&at| bytes[at..at + 2] == [0x16, 120]).collect();
    bytes[found.last().unwrap() + 1] = 122;
    fs::write(&path, &bytes).unwrap();
    let error = ShardSet::open(std::slice::from_ref(&path)).err().unwrap();
    assert!(matches!(error, Error::RowCount { found: 60, stated: 61, .. }));
    names(&error, &path);
}

#[test]
fn a_row_that_cannot_be_is_an_error_with_its_place_and_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let fault = |change: &dyn Fn(&mut Row)| {
        let mut rows = rows(60, 5);
        change(&mut rows[41]);
        let path = shard(false, rows, 25).write(path.clone());
        let error = load(&path, 2).unwrap_err();
        names(&error, &path);
        match error {
            Error::Row { row: 41, fault, .. } => fault,
            other => panic!("{other}"),
        }
    };
    let position = |change: &dyn Fn(&mut [u8; 96])| match fault(&|row| change(&mut row.packed)) {
        RowFault::Position(fault) => fault,
        other => panic!("{other}"),
    };
    let empty = |packed: &[u8; 96]| packed.iter().position(|&byte| byte == 0xFF).unwrap();
    for byte in [0x0E, 0x0F, 0x1E, 0x20, 0x7F, 0x80, 0x81, 0xFE] {
        let found = position(&|packed| packed[empty(packed)] = byte);
        assert_eq!(found, PositionFault::BoardByte, "{byte:#x}");
        assert_eq!(position(&|packed| packed[80] = byte), PositionFault::BoardByte, "{byte:#x}");
    }
    for king in [0x00, 0x10] {
        assert_eq!(position(&|packed| packed[empty(packed)] = king), PositionFault::Kings);
        let gone = |packed: &mut [u8; 96]| {
            let at = packed[..81].iter().position(|&byte| byte == king).unwrap();
            packed[at] = 0xFF;
        };
        assert_eq!(position(&gone), PositionFault::Kings);
    }
    assert_eq!(position(&|packed| packed[95] = 2), PositionFault::SideByte);
    for (at, count) in [(81, 19), (82, 5), (87, 3), (94, 3), (88, 255)] {
        assert_eq!(position(&|packed| packed[at] = count), PositionFault::Hand);
    }
    assert_eq!(position(&|packed| packed[..81].copy_from_slice(&[7; 81])), PositionFault::Kings);
    let full = |packed: &mut [u8; 96]| {
        packed[..81].fill(0xFF);
        packed[..2].copy_from_slice(&[0, 0x10]);
        packed[2..22].fill(7);
        packed[81..95].copy_from_slice(&[18, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    };
    assert_eq!(position(&full), PositionFault::Men);

    assert!(matches!(fault(&|row| row.value_q = 1.5), RowFault::Value { column: "value_q", .. }));
    assert!(matches!(fault(&|row| row.value_q = f32::NAN), RowFault::Value { .. }));
    assert_eq!(fault(&|row| row.weight = 0), RowFault::Weight);
    assert!(matches!(fault(&|row| row.candidates[0].0 = 0x8000), RowFault::Move(_)));
    // 9a to 8c goes nowhere for Black and White alike: a knight does not come from there.
    assert!(matches!(fault(&|row| row.candidates[0].0 = 12 | 7 << 7), RowFault::Move(_)));
    assert!(matches!(fault(&|row| row.candidates[0].1 = -0.5), RowFault::Prob(_)));
    assert!(matches!(fault(&|row| row.candidates[0].1 = 0.1), RowFault::ProbSum(_)));
}
