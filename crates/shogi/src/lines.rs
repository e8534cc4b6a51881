//! The geometry of the board as tables: which way leads from one square to another, and what can go that way.

#![expect(clippy::cast_possible_truncation, reason = "made at compile time, from numbers below 128")]

use manaka_core::packed::board_byte;
use manaka_core::{Color, PieceKind, Square};

/// A set of squares, a bit for each index (stream.md §4.1).
pub(crate) type Squares = u128;

/// Every square.
pub(crate) const ALL: Squares = (1 << Square::COUNT) - 1;

/// The set of one square.
pub(crate) const fn bit(square: usize) -> Squares {
    1 << square
}

/// The straight directions as steps of file and rank, both counted as indices are: the first leads to Black's front. Each
/// even one and the odd one behind it are opposites, and along the odd ones indices grow.
const STEPS: [(i8, i8); DIRECTIONS] = [(0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, 1), (-1, 1), (1, -1)];
/// How many there are.
pub(crate) const DIRECTIONS: usize = 8;
const FORWARD: [u16; 2] = [1 << 0, 1 << 1];
const STRAIGHT: u16 = 0b0000_1111;
const DIAGONAL: u16 = 0b1111_0000;

/// The numbers of Black's and White's knight jumps, behind those of the directions.
const JUMPS: [u8; 2] = [DIRECTIONS as u8, DIRECTIONS as u8 + 1];
/// No way leads from the one to the other in a straight line or a jump. No piece goes it.
const NOWHERE: u8 = 15;
/// The bit of [`Way`] that says that there is no square in between: a step or a jump.
const NEAR: u8 = 1 << 4;

/// How one square lies to another.
#[derive(Clone, Copy)]
pub(crate) struct Way(u8);

impl Way {
    /// The way from one square to another.
    pub(crate) const fn between(from: usize, to: usize) -> Self {
        Self(WAYS[from][to])
    }

    /// The number of its direction; [`DIRECTIONS`] and more where it is no straight one.
    pub(crate) const fn direction(self) -> usize {
        (self.0 & !NEAR) as usize
    }

    /// Whether no square lies in between.
    pub(crate) const fn is_near(self) -> bool {
        self.0 & NEAR != 0
    }

    /// Whether the piece of a board byte goes this way, if nothing stands in it.
    pub(crate) const fn suits(self, byte: u8) -> bool {
        let gait = &GAITS[(byte & 0x1F) as usize];
        let ways = if self.is_near() { gait.near } else { gait.far };
        ways >> self.direction() & 1 != 0
    }
}

/// By origin and destination.
static WAYS: [[u8; Square::COUNT]; Square::COUNT] = {
    let mut ways = [[NOWHERE; Square::COUNT]; Square::COUNT];
    let mut from = 0;
    while from < Square::COUNT {
        let mut direction = 0;
        while direction < DIRECTIONS {
            let (mut at, mut near) = (neighbour(from, STEPS[direction]), NEAR);
            while let Some(to) = at {
                ways[from][to] = direction as u8 | near;
                (at, near) = (neighbour(to, STEPS[direction]), 0);
            }
            direction += 1;
        }
        let mut color = 0;
        while color < 2 {
            let mut side = 0;
            while side < 2 {
                if let Some(to) = jump(from, color, side) {
                    ways[from][to] = JUMPS[color] | NEAR;
                }
                side += 1;
            }
            color += 1;
        }
        from += 1;
    }
    ways
};

/// By direction and square: all squares that lie there, up to the edge.
pub(crate) static RAYS: [[Squares; Square::COUNT]; DIRECTIONS] = {
    let mut rays = [[0; Square::COUNT]; DIRECTIONS];
    let mut direction = 0;
    while direction < DIRECTIONS {
        let mut from = 0;
        while from < Square::COUNT {
            let mut at = neighbour(from, STEPS[direction]);
            while let Some(to) = at {
                rays[direction][from] |= bit(to);
                at = neighbour(to, STEPS[direction]);
            }
            from += 1;
        }
        direction += 1;
    }
    rays
};

/// By square: all that lie in one of the directions.
pub(crate) static LINES: [Squares; Square::COUNT] = {
    let mut lines = [0; Square::COUNT];
    let mut from = 0;
    while from < DIRECTIONS * Square::COUNT {
        lines[from / DIRECTIONS] |= RAYS[from % DIRECTIONS][from / DIRECTIONS];
        from += 1;
    }
    lines
};

/// Whether the piece of a board byte goes further than a step or a jump.
pub(crate) const fn is_long(byte: u8) -> bool {
    byte & 0xE0 == 0 && GAITS[byte as usize].far != 0
}

/// The square of a set, which lies in one direction of some square, that is nearest to it; `None` for an empty set.
pub(crate) const fn nearest(direction: usize, set: Squares) -> Option<usize> {
    if set == 0 {
        return None;
    }
    Some(if direction % 2 == 1 { set.trailing_zeros() } else { set.ilog2() } as usize)
}

/// The squares between two that lie in a direction, neither of them included.
pub(crate) const fn inside(direction: usize, from: usize, to: usize) -> Squares {
    RAYS[direction][from] & !RAYS[direction][to] & !bit(to)
}

/// By colour and square: where a knight of that colour jumps to from there; [`OFF_BOARD`] for each that is not there.
pub(crate) static KNIGHT: [[[u8; 2]; Square::COUNT]; 2] = {
    let mut table = [[[OFF_BOARD; 2]; Square::COUNT]; 2];
    let mut at = 0;
    while at < 4 * Square::COUNT {
        let (color, from, side) = (at % 2, at / 4, at / 2 % 2);
        if let Some(to) = jump(from, color, side) {
            table[color][from][side] = to as u8;
        }
        at += 1;
    }
    table
};

/// The number of no square.
pub(crate) const OFF_BOARD: u8 = u8::MAX;

const fn jump(from: usize, color: usize, side: usize) -> Option<usize> {
    neighbour(from, (if side == 0 { -1 } else { 1 }, if color == 0 { -2 } else { 2 }))
}

const fn neighbour(from: usize, (files, ranks): (i8, i8)) -> Option<usize> {
    let (file, rank) = ((from / 9) as i8 + files, (from % 9) as i8 + ranks);
    if file < 0 || file > 8 || rank < 0 || rank > 8 { None } else { Some((file * 9 + rank) as usize) }
}

/// The ways of a piece: as bits by the number of the direction, those of one step or jump, and those of any length.
#[derive(Clone, Copy)]
struct Gait {
    near: u16,
    far: u16,
}

/// By board byte; bytes that name no piece go nowhere.
static GAITS: [Gait; 32] = {
    let mut gaits = [Gait { near: 0, far: 0 }; 32];
    let mut i = 0;
    while i < 2 * PieceKind::COUNT {
        let (color, kind) = (Color::ALL[i % 2], PieceKind::ALL[i / 2]);
        gaits[board_byte(color, kind) as usize] = gait(color, kind);
        i += 1;
    }
    gaits
};

const fn gait(color: Color, kind: PieceKind) -> Gait {
    let forward = FORWARD[color as usize];
    // Both diagonals that lead forward: those whose rank goes as the straight direction's.
    let ahead = match color {
        Color::Black => 1 << 4 | 1 << 7,
        Color::White => 1 << 5 | 1 << 6,
    };
    let (step, far) = match kind {
        PieceKind::King => (STRAIGHT | DIAGONAL, 0),
        PieceKind::Rook => (0, STRAIGHT),
        PieceKind::Bishop => (0, DIAGONAL),
        PieceKind::Gold
        | PieceKind::ProSilver
        | PieceKind::ProKnight
        | PieceKind::ProLance
        | PieceKind::ProPawn => (STRAIGHT | ahead, 0),
        PieceKind::Silver => (DIAGONAL | forward, 0),
        PieceKind::Knight => (1 << JUMPS[color as usize], 0),
        PieceKind::Lance => (0, forward),
        PieceKind::Pawn => (forward, 0),
        PieceKind::Dragon => (DIAGONAL, STRAIGHT),
        PieceKind::Horse => (STRAIGHT, DIAGONAL),
    };
    Gait { near: step | far, far }
}

/// By colour: the three ranks in which its pieces promote.
pub(crate) const ZONE: [Squares; 2] = [ranks(0, 3), ranks(6, 9)];

/// Where a piece of this kind could never move again.
pub(crate) const fn dead(color: Color, kind: PieceKind) -> Squares {
    let depth = match kind {
        PieceKind::Pawn | PieceKind::Lance => 1,
        PieceKind::Knight => 2,
        _ => return 0,
    };
    DEAD[color as usize][depth - 1]
}

const DEAD: [[Squares; 2]; 2] = [[ranks(0, 1), ranks(0, 2)], [ranks(8, 9), ranks(7, 9)]];

/// The ranks from one index to another, the last not included.
const fn ranks(from: usize, to: usize) -> Squares {
    let (mut set, mut square) = (0, 0);
    while square < Square::COUNT {
        if square % 9 >= from && square % 9 < to {
            set |= bit(square);
        }
        square += 1;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(name: &str) -> usize {
        let [file, rank] = *name.as_bytes() else { panic!("{name}") };
        Square::at(file - b'0', rank - b'a' + 1).unwrap().index()
    }

    fn goes(color: Color, kind: PieceKind, from: &str, to: &str) -> bool {
        Way::between(square(from), square(to)).suits(board_byte(color, kind))
    }

    #[test]
    fn pieces_go_where_they_go_from_5e() {
        use Color::{Black, White};
        use PieceKind::*;
        // Every square that a piece of Black's on 5e reaches on an empty board, but for the long ways.
        let expected: [(PieceKind, &[&str]); 11] = [
            (King, &["4d", "5d", "6d", "4e", "6e", "4f", "5f", "6f"]),
            (Gold, &["4d", "5d", "6d", "4e", "6e", "5f"]),
            (ProPawn, &["4d", "5d", "6d", "4e", "6e", "5f"]),
            (Silver, &["4d", "5d", "6d", "4f", "6f"]),
            (Knight, &["4c", "6c"]),
            (Lance, &["5d", "5c"]),
            (Pawn, &["5d"]),
            (Rook, &["5d", "5c", "5f", "5g", "4e", "3e", "6e", "7e"]),
            (Bishop, &["4d", "3c", "6d", "7c", "4f", "3g", "6f", "7g"]),
            (Dragon, &["5d", "5c", "5f", "5g", "4e", "3e", "6e", "7e", "4d", "6d", "4f", "6f"]),
            (Horse, &["4d", "3c", "6d", "7c", "4f", "3g", "6f", "7g", "5d", "5f", "4e", "6e"]),
        ];
        for (kind, targets) in expected {
            for file in '3'..='7' {
                for rank in 'c'..='g' {
                    let to = format!("{file}{rank}");
                    let turned = format!(
                        "{}{}",
                        (b'0' + 10 - (file as u8 - b'0')) as char,
                        (b'a' + b'i' - rank as u8) as char
                    );
                    assert_eq!(
                        goes(Black, kind, "5e", &to),
                        targets.contains(&to.as_str()),
                        "{kind:?} to {to}"
                    );
                    assert_eq!(goes(White, kind, "5e", &turned), targets.contains(&to.as_str()));
                }
            }
        }
    }

    #[test]
    fn what_lies_between_two_squares_is_neither_of_them() {
        let way = Way::between(square("8h"), square("2b"));
        assert!(way.direction() < DIRECTIONS && !way.is_near());
        let between = inside(way.direction(), square("8h"), square("2b"));
        let expected = ["7g", "6f", "5e", "4d", "3c"].map(square);
        assert_eq!(between, expected.into_iter().map(bit).fold(0, |a, b| a | b));
        assert_eq!(nearest(way.direction(), between), Some(square("7g")));
        assert_eq!(nearest(way.direction() ^ 1, between), Some(square("3c")));
        let step = Way::between(square("9i"), square("9h"));
        assert!(step.is_near() && inside(step.direction(), square("9i"), square("9h")) == 0);
        assert_eq!(Way::between(square("9i"), square("9i")).direction(), usize::from(NOWHERE));
    }
}
