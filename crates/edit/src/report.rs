//! What an edit did, as one value that prints twice.

use crate::cut::{CutFigures, TerminalPly};
use crate::filter::FilterFigures;
use crate::lineage::{Count, LINEAGE_FILE, Step};
use crate::merge::MergeFigures;
use crate::repair::TornFile;
use crate::set_header::SetField;
use crate::split::SplitSet;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// What an edit did.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// The step that was added to the lineage.
    pub step: Step,
    /// What the verb counted besides.
    pub figures: Figures,
    /// Inputs beside which a lineage lies that does not reach them: they were changed since, or put there.
    pub unlisted: Vec<String>,
    /// The output directory.
    #[serde(skip)]
    pub out: PathBuf,
}

/// What verbs count beside what every step has.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Figures {
    /// Of a cut.
    Cut(CutFigures),
    /// Of a merge.
    Merge(MergeFigures),
    /// Of a filter.
    Filter(FilterFigures),
    /// Of a repair.
    Repair {
        /// The files that were torn.
        torn: Vec<TornFile>,
    },
    /// Of a split by draw.
    Split {
        /// The sets.
        sets: Vec<SplitSet>,
    },
    /// Of stating conventions.
    SetHeader {
        /// The fields that can be stated.
        fields: Vec<SetField>,
    },
    /// Of the others: nothing.
    None {},
}

impl Report {
    /// Whether there is something that nobody asked for: torn files.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        matches!(&self.figures, Figures::Repair { torn } if !torn.is_empty())
    }
}

/// With a comma at every third digit.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = &self.step;
        let (records, files, parts) = (step.records, step.inputs.len(), step.outputs.len());
        write!(
            f,
            "{}: {} records in {files} files, {} out in {parts} parts",
            step.verb,
            grouped(records.input),
            grouped(records.output)
        )?;
        if let Some(games) = step.games {
            write!(f, "\n  games: {} in, {} out", grouped(games.input), grouped(games.output))?;
        }
        counts(f, "dropped", &step.dropped)?;
        counts(f, "changed", &step.changed)?;
        counts(f, "refused", &step.refused)?;
        figures(f, &self.figures)?;
        for file in &step.outputs {
            let (name, bytes, records) = (&file.name, grouped(file.bytes), grouped(file.records));
            write!(f, "\n  {} ({records} records, {bytes} bytes)", self.out.join(name).display())?;
        }
        write!(f, "\n  what was done is told in {LINEAGE_FILE}")
    }
}

fn counts(f: &mut fmt::Formatter<'_>, what: &str, counts: &BTreeMap<String, Count>) -> fmt::Result {
    for (name, count) in counts {
        write!(f, "\n  {what}: {name}: {} records", grouped(count.records))?;
        if let Some(games) = count.games {
            write!(f, ", {} whole games", grouped(games))?;
        }
        if let Some(bytes) = count.bytes {
            write!(f, ", {} bytes", grouped(bytes))?;
        }
    }
    Ok(())
}

fn figures(f: &mut fmt::Formatter<'_>, figures: &Figures) -> fmt::Result {
    match figures {
        Figures::Cut(cut) => {
            write!(
                f,
                "\n  games at the greatest ply: {}, of which {} were drawn before; {} outcomes changed",
                grouped(cut.games_at_max_ply),
                grouped(cut.games_drawn_before),
                grouped(cut.outcomes_changed)
            )?;
            if cut.games_short_of_max_ply > 0 {
                let games = grouped(cut.games_short_of_max_ply);
                write!(
                    f,
                    "\n  of them without a record at that ply, as games that stopped early are: {games}"
                )?;
            }
            if cut.games_at_odds > 0 {
                write!(f, "\n  games with drawn and decided records: {}", grouped(cut.games_at_odds))?;
            }
            run_together(f, cut.games_run_together)?;
            terminal(f, "in", &cut.terminal_plies)?;
            terminal(f, "out", &cut.terminal_plies_out)
        }
        Figures::Merge(merge) => {
            let (joins, inside) = (grouped(merge.joins), grouped(merge.joins_inside_games));
            write!(f, "\n  joins: {joins}, over {inside} of which a game goes on by its plies")
        }
        Figures::Filter(filter) => {
            write!(f, "\n  records that meet the conditions: {}", grouped(filter.matching))?;
            run_together(f, filter.games_run_together)
        }
        Figures::Repair { torn } => {
            if torn.is_empty() {
                f.write_str("\n  no file was torn")?;
            }
            for file in torn {
                write!(f, "\n  torn: {}: {} records kept", file.name, grouped(file.records))?;
                if let Some(last) = file.last_record {
                    write!(f, ", the last is record {last} and ends at byte {}", file.offset)?;
                }
                write!(f, "; lost behind it: {} bytes", grouped(file.lost_bytes))?;
            }
            Ok(())
        }
        Figures::Split { sets } => sets.iter().try_for_each(|set| {
            let (games, records) = (grouped(set.games), grouped(set.records));
            write!(f, "\n  {}: {games} games, {records} records", set.name)
        }),
        Figures::SetHeader { fields } => fields
            .iter()
            .filter(|field| field.before != field.after)
            .try_for_each(|field| write!(f, "\n  {}: {} → {}", field.field, field.before, field.after)),
        Figures::None {} => Ok(()),
    }
}

fn run_together(f: &mut fmt::Formatter<'_>, games: u64) -> fmt::Result {
    if games == 0 {
        return Ok(());
    }
    let games = grouped(games);
    write!(f, "\n  games that readers take for the end of the one before, as nothing between shows: {games}")
}

/// The plies at which most games end, in the order of plies.
fn terminal(f: &mut fmt::Formatter<'_>, side: &str, plies: &[TerminalPly]) -> fmt::Result {
    const SHOWN: usize = 12;
    let mut shown: Vec<_> = plies.iter().collect();
    shown.sort_by(|a, b| b.games.cmp(&a.games).then(a.ply.cmp(&b.ply)));
    shown.truncate(SHOWN);
    shown.sort_by_key(|end| end.ply);
    let rest = plies.len() - shown.len();
    write!(f, "\n  last plies of games {side} (games, of which undecided):")?;
    for end in shown {
        write!(f, " {} ({}, {})", end.ply, grouped(end.games), grouped(end.undecided))?;
    }
    if rest > 0 {
        write!(f, " and {rest} more, in the JSON report")?;
    }
    Ok(())
}
