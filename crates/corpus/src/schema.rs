//! The columns of a corpus and the shapes a writer may give them (corpus.md §3).

use crate::error::{Error, Result};
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type};
use std::fmt;
use std::path::Path;

/// A column of the schema.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "corpus.md §3 says what each one means")]
pub enum Column {
    Sfen,
    Side,
    Ply,
    Cp,
    Depth,
    CandMove,
    CandCp,
    Move,
    Result,
}

/// Every column, in the order of corpus.md §3.
pub const COLUMNS: [Column; 9] = [
    Column::Sfen,
    Column::Side,
    Column::Ply,
    Column::Cp,
    Column::Depth,
    Column::CandMove,
    Column::CandCp,
    Column::Move,
    Column::Result,
];

impl Column {
    /// Its name in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sfen => "sfen",
            Self::Side => "side",
            Self::Ply => "ply",
            Self::Cp => "cp",
            Self::Depth => "depth",
            Self::CandMove => "cand_move",
            Self::CandCp => "cand_cp",
            Self::Move => "move",
            Self::Result => "result",
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Text,
    Int,
    Texts,
    Ints,
}

impl Wanted {
    const fn name(self) -> &'static str {
        match self {
            Self::Text => "a text (BYTE_ARRAY)",
            Self::Int => "an integer (INT32 or INT64)",
            Self::Texts => "a list of texts (BYTE_ARRAY)",
            Self::Ints => "a list of integers (INT32 or INT64)",
        }
    }
}

/// How the values of an integer column are to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Signedness {
    Signed,
    Unsigned,
}

/// Where a column's values are, and what its definition levels mean.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub column: Column,
    /// Index among the leaves of the file.
    pub index: usize,
    pub descr: ColumnDescPtr,
    pub signedness: Signedness,
    /// From this level on a list is there; below it is null. Of no use for a flat column.
    pub list_present: i16,
    /// From this level on a list has an element; below it is empty. Of no use for a flat column.
    pub element_present: i16,
    /// At this level there is a value; below it is null.
    pub value: i16,
}

/// The leaves of the columns that are read. `depth` only has to be there.
#[derive(Clone, Debug)]
pub(crate) struct Leaves {
    pub sfen: Leaf,
    pub side: Leaf,
    pub ply: Leaf,
    pub cp: Leaf,
    pub cand_move: Leaf,
    pub cand_cp: Leaf,
    pub mv: Leaf,
    pub result: Leaf,
}

impl Leaves {
    pub(crate) fn all(&self) -> [&Leaf; 8] {
        let Self { sfen, side, ply, cp, cand_move, cand_cp, mv, result } = self;
        [sfen, side, ply, cp, cand_move, cand_cp, mv, result]
    }

    /// Finds every column of the schema; all that is missing is reported at once.
    pub(crate) fn find(path: &Path, schema: &SchemaDescriptor) -> Result<Self> {
        let fields = schema.root_schema().get_fields();
        let missing: Vec<_> = COLUMNS
            .into_iter()
            .filter(|column| !fields.iter().any(|field| field.name() == column.name()))
            .collect();
        if !missing.is_empty() {
            let found = fields.iter().map(|field| field.name().to_owned()).collect();
            return Err(Error::MissingColumns { path: path.to_owned(), missing, found });
        }
        let find = |column, wanted| leaf(path, schema, column, wanted);
        Ok(Self {
            sfen: find(Column::Sfen, Wanted::Text)?,
            side: find(Column::Side, Wanted::Int)?,
            ply: find(Column::Ply, Wanted::Int)?,
            cp: find(Column::Cp, Wanted::Int)?,
            cand_move: find(Column::CandMove, Wanted::Texts)?,
            cand_cp: find(Column::CandCp, Wanted::Ints)?,
            mv: find(Column::Move, Wanted::Text)?,
            result: find(Column::Result, Wanted::Int)?,
        })
    }
}

fn leaf(path: &Path, schema: &SchemaDescriptor, column: Column, wanted: Wanted) -> Result<Leaf> {
    let wrong =
        |found: String| Error::ColumnType { path: path.to_owned(), column, wanted: wanted.name(), found };
    let mut roots = schema.root_schema().get_fields().iter().filter(|field| field.name() == column.name());
    let (Some(root), None) = (roots.next(), roots.next()) else {
        return Err(wrong("there twice".to_owned()));
    };
    // A group's leaves are adjacent; a column of the schema has exactly one.
    let mut leaves = schema
        .columns()
        .iter()
        .enumerate()
        .filter(|(_, c)| c.path().parts().first().is_some_and(|p| p == column.name()));
    let (Some((index, descr)), None) = (leaves.next(), leaves.next()) else {
        return Err(wrong(describe(root)));
    };

    let list = matches!(wanted, Wanted::Texts | Wanted::Ints);
    let shape = if list { list_shape(root) } else { flat_shape(root) };
    let Some((list_present, value)) = shape else { return Err(wrong(describe(root))) };
    let signedness = match wanted {
        Wanted::Text | Wanted::Texts => is_text(descr.self_type()).then_some(Signedness::Signed),
        Wanted::Int | Wanted::Ints => signedness(descr.self_type()),
    };
    let Some(signedness) = signedness else { return Err(wrong(describe(root))) };
    // The crate counted the levels too; a disagreement would misread every row.
    if (descr.max_def_level(), descr.max_rep_level()) != (value, i16::from(list)) {
        return Err(wrong(describe(root)));
    }
    Ok(Leaf {
        column,
        index,
        descr: descr.clone(),
        signedness,
        list_present,
        element_present: list_present + 1,
        value,
    })
}

fn optional(node: &Type) -> i16 {
    i16::from(
        node.get_basic_info().has_repetition() && node.get_basic_info().repetition() == Repetition::OPTIONAL,
    )
}

fn repeated(node: &Type) -> bool {
    node.get_basic_info().has_repetition() && node.get_basic_info().repetition() == Repetition::REPEATED
}

/// The level at which a list is there, and that of a value. A flat column has no list: 0.
fn flat_shape(root: &Type) -> Option<(i16, i16)> {
    (root.is_primitive() && !repeated(root)).then(|| (0, optional(root)))
}

/// As [`flat_shape`], for the three-level form with any inner names, the legacy two-level form, and a bare repeated
/// field.
fn list_shape(root: &Type) -> Option<(i16, i16)> {
    if root.is_primitive() {
        return repeated(root).then_some((0, 1));
    }
    let [middle] = root.get_fields() else { return None };
    if repeated(root) || !repeated(middle) {
        return None;
    }
    let list_present = optional(root);
    if middle.is_primitive() {
        return Some((list_present, list_present + 1));
    }
    let [element] = middle.get_fields() else { return None };
    (element.is_primitive() && !repeated(element))
        .then(|| (list_present, list_present + 1 + optional(element)))
}

fn is_text(node: &Type) -> bool {
    let info = node.get_basic_info();
    let annotated = match info.logical_type_ref() {
        None => matches!(
            info.converted_type(),
            ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON
        ),
        Some(logical) => matches!(logical, LogicalType::String | LogicalType::Enum | LogicalType::Json),
    };
    node.get_physical_type() == Physical::BYTE_ARRAY && annotated
}

fn signedness(node: &Type) -> Option<Signedness> {
    if !matches!(node.get_physical_type(), Physical::INT32 | Physical::INT64) {
        return None;
    }
    let info = node.get_basic_info();
    let signed = match (info.logical_type_ref(), info.converted_type()) {
        (Some(LogicalType::Integer(int)), _) => int.is_signed,
        (Some(_), _) => return None,
        (
            None,
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64,
        ) => true,
        (
            None,
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64,
        ) => false,
        (None, _) => return None,
    };
    Some(if signed { Signedness::Signed } else { Signedness::Unsigned })
}

/// A type as an error shows it: `optional group { repeated group { optional DOUBLE } }`.
fn describe(node: &Type) -> String {
    let info = node.get_basic_info();
    let repetition = match (info.has_repetition(), info.has_repetition().then(|| info.repetition())) {
        (true, Some(Repetition::OPTIONAL)) => "optional ",
        (true, Some(Repetition::REPEATED)) => "repeated ",
        _ => "",
    };
    let logical = match (info.logical_type_ref(), info.converted_type()) {
        (Some(logical), _) => format!(" ({logical:?})"),
        (None, ConvertedType::NONE) => String::new(),
        (None, converted) => format!(" ({converted})"),
    };
    if node.is_primitive() {
        return format!("{repetition}{}{logical}", node.get_physical_type());
    }
    let fields: Vec<_> = node.get_fields().iter().take(4).map(|field| describe(field)).collect();
    format!("{repetition}group{logical} {{ {} }}", fields.join("; "))
}
