//! The tables of what was played: games, plies, outcomes.

use super::markdown::{Doc, Left, Right, code, figure, figure_or_dash, grouped, signed_or_dash};
use crate::stat::{Classes, GameFigures, Spread, Stat, ValueCount, percent, share};

/// From there on percentiles are rounded ([`Spread`]).
const EXACT_BELOW: u64 = 1024;
/// Plies of one line of the table of plies.
const PLIES: u64 = 20;
/// Plies at which games open, listed one by one.
const OPENS: usize = 8;

/// A count with its share of all.
pub fn of(count: u64, all: u64) -> String {
    format!("{} ({})", grouped(count), percent(count, all))
}

/// A table of two columns.
pub fn pairs(doc: &mut Doc, rows: Vec<(&str, String)>) {
    if rows.is_empty() {
        return;
    }
    doc.table(
        [("figure", Left), ("measured", Right)],
        rows.into_iter().map(|(name, text)| [name.to_owned(), text]),
    );
}

/// A table with a line for each spread.
pub fn spreads(doc: &mut Doc, rows: &[(&str, &Spread)]) {
    spreads_to(doc, rows, 2);
}

/// The same with means of so many places.
pub fn spreads_to(doc: &mut Doc, rows: &[(&str, &Spread)], places: usize) {
    let head = [
        ("spread", Left),
        ("mean", Right),
        ("least", Right),
        ("1%", Right),
        ("5%", Right),
        ("25%", Right),
        ("median", Right),
        ("75%", Right),
        ("95%", Right),
        ("99%", Right),
        ("greatest", Right),
    ];
    let row = |&(name, spread): &(&str, &Spread)| {
        let Spread { least, p1, p5, p25, p50, p75, p95, p99, greatest, mean, .. } = *spread;
        // Rounded down, they may lie below the least there is.
        let numbers = [least, p1, p5, p25, p50, p75, p95, p99, greatest].map(|number| number.max(least));
        let [a, b, c, d, e, f, g, h, i] = numbers.map(grouped);
        [name.to_owned(), figure(mean, places), a, b, c, d, e, f, g, h, i]
    };
    doc.table(head, rows.iter().map(row));
    if rows.iter().any(|(_, spread)| spread.greatest >= EXACT_BELOW) {
        doc.paragraph(&format!(
            "Percentiles from {} on are rounded down, by less than 0.8 percent.",
            grouped(EXACT_BELOW)
        ));
    }
}

/// Everything of this page.
pub fn write(doc: &mut Doc, stat: &Stat) {
    if let Some(games) = &stat.games {
        games_section(doc, games);
    }
    plies(doc, stat);
    outcomes(doc, stat);
    parts(doc, stat);
}

fn games_section(doc: &mut Doc, games: &GameFigures) {
    doc.heading(3, "Games");
    doc.paragraph(
        "A game opens at every record whose `ply` is not above that of the record before. There is no number of a game \
         and no mark between two; games go on from one file to the next.",
    );
    let Classes { lost, drawn, won, unknown, .. } = games.outcomes;
    let all = games.games;
    let mut rows = vec![
        ("games", grouped(all)),
        ("won by Black", of(won, all)),
        ("drawn", of(drawn, all)),
        ("won by White", of(lost, all)),
    ];
    if unknown > 0 {
        rows.push(("outcome not known", of(unknown, all)));
    }
    if games.joins > 0 {
        rows.push((
            "borders between files inside a game",
            format!("{} of {}", grouped(games.joins_inside), grouped(games.joins)),
        ));
    }
    rows.extend([
        ("records that follow one of their game", grouped(games.followers)),
        ("… more than one ply behind it", of(games.gaps, games.followers)),
        ("the widest such step, in plies", grouped(games.widest_gap)),
        ("games of 10 records and more", grouped(games.compared)),
    ]);
    let seen = match games.repeats_one_in {
        1 => String::new(),
        one_in => format!(", estimated from one game in {}", grouped(one_in)),
    };
    rows.push((
        "… that repeat another one, position for position",
        format!("{}{seen}", share(Some(games.repeated))),
    ));
    rows.push(("… the most frequent one was played, times", grouped(games.most_repeated)));
    pairs(doc, rows);
    let mut rows: Vec<[String; 3]> = (games.opens.iter().take(OPENS))
        .map(|ValueCount { value, count }| [grouped(*value), grouped(*count), percent(*count, all)])
        .collect();
    if let Some(rest) = games.opens.get(OPENS..).filter(|rest| !rest.is_empty()) {
        let count: u64 = rest.iter().map(|open| open.count).sum();
        rows.push([format!("{} others", rest.len()), grouped(count), percent(count, all)]);
    }
    doc.table([("games open at ply", Right), ("games", Right), ("share", Right)], rows);
    spreads(doc, &[("records of a game", &games.records), ("ply of its last record", &games.last_ply)]);
}

fn plies(doc: &mut Doc, stat: &Stat) {
    doc.heading(3, "Plies");
    let decided = stat.outcomes.is_some();
    if stat.kind == "shard" {
        doc.paragraph("`ply` is the least move number at which a row's position was met.");
    }
    spreads(doc, &[("ply", &stat.ply)]);
    let mut rest = stat.plies.as_slice();
    let mut rows: Vec<[String; 6]> = Vec::new();
    while let Some(first) = rest.first() {
        let from = first.ply / PLIES * PLIES;
        let (inside, behind) = rest.split_at(rest.partition_point(|bin| bin.ply < from + PLIES));
        rest = behind;
        let sum = |of: &dyn Fn(&Classes) -> u64| inside.iter().map(|bin| of(&bin.black)).sum::<u64>();
        let records: u64 = inside.iter().map(|bin| bin.records).sum();
        let (won, drawn, lost) = (sum(&|c| c.won), sum(&|c| c.drawn), sum(&|c| c.lost));
        let told = won + drawn + lost;
        rows.push([
            format!("{}–{}", grouped(from), grouped(from + PLIES - 1)),
            grouped(records),
            percent(records, stat.totals.records),
            percent(won, told),
            percent(drawn, told),
            percent(lost, told),
        ]);
    }
    let unit = stat.unit();
    if decided {
        let head = [
            ("ply", Right),
            (unit, Right),
            ("share", Right),
            ("won by Black", Right),
            ("drawn", Right),
            ("won by White", Right),
        ];
        doc.table(head, rows);
    } else {
        let rows = rows.into_iter().map(|[ply, records, share, ..]| [ply, records, share]);
        doc.table([("ply", Right), (unit, Right), ("share", Right)], rows);
    }
}

fn outcomes(doc: &mut Doc, stat: &Stat) {
    let Some(outcomes) = &stat.outcomes else { return };
    doc.heading(3, "Outcomes");
    let rows: Vec<[String; 6]> = [
        ("the side to move", &outcomes.mover),
        ("Black, to move", &outcomes.black_to_move),
        ("White, to move", &outcomes.white_to_move),
        ("Black", &outcomes.black),
    ]
    .into_iter()
    .map(|(name, &Classes { lost, drawn, won, mixed, .. })| {
        let all = lost + drawn + won + mixed;
        [name.to_owned(), grouped(all), of(won, all), of(drawn, all), of(lost, all), of(mixed, all)]
    })
    .collect();
    let unit = stat.unit();
    let mixed = outcomes.mover.mixed > 0;
    if mixed {
        doc.paragraph("An outcome is *mixed* where games of different outcomes were folded into one row.");
        let head = [
            ("from", Left),
            (unit, Right),
            ("won", Right),
            ("drawn", Right),
            ("lost", Right),
            ("mixed", Right),
        ];
        doc.table(head, rows);
    } else {
        let head = [("from", Left), (unit, Right), ("won", Right), ("drawn", Right), ("lost", Right)];
        doc.table(
            head,
            rows.into_iter().map(|[from, all, won, drawn, lost, _]| [from, all, won, drawn, lost]),
        );
    }
    let unknown = outcomes.mover.unknown;
    if unknown > 0 {
        doc.paragraph(&format!(
            "The outcome of {} of the {unit} is not known: they leave it out, and are in no line of this table. That is \
             no draw.",
            of(unknown, stat.totals.records)
        ));
    }
    let zeros = outcomes.negative_zeros;
    if zeros > 0 {
        doc.paragraph(&format!(
            "Drawn {unit} stored as −0.0, which equals 0 by value and not by bits: {}.",
            grouped(zeros)
        ));
    }
}

/// The files beside each other, where there are several.
fn parts(doc: &mut Doc, stat: &Stat) {
    if stat.parts.len() < 2 {
        return;
    }
    doc.heading(3, "File by file");
    let head = [
        ("file", Left),
        (stat.unit(), Right),
        ("mean ply", Right),
        ("mean candidates", Right),
        ("mean absolute value", Right),
        ("mean outcome for Black", Right),
    ];
    let rows = stat.parts.iter().map(|part| {
        [
            code(&part.path.to_string_lossy()),
            grouped(part.records),
            figure_or_dash(part.ply, 3),
            figure_or_dash(part.candidates, 3),
            figure_or_dash(part.value, 3),
            signed_or_dash(part.outcome, 4),
        ]
    });
    doc.table(head, rows);
}
