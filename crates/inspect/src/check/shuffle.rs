//! Whether the measured order of rows is a uniform shuffle's.

use super::collector::InFile;
use crate::finding::{Id, Place};
use crate::report::ShuffleFigures;
use crate::shuffle::{MIN_BLOCK, MIN_ROWS, Plies};
use std::path::Path;

/// A figure this many standard deviations from that of a uniform shuffle is a finding.
///
/// A set of a dozen shards yields some sixty figures. At 3 one healthy set in eight would be refused, at 5 one in tens
/// of thousands; and an order that did survive is not near the border: a fold that wrote its buckets one after
/// another is at 13 (the ratio of 24 blocks read 2.97), games in order have a lag-1 correlation near 1.
const SIGMAS: f64 = 5.0;

/// The figures, and what they say. `None` for no rows.
pub fn judge(plies: &Plies, path: Option<&Path>, out: &InFile<'_>) -> Option<ShuffleFigures> {
    let (rows, missing) = plies.rows();
    if rows == 0 {
        return None;
    }
    let not_judged = |what: String| out.add(Place::Whole, Id::ShuffleNotJudged, || what);
    let Some(figures) = plies.measured(path) else {
        not_judged(format!("{missing} of {rows} rows could not be read"));
        return None;
    };
    if figures.sd_ply == 0.0 {
        not_judged(format!("every row has a ply of {}", figures.mean_ply));
    } else if figures.lag1.is_none() {
        not_judged(format!("{rows} rows are too few: {MIN_ROWS} are needed"));
    } else {
        let short: Vec<String> = figures
            .blocks
            .iter()
            .filter(|block| block.ratio.is_none())
            .map(|block| format!("{} blocks of {} rows", block.blocks, block.rows_per_block))
            .collect();
        if !short.is_empty() {
            not_judged(format!("{} are too short: {MIN_BLOCK} rows are needed", short.join(" and ")));
        }
    }
    report(&figures, out);
    Some(figures)
}

/// Reports the figures that are no uniform shuffle's.
fn report(figures: &ShuffleFigures, out: &InFile<'_>) {
    for (correlation, id, what) in [
        (figures.lag1, Id::ShuffleAutocorrelation, "the lag-1 autocorrelation of ply"),
        (figures.trend, Id::ShuffleTrend, "the correlation of ply with the row index"),
    ] {
        if let Some(r) = correlation
            && r.abs() > SIGMAS * figures.noise
        {
            out.add(Place::Whole, id, || {
                format!(
                    "{what} is {r:+.6}; a uniform shuffle of {} rows gives 0 ±{:.6}",
                    figures.rows, figures.noise
                )
            });
        }
    }
    let far: Vec<String> = figures
        .blocks
        .iter()
        .filter_map(|block| {
            let ratio = block.ratio.filter(|ratio| (ratio - 1.0).abs() > SIGMAS * block.noise)?;
            Some(format!("{ratio:.3} ±{:.3} at {} blocks", block.noise, block.blocks))
        })
        .collect();
    if !far.is_empty() {
        out.add(Place::Whole, Id::ShuffleBlocks, || {
            format!("the block ratio is {}; a uniform shuffle gives 1", far.join(", "))
        });
    }
}
