//! Headers, records, positions and moves by their fields, and their bytes.

#[derive(Clone, Copy)]
pub struct Head {
    pub version: u16,
    pub packed_len: u16,
    pub pov: u8,
    pub policy_source: u8,
    pub mate_scale: u16,
    pub fv_scale: u16,
    pub mate_slack: u16,
    pub eval_coef: f32,
    pub flags: u32,
}

/// The header of the V4 corpus.
pub const V4: Head = Head {
    version: 2,
    packed_len: 96,
    pov: 0,
    policy_source: 1,
    mate_scale: 32000,
    fv_scale: 28,
    mate_slack: 100,
    eval_coef: 1512.173,
    flags: 0,
};

/// A visits header.
pub const VISITS: Head =
    Head { policy_source: 0, mate_scale: 0, fv_scale: 0, mate_slack: 0, eval_coef: 0.0, ..V4 };

impl Head {
    pub fn bytes(&self) -> Vec<u8> {
        [
            &b"MPK1"[..],
            &self.version.to_le_bytes(),
            &self.packed_len.to_le_bytes(),
            &[self.pov, self.policy_source],
            &self.mate_scale.to_le_bytes(),
            &self.fv_scale.to_le_bytes(),
            &self.mate_slack.to_le_bytes(),
            &self.eval_coef.to_le_bytes(),
            &self.flags.to_le_bytes(),
        ]
        .concat()
    }
}

/// mv, visits, cp.
pub type Cand = (u16, u32, i16);

#[derive(Clone)]
pub struct Rec {
    pub ply: u16,
    pub value_z: f32,
    pub value_q: f32,
    pub packed: [u8; 96],
    /// The SFEN without a move number, where there is one.
    pub sfen: &'static str,
    pub faults: &'static [&'static str],
    pub candidates: Vec<Cand>,
}

impl Rec {
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes_counting(u16::try_from(self.candidates.len()).unwrap_or(u16::MAX))
    }

    pub fn bytes_counting(&self, n_cand: u16) -> Vec<u8> {
        let mut bytes = [
            &self.ply.to_le_bytes()[..],
            &self.value_z.to_le_bytes(),
            &self.value_q.to_le_bytes(),
            &n_cand.to_le_bytes(),
            &self.packed,
        ]
        .concat();
        for (mv, visits, cp) in &self.candidates {
            bytes.extend(mv.to_le_bytes());
            bytes.extend(visits.to_le_bytes());
            bytes.extend(cp.to_le_bytes());
        }
        bytes
    }
}

pub fn stream(head: &Head, records: &[Rec]) -> Vec<u8> {
    let mut bytes = head.bytes();
    for record in records {
        bytes.extend(record.bytes());
    }
    bytes
}

pub const EMPTY_BOARD: [u8; 81] = [0xFF; 81];

/// The square of a USI name.
pub fn square(name: &str) -> u16 {
    let [file, rank] = [name.as_bytes()[0] - b'0', name.as_bytes()[1] - b'a' + 1];
    u16::from((9 - file) * 9 + (rank - 1))
}

/// The move16 of a USI move.
pub fn mv(usi: &str) -> u16 {
    if let Some((letter, to)) = usi.split_once('*') {
        let index = "PLNSGBR".find(letter).unwrap_or(7);
        return (81 + u16::try_from(index).unwrap_or(7)) << 7 | square(to);
    }
    u16::from(usi.ends_with('+')) << 14 | square(&usi[..2]) << 7 | square(&usi[2..4])
}

/// Puts pieces on a board: `K5i` is a Black king on 5i, `+r2h` a White dragon on 2h.
pub fn put(board: &mut [u8; 81], pieces: &str) {
    for piece in pieces.split_whitespace() {
        let (letters, at) = piece.split_at(piece.len() - 2);
        let names = ["K", "R", "B", "G", "S", "N", "L", "P", "+R", "+B", "+S", "+N", "+L", "+P"];
        let kind = names.iter().position(|name| *name == letters.to_uppercase()).unwrap_or(15);
        let white = letters.chars().any(char::is_lowercase);
        board[usize::from(square(at))] = u8::try_from(kind).unwrap_or(15) | u8::from(white) << 4;
    }
}

/// 96 bytes from a board, the hands in the order P L N S G B R, and the side.
pub fn position(board: [u8; 81], black: [u8; 7], white: [u8; 7], side: u8) -> [u8; 96] {
    let mut packed = [0; 96];
    packed[..81].copy_from_slice(&board);
    packed[81..88].copy_from_slice(&black);
    packed[88..95].copy_from_slice(&white);
    packed[95] = side;
    packed
}

/// The start position, Black to move.
pub fn start() -> Rec {
    let mut board = EMPTY_BOARD;
    put(
        &mut board,
        "l9a n8a s7a g6a k5a g4a s3a n2a l1a r8b b2b L9i N8i S7i G6i K5i G4i S3i N2i L1i B8h R2h",
    );
    for file in 1..=9 {
        put(&mut board, &format!("p{file}c P{file}g"));
    }
    Rec {
        ply: 1,
        value_z: 1.0,
        value_q: 0.0625,
        packed: position(board, [0; 7], [0; 7], 0),
        sfen: "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -",
        faults: &[],
        candidates: vec![
            (mv("7g7f"), 0, 38),
            (mv("2g2f"), 0, 42),
            (mv("6i7h"), 0, -7),
            (mv("5g5f"), 0, 0),
            (mv("1g1f"), 0, -63),
        ],
    }
}

/// A late position with promoted pieces and full hands, White to move.
pub fn late() -> Rec {
    let mut board = EMPTY_BOARD;
    put(&mut board, "k1a +P3b G2d +B5e l1c +n7g K5i +r8h P4f s6c");
    Rec {
        ply: 143,
        value_z: -1.0,
        value_q: -0.875,
        packed: position(board, [10, 1, 0, 2, 0, 0, 0], [6, 2, 3, 1, 3, 1, 1], 1),
        sfen: "8k/6+P2/3s4l/7G1/4+B4/5P3/2+n6/1+r7/4K4 w 2SL10Prb3gs3n2l6p",
        faults: &[],
        candidates: vec![(mv("8h8i"), 0, 1250), (mv("G*4h"), 0, 1310), (mv("1c1d"), 0, -2210)],
    }
}

/// The same record with its policy in visits.
pub fn visited(mut record: Rec) -> Rec {
    for (i, candidate) in record.candidates.iter_mut().enumerate() {
        (candidate.1, candidate.2) = ([410, 205, 1, 183, 1][i % 5], i16::MIN);
    }
    record
}

/// A zstd frame that stores its content (at most 255 bytes), with no checksum: bytes that no library version changes.
pub fn stored(content: &[u8]) -> Vec<u8> {
    let len = u8::try_from(content.len()).unwrap_or(u8::MAX);
    let block = u32::from(len) << 3 | 1; // last, raw
    [&[0x28, 0xB5, 0x2F, 0xFD, 0x20, len], &block.to_le_bytes()[..3], content].concat()
}
