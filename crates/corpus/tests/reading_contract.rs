//! What a corpus file may look like, and that every shape of it gives the same rows (corpus.md §3).

mod corpus_writer;

use corpus_writer::*;
use manaka_corpus::{BATCH_ROWS, Column, CorpusFile, Error, MAX_MOVE_TEXT, MAX_SFEN_TEXT, Row, Rows};
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::WriterVersion;
use proptest::prelude::*;
use std::path::Path;

/// A row read back into the form it was written from; `depth` is not read.
fn spec(row: Row<'_>) -> RowSpec {
    RowSpec {
        sfen: row.sfen().map(<[u8]>::to_vec),
        side: row.side(),
        ply: row.ply(),
        cp: row.cp(),
        depth: None,
        cand_move: row.cand_move().map(|list| list.iter().map(|text| text.map(<[u8]>::to_vec)).collect()),
        cand_cp: row.cand_cp().map(|list| list.iter().collect()),
        mv: row.mv().map(<[u8]>::to_vec),
        result: row.result(),
    }
}

fn read(path: &Path) -> Result<Vec<RowSpec>, Error> {
    let file = CorpusFile::open(path)?;
    let (mut rows, mut out) = (Rows::default(), Vec::new());
    for group in 0..file.row_groups() {
        let mut batches = file.batches(group)?;
        while batches.read(&mut rows)? {
            assert!(!rows.is_empty() && rows.len() <= BATCH_ROWS);
            assert_eq!(rows.first(), out.len() as u64);
            for row in rows.iter() {
                assert_eq!(row.number(), out.len() as u64);
                out.push(spec(row));
            }
        }
        assert!(!batches.read(&mut rows)?);
    }
    assert_eq!(file.rows(), out.len() as u64);
    Ok(out)
}

/// Rows that differ from one another, with lists of many lengths.
fn many(count: usize) -> Vec<RowSpec> {
    let moves = ["7g7f", "2g2f", "8h2b+", "P*5e", "resign", "3c3d", "", "9i9h"];
    (0..count)
        .map(|i| {
            let list: Vec<_> =
                (0..i % 8).map(|k| (moves[(i + k) % 8], (i * 7 + k) as i64 % 65535 - 32767)).collect();
            RowSpec::sound().candidates(&list).with(|row| {
                row.depth = None;
                row.ply = Some(i as i64);
                row.side = Some(i as i64 % 2);
                row.cp = Some(i as i64 % 301 - 150);
                row.result = Some(i as i64 % 3 - 1);
                row.mv = text(moves[i % 8]);
                row.sfen = text(&format!("4k4/9/9/9/9/9/9/9/4K4 b - {i}"));
            })
        })
        .collect()
}

fn with_nulls() -> Vec<RowSpec> {
    let mut rows = many(40);
    rows[1].sfen = None;
    rows[2].side = None;
    rows[3].ply = None;
    rows[4].cp = None;
    rows[5].cand_move = None;
    rows[6].cand_cp = None;
    rows[7].mv = None;
    rows[8].result = None;
    rows[9].cand_move.as_mut().unwrap()[0] = None;
    rows[10].cand_cp.as_mut().unwrap()[1] = None;
    rows[11].cand_move = Some(vec![None; 5]);
    rows[12].cand_cp = Some(Vec::new());
    rows[0].cand_move = None;
    rows[39].cand_cp = None;
    rows
}

/// In both versions of pages: those of the first are read where they lie, if their encodings are plain ones, those of the
/// second by the parquet crate.
fn round_trip(layout: &Layout, rows: &[RowSpec]) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corpus.parquet");
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let layout = Layout { version, ..layout.clone() };
        write(&path, &layout, rows);
        assert_eq!(read(&path).unwrap(), rows, "{layout:?}");
    }
}

#[test]
fn every_shape_of_a_list_gives_the_same_rows() {
    for (inner, element) in
        [("list", "element"), ("list", "item"), ("bag", "array_element"), ("array", "array")]
    {
        let layout = Layout { list: ListForm::Three { inner, element }, ..Layout::default() };
        round_trip(&layout, &with_nulls());
        round_trip(&Layout { page_rows: 3, rows_per_group: 11, ..layout }, &with_nulls());
    }
    for list in [ListForm::ThreeRequired, ListForm::Two, ListForm::Bare] {
        for page_rows in [2, 20_000] {
            round_trip(&Layout { list, page_rows, ..Layout::default() }, &many(50));
        }
    }
    let mut rows = many(9);
    rows[4].cand_move = None;
    round_trip(&Layout { list: ListForm::Two, ..Layout::default() }, &rows);
}

#[test]
fn flat_columns_may_be_required_and_extra_columns_are_not_looked_at() {
    let layout = Layout { required: true, list: ListForm::ThreeRequired, ..Layout::default() };
    let rows: Vec<_> = many(30).into_iter().map(|row| row.with(|row| row.depth = Some(1))).collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corpus.parquet");
    write(&path, &Layout { extra: &["game", "note"], ..layout }, &rows);
    let read: Vec<_> = read(&path).unwrap();
    assert_eq!(read.len(), 30);
    assert_eq!(read[7], rows[7].clone().with(|row| row.depth = None));
}

#[test]
fn every_width_of_an_integer_gives_the_same_values() {
    let rows = many(20);
    for (side, ply, cp, result) in [
        (INT_8, UINT_16, INT_16, INT_8),
        (UINT_8, PLAIN_32, PLAIN_32, INT_16),
        (PLAIN_64, PLAIN_64, PLAIN_64, PLAIN_64),
        (UINT_32, UINT_64, PLAIN_32, PLAIN_32),
        (LEGACY_UINT_32, UINT_32, INT_16, PLAIN_64),
    ] {
        round_trip(&Layout { side, ply, cp, cand_cp: cp, result, ..Layout::default() }, &rows);
    }
}

#[test]
fn unsigned_annotations_keep_their_great_values() {
    let rows =
        [1u64 << 31, u64::from(u32::MAX)].map(|ply| RowSpec::sound().with(|row| row.ply = Some(ply as i64)));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corpus.parquet");
    for ply in [UINT_32, LEGACY_UINT_32, UINT_64] {
        write(&path, &Layout { ply, ..Layout::default() }, &rows);
        let plies: Vec<_> = read(&path).unwrap().iter().map(|row| row.ply).collect();
        assert_eq!(plies, [Some(1 << 31), Some(i64::from(u32::MAX))]);
    }
    // Above the range of an i64 and at its very bottom: neither wraps, neither turns into a null.
    let extremes = [-1, i64::MIN].map(|ply| RowSpec::sound().with(|row| row.ply = Some(ply)));
    write(&path, &Layout { ply: UINT_64, ..Layout::default() }, &extremes);
    assert!(read(&path).unwrap().iter().all(|row| row.ply == Some(i64::MAX)));
    write(&path, &Layout { ply: PLAIN_64, ..Layout::default() }, &extremes);
    assert_eq!(
        read(&path).unwrap().iter().map(|row| row.ply).collect::<Vec<_>>(),
        [Some(-1), Some(i64::MIN + 1)]
    );
}

#[test]
fn every_codec_page_version_and_encoding_gives_the_same_rows() {
    let rows = with_nulls();
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(Default::default()),
    ] {
        round_trip(&Layout { compression, ..Layout::default() }, &rows);
    }
    for (text_encoding, int_encoding) in [
        (Encoding::PLAIN, Encoding::PLAIN),
        (Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BINARY_PACKED),
        (Encoding::DELTA_BYTE_ARRAY, Encoding::BYTE_STREAM_SPLIT),
    ] {
        let layout = Layout {
            dictionary: false,
            text_encoding: Some(text_encoding),
            int_encoding: Some(int_encoding),
            ..Layout::default()
        };
        round_trip(&layout, &rows);
    }
    for text in ["binary {}", "binary {} (UTF8)", "binary {} (ENUM)", "binary {} (JSON)"] {
        round_trip(&Layout { text, ..Layout::default() }, &rows);
    }
}

#[test]
fn many_rows_come_in_batches_that_end_with_their_row_group() {
    let rows = many(3 * BATCH_ROWS + 17);
    round_trip(&Layout::default(), &rows);
    round_trip(&Layout { rows_per_group: BATCH_ROWS + 1, page_rows: 700, ..Layout::default() }, &rows);
    round_trip(&Layout::default(), &[]);
}

/// A row out of a few draws: nulls at every level, lists that are null or empty, values that repeat or never do.
fn drawn((seed, nulls, candidates): (u32, u8, usize)) -> RowSpec {
    let null = |place: u8| nulls & 7 == place;
    let moves = ["7g7f", "2g2f", "8h2b+", "P*5e", "", "a text that is longer than any move, and is cut"];
    let mv = |i: usize| moves[(seed as usize >> (3 * (i % 8))) % 6][..].as_bytes();
    let mv = |i| mv(i)[..mv(i).len().min(MAX_MOVE_TEXT)].to_vec();
    let number = |i: usize| i64::from(seed.rotate_left(i as u32) >> 17);
    RowSpec {
        sfen: (!null(1)).then(|| format!("sfen {}", seed % 5000).into_bytes()),
        side: (!null(2)).then_some(number(0) & 1),
        ply: (!null(3)).then_some(number(1)),
        cp: (!null(4)).then_some(number(2) - 16_000),
        depth: None,
        cand_move: (!null(5))
            .then(|| (0..candidates).map(|i| (nulls < 200 || i % 3 != 0).then(|| mv(i))).collect()),
        cand_cp: (!null(6))
            .then(|| (0..candidates).map(|i| (nulls < 220 || i % 2 != 0).then(|| number(i))).collect()),
        mv: (!null(7)).then(|| mv(3)),
        result: Some(i64::from(seed % 3) - 1),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn any_rows_come_back_from_pages_of_any_length(
        draws in prop::collection::vec(((0u32.., any::<u8>(), 0usize..9), 1usize..30), 0..120),
        sound in any::<bool>(),
        page_rows in prop_oneof![1usize..20, 100usize..5000],
        rows_per_group in prop_oneof![50usize..400, Just(100_000)],
        dictionary in any::<bool>(),
    ) {
        // Without a null, levels are runs.
        let row = |(seed, nulls, list)| drawn((seed, if sound { 0 } else { nulls }, list));
        let rows: Vec<_> = draws.into_iter().flat_map(|(draw, times)| vec![row(draw); times]).collect();
        round_trip(&Layout { page_rows, rows_per_group, dictionary, ..Layout::default() }, &rows);
    }
}

#[test]
fn batches_are_cut_where_lists_are_long() {
    let long: Vec<_> = (0..400).map(|i| ("7g7f", i)).collect();
    let rows: Vec<_> =
        (0..2000).map(|_| RowSpec::sound().candidates(&long).with(|row| row.depth = None)).collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corpus.parquet");
    write(&path, &Layout::default(), &rows);
    let file = CorpusFile::open(&path).unwrap();
    let (mut batches, mut batch, mut sizes) = (file.batches(0).unwrap(), Rows::default(), Vec::new());
    while batches.read(&mut batch).unwrap() {
        sizes.push(batch.len());
    }
    assert_eq!(sizes, [1024, 976]);
}

#[test]
fn overlong_texts_are_cut_and_can_be_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corpus.parquet");
    let row = RowSpec::sound().with(|row| {
        row.sfen = Some(vec![b'9'; 5000]);
        row.mv = Some(vec![b'x'; 5000]);
    });
    write(&path, &Layout::default(), &[row]);
    let row = &read(&path).unwrap()[0];
    assert_eq!(row.sfen.as_ref().unwrap().len(), MAX_SFEN_TEXT + 1);
    assert_eq!(row.mv.as_ref().unwrap().len(), MAX_MOVE_TEXT);
}

#[test]
fn missing_columns_are_named_with_what_was_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corpus.parquet");
    let layout = Layout { without: &["side", "cand_cp", "depth"], extra: &["score"], ..Layout::default() };
    write(&path, &layout, &[RowSpec::sound()]);
    let error = read(&path).unwrap_err();
    let Error::MissingColumns { missing, found, .. } = &error else { panic!("{error}") };
    assert_eq!(missing, &[Column::Side, Column::Depth, Column::CandCp]);
    assert_eq!(found, &["sfen", "ply", "cp", "cand_move", "move", "result", "score"]);
    assert_eq!(
        error.to_string(),
        format!(
            "{}: no column side, depth, cand_cp (the file has sfen, ply, cp, cand_move, move, result, score)",
            path.display()
        )
    );
}

#[test]
fn columns_of_a_wrong_type_are_named_with_their_type() {
    let cases: &[(&str, &str)] = &[
        ("cp", "optional double cp;"),
        ("cp", "optional int32 cp (DATE);"),
        ("ply", "optional int64 ply (TIMESTAMP(MILLIS,true));"),
        ("side", "optional boolean side;"),
        ("side", "repeated int32 side;"),
        ("sfen", "optional int32 sfen;"),
        ("sfen", "optional fixed_len_byte_array(90) sfen;"),
        ("move", "optional binary move (DECIMAL(9,2));"),
        ("cand_move", "optional binary cand_move (STRING);"),
        ("cand_move", "optional group cand_move (LIST) { repeated group list { optional int32 element; } }"),
        ("cand_cp", "optional group cand_cp (LIST) { repeated group list { optional double element; } }"),
        (
            "cand_cp",
            "optional group cand_cp (LIST) { repeated group list { optional int32 a; optional int32 b; } }",
        ),
        (
            "cand_cp",
            "optional group cand_cp (LIST) { repeated group list { optional group element (LIST) { repeated group \
             list { optional int32 element; } } } }",
        ),
        ("cand_cp", "optional group cand_cp { optional int32 element; }"),
        ("result", "optional group result { optional int32 element; }"),
    ];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corpus.parquet");
    for &(column, definition) in cases {
        let replace: &'static [_] = vec![(column, definition)].leak();
        write(&path, &Layout { replace, ..Layout::default() }, &[]);
        let error = read(&path).unwrap_err();
        assert!(matches!(&error, Error::ColumnType { column: c, .. } if c.name() == column), "{error}");
        assert!(error.to_string().contains("corpus.parquet: column"), "{error}");
    }
    let error = read(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("must be an integer (INT32 or INT64), and is optional group { optional INT32 }"),
        "{error}"
    );
}

#[test]
fn a_codec_that_is_not_compiled_in_is_named() {
    // Brotli cannot be written here either, so the codec of a stored footer is changed: field 4 of the column metadata.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corpus.parquet");
    write(&path, &Layout { compression: Compression::SNAPPY, ..Layout::default() }, &[RowSpec::sound()]);
    let mut bytes = std::fs::read(&path).unwrap();
    let footer = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize;
    let start = bytes.len() - 8 - footer;
    // The path ["sfen"] as a list of one text, then the codec as a zigzag number: snappy is 1, brotli 4.
    let sfen = b"\x18\x04sfen\x15\x02";
    let at =
        start + bytes[start..].windows(sfen.len()).position(|window| window == sfen).unwrap() + sfen.len()
            - 1;
    bytes[at] = 8;
    std::fs::write(&path, &bytes).unwrap();
    let error = read(&path).unwrap_err();
    assert!(matches!(&error, Error::Codec { row_group: 0, column: Column::Sfen, .. }), "{error}");
    assert!(error.to_string().contains("compressed with brotli;"), "{error}");
}

#[test]
fn what_is_no_parquet_file_is_an_error_with_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("corpus.parquet");
    assert!(matches!(read(&path), Err(Error::Io { .. })));
    for bytes in [
        &b""[..],
        b"PAR1",
        b"PAR1PAR1",
        b"PAR1\0\0\0\0PAR1",
        b"PAR1\xFF\xFF\xFF\x7FPAR1",
        b"{\"a\": 1}\n\n\n\n",
    ] {
        std::fs::write(&path, bytes).unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(&error, Error::Damaged { row_group: None, .. }), "{error}");
        assert!(error.to_string().contains("corpus.parquet"), "{error}");
    }
    assert!(matches!(read(dir.path()), Err(Error::Io { .. } | Error::Damaged { .. })));
}
