//! Which move is played, out of what a search found.

use crate::game::dice::Dice;
use crate::options::PlayOptions;
use crate::usi::MateScale;
use manaka_core::Move16;
use manaka_core::conventions::Softmax;
use manaka_shogi::Board;

/// Chooses moves by the options of a run.
#[derive(Debug)]
pub(crate) struct Chooser {
    softmax: Option<Softmax>,
    random_move: f64,
    random_until_ply: u32,
    scale: MateScale,
}

/// A chosen move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Choice {
    pub mv: Move16,
    /// Whether it was drawn from all legal moves, without a look at the search.
    pub random: bool,
}

impl Chooser {
    pub(crate) fn new(play: &PlayOptions, scale: MateScale) -> Self {
        Self {
            softmax: Softmax::new(play.softmax_temp_cp),
            random_move: play.random_move,
            random_until_ply: play.random_until_ply,
            scale,
        }
    }

    /// The move to play. `candidates` by rank, at least one; `best` is the engine's own choice.
    ///
    /// With a mate in sight, for or against the side to move, it is the best move. Otherwise the share of random
    /// moves is drawn from all legal ones; before the end of the opening the others are drawn from the candidates by
    /// softmax; and what is left is the best move: the engine's, if it is among the candidates, else the first of them.
    pub(crate) fn choose(
        &self,
        board: &Board,
        candidates: &[(Move16, i16)],
        best: Option<Move16>,
        dice: &mut Dice,
    ) -> Choice {
        let chosen = |mv| Choice { mv, random: false };
        let listed = best.filter(|&best| candidates.iter().any(|&(mv, _)| mv == best));
        let best_move = listed.or(candidates.first().map(|&(mv, _)| mv)).or(best);
        let best_move = chosen(best_move.unwrap_or(Move16::from_bits(0)));
        let Some(top) = candidates.iter().map(|&(_, cp)| cp).max() else { return best_move };
        if self.scale.is_mate(top) {
            return best_move;
        }
        if self.random_move > 0.0 && dice.unit() < self.random_move {
            let mut legal = Vec::new();
            board.legal_moves(&mut legal);
            if !legal.is_empty() {
                return Choice { mv: legal[dice.below(legal.len())], random: true };
            }
        }
        match &self.softmax {
            Some(softmax) if board.ply() < self.random_until_ply => chosen(draw(softmax, candidates, dice)),
            _ => best_move,
        }
    }
}

/// A candidate drawn by softmax.
fn draw(softmax: &Softmax, candidates: &[(Move16, i16)], dice: &mut Dice) -> Move16 {
    let mut sorted = candidates.to_vec();
    // Stable: of equal scores the better rank comes first.
    sorted.sort_by_key(|&(_, cp)| std::cmp::Reverse(cp));
    let scores: Vec<i16> = sorted.iter().map(|&(_, cp)| cp).collect();
    let mut probs = Vec::new();
    softmax.probs(&scores, &mut probs);
    let mut left = dice.unit();
    for (&(mv, _), &prob) in sorted.iter().zip(&probs) {
        left -= f64::from(prob);
        if left < 0.0 {
            return mv;
        }
    }
    // What rounding left of the sum of the probabilities belongs to the best.
    sorted[0].0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::dice::Purpose;
    use std::collections::HashMap;

    fn mv(text: &str) -> Move16 {
        Move16::from_usi(text).unwrap()
    }

    fn candidates(list: &[(&str, i16)]) -> Vec<(Move16, i16)> {
        list.iter().map(|&(text, cp)| (mv(text), cp)).collect()
    }

    /// How often each choice is made in 20 000 games.
    fn counts(play: &PlayOptions, ply: u32, list: &[(&str, i16)], best: &str) -> HashMap<Choice, u32> {
        let chooser = Chooser::new(play, MateScale::new(30_000).unwrap());
        let board = Board::from_packed(&Board::start().to_packed(), ply).unwrap();
        let candidates = candidates(list);
        let mut counts = HashMap::new();
        for game in 0..20_000 {
            let mut dice = Dice::new(1, Purpose::Game, game);
            *counts.entry(chooser.choose(&board, &candidates, Some(mv(best)), &mut dice)).or_insert(0) += 1;
        }
        counts
    }

    impl std::hash::Hash for Choice {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            (self.mv, self.random).hash(state);
        }
    }

    fn only(text: &str) -> HashMap<Choice, u32> {
        HashMap::from([(Choice { mv: mv(text), random: false }, 20_000)])
    }

    #[test]
    fn moves_of_the_opening_are_drawn_by_softmax_whatever_their_rank() {
        // 30 cp below the best is 1/e of its weight: 0.6652, 0.2447, 0.0900.
        let list = [("2g2f", 0), ("7g7f", 30), ("5g5f", -30)];
        let counts = counts(&PlayOptions::default(), 59, &list, "2g2f");
        let share = |text| f64::from(counts[&Choice { mv: mv(text), random: false }]) / 20_000.0;
        assert!((share("7g7f") - 0.6652).abs() < 0.015, "{counts:?}");
        assert!((share("2g2f") - 0.2447).abs() < 0.015, "{counts:?}");
        assert!((share("5g5f") - 0.0900).abs() < 0.015, "{counts:?}");
    }

    #[test]
    fn from_the_end_of_the_opening_on_the_best_move_is_played() {
        let list = [("2g2f", 0), ("7g7f", 30), ("5g5f", -30)];
        let play = PlayOptions::default();
        assert_eq!(counts(&play, 60, &list, "5g5f"), only("5g5f"));
        // A best move that the levelled lines do not have has no score; the first line's is played.
        assert_eq!(counts(&play, 60, &list, "9g9f"), only("2g2f"));
    }

    #[test]
    fn with_a_mate_in_sight_nothing_is_drawn() {
        let play = PlayOptions { random_move: 1.0, ..PlayOptions::default() };
        assert_eq!(counts(&play, 1, &[("2g2f", 29_990), ("7g7f", 29_990)], "7g7f"), only("7g7f"));
        assert_eq!(counts(&play, 1, &[("2g2f", 0), ("7g7f", 29_680)], "7g7f"), only("7g7f"));
        assert_eq!(counts(&play, 1, &[("2g2f", -29_998), ("7g7f", -29_999)], "2g2f"), only("2g2f"));
        // One line that loses is none: it is only never drawn.
        let play = PlayOptions::default();
        assert_eq!(counts(&play, 1, &[("2g2f", 40), ("7g7f", -29_999)], "2g2f"), only("2g2f"));
    }

    #[test]
    fn the_share_of_random_moves_comes_from_all_legal_ones_and_is_marked() {
        let play = PlayOptions { random_move: 0.25, ..PlayOptions::default() };
        for ply in [1, 200] {
            let counts = counts(&play, ply, &[("2g2f", 0)], "2g2f");
            let random: Vec<_> = counts.iter().filter(|(choice, _)| choice.random).collect();
            // Thirty legal moves, the candidate among them.
            assert_eq!(random.len(), 30);
            let all: u32 = random.iter().map(|(_, count)| **count).sum();
            assert!((4_700..5_300).contains(&all), "{all}");
            assert!(random.iter().all(|(_, count)| (110..240).contains(*count)), "{random:?}");
        }
    }
}
