//! The shuffle: orders that remember something are found, uniform ones are not.

mod fixtures;

use fixtures::*;
use manaka_inspect::{CheckOptions, Report, check};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

const ROWS: usize = 120_000;

/// Rows in the order of the games they come from.
fn games() -> &'static [Row] {
    static ROWS_OF_GAMES: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS_OF_GAMES.get_or_init(|| {
        score_records(ROWS, 11)
            .into_iter()
            .map(|record| {
                let scores: Vec<_> = record.candidates.iter().map(|c| (c.mv, c.cp)).collect();
                score_row(&record.packed, record.ply, &scores)
            })
            .collect()
    })
}

/// The report of a set of shards of 40,000 rows.
fn judge(rows: &[Row]) -> Report {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<_> = rows
        .chunks(40_000)
        .enumerate()
        .map(|(at, rows)| Shard::scores(rows.to_vec()).write(dir.path(), &format!("s-{at:05}.parquet")))
        .collect();
    check(&paths, &CheckOptions::new(NonZeroUsize::new(2).unwrap()), &()).unwrap()
}

fn ids(report: &Report) -> Vec<&'static str> {
    report.kinds.iter().map(|kind| kind.id).filter(|id| *id != "shuffle_not_judged").collect()
}

#[test]
fn a_uniform_shuffle_passes_shard_by_shard_and_as_a_set() {
    for seed in 0..3 {
        let mut rows = games().to_vec();
        Draws::new(seed).shuffle(&mut rows);
        let report = judge(&rows);
        assert_eq!(ids(&report), [""; 0], "{report}");
        let all = report.shuffle.last().unwrap();
        assert_eq!((report.shuffle.len(), all.path.is_none(), all.rows), (4, true, ROWS as u64));
        // 48 rows a block: the whole set can be judged at 2500 blocks, a shard of 40,000 rows cannot.
        assert!(all.blocks.iter().all(|block| block.ratio.is_some()));
        assert!(report.shuffle[0].blocks[2].ratio.is_none() && report.shuffle[0].blocks[1].ratio.is_some());
    }
}

#[test]
fn games_in_order_show_in_the_autocorrelation() {
    let report = judge(games());
    assert!(ids(&report).contains(&"shuffle_autocorrelation"), "{report}");
    assert!(report.shuffle.iter().all(|figures| figures.lag1.unwrap() > 0.9));
}

#[test]
fn rows_sorted_by_ply_show_in_every_figure() {
    let mut rows = games().to_vec();
    rows.sort_by_key(|row| row.ply);
    let report = judge(&rows);
    assert_eq!(ids(&report), ["shuffle_autocorrelation", "shuffle_trend", "shuffle_blocks"], "{report}");
}

/// What a fold does that writes its buckets one after another, when a bucket remembers something of the ply.
#[test]
fn rows_shuffled_only_within_blocks_show_in_the_block_ratio() {
    let mut rows = games().to_vec();
    Draws::new(5).shuffle(&mut rows);
    // Thirty buckets; the mean ply of every other one is a little higher.
    let (mut low, mut high): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.ply < 60);
    let mut mixed = Vec::new();
    for bucket in 0..30 {
        let share = if bucket % 2 == 0 { 57 } else { 43 };
        let mut rows = Vec::new();
        let take = |from: &mut Vec<Row>, n: usize| from.split_off(from.len().saturating_sub(n));
        rows.extend(take(&mut low, 4000 * share / 100));
        rows.extend(take(&mut high, 4000 * (100 - share) / 100));
        Draws::new(bucket as u64).shuffle(&mut rows);
        mixed.extend(rows);
    }
    let report = judge(&mixed);
    let all = report.shuffle.last().unwrap();
    assert!(ids(&report).contains(&"shuffle_blocks"), "{report}");
    assert!(all.blocks[1].ratio.unwrap() > 1.5, "{report}");
}

/// Each shard is a shuffle of its own rows, and what was left for the last one is not.
#[test]
fn shards_that_differ_from_one_another_show_in_the_set() {
    let mut rows = games().to_vec();
    rows.sort_by_key(|row| row.ply);
    for shard in rows.chunks_mut(40_000) {
        Draws::new(1).shuffle(shard);
    }
    let report = judge(&rows);
    assert!(report.findings.iter().all(|finding| finding.path.is_none()), "{report}");
    assert_eq!(ids(&report), ["shuffle_autocorrelation", "shuffle_trend", "shuffle_blocks"], "{report}");
    assert!(report.findings[0].to_string().starts_with("all shards: shuffle_autocorrelation: "));
}

#[test]
fn neighbours_that_differ_more_than_chance_show_too() {
    let mut rows = games().to_vec();
    rows.sort_by_key(|row| row.ply);
    let high = rows.split_off(ROWS / 2);
    let (mut low, mut high) = (rows, high);
    Draws::new(1).shuffle(&mut low);
    Draws::new(2).shuffle(&mut high);
    let rows: Vec<Row> = low.into_iter().zip(high).flat_map(|(low, high)| [low, high]).collect();
    let report = judge(&rows);
    assert!(ids(&report).contains(&"shuffle_autocorrelation"), "{report}");
    assert!(report.shuffle[0].lag1.unwrap() < -0.5, "{report}");
}

/// Dealt out evenly instead of drawn: every block has the same mix, which chance never gives.
#[test]
fn an_order_more_even_than_chance_shows_too() {
    let mut rows = games().to_vec();
    rows.sort_by_key(|row| row.ply);
    let stride = 2500;
    let dealt: Vec<Row> = (0..stride)
        .flat_map(|from| rows.iter().skip(from).step_by(stride).cloned().collect::<Vec<_>>())
        .collect();
    let mut blocks: Vec<&[Row]> = dealt.chunks(ROWS / stride).collect();
    let mut draws = Draws::new(2);
    draws.shuffle(&mut blocks);
    let mut dealt: Vec<Row> = blocks.concat();
    for block in dealt.chunks_mut(ROWS / stride) {
        draws.shuffle(block);
    }
    let report = judge(&dealt);
    assert!(ids(&report).contains(&"shuffle_blocks"), "{report}");
    assert!(report.shuffle.last().unwrap().blocks[2].ratio.unwrap() < 0.5, "{report}");
}
