//! Whose board it is: squares as the mover sees them (features.md §2).

use manaka_core::{Color, Square};

/// A side to see the board from, and whether left and right are exchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    mover: Color,
    mirrored: bool,
}

const SQUARES: usize = Square::COUNT;

/// By mover and mirror: the view's square of each square of stream.md §4.1.
pub(super) static TABLES: [[[u8; SQUARES]; 2]; 2] = {
    let mut tables = [[[0; SQUARES]; 2]; 2];
    let mut square = 0u8;
    while (square as usize) < SQUARES {
        let (column, rank) = (square / 9, square % 9);
        let black = (8 - column) * 9 + rank;
        let mirrored = square;
        let at = square as usize;
        tables[0][0][at] = black;
        tables[0][1][at] = mirrored;
        tables[1][0][at] = 80 - black;
        tables[1][1][at] = 80 - mirrored;
        square += 1;
    }
    tables
};

impl View {
    /// The board as `mover` sees it.
    #[must_use]
    pub const fn of(mover: Color) -> Self {
        Self { mover, mirrored: false }
    }

    /// The same view with left and right exchanged (features.md §7).
    #[must_use]
    pub const fn mirrored(self, mirrored: bool) -> Self {
        Self { mirrored, ..self }
    }

    /// Whose view it is.
    #[must_use]
    pub const fn mover(self) -> Color {
        self.mover
    }

    /// Whether left and right are exchanged.
    #[must_use]
    pub const fn is_mirrored(self) -> bool {
        self.mirrored
    }

    /// The view's square, 0..81, of each packed square: file-major from the viewer's 1a, a file being nine squares.
    #[must_use]
    pub const fn squares(self) -> &'static [u8; SQUARES] {
        &TABLES[self.mover as usize][self.mirrored as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(view: View, file: u8, rank: u8) -> u8 {
        view.squares()[Square::at(file, rank).unwrap().index()]
    }

    #[test]
    fn squares_run_from_the_viewers_right_upper_corner() {
        let black = View::of(Color::Black);
        assert_eq!((seen(black, 1, 1), seen(black, 1, 2), seen(black, 9, 9)), (0, 1, 80));
        // 7g: (7 - 1) * 9 + 6.
        assert_eq!(seen(black, 7, 7), 60);
        let white = View::of(Color::White);
        assert_eq!((seen(white, 9, 9), seen(white, 1, 1), seen(white, 7, 7)), (0, 80, 20));
        // Mirrored, 7g is 3g for Black and White's 7c is its 3c.
        assert_eq!(seen(black.mirrored(true), 7, 7), 2 * 9 + 6);
        assert_eq!(seen(white.mirrored(true), 7, 7), 80 - (2 * 9 + 6));
    }
}
