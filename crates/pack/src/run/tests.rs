//! The fold against a naive twin, and the promise that nothing but the records reaches the shards.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the twin computes in the most direct way"
)]

use super::*;
use crate::place::Draws;
use crate::shard::{Outcomes, ROWS_PER_GROUP, Rows, ShardReader};
use crate::{hash, key};
use manaka_core::conventions::{NO_CP, NO_OUTCOME, NO_VISITS};
use manaka_core::stream::{Candidate, Compression, Record, StreamReader, StreamWriter};
use manaka_core::{Color, Conventions, Move16, Packed, PolicySource, Pov};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::fs;

/// A row as the twin computes it.
#[derive(Debug, Clone, PartialEq)]
struct NaiveRow {
    packed: [u8; 96],
    ply: u16,
    weight: u32,
    value_z: Option<f32>,
    value_q: f32,
    candidates: Vec<(u16, f64, Option<i16>)>,
}

/// shards.md §4 to §6 in the most direct words.
fn naive(records: &[Record], conventions: &Conventions, temperature: f64) -> Vec<NaiveRow> {
    let mut groups: BTreeMap<[u8; 96], Vec<&Record>> = BTreeMap::new();
    for record in records {
        let mut moves: Vec<u16> = record.candidates.iter().map(|c| c.mv.bits()).collect();
        moves.sort_unstable();
        moves.dedup();
        if moves.len() == record.candidates.len() {
            groups.entry(*record.packed.as_bytes()).or_default().push(record);
        }
    }
    let mut placed: Vec<((u64, u32, usize), NaiveRow)> = Vec::new();
    let mut slots: BTreeMap<u32, Vec<(u128, [u8; 96])>> = BTreeMap::new();
    for packed in groups.keys() {
        slots.entry(key::slot(hash(packed))).or_default().push((hash(packed), *packed));
    }
    for (slot, mut members) in slots {
        members.sort_unstable();
        let mut draws = Draws::of_slot(slot);
        for (rank, (_, packed)) in members.into_iter().enumerate() {
            let row = naive_row(packed, &groups[&packed], conventions, temperature);
            placed.push(((draws.next(), slot, rank), row));
        }
    }
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, row)| row).collect()
}

fn naive_row(packed: [u8; 96], group: &[&Record], conventions: &Conventions, temperature: f64) -> NaiveRow {
    let n = group.len() as f64;
    let outcomes: Vec<f64> = group.iter().filter_map(|r| r.outcome()).map(f64::from).collect();
    let mut sums: HashMap<u16, (i64, i64)> = HashMap::new();
    for record in group {
        for candidate in &record.candidates {
            let value = match conventions.policy_source {
                PolicySource::Visits => i64::from(candidate.visits),
                PolicySource::SoftmaxCp => i64::from(candidate.cp),
            };
            let sum = sums.entry(candidate.mv.bits()).or_default();
            sum.0 += value;
            sum.1 += 1;
        }
    }
    let white = packed[95] == 1;
    let sign = if conventions.pov == Pov::Black && white { -1.0 } else { 1.0 };
    let mut candidates: Vec<(u16, f64, Option<i16>)> = match conventions.policy_source {
        PolicySource::Visits => {
            let total: i64 = sums.values().map(|sum| sum.0).sum();
            sums.iter().map(|(&mv, &(sum, _))| (mv, sum as f64 / total as f64, None)).collect()
        }
        PolicySource::SoftmaxCp => {
            let cps: Vec<(u16, i16)> = sums
                .iter()
                // f64::round rounds half away from zero, and these quotients are exact enough for it.
                .map(|(&mv, &(sum, n))| (mv, (sum as f64 / n as f64).round() as i16))
                .collect();
            let mate = conventions
                .mate_threshold()
                .is_some_and(|threshold| cps.iter().any(|&(_, cp)| cp.unsigned_abs() >= threshold));
            let best = cps.iter().map(|&(_, cp)| f64::from(cp) * sign).fold(f64::MIN, f64::max);
            let leader = cps.iter().filter(|&&(_, cp)| f64::from(cp) * sign == best).map(|c| c.0).min();
            let weight = |cp: i16| ((f64::from(cp) * sign - best) / temperature).exp();
            let total: f64 = cps.iter().map(|&(_, cp)| weight(cp)).sum();
            cps.iter()
                .map(|&(mv, cp)| {
                    let prob = match mate {
                        true => f64::from(u8::from(Some(mv) == leader)),
                        false => weight(cp) / total,
                    };
                    (mv, prob, Some(cp))
                })
                .collect()
        }
    };
    candidates.sort_by(|a, b| {
        let (prob_a, prob_b) = (a.1 as f32, b.1 as f32);
        let cp = |c: &(u16, f64, Option<i16>)| c.2.map_or(0.0, |cp| -f64::from(cp) * sign);
        prob_b.total_cmp(&prob_a).then(cp(a).total_cmp(&cp(b))).then(a.0.cmp(&b.0))
    });
    NaiveRow {
        packed,
        ply: group.iter().map(|record| record.ply).min().unwrap(),
        weight: u32::try_from(group.len()).unwrap(),
        value_z: (!outcomes.is_empty())
            .then(|| (outcomes.iter().sum::<f64>() / outcomes.len() as f64) as f32),
        value_q: (group.iter().map(|record| f64::from(record.value_q)).sum::<f64>() / n) as f32,
        candidates,
    }
}

/// A position for tests: the fold asks for bytes, not for shogi.
pub fn position(number: u16, white: bool) -> Packed {
    let mut packed = Packed::empty();
    packed.as_bytes_mut()[0..2].copy_from_slice(&number.to_le_bytes());
    packed.as_bytes_mut()[95] = u8::from(white);
    packed
}

fn well_formed_move() -> impl Strategy<Value = Move16> {
    any::<u16>()
        .prop_map(|bits| Move16::from_bits(bits & 0x7FFF))
        .prop_filter("a move", |m| m.is_well_formed())
}

fn record(source: PolicySource, positions: u16) -> impl Strategy<Value = Record> {
    let candidate =
        (well_formed_move(), 1u32..=u32::MAX, prop_oneof![-400i16..400, -32767i16..=32767, Just(29990)]);
    (
        (0..positions, any::<bool>()),
        any::<u16>(),
        prop_oneof![Just(-1.0f32), Just(0.0), Just(-0.0), Just(1.0), Just(NO_OUTCOME)],
        prop_oneof![-1.0f32..=1.0, Just(1.0), Just(-0.0), Just(1e-30)],
        // Few distinct moves make some stand twice in a record and many meet in the fold.
        prop::collection::vec(candidate, 1..8),
    )
        .prop_map(move |((number, white), ply, value_z, value_q, candidates)| Record {
            ply,
            value_z,
            value_q,
            packed: position(number, white),
            candidates: candidates
                .into_iter()
                .enumerate()
                .map(|(at, (mv, visits, cp))| {
                    // Half of the moves from a set of three.
                    let mv = if at % 2 == 0 { Move16::from_bits((mv.bits() % 3) << 7 | 4) } else { mv };
                    match source {
                        PolicySource::Visits => Candidate { mv, visits, cp: NO_CP },
                        PolicySource::SoftmaxCp => Candidate { mv, visits: NO_VISITS, cp },
                    }
                })
                .collect(),
        })
}

pub fn write(path: &Path, conventions: Conventions, compression: Compression, records: &[Record]) {
    let mut writer = StreamWriter::create(path, conventions, compression).unwrap();
    writer.allow_absent_outcomes();
    for record in records {
        writer.write(record).unwrap();
    }
    writer.finish().unwrap();
}

/// How a test run is cut up.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    pub in_memory: bool,
    pub buckets: u32,
    pub spools: usize,
    pub stretch: usize,
    pub chunk: usize,
    pub load: u64,
}

impl Cuts {
    pub const SIMPLE: Self =
        Self { in_memory: true, buckets: 256, spools: 1, stretch: 1, chunk: 1 << 16, load: u64::MAX };

    pub fn plan(self) -> Plan {
        Plan {
            count: crate::Count { records: 0, exact: false },
            in_memory: self.in_memory,
            buckets: self.buckets,
            spools: self.spools,
            stretch: self.stretch,
            memory: 0,
            peak: 0,
            temp_disk: 0,
            output_disk: 0,
            chunk: self.chunk,
            load: self.load,
        }
    }
}

/// Packs and returns every shard's bytes.
pub fn packed(
    inputs: Vec<PathBuf>,
    threads: usize,
    cuts: Cuts,
    rows_per_shard: u64,
    exclude: &[PathBuf],
) -> (Summary, Vec<Vec<u8>>) {
    let out = tempfile::tempdir().unwrap();
    let mut options = PackOptions::new("t", NonZeroUsize::new(threads).unwrap());
    options.rows_per_shard = NonZeroU64::new(rows_per_shard).unwrap();
    options.exclude = exclude.to_vec();
    let temp = work_path(out.path(), &options);
    let summary = pack_as(inputs, out.path(), &temp, &options, cuts.plan(), &()).unwrap();
    let bytes = summary.shards.iter().map(|shard| fs::read(&shard.path).unwrap()).collect();
    // Nothing but the shards is left.
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), summary.shards.len());
    (summary, bytes)
}

fn read_back(shards: &[Vec<u8>]) -> Vec<NaiveRow> {
    let dir = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for (number, bytes) in shards.iter().enumerate() {
        let path = dir.path().join(format!("{number}.parquet"));
        fs::write(&path, bytes).unwrap();
        let reader = ShardReader::open(&path).unwrap();
        let mut rows = Rows::default();
        for group in 0..reader.row_groups() {
            reader.read_row_group(group, &mut rows).unwrap();
            let last = group + 1 == reader.row_groups();
            assert!(rows.len() == ROWS_PER_GROUP || last && !rows.is_empty());
            for row in 0..rows.len() {
                all.push(NaiveRow {
                    packed: rows.packed[row],
                    ply: rows.ply[row],
                    weight: rows.weight[row],
                    value_z: rows.value_z.get(row).copied().flatten(),
                    value_q: rows.value_q[row],
                    candidates: rows
                        .candidates(row)
                        .map(|at| (rows.mv[at], f64::from(rows.prob[at]), rows.cp.get(at).copied()))
                        .collect(),
                });
            }
        }
    }
    all
}

/// What the schema of each shard says of its outcomes.
fn outcomes(shards: &[Vec<u8>]) -> Vec<Outcomes> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let of = |bytes: &Vec<u8>| {
        fs::write(&path, bytes).unwrap();
        ShardReader::open(&path).unwrap().outcomes()
    };
    shards.iter().map(of).collect()
}

fn assert_rows(found: &[NaiveRow], expected: &[NaiveRow], source: PolicySource) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!((found.packed, found.ply, found.weight), (expected.packed, expected.ply, expected.weight));
        // The fold sums in steps of 2^-60, the twin in f64: the last bit of an f32 may differ.
        assert!((found.value_q - expected.value_q).abs() <= f32::EPSILON / 2.0, "{found:?} {expected:?}");
        match source {
            PolicySource::Visits => assert_eq!(found.value_z, expected.value_z),
            PolicySource::SoftmaxCp => assert!(found.value_z.is_none(), "a score shard has no value_z"),
        }
        let moves = |row: &NaiveRow| row.candidates.iter().map(|c| (c.0, c.2)).collect::<Vec<_>>();
        assert_eq!(moves(found), moves(expected), "{found:?} {expected:?}");
        for (found, expected) in found.candidates.iter().zip(&expected.candidates) {
            assert!((found.1 - expected.1).abs() < 1e-6, "{found:?} {expected:?}");
        }
    }
}

fn conventions() -> impl Strategy<Value = Conventions> {
    prop_oneof![
        Just(Conventions::VISITS),
        Just(Conventions::TEACHER),
        Just(Conventions { pov: Pov::Black, ..Conventions::TEACHER }),
        Just(Conventions { pov: Pov::Black, ..Conventions::VISITS }),
        Just(Conventions { mate_scale: 0, ..Conventions::TEACHER }),
    ]
}

/// In memory and out of core, with chunks of one item and buckets that have to be merged from pieces.
fn cuts() -> impl Strategy<Value = Cuts> {
    let buckets = prop_oneof![Just(1u32), Just(7), Just(4096)];
    let spools = prop_oneof![Just(1usize), Just(3), Just(64)];
    let chunk = prop_oneof![Just(1usize), Just(500), Just(1 << 16)];
    let load = prop_oneof![Just(1u64), Just(2000), Just(u64::MAX)];
    let stretch = prop_oneof![Just(1usize), Just(2), Just(100)];
    (any::<bool>(), buckets, spools, stretch, chunk, load).prop_map(
        |(in_memory, buckets, spools, stretch, chunk, load)| Cuts {
            in_memory,
            buckets,
            spools,
            stretch,
            chunk,
            load,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_cut_order_threads_and_plan_give_the_bytes_of_the_naive_fold(
        (conventions, mut records, order) in conventions().prop_flat_map(|conventions| {
            let records = prop::collection::vec(record(conventions.policy_source, 40), 0..200);
            (Just(conventions), records).prop_flat_map(|(conventions, records)| {
                let order = Just((0..records.len()).collect::<Vec<_>>()).prop_shuffle();
                (Just(conventions), Just(records), order)
            })
        }),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        threads in 1usize..5,
        cuts_of_the_run in cuts(),
        rows_per_shard in prop_oneof![Just(1u64), Just(7), Just(1000)],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let one = dir.path().join("one.mpk");
        write(&one, conventions, Compression::None, &records);
        let (summary, expected) = packed(vec![one], 1, Cuts::SIMPLE, rows_per_shard, &[]);
        let twin = naive(&records, &conventions, 100.0);
        assert_rows(&read_back(&expected), &twin, conventions.policy_source);
        prop_assert_eq!(summary.rows, twin.len() as u64);
        prop_assert_eq!(summary.records, records.len() as u64);
        let folded: u64 = twin.iter().map(|row| u64::from(row.weight)).sum();
        prop_assert_eq!(summary.refused_total(), records.len() as u64 - folded);
        let unknown = match conventions.policy_source {
            PolicySource::Visits => twin.iter().filter(|row| row.value_z.is_none()).count() as u64,
            PolicySource::SoftmaxCp => 0,
        };
        prop_assert_eq!(summary.rows_without_outcome, unknown);
        let schema = if unknown > 0 { Outcomes::SomeAbsent } else { Outcomes::Stated };
        prop_assert_eq!(outcomes(&expected), vec![schema; expected.len()]);
        prop_assert_eq!(summary.largest_weight, twin.iter().map(|row| row.weight).max().unwrap_or(0));

        // The same records in another order, cut into several files of both kinds.
        records = order.iter().map(|&at| records[at].clone()).collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(records.len() + 1)).collect();
        cuts.extend([0, records.len()]);
        cuts.sort_unstable();
        let inputs: Vec<PathBuf> = cuts
            .windows(2)
            .enumerate()
            .map(|(number, cut)| {
                let compression = if number % 2 == 0 { Compression::DEFAULT } else { Compression::None };
                let path = dir.path().join(format!("{number}"));
                write(&path, conventions, compression, &records[cut[0]..cut[1]]);
                path
            })
            .collect();
        let (_, found) = packed(inputs, threads, cuts_of_the_run, rows_per_shard, &[]);
        prop_assert_eq!(found, expected);
    }
}

/// Enough rows for several row groups in several spools, so that groups span spools and shards.
#[test]
fn groups_that_span_spools_and_shards_are_cut_exactly() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("many.mpk");
    let rows = 40_000u16;
    let records: Vec<Record> = (0..rows)
        .map(|number| Record {
            ply: number % 200,
            packed: position(number, number % 2 == 1),
            candidates: vec![Candidate { mv: Move16::from_bits(number % 81), visits: 0, cp: 10 }],
            ..Record::default()
        })
        .collect();
    write(&path, Conventions::TEACHER, Compression::None, &records);
    let (summary, one) = packed(vec![path.clone()], 1, Cuts::SIMPLE, 20_001, &[]);
    assert_eq!(summary.shards.iter().map(|shard| shard.rows).collect::<Vec<_>>(), [20_001, 19_999]);
    for (threads, buckets, spools, stretch) in
        [(2, 256, 7, 1), (4, 16, 100, 3), (3, 4096, 9, 2), (2, 8, 400, 16)]
    {
        for in_memory in [true, false] {
            let cuts = Cuts { in_memory, buckets, spools, stretch, chunk: 4096, load: 300_000 };
            assert_eq!(packed(vec![path.clone()], threads, cuts, 20_001, &[]).1, one, "{cuts:?}");
        }
    }
    let expected = naive(&records, &Conventions::TEACHER, 100.0);
    assert_rows(&read_back(&one), &expected, PolicySource::SoftmaxCp);
}

#[test]
fn a_move_twice_in_a_record_refuses_the_record_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("twice.mpk");
    let candidate = |to: u16| Candidate { mv: Move16::from_bits(40 << 7 | to), visits: 0, cp: 5 };
    let good = Record { candidates: vec![candidate(1), candidate(2)], ..Record::default() };
    let short = Record { candidates: vec![candidate(1), candidate(2), candidate(1)], ..good.clone() };
    let long = Record { candidates: (0..30).chain([7]).map(candidate).collect(), ..good.clone() };
    write(&path, Conventions::TEACHER, Compression::None, &[good, short, long]);
    let (summary, _) = packed(vec![path.clone()], 2, Cuts::SIMPLE, 10, &[]);
    assert_eq!((summary.records, summary.rows, summary.refused_total()), (3, 1, 2));
    assert_eq!(summary.refused["duplicate_move"], 2);
    let places: Vec<_> = summary.refused_first.iter().map(|r| (r.record, r.offset)).collect();
    assert_eq!(places, [(1, 24 + 108 + 16), (2, 24 + 108 + 16 + 108 + 24)]);
    assert!(summary.refused_first[0].detail.contains("5e9b"), "{:?}", summary.refused_first[0]);
}

#[test]
fn a_broken_record_is_named_as_the_reader_of_streams_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let candidate = Candidate { mv: Move16::from_bits(5), visits: 0, cp: 5 };
    let record = Record { candidates: vec![candidate; 1], ..Record::default() };
    // Several batches of them.
    let path = dir.path().join("a.mpk");
    write(&path, Conventions::TEACHER, Compression::None, &vec![record; 3000]);
    let (len, at) = (108 + 8, 24 + 2500 * (108 + 8));
    let good = fs::read(&path).unwrap();
    let mut no_outcome = good.clone();
    no_outcome[at + 2..][..4].copy_from_slice(&0.5f32.to_le_bytes());
    // Two streams, one behind the other, as `cat` would leave them.
    let two = [&good[..at], &good].concat();
    for (bytes, what) in [(no_outcome, "outcome"), (two, "header")] {
        fs::write(&path, &bytes).unwrap();
        let mut reader = StreamReader::open(&path).unwrap();
        let expected = loop {
            match reader.next_ref() {
                Ok(record) => assert!(record.is_some()),
                Err(error) => break error.to_string(),
            }
        };
        assert!(expected.contains(&format!("record 2500 at byte {at}")), "{expected}");
        let out = dir.path().join(what);
        fs::create_dir(&out).unwrap();
        let options = PackOptions::new("t", NonZeroUsize::MIN);
        let error = pack(vec![path.clone()], &out, &options, &()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(good.len(), 24 + 3000 * len);
}

/// Visits records of one position each, with these outcomes.
fn visited(number: u16, outcomes: &[f32]) -> Vec<Record> {
    let candidates = vec![Candidate { mv: Move16::from_bits(5), visits: 3, cp: NO_CP }];
    let record = |&value_z| Record {
        packed: position(number, false),
        value_z,
        candidates: candidates.clone(),
        ..Record::default()
    };
    outcomes.iter().map(record).collect()
}

#[test]
fn the_mean_outcome_is_over_the_records_that_state_one_and_null_where_none_does() {
    let dir = tempfile::tempdir().unwrap();
    let positions: [(&[f32], Option<f32>, u32); 5] = [
        (&[1.0, NO_OUTCOME, -1.0, 1.0], Some(1.0 / 3.0), 4),
        (&[NO_OUTCOME, NO_OUTCOME], None, 2),
        (&[0.0, NO_OUTCOME], Some(0.0), 2),
        (&[NO_OUTCOME], None, 1),
        (&[-1.0], Some(-1.0), 1),
    ];
    let records: Vec<Record> =
        (0..).zip(&positions).flat_map(|(number, (outcomes, ..))| visited(number, outcomes)).collect();
    let path = dir.path().join("a.mpk");
    write(&path, Conventions::VISITS, Compression::None, &records);
    for (in_memory, load) in [(true, u64::MAX), (false, u64::MAX), (false, 1)] {
        let cuts = Cuts { in_memory, buckets: 1, spools: 3, stretch: 2, chunk: 1, load };
        let (summary, shards) = packed(vec![path.clone()], 2, cuts, 2, &[]);
        assert_eq!((summary.rows, summary.rows_without_outcome), (5, 2));
        // One schema for all shards of a pack, whether or not a null is in them.
        assert_eq!(outcomes(&shards), [Outcomes::SomeAbsent; 3]);
        let rows = read_back(&shards);
        for (number, &(_, mean, weight)) in (0..).zip(&positions) {
            let row = rows.iter().find(|row| row.packed == *position(number, false).as_bytes()).unwrap();
            assert_eq!((row.value_z, row.weight), (mean, weight), "{number}");
        }
    }
}

#[test]
fn records_without_an_outcome_leave_no_trace_in_shards_whose_rows_all_have_one() {
    let dir = tempfile::tempdir().unwrap();
    let [two, three, scores] = ["two.mpk", "three.mpk", "scores.mpk"].map(|name| dir.path().join(name));
    write(&two, Conventions::VISITS, Compression::None, &visited(1, &[1.0]));
    write(&three, Conventions::VISITS, Compression::None, &visited(1, &[NO_OUTCOME]));
    let (summary, shards) = packed(vec![two, three.clone()], 2, Cuts::SIMPLE, 10, &[]);
    assert_eq!((summary.records, summary.rows, summary.rows_without_outcome), (2, 1, 0));
    assert_eq!(outcomes(&shards), [Outcomes::Stated]);
    let rows = read_back(&shards);
    assert_eq!((rows[0].value_z, rows[0].weight), (Some(1.0), 2));

    // Nor does an excluded position that had none.
    let held_out = dir.path().join("held-out.parquet");
    fs::write(&held_out, &packed(vec![three.clone()], 1, Cuts::SIMPLE, 10, &[]).1[0]).unwrap();
    let other = dir.path().join("other.mpk");
    write(&other, Conventions::VISITS, Compression::None, &visited(2, &[0.0]));
    let (summary, shards) = packed(vec![three, other], 2, Cuts::SIMPLE, 10, &[held_out]);
    assert_eq!((summary.rows, summary.excluded_positions, summary.rows_without_outcome), (1, 1, 0));
    assert_eq!(outcomes(&shards), [Outcomes::Stated]);

    // Score shards have no outcomes to leave out.
    let scored = Record {
        value_z: NO_OUTCOME,
        candidates: vec![Candidate { mv: Move16::from_bits(5), visits: 0, cp: 1 }],
        ..Record::default()
    };
    write(&scores, Conventions::TEACHER, Compression::None, &[scored]);
    let (summary, shards) = packed(vec![scores], 1, Cuts::SIMPLE, 10, &[]);
    assert_eq!((summary.rows, summary.rows_without_outcome), (1, 0));
    assert_eq!(outcomes(&shards), [Outcomes::Stated]);
}

#[test]
fn a_fold_of_no_records_leaves_one_shard_that_states_its_conventions() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("none.mpk");
    write(&path, Conventions { fv_scale: 28, ..Conventions::TEACHER }, Compression::None, &[]);
    let (summary, shards) = packed(vec![path], 2, Cuts::SIMPLE, 10, &[]);
    assert_eq!((summary.rows, shards.len()), (0, 1));
    assert!(read_back(&shards).is_empty());
    assert_eq!(summary.footer.conventions.fv_scale, 28);
}

#[test]
fn black_to_move_and_white_to_move_are_mirrored_under_a_black_point_of_view() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("black.mpk");
    let candidates = |cps: [i16; 2]| {
        let candidate = |at: u16, cp| Candidate { mv: Move16::from_bits(at), visits: 0, cp };
        vec![candidate(1, cps[0]), candidate(2, cps[1])]
    };
    let black =
        Record { packed: position(1, false), candidates: candidates([100, -100]), ..Record::default() };
    let white =
        Record { packed: position(1, true), candidates: candidates([100, -100]), ..Record::default() };
    let conventions = Conventions { pov: Pov::Black, ..Conventions::TEACHER };
    write(&path, conventions, Compression::None, &[black, white]);
    let (_, shards) = packed(vec![path], 1, Cuts::SIMPLE, 10, &[]);
    for row in read_back(&shards) {
        let best = if Packed::from_bytes(row.packed).side() == Color::Black { 1 } else { 2 };
        assert_eq!(row.candidates[0].0, best);
        assert!(row.candidates[0].1 > 0.85, "{row:?}");
    }
}

#[test]
fn excluded_positions_are_left_out_as_if_their_records_were_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let record = |number: u16, cp| Record {
        packed: position(number, false),
        candidates: vec![Candidate { mv: Move16::from_bits(5), visits: 0, cp }],
        ..Record::default()
    };
    let all: Vec<Record> = (0..500).flat_map(|number| [record(number % 400, 1), record(number, 4)]).collect();
    let (kept, held_out): (Vec<_>, Vec<_>) =
        all.iter().cloned().partition(|record| record.packed.as_bytes()[0] % 5 != 0);
    let [everything, rest, validation, twice] =
        ["all", "rest", "val", "twice"].map(|name| dir.path().join(name));
    write(&everything, Conventions::TEACHER, Compression::None, &all);
    write(&rest, Conventions::TEACHER, Compression::None, &kept);
    write(&validation, Conventions::TEACHER, Compression::None, &held_out);
    // Positions that the fold never meets may stand in the excluded shards too, and shards may overlap.
    write(&twice, Conventions::TEACHER, Compression::None, &[record(10_000, 1), held_out[0].clone()]);
    let mut shards = Vec::new();
    for (number, stream) in [validation, twice].into_iter().enumerate() {
        let path = dir.path().join(format!("{number}.parquet"));
        fs::write(&path, &packed(vec![stream], 1, Cuts::SIMPLE, 1_000_000, &[]).1[0]).unwrap();
        shards.push(path);
    }
    let expected = packed(vec![rest], 1, Cuts::SIMPLE, 100, &[]).1;
    for (in_memory, load) in [(true, u64::MAX), (false, u64::MAX), (false, 1000)] {
        let cuts = Cuts { in_memory, buckets: 5, spools: 3, stretch: 2, chunk: 300, load };
        let (summary, found) = packed(vec![everything.clone()], 2, cuts, 100, &shards);
        assert_eq!(found, expected);
        assert_eq!(summary.excluded_records, held_out.len() as u64);
        let mut positions: Vec<_> = held_out.iter().map(|record| record.packed).collect();
        positions.sort();
        positions.dedup();
        assert_eq!(summary.excluded_positions, positions.len() as u64);
        assert_eq!(summary.records, summary.rows + summary.folded_away() + summary.excluded_records);
    }
}
