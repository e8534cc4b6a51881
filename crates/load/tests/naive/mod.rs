//! The slow twin: features.md read again, row by row, with maps and walks instead of tables and bits.
#![allow(dead_code, reason = "every test file uses some of it")]

use super::shards::Row;
use manaka_load::{Batch, FeatureSet, Features, Policy, PolicyTarget};
use std::collections::BTreeMap;

/// Everything of a row of a batch, comparable. Indices are sorted, without the pads.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Out {
    pub value: f32,
    pub weight: f32,
    pub own: Vec<i32>,
    pub other: Vec<i32>,
    pub first: Vec<u8>,
    pub second: Vec<u8>,
    /// Label and prob, in order; by label without zeros where dense.
    pub policy: Vec<(u16, f32)>,
    pub packed: Vec<u8>,
}

/// (file, rank) from 1, as the mover sees them, with whose piece it is.
type Men = BTreeMap<(i32, i32), (bool, u8)>;

fn men(packed: &[u8; 96], mirrored: bool) -> Men {
    let white = packed[95] == 1;
    let mut men = Men::new();
    for (square, &byte) in packed[..81].iter().enumerate() {
        if byte == 0xFF {
            continue;
        }
        let (mut file, mut rank) = (9 - square as i32 / 9, square as i32 % 9 + 1);
        if mirrored {
            file = 10 - file;
        }
        if white {
            (file, rank) = (10 - file, 10 - rank);
        }
        men.insert((file, rank), ((byte & 16 != 0) == white, byte & 15));
    }
    men
}

fn hands(packed: &[u8; 96]) -> [[u8; 7]; 2] {
    let (black, white) = (packed[81..88].try_into().unwrap(), packed[88..95].try_into().unwrap());
    if packed[95] == 0 { [black, white] } else { [white, black] }
}

fn number(square: (i32, i32)) -> i32 {
    (square.0 - 1) * 9 + square.1 - 1
}

/// P of the mover (`turned` false) or of its opponent; and both kings, the viewer's first.
fn pieces(packed: &[u8; 96], mirrored: bool, turned: bool) -> (Vec<i32>, [i32; 2]) {
    // Board kinds K R B G S N L P +R +B +S +N +L +P: which pair of 81 behind 90.
    const PAIR: [i32; 14] = [-1, 7, 5, 4, 3, 2, 1, 0, 8, 6, 4, 4, 4, 4];
    const HAND: [[i32; 7]; 2] = [[1, 39, 49, 59, 69, 79, 85], [20, 44, 54, 64, 74, 82, 88]];
    let mut list = Vec::new();
    let mut kings = [-1; 2];
    for (&square, &(own, kind)) in &men(packed, mirrored) {
        let square = if turned { 80 - number(square) } else { number(square) };
        let own = own != turned;
        if kind == 0 {
            kings[usize::from(!own)] = square;
        } else {
            list.push(90 + 162 * PAIR[usize::from(kind)] + if own { 0 } else { 81 } + square);
        }
    }
    for (side, hand) in hands(packed).iter().enumerate() {
        for (kind, &count) in hand.iter().enumerate() {
            let table = &HAND[if turned { 1 - side } else { side }];
            list.extend((0..i32::from(count)).map(|n| table[kind] + n));
        }
    }
    (list, kings)
}

fn indices(packed: &[u8; 96], mirrored: bool, turned: bool, kp: bool) -> Vec<i32> {
    let (mut list, kings) = pieces(packed, mirrored, turned);
    if kp {
        list.extend([1548 + kings[0], 1629 + kings[1]]);
    } else {
        list.iter_mut().for_each(|index| *index += 1548 * kings[0]);
    }
    list.sort_unstable();
    list
}

/// The squares a piece attacks: the step, and whether it goes on.
fn attacks(men: &Men, from: (i32, i32), own: bool, kind: u8) -> Vec<(i32, i32)> {
    let forward = if own { -1 } else { 1 };
    let gold = vec![(0, 1), (1, 1), (-1, 1), (1, 0), (-1, 0), (0, -1)];
    let straight = vec![(0, 1), (0, -1), (1, 0), (-1, 0)];
    let diagonal = vec![(1, 1), (1, -1), (-1, 1), (-1, -1)];
    let (steps, slides) = match kind {
        0 => ([straight, diagonal].concat(), vec![]),
        1 => (vec![], straight),
        2 => (vec![], diagonal),
        4 => (vec![(0, 1), (1, 1), (-1, 1), (1, -1), (-1, -1)], vec![]),
        5 => (vec![(1, 2), (-1, 2)], vec![]),
        6 => (vec![], vec![(0, 1)]),
        7 => (vec![(0, 1)], vec![]),
        8 => (diagonal, straight),
        9 => (straight, diagonal),
        _ => (gold, vec![]),
    };
    let mut found = Vec::new();
    let inside = |(file, rank): (i32, i32)| (1..=9).contains(&file) && (1..=9).contains(&rank);
    for (steps, goes_on) in [(steps, false), (slides, true)] {
        for (file, up) in steps {
            let mut at = (from.0 + file, from.1 + up * forward);
            while inside(at) {
                found.push(at);
                if !goes_on || men.contains_key(&at) {
                    break;
                }
                at = (at.0 + file, at.1 + up * forward);
            }
        }
    }
    found
}

fn planes(packed: &[u8; 96], mirrored: bool) -> (Vec<u8>, Vec<u8>) {
    const PLANE: [usize; 14] = [7, 5, 4, 6, 3, 2, 1, 0, 13, 12, 11, 10, 9, 8];
    let men = men(packed, mirrored);
    let mut first = vec![0; 62 * 81];
    let mut counts = [[0usize; 81]; 2];
    let mut check = 0;
    for (&square, &(own, kind)) in &men {
        let side = usize::from(!own);
        let plane = 31 * side + PLANE[usize::from(kind)];
        first[plane * 81 + number(square) as usize] = 1;
        for target in attacks(&men, square, own, kind) {
            let at = number(target) as usize;
            first[(plane + 14) * 81 + at] = 1;
            counts[side][at] += 1;
            if !own && kind != 0 && men.get(&target) == Some(&(true, 0)) {
                check = 1;
            }
        }
    }
    for side in 0..2 {
        for at in 0..81 {
            for n in 0..counts[side][at].min(3) {
                first[(31 * side + 28 + n) * 81 + at] = 1;
            }
        }
    }
    let mut second = Vec::new();
    for hand in hands(packed) {
        for (count, most) in hand.into_iter().zip([8, 4, 4, 4, 4, 2, 2]) {
            for n in 0..most {
                second.extend([u8::from(count > n); 81]);
            }
        }
    }
    second.extend([check; 81]);
    (first, second)
}

/// features.md §8, by the arithmetic of squares.
pub fn label(mv: u16, white: bool, mirrored: bool) -> u16 {
    let seen = |square: u16| {
        let (mut file, mut rank) = (9 - i32::from(square) / 9, i32::from(square) % 9 + 1);
        if mirrored {
            file = 10 - file;
        }
        if white {
            (file, rank) = (10 - file, 10 - rank);
        }
        (file, rank)
    };
    let to = seen(mv & 127);
    let origin = mv >> 7 & 127;
    let kind = if origin >= 81 {
        // P L N S G B R to the order P L N S B R G.
        20 + [0, 1, 2, 3, 6, 4, 5][usize::from(origin - 81)]
    } else {
        let from = seen(origin);
        let (left, up) = (to.0 - from.0, from.1 - to.1);
        let direction = match (left.signum(), up.signum()) {
            (1, 1) if (left, up) == (1, 2) => 8,
            (-1, 1) if (left, up) == (-1, 2) => 9,
            (0, 1) => 0,
            (1, 1) => 1,
            (-1, 1) => 2,
            (1, 0) => 3,
            (-1, 0) => 4,
            (0, -1) => 5,
            (1, -1) => 6,
            _ => 7,
        };
        direction + if mv >> 14 & 1 == 1 { 10 } else { 0 }
    };
    kind * 81 + number(to) as u16
}

/// What a loader should say of a row, but for value and weight, which tests state themselves.
pub fn expected(row: &Row, mirrored: bool, set: FeatureSet, policy: PolicyTarget) -> Out {
    let mut out = Out { packed: row.packed.to_vec(), ..Out::default() };
    match set {
        FeatureSet::None => {}
        FeatureSet::HalfKp | FeatureSet::Kp => {
            let kp = set == FeatureSet::Kp;
            out.own = indices(&row.packed, mirrored, false, kp);
            out.other = indices(&row.packed, mirrored, true, kp);
        }
        _ => (out.first, out.second) = planes(&row.packed, mirrored),
    }
    let labels = row.candidates.iter().map(|&(mv, prob, _)| (label(mv, row.packed[95] == 1, mirrored), prob));
    match policy {
        PolicyTarget::None => {}
        PolicyTarget::Sparse => out.policy = labels.collect(),
        PolicyTarget::Dense => {
            let mut sums = BTreeMap::new();
            labels.for_each(|(label, prob)| *sums.entry(label).or_insert(0.0) += prob);
            out.policy = sums.into_iter().collect();
        }
    }
    out
}

/// The rows of a batch.
pub fn outs(batch: &Batch) -> Vec<Out> {
    (0..batch.rows)
        .map(|row| {
            let mut out = Out { value: batch.value[row], weight: batch.weight[row], ..Out::default() };
            match &batch.features {
                Features::None => {}
                Features::Indices { width, mover, opponent } => {
                    assert_eq!(mover.len(), batch.rows * width);
                    let list = |all: &[i32]| {
                        let all = &all[row * width..(row + 1) * width];
                        let men = all.iter().take_while(|&&index| index != -1).count();
                        assert!(all[men..].iter().all(|&index| index == -1));
                        let mut list = all[..men].to_vec();
                        list.sort_unstable();
                        list
                    };
                    (out.own, out.other) = (list(mover), list(opponent));
                }
                Features::Bits { first, second } => {
                    let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (at % 8) & 1;
                    let (bits, whole) = (&first[row * 628..(row + 1) * 628], &second[row * 8..(row + 1) * 8]);
                    out.first = (0..62 * 81).map(|at| bit(bits, at)).collect();
                    out.second = (0..57 * 81).map(|at| bit(whole, at / 81)).collect();
                    assert!((62 * 81..628 * 8).all(|at| bit(bits, at) == 0));
                }
                Features::Bytes { first, second } => {
                    out.first = first[row * 5022..(row + 1) * 5022].to_vec();
                    out.second = second[row * 4617..(row + 1) * 4617].to_vec();
                }
                Features::Floats(planes) => {
                    let bytes = |all: &[f32]| {
                        all.iter()
                            .map(|&number| if number == 1.0 { 1 } else { u8::from(number != 0.0) * 2 })
                            .collect()
                    };
                    out.first = bytes(&planes.first()[row * 5022..(row + 1) * 5022]);
                    out.second = bytes(&planes.second()[row * 4617..(row + 1) * 4617]);
                }
            }
            match &batch.policy {
                Policy::None => {}
                Policy::Sparse { offsets, label, prob } => {
                    let part = offsets[row] as usize..offsets[row + 1] as usize;
                    out.policy = part.map(|at| (label[at], prob[at])).collect();
                }
                Policy::Dense(probs) => {
                    let probs = &probs[row * 2187..(row + 1) * 2187];
                    let there = probs.iter().enumerate().filter(|(_, prob)| **prob != 0.0);
                    out.policy = there.map(|(label, &prob)| (label as u16, prob)).collect();
                }
            }
            if !batch.packed.is_empty() {
                out.packed = batch.packed[row * 96..(row + 1) * 96].to_vec();
            }
            out
        })
        .collect()
}
