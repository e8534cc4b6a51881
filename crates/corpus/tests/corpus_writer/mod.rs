//! Writes corpora by hand, in any of the shapes that writers in the field give them. Shared by the tests of both crates.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::missing_panics_doc, reason = "a test tool")]

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// A row; `None` is a null. A text is bytes, because a file may hold any.
#[derive(Clone, Debug, PartialEq)]
pub struct RowSpec {
    pub sfen: Option<Vec<u8>>,
    pub side: Option<i64>,
    pub ply: Option<i64>,
    pub cp: Option<i64>,
    pub depth: Option<i64>,
    pub cand_move: Option<Vec<Option<Vec<u8>>>>,
    pub cand_cp: Option<Vec<Option<i64>>>,
    pub mv: Option<Vec<u8>>,
    pub result: Option<i64>,
}

pub fn text(text: &str) -> Option<Vec<u8>> {
    Some(text.as_bytes().to_vec())
}

impl RowSpec {
    /// A sound row: the start position with two candidates.
    pub fn sound() -> Self {
        Self {
            sfen: text("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"),
            side: Some(0),
            ply: Some(1),
            cp: Some(35),
            depth: Some(9),
            cand_move: None,
            cand_cp: None,
            mv: text("7g7f"),
            result: Some(1),
        }
        .candidates(&[("7g7f", 35), ("2g2f", 20)])
    }

    pub fn candidates(mut self, list: &[(&str, i64)]) -> Self {
        self.cand_move = Some(list.iter().map(|(mv, _)| text(mv)).collect());
        self.cand_cp = Some(list.iter().map(|&(_, cp)| Some(cp)).collect());
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// How a list column is laid out.
#[derive(Clone, Copy, Debug)]
pub enum ListForm {
    /// `optional group L (LIST) { repeated group <inner> { optional <element> } }`
    Three { inner: &'static str, element: &'static str },
    /// As `Three`, list and element required.
    ThreeRequired,
    /// `optional group L (LIST) { repeated <element> }`
    Two,
    /// `repeated <element> L`
    Bare,
}

/// How a corpus is stored.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Parquet types of the five integer columns and of `cand_cp`, as the schema language writes them.
    pub side: &'static str,
    pub ply: &'static str,
    pub cp: &'static str,
    pub cand_cp: &'static str,
    pub result: &'static str,
    /// The type of the three texts, with `{}` for the name.
    pub text: &'static str,
    pub list: ListForm,
    /// Flat columns are `optional`, or `required`.
    pub required: bool,
    pub compression: Compression,
    pub version: WriterVersion,
    pub dictionary: bool,
    pub text_encoding: Option<Encoding>,
    pub int_encoding: Option<Encoding>,
    pub rows_per_group: usize,
    pub page_rows: usize,
    /// Columns to leave out, by name.
    pub without: &'static [&'static str],
    /// Integer columns to add at the end.
    pub extra: &'static [&'static str],
    /// A whole column definition instead of the usual one: name and text. The column must not be written.
    pub replace: &'static [(&'static str, &'static str)],
}

pub const INT_8: &str = "int32 {} (INTEGER(8,true))";
pub const UINT_8: &str = "int32 {} (INTEGER(8,false))";
pub const INT_16: &str = "int32 {} (INTEGER(16,true))";
pub const UINT_16: &str = "int32 {} (INTEGER(16,false))";
pub const PLAIN_32: &str = "int32 {}";
pub const UINT_32: &str = "int32 {} (INTEGER(32,false))";
pub const PLAIN_64: &str = "int64 {}";
pub const UINT_64: &str = "int64 {} (INTEGER(64,false))";
pub const LEGACY_UINT_32: &str = "int32 {} (UINT_32)";

impl Default for Layout {
    fn default() -> Self {
        Self {
            side: UINT_8,
            ply: PLAIN_64,
            cp: PLAIN_64,
            cand_cp: PLAIN_64,
            result: INT_8,
            text: "binary {} (STRING)",
            list: ListForm::Three { inner: "list", element: "element" },
            required: false,
            compression: Compression::ZSTD(Default::default()),
            version: WriterVersion::PARQUET_1_0,
            dictionary: true,
            text_encoding: None,
            int_encoding: None,
            rows_per_group: 1 << 20,
            page_rows: 20_000,
            without: &[],
            extra: &[],
            replace: &[],
        }
    }
}

impl Layout {
    fn field(&self, name: &str, kind: &str, list: bool) -> String {
        if let Some((_, text)) = self.replace.iter().find(|(column, _)| *column == name) {
            return (*text).to_owned();
        }
        let flat = if self.required { "required" } else { "optional" };
        let typed = |name: &str| kind.replace("{}", name);
        match (list, self.list) {
            (false, _) => format!("{flat} {};", typed(name)),
            (true, ListForm::Three { inner, element }) => {
                format!(
                    "optional group {name} (LIST) {{ repeated group {inner} {{ optional {}; }} }}",
                    typed(element)
                )
            }
            (true, ListForm::ThreeRequired) => format!(
                "required group {name} (LIST) {{ repeated group list {{ required {}; }} }}",
                typed("element")
            ),
            (true, ListForm::Two) => {
                format!("optional group {name} (LIST) {{ repeated {}; }}", typed("element"))
            }
            (true, ListForm::Bare) => format!("repeated {};", typed(name)),
        }
    }

    fn schema(&self) -> String {
        let columns = [
            ("sfen", self.text, false),
            ("side", self.side, false),
            ("ply", self.ply, false),
            ("cp", self.cp, false),
            ("depth", UINT_8, false),
            ("cand_move", self.text, true),
            ("cand_cp", self.cand_cp, true),
            ("move", self.text, false),
            ("result", self.result, false),
        ];
        let fields = columns
            .iter()
            .filter(|(name, ..)| !self.without.contains(name))
            .map(|(name, kind, list)| self.field(name, kind, *list))
            .chain(self.extra.iter().map(|name| self.field(name, PLAIN_32, false)));
        format!("message corpus {{ {} }}", fields.collect::<Vec<_>>().join(" "))
    }

    fn properties(&self) -> WriterProperties {
        let mut builder = WriterProperties::builder()
            .set_compression(self.compression)
            .set_writer_version(self.version)
            .set_dictionary_enabled(self.dictionary)
            .set_data_page_row_count_limit(self.page_rows)
            .set_write_batch_size(self.page_rows.min(1024));
        for (path, encoding) in [
            ("sfen", self.text_encoding),
            ("move", self.text_encoding),
            ("cand_move.list.element", self.text_encoding),
            ("ply", self.int_encoding),
            ("cp", self.int_encoding),
            ("cand_cp.list.element", self.int_encoding),
        ] {
            if let Some(encoding) = encoding {
                let path = parquet::schema::types::ColumnPath::from(
                    path.split('.').map(str::to_owned).collect::<Vec<_>>(),
                );
                builder = builder.set_column_encoding(path, encoding);
            }
        }
        builder.build()
    }

    /// Levels of a list column: list there, an element there, a value there.
    fn list_levels(&self) -> (i16, i16, i16) {
        match self.list {
            ListForm::Three { .. } => (1, 2, 3),
            ListForm::ThreeRequired | ListForm::Bare => (0, 1, 1),
            ListForm::Two => (1, 2, 2),
        }
    }
}

/// Writes the rows to `path`.
pub fn write(path: &Path, layout: &Layout, rows: &[RowSpec]) {
    let schema = Arc::new(parse_message_type(&layout.schema()).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(layout.properties())).unwrap();
    for rows in rows.chunks(layout.rows_per_group) {
        let mut group = writer.next_row_group().unwrap();
        let mut columns = Columns { group: &mut group, layout };
        columns.texts("sfen", rows.iter().map(|row| row.sfen.clone()));
        columns.ints("side", layout.side, rows.iter().map(|row| row.side));
        columns.ints("ply", layout.ply, rows.iter().map(|row| row.ply));
        columns.ints("cp", layout.cp, rows.iter().map(|row| row.cp));
        columns.ints("depth", UINT_8, rows.iter().map(|row| row.depth));
        columns.text_lists("cand_move", rows.iter().map(|row| row.cand_move.clone()));
        columns.int_lists("cand_cp", layout.cand_cp, rows.iter().map(|row| row.cand_cp.clone()));
        columns.texts("move", rows.iter().map(|row| row.mv.clone()));
        columns.ints("result", layout.result, rows.iter().map(|row| row.result));
        for _ in layout.extra {
            columns.ints("an extra column", PLAIN_32, rows.iter().map(|_| Some(7)));
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

struct Columns<'a, 'b> {
    group: &'a mut SerializedRowGroupWriter<'b, File>,
    layout: &'a Layout,
}

/// Values with their levels, as the column writers want them.
struct Shredded<T> {
    values: Vec<T>,
    def: Vec<i16>,
    rep: Vec<i16>,
}

impl<T> Shredded<T> {
    /// Definition and repetition levels, for columns that have such levels.
    fn levels(&self) -> (Option<&[i16]>, Option<&[i16]>) {
        (Some(&self.def[..]).filter(|def| !def.is_empty()), Some(&self.rep[..]).filter(|rep| !rep.is_empty()))
    }
}

impl Columns<'_, '_> {
    fn left_out(&self, name: &str) -> bool {
        self.layout.without.contains(&name)
    }

    fn flat<T>(&self, rows: impl Iterator<Item = Option<T>>) -> Shredded<T> {
        let mut out = Shredded { values: Vec::new(), def: Vec::new(), rep: Vec::new() };
        for value in rows {
            assert!(value.is_some() || !self.layout.required, "a required column takes no null");
            if !self.layout.required {
                out.def.push(i16::from(value.is_some()));
            }
            out.values.extend(value);
        }
        out
    }

    fn lists<T>(&self, rows: impl Iterator<Item = Option<Vec<Option<T>>>>) -> Shredded<T> {
        let (list, element, value) = self.layout.list_levels();
        let mut out = Shredded { values: Vec::new(), def: Vec::new(), rep: Vec::new() };
        for row in rows {
            let Some(row) = row else {
                assert!(list > 0, "this list cannot be null");
                out.def.push(list - 1);
                out.rep.push(0);
                continue;
            };
            if row.is_empty() {
                out.def.push(element - 1);
                out.rep.push(0);
            }
            for (i, item) in row.into_iter().enumerate() {
                assert!(item.is_some() || value > element, "this element cannot be null");
                out.def.push(if item.is_some() { value } else { value - 1 });
                out.rep.push(i16::from(i > 0));
                out.values.extend(item);
            }
        }
        out
    }

    fn texts(&mut self, name: &str, rows: impl Iterator<Item = Option<Vec<u8>>>) {
        if !self.left_out(name) {
            let out = self.flat(rows);
            self.put_texts(out);
        }
    }

    fn text_lists(&mut self, name: &str, rows: impl Iterator<Item = Option<Vec<Option<Vec<u8>>>>>) {
        if !self.left_out(name) {
            let out = self.lists(rows);
            self.put_texts(out);
        }
    }

    fn ints(&mut self, name: &str, kind: &str, rows: impl Iterator<Item = Option<i64>>) {
        if !self.left_out(name) {
            let out = self.flat(rows);
            self.put_ints(kind, out);
        }
    }

    fn int_lists(&mut self, name: &str, kind: &str, rows: impl Iterator<Item = Option<Vec<Option<i64>>>>) {
        if !self.left_out(name) {
            let out = self.lists(rows);
            self.put_ints(kind, out);
        }
    }

    fn put_texts(&mut self, out: Shredded<Vec<u8>>) {
        let values: Vec<_> = out.values.iter().map(|value| ByteArray::from(value.as_slice())).collect();
        let (def, rep) = out.levels();
        let mut column = self.group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, def, rep).unwrap();
        column.close().unwrap();
    }

    fn put_ints(&mut self, kind: &str, out: Shredded<i64>) {
        let mut column = self.group.next_column().unwrap().unwrap();
        let (def, rep) = out.levels();
        if kind.starts_with("int64") {
            column.typed::<Int64Type>().write_batch(&out.values, def, rep).unwrap();
        } else {
            // A u32 is stored as the i32 with the same bits.
            let values: Vec<_> = out
                .values
                .iter()
                .map(|&v| i32::try_from(v).unwrap_or_else(|_| u32::try_from(v).unwrap().cast_signed()))
                .collect();
            column.typed::<Int32Type>().write_batch(&values, def, rep).unwrap();
        }
        column.close().unwrap();
    }
}
