//! One game of a stream, kept in memory until it is known what becomes of it.

use crate::error::{Error, Result};
use crate::output::Parts;
use crate::source::Place;
use manaka_core::stream::{RecordMut, RecordRef, opens_game};
use std::path::PathBuf;

/// Bytes of a game that are kept in memory unless told otherwise. The longest games of known corpora take a hundredth.
pub const DEFAULT_GAME_BYTES: usize = 64 << 20;

/// The records of one game, one behind the other; reused.
#[derive(Default)]
pub struct Game {
    bytes: Vec<u8>,
    /// Where each record begins, and the part it came from.
    records: Vec<(usize, usize)>,
    last_ply: Option<u16>,
}

impl Game {
    /// Whether a record of this ply opens another game, or the first.
    pub fn opens(&self, ply: u16) -> bool {
        self.last_ply.is_none_or(|before| opens_game(before, ply))
    }

    /// Whether there was a record of it, kept or not.
    pub const fn is_open(&self) -> bool {
        self.last_ply.is_some()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.records.clear();
        self.last_ply = None;
    }

    /// Takes note of a record that is not kept.
    pub const fn pass(&mut self, ply: u16) {
        self.last_ply = Some(ply);
    }

    /// Keeps a record.
    ///
    /// # Errors
    /// [`Error::LongGame`].
    pub fn keep(
        &mut self,
        place: Place,
        record: RecordRef<'_>,
        limit: usize,
        paths: &[PathBuf],
    ) -> Result<()> {
        if self.bytes.len() + record.bytes().len() > limit {
            return Err(Error::LongGame { path: paths[place.part].clone(), record: place.record, limit });
        }
        self.pass(record.ply());
        self.records.push((self.bytes.len(), place.part));
        self.bytes.extend_from_slice(record.bytes());
        Ok(())
    }

    /// Records kept.
    pub const fn len(&self) -> usize {
        self.records.len()
    }

    /// The ply of the last record, kept or not.
    pub const fn last_ply(&self) -> Option<u16> {
        self.last_ply
    }

    /// Every kept record, to be changed.
    pub fn each_mut(&mut self, mut change: impl FnMut(RecordMut<'_>)) {
        for &(start, _) in &self.records {
            if let Ok(record) = RecordMut::frame(&mut self.bytes[start..]) {
                change(record);
            }
        }
    }

    /// Every kept record, with the part it came from.
    fn records(&self) -> impl Iterator<Item = (usize, RecordRef<'_>)> {
        // What was kept was framed before.
        self.records
            .iter()
            .filter_map(|&(start, part)| Some((part, RecordRef::frame(&self.bytes[start..]).ok()?)))
    }

    /// Writes what is kept, each record to the part it came from.
    pub fn write(&self, parts: &mut Parts, seams: &mut Seams) -> Result<()> {
        let mut records = self.records().peekable();
        if let Some((_, first)) = records.peek() {
            seams.run_together += u64::from(seams.last.is_some_and(|last| !opens_game(last, first.ply())));
        }
        records.try_for_each(|(part, record)| {
            seams.last = Some(record.ply());
            parts.write_to(part, record)
        })
    }
}

/// Where games that were written follow one another.
#[derive(Default)]
pub struct Seams {
    /// The ply of the last record written.
    last: Option<u16>,
    /// Games that open above the ply at which the one before them ended, so that readers take the two for one. The game
    /// that stood between them is gone, or the end of the first.
    pub run_together: u64,
}
