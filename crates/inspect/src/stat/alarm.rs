//! What a set of data looks like when something went wrong: the one table of alarms, their thresholds and reasons
//! (docs/guide/stat.md).

use super::figures::{GameFigures, PartFigures, ScoreFigures, Stat, Stated, ValueFigures};
use super::measure::ratio;
use super::parts::{FIGURES, Part, UNITS};
use serde::Serialize;

/// Fewer records, neighbours or values than this give no alarm: they say too little.
pub const FEWEST: u64 = 500;
/// Fewer values beside their scores than this tell no scale: one in 16 is looked at.
pub const SCALE_FEWEST: u64 = 30;
/// The side that stands better wins at least this share of records. Sound data has 0.75 and more; a view that is wrong on
/// half of the records gives 0.5.
pub const FAVOURED_LEAST: f64 = 0.6;
/// From one record of a game to the next the same side stands better in at least this share. In a wrong view it is the other
/// one every time.
pub const STEADY_LEAST: f64 = 0.6;
/// Outcomes speak of a scale at most this many times the stated one, or as small a part of it. An FV_SCALE of 16 taken for
/// 28 is 1.75; games of weak play, whose outcomes go less with scores, were measured at 1.4.
pub const FITTED_FACTOR: f64 = 1.6;
/// Values that are a tanh of their scores tell its coefficient to a percent or two.
pub const IMPLIED_FACTOR: f64 = 1.05;
/// A game that was played again is an accident, a hundredth of all games is none.
pub const REPEATED_MOST: f64 = 0.01;
/// The mean of a part is at most so many standard deviations of single records from the mean of the others.
pub const DRIFT_MOST: f64 = 0.25;
/// And so many standard errors, each game counting once.
pub const DRIFT_ERRORS: f64 = 6.0;
/// A part of fewer games, or rows of shards, is not compared.
pub const DRIFT_FEWEST: u64 = 50;
/// The share of records with a single candidate. Positions with one legal move are below 0.03.
pub const SINGLE_MOST: f64 = 0.2;
/// The share of kings on their two home ranks. Games have 0.8; a mirrored board has 0.05.
pub const KING_HOME_LEAST: f64 = 0.4;
/// The share of records in which either side moves.
pub const MOVER_LEAST: f64 = 0.2;

/// One thing that `stat` warns of.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct AlarmKind {
    /// The stable name.
    pub id: &'static str,
    /// What it means.
    pub sentence: &'static str,
    /// When it goes off.
    pub threshold: &'static str,
}

/// An alarm that went off.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Alarm {
    /// The id of its kind in [`ALARMS`].
    pub id: &'static str,
    /// What it means.
    pub sentence: &'static str,
    /// What was measured.
    pub message: String,
    /// When it goes off.
    pub threshold: &'static str,
}

macro_rules! alarms {
    ($($variant:ident $id:literal $sentence:literal $threshold:literal;)*) => {
        #[derive(Clone, Copy)]
        enum Id { $($variant),* }

        /// Everything `stat` warns of, in the order in which alarms are listed.
        pub const ALARMS: &[AlarmKind] = &[$(AlarmKind {
            id: $id,
            sentence: $sentence,
            threshold: $threshold,
        }),*];
    };
}

alarms! {
    ZeroRows "zero_rows" "a file holds no records" "0 records in any file";
    RefusedRows "refused_rows" "rows could not be read, and are in no figure" "any row";
    OutcomeSign "outcome_sign" "outcomes disagree with scores: the view of one of them is wrong"
        "below 0.6 of the records beyond ±0.2 are won by the side that stands better";
    WrongPov "wrong_pov" "values or outcomes are in another view than stated"
        "below 0.6 of neighbours of a game favour the same side";
    EvalCoef "eval_coef" "values are the tanh of their scores under another eval_coef than stated"
        "more than 5 percent from the stated one";
    ScoreScale "score_scale" "outcomes speak of another scale of scores than stated: another FV_SCALE or eval_coef"
        "a factor of more than 1.6 between the fitted and the stated eval_coef";
    BeyondScale "beyond_mate_scale" "scores lie above the mate scale" "any score";
    MatesBeyondSlack "mates_beyond_slack" "mates reach further below the scale than the slack in force: some count as ordinary scores"
        "the band of mates begins below the threshold";
    ScoresInSlack "scores_within_slack" "ordinary scores lie within the slack in force: they count as mates"
        "an ordinary score at or above the threshold";
    RepeatedGame "repeated_game" "games were played again, position for position"
        "more than 0.01 of the games of 10 records and more";
    PartDrift "part_drift" "a part differs from the others: another producer, other settings, another order"
        "0.25 standard deviations and 6 standard errors from the mean of the others";
    SingleCandidate "single_candidate" "many records have a single candidate: there is no policy to learn"
        "more than 0.2 of the records";
    KingRanks "king_ranks" "kings are not at home: the board is mirrored or turned"
        "below 0.4 of Black's kings on ranks 8 and 9, or of White's on 1 and 2";
    DeadPawns "dead_pawns" "unpromoted pawns stand on their last rank: the board is turned" "any pawn";
    OneMover "one_mover" "nearly always the same side moves: positions were turned to one view, or half of them are missing"
        "below 0.2 of the records for either side";
}

struct Bell(Vec<Alarm>);

impl Bell {
    fn ring(&mut self, id: Id, off: bool, message: impl FnOnce() -> String) {
        if off {
            let AlarmKind { id, sentence, threshold } = ALARMS[id as usize];
            self.0.push(Alarm { id, sentence, message: message(), threshold });
        }
    }
}

/// The alarms that figures set off.
pub fn sound(stat: &Stat, parts: &[Part]) -> Vec<Alarm> {
    let mut bell = Bell(Vec::new());
    let records = stat.totals.records;
    for part in stat.parts.iter().filter(|part| part.records == 0) {
        bell.ring(Id::ZeroRows, true, || format!("{} holds no records", part.path.display()));
    }
    bell.ring(Id::RefusedRows, !stat.refused.is_empty(), || {
        let list: Vec<String> =
            stat.refused.iter().map(|(reason, count)| format!("{reason}={count}")).collect();
        list.join(" ")
    });
    views(&mut bell, &stat.values, stat.games.as_ref());
    scales(&mut bell, &stat.values);
    if let (Some(scores), Some(stated)) = (&stat.scores, &stat.stated) {
        mates(&mut bell, scores, stated);
    }
    if let Some(games) = &stat.games {
        repeats(&mut bell, games);
    }
    drift(&mut bell, &stat.parts, parts, stat.games.is_some());
    if let Some(candidates) = &stat.candidates {
        let share = ratio(candidates.single, records).unwrap_or(0.0);
        bell.ring(Id::SingleCandidate, records >= FEWEST && share > SINGLE_MOST, || {
            format!("{share:.3} of {records} records have one candidate")
        });
    }
    board(&mut bell, stat);
    bell.0
}

fn views(bell: &mut Bell, values: &ValueFigures, games: Option<&GameFigures>) {
    let of: u64 = values.favoured_of.iter().sum();
    let weighted = |share: Option<f64>, of: u64| share.map_or(0.0, |share| share * count(of));
    let share = (weighted(values.favoured[0], values.favoured_of[0])
        + weighted(values.favoured[1], values.favoured_of[1]))
        / count(of.max(1));
    bell.ring(Id::OutcomeSign, of >= FEWEST && share < FAVOURED_LEAST, || {
        let side = |at: usize| values.favoured[at].map_or("-".to_owned(), |share| format!("{share:.3}"));
        format!(
            "the side that stands better wins {share:.3} of {of} records: {} where Black moves, {} where White does",
            side(0),
            side(1)
        )
    });
    if games.is_none() {
        return;
    }
    for (what, of, share) in
        [("root value", values.neighbours, values.steady), ("outcome", values.decided, values.steady_outcome)]
    {
        let share = share.unwrap_or(1.0);
        bell.ring(Id::WrongPov, of >= FEWEST && share < STEADY_LEAST, || {
            format!("by its {what} the same side is ahead in {share:.3} of {of} pairs of neighbours")
        });
    }
}

fn scales(bell: &mut Bell, values: &ValueFigures) {
    let scale = &values.scale;
    let Some(stated) = scale.eval_coef.map(f64::from).filter(|_| values.stored) else { return };
    let beyond = |found: f64, factor: f64| found > stated * factor || found * factor < stated;
    if let Some(implied) = scale.implied {
        bell.ring(Id::EvalCoef, beyond(implied, IMPLIED_FACTOR), || {
            format!("values are the tanh of their scores at {implied:.0}, and eval_coef is {stated:.1}")
        });
    }
    let of: u64 = values.calibration.iter().map(|bin| bin.records).sum();
    if let Some(fitted) = scale.fitted {
        bell.ring(Id::ScoreScale, of >= FEWEST && beyond(fitted, FITTED_FACTOR), || {
            format!("outcomes fit an eval_coef of {fitted:.0}, and {stated:.1} is stated")
        });
    }
}

fn mates(bell: &mut Bell, scores: &ScoreFigures, stated: &Stated) {
    let beyond = scores.beyond_scale;
    bell.ring(Id::BeyondScale, beyond > 0, || {
        let top = scores.least.unsigned_abs().max(scores.greatest.unsigned_abs());
        format!("{beyond} scores up to {top}, and the mate scale is {}", stated.mate_scale)
    });
    let (Some(band), Some(threshold)) = (&scores.mate_band, stated.mate_threshold) else { return };
    bell.ring(Id::MatesBeyondSlack, band.bottom < threshold, || {
        format!(
            "mates lie from {} to {}, and only those from {threshold} on count as such; a slack of {} covers them",
            band.bottom, band.top, band.slack
        )
    });
    bell.ring(Id::ScoresInSlack, band.bottom >= threshold && band.below >= threshold, || {
        format!(
            "mates begin at {}, ordinary scores reach {}, and scores from {threshold} on count as mates; a slack of {} covers the mates alone",
            band.bottom, band.below, band.slack
        )
    });
}

fn repeats(bell: &mut Bell, games: &GameFigures) {
    let GameFigures { compared, repeated, most_repeated, .. } = *games;
    bell.ring(Id::RepeatedGame, repeated > REPEATED_MOST && most_repeated > 1, || {
        let copies = repeated * 100.0;
        format!("{copies:.2} percent of {compared} games stood before; the most frequent one came {most_repeated} times")
    });
}

/// Compares each part with the others together.
fn drift(bell: &mut Bell, figures: &[PartFigures], parts: &[Part], in_games: bool) {
    // Records of one game are not independent.
    let independent = |part: &Part| if in_games { part.breaks + 1 } else { part.records };
    let mut all = Part::default();
    parts.iter().for_each(|part| all.merge(part));
    for (part, figures) in parts.iter().zip(figures) {
        let rest = all.without(part);
        if independent(part).min(independent(&rest)) < DRIFT_FEWEST {
            continue;
        }
        for (at, (what, unit)) in FIGURES.into_iter().zip(UNITS).enumerate() {
            let (one, other) = (&part.moments[at], &rest.moments[at]);
            let means = one.mean().zip(other.mean());
            let (Some((mean, others)), Some(deviation)) = (means, other.deviation().filter(|&sd| sd > 0.0))
            else {
                continue;
            };
            let away = (mean - others).abs() / deviation;
            let error = (1.0 / count(independent(part)) + 1.0 / count(independent(&rest))).sqrt();
            bell.ring(Id::PartDrift, away > DRIFT_MOST && away > DRIFT_ERRORS * error, || {
                format!(
                    "{}: the mean {what} is {:.3}, that of the others {:.3}: {away:.2} standard deviations apart",
                    figures.path.display(),
                    mean / unit,
                    others / unit
                )
            });
        }
    }
}

fn board(bell: &mut Bell, stat: &Stat) {
    let (board, records) = (&stat.board, stat.totals.records);
    let (black, white) = (board.black_king_home, board.white_king_home);
    bell.ring(Id::KingRanks, records >= FEWEST && black.min(white) < KING_HOME_LEAST, || {
        format!("{black:.3} of Black's kings stand on ranks 8 and 9, {white:.3} of White's on 1 and 2")
    });
    bell.ring(Id::DeadPawns, board.dead_pawns > 0, || {
        format!("{} pawns that could never move again", board.dead_pawns)
    });
    let share = ratio(board.black_to_move, records).unwrap_or(0.5);
    bell.ring(Id::OneMover, records >= FEWEST && share.min(1.0 - share) < MOVER_LEAST, || {
        format!("Black moves in {share:.3} of {records} records")
    });
}

#[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
const fn count(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_distinct_names_and_the_guide_has_all_of_them_with_their_thresholds() {
        let guide = include_str!("../../../../docs/guide/stat.md");
        for (at, alarm) in ALARMS.iter().enumerate() {
            assert!(alarm.id.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
            assert!(ALARMS[..at].iter().all(|other| other.id != alarm.id), "{}", alarm.id);
            let row = format!("| `{}` | {} | {} |", alarm.id, alarm.sentence, alarm.threshold);
            assert!(guide.contains(&row), "the guide lacks\n{row}");
        }
    }
}
