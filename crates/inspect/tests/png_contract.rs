//! A drawn board as pixels: every machine draws the same ones, and they show what the position holds.

use manaka_core::sfen::STARTPOS;
use manaka_core::{Color, Move16, Packed, PieceKind, Square};
use manaka_inspect::board_png;

const WIDTH: usize = 616;
const HEIGHT: usize = 488;
const WOOD: [u8; 3] = [0xf0, 0xc9, 0x87];
const MARK: [u8; 3] = [0xe9, 0xa2, 0x3b];
const PIECE: [u8; 3] = [0xfb, 0xe6, 0xbf];
const DOT: [u8; 3] = [0xb3, 0x26, 0x1e];
const WHITE: [u8; 3] = [0xff; 3];

struct Picture {
    scale: usize,
    width: usize,
    pixels: Vec<u8>,
}

impl Picture {
    fn of(packed: &Packed, marked: Option<&str>, scale: usize) -> Self {
        let marked = marked.map(|usi| Move16::from_usi(usi).unwrap());
        let bytes = board_png(packed, marked, u32::try_from(scale).unwrap()).unwrap();
        assert_eq!(bytes, board_png(packed, marked, u32::try_from(scale).unwrap()).unwrap());
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let width = usize::try_from(info.width).unwrap();
        assert_eq!((width, usize::try_from(info.height).unwrap()), (WIDTH * scale, HEIGHT * scale));
        assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
        Self { scale, width, pixels }
    }

    fn sfen(sfen: &str, marked: Option<&str>) -> Self {
        Self::of(&Packed::from_sfen(sfen).unwrap().0, marked, 2)
    }

    fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        let start = 3 * (y * self.width + x);
        self.pixels[start..start + 3].try_into().unwrap()
    }

    /// At a place in units.
    fn at(&self, x: usize, y: usize) -> [u8; 3] {
        self.pixel(x * self.scale, y * self.scale)
    }

    /// The middle of a square, in units; svg_contract derives the same numbers.
    fn middle(file: usize, rank: usize) -> (usize, usize) {
        (80 + (9 - file) * 48 + 24, 36 + (rank - 1) * 48 + 24)
    }

    /// The pixels inside of a square, lines left out.
    fn square(&self, file: usize, rank: usize) -> Vec<[u8; 3]> {
        let ((x, y), half) = (Self::middle(file, rank), 22 * self.scale);
        let (x, y) = (x * self.scale, y * self.scale);
        (y - half..y + half).flat_map(|y| (x - half..x + half).map(move |x| self.pixel(x, y))).collect()
    }
}

fn alike(one: &[[u8; 3]], other: &[[u8; 3]]) -> bool {
    let near = |a: u8, b: u8| a.abs_diff(b) <= 3;
    one.len() == other.len() && one.iter().flatten().zip(other.iter().flatten()).all(|(&a, &b)| near(a, b))
}

#[test]
fn squares_have_their_colours() {
    let picture = Picture::sfen(STARTPOS, Some("2b7g+"));
    let corner = |(x, y): (usize, usize)| picture.at(x - 20, y - 20);
    assert_eq!(corner(Picture::middle(5, 5)), WOOD);
    assert_eq!(corner(Picture::middle(2, 2)), MARK);
    assert_eq!(corner(Picture::middle(7, 7)), MARK);
    let (x, y) = Picture::middle(5, 9);
    // Below its point a piece is plain before the name begins.
    assert_eq!(picture.at(x, y - 17), PIECE);
    assert_eq!(picture.at(2, 2), WHITE);
    // Black moves first: the dot is in the lower right corner.
    assert_eq!((picture.at(572, 479), picture.at(38, 14)), (DOT, WHITE));
}

#[test]
fn a_piece_of_white_is_one_of_black_turned_around() {
    let picture = Picture::sfen(STARTPOS, None);
    for file in 1..=9 {
        let black = picture.square(file, 9);
        let mut white = picture.square(10 - file, 1);
        // Half a pixel lies on the other side of the middle once it is turned.
        white.reverse();
        let differ = black.iter().zip(&white).filter(|(a, b)| !alike(&[**a], &[**b])).count();
        assert!(differ * 20 < black.len(), "{file}: {differ} of {}", black.len());
        assert_ne!(black, picture.square(10 - file, 1));
    }
}

#[test]
fn every_kind_of_piece_looks_different() {
    let mut packed = Packed::empty();
    for (square, kind) in Square::all().zip(PieceKind::ALL) {
        packed.as_bytes_mut()[square.index()] = manaka_core::packed::board_byte(Color::Black, kind);
    }
    packed.as_bytes_mut()[14] = 0x3c;
    let picture = Picture::of(&packed, None, 2);
    let squares: Vec<_> = (0..16).map(|index| picture.square(9 - index / 9, index % 9 + 1)).collect();
    for one in 0..16 {
        for other in 0..one {
            // The last two are a byte that names no piece and an empty square.
            assert!(!alike(&squares[one], &squares[other]), "{one} {other}");
        }
    }
    assert!(squares[15].iter().all(|&pixel| pixel == WOOD));
}

#[test]
fn hands_show_their_counts() {
    let with = |hands: &str| Picture::sfen(&format!("4k4/9/9/9/9/9/9/9/4K4 b {hands} 1"), None);
    let pictures: Vec<_> = ["-", "P", "2P", "3P", "12P", "L", "p"].map(with).into();
    for one in 0..pictures.len() {
        for other in 0..one {
            assert_ne!(pictures[one].pixels, pictures[other].pixels, "{one} {other}");
        }
    }
}

#[test]
fn any_bytes_and_any_size_can_be_drawn() {
    for fill in [0x00, 0x2e, 0x7f, 0xff] {
        let packed = Packed::from_bytes([fill; 96]);
        for scale in [1, 3] {
            let _ = Picture::of(&packed, None, scale);
        }
    }
    let packed = Packed::from_sfen(STARTPOS).unwrap().0;
    let smallest = board_png(&packed, Some(Move16::from_bits(u16::MAX)), 0).unwrap();
    assert_eq!(smallest, board_png(&packed, None, 1).unwrap());
}
