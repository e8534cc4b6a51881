//! One column of a row group: levels and values in, rows out.

mod direct;
mod looked;

use crate::error::Cause;
use crate::file::{STEP_LEVELS, STEP_ROWS};
use crate::pages::Kind;
use crate::rows::{Ints, Lists, Nullable, Texts};
use crate::schema::{Leaf, Signedness};
use direct::{Direct, Int, Text};
use looked::Looked;
use parquet::basic::Type as Physical;
use parquet::column::page::PageReader;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};

/// A decoder of one column with the buffers it fills.
pub(crate) struct Cursor<T: DataType> {
    reader: ColumnReaderImpl<T>,
    leaf: Leaf,
    def: Vec<i16>,
    rep: Vec<i16>,
    values: Vec<T::T>,
}

impl<T: DataType> Cursor<T> {
    fn new(leaf: &Leaf, pages: Box<dyn PageReader>) -> Self {
        let reader = ColumnReaderImpl::new(leaf.descr.clone(), Box::new(Looked::new(leaf, pages)));
        Self { reader, leaf: leaf.clone(), def: Vec::new(), rep: Vec::new(), values: Vec::new() }
    }

    /// Decodes up to `rows` rows and says how many there were.
    fn fill(&mut self, rows: usize) -> Result<usize, Cause> {
        self.def.clear();
        self.rep.clear();
        self.values.clear();
        let mut have = 0;
        while have < rows {
            let (def, rep) = (&mut self.def, &mut self.rep);
            match self.reader.read_records(rows - have, Some(def), Some(rep), &mut self.values)?.0 {
                0 => break,
                more => have += more,
            }
        }
        Ok(have)
    }

    /// Decodes exactly `rows` rows.
    fn need(&mut self, rows: usize) -> Result<(), Cause> {
        if self.fill(rows)? == rows { Ok(()) } else { Err(ends_early()) }
    }

    /// Whether everything was read.
    fn at_end(&mut self) -> Result<(), Cause> {
        if self.fill(1)? == 0 { Ok(()) } else { Err(goes_on()) }
    }

    /// Reads `rows` rows of a flat column.
    fn flat<S: Nullable>(
        &mut self,
        rows: usize,
        out: &mut S,
        push: impl Fn(&mut S, &T::T) -> Result<(), Cause>,
    ) -> Result<(), Cause> {
        self.need(rows)?;
        if self.leaf.value == 0 {
            return self.values.iter().try_for_each(|value| push(out, value));
        }
        let mut values = self.values.iter();
        for &def in &self.def {
            if def == self.leaf.value {
                push(out, values.next().ok_or_else(bad_levels)?)?;
            } else {
                out.push_null();
            }
        }
        Ok(())
    }

    /// Reads `rows` rows of a list column.
    fn lists<S: Nullable>(
        &mut self,
        rows: usize,
        out: &mut Lists<S>,
        push: impl Fn(&mut S, &T::T) -> Result<(), Cause>,
    ) -> Result<(), Cause> {
        self.need(rows)?;
        let (before, leaf) = (out.spans.len(), &self.leaf);
        let mut values = self.values.iter();
        if self.def.len() != self.rep.len() {
            return Err(bad_levels());
        }
        for (&def, &rep) in self.def.iter().zip(&self.rep) {
            let at = out.elements.count();
            if rep == 0 {
                // A new row.
                out.spans.push(if def < leaf.list_present { Lists::<S>::NULL } else { (at, at) });
            }
            if def < leaf.element_present {
                if rep != 0 {
                    return Err(bad_levels());
                }
                continue;
            }
            // An element of this row, of this batch, with no null or empty list in between.
            match out.spans.get_mut(before..).and_then(<[_]>::last_mut) {
                Some((start, end)) if *end == at && (rep == 0 || *start < at) => *end += 1,
                _ => return Err(bad_levels()),
            }
            if def == leaf.value {
                push(&mut out.elements, values.next().ok_or_else(bad_levels)?)?;
            } else if def < leaf.value {
                out.elements.push_null();
            } else {
                return Err(bad_levels());
            }
        }
        if out.spans.len() - before == rows { Ok(()) } else { Err(bad_levels()) }
    }
}

fn bad_levels() -> Cause {
    Cause::damaged("the levels of its rows contradict one another")
}

fn too_many() -> Cause {
    Cause::damaged(format!("{STEP_ROWS} rows have more than {STEP_LEVELS} elements"))
}

fn ends_early() -> Cause {
    Cause::damaged("the pages end before the last row")
}

fn goes_on() -> Cause {
    Cause::damaged("the pages go on behind the last row")
}

/// A column of texts.
pub(crate) enum TextColumn {
    Direct(Box<Direct<Text>>),
    Any(Box<Cursor<ByteArrayType>>),
}

impl TextColumn {
    pub(crate) fn new(leaf: &Leaf, pages: Box<dyn PageReader>, kind: Kind) -> Self {
        match kind {
            Kind::Direct => Self::Direct(Box::new(Direct::new(leaf, pages, Text))),
            Kind::Any => Self::Any(Box::new(Cursor::new(leaf, pages))),
        }
    }

    pub(crate) fn flat(&mut self, rows: usize, out: &mut Texts) -> Result<(), Cause> {
        match self {
            Self::Direct(column) => column.flat(rows, out),
            Self::Any(cursor) => cursor.flat(rows, out, push_text),
        }
    }

    pub(crate) fn lists(&mut self, rows: usize, out: &mut Lists<Texts>) -> Result<(), Cause> {
        match self {
            Self::Direct(column) => column.lists(rows, out),
            Self::Any(cursor) => cursor.lists(rows, out, push_text),
        }
    }

    pub(crate) fn at_end(&mut self) -> Result<(), Cause> {
        match self {
            Self::Direct(column) => column.at_end(),
            Self::Any(cursor) => cursor.at_end(),
        }
    }
}

fn push_text(out: &mut Texts, value: &ByteArray) -> Result<(), Cause> {
    out.push(value.data())
}

/// A column of integers of either width.
pub(crate) enum IntColumn {
    Direct32(Box<Direct<Int<4>>>),
    Direct64(Box<Direct<Int<8>>>),
    Any32(Box<Cursor<Int32Type>>),
    Any64(Box<Cursor<Int64Type>>),
}

impl IntColumn {
    pub(crate) fn new(leaf: &Leaf, pages: Box<dyn PageReader>, kind: Kind) -> Self {
        match (leaf.descr.physical_type(), kind) {
            (Physical::INT64, Kind::Direct) => {
                Self::Direct64(Box::new(Direct::new(leaf, pages, Int(leaf.signedness))))
            }
            (Physical::INT64, Kind::Any) => Self::Any64(Box::new(Cursor::new(leaf, pages))),
            (_, Kind::Direct) => Self::Direct32(Box::new(Direct::new(leaf, pages, Int(leaf.signedness)))),
            (_, Kind::Any) => Self::Any32(Box::new(Cursor::new(leaf, pages))),
        }
    }

    pub(crate) fn flat(&mut self, rows: usize, out: &mut Ints) -> Result<(), Cause> {
        match self {
            Self::Direct32(column) => column.flat(rows, out),
            Self::Direct64(column) => column.flat(rows, out),
            Self::Any32(cursor) => cursor.flat(rows, out, push_32(cursor.leaf.signedness)),
            Self::Any64(cursor) => cursor.flat(rows, out, push_64(cursor.leaf.signedness)),
        }
    }

    pub(crate) fn lists(&mut self, rows: usize, out: &mut Lists<Ints>) -> Result<(), Cause> {
        match self {
            Self::Direct32(column) => column.lists(rows, out),
            Self::Direct64(column) => column.lists(rows, out),
            Self::Any32(cursor) => cursor.lists(rows, out, push_32(cursor.leaf.signedness)),
            Self::Any64(cursor) => cursor.lists(rows, out, push_64(cursor.leaf.signedness)),
        }
    }

    pub(crate) fn at_end(&mut self) -> Result<(), Cause> {
        match self {
            Self::Direct32(column) => column.at_end(),
            Self::Direct64(column) => column.at_end(),
            Self::Any32(cursor) => cursor.at_end(),
            Self::Any64(cursor) => cursor.at_end(),
        }
    }
}

fn push_32(signedness: Signedness) -> impl Fn(&mut Ints, &i32) -> Result<(), Cause> {
    move |out, &value| {
        out.push(widen_32(signedness, value));
        Ok(())
    }
}

fn push_64(signedness: Signedness) -> impl Fn(&mut Ints, &i64) -> Result<(), Cause> {
    move |out, &value| {
        out.push(widen_64(signedness, value));
        Ok(())
    }
}

fn widen_32(signedness: Signedness, value: i32) -> i64 {
    match signedness {
        Signedness::Signed => i64::from(value),
        Signedness::Unsigned => i64::from(value.cast_unsigned()),
    }
}

/// What an i64 cannot hold is out of every range that a column has; the greatest i64 is as well.
fn widen_64(signedness: Signedness, value: i64) -> i64 {
    match signedness {
        Signedness::Signed => value,
        Signedness::Unsigned => i64::try_from(value.cast_unsigned()).unwrap_or(i64::MAX),
    }
}
