//! What pieces attack, as bits of 81 squares of a view (features.md §2): tables of steps and rays.

use manaka_core::{PieceKind, Square};

/// A set of squares of a view: bit `file · 9 + rank`, the viewer's 1a being bit 0.
pub type Bitboard = u128;

/// The directions of rays, as the viewer sees them.
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Dir {
    Up,
    Down,
    Left,
    Right,
    UpLeft,
    UpRight,
    DownLeft,
    DownRight,
}

/// Files to the left and ranks up, by [`Dir`].
const DELTAS: [(i32, i32); 8] = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)];

static BITS: [Bitboard; 128] = {
    let mut bits = [0; 128];
    let mut at = 0;
    while at < 128 {
        bits[at] = 1 << at;
        at += 1;
    }
    bits
};

/// The set of one square.
#[inline]
pub const fn bit(square: u8) -> Bitboard {
    BITS[(square & 127) as usize]
}

const fn shifted(square: i32, left: i32, up: i32) -> Option<i32> {
    let (file, rank) = (square / 9 + left, square % 9 - up);
    if file < 0 || file > 8 || rank < 0 || rank > 8 { None } else { Some(file * 9 + rank) }
}

static RAYS: [[Bitboard; Square::COUNT]; 8] = {
    let mut rays = [[0; Square::COUNT]; 8];
    let mut dir = 0;
    while dir < 8 {
        let (left, up) = DELTAS[dir];
        let mut from = 0;
        while from < 81 {
            let mut at = from;
            while let Some(next) = shifted(at, left, up) {
                rays[dir][from as usize] |= 1 << next;
                at = next;
            }
            from += 1;
        }
        dir += 1;
    }
    rays
};

/// The squares from `square` on in a direction, up to and including the first that is occupied.
#[inline(always)]
pub const fn ray(dir: Dir, square: usize, occupied: Bitboard) -> Bitboard {
    let ray = RAYS[dir as usize][square % Square::COUNT];
    let blockers = ray & occupied;
    match dir {
        // Squares rise: everything up to the lowest blocker; with none, x ^ (x − 1) is all ones.
        Dir::Down | Dir::Left | Dir::UpLeft | Dir::DownLeft => ray & (blockers ^ blockers.wrapping_sub(1)),
        // Squares fall: everything down to the highest blocker; with none, bit 0 stands for it.
        Dir::Up | Dir::Right | Dir::UpRight | Dir::DownRight => {
            ray & (Bitboard::MAX << (127 - (blockers | 1).leading_zeros()))
        }
    }
}

/// Planes of attack counts: at least one, two, three.
pub const COUNTS: usize = 3;
/// Board kinds, and those that four bits could hold besides.
pub const KINDS_ROOM: usize = 16;

/// What a side attacks.
pub struct Attacks {
    /// By board kind.
    pub of_kind: [Bitboard; KINDS_ROOM],
    /// Squares attacked by at least one piece, two, three.
    pub counts: [Bitboard; COUNTS],
}

const SQUARES: Bitboard = (1 << Square::COUNT) - 1;
/// The viewer's first and last rank.
const TOP: Bitboard = {
    let (mut top, mut file) = (0, 0);
    while file < 9 {
        top |= 1 << (9 * file);
        file += 1;
    }
    top
};
const BOTTOM: Bitboard = TOP << 8;

/// The same squares a rank further up, a rank further down, a file to the left, to the right.
const fn up(set: Bitboard) -> Bitboard {
    (set & !TOP) >> 1
}
const fn down(set: Bitboard) -> Bitboard {
    (set & !BOTTOM) << 1
}
const fn left(set: Bitboard) -> Bitboard {
    set << 9 & SQUARES
}
const fn right(set: Bitboard) -> Bitboard {
    set >> 9
}
const fn aside(set: Bitboard) -> Bitboard {
    left(set) | right(set)
}

impl Attacks {
    /// Counts attacks of which no two are on one square.
    #[inline]
    const fn add(&mut self, attacks: Bitboard) {
        let [once, twice, thrice] = &mut self.counts;
        *thrice |= *twice & attacks;
        *twice |= *once & attacks;
        *once |= attacks;
    }

    /// Counts the attacks of pieces that all go one step: no two come to one square.
    #[inline]
    const fn add_both_sides(&mut self, before: Bitboard) {
        self.add(left(before));
        self.add(right(before));
    }

    /// Adds rays of each of the pieces of a kind.
    #[inline(always)]
    fn slide(&mut self, kind: usize, men: Bitboard, occupied: Bitboard, dirs: &[Dir]) {
        let mut left = men;
        while left != 0 {
            let square = left.trailing_zeros() as usize;
            left &= left - 1;
            for &dir in dirs {
                let attacks = ray(dir, square, occupied);
                self.of_kind[kind] |= attacks;
                self.add(attacks);
            }
        }
    }
}

/// The attacks of a side, the viewer's (0) or its opponent's (1), whose pieces stand on these squares by board kind.
#[inline(always)]
pub fn attacks(men: &[Bitboard; KINDS_ROOM], side: usize, occupied: Bitboard) -> Attacks {
    if side == 0 {
        attacks_by(men, occupied, up, down, Dir::Up)
    } else {
        attacks_by(men, occupied, down, up, Dir::Down)
    }
}

/// The same for a side that goes `forward`.
#[inline(always)]
fn attacks_by(
    men: &[Bitboard; KINDS_ROOM],
    occupied: Bitboard,
    forward: impl Fn(Bitboard) -> Bitboard,
    back: impl Fn(Bitboard) -> Bitboard,
    lance: Dir,
) -> Attacks {
    use PieceKind::{
        Bishop, Dragon, Gold, Horse, King, Knight, Lance, Pawn, ProKnight, ProLance, ProPawn, ProSilver,
        Rook, Silver,
    };
    let mut found = Attacks { of_kind: [0; KINDS_ROOM], counts: [0; COUNTS] };
    let of = |kind: PieceKind| men[kind as usize];

    // Whole kinds at once; each way counted for all that go it.
    let golds = of(Gold) | of(ProSilver) | of(ProKnight) | of(ProLance) | of(ProPawn);
    let straight = golds | of(King) | of(Horse);
    let slanting = of(Silver) | of(King) | of(Dragon);
    let knights = forward(forward(of(Knight)));
    found.add(forward(straight | of(Pawn) | of(Silver)));
    found.add(back(straight));
    found.add_both_sides(straight);
    found.add_both_sides(forward(slanting | golds));
    found.add_both_sides(back(slanting));
    found.add_both_sides(knights);
    for kind in [Gold, ProSilver, ProKnight, ProLance, ProPawn] {
        let set = of(kind);
        if set != 0 {
            let ahead = forward(set);
            found.of_kind[kind as usize] = ahead | aside(ahead | set) | back(set);
        }
    }
    let ring = |set: Bitboard| aside(forward(set) | back(set));
    let cross = |set: Bitboard| forward(set) | back(set) | aside(set);
    found.of_kind[King as usize] = cross(of(King)) | ring(of(King));
    found.of_kind[Silver as usize] = forward(of(Silver)) | ring(of(Silver));
    found.of_kind[Knight as usize] = aside(knights);
    found.of_kind[Pawn as usize] = forward(of(Pawn));
    found.of_kind[Dragon as usize] = ring(of(Dragon));
    found.of_kind[Horse as usize] = cross(of(Horse));

    const ROOKS: [Dir; 4] = [Dir::Up, Dir::Down, Dir::Left, Dir::Right];
    const BISHOPS: [Dir; 4] = [Dir::UpLeft, Dir::UpRight, Dir::DownLeft, Dir::DownRight];
    found.slide(Lance as usize, of(Lance), occupied, &[lance]);
    found.slide(Rook as usize, of(Rook), occupied, &ROOKS);
    found.slide(Dragon as usize, of(Dragon), occupied, &ROOKS);
    found.slide(Bishop as usize, of(Bishop), occupied, &BISHOPS);
    found.slide(Horse as usize, of(Horse), occupied, &BISHOPS);
    found
}
