//! The lines of one search, levelled to one depth.
//!
//! An engine that is stopped at a node limit leaves its last depth unfinished, and prints the lines it did not get to
//! with the scores of the depth before. Side by side these are no list: a move searched deeper looks better or worse
//! for that alone. So of all that a search printed one depth is taken, the deepest at which all lines are there.

use crate::usi::message::{Info, Pv, Score};
use manaka_core::Move16;
use std::collections::BTreeMap;

/// Depths that are kept of one search; the shallowest go first. Far more than an engine prints.
const DEPTHS: usize = 512;

/// Collects what a search prints.
#[derive(Debug)]
pub struct Lines {
    /// How many lines there should be: as many as were asked for, or as there are legal moves.
    wanted: usize,
    /// By depth, then by rank from 0.
    depths: BTreeMap<u32, Vec<Option<Line>>>,
    /// The depth of the last line that had one.
    depth: u32,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    score: Score,
    pv: Pv,
}

/// The lines of a search at one depth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The depth of all of them.
    pub depth: u32,
    /// The deepest depth of which the engine printed anything but bounds.
    pub deepest: u32,
    /// By rank: each move once, with its score and the length of its line of play. Never empty.
    pub lines: Vec<Ranked>,
    /// Lines left out because a better rank had the same move.
    pub duplicates: u32,
}

/// A line of a [`Block`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ranked {
    /// Its first move.
    pub mv: Move16,
    /// Its score.
    pub score: Score,
    /// Plies of its line of play; 0 when it was missing.
    pub plies: u32,
}

impl Lines {
    /// Nothing yet, of a search that should print `wanted` lines, at least one.
    #[must_use]
    pub fn new(wanted: usize) -> Self {
        Self { wanted: wanted.max(1), depths: BTreeMap::new(), depth: 0 }
    }

    /// Takes a line.
    ///
    /// Bounds are passed over: what they bound is printed exactly once the search has found it, or the depth stays
    /// unfinished. At the deepest depth so far a line replaces an earlier one of its rank; at a shallower one it only
    /// fills a gap, for it is a leftover that is shown under the rank it has fallen to.
    pub fn add(&mut self, info: &Info) {
        if let Some(depth) = info.depth {
            self.depth = depth;
        }
        let rank = usize::try_from(info.rank).unwrap_or(usize::MAX);
        if info.bound || rank > self.wanted {
            return;
        }
        let deepest = self.depths.last_key_value().is_none_or(|(&deepest, _)| self.depth >= deepest);
        let ranks = self.depths.entry(self.depth).or_default();
        if ranks.len() < rank {
            ranks.resize(rank, None);
        }
        let known = |pv: Pv| {
            matches!(pv, Pv::Move { first, .. }
            if ranks.iter().flatten().any(|line| matches!(line.pv, Pv::Move { first: f, .. } if f == first)))
        };
        if deepest || (ranks[rank - 1].is_none() && !known(info.pv)) {
            ranks[rank - 1] = Some(Line { score: info.score, pv: info.pv });
        }
        if self.depths.len() > DEPTHS {
            self.depths.pop_first();
        }
    }

    /// The lines of the deepest depth that has all of them: ranks 1 to k, k being the most that any depth has.
    ///
    /// `best` is the move of an only line that comes without one, if no deeper depth followed. `None` when no line
    /// has both a score and a move.
    #[must_use]
    pub fn level(&self, best: Option<Move16>) -> Option<Block> {
        let width = |ranks: &Vec<Option<Line>>| ranks.iter().take_while(|line| line.is_some()).count();
        let widest = self.depths.values().map(width).max()?;
        let (&depth, ranks) = self.depths.iter().rev().find(|(_, ranks)| width(ranks) == widest)?;
        let (&deepest, _) = self.depths.last_key_value()?;
        let mut block = Block { depth, deepest, lines: Vec::with_capacity(widest), duplicates: 0 };
        for (rank, line) in ranks.iter().take(widest).flatten().enumerate() {
            let (mv, plies) = match (line.pv, best) {
                (Pv::Move { first, len }, _) => (first, len),
                (Pv::Missing, Some(best)) if rank == 0 && depth == deepest => (best, 0),
                _ => continue,
            };
            if block.lines.iter().any(|line| line.mv == mv) {
                block.duplicates += 1;
            } else {
                block.lines.push(Ranked { mv, score: line.score, plies });
            }
        }
        (!block.lines.is_empty()).then_some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usi::message::Message;

    fn lines(wanted: usize, text: &str) -> Lines {
        let mut lines = Lines::new(wanted);
        for line in text.lines() {
            if let Message::Info(info) = Message::parse(line) {
                lines.add(&info);
            }
        }
        lines
    }

    /// The block as `depth: move cp move cp …`.
    fn level(wanted: usize, text: &str) -> String {
        let best =
            text.lines().last().and_then(|line| line.strip_prefix("bestmove ")).and_then(Move16::from_usi);
        match lines(wanted, text).level(best) {
            None => "none".to_owned(),
            Some(block) => {
                let lines = block.lines.iter().map(|line| match line.score {
                    Score::Cp(cp) => format!(" {} {cp}", line.mv),
                    Score::Mate { wins, plies } => format!(" {} mate {wins} {plies:?}", line.mv),
                });
                format!("{}:{}", block.depth, lines.collect::<String>())
            }
        }
    }

    #[test]
    fn mixed_depths_are_levelled_to_the_deepest_that_all_lines_reach() {
        // As a real engine prints it when its nodes run out within depth 7.
        let text = "info depth 6 seldepth 6 multipv 1 score cp -486 nodes 1347 pv 5a6b G*5d\n\
                    info depth 6 seldepth 6 multipv 2 score cp -631 nodes 1347 pv 5a6a 5i4i\n\
                    info depth 6 seldepth 6 multipv 3 score cp -696 nodes 1347 pv 5a4b G*4d\n\
                    info depth 6 seldepth 6 multipv 4 score cp -725 nodes 1347 pv 5a4a G*4c\n\
                    info depth 7 seldepth 8 multipv 1 score cp -815 nodes 3003 pv 5a6b G*5d\n\
                    info depth 7 seldepth 8 multipv 2 score cp -878 nodes 3003 pv 5a4b G*4d\n\
                    info depth 7 seldepth 5 multipv 3 score cp -962 nodes 3003 pv 5a6a G*6c\n\
                    info depth 6 seldepth 6 multipv 4 score cp -725 nodes 3003 pv 5a4a G*4c\n\
                    bestmove 5a6b ponder G*5d";
        assert_eq!(level(4, text), "6: 5a6b -486 5a6a -631 5a4b -696 5a4a -725");
        let block = lines(4, text).level(None).unwrap();
        assert_eq!((block.depth, block.deepest, block.duplicates), (6, 7, 0));
        assert_eq!(block.lines[0].plies, 2);
        // Asked for three lines, depth 7 is whole.
        assert_eq!(level(3, text), "7: 5a6b -815 5a4b -878 5a6a -962");
    }

    #[test]
    fn leftovers_under_a_new_rank_do_not_disturb_the_depth_they_come_from() {
        // At depth 7 the third move came first; the others are printed again at depth 6, one rank further down.
        let text = "info depth 6 multipv 1 score cp 30 pv 7g7f\n\
                    info depth 6 multipv 2 score cp 20 pv 2g2f\n\
                    info depth 6 multipv 3 score cp 10 pv 5g5f\n\
                    info depth 7 multipv 1 score cp 90 pv 5g5f\n\
                    info depth 6 multipv 2 score cp 30 pv 7g7f\n\
                    info depth 6 multipv 3 score cp 20 pv 2g2f\n\
                    bestmove 5g5f";
        assert_eq!(level(3, text), "6: 7g7f 30 2g2f 20 5g5f 10");
    }

    #[test]
    fn unsorted_lines_go_to_their_ranks_and_ranks_are_not_sorted_by_score() {
        let text = "info depth 5 multipv 3 score cp 19 pv 7a7b\n\
                    info depth 5 multipv 1 score cp -8 pv 9c9d 5i4h\n\
                    info depth 5 multipv 2 score cp 6 pv 9a9b\n";
        assert_eq!(level(3, text), "5: 9c9d -8 9a9b 6 7a7b 19");
        let text = "info multipv 2 score cp 6 depth 5 pv 9a9b\n\
                    info depth 6 multipv 1 score cp -8 pv 9c9d\n\
                    info depth 5 multipv 1 score cp 7 pv 9c9d\n";
        assert_eq!(level(2, text), "5: 9c9d 7 9a9b 6");
    }

    #[test]
    fn bounds_are_no_scores() {
        let text = "info depth 4 multipv 1 score cp 10 pv 7g7f\n\
                    info depth 4 multipv 2 score cp 5 pv 2g2f\n\
                    info depth 5 multipv 1 score cp 80 lowerbound pv 7g7f\n\
                    info depth 5 multipv 1 score cp 60 pv 7g7f\n\
                    info depth 5 multipv 2 score cp -269 upperbound pv 2g2f\n";
        assert_eq!(level(2, text), "4: 7g7f 10 2g2f 5");
        assert_eq!(level(1, text), "5: 7g7f 60");
        assert_eq!(level(1, "info depth 1 score cp 3 upperbound pv 7g7f\nbestmove 7g7f"), "none");
    }

    #[test]
    fn a_move_that_is_printed_twice_counts_once_under_its_better_rank() {
        let text = "info depth 5 multipv 1 score cp 30 pv 7g7f\n\
                    info depth 5 multipv 2 score cp 25 pv 7g7f\n\
                    info depth 5 multipv 3 score cp 10 pv 2g2f\n";
        assert_eq!(level(3, text), "5: 7g7f 30 2g2f 10");
        assert_eq!(lines(3, text).level(None).unwrap().duplicates, 1);
    }

    #[test]
    fn a_rank_that_is_printed_again_at_its_depth_has_its_last_score() {
        let text = "info depth 5 multipv 1 score cp 30 pv 7g7f\n\
                    info depth 5 multipv 1 score cp 35 pv 2g2f\n";
        assert_eq!(level(2, text), "5: 2g2f 35");
    }

    #[test]
    fn engines_without_a_multipv_word_have_one_line() {
        let text = "info depth 2 seldepth 3 time 22 score cp -84 nodes 3117 pv 1c1d 7i6h\n\
                    info depth 3 seldepth 4 time 30 score cp -29 nodes 2692 pv 3c3d 6g6f\n\
                    bestmove 3c3d";
        assert_eq!(level(5, text), "3: 3c3d -29");
        assert_eq!(level(1, text), "3: 3c3d -29");
    }

    #[test]
    fn fewer_lines_than_asked_for_are_the_most_there_are() {
        let text = "info depth 4 multipv 1 score cp 10 pv 7g7f\n\
                    info depth 4 multipv 2 score cp 5 pv 2g2f\n\
                    info depth 5 multipv 1 score cp 60 pv 7g7f\n";
        assert_eq!(level(5, text), "4: 7g7f 10 2g2f 5");
        // A rank without the one before it is no line.
        assert_eq!(level(5, "info depth 4 multipv 2 score cp 5 pv 2g2f"), "none");
        // More than asked for are not wanted.
        assert_eq!(level(1, text), "5: 7g7f 60");
    }

    #[test]
    fn lines_of_play_without_a_move_keep_their_rank_and_give_no_candidate() {
        let text = "info depth 3 multipv 1 score cp 10 pv 7g7f\n\
                    info depth 3 multipv 2 score mate -0 pv resign\n\
                    info depth 3 multipv 3 score cp 5 pv 2g2f\n";
        assert_eq!(level(3, text), "3: 7g7f 10 2g2f 5");
        assert_eq!(level(1, "info depth 3 score mate -0 pv resign\nbestmove resign"), "none");
        assert_eq!(level(1, "info depth 3 score mate + pv win\nbestmove win"), "none");
    }

    #[test]
    fn a_score_without_a_line_of_play_belongs_to_the_best_move() {
        assert_eq!(level(1, "info depth 3 score cp 12\nbestmove 7g7f"), "3: 7g7f 12");
        assert_eq!(level(1, "info score cp 12\nbestmove 7g7f"), "0: 7g7f 12");
        let text = "info depth 3 multipv 1 score cp 12\n\
                    info depth 3 multipv 2 score cp 5 pv 7g7f\n\
                    bestmove 7g7f";
        assert_eq!(level(2, text), "3: 7g7f 12");
        assert_eq!(level(1, "info depth 3 score cp 12\nbestmove resign"), "none");
        // Of a depth that was left behind, nobody knows the move.
        let text = "info depth 3 multipv 1 score cp 12\n\
                    info depth 3 multipv 2 score cp 5 pv 2g2f\n\
                    info depth 4 multipv 1 score cp 20 pv 7g7f\n\
                    bestmove 7g7f";
        assert_eq!(level(2, text), "3: 2g2f 5");
    }

    #[test]
    fn mates_without_a_number_are_kept_as_they_are() {
        let text = "info depth 1 multipv 1 score mate + pv G*5b\n\
                    info depth 1 multipv 2 score mate -0 pv 5i6h\n";
        assert_eq!(level(2, text), "1: G*5b mate true None 5i6h mate false Some(0)");
    }

    #[test]
    fn a_flood_of_depths_is_bounded() {
        let mut lines = Lines::new(5);
        for depth in 0..100_000u32 {
            let line = format!("info depth {depth} multipv 4000000000 score cp 1 pv 7g7f");
            let other = format!("info depth {depth} multipv 1 score cp 1 pv 7g7f");
            for line in [line, other] {
                if let Message::Info(info) = Message::parse(&line) {
                    lines.add(&info);
                }
            }
        }
        assert_eq!(lines.depths.len(), DEPTHS);
        assert_eq!(lines.level(None).unwrap().depth, 99_999);
    }

    proptest::proptest! {
        /// Whatever an engine prints in whatever order: nothing panics, and a block is one.
        #[test]
        fn no_lines_make_anything_but_a_block(
            wanted in 0usize..7,
            words in proptest::collection::vec(proptest::sample::select(&[
                "info", "depth", "multipv", "score", "cp", "mate", "pv", "lowerbound", "upperbound", "string", "+", "-",
                "-0", "0", "1", "2", "3", "7", "-35", "99999999999", "7g7f", "2g2f", "P*5e", "resign", "win", "\n", "\n",
                "info depth 3 multipv 1 score cp 5 pv", "info depth 4 multipv 2 score mate", "\u{fffd}",
            ][..]), 0..200),
        ) {
            let lines = lines(wanted, &words.join(" "));
            if let Some(block) = lines.level(Move16::from_usi("9g9f")) {
                assert!(!block.lines.is_empty() && block.lines.len() <= wanted.max(1));
                assert!(block.depth <= block.deepest);
                for (at, line) in block.lines.iter().enumerate() {
                    assert!(block.lines[..at].iter().all(|other| other.mv != line.mv));
                }
            }
        }
    }
}
