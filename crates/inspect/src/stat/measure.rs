//! From sums to figures: the only divisions.

use super::Measured;
use super::alarm;
use super::bands::band;
use super::counts::Counts;
use super::figures::{
    Bar, BoardFigures, CalibrationBin, CandidateFigures, Classes, DuplicateFigures, GameFigures, MateBand,
    OutcomeFigures, PartFigures, PlyBin, ScaleFigures, ScoreFigures, Spread, Stat, StatTotals, Stated,
    ValueCount, ValueFigures, VisitFigures,
};
use super::heat::{Squares, ranks};
use super::parts::{Part, UNITS};
use super::sums::{CLASSES, LEANING, MIXED, SCORES, Sums};
use super::value::{BINS, Bin, bin_of, fit};
use manaka_core::Conventions;
use manaka_core::conventions::DEFAULT_EVAL_COEF;

/// Bins of a calibration table.
const TABLE: usize = 20;

pub fn stat(measured: &Measured<'_>) -> Stat {
    let Measured { set, state, stated, lists_candidates, .. } = measured;
    let sums = &state.sums;
    let candidates = u64::try_from(sums.candidates.sum()).unwrap_or(u64::MAX);
    let bytes = set.bytes.iter().sum();
    let in_games = stated.is_none() || set.kind == super::Kind::Stream;
    let mut stat = Stat {
        ok: true,
        kind: set.kind.id(),
        stated: stated.as_ref().map(conventions),
        totals: StatTotals {
            files: set.inputs.len() as u64,
            records: sums.items,
            candidates,
            bytes,
            bytes_per_record: ratio(bytes, sums.items),
        },
        parts: (set.inputs.iter().zip(&set.bytes).zip(&state.parts))
            .map(|((path, &bytes), part)| part_figures(path.clone(), bytes, part))
            .collect(),
        refused: state.refused.iter().map(|(&reason, &count)| (reason.to_owned(), count)).collect(),
        games: in_games.then(|| games(measured)),
        ply: plies(sums),
        plies: by_ply(sums),
        outcomes: outcomes(sums),
        candidates: (*lists_candidates).then(|| CandidateFigures {
            spread: spread(&sums.candidates),
            single: sums.candidates.of(1),
            wider_than_5: sums.candidates.beyond(5),
            wider_than_64: sums.candidates.beyond(64),
            counts: value_counts(&sums.candidates),
        }),
        visits: (sums.visits.total() > 0).then(|| VisitFigures {
            per_record: spread(&sums.playouts),
            per_candidate: spread(&sums.visits),
            once: sums.visits.of(1),
        }),
        scores: scores(sums, stated.as_ref()),
        values: values(sums, stated.as_ref()),
        board: board(sums),
        duplicates: duplicates(sums),
        weights: (sums.weights.total() > 0).then(|| spread(&sums.weights)),
        columns: Vec::new(),
        shuffle: Vec::new(),
        alarms: Vec::new(),
    };
    stat.alarms = alarm::sound(&stat, &state.parts);
    stat.ok = stat.alarms.is_empty();
    stat
}

/// A quotient of counts; `None` over nothing.
#[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn conventions(stated: &Conventions) -> Stated {
    Stated {
        pov: stated.pov.id(),
        policy_source: stated.policy_source.id(),
        mate_scale: stated.mate_scale,
        mate_slack: stated.effective_mate_slack(),
        mate_threshold: stated.mate_threshold(),
        eval_coef: stated.eval_coef,
        fv_scale: stated.fv_scale,
    }
}

fn part_figures(path: std::path::PathBuf, bytes: u64, part: &Part) -> PartFigures {
    let mean = |at: usize| part.moments[at].mean().map(|mean| mean / UNITS[at]);
    PartFigures {
        path,
        bytes,
        records: part.records,
        ply: mean(0),
        candidates: mean(1),
        value: mean(2),
        outcome: mean(3),
    }
}

fn spread(counts: &Counts) -> Spread {
    let at = |percent| counts.percentile(percent).unwrap_or(0);
    Spread {
        count: counts.total(),
        least: counts.least().unwrap_or(0),
        p1: at(1),
        p5: at(5),
        p25: at(25),
        p50: at(50),
        p75: at(75),
        p95: at(95),
        p99: at(99),
        greatest: counts.greatest().unwrap_or(0),
        mean: counts.mean().unwrap_or(0.0),
    }
}

fn value_counts(counts: &Counts) -> Vec<ValueCount> {
    counts.iter().map(|(value, count)| ValueCount { value, count }).collect()
}

const fn classes(counts: &[u64; CLASSES]) -> Classes {
    let [lost, drawn, won, mixed, unknown] = *counts;
    Classes { lost, drawn, won, mixed, unknown }
}

fn games(measured: &Measured<'_>) -> GameFigures {
    let games = &measured.state.sums.games;
    let mut opens = value_counts(&games.opens);
    opens.sort_by(|a, b| b.count.cmp(&a.count).then(a.value.cmp(&b.value)));
    let followers = games.gaps.total();
    let [lost, drawn, won, unknown] = games.outcomes;
    let repeats = games.repeats.settled();
    GameFigures {
        games: games.games,
        joins: measured.joins.all,
        joins_inside: measured.joins.inside,
        opens,
        last_ply: spread(&games.closes),
        records: spread(&games.records),
        lengths: value_counts(&games.records),
        followers,
        gaps: followers - games.gaps.of(1),
        widest_gap: games.gaps.greatest().unwrap_or(0),
        outcomes: Classes { lost, drawn, won, mixed: 0, unknown },
        compared: repeats.all(),
        repeated: ratio(repeats.all() - repeats.different(), repeats.all()).unwrap_or(0.0),
        most_repeated: repeats.most(),
        repeats_one_in: repeats.one_in(),
    }
}

fn plies(sums: &Sums) -> Spread {
    let mut counts = Counts::default();
    for (ply, classes) in sums.plies.iter().enumerate() {
        counts.add_times(ply as u64, classes.iter().sum());
    }
    spread(&counts)
}

fn by_ply(sums: &Sums) -> Vec<PlyBin> {
    // Data without outcomes does not leave them out.
    let none = outcomes(sums).is_none();
    let black = |counts| if none { Classes::default() } else { classes(counts) };
    (sums.plies.iter().enumerate())
        .map(|(ply, counts)| PlyBin { ply: ply as u64, records: counts.iter().sum(), black: black(counts) })
        .filter(|bin| bin.records > 0)
        .collect()
}

fn outcomes(sums: &Sums) -> Option<OutcomeFigures> {
    let [black, white] = &sums.movers;
    let mut mover = *black;
    mover.iter_mut().zip(white).for_each(|(sum, more)| *sum += more);
    let mut from_black = [0; CLASSES];
    for counts in &sums.plies {
        from_black.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
    }
    (mover[..=MIXED].iter().sum::<u64>() > 0).then(|| OutcomeFigures {
        mover: classes(&mover),
        black_to_move: classes(black),
        white_to_move: classes(white),
        black: classes(&from_black),
        negative_zeros: sums.negative_zeros,
    })
}

fn scores(sums: &Sums, stated: Option<&Conventions>) -> Option<ScoreFigures> {
    let count = sums.scores.iter().sum();
    if count == 0 {
        return None;
    }
    let of = |cp: i16| sums.scores[usize::from(cp.cast_unsigned())];
    let all = || (i16::MIN..=i16::MAX).filter(|&cp| of(cp) > 0);
    let (least, greatest) = (all().next()?, all().next_back()?);
    let mut by_size = vec![0; SCORES / 2 + 1];
    all().for_each(|cp| by_size[usize::from(cp.unsigned_abs())] += of(cp));
    let where_ = |test: &dyn Fn(i16) -> bool| all().filter(|&cp| test(cp)).map(of).sum();
    let scale = stated.map_or(0, |stated| stated.mate_scale);
    let mate_band = band(&by_size).map(|band| {
        let scale =
            if scale >= band.top { scale } else { (band.top / 1000).saturating_add(1).saturating_mul(1000) };
        MateBand {
            top: band.top,
            bottom: band.bottom,
            scores: band.scores,
            below: band.below,
            gap: band.bottom - band.below,
            scale,
            slack: scale - band.bottom,
        }
    });
    Some(ScoreFigures {
        count,
        least,
        greatest,
        mates: where_(&|cp| stated.is_some_and(|stated| stated.is_mate(cp))),
        beyond_scale: where_(&|cp| scale != 0 && cp.unsigned_abs() > scale),
        mate_band,
        bars: bars(&of, least, greatest),
        slot_0_compared: sums.slot_0[0],
        slot_0_root: sums.slot_0[1],
    })
}

/// Scores in steps of 100 cp up to 3000 and of 1000 cp beyond.
fn bars(of: &impl Fn(i16) -> u64, least: i16, greatest: i16) -> Vec<Bar> {
    let edge = |step: i32| match step {
        -30..=30 => step * 100,
        _ => step.signum() * (3000 + (step.abs() - 30) * 1000),
    };
    (-60..60)
        .map(|step| {
            let (from, to) = (edge(step), edge(step + 1));
            let range = from.max(i32::from(i16::MIN))..to.min(i32::from(i16::MAX) + 1);
            let count = range.filter_map(|cp| i16::try_from(cp).ok()).map(of).sum();
            Bar { from, to, count }
        })
        .filter(|bar| bar.to > i32::from(least) && bar.from <= i32::from(greatest))
        .collect()
}

fn values(sums: &Sums, stated: Option<&Conventions>) -> ValueFigures {
    let mut all = sums.values[0];
    all.iter_mut().zip(&sums.values[1]).for_each(|(sum, more)| sum.merge(more));
    let any = all.iter().any(|bin| bin.count > 0);
    let calibration = all
        .chunks(BINS / TABLE)
        .enumerate()
        .filter(|_| any)
        .map(|(at, bins)| {
            let mut sum = Bin::default();
            bins.iter().for_each(|bin| sum.merge(bin));
            let edge = |at: usize| f64::from(u32::try_from(at).unwrap_or(0)) / 10.0 - 1.0;
            CalibrationBin {
                from: edge(at),
                to: edge(at + 1),
                records: sum.count,
                value: (sum.count > 0).then(|| sum.mean_value()),
                outcome: (sum.count > 0).then(|| sum.mean_outcome()),
            }
        })
        .collect();
    let favoured = |mover: usize| favoured(&sums.values[mover]);
    let (black, white) = (favoured(0), favoured(1));
    let coefficient = match stated {
        Some(stated) => stated.eval_coef,
        None => DEFAULT_EVAL_COEF,
    };
    let eval_coef = (coefficient > 0.0).then_some(coefficient);
    let slope = fit(&all);
    let [compared, root] = sums.slot_0;
    // Where most first candidates carry the root's score, values say themselves what they are the tanh of.
    let implied = match sums.scales.median() {
        _ if stated.is_none() => None,
        _ if compared > 0 && root * 2 > compared => eval_coef.map(f64::from),
        Some((ratio, of)) if of >= alarm::SCALE_FEWEST => eval_coef.map(|coef| f64::from(coef) * ratio),
        _ => None,
    };
    let games = &sums.games;
    ValueFigures {
        stored: stated.is_some(),
        calibration,
        favoured: [black.0, white.0],
        favoured_of: [black.1, white.1],
        scale: ScaleFigures {
            eval_coef,
            slope,
            fitted: eval_coef.zip(slope).map(|(coef, slope)| f64::from(coef) / slope),
            implied,
        },
        neighbours: games.leaning[0],
        steady: ratio(games.leaning[1], games.leaning[0]),
        decided: games.decided[0],
        steady_outcome: ratio(games.decided[1], games.decided[0]),
    }
}

/// Of values beyond ±0.2, the share won by the side they favour, and how many there are.
#[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
fn favoured(bins: &[Bin; BINS]) -> (Option<f64>, u64) {
    let (low, high) = (bin_of(-LEANING), bin_of(LEANING));
    let (mut count, mut outcome) = (0u64, 0i128);
    for (at, bin) in bins.iter().enumerate() {
        if at >= high {
            outcome += i128::from(bin.outcome);
        } else if at < low {
            outcome -= i128::from(bin.outcome);
        } else {
            continue;
        }
        count += bin.count;
    }
    let mean = outcome as f64 / super::value::UNIT / count as f64;
    ((count > 0).then(|| f64::midpoint(1.0, mean)), count)
}

fn board(sums: &Sums) -> BoardFigures {
    let [black_king, white_king, black_pawns, white_pawns] = sums.heat.squares();
    let shares = |squares: &Squares| {
        let ranks = ranks(squares);
        let all = ranks.iter().sum();
        ranks.map(|rank| ratio(rank, all).unwrap_or(0.0))
    };
    let (black, white) = (shares(&black_king), shares(&white_king));
    BoardFigures {
        black_to_move: sums.movers[0].iter().sum(),
        black_king_ranks: black,
        white_king_ranks: white,
        black_pawn_ranks: shares(&black_pawns),
        white_pawn_ranks: shares(&white_pawns),
        black_king_home: black[7] + black[8],
        white_king_home: white[0] + white[1],
        dead_pawns: ranks(&black_pawns)[0] + ranks(&white_pawns)[8],
        black_king_squares: black_king.to_vec(),
        white_king_squares: white_king.to_vec(),
    }
}

fn duplicates(sums: &Sums) -> DuplicateFigures {
    let sample = sums.positions.settled();
    let (records, positions) = (sample.all(), sample.different());
    let share = ratio(records - positions, records).unwrap_or(0.0);
    // Positions are drawn by their hash, each with all its records: the spread of a ratio of their sums.
    #[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
    let spread = sample.squares(|count| (count - 1) as f64 - share * count as f64);
    #[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
    let error = match sample.one_in() {
        1 => 0.0,
        one_in => (spread * (1.0 - 1.0 / one_in as f64)).sqrt() / records.max(1) as f64,
    };
    DuplicateFigures {
        exact: sample.one_in() == 1,
        one_in: sample.one_in(),
        records,
        positions,
        share,
        error,
        most: sample.most(),
    }
}
