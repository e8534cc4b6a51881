//! The slow twin of [`GroupEncoder`]: the same rows through the parquet crate's own column writers.

use super::columns::{properties, schema};
use super::{CorpusRow, GroupEncoder, RowGroup};
use crate::schema::{COLUMNS, Column};
use manaka_core::packed::{BLACK_HAND, EMPTY, SIDE};
use manaka_core::{Move16, Packed};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::SchemaDescriptor;
use proptest::prelude::*;
use std::sync::Arc;

/// A row as the twin keeps it.
#[derive(Clone, Debug)]
struct Kept {
    packed: Packed,
    ply: u16,
    cp: i16,
    depth: u8,
    candidates: Vec<(Move16, i16)>,
    mv: Move16,
    result: i8,
}

fn group(rows: &[Kept]) -> RowGroup {
    let mut group = RowGroup::default();
    for Kept { packed, ply, cp, depth, candidates, mv, result } in rows {
        let (ply, cp, depth, mv, result) = (*ply, *cp, *depth, *mv, *result);
        group.push(&CorpusRow { packed, ply, cp, depth, candidates, mv, result });
    }
    group
}

fn text(mv: Move16) -> ByteArray {
    if mv.is_well_formed() { mv.to_string().into_bytes().into() } else { ByteArray::from(Vec::new()) }
}

/// The columns as the parquet crate writes them, one behind the other.
fn twin(rows: &[Kept], zstd_level: i32) -> (Vec<u8>, Vec<ColumnCloseResult>) {
    let descriptor = SchemaDescriptor::new(schema().unwrap());
    let properties = Arc::new(properties(zstd_level).unwrap());
    let (mut def, mut rep) = (Vec::new(), Vec::new());
    for row in rows {
        rep.extend((0..row.candidates.len().max(1)).map(|at| i16::from(at > 0)));
        def.extend(vec![3; row.candidates.len()]);
        def.extend(row.candidates.is_empty().then_some(1));
    }
    let present = vec![1; rows.len()];
    let candidates = || rows.iter().flat_map(|row| &row.candidates);
    let mut sink = TrackedWrite::new(Vec::new());
    let write = |(column, descriptor)| {
        let pages = Box::new(SerializedPageWriter::new(&mut sink));
        let mut writer = get_column_writer(descriptor, properties.clone(), pages);
        let is_list = matches!(column, Column::CandMove | Column::CandCp);
        let (def, rep) = if is_list { (&def, Some(rep.as_slice())) } else { (&present, None) };
        match &mut writer {
            ColumnWriter::ByteArrayColumnWriter(writer) => {
                let values: Vec<ByteArray> = match column {
                    Column::Sfen => {
                        rows.iter().map(|row| row.packed.sfen(None).to_string().into_bytes().into()).collect()
                    }
                    Column::Move => rows.iter().map(|row| text(row.mv)).collect(),
                    _ => candidates().map(|&(mv, _)| text(mv)).collect(),
                };
                writer.write_batch(&values, Some(def), rep).unwrap();
            }
            ColumnWriter::Int32ColumnWriter(writer) => {
                let values: Vec<i32> = match column {
                    Column::Side => rows.iter().map(|row| row.packed.side() as i32).collect(),
                    Column::Ply => rows.iter().map(|row| row.ply.into()).collect(),
                    Column::Cp => rows.iter().map(|row| row.cp.into()).collect(),
                    Column::Depth => rows.iter().map(|row| row.depth.into()).collect(),
                    Column::Result => rows.iter().map(|row| row.result.into()).collect(),
                    _ => candidates().map(|&(_, cp)| cp.into()).collect(),
                };
                writer.write_batch(&values, Some(def), rep).unwrap();
            }
            _ => unreachable!(),
        }
        writer.close().unwrap()
    };
    let columns = COLUMNS.into_iter().zip(descriptor.columns().to_vec()).map(write).collect();
    (sink.into_inner().unwrap(), columns)
}

fn compare(encoder: &mut GroupEncoder, rows: &[Kept], zstd_level: i32) {
    let ours = encoder.encode(&group(rows)).unwrap();
    let (their_bytes, their_columns) = twin(rows, zstd_level);
    assert_eq!((ours.columns().len(), their_columns.len()), (COLUMNS.len(), COLUMNS.len()));
    for ((column, close), their_close) in COLUMNS.iter().zip(ours.columns()).zip(&their_columns) {
        assert_eq!(close.metadata, their_close.metadata, "{column}");
        let length = u64::try_from(close.metadata.compressed_size()).unwrap();
        assert_eq!((close.bytes_written, close.rows_written), (length, rows.len() as u64));
        assert!(their_close.column_index.is_none() && their_close.offset_index.is_none());
        assert!(their_close.bloom_filter.is_none());
    }
    assert!(ours.bytes() == &their_bytes, "{} bytes and {}", ours.bytes().len(), their_bytes.len());
}

/// Numbers that look like chance and are the same each time.
fn draw(seed: u64) -> u64 {
    (seed ^ seed >> 29)
        .wrapping_mul(0xBF58_476D_1CE4_E5B9)
        .rotate_left(31)
        .wrapping_mul(0x94D0_49BB_1331_11EB)
}

fn row(seed: u64, candidates: usize, spread: u64) -> Kept {
    let bits = |salt| (draw(draw(seed).wrapping_add(salt)) % spread).to_le_bytes();
    let short = |salt| u16::from_le_bytes([bits(salt)[0], bits(salt)[1]]);
    let mut packed = Packed::empty();
    for square in 0..81usize {
        let byte = draw(seed + square as u64).to_le_bytes()[2] % 64;
        packed.as_bytes_mut()[square] = if byte < 30 && byte & 15 < 14 { byte } else { EMPTY };
    }
    packed.as_bytes_mut()[BLACK_HAND.start] = bits(1)[0] % 19;
    packed.as_bytes_mut()[SIDE] = bits(2)[0] % 2;
    Kept {
        packed,
        ply: short(3),
        cp: short(4).cast_signed(),
        depth: bits(5)[0],
        candidates: (10..10 + candidates as u64)
            .map(|k| (Move16::from_bits(short(k) & 0x7FFF), short(k + 1000).cast_signed()))
            .collect(),
        mv: Move16::from_bits(short(6)),
        result: (bits(7)[0] % 3).cast_signed() - 1,
    }
}

#[test]
fn pages_of_every_length_are_those_of_the_parquet_crate() {
    let mut encoder = GroupEncoder::new(1).unwrap();
    // Around a batch, around a page of rows; none, few and many candidates, which fill pages by their bytes; values that
    // repeat, and 65,536 different ones.
    let cases = [
        (0, 0, 2),
        (1, 0, 2),
        (1, 5, 2),
        (7, 3, 1),
        (8, 1, 1),
        (1023, 5, 40),
        (1024, 5, 3000),
        (1025, 0, 65_536),
        (19_999, 5, 65_536),
        (20_480, 2, 1),
        (20_481, 5, 300),
        (32_768, 5, 65_536),
        (9_000, 100, 65_536),
        (2, 40_000, 65_536),
    ];
    for (rows, candidates, spread) in cases {
        let rows: Vec<_> = (0..rows).map(|at| row(at, candidates, spread)).collect();
        compare(&mut encoder, &rows, 1);
    }
    let mixed: Vec<_> = (0..6000).map(|at| row(at, (draw(at) % 9) as usize, 1 + at % 700)).collect();
    compare(&mut encoder, &mixed, 1);
    compare(&mut GroupEncoder::new(5).unwrap(), &mixed, 5);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn pages_of_any_rows_are_those_of_the_parquet_crate(
        rows in prop::collection::vec((any::<u32>(), 0usize..12, 0usize..4), 0..400),
        spread in 1u64..70_000,
    ) {
        // Stretches of equal rows make runs.
        let rows: Vec<_> = rows
            .into_iter()
            .flat_map(|(seed, candidates, more)| vec![row(seed.into(), candidates, spread); 1 + more * more * more])
            .collect();
        compare(&mut GroupEncoder::new(1).unwrap(), &rows, 1);
    }
}
