//! A row group: its rows, column by column, and the bytes of its column chunks.
//!
//! Pages are made here and not by Parquet's column writers: values go from the rows into the page's bytes without a copy
//! in between, and buffers and zstd's context are used again for the next row group.

use super::encoding::{Dictionary, binary_levels, byte_stream_split, delta_binary_packed, equal_levels};
use super::schema::{CP, MV, Outcomes, PROB, columns, schema};
use bytes::Bytes;
use manaka_core::PolicySource;
use manaka_core::conventions::NO_OUTCOME;
use manaka_core::packed::PACKED_LEN;
use parquet::basic::{CompressionCodec, Encoding, PageType};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};
use std::mem;
use zstd::bulk::Compressor;
use zstd::zstd_safe::compress_bound;

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

/// A row group that is encoded and compressed, but in no file yet.
pub struct EncodedGroup {
    pub(super) rows: u64,
    /// Every column chunk, one behind the other; offsets of the columns are offsets in it.
    pub(super) bytes: Bytes,
    pub(super) columns: Vec<ColumnCloseResult>,
}

impl EncodedGroup {
    /// Its rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }
}

/// Encodes row groups; every thread may have one.
pub struct GroupEncoder {
    source: PolicySource,
    outcomes: Outcomes,
    columns: Vec<ColumnDescPtr>,
    zstd: Compressor<'static>,
    dictionary: Dictionary,
    page: Vec<u8>,
    compressed: Vec<u8>,
    /// Bytes of the last row group; the next takes about as many.
    last: usize,
}

/// zstd's level.
const LEVEL: i32 = 1;

impl GroupEncoder {
    /// An encoder of rows of this policy source, all of which have an outcome or not.
    ///
    /// # Errors
    /// None is known: the schema and the level are fixed.
    pub fn new(source: PolicySource, outcomes: Outcomes) -> Result<Self> {
        let columns = SchemaDescriptor::new(schema(source, outcomes)?).columns().to_vec();
        Ok(Self {
            source,
            outcomes,
            columns,
            zstd: Compressor::new(LEVEL)?,
            dictionary: Dictionary::default(),
            page: Vec::new(),
            compressed: Vec::new(),
            last: 0,
        })
    }

    /// Whether the column of outcomes may have nulls.
    #[must_use]
    pub const fn outcomes(&self) -> Outcomes {
        self.outcomes
    }

    /// Encodes the rows, of which there is at least one. The bytes depend on nothing else.
    ///
    /// # Errors
    /// A row without an outcome where the encoder was told that all have one. Else whatever the encoder has to say;
    /// nothing that rows can hold is known to make it speak.
    pub fn encode(&mut self, group: &GroupBuilder) -> Result<EncodedGroup> {
        let mut sink = TrackedWrite::new(Vec::with_capacity(self.last + self.last / 16));
        let mut closed = Vec::with_capacity(self.columns.len());
        for (name, descriptor) in columns(self.source).zip(self.columns.clone()) {
            let mut chunk = ChunkWriter::new(descriptor, &mut sink);
            self.column(name, group, &mut chunk)?;
            closed.push(chunk.close(group.rows() as u64)?);
        }
        let bytes = sink.into_inner()?;
        self.last = bytes.len();
        Ok(EncodedGroup { rows: group.rows() as u64, bytes: bytes.into(), columns: closed })
    }

    /// Writes the pages of one column.
    fn column(&mut self, name: &str, group: &GroupBuilder, chunk: &mut ChunkWriter<'_>) -> Result<()> {
        let (rows, candidates) = (group.rows(), group.mv.len());
        let mut page = mem::take(&mut self.page);
        page.clear();
        let listed = |definition, page: &mut Vec<u8>| {
            binary_levels(&group.repetition, page);
            equal_levels(definition, candidates, page);
        };
        let written = match name {
            "packed" => {
                // PLAIN: the values are the page.
                chunk.write(&mut self.zstd, &mut self.compressed, &group.packed, data(rows, Encoding::PLAIN))
            }
            "ply" => {
                byte_stream_split(group.ply.iter().map(|&ply| u32::from(ply).to_le_bytes()), &mut page);
                self.write(chunk, &page, data(rows, Encoding::BYTE_STREAM_SPLIT))
            }
            "weight" => {
                byte_stream_split(group.weight.iter().map(|weight| weight.to_le_bytes()), &mut page);
                self.write(chunk, &page, data(rows, Encoding::BYTE_STREAM_SPLIT))
            }
            "value_z" => {
                let stated: Vec<u32> =
                    group.value_z.iter().filter(|&&z| z != NO_OUTCOME).map(|z| z.to_bits()).collect();
                match self.outcomes {
                    Outcomes::Stated if stated.len() < rows => {
                        Err(ParquetError::General("a row has no outcome".to_owned()))
                    }
                    Outcomes::Stated => self.dictionary(chunk, stated.into_iter(), &mut page, rows),
                    Outcomes::SomeAbsent => {
                        let levels: Vec<u8> =
                            group.value_z.iter().map(|&z| u8::from(z != NO_OUTCOME)).collect();
                        binary_levels(&levels, &mut page);
                        self.dictionary(chunk, stated.into_iter(), &mut page, rows)
                    }
                }
            }
            "value_q" if self.source == PolicySource::SoftmaxCp => {
                let values = group.value_q.iter().map(|value| value.to_bits());
                self.dictionary(chunk, values, &mut page, rows)
            }
            "value_q" => {
                byte_stream_split(group.value_q.iter().map(|value| value.to_le_bytes()), &mut page);
                self.write(chunk, &page, data(rows, Encoding::BYTE_STREAM_SPLIT))
            }
            MV => {
                listed(1, &mut page);
                self.dictionary(chunk, group.mv.iter().map(|&mv| u32::from(mv)), &mut page, candidates)
            }
            PROB => {
                listed(1, &mut page);
                byte_stream_split(group.prob.iter().map(|prob| prob.to_le_bytes()), &mut page);
                self.write(chunk, &page, data(candidates, Encoding::BYTE_STREAM_SPLIT))
            }
            CP => {
                // 2 is a cp, 1 a candidate without one.
                listed(if group.cp.is_empty() { 1 } else { 2 }, &mut page);
                delta_binary_packed(&group.cp, &mut page);
                self.write(chunk, &page, data(candidates, Encoding::DELTA_BINARY_PACKED))
            }
            _ => Err(ParquetError::General(format!("there is no column {name}"))),
        };
        self.page = page;
        written
    }

    /// Writes a page of numbers.
    fn write(&mut self, chunk: &mut ChunkWriter<'_>, page: &[u8], kind: Kind) -> Result<()> {
        chunk.write(&mut self.zstd, &mut self.compressed, page, kind)
    }

    /// Writes the distinct values, then a page of `count` values whose levels are in `page` already.
    fn dictionary(
        &mut self,
        chunk: &mut ChunkWriter<'_>,
        values: impl ExactSizeIterator<Item = u32>,
        page: &mut Vec<u8>,
        count: usize,
    ) -> Result<()> {
        self.dictionary.fill(values);
        let distinct: Vec<u8> =
            self.dictionary.values().iter().flat_map(|value| value.to_le_bytes()).collect();
        self.write(chunk, &distinct, Kind::Dictionary(self.dictionary.values().len()))?;
        self.dictionary.indices(page);
        self.write(chunk, page, data(count, Encoding::RLE_DICTIONARY))
    }
}

/// What a page holds.
#[derive(Clone, Copy)]
enum Kind {
    /// So many distinct values, PLAIN.
    Dictionary(usize),
    /// So many values, nulls included.
    Data(usize, Encoding),
}

const fn data(count: usize, encoding: Encoding) -> Kind {
    Kind::Data(count, encoding)
}

/// Writes the pages of one column chunk and keeps its books.
struct ChunkWriter<'a> {
    descriptor: ColumnDescPtr,
    sink: &'a mut TrackedWrite<Vec<u8>>,
    compressed: i64,
    uncompressed: i64,
    values: i64,
    dictionary: Option<i64>,
    data: i64,
    pages: Vec<PageEncodingStats>,
}

impl<'a> ChunkWriter<'a> {
    const fn new(descriptor: ColumnDescPtr, sink: &'a mut TrackedWrite<Vec<u8>>) -> Self {
        Self {
            descriptor,
            sink,
            compressed: 0,
            uncompressed: 0,
            values: 0,
            dictionary: None,
            data: 0,
            pages: Vec::new(),
        }
    }

    /// Writes one page; `buffer` is for its compressed form.
    fn write(
        &mut self,
        zstd: &mut Compressor<'_>,
        buffer: &mut Vec<u8>,
        page: &[u8],
        kind: Kind,
    ) -> Result<()> {
        let mut compressed = mem::take(buffer);
        compressed.clear();
        compressed.reserve(compress_bound(page.len()));
        zstd.compress_to_buffer(page, &mut compressed)?;
        let compressed = Bytes::from(compressed);
        let count = |n: usize| u32::try_from(n).map_err(|error| ParquetError::External(Box::new(error)));
        let (made, encoding, page_type) = match kind {
            Kind::Dictionary(values) => {
                let (buf, num_values) = (compressed.clone(), count(values)?);
                let encoding = Encoding::PLAIN;
                (
                    Page::DictionaryPage { buf, num_values, encoding, is_sorted: false },
                    encoding,
                    PageType::DICTIONARY_PAGE,
                )
            }
            Kind::Data(values, encoding) => {
                let (buf, num_values) = (compressed.clone(), count(values)?);
                let (def_level_encoding, rep_level_encoding) = (Encoding::RLE, Encoding::RLE);
                self.values += i64::from(num_values);
                let statistics = None;
                (
                    Page::DataPage {
                        buf,
                        num_values,
                        encoding,
                        def_level_encoding,
                        rep_level_encoding,
                        statistics,
                    },
                    encoding,
                    PageType::DATA_PAGE,
                )
            }
        };
        let spec = SerializedPageWriter::new(self.sink).write_page(CompressedPage::new(made, page.len()))?;
        let signed = |n: u64| i64::try_from(n).map_err(|error| ParquetError::External(Box::new(error)));
        self.compressed += signed(spec.bytes_written)?;
        self.uncompressed += signed(spec.uncompressed_size as u64)?;
        match kind {
            Kind::Dictionary(_) => self.dictionary = Some(signed(spec.offset)?),
            Kind::Data(..) => self.data = signed(spec.offset)?,
        }
        self.pages.push(PageEncodingStats { page_type, encoding, count: 1 });
        // The page is gone, so this is the only handle, and the memory comes back.
        *buffer = compressed.into();
        Ok(())
    }

    fn close(self, rows: u64) -> Result<ColumnCloseResult> {
        // Levels are RLE.
        let encodings = self.pages.iter().map(|page| page.encoding).chain([Encoding::RLE]);
        let metadata = ColumnChunkMetaData::builder(self.descriptor)
            .set_compression_codec(CompressionCodec::ZSTD)
            .set_encodings(encodings.collect())
            .set_page_encoding_stats(self.pages)
            .set_total_compressed_size(self.compressed)
            .set_total_uncompressed_size(self.uncompressed)
            .set_num_values(self.values)
            .set_data_page_offset(self.data)
            .set_dictionary_page_offset(self.dictionary)
            .build()?;
        Ok(ColumnCloseResult {
            bytes_written: self.compressed.unsigned_abs(),
            rows_written: rows,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::shard::{Footer, Rows, ShardReader, ShardWriter};
    use manaka_core::Conventions;
    use proptest::prelude::*;
    use proptest::sample::select;

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

    #[test]
    fn a_row_without_an_outcome_is_refused_where_all_are_said_to_have_one() {
        let mut group = GroupBuilder::default();
        group.push_row(&[0; PACKED_LEN], 1, 1, None, 0.0);
        group.push_candidate(true, 5, 1.0, None);
        let mut encoder = GroupEncoder::new(PolicySource::Visits, Outcomes::Stated).unwrap();
        assert!(encoder.encode(&group).is_err());
    }
}
