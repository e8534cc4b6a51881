//! A damaged file is an error that names it, or other rows; never a panic, and never memory by the gigabyte.

mod corpus_writer;

use corpus_writer::*;
use manaka_corpus::{CorpusFile, Error, Rows};
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::WriterVersion;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Panics that happened inside the decoder; the hook keeps them off the terminal.
static PANICS: AtomicU32 = AtomicU32::new(0);

fn read(path: &Path) -> Result<u64, Error> {
    let file = CorpusFile::open(path)?;
    let (mut rows, mut count) = (Rows::default(), 0);
    for group in 0..file.row_groups() {
        let mut batches = file.batches(group)?;
        while batches.read(&mut rows)? {
            for row in rows.iter() {
                let lists =
                    (row.cand_move().map(|l| l.iter().count()), row.cand_cp().map(|l| l.iter().count()));
                std::hint::black_box((
                    row.sfen(),
                    row.side(),
                    row.ply(),
                    row.cp(),
                    lists,
                    row.mv(),
                    row.result(),
                ));
                count += 1;
            }
        }
    }
    Ok(count)
}

fn corpora() -> Vec<Layout> {
    let plain = Layout { rows_per_group: 20, page_rows: 7, ..Layout::default() };
    let v2 = Layout { version: WriterVersion::PARQUET_2_0, ..plain.clone() };
    vec![
        Layout { compression: Compression::UNCOMPRESSED, ..plain.clone() },
        Layout { compression: Compression::SNAPPY, dictionary: false, ..plain.clone() },
        Layout { compression: Compression::LZ4_RAW, ..plain },
        Layout { compression: Compression::UNCOMPRESSED, ..v2.clone() },
        Layout {
            compression: Compression::UNCOMPRESSED,
            dictionary: false,
            text_encoding: Some(Encoding::DELTA_BYTE_ARRAY),
            int_encoding: Some(Encoding::DELTA_BINARY_PACKED),
            ..v2
        },
    ]
}

/// Reads a damaged file, and holds an error to naming it.
fn survives(path: &Path, what: &str) -> bool {
    let outcome = std::panic::catch_unwind(|| read(path));
    assert!(outcome.is_ok(), "a panic came through: {what}");
    match outcome.unwrap() {
        Ok(_) => true,
        Err(error) => {
            assert!(error.to_string().starts_with(&path.display().to_string()), "{what}: {error}");
            false
        }
    }
}

#[test]
fn flipped_and_cut_files_never_panic() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {
        PANICS.fetch_add(1, Ordering::Relaxed);
    }));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corpus.parquet");
    let rows: Vec<_> = (0..33).map(|i| RowSpec::sound().with(|row| row.ply = Some(i))).collect();
    let stride = std::env::var("MANAKA_FLIP_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let (mut tried, mut read) = (0u32, 0u32);
    for (number, layout) in corpora().iter().enumerate() {
        write(&path, layout, &rows);
        let whole = std::fs::read(&path).unwrap();
        // Changed in place and put back: a new file for each damage would keep the disk busy, and nothing else.
        let mut file = File::options().write(true).open(&path).unwrap();
        let mut put = |at: usize, byte: u8| {
            file.seek(SeekFrom::Start(at as u64)).unwrap();
            file.write_all(&[byte]).unwrap();
        };
        for at in (0..whole.len()).step_by(stride) {
            for mask in [0x01, 0x08, 0x80, 0xFF] {
                put(at, whole[at] ^ mask);
                tried += 1;
                read += u32::from(survives(&path, &format!("layout {number}, byte {at} ^ {mask:#x}")));
            }
            put(at, whole[at]);
        }
        for len in (0..whole.len()).rev().step_by(stride) {
            file.set_len(len as u64).unwrap();
            assert!(!survives(&path, "cut"), "a cut file was read: layout {number}, {len} bytes");
        }
    }
    std::panic::set_hook(hook);
    println!(
        "{tried} damaged files: {read} readable, {} decoder panics caught",
        PANICS.load(Ordering::Relaxed)
    );
    // Pages carry no checksum here, so a flip inside a value is another value.
    assert!(read < tried);
}
