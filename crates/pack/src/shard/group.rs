//! A row group: its rows, column by column, and the pages of its columns.
//!
//! Pages are made here and not by Parquet's column writers: values go from the rows into the page's bytes without a copy
//! in between, and buffers and zstd's context are used again for the next row group.

use super::schema::{CP, MV, Outcomes, PROB, columns, schema};
use manaka_core::PolicySource;
use manaka_core::conventions::NO_OUTCOME;
use manaka_core::packed::PACKED_LEN;
use manaka_pages::levels::{binary, equal};
use manaka_pages::values::{byte_stream_split, delta_binary_packed};
use manaka_pages::{ChunkWriter, Dictionary32, EncodedGroup, GroupWriter};
use parquet::basic::Encoding;
use parquet::errors::{ParquetError, Result};

/// The rows of one row group, column by column.
#[derive(Default)]
pub struct GroupBuilder {
    packed: Vec<u8>,
    ply: Vec<u16>,
    /// [`NO_OUTCOME`] in rows without one.
    value_z: Vec<f32>,
    value_q: Vec<f32>,
    weight: Vec<u32>,
    mv: Vec<u16>,
    prob: Vec<f32>,
    /// Of score rows.
    cp: Vec<i16>,
    /// 0 at the first candidate of a row, else 1.
    repetition: Vec<u8>,
}

impl GroupBuilder {
    /// Rows so far.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.ply.len()
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        self.packed.clear();
        self.ply.clear();
        self.value_z.clear();
        self.value_q.clear();
        self.weight.clear();
        self.mv.clear();
        self.prob.clear();
        self.cp.clear();
        self.repetition.clear();
    }

    /// Appends a row but for its candidates, of which at least one must follow. `value_z` is `None` in rows without an
    /// outcome.
    pub fn push_row(
        &mut self,
        packed: &[u8; PACKED_LEN],
        ply: u16,
        weight: u32,
        value_z: Option<f32>,
        value_q: f32,
    ) {
        self.packed.extend_from_slice(packed);
        self.ply.push(ply);
        self.weight.push(weight);
        self.value_z.push(value_z.unwrap_or(NO_OUTCOME));
        self.value_q.push(value_q);
    }

    /// Appends the next candidate of the last row. `cp` is `None` in visits rows.
    pub fn push_candidate(&mut self, first: bool, mv: u16, prob: f32, cp: Option<i16>) {
        self.repetition.push(u8::from(!first));
        self.mv.push(mv);
        self.prob.push(prob);
        self.cp.extend(cp);
    }

    /// Appends all candidates of the last row, a score row; `moves` and `probs` are as many.
    pub fn push_scores(&mut self, moves: impl Iterator<Item = (u16, i16)>, probs: &[f32]) {
        self.repetition.push(0);
        self.repetition.resize(self.repetition.len() + probs.len().saturating_sub(1), 1);
        self.prob.extend_from_slice(probs);
        for (mv, cp) in moves {
            self.mv.push(mv);
            self.cp.push(cp);
        }
    }

    /// Appends all rows of another group.
    pub fn append(&mut self, other: &Self) {
        self.packed.extend_from_slice(&other.packed);
        self.ply.extend_from_slice(&other.ply);
        self.value_z.extend_from_slice(&other.value_z);
        self.value_q.extend_from_slice(&other.value_q);
        self.weight.extend_from_slice(&other.weight);
        self.mv.extend_from_slice(&other.mv);
        self.prob.extend_from_slice(&other.prob);
        self.cp.extend_from_slice(&other.cp);
        self.repetition.extend_from_slice(&other.repetition);
    }
}

/// Encodes row groups; every thread may have one.
pub struct GroupEncoder {
    groups: GroupWriter,
    columns: Columns,
}

/// zstd's level.
const LEVEL: i32 = 1;

impl GroupEncoder {
    /// An encoder of rows of this policy source, all of which have an outcome or not.
    ///
    /// # Errors
    /// None is known: the schema and the level are fixed.
    pub fn new(source: PolicySource, outcomes: Outcomes) -> Result<Self> {
        let groups = GroupWriter::new(schema(source, outcomes)?, LEVEL)?;
        let columns = Columns { source, outcomes, dictionary: Dictionary32::default(), page: Vec::new() };
        Ok(Self { groups, columns })
    }

    /// Whether the column of outcomes may have nulls.
    #[must_use]
    pub const fn outcomes(&self) -> Outcomes {
        self.columns.outcomes
    }

    /// Encodes the rows, of which there is at least one. The bytes depend on nothing else.
    ///
    /// # Errors
    /// A row without an outcome where the encoder was told that all have one. Else whatever the encoder has to say;
    /// nothing that rows can hold is known to make it speak.
    pub fn encode(&mut self, group: &GroupBuilder) -> Result<EncodedGroup> {
        let Self { groups, columns: pages } = self;
        let mut names = columns(pages.source);
        groups.group(group.rows(), |_, chunk| pages.write(names.next().unwrap_or_default(), group, chunk))
    }

    /// Takes the memory of a row group that is in its shard, for the next one.
    pub fn give_back(&mut self, memory: Vec<u8>) {
        self.groups.give_back(memory);
    }
}

/// Makes the pages of one column after another, out of the same memory.
struct Columns {
    source: PolicySource,
    outcomes: Outcomes,
    dictionary: Dictionary32,
    page: Vec<u8>,
}

impl Columns {
    /// Writes the pages of one column.
    fn write(&mut self, name: &str, group: &GroupBuilder, chunk: &mut ChunkWriter<'_>) -> Result<()> {
        let (rows, candidates) = (group.rows(), group.mv.len());
        let Self { source, outcomes, dictionary, page } = self;
        page.clear();
        let listed = |definition, page: &mut Vec<u8>| {
            binary(&group.repetition, page);
            equal(definition, candidates, page);
        };
        match name {
            // PLAIN: the values are the page.
            "packed" => chunk.data(&group.packed, rows, Encoding::PLAIN),
            "ply" => {
                byte_stream_split(group.ply.iter().map(|&ply| u32::from(ply).to_le_bytes()), page);
                chunk.data(page, rows, Encoding::BYTE_STREAM_SPLIT)
            }
            "weight" => {
                byte_stream_split(group.weight.iter().map(|weight| weight.to_le_bytes()), page);
                chunk.data(page, rows, Encoding::BYTE_STREAM_SPLIT)
            }
            "value_z" => {
                let stated: Vec<u32> =
                    group.value_z.iter().filter(|&&z| z != NO_OUTCOME).map(|z| z.to_bits()).collect();
                match outcomes {
                    Outcomes::Stated if stated.len() < rows => {
                        return Err(ParquetError::General("a row has no outcome".to_owned()));
                    }
                    Outcomes::Stated => {}
                    Outcomes::SomeAbsent => {
                        let levels: Vec<u8> =
                            group.value_z.iter().map(|&z| u8::from(z != NO_OUTCOME)).collect();
                        binary(&levels, page);
                    }
                }
                distinct(chunk, dictionary, stated.into_iter(), page, rows)
            }
            "value_q" if *source == PolicySource::SoftmaxCp => {
                let values = group.value_q.iter().map(|value| value.to_bits());
                distinct(chunk, dictionary, values, page, rows)
            }
            "value_q" => {
                byte_stream_split(group.value_q.iter().map(|value| value.to_le_bytes()), page);
                chunk.data(page, rows, Encoding::BYTE_STREAM_SPLIT)
            }
            MV => {
                listed(1, page);
                distinct(chunk, dictionary, group.mv.iter().map(|&mv| u32::from(mv)), page, candidates)
            }
            PROB => {
                listed(1, page);
                byte_stream_split(group.prob.iter().map(|prob| prob.to_le_bytes()), page);
                chunk.data(page, candidates, Encoding::BYTE_STREAM_SPLIT)
            }
            CP => {
                // 2 is a cp, 1 a candidate without one.
                listed(if group.cp.is_empty() { 1 } else { 2 }, page);
                delta_binary_packed(&group.cp, page);
                chunk.data(page, candidates, Encoding::DELTA_BINARY_PACKED)
            }
            _ => Err(ParquetError::General(format!("there is no column {name}"))),
        }
    }
}

/// Writes the distinct values, then a page of `count` values whose levels are in `page` already.
fn distinct(
    chunk: &mut ChunkWriter<'_>,
    dictionary: &mut Dictionary32,
    values: impl ExactSizeIterator<Item = u32>,
    page: &mut Vec<u8>,
    count: usize,
) -> Result<()> {
    dictionary.fill(values);
    let plain: Vec<u8> = dictionary.values().iter().flat_map(|value| value.to_le_bytes()).collect();
    chunk.dictionary(&plain, dictionary.values().len())?;
    dictionary.packed(page);
    chunk.data(page, count, Encoding::RLE_DICTIONARY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::shard::{Footer, Rows, ShardReader, ShardWriter};
    use bytes::Bytes;
    use manaka_core::Conventions;
    use parquet::column::page::Page;
    use parquet::column::writer::ColumnCloseResult;
    use parquet::file::serialized_reader::SerializedPageReader;
    use proptest::prelude::*;
    use proptest::sample::select;
    use std::sync::Arc;

    /// Position, ply, outcome, value_q, weight and candidates of a row.
    type Row = ([u8; PACKED_LEN], u16, Option<f32>, f32, u32, Vec<(u16, f32, i16)>);

    fn row() -> impl Strategy<Value = Row> {
        let cp = prop_oneof![-300i16..300, any::<i16>(), Just(i16::MAX), Just(i16::MIN)];
        let mv = prop_oneof![0u16..20, any::<u16>()];
        (
            prop::array::uniform32(any::<u8>()).prop_map(|bytes| {
                let mut packed = [0; PACKED_LEN];
                packed[..32].copy_from_slice(&bytes);
                packed
            }),
            any::<u16>(),
            prop::option::of(select(&[-1.0f32, 0.0, 0.25, 1.0][..])),
            prop_oneof![-1.0f32..=1.0, select(&[0.0f32, -0.0, 0.5][..])],
            prop_oneof![Just(1u32), any::<u32>()],
            prop::collection::vec((mv, 0.0f32..=1.0, cp), 1..12),
        )
    }

    /// Writes the rows as a shard of one row group and compares what the reader says.
    fn assert_comes_back(rows: &[Row], source: PolicySource, outcomes: Outcomes) {
        let scores = source == PolicySource::SoftmaxCp;
        let conventions = if scores { Conventions::TEACHER } else { Conventions::VISITS };
        let mut group = GroupBuilder::default();
        for (packed, ply, value_z, value_q, weight, candidates) in rows {
            let value_z = if outcomes == Outcomes::Stated { Some(value_z.unwrap_or(1.0)) } else { *value_z };
            group.push_row(packed, *ply, *weight, value_z, *value_q);
            if scores {
                let probs: Vec<f32> = candidates.iter().map(|candidate| candidate.1).collect();
                group.push_scores(candidates.iter().map(|&(mv, _, cp)| (mv, cp)), &probs);
            } else {
                for (at, &(mv, prob, _)) in candidates.iter().enumerate() {
                    group.push_candidate(at == 0, mv, prob, None);
                }
            }
        }
        let mut encoder = GroupEncoder::new(source, outcomes).unwrap();
        // What is left of a group before does not show.
        let mut other = GroupBuilder::default();
        other.push_row(&[9; PACKED_LEN], 9, 9, Some(0.5), 0.5);
        other.push_candidate(true, 9, 1.0, scores.then_some(9));
        encoder.encode(&other).unwrap();
        let encoded = encoder.encode(&group).unwrap();
        assert_eq!(encoded.rows(), rows.len() as u64);

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.parquet");
        let policy = Policy::new(conventions, 100.0).unwrap();
        let mut shard = ShardWriter::create(&path, &Footer::of(&policy), outcomes).unwrap();
        shard.append(encoded).unwrap();
        shard.finish().unwrap();

        let mut found = Rows::default();
        ShardReader::open(&path).unwrap().read_row_group(0, &mut found).unwrap();
        assert_eq!(found.len(), rows.len());
        for (at, (packed, ply, value_z, value_q, weight, candidates)) in rows.iter().enumerate() {
            assert_eq!((&found.packed[at], found.ply[at], found.weight[at]), (packed, *ply, *weight));
            assert_eq!(found.value_q[at].to_bits(), value_q.to_bits());
            let stated = match (scores, outcomes) {
                (true, _) => None,
                (false, Outcomes::Stated) => Some(Some(value_z.unwrap_or(1.0))),
                (false, Outcomes::SomeAbsent) => Some(*value_z),
            };
            assert_eq!(found.value_z.get(at).copied(), stated);
            let listed: Vec<_> = found
                .candidates(at)
                .map(|at| (found.mv[at], found.prob[at].to_bits(), found.cp.get(at).copied()))
                .collect();
            let expected: Vec<_> =
                candidates.iter().map(|&(mv, prob, cp)| (mv, prob.to_bits(), scores.then_some(cp))).collect();
            assert_eq!(listed, expected, "row {at}");
        }
    }

    const KINDS: [(PolicySource, Outcomes); 3] = [
        (PolicySource::SoftmaxCp, Outcomes::Stated),
        (PolicySource::Visits, Outcomes::Stated),
        (PolicySource::Visits, Outcomes::SomeAbsent),
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_parquet_reader_gives_back_the_rows(rows in prop::collection::vec(row(), 1..300), kind in select(&KINDS[..])) {
            assert_comes_back(&rows, kind.0, kind.1);
        }
    }

    #[test]
    fn a_whole_group_of_values_that_are_all_different_comes_back() {
        let rows: Vec<Row> = (0u16..8192)
            .map(|n| {
                let mut packed = [0; PACKED_LEN];
                packed[..2].copy_from_slice(&n.to_le_bytes());
                let near = |step: u16| n.wrapping_mul(step).cast_signed();
                let candidates = (0..4).map(|k| (n + 8192 * k, f32::from(k), near(4 * k + 1))).collect();
                (packed, n, None, f32::from(n) / 8192.0, u32::from(n) << 12, candidates)
            })
            .collect();
        for (source, outcomes) in KINDS {
            assert_comes_back(&rows, source, outcomes);
        }
    }

    #[test]
    fn rows_that_are_all_the_same_come_back() {
        let row = ([3; PACKED_LEN], 7, None, 0.5, 1, vec![(5, 1.0, -3); 593]);
        for (source, outcomes) in KINDS {
            for count in [1, 2, 31, 32, 33, 128, 129, 130] {
                assert_comes_back(&vec![row.clone(); count], source, outcomes);
            }
        }
    }

    /// The dictionary and the data pages of a column, decompressed.
    type Pages = (Option<Bytes>, Vec<(Encoding, Bytes)>);

    /// The pages of every column, taken apart by Parquet's reader.
    fn pages(group: &EncodedGroup) -> Vec<Pages> {
        let read = |column: &ColumnCloseResult| {
            let bytes = Arc::new(group.bytes().clone());
            let rows = usize::try_from(group.rows()).unwrap();
            let (mut dictionary, mut data) = (None, Vec::new());
            for page in SerializedPageReader::new(bytes, &column.metadata, rows, None).unwrap() {
                match page.unwrap() {
                    Page::DictionaryPage { buf, encoding: Encoding::PLAIN, .. } => dictionary = Some(buf),
                    Page::DataPage { buf, encoding, .. } => data.push((encoding, buf)),
                    page => unreachable!("{page:?}"),
                }
            }
            (dictionary, data)
        };
        group.columns().iter().map(read).collect()
    }

    #[test]
    fn a_chunk_is_one_page_whose_levels_and_indices_are_one_run_each() {
        // shards.md §7, written out by hand.
        let mut group = GroupBuilder::default();
        for (ply, weight, value_z, value_q, moves) in [
            (1, 1, Some(1.0), 0.5, &[5, 6][..]),
            (2, 2, None, -0.5, &[5]),
            (300, 3, Some(-1.0), 0.0, &[5; 14]),
        ] {
            group.push_row(&[7; PACKED_LEN], ply, weight, value_z, value_q);
            for (at, &mv) in moves.iter().enumerate() {
                group.push_candidate(at == 0, mv, 1.0, None);
            }
        }
        let mut encoder = GroupEncoder::new(PolicySource::Visits, Outcomes::SomeAbsent).unwrap();
        // 17 candidates: the levels 0 1 0 0 and thirteen times 1 packed, and a run of the level 1. Others would cut where
        // eight are equal.
        let listed = [&[4, 0, 0, 0, 7, 0b1111_0010, 0xFF, 1][..], &[2, 0, 0, 0, 34, 1]].concat();
        let candidates = |values: &[u8]| [&listed, values].concat();
        let split = Encoding::BYTE_STREAM_SPLIT;
        let floats = |values: [f32; 2]| Some(values.map(f32::to_le_bytes).concat());
        let expected = [
            (None, Encoding::PLAIN, vec![7; 3 * PACKED_LEN]),
            (None, split, vec![1, 2, 44, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
            (floats([1.0, -1.0]), Encoding::RLE_DICTIONARY, vec![2, 0, 0, 0, 3, 0b101, 1, 3, 0b10]),
            (None, split, vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3F, 0xBF, 0]),
            (None, split, vec![1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (Some(vec![5, 0, 0, 0, 6, 0, 0, 0]), Encoding::RLE_DICTIONARY, candidates(&[1, 7, 0b10, 0, 0])),
            (None, split, candidates(&[[0; 17], [0; 17], [0x80; 17], [0x3F; 17]].concat())),
            // Blocks of 128 in 4 miniblocks, and no value.
            (None, Encoding::DELTA_BINARY_PACKED, candidates(&[0x80, 1, 4, 0, 0])),
        ];
        let found = pages(&encoder.encode(&group).unwrap());
        assert_eq!(found.len(), expected.len());
        for (name, ((dictionary, data), (values, encoding, page))) in
            columns(PolicySource::Visits).zip(found.into_iter().zip(expected))
        {
            assert_eq!(dictionary, values.map(Bytes::from), "{name}");
            assert_eq!(data, [(encoding, page.into())], "{name}");
        }
    }

    #[test]
    fn a_row_without_an_outcome_is_refused_where_all_are_said_to_have_one() {
        let mut group = GroupBuilder::default();
        group.push_row(&[0; PACKED_LEN], 1, 1, None, 0.0);
        group.push_candidate(true, 5, 1.0, None);
        let mut encoder = GroupEncoder::new(PolicySource::Visits, Outcomes::Stated).unwrap();
        assert!(encoder.encode(&group).is_err());
    }
}
