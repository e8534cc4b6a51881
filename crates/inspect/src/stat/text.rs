//! The figures as text: short tables that a person reads from the top down.

use super::figures::{Classes, Spread, Stat, ValueCount};
use super::measure::ratio;
use crate::report::shuffle_table;
use std::fmt::{self, Display, Formatter};

/// Plies of one line of the table of plies.
const PLIES: u64 = 20;
/// Plies at which games open, listed one by one.
const OPENS: usize = 8;
/// Parts listed one by one.
const PARTS: usize = 24;

/// `1234567` as `1,234,567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share in percent; `-` of nothing.
pub fn percent(part: u64, whole: u64) -> String {
    share(ratio(part, whole))
}

/// The same of a share that may be absent.
pub fn share(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.2}%", share * 100.0))
}

/// `once`, `2 times`.
fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        _ => format!("{} times", grouped(count)),
    }
}

/// A line of a section: a name, a figure, and what else there is to say.
fn line(f: &mut Formatter<'_>, name: &str, figure: impl Display, more: impl Display) -> fmt::Result {
    let text = format!("  {name:<26} {:>16}   {more}", figure.to_string());
    writeln!(f, "{}", text.trim_end())
}

fn section(f: &mut Formatter<'_>, title: &str) -> fmt::Result {
    writeln!(f, "\n{title}")
}

/// A heading of spreads, then a line for each.
fn spreads(f: &mut Formatter<'_>, rows: &[(&str, &Spread)]) -> fmt::Result {
    write!(f, "  {:<26} {:>10}", "", "mean")?;
    for head in ["min", "p1", "p5", "p25", "p50", "p75", "p95", "p99", "max"] {
        write!(f, " {head:>7}")?;
    }
    writeln!(f)?;
    for (name, spread) in rows {
        write!(f, "  {name:<26} {:>10.2}", spread.mean)?;
        let Spread { least, p1, p5, p25, p50, p75, p95, p99, greatest, .. } = spread;
        for figure in [least, p1, p5, p25, p50, p75, p95, p99, greatest] {
            write!(f, " {figure:>7}")?;
        }
        writeln!(f)?;
    }
    Ok(())
}

impl Display for Stat {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.heading(f)?;
        self.game_section(f)?;
        section(f, "plies")?;
        spreads(f, &[("ply", &self.ply)])?;
        self.ply_table(f)?;
        self.outcome_section(f)?;
        self.candidate_section(f)?;
        self.score_section(f)?;
        self.value_section(f)?;
        self.board_section(f)?;
        self.storage_section(f)?;
        self.alarm_section(f)
    }
}

impl Stat {
    fn records(&self) -> u64 {
        self.totals.records
    }

    /// What the files call their items.
    pub(crate) fn unit(&self) -> &'static str {
        if self.kind == "shard" || self.kind == "corpus" { "rows" } else { "records" }
    }

    fn heading(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let totals = &self.totals;
        let files =
            format!("{} {} file{}", totals.files, self.kind, if totals.files == 1 { "" } else { "s" });
        let per = totals.bytes_per_record.map_or(String::new(), |per| format!(", {per:.2} each"));
        writeln!(
            f,
            "{files}: {} {}, {} bytes{per}",
            grouped(totals.records),
            self.unit(),
            grouped(totals.bytes)
        )?;
        match &self.stated {
            None => writeln!(f, "no conventions are stated; scores are read from the side to move")?,
            Some(stated) => {
                let known = |value: String, zero: bool| if zero { "-".to_owned() } else { value };
                writeln!(
                    f,
                    "pov {}, policy_source {}, mate_scale {}, mate_slack {}, eval_coef {}, fv_scale {}",
                    stated.pov,
                    stated.policy_source,
                    known(stated.mate_scale.to_string(), stated.mate_scale == 0),
                    known(stated.mate_slack.to_string(), stated.mate_slack == 0),
                    known(stated.eval_coef.to_string(), stated.eval_coef == 0.0),
                    known(stated.fv_scale.to_string(), stated.fv_scale == 0),
                )?;
            }
        }
        if self.parts.len() < 2 {
            return Ok(());
        }
        section(f, "parts")?;
        writeln!(
            f,
            "  {:>14} {:>9} {:>11} {:>9} {:>8}  file",
            self.unit(),
            "mean ply",
            "candidates",
            "|value|",
            "Black"
        )?;
        let figure =
            |mean: Option<f64>, places: usize| mean.map_or("-".to_owned(), |mean| format!("{mean:.places$}"));
        for part in self.parts.iter().take(PARTS) {
            writeln!(
                f,
                "  {:>14} {:>9} {:>11} {:>9} {:>8}  {}",
                grouped(part.records),
                figure(part.ply, 3),
                figure(part.candidates, 3),
                figure(part.value, 4),
                part.outcome.map_or("-".to_owned(), |mean| format!("{mean:+.4}")),
                part.path.display()
            )?;
        }
        match self.parts.len() - self.parts.len().min(PARTS) {
            0 => Ok(()),
            more => writeln!(f, "  … and {more} more"),
        }
    }

    fn game_section(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(games) = &self.games else { return Ok(()) };
        section(f, "games")?;
        let joins = match games.joins {
            0 => String::new(),
            joins => format!("{} of {joins} joins between files lie inside a game", games.joins_inside),
        };
        line(f, "games", grouped(games.games), joins)?;
        let Classes { lost, drawn, won, unknown, .. } = games.outcomes;
        let of = |count| percent(count, games.games);
        let unknown = if unknown > 0 { format!(", not told {}", of(unknown)) } else { String::new() };
        line(f, "won by Black", of(won), format!("drawn {}, won by White {}{unknown}", of(drawn), of(lost)))?;
        for (at, ValueCount { value, count }) in games.opens.iter().take(OPENS).enumerate() {
            line(
                f,
                if at == 0 { "open at ply" } else { "" },
                value,
                format!("{} games, {}", grouped(*count), of(*count)),
            )?;
        }
        if games.opens.len() > OPENS {
            let rest: u64 = games.opens[OPENS..].iter().map(|open| open.count).sum();
            let others = games.opens.len() - OPENS;
            line(f, "", "others", format!("{} games over {others} further plies", grouped(rest)))?;
        }
        let gaps = match games.gaps {
            0 => "every record follows at the next ply".to_owned(),
            _ => format!(
                "{} of the records that follow one; the widest is {}",
                percent(games.gaps, games.followers),
                games.widest_gap
            ),
        };
        line(f, "gaps between plies", grouped(games.gaps), gaps)?;
        let seen = match games.repeats_one_in {
            1 => "exact".to_owned(),
            one_in => format!("estimated from one game in {one_in}"),
        };
        let most = format!(
            "of {} games of 10 records or more; the most frequent came {}; {seen}",
            grouped(games.compared),
            times(games.most_repeated)
        );
        line(f, "played again", share(Some(games.repeated)), most)?;
        spreads(f, &[("records of a game", &games.records), ("last ply", &games.last_ply)])
    }

    /// Records and outcomes in steps of plies.
    fn ply_table(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\n  {:<12} {:>14} {:>8}", "ply", self.unit(), "share")?;
        if self.outcomes.is_some() {
            write!(f, "   {:>9} {:>9} {:>9}", "Black", "drawn", "White")?;
        }
        writeln!(f)?;
        let mut rest = self.plies.as_slice();
        while let Some(first) = rest.first() {
            let from = first.ply / PLIES * PLIES;
            let (inside, behind) = rest.split_at(rest.partition_point(|bin| bin.ply < from + PLIES));
            rest = behind;
            let sum = |of: &dyn Fn(&Classes) -> u64| inside.iter().map(|bin| of(&bin.black)).sum::<u64>();
            let records: u64 = inside.iter().map(|bin| bin.records).sum();
            let (won, drawn, lost) = (sum(&|c| c.won), sum(&|c| c.drawn), sum(&|c| c.lost));
            let all = won + drawn + lost;
            let name = format!("{from}..{}", from + PLIES);
            write!(f, "  {name:<12} {:>14} {:>8}", grouped(records), percent(records, self.records()))?;
            if self.outcomes.is_some() {
                let of = |count| percent(count, all);
                write!(f, "   {:>9} {:>9} {:>9}", of(won), of(drawn), of(lost))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }

    fn outcome_section(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(outcomes) = &self.outcomes else { return Ok(()) };
        section(f, "outcomes")?;
        let mixed = outcomes.mover.mixed > 0;
        writeln!(
            f,
            "  {:<26} {:>16} {:>10} {:>10} {:>10}{}",
            "from",
            self.unit(),
            "won",
            "drawn",
            "lost",
            if mixed { "      mixed" } else { "" }
        )?;
        for (name, classes) in [
            ("the side to move", &outcomes.mover),
            ("Black, to move", &outcomes.black_to_move),
            ("White, to move", &outcomes.white_to_move),
            ("Black", &outcomes.black),
        ] {
            let Classes { lost, drawn, won, mixed: means, .. } = *classes;
            let all = lost + drawn + won + means;
            let of = |count| percent(count, all);
            write!(
                f,
                "  {name:<26} {:>16} {:>10} {:>10} {:>10}",
                grouped(all),
                of(won),
                of(drawn),
                of(lost)
            )?;
            if mixed {
                write!(f, " {:>10}", of(means))?;
            }
            writeln!(f)?;
        }
        let unknown = outcomes.mover.unknown;
        if unknown > 0 {
            let share =
                format!("{} of the {}, counted nowhere above", percent(unknown, self.records()), self.unit());
            line(f, "outcome not known", grouped(unknown), share)?;
        }
        line(f, "draws stored as -0.0", grouped(outcomes.negative_zeros), "")
    }

    fn candidate_section(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.candidates.is_none() && self.visits.is_none() {
            return Ok(());
        }
        section(f, "candidates")?;
        if let Some(candidates) = &self.candidates {
            let of = |count| percent(count, self.records());
            line(
                f,
                "candidates",
                grouped(self.totals.candidates),
                format!("{:.2} a record", candidates.spread.mean),
            )?;
            line(f, "a single one", of(candidates.single), "")?;
            line(f, "cut by a width of 5", of(candidates.wider_than_5), "")?;
            line(f, "cut by a width of 64", of(candidates.wider_than_64), "")?;
        }
        if let Some(visits) = &self.visits {
            line(f, "visited once", percent(visits.once, visits.per_candidate.count), "of all candidates")?;
        }
        let mut rows = Vec::new();
        rows.extend(self.candidates.as_ref().map(|candidates| ("of a record", &candidates.spread)));
        if let Some(visits) = &self.visits {
            rows.push(("visits of a record", &visits.per_record));
            rows.push(("visits of a candidate", &visits.per_candidate));
        }
        spreads(f, &rows)
    }

    fn score_section(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(scores) = &self.scores else { return Ok(()) };
        section(f, "scores")?;
        line(f, "scores", grouped(scores.count), "of candidates, from the side to move")?;
        line(f, "extremes", format!("{} … {}", scores.least, scores.greatest), "")?;
        if let Some(stated) = &self.stated {
            let from = stated
                .mate_threshold
                .map_or("none is a mate".to_owned(), |from| format!("|cp| from {from} on"));
            line(f, "mates as stated", percent(scores.mates, scores.count), from)?;
        }
        match &scores.mate_band {
            None => line(f, "band of mates", "-", "no gap sets one apart")?,
            Some(band) => {
                line(
                    f,
                    "band of mates",
                    format!("{} … {}", band.bottom, band.top),
                    format!("{} scores, {}", grouped(band.scores), percent(band.scores, scores.count)),
                )?;
                line(f, "ordinary scores end at", band.below, format!("a gap of {}", band.gap))?;
                line(f, "slack implied", band.slack, format!("below a scale of {}", band.scale))?;
            }
        }
        if scores.slot_0_compared > 0 {
            let more = format!("of {} records", grouped(scores.slot_0_compared));
            line(f, "slot 0 has the root score", percent(scores.slot_0_root, scores.slot_0_compared), more)?;
        }
        Ok(())
    }

    fn value_section(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let values = &self.values;
        if values.calibration.is_empty() && values.scale.implied.is_none() {
            return Ok(());
        }
        section(f, "values and outcomes")?;
        let scale = &values.scale;
        let figure = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.1}"));
        let of = if values.stored { "stated" } else { "assumed: root scores are put through it" };
        line(f, "eval_coef", figure(scale.eval_coef.map(f64::from)), of)?;
        line(f, "implied by values", figure(scale.implied), "from values beside the scores of slot 0")?;
        line(f, "fitted to outcomes", figure(scale.fitted), "P(win) = sigmoid(2 cp / eval_coef)")?;
        let slope = scale.slope.map_or("-".to_owned(), |slope| format!("{slope:.3}"));
        line(f, "slope", slope, "P(win) = sigmoid(2 slope atanh(value))")?;
        let [black, white] = values.favoured;
        let sides = format!("where Black moves; {} where White does", share(white));
        line(f, "the better side wins", share(black), format!("{sides}; beyond ±0.2"))?;
        if values.neighbours > 0 {
            line(f, "stays the better side", share(values.steady), "from a record to the next of its game")?;
        }
        if values.calibration.is_empty() {
            return Ok(());
        }
        writeln!(
            f,
            "\n  {:<16} {:>14} {:>8} {:>9} {:>9} {:>8}",
            "value",
            self.unit(),
            "share",
            "value",
            "outcome",
            "apart"
        )?;
        let all: u64 = values.calibration.iter().map(|bin| bin.records).sum();
        for bin in &values.calibration {
            let name = format!("{:+.1} … {:+.1}", bin.from, bin.to);
            let signed = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:+.3}"));
            let apart = bin.outcome.zip(bin.value).map(|(outcome, value)| outcome - value);
            writeln!(
                f,
                "  {name:<16} {:>14} {:>8} {:>9} {:>9} {:>8}",
                grouped(bin.records),
                percent(bin.records, all),
                signed(bin.value),
                signed(bin.outcome),
                signed(apart)
            )?;
        }
        Ok(())
    }

    fn board_section(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.records() == 0 {
            return Ok(());
        }
        section(f, "board")?;
        let board = &self.board;
        line(f, "Black to move", percent(board.black_to_move, self.records()), "")?;
        line(f, "Black's king at home", share(Some(board.black_king_home)), "on ranks 8 and 9")?;
        line(f, "White's king at home", share(Some(board.white_king_home)), "on ranks 1 and 2")?;
        line(f, "pawns on a last rank", grouped(board.dead_pawns), "")?;
        write!(f, "  {:<26}", "rank")?;
        (1..=9).try_for_each(|rank| write!(f, " {rank:>6}"))?;
        writeln!(f)?;
        for (name, ranks) in [
            ("Black's king", &board.black_king_ranks),
            ("White's king", &board.white_king_ranks),
            ("Black's pawns", &board.black_pawn_ranks),
            ("White's pawns", &board.white_pawn_ranks),
        ] {
            write!(f, "  {name:<26}")?;
            ranks.iter().try_for_each(|share| write!(f, " {:>5.1}%", share * 100.0))?;
            writeln!(f)?;
        }
        Ok(())
    }

    fn storage_section(&self, f: &mut Formatter<'_>) -> fmt::Result {
        section(f, "duplicates")?;
        let duplicates = &self.duplicates;
        let how = match duplicates.exact {
            true => "exact".to_owned(),
            false => format!(
                "±{:.2}%, estimated from the {} {} of one position in {}",
                duplicates.error * 100.0,
                grouped(duplicates.records),
                self.unit(),
                duplicates.one_in
            ),
        };
        line(f, "a fold takes away", share(Some(duplicates.share)), how)?;
        line(
            f,
            "the most frequent came",
            times(duplicates.most),
            if duplicates.exact { "" } else { "of those looked at" },
        )?;
        if let Some(weights) = &self.weights {
            spreads(f, &[("weight of a row", weights)])?;
        }
        if !self.columns.is_empty() {
            section(f, "columns")?;
            let width = self.columns.iter().map(|column| column.name.len()).max().unwrap_or(0);
            writeln!(f, "  {:<width$} {:>14} {:>9} {:>14}", "column", "bytes", "a row", "uncompressed")?;
            for column in &self.columns {
                let (bytes, encoded) = (grouped(column.compressed_bytes), grouped(column.encoded_bytes));
                writeln!(
                    f,
                    "  {:<width$} {bytes:>14} {:>9.3} {encoded:>14}",
                    column.name, column.bytes_per_row
                )?;
            }
        }
        if !self.shuffle.is_empty() {
            writeln!(f)?;
            shuffle_table(f, &self.shuffle)?;
        }
        Ok(())
    }

    fn alarm_section(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        for alarm in &self.alarms {
            writeln!(f, "ALARM {}: {}", alarm.id, alarm.sentence)?;
            writeln!(f, "      {}", alarm.message)?;
            writeln!(f, "      goes off at: {}", alarm.threshold)?;
        }
        match self.alarms.len() {
            0 => write!(f, "ok: no alarm"),
            1 => write!(f, "1 alarm"),
            n => write!(f, "{n} alarms"),
        }
    }
}
