//! Opening books: files of positions that games begin from.

use manaka_core::sfen::STARTPOS;
use manaka_core::{Move16, Packed};
use manaka_shogi::Board;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// Bytes of the longest line of a book.
const LINE: u64 = 64 << 10;
/// Positions of the largest book.
const POSITIONS: usize = 1 << 24;

/// Why a file is no opening book.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// The system refused it.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// A line is no position to begin from.
    #[error("{}: line {line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1; 0 for the book as a whole.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

/// A position to begin from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opening {
    /// The position. It can be played on, and its side to move is not mated.
    pub packed: Packed,
    /// Its move number; 1 where none is written.
    pub ply: u16,
}

/// The positions of a file, in its order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Book {
    openings: Vec<Opening>,
    /// Of the bytes of the file; 0 without one.
    hash: u64,
}

impl Book {
    /// The starting position alone.
    ///
    /// # Errors
    /// None that is known: [`STARTPOS`] is a position.
    pub fn startpos() -> Result<Self, BookError> {
        let opening = parse(STARTPOS, u16::MAX);
        let opening = opening.map_err(|reason| BookError::Line { path: STARTPOS.into(), line: 0, reason })?;
        Ok(Self { openings: vec![opening], hash: 0 })
    }

    /// Reads a file with a position in each line: an SFEN, `sfen …`, `startpos`, the last two also with `moves …`
    /// behind them, and `position` in front. Empty lines and those that begin with `#` are passed over.
    ///
    /// # Errors
    /// [`BookError::Io`]; [`BookError::Line`] with the first line that is no position to play on, or whose move number
    /// leaves nothing up to `max_ply`.
    pub fn read(path: &Path, max_ply: u16) -> Result<Self, BookError> {
        let refused = |error| BookError::Io { path: path.to_owned(), error };
        let mut file = BufReader::new(File::open(path).map_err(refused)?);
        let (mut openings, mut hash, mut line) = (Vec::new(), Xxh3::new(), Vec::new());
        for number in 1.. {
            line.clear();
            let read = file.by_ref().take(LINE).read_until(b'\n', &mut line).map_err(refused)?;
            let fault = |reason: String| BookError::Line { path: path.to_owned(), line: number, reason };
            if read == 0 {
                break;
            }
            if read as u64 == LINE {
                return Err(fault("a line without an end".to_owned()));
            }
            hash.update(&line);
            let text = str::from_utf8(&line).map_err(|_| fault("not UTF-8".to_owned()))?;
            let text = text.trim_start_matches('\u{feff}').trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            if openings.len() == POSITIONS {
                return Err(fault(format!("more than {POSITIONS} positions")));
            }
            openings.push(parse(text, max_ply).map_err(fault)?);
        }
        if openings.is_empty() {
            let reason = "no position".to_owned();
            return Err(BookError::Line { path: path.to_owned(), line: 0, reason });
        }
        Ok(Self { openings, hash: hash.digest() })
    }

    /// Its positions, at least one.
    #[must_use]
    pub fn openings(&self) -> &[Opening] {
        &self.openings
    }

    /// XXH3-64 of the bytes of the file; 0 without one.
    #[must_use]
    pub const fn hash(&self) -> u64 {
        self.hash
    }
}

/// One line, or what is wrong with it.
fn parse(text: &str, max_ply: u16) -> Result<Opening, String> {
    let text = text.strip_prefix("position ").unwrap_or(text).trim_start();
    let (position, moves) = match text.split_once(" moves") {
        Some((position, moves)) if moves.is_empty() || moves.starts_with(' ') => (position.trim(), moves),
        _ => (text, ""),
    };
    let sfen = match position {
        "startpos" => STARTPOS,
        sfen => sfen.strip_prefix("sfen ").unwrap_or(sfen).trim(),
    };
    let (packed, ply) = Packed::from_sfen(sfen).map_err(|error| error.to_string())?;
    let mut board = Board::from_packed(&packed, ply.unwrap_or(1)).map_err(|error| error.to_string())?;
    for (at, word) in moves.split_ascii_whitespace().enumerate() {
        let mv = Move16::from_usi(word).ok_or_else(|| format!("move {}: {word:?} is no move", at + 1))?;
        board.play(mv).map_err(|error| format!("move {}: {error}", at + 1))?;
    }
    if board.is_mated() {
        return Err("the side to move is mated".to_owned());
    }
    let ply = board.ply();
    match u16::try_from(ply) {
        Ok(ply) if ply <= max_ply => Ok(Opening { packed: board.to_packed(), ply }),
        _ => Err(format!("move number {ply} is beyond max_ply {max_ply}; no move could be played")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn book(text: &str) -> Result<Book, BookError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("book.txt");
        fs::write(&path, text).unwrap();
        Book::read(&path, 320)
    }

    #[test]
    fn every_way_of_writing_a_position_is_read() {
        let after = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2";
        for (text, ply) in [
            (after, 2),
            ("sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2", 2),
            ("startpos moves 7g7f", 2),
            ("position startpos moves 7g7f\r", 2),
            (&format!("sfen {STARTPOS} moves 7g7f"), 2),
            (&format!("position sfen {STARTPOS} moves  7g7f "), 2),
            ("\u{feff}# a comment\n\nlnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w -", 1),
        ] {
            let book = book(text).unwrap();
            let (packed, _) = Packed::from_sfen(after).unwrap();
            assert_eq!(book.openings, [Opening { packed, ply }], "{text}");
        }
        assert_eq!(
            book("startpos\nstartpos moves\n").unwrap().openings()[1],
            Book::startpos().unwrap().openings()[0]
        );
        // The move number of the text, not the number of moves behind it.
        let advanced = STARTPOS.replace(" 1", " 101");
        assert_eq!(book(&format!("sfen {advanced} moves 7g7f 3c3d")).unwrap().openings[0].ply, 103);
    }

    #[test]
    fn a_line_that_is_no_position_is_named() {
        for (text, line, reason) in [
            ("startpos\nstartpos moves 7g7e\n", 2, "move 1: 7g7e is not legal"),
            ("startpos moves 7g7f 3c3d x\n", 1, "move 3: \"x\" is no move"),
            ("startpos moves7g7f\n", 1, "malformed SFEN"),
            ("\n\n4k4/9/9/9/9/9/9/9/9 b - 1\n", 3, "no_black_king"),
            ("4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1\n", 1, "mated"),
            ("4k4/9/9/9/9/9/9/9/4K4 b - 321\n", 1, "move number 321 is beyond max_ply 320"),
            ("4k4/9/9/9/9/9/9/9/4K4 b - 320 moves 5i5h\n", 1, "move number 321"),
            ("4k4/9/9/9/9/9/9/9/4R4 b K 1\n", 1, "malformed"),
            ("# nothing\n", 0, "no position"),
            ("", 0, "no position"),
        ] {
            match book(text).unwrap_err() {
                BookError::Line { line: at, reason: why, .. } => {
                    assert_eq!(at, line, "{text}");
                    assert!(why.contains(reason), "{why}");
                }
                other => panic!("{other}"),
            }
        }
        let long = format!("startpos moves {}", "7g7f ".repeat(20_000));
        assert!(book(&long).unwrap_err().to_string().contains("line 1: a line without an end"));
    }
}
