//! Shards put together row by row, by the general Parquet writer, with whatever is wrong with them. Shared by the tests of
//! two crates.
#![allow(dead_code, reason = "every test binary uses its own part")]

use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Row {
    pub packed: [u8; 96],
    pub ply: u16,
    pub value_z: f32,
    pub value_q: f32,
    pub weight: u32,
    /// Move, prob, cp.
    pub candidates: Vec<(u16, f32, Option<i16>)>,
}

/// A shard to be written column by column.
#[derive(Clone, Debug)]
pub struct Shard {
    pub visits: bool,
    pub footer: Vec<(String, String)>,
    pub rows: Vec<Row>,
    pub group: usize,
}

impl Shard {
    /// Visits, or scores from the side to move with mates from 29680; row groups of `group` rows.
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
        match self.footer.iter_mut().find(|(k, _)| k == key) {
            Some(pair) => pair.1 = value.to_owned(),
            None => self.footer.push((key.to_owned(), value.to_owned())),
        }
        self
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
            let mut ints = vec![
                rows.iter().map(|row| i32::from(row.ply)).collect(),
                rows.iter().map(|row| row.weight.cast_signed()).collect(),
                candidates().map(|c| i32::from(c.0)).collect::<Vec<i32>>(),
                candidates().filter_map(|c| c.2).map(i32::from).collect(),
            ]
            .into_iter();
            let mut floats = vec![rows.iter().map(|row| row.value_q).collect::<Vec<f32>>()];
            if self.visits {
                floats.insert(0, rows.iter().map(|row| row.value_z).collect());
            }
            floats.push(candidates().map(|c| c.1).collect());
            let mut floats = floats.into_iter();
            // A row without candidates still takes one pair of levels.
            let (mut repetition, mut inside, mut with_cp) = (Vec::new(), Vec::new(), Vec::new());
            for row in rows {
                if row.candidates.is_empty() {
                    repetition.push(0);
                    inside.push(0);
                    with_cp.push(0);
                }
                for (at, candidate) in row.candidates.iter().enumerate() {
                    repetition.push(i16::from(at > 0));
                    inside.push(1);
                    with_cp.push(if candidate.2.is_some() { 2 } else { 1 });
                }
            }
            let mut group = writer.next_row_group().unwrap();
            let mut column = 0;
            while let Some(mut writer) = group.next_column().unwrap() {
                let listed = column >= if self.visits { 5 } else { 4 };
                let last = column == if self.visits { 7 } else { 6 };
                let definition = if last { &with_cp } else { &inside };
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
