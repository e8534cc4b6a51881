//! Games, found where `ply` does not increase, in pieces that can be joined.
//!
//! A run of records is told by its two edges: the game that may go on before it and the one that may go on behind it.
//! Everything between is closed and counted. Joining two neighbouring runs is associative, so runs may be found on any
//! thread and joined in any grouping.

use super::counts::Counts;
use super::sample::Sample;
use manaka_core::Color;
use manaka_core::stream::opens_game;

/// What a record says about its neighbours, in Black's view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    pub ply: u16,
    pub mover: Color,
    /// Who stands better by the root's value: 1 Black, −1 White, 0 nobody clearly.
    pub lean: i8,
    /// Who won: 1 Black, −1 White, 0 nobody; [`UNKNOWN`] where the data does not say.
    pub outcome: i8,
}

/// An outcome that is not stated, or not by one game.
pub const UNKNOWN: i8 = 2;

/// A part of a game, or all of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    pub first: Edge,
    pub last: Edge,
    pub records: u64,
    /// A polynomial over the hashes of its positions.
    hash: u64,
}

/// The base of the polynomial.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

impl Stretch {
    const fn of(edge: Edge, hash: u64) -> Self {
        Self { first: edge, last: edge, records: 1, hash }
    }

    /// Takes in the record behind it.
    #[inline]
    fn push(&mut self, edge: Edge, hash: u64) {
        self.last = edge;
        self.records += 1;
        self.hash = self.hash.wrapping_mul(BASE).wrapping_add(hash);
    }

    /// Takes in the stretch behind it.
    fn extend(&mut self, behind: &Self) {
        self.last = behind.last;
        self.records += behind.records;
        self.hash = self.hash.wrapping_mul(power(behind.records)).wrapping_add(behind.hash);
    }
}

fn power(mut exponent: u64) -> u64 {
    let (mut result, mut square) = (1u64, BASE);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        exponent >>= 1;
    }
    result
}

/// The open ends of a run of records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seam {
    /// Its first game, which may have begun before.
    head: Stretch,
    /// Its last game when that is another one; it may go on behind.
    tail: Option<Stretch>,
}

/// Shorter games than this are not looked at when it is asked whether one was played again: short ones do meet.
pub const REPEAT_RECORDS: u64 = 10;

/// What is counted of closed games, and between neighbours.
#[derive(Clone, Default)]
pub struct Games {
    pub games: u64,
    /// The ply of the first record of each.
    pub opens: Counts,
    /// The ply of the last record of each.
    pub closes: Counts,
    pub records: Counts,
    /// From a record's ply to the next one's in its game.
    pub gaps: Counts,
    /// Most neighbours are one ply apart.
    single_gaps: u64,
    /// Games by their last record's outcome from Black: −1, 0, 1, and unknown.
    pub outcomes: [u64; 4],
    /// Neighbours of different movers that both lean, and those that lean to the same side.
    pub leaning: [u64; 2],
    /// Neighbours of different movers with an outcome that is no draw, and those with the same.
    pub decided: [u64; 2],
    /// Games of at least [`REPEAT_RECORDS`], by their positions.
    pub repeats: Sample,
}

impl Games {
    fn close(&mut self, game: &Stretch) {
        self.games += 1;
        self.opens.add(game.first.ply.into());
        self.closes.add(game.last.ply.into());
        self.records.add(game.records);
        self.outcomes[usize::from((game.last.outcome + 1).unsigned_abs())] += 1;
        if game.records >= REPEAT_RECORDS {
            // Spread: a polynomial's low bits know only the low bits of what went in.
            self.repeats.add((game.hash ^ game.hash >> 32).wrapping_mul(BASE) ^ game.hash >> 29);
        }
    }

    /// Counts two neighbours of one game.
    #[inline(always)]
    fn neighbours(&mut self, one: &Edge, next: &Edge) {
        let gap = next.ply - one.ply;
        if gap == 1 {
            self.single_gaps += 1;
        } else {
            self.gaps.add(gap.into());
        }
        if one.mover != next.mover {
            let both = one.lean * next.lean;
            self.leaning[0] += u64::from(both != 0);
            self.leaning[1] += u64::from(both > 0);
            let decided = one.outcome & 1 != 0 && next.outcome & 1 != 0;
            self.decided[0] += u64::from(decided);
            self.decided[1] += u64::from(decided && one.outcome == next.outcome);
        }
    }

    /// Joins two runs, the second of which follows the first.
    pub fn join(&mut self, one: Seam, next: Seam) -> Seam {
        let mut left = one.tail.unwrap_or(one.head);
        if opens_game(left.last.ply, next.head.first.ply) {
            if let Some(tail) = &one.tail {
                self.close(tail);
            }
            let tail = match next.tail {
                Some(tail) => {
                    self.close(&next.head);
                    tail
                }
                None => next.head,
            };
            return Seam { head: one.head, tail: Some(tail) };
        }
        self.neighbours(&left.last, &next.head.first);
        left.extend(&next.head);
        match (one.tail, next.tail) {
            (None, tail) => Seam { head: left, tail },
            (Some(_), None) => Seam { head: one.head, tail: Some(left) },
            (Some(_), Some(tail)) => {
                self.close(&left);
                Seam { head: one.head, tail: Some(tail) }
            }
        }
    }

    /// Whether a game goes on from one run to the next.
    pub fn goes_on(one: &Seam, next: &Seam) -> bool {
        !opens_game(one.tail.as_ref().unwrap_or(&one.head).last.ply, next.head.first.ply)
    }

    /// Closes the games at both ends: nothing comes before or behind.
    pub fn finish(&mut self, seam: Option<Seam>) {
        if let Some(seam) = seam {
            self.close(&seam.head);
            if let Some(tail) = &seam.tail {
                self.close(tail);
            }
        }
        self.gaps.add_times(1, std::mem::take(&mut self.single_gaps));
    }

    pub fn merge(&mut self, other: &Self) {
        let Self { games, opens, closes, records, gaps, single_gaps, outcomes, leaning, decided, repeats } =
            other;
        self.games += games;
        self.opens.merge(opens);
        self.closes.merge(closes);
        self.records.merge(records);
        self.gaps.merge(gaps);
        self.single_gaps += single_gaps;
        let pairs = (self.outcomes.iter_mut().zip(outcomes))
            .chain(self.leaning.iter_mut().zip(leaning))
            .chain(self.decided.iter_mut().zip(decided));
        pairs.for_each(|(sum, more)| *sum += more);
        self.repeats.merge(repeats);
    }
}

/// Follows the records of a run.
#[derive(Default)]
pub struct Tracker {
    head: Option<Stretch>,
    current: Option<Stretch>,
}

impl Tracker {
    /// Takes the next record, with the hash of its position.
    #[inline(always)]
    pub fn push(&mut self, edge: Edge, hash: u64, games: &mut Games) {
        match &mut self.current {
            Some(game) if !opens_game(game.last.ply, edge.ply) => {
                games.neighbours(&game.last, &edge);
                game.push(edge, hash);
            }
            current => {
                if let Some(ended) = current.replace(Stretch::of(edge, hash)) {
                    if self.head.is_none() {
                        self.head = Some(ended);
                    } else {
                        games.close(&ended);
                    }
                }
            }
        }
    }

    /// The open ends; `None` when there was no record.
    pub fn finish(self) -> Option<Seam> {
        match (self.head, self.current) {
            (Some(head), tail) => Some(Seam { head, tail }),
            (None, Some(head)) => Some(Seam { head, tail: None }),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Plies into edges whose other fields follow from them in some way.
    fn edges(plies: &[u16]) -> Vec<Edge> {
        let side = |ply: u16| if ply % 2 == 1 { Color::Black } else { Color::White };
        let lean = |ply: u16| [-1, 0, 1][usize::from(ply % 3)];
        let outcome = |at: usize| [1, 1, -1, 0, UNKNOWN][at / 4 % 5];
        plies
            .iter()
            .enumerate()
            .map(|(at, &ply)| Edge { ply, mover: side(ply), lean: lean(ply), outcome: outcome(at) })
            .collect()
    }

    fn run(edges: &[Edge], games: &mut Games) -> Option<Seam> {
        let mut tracker = Tracker::default();
        edges.iter().for_each(|edge| tracker.push(*edge, u64::from(edge.ply) * 77, games));
        tracker.finish()
    }

    type Figures =
        (u64, Vec<(u64, u64)>, Vec<(u64, u64)>, Vec<(u64, u64)>, Vec<(u64, u64)>, [u64; 4], [u64; 4]);

    fn figures(games: &Games) -> Figures {
        let list = |counts: &Counts| counts.iter().collect::<Vec<_>>();
        let neighbours = [games.leaning[0], games.leaning[1], games.decided[0], games.decided[1]];
        let Games { opens, closes, records, gaps, .. } = games;
        (games.games, list(opens), list(closes), list(records), list(gaps), games.outcomes, neighbours)
    }

    /// The same by walking over games that were cut first.
    fn naive(edges: &[Edge]) -> Figures {
        let mut cut: Vec<Vec<Edge>> = Vec::new();
        for edge in edges {
            match cut.last_mut() {
                Some(game) if game.last().is_some_and(|last| edge.ply > last.ply) => game.push(*edge),
                _ => cut.push(vec![*edge]),
            }
        }
        let mut expected = Games::default();
        for game in &cut {
            let (first, last) = (game[0], game[game.len() - 1]);
            expected.games += 1;
            expected.opens.add(first.ply.into());
            expected.closes.add(last.ply.into());
            expected.records.add(game.len() as u64);
            let at = match last.outcome {
                -1 => 0,
                0 => 1,
                1 => 2,
                _ => 3,
            };
            expected.outcomes[at] += 1;
            for pair in game.windows(2) {
                expected.gaps.add(u64::from(pair[1].ply) - u64::from(pair[0].ply));
                if pair[0].mover == pair[1].mover {
                    continue;
                }
                if pair.iter().all(|edge| edge.lean != 0) {
                    expected.leaning[0] += 1;
                    expected.leaning[1] += u64::from(pair[0].lean == pair[1].lean);
                }
                if pair.iter().all(|edge| edge.outcome == 1 || edge.outcome == -1) {
                    expected.decided[0] += 1;
                    expected.decided[1] += u64::from(pair[0].outcome == pair[1].outcome);
                }
            }
        }
        figures(&expected)
    }

    proptest! {
        #[test]
        fn any_cut_into_runs_joined_in_any_grouping_gives_the_same_games(
            steps in prop::collection::vec((0u16..4, prop::bool::weighted(0.15), any::<bool>()), 0..60),
            grouping in any::<u64>(),
        ) {
            let mut ply = 5;
            let mut plies = Vec::new();
            for &(step, anew, _) in &steps {
                ply = if anew { step } else { ply + step };
                plies.push(ply);
            }
            let edges = edges(&plies);
            let mut whole = Games::default();
            let seam = run(&edges, &mut whole);
            whole.finish(seam);
            prop_assert_eq!(figures(&whole), naive(&edges));

            let mut cut = Games::default();
            let mut seams = Vec::new();
            let mut start = 0;
            for end in 1..=edges.len() {
                if end == edges.len() || steps[end].2 {
                    let mut own = Games::default();
                    seams.extend(run(&edges[start..end], &mut own));
                    cut.merge(&own);
                    start = end;
                }
            }
            // Neighbours are joined in an order of the draw's choosing.
            let mut draw = grouping;
            while seams.len() > 1 {
                let at = usize::try_from(draw % (seams.len() as u64 - 1)).unwrap();
                draw = draw.rotate_left(13).wrapping_mul(BASE);
                let next = seams.remove(at + 1);
                seams[at] = cut.join(seams[at], next);
            }
            cut.finish(seams.pop());
            prop_assert_eq!(figures(&cut), figures(&whole));
            prop_assert_eq!(cut.repeats.settled(), whole.repeats.settled());
        }
    }
}
