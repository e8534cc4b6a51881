//! The tables of what searches said: candidates, visits, scores, values against outcomes.

use super::games::{of, pairs, spreads};
use super::markdown::{Doc, Left, Right, figure, grouped, signed, signed_or_dash, whole};
use crate::stat::{CandidateFigures, ScoreFigures, Stat, ValueCount, VisitFigures, percent, share};

/// More widths of candidate lists than this are told by their spread alone.
const WIDTHS: usize = 12;
/// The borders of the table of scores, in cp: some of those that `stat` counts between.
const BORDERS: [i32; 13] = [-10_000, -3000, -2000, -1000, -500, -200, 0, 200, 500, 1000, 2000, 3000, 10_000];

/// Everything of this page.
pub fn write(doc: &mut Doc, stat: &Stat) {
    if let Some(candidates) = &stat.candidates {
        candidate_section(doc, stat, candidates);
    }
    if let Some(visits) = &stat.visits {
        visit_section(doc, visits);
    }
    if let Some(scores) = &stat.scores {
        score_section(doc, stat, scores);
    }
    value_section(doc, stat);
}

fn candidate_section(doc: &mut Doc, stat: &Stat, candidates: &CandidateFigures) {
    let (unit, all) = (stat.unit(), stat.totals.records);
    doc.heading(3, "Candidates");
    pairs(
        doc,
        vec![
            ("candidates", grouped(stat.totals.candidates)),
            ("a single one", of(candidates.single, all)),
            ("cut by a width of 5", of(candidates.wider_than_5, all)),
            ("cut by a width of 64", of(candidates.wider_than_64, all)),
        ],
    );
    spreads(doc, &[("candidates", &candidates.spread)]);
    if candidates.counts.len() <= WIDTHS {
        let row =
            |&ValueCount { value, count }: &ValueCount| [grouped(value), grouped(count), percent(count, all)];
        doc.table(
            [("candidates", Right), (unit, Right), ("share", Right)],
            candidates.counts.iter().map(row),
        );
    }
}

fn visit_section(doc: &mut Doc, visits: &VisitFigures) {
    doc.heading(3, "Visits");
    pairs(doc, vec![("candidates visited exactly once", of(visits.once, visits.per_candidate.count))]);
    spreads(
        doc,
        &[("visits of a record", &visits.per_record), ("visits of a candidate", &visits.per_candidate)],
    );
}

fn score_section(doc: &mut Doc, stat: &Stat, scores: &ScoreFigures) {
    doc.heading(3, "Scores");
    doc.paragraph("Scores of candidates in centipawns, turned to the view of the side to move.");
    let mut rows = vec![
        ("scores", grouped(scores.count)),
        ("the least", whole(scores.least.into())),
        ("the greatest", whole(scores.greatest.into())),
    ];
    if let Some(threshold) = stat.stated.as_ref().and_then(|stated| stated.mate_threshold) {
        rows.push((
            "mates as stated",
            format!("{}, from {} on", of(scores.mates, scores.count), grouped(threshold.into())),
        ));
        rows.push(("beyond the stated mate scale", grouped(scores.beyond_scale)));
    }
    match &scores.mate_band {
        None => rows.push(("band of mates", "no gap sets one apart".to_owned())),
        Some(band) => rows.extend([
            (
                "band of mates, absolute",
                format!("{} to {}", grouped(band.bottom.into()), grouped(band.top.into())),
            ),
            ("scores in it", of(band.scores, scores.count)),
            ("ordinary scores end at, absolute", grouped(band.below.into())),
            ("gap between the two", grouped(band.gap.into())),
            (
                "slack that covers the band",
                format!("{} below {}", grouped(band.slack.into()), grouped(band.scale.into())),
            ),
        ]),
    }
    if scores.slot_0_compared > 0 {
        rows.push((
            "records whose first candidate has the root's score",
            of(scores.slot_0_root, scores.slot_0_compared),
        ));
    }
    pairs(doc, rows);
    score_table(doc, scores);
}

/// Scores between borders.
fn score_table(doc: &mut Doc, scores: &ScoreFigures) {
    let mut counts = [0u64; BORDERS.len() + 1];
    for bar in &scores.bars {
        counts[BORDERS.partition_point(|&border| border <= bar.from)] += bar.count;
    }
    let name = |at: usize| match (at.checked_sub(1).map(|at| BORDERS[at]), BORDERS.get(at)) {
        (None, Some(&to)) => format!("below {}", whole(to.into())),
        (Some(from), Some(&to)) => format!("{} to {}", whole(from.into()), whole((to - 1).into())),
        (from, None) => format!("{} and more", whole(from.unwrap_or(0).into())),
    };
    let rows = counts
        .iter()
        .enumerate()
        .map(|(at, &count)| [name(at), grouped(count), percent(count, scores.count)]);
    doc.table([("cp", Left), ("scores", Right), ("share", Right)], rows);
}

fn value_section(doc: &mut Doc, stat: &Stat) {
    let values = &stat.values;
    if values.calibration.is_empty() && values.scale.implied.is_none() {
        return;
    }
    doc.heading(3, "Values and outcomes");
    if !values.stored {
        doc.paragraph(
            "No value is stored: root scores are put through a tanh at the usual coefficient here.",
        );
    }
    let scale = &values.scale;
    let mut rows = Vec::new();
    if let Some(coefficient) = scale.eval_coef {
        let name = if values.stored { "eval_coef as stated" } else { "eval_coef that was taken" };
        rows.push((name, figure(coefficient.into(), 3)));
    }
    if let Some(implied) = scale.implied {
        rows.push(("eval_coef that values and scores imply", figure(implied, 1)));
    }
    if let Some(fitted) = scale.fitted {
        rows.push(("eval_coef fitted to outcomes: P(win) = sigmoid(2 cp / c)", figure(fitted, 1)));
    }
    if let Some(slope) = scale.slope {
        rows.push(("slope r fitted to outcomes: P(win) = sigmoid(2 r atanh(value))", figure(slope, 3)));
    }
    for (side, name) in [
        "the better side wins, beyond ±0.2, Black to move",
        "the better side wins, beyond ±0.2, White to move",
    ]
    .into_iter()
    .enumerate()
    {
        if values.favoured_of[side] > 0 {
            let records = grouped(values.favoured_of[side]);
            rows.push((name, format!("{} of {records}", share(values.favoured[side]))));
        }
    }
    if values.neighbours > 0 {
        let pairs = grouped(values.neighbours);
        rows.push((
            "… is still the better one in the next record",
            format!("{} of {pairs}", share(values.steady)),
        ));
    }
    pairs(doc, rows);
    if values.calibration.is_empty() {
        return;
    }
    let all: u64 = values.calibration.iter().map(|bin| bin.records).sum();
    let rows = values.calibration.iter().map(|bin| {
        let apart = bin.outcome.zip(bin.value).map(|(outcome, value)| outcome - value);
        [
            format!("{} to {}", signed(bin.from, 1), signed(bin.to, 1)),
            grouped(bin.records),
            percent(bin.records, all),
            signed_or_dash(bin.value, 3),
            signed_or_dash(bin.outcome, 3),
            signed_or_dash(apart, 3),
        ]
    });
    let head = [
        ("root value", Left),
        (stat.unit(), Right),
        ("share", Right),
        ("mean value", Right),
        ("mean outcome", Right),
        ("apart", Right),
    ];
    doc.table(head, rows);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::Bar;

    #[test]
    fn borders_of_the_table_are_borders_of_what_is_counted() {
        for border in BORDERS {
            let step = if border.abs() <= 3000 { 100 } else { 1000 };
            assert_eq!(border % step, 0);
        }
        let bar = |from, to, count| Bar { from, to, count };
        let scores = ScoreFigures {
            count: 15,
            least: -31_998,
            greatest: 199,
            mates: 1,
            beyond_scale: 0,
            mate_band: None,
            bars: vec![bar(-32_000, -31_000, 1), bar(-10_000, -9000, 2), bar(-100, 0, 4), bar(100, 200, 8)],
            slot_0_compared: 0,
            slot_0_root: 0,
        };
        let mut doc = Doc::new(String::new());
        score_table(&mut doc, &scores);
        let text = doc.finish();
        for line in [
            "| below −10,000 | 1 | 6.67% |",
            "| −10,000 to −3,001 | 2 | 13.33% |",
            "| −200 to −1 | 4 | 26.67% |",
            "| 0 to 199 | 8 | 53.33% |",
            "| 10,000 and more | 0 | 0.00% |",
        ] {
            assert!(text.lines().any(|other| other == line), "no line {line} in\n{text}");
        }
    }
}
