//! The text of a view.

use super::board::draw;
use super::kif::cells;
use super::{CandidateView, Entry, Notation, PositionView, View};
use std::fmt;

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.format.unit();
        for (at, entry) in self.entries.iter().enumerate() {
            if at > 0 {
                writeln!(f, "\n")?;
            }
            match entry {
                Entry::Position(view) => {
                    write!(f, "{unit} {}", view.number)?;
                    if let Some(offset) = view.offset {
                        write!(f, " at byte {offset}")?;
                    }
                    writeln!(f, " of {}", self.path.display())?;
                    position(f, view, self.notation, self.pov)?;
                }
                Entry::Faulty { number, offset, id, message } => {
                    write!(f, "{unit} {number}")?;
                    if let Some(offset) = offset {
                        write!(f, " at byte {offset}")?;
                    }
                    writeln!(f, " of {}", self.path.display())?;
                    write!(f, "{id}: {message}")?;
                }
            }
        }
        Ok(())
    }
}

fn position(f: &mut fmt::Formatter<'_>, view: &PositionView, notation: Notation, pov: &str) -> fmt::Result {
    draw(f, &view.packed, notation)?;
    if let Some(last) = &view.last_move {
        write!(f, "last move {last}")?;
        if notation == Notation::Kanji {
            write!(f, "  {}", view.last_kif)?;
        }
        writeln!(f)?;
    }
    writeln!(f, "sfen {}", view.sfen)?;
    if let Some(unplayable) = &view.unplayable {
        writeln!(f, "not playable: {unplayable}")?;
    }
    write!(f, "ply {}", view.ply)?;
    if let Some(weight) = view.weight {
        write!(f, "  weight {weight}")?;
    }
    if let Some(value_z) = view.value_z {
        write!(f, "  value_z {value_z:+}")?;
    }
    if let Some(value_q) = view.value_q {
        write!(f, "  value_q {value_q:+.6}")?;
    }
    if let Some(root_cp) = view.root_cp {
        write!(f, "  root_cp {root_cp:+}")?;
    }
    if let Some(played) = &view.played {
        write!(f, "  move {played}")?;
    }
    writeln!(f, "  (pov {pov})")?;
    table(f, &view.candidates, notation)
}

/// The candidates, one a line; the last line without its end. Columns no candidate fills are left out.
fn table(f: &mut fmt::Formatter<'_>, candidates: &[CandidateView], notation: Notation) -> fmt::Result {
    let scored = candidates.iter().any(|c| c.cp.is_some());
    let visited = candidates.iter().any(|c| c.visits.is_some());
    let policy = candidates.iter().any(|c| c.prob.is_some());
    let width = candidates.iter().map(|c| c.usi.len()).max().unwrap_or(0).max(4);
    // Kifu's names of moves stand in a column of their own, behind those of USI.
    let kif = match notation {
        Notation::Kanji => candidates.iter().map(|c| cells(&c.kif)).max().unwrap_or(0),
        Notation::Ascii => 0,
    };
    let gap = if kif > 0 { kif + 2 } else { 0 };
    write!(f, "{:>4}  {:<width$}{:gap$}", "", "move", "")?;
    for (shown, heading) in [(scored, "cp"), (visited, "visits"), (policy, "prob")] {
        if shown {
            write!(f, "  {heading:>10}")?;
        }
    }
    for (at, candidate) in candidates.iter().enumerate() {
        write!(f, "\n{:>4}  {:<width$}", at + 1, candidate.usi)?;
        if kif > 0 {
            let rest = kif - cells(&candidate.kif);
            write!(f, "  {}{:rest$}", candidate.kif, "")?;
        }
        if scored {
            let cp = candidate.cp.map(|cp| format!("{cp:+}"));
            write!(f, "  {:>10}", cp.unwrap_or_default())?;
        }
        if visited {
            let visits = candidate.visits.map(|visits| visits.to_string());
            write!(f, "  {:>10}", visits.unwrap_or_default())?;
        }
        if policy {
            let prob = candidate.prob.map(|prob| format!("{prob:.6}"));
            write!(f, "  {:>10}", prob.unwrap_or_default())?;
        }
        if candidate.mate {
            f.write_str("  mate")?;
        }
        if candidate.legal == Some(false) {
            f.write_str("  ILLEGAL")?;
        }
    }
    Ok(())
}
