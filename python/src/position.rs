//! A position with its rules, its texts and its drawings; and moves in USI and in 16 bits.

use crate::errors::{IllegalMoveError, Raise, usage};
use crate::features;
use manaka_core::packed::PACKED_LEN;
use manaka_core::sfen::STARTPOS;
use manaka_core::{Color, HandKind, Move16, Packed, Square};
use manaka_inspect::{Notation, board_svg, board_text};
use manaka_load::features::{View, label};
use manaka_shogi::Board;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};

/// A move as Python gives it: USI text, or its 16 bits.
#[derive(FromPyObject)]
pub enum MoveArg {
    Usi(String),
    Bits(u16),
}

impl MoveArg {
    fn get(&self) -> PyResult<Move16> {
        match self {
            Self::Bits(bits) => Ok(Move16::from_bits(*bits)),
            Self::Usi(text) => Move16::from_usi(text)
                .ok_or_else(|| IllegalMoveError::new_err((format!("{text:?} is no move in USI"), "no_move"))),
        }
    }
}

/// The 16 bits (stream.md §5) of a move in USI: `move16("7g7f") == 3095`. Raises IllegalMoveError.
#[pyfunction]
pub fn move16(usi: String) -> PyResult<u16> {
    MoveArg::Usi(usi).get().map(Move16::bits)
}

/// The USI of a move's 16 bits: `usi(3095) == "7g7f"`. Raises IllegalMoveError when they are no move.
#[pyfunction]
pub fn usi(move16: u16) -> PyResult<String> {
    let mv = Move16::from_bits(move16);
    match mv.is_well_formed() {
        true => Ok(mv.to_string()),
        false => Err(IllegalMoveError::new_err((format!("{move16:#06x} is no move"), "no_move"))),
    }
}

const fn color_name(color: Color) -> &'static str {
    match color {
        Color::Black => "black",
        Color::White => "white",
    }
}

/// A function and its arguments.
type Pickle<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, Option<u32>));

/// A position: what stands where, what is in hand, who moves, and the move number where one is known.
///
/// Immutable. Equality and hash are those of the 96 bytes; the move number does not count, as in a fold. Whatever asks
/// for the rules raises PositionError where the position cannot be played on.
#[pyclass(module = "manaka", frozen)]
pub struct Position {
    packed: Packed,
    ply: Option<u32>,
}

impl Position {
    fn board(&self) -> PyResult<Board> {
        Board::from_packed(&self.packed, self.ply.unwrap_or(0)).map_err(Raise::raise)
    }
}

#[pymethods]
impl Position {
    /// The standard starting position, move number 1.
    #[classmethod]
    fn startpos(_cls: &Bound<'_, PyType>) -> PyResult<Self> {
        Self::from_sfen(_cls, STARTPOS)
    }

    /// The position of an SFEN, with or without a move number. Raises PositionError for malformed text and, with every
    /// fault at once, for a structurally unsound position.
    #[classmethod]
    fn from_sfen(_cls: &Bound<'_, PyType>, sfen: &str) -> PyResult<Self> {
        let (packed, ply) = Packed::from_sfen(sfen).map_err(Raise::raise)?;
        Ok(Self { packed, ply })
    }

    /// The position of 96 bytes (stream.md §4). Raises PositionError for structural faults; with `check=False` takes
    /// any bytes, to look at what is wrong with them.
    #[classmethod]
    #[pyo3(signature = (packed, ply = None, *, check = true))]
    fn from_packed(_cls: &Bound<'_, PyType>, packed: &[u8], ply: Option<u32>, check: bool) -> PyResult<Self> {
        let bytes: [u8; PACKED_LEN] = packed.try_into().map_err(|_| {
            usage("packed_len", format!("a packed position has {PACKED_LEN} bytes, not {}", packed.len()))
        })?;
        let packed = Packed::from_bytes(bytes);
        let faults = packed.faults();
        if check && !faults.is_empty() {
            return Err(manaka_core::sfen::SfenError::Faults(faults).raise());
        }
        Ok(Self { packed, ply })
    }

    /// The 96 bytes.
    #[getter]
    fn packed<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.packed.as_bytes())
    }

    /// The canonical SFEN, with the move number where one is known.
    #[getter]
    fn sfen(&self) -> String {
        self.packed.sfen(self.ply).to_string()
    }

    /// The move number; None where none is known.
    #[getter]
    const fn ply(&self) -> Option<u32> {
        self.ply
    }

    /// The side to move: "black" or "white".
    #[getter]
    const fn side(&self) -> &'static str {
        color_name(self.packed.side())
    }

    /// What each side has in hand: `{"black": {"R": 1, …}, "white": {…}}`, strongest first, only what is there.
    #[getter]
    fn hands<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let hands = PyDict::new(py);
        for color in Color::ALL {
            let hand = PyDict::new(py);
            for kind in HandKind::ALL.into_iter().rev() {
                let count = self.packed.hand(color, kind);
                if count > 0 {
                    hand.set_item(kind.letter(), count)?;
                }
            }
            hands.set_item(color_name(color), hand)?;
        }
        Ok(hands)
    }

    /// The pieces on the board by square: `{"5i": "K", "2b": "b", "8h": "+R", …}`, White's in lower case.
    #[getter]
    fn pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let pieces = PyDict::new(py);
        for square in Square::all() {
            match self.packed.piece(square) {
                Some((Color::Black, kind)) => pieces.set_item(square.to_string(), kind.sfen())?,
                Some((Color::White, kind)) => {
                    pieces.set_item(square.to_string(), kind.sfen().to_lowercase())?;
                }
                None => {}
            }
        }
        Ok(pieces)
    }

    /// The names of every structural fault (stream.md §4.4); empty for a sound position.
    #[getter]
    fn faults(&self) -> Vec<&'static str> {
        self.packed.faults().iter().map(|fault| fault.id()).collect()
    }

    /// Whether the side to move stands in check.
    fn in_check(&self) -> PyResult<bool> {
        Ok(self.board()?.in_check())
    }

    /// Whether the side to move has lost for want of a legal move.
    fn is_mated(&self) -> PyResult<bool> {
        Ok(self.board()?.is_mated())
    }

    /// Whether the side to move can win by declaration (27-point rule).
    fn can_declare(&self) -> PyResult<bool> {
        Ok(self.board()?.can_declare())
    }

    /// All legal moves in USI, ascending by their 16 bits.
    fn legal_moves(&self) -> PyResult<Vec<String>> {
        let mut moves = Vec::new();
        self.board()?.legal_moves(&mut moves);
        Ok(moves.iter().map(Move16::to_string).collect())
    }

    /// All legal moves in 16 bits, ascending: an array of uint16 of shape (moves,).
    fn legal_moves16<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u16>>> {
        let mut moves = Vec::new();
        self.board()?.legal_moves(&mut moves);
        Ok(PyArray1::from_iter(py, moves.into_iter().map(Move16::bits)))
    }

    /// Whether a move (USI or 16 bits) is legal. Raises IllegalMoveError for text that is no move.
    fn is_legal(&self, mv: MoveArg) -> PyResult<bool> {
        Ok(self.board()?.is_legal(mv.get()?))
    }

    /// The position after a move (USI or 16 bits). Raises IllegalMoveError.
    fn play(&self, mv: MoveArg) -> PyResult<Self> {
        let mut board = self.board()?;
        board.play(mv.get()?).map_err(Raise::raise)?;
        Ok(Self { packed: board.to_packed(), ply: self.ply.map(|ply| ply.saturating_add(1)) })
    }

    /// A network's inputs, as a loader makes them of a row: a dict of arrays without the axis of rows. `features` is one
    /// of the loader's names, "halfkp" for example; `mirrored` exchanges left and right. Raises PositionError.
    #[pyo3(signature = (features, *, mirrored = false))]
    fn features<'py>(&self, py: Python<'py>, features: &str, mirrored: bool) -> PyResult<Bound<'py, PyDict>> {
        features::of_position(py, self.packed.as_bytes(), features::feature_set(features)?, mirrored)
    }

    /// The policy label of a move (USI or 16 bits), 0 to 2186, the mover's view. Raises IllegalMoveError for a move that
    /// no piece could make; whether this one can is not asked.
    #[pyo3(signature = (mv, *, mirrored = false))]
    fn label(&self, mv: MoveArg, mirrored: bool) -> PyResult<u16> {
        let mv = mv.get()?;
        let view = View::of(self.packed.side()).mirrored(mirrored);
        label(mv, view).ok_or_else(|| IllegalMoveError::new_err((format!("{mv} has no label"), "no_label")))
    }

    /// The board as `manaka view` draws it, in kanji or, with `ascii=True`, in the letters of SFEN.
    #[pyo3(signature = (*, ascii = false))]
    fn text(&self, ascii: bool) -> String {
        let notation = if ascii { Notation::Ascii } else { Notation::Kanji };
        board_text(&self.packed, notation).to_string()
    }

    /// The board as an SVG element, the squares of `mark` (a move in USI or 16 bits) coloured.
    #[pyo3(signature = (mark = None))]
    fn svg(&self, mark: Option<MoveArg>) -> PyResult<String> {
        let mark = mark.map(|mv| mv.get()).transpose()?;
        Ok(board_svg(&self.packed, mark).to_string())
    }

    /// What notebooks show.
    fn _repr_svg_(&self) -> PyResult<String> {
        self.svg(None)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.packed(py)
    }

    fn __str__(&self) -> String {
        self.text(false)
    }

    fn __repr__(&self) -> String {
        format!("Position.from_sfen('{}')", self.sfen())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.packed == other.packed
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.packed(py).hash()
    }

    /// What pickles name: any bytes, since any can be held.
    #[classmethod]
    fn _unpickle(_cls: &Bound<'_, PyType>, packed: [u8; PACKED_LEN], ply: Option<u32>) -> Self {
        Self { packed: Packed::from_bytes(packed), ply }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickle<'py>> {
        let unpickle = slf.get_type().getattr("_unpickle")?;
        let position = slf.get();
        Ok((unpickle, (position.packed(slf.py()), position.ply)))
    }
}
