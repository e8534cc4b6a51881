//! Shards put together row by row, by the general Parquet writer, with whatever is wrong with them.
#![allow(dead_code, reason = "every test file uses some of it")]

use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// SplitMix64.
pub struct Draws(pub u64);

impl Draws {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A multiple of 1/64 in [-1, 1]: sums of them are exact.
    pub fn value(&mut self) -> f32 {
        self.below(129) as f32 / 64.0 - 1.0
    }
}

#[derive(Clone, Debug)]
pub struct Row {
    pub packed: [u8; 96],
    pub ply: u16,
    pub value_z: f32,
    pub value_q: f32,
    pub weight: u32,
    pub candidates: Vec<(u16, f32)>,
}

/// A full set, or most of it, thrown on the board and into the hands.
pub fn position(draws: &mut Draws) -> [u8; 96] {
    let mut packed = [0xFF; 96];
    packed[81..].fill(0);
    packed[95] = draws.below(2) as u8;
    for king in [0x00, 0x10] {
        let free: Vec<usize> = (0..81).filter(|&s| packed[s] == 0xFF).collect();
        packed[free[draws.below(free.len())]] = king;
    }
    let in_hand = draws.below(100);
    // By hand index P L N S G B R: how many, on the board, promoted (none for gold).
    let kinds = [(18, 7, 13), (4, 6, 12), (4, 5, 11), (4, 4, 10), (4, 3, 3), (2, 2, 9), (2, 1, 8)];
    for (hand, (count, plain, promoted)) in kinds.into_iter().enumerate() {
        for _ in 0..count {
            let white = draws.below(2);
            if draws.below(20) == 0 {
                continue;
            }
            if draws.below(100) < in_hand {
                packed[81 + 7 * white + hand] += 1;
                continue;
            }
            let free: Vec<usize> = (0..81).filter(|&s| packed[s] == 0xFF).collect();
            let kind = if draws.below(3) == 0 { promoted } else { plain };
            packed[free[draws.below(free.len())]] = kind | (white as u8) << 4;
        }
    }
    packed
}

/// A move some piece could make: a drop, or along a line, or a knight's.
fn some_move(draws: &mut Draws) -> u16 {
    loop {
        let (from, to) = (draws.below(81) as i32, draws.below(81) as i32);
        if draws.below(4) == 0 {
            return (to + 128 * (81 + draws.below(7) as i32)) as u16;
        }
        let (files, ranks) = ((from / 9 - to / 9).abs(), (from % 9 - to % 9).abs());
        if from != to && (files == 0 || ranks == 0 || files == ranks) {
            return (to + 128 * from + (draws.below(2) as i32) * 16384) as u16;
        }
    }
}

pub fn rows(count: usize, seed: u64) -> Vec<Row> {
    let mut draws = Draws(seed);
    (0..count)
        .map(|_| {
            let probs: &[f32] = [&[1.0][..], &[0.5, 0.25, 0.25], &[0.75, 0.25]][draws.below(3)];
            Row {
                packed: position(&mut draws),
                ply: draws.below(300) as u16,
                value_z: draws.value(),
                value_q: draws.value(),
                weight: 1 + draws.below(40) as u32,
                candidates: probs.iter().map(|&prob| (some_move(&mut draws), prob)).collect(),
            }
        })
        .collect()
}

#[derive(Clone)]
pub struct Shard {
    pub visits: bool,
    pub footer: Vec<(String, String)>,
    pub rows: Vec<Row>,
    pub group: usize,
}

impl Shard {
    pub fn new(visits: bool, rows: Vec<Row>, group: usize) -> Self {
        let values = if visits {
            ["side_to_move", "visits", "0", "0", "0", "0", "0"]
        } else {
            ["side_to_move", "softmax_cp", "100", "30000", "320", "1512.173", "0"]
        };
        let keys =
            ["pov", "policy_source", "softmax_temp_cp", "mate_scale", "mate_slack", "eval_coef", "fv_scale"];
        let rest = [("packed", "mailbox position, side to move in the last byte"), ("writer", "test 1")];
        let footer = keys.into_iter().zip(values).chain(rest);
        let footer = footer.map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        Self { visits, footer, rows, group }
    }

    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.footer.iter_mut().find(|(k, _)| k == key).unwrap().1 = value.to_owned();
        self
    }

    pub fn write(&self, path: PathBuf) -> PathBuf {
        self.write_as(path, |schema| schema)
    }

    /// Writes the shard with a schema that is made another.
    pub fn write_as(&self, path: PathBuf, change: impl Fn(String) -> String) -> PathBuf {
        let value_z = if self.visits { "required float value_z;" } else { "" };
        let schema = change(format!(
            "message manaka {{
                required fixed_len_byte_array(96) packed;
                required int32 ply (INTEGER(16,false));
                {value_z}
                required float value_q;
                required int32 weight (INTEGER(32,false));
                required group candidates (LIST) {{
                    repeated group list {{
                        required group element {{
                            required int32 mv (INTEGER(16,false));
                            required float prob;
                            optional int32 cp (INTEGER(16,true));
                        }}
                    }}
                }}
            }}"
        ));
        let schema = parse_message_type(&schema).unwrap();
        let footer = self.footer.iter().map(|(k, v)| KeyValue::new(k.clone(), v.clone())).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).unwrap()))
            .set_key_value_metadata(Some(footer))
            .build();
        let file = File::create(&path).unwrap();
        let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).unwrap();
        for rows in self.rows.chunks(self.group) {
            let candidates = || rows.iter().flat_map(|row| row.candidates.iter());
            let packed: Vec<FixedLenByteArray> =
                rows.iter().map(|row| ByteArray::from(row.packed.to_vec()).into()).collect();
            let repetition: Vec<i16> =
                rows.iter().flat_map(|row| (0..row.candidates.len()).map(|at| i16::from(at > 0))).collect();
            let cp = if self.visits { vec![] } else { vec![0; repetition.len()] };
            let mut ints = vec![
                rows.iter().map(|row| i32::from(row.ply)).collect::<Vec<i32>>(),
                rows.iter().map(|row| row.weight.cast_signed()).collect(),
                candidates().map(|c| i32::from(c.0)).collect(),
                cp,
            ]
            .into_iter();
            let mut floats = vec![rows.iter().map(|row| row.value_q).collect::<Vec<f32>>()];
            if self.visits {
                floats.insert(0, rows.iter().map(|row| row.value_z).collect());
            }
            floats.push(candidates().map(|c| c.1).collect());
            let mut floats = floats.into_iter();
            let mut group = writer.next_row_group().unwrap();
            let last = if self.visits { 7 } else { 6 };
            let mut column = 0;
            while let Some(mut writer) = group.next_column().unwrap() {
                let level = if column == last && !self.visits { 2 } else { 1 };
                let definition = vec![level; repetition.len()];
                let listed = column > last - 3;
                let levels =
                    if listed { (Some(&definition[..]), Some(&repetition[..])) } else { (None, None) };
                match writer.untyped() {
                    ColumnWriter::FixedLenByteArrayColumnWriter(w) => w.write_batch(&packed, None, None),
                    ColumnWriter::Int32ColumnWriter(w) => {
                        w.write_batch(&ints.next().unwrap(), levels.0, levels.1)
                    }
                    ColumnWriter::FloatColumnWriter(w) => {
                        w.write_batch(&floats.next().unwrap(), levels.0, levels.1)
                    }
                    _ => unreachable!(),
                }
                .unwrap();
                writer.close().unwrap();
                column += 1;
            }
            group.close().unwrap();
        }
        writer.close().unwrap();
        path
    }
}

/// The rows, cut into shards of the given sizes and groups of `group`, in a directory.
pub fn directory(dir: &Path, visits: bool, rows: &[Row], sizes: &[usize], group: usize) -> PathBuf {
    std::fs::create_dir_all(dir).unwrap();
    let mut rest = rows;
    for (number, &size) in sizes.iter().enumerate() {
        let (part, behind) = rest.split_at(size);
        Shard::new(visits, part.to_vec(), group).write(dir.join(format!("s-{number:05}.parquet")));
        rest = behind;
    }
    assert!(rest.is_empty());
    dir.to_owned()
}
