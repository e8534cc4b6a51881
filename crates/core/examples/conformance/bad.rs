//! Streams that every reader must refuse, each for one reason.

use super::vectors::{Head, Rec, V4, VISITS, late, start, stored, stream, visited};

pub struct Bad {
    pub file: String,
    pub bytes: Vec<u8>,
    pub kind: &'static str,
    pub place: Vec<(&'static str, usize)>,
}

pub fn bad() -> Vec<Bad> {
    let mut bad = Vec::new();
    bad_headers(&mut bad);
    bad_frames(&mut bad);
    bad_records(&mut bad);
    bad_zstd(&mut bad);
    bad
}

fn bad_headers(bad: &mut Vec<Bad>) {
    let mut of = |file: &str, kind, bytes: Vec<u8>| {
        bad.push(Bad { file: format!("{file}.mpk"), bytes, kind, place: vec![("offset", 0), ("before", 0)] });
    };
    let head = |head: Head| stream(&head, &[start()]);
    let whole = head(V4);
    let v1 = Head { version: 1, ..V4 };
    of("empty", "empty", vec![]);
    of("header_cut_to_1", "truncated", whole[..1].to_vec());
    of("header_cut_to_23", "truncated", whole[..23].to_vec());
    of("magic", "magic", [b"MPK2", &whole[4..]].concat());
    of("magic_short", "magic", b"PAR1".to_vec());
    of("version_0", "version", head(Head { version: 0, ..V4 }));
    of("version_4", "version", head(Head { version: 4, ..V4 }));
    of("packed_len_95", "packed_len", head(Head { packed_len: 95, ..V4 }));
    of("pov_2", "pov", head(Head { pov: 2, ..V4 }));
    of("policy_source_2", "policy_source", head(Head { policy_source: 2, ..V4 }));
    of("version_1_reserved", "reserved", head(v1));
    of("flags_1", "flags", head(Head { flags: 1, ..V4 }));
    of("flags_high", "flags", head(Head { flags: 1 << 31, ..V4 }));
    of("eval_coef_nan", "inconsistent_header", head(Head { eval_coef: f32::NAN, ..V4 }));
    of("eval_coef_infinite", "inconsistent_header", head(Head { eval_coef: f32::INFINITY, ..V4 }));
    of("eval_coef_negative", "inconsistent_header", head(Head { eval_coef: -600.0, ..V4 }));
    of("slack_at_scale", "inconsistent_header", head(Head { mate_slack: 32000, ..V4 }));
    of("slack_without_scale", "inconsistent_header", head(Head { mate_scale: 0, ..V4 }));
    of("scale_below_fallback", "inconsistent_header", head(Head { mate_scale: 320, mate_slack: 0, ..V4 }));
    of("first_of_two_faults", "pov", head(Head { pov: 9, policy_source: 9, flags: 9, ..V4 }));
}

fn bad_frames(bad: &mut Vec<Bad>) {
    let scores = stream(&V4, &[start(), late()]);
    let border = stream(&V4, &[start()]).len();
    let mut of = |file: &str, kind, bytes: Vec<u8>, before, offset| {
        let place = vec![("record", before), ("offset", offset), ("before", before)];
        bad.push(Bad { file: format!("{file}.mpk"), bytes, kind, place });
    };
    of("cut_first_byte", "truncated", scores[..25].to_vec(), 0, 24);
    of("cut_in_fixed_part", "truncated", scores[..border + 11].to_vec(), 1, border);
    of("cut_in_position", "truncated", scores[..border + 60].to_vec(), 1, border);
    of("cut_before_candidates", "truncated", scores[..border + 108].to_vec(), 1, border);
    of("cut_in_candidates", "truncated", scores[..scores.len() - 1].to_vec(), 1, border);
    let lying = [stream(&V4, &[start()]), late().bytes_counting(65535)].concat();
    of("count_65535_at_end", "truncated", lying, 1, border);
    of("concatenated", "second_header", [&scores[..], &scores[..]].concat(), 2, scores.len());
    let visits = stream(&VISITS, &[visited(start())]);
    of("concatenated_visits", "second_header", [&visits[..], &visits[..]].concat(), 1, visits.len());
    let third = stream(&Head { version: 3, ..V4 }, &[Rec { value_z: 2.0, ..start() }]);
    of("concatenated_version_3", "second_header", [&third[..], &third[..]].concat(), 1, third.len());
    of("concatenated_and_cut", "second_header", [&scores[..], &scores[..4]].concat(), 2, scores.len());
}

fn bad_records(bad: &mut Vec<Bad>) {
    let mut of = |file: &str, kind, head: &Head, breaks: &dyn Fn(&mut Rec)| {
        let sound = |record| if head.policy_source == 0 { visited(record) } else { record };
        let mut records = vec![sound(start()), sound(late()), sound(start())];
        breaks(&mut records[1]);
        let offset = stream(head, &records[..1]).len();
        let place = vec![("record", 1), ("offset", offset), ("before", 1), ("behind", 1)];
        bad.push(Bad { file: format!("{file}.mpk"), bytes: stream(head, &records), kind, place });
    };
    of("no_candidates", "no_candidates", &V4, &|r| r.candidates.clear());
    of("value_z_half", "value_z", &V4, &|r| r.value_z = 0.5);
    of("value_z_nan", "value_z", &V4, &|r| r.value_z = f32::NAN);
    of("value_z_tiny", "value_z", &V4, &|r| r.value_z = f32::from_bits(1));
    let version_1 = Head { version: 1, mate_slack: 0, ..V4 };
    let version_3 = Head { version: 3, ..V4 };
    of("absent_outcome_version_1", "value_z", &version_1, &|r| r.value_z = 2.0);
    of("absent_outcome_version_2", "value_z", &V4, &|r| r.value_z = 2.0);
    of("absent_outcome_visits_version_2", "value_z", &VISITS, &|r| r.value_z = 2.0);
    of("absent_outcome_negated", "value_z", &version_3, &|r| r.value_z = -2.0);
    of("value_z_near_2_version_3", "value_z", &version_3, &|r| r.value_z = f32::from_bits(0x3FFF_FFFF));
    of("value_z_half_version_3", "value_z", &version_3, &|r| r.value_z = 0.5);
    of("value_z_nan_version_3", "value_z", &version_3, &|r| r.value_z = f32::NAN);
    of("value_q_nan", "value_q", &V4, &|r| r.value_q = f32::NAN);
    of("value_q_infinite", "value_q", &V4, &|r| r.value_q = f32::NEG_INFINITY);
    of("value_q_above_1", "value_q", &V4, &|r| r.value_q = f32::from_bits(0x3F80_0001));
    of("move_bit_15", "move16", &V4, &|r| r.candidates[2].0 |= 1 << 15);
    of("move_to_81", "move16", &V4, &|r| r.candidates[0].0 = 10 << 7 | 81);
    of("move_origin_88", "move16", &V4, &|r| r.candidates[0].0 = 88 << 7 | 10);
    of("move_promoting_drop", "move16", &V4, &|r| r.candidates[1].0 |= 1 << 14);
    of("some_visits", "some_visits", &VISITS, &|r| r.candidates[1].1 = 0);
    of("some_visits_among_scores", "some_visits", &V4, &|r| r.candidates[1].1 = 1);
    of("some_cp", "some_cp", &V4, &|r| r.candidates[2].2 = i16::MIN);
    of("missing_cp", "missing_half", &V4, &|r| r.candidates.iter_mut().for_each(|c| c.2 = i16::MIN));
    of("missing_visits", "missing_half", &VISITS, &|r| r.candidates.iter_mut().for_each(|c| c.1 = 0));
    of("visits_beside_scores", "foreign_half", &V4, &|r| r.candidates.iter_mut().for_each(|c| c.1 = 1));
    of("scores_beside_visits", "foreign_half", &VISITS, &|r| r.candidates.iter_mut().for_each(|c| c.2 = 0));
    of("two_broken_rules", "value_z", &V4, &|r| (r.value_z, r.value_q) = (0.5, 2.0));
}

fn bad_zstd(bad: &mut Vec<Bad>) {
    let mut of = |file: &str, kind, bytes, place: &[_]| {
        bad.push(Bad { file: format!("{file}.mpk.zst"), bytes, kind, place: place.to_vec() });
    };
    let one = stream(&V4, &[start()]);
    let frame = stored(&one);
    // The same frame with the checksum flag, and a wrong checksum.
    let mut checked = [&frame[..], &[0xDE, 0xAD, 0xBE, 0xEF]].concat();
    checked[4] |= 4;
    of("zstd_checksum", "compression", checked, &[]);
    of("zstd_garbage_behind", "compression", [&frame[..], b"garbage"].concat(), &[]);
    of("zstd_empty", "empty", stored(b""), &[("offset", 0), ("before", 0)]);
    let at_end = [("record", 1), ("offset", one.len()), ("before", 1)];
    // A frame that promises another block behind the last whole record.
    let mut open = frame.clone();
    open[6] &= !1;
    of("zstd_cut_at_a_record", "truncated", open, &at_end);
    let cut = [&frame[..], &stored(&late().bytes())[..40]].concat();
    of("zstd_cut_in_a_record", "truncated", cut, &at_end);
    of("zstd_concatenated", "second_header", [&frame[..], &frame[..]].concat(), &at_end);
    of(
        "zstd_not_a_stream",
        "magic",
        stored(b"a text, compressed for no reason"),
        &[("offset", 0), ("before", 0)],
    );
}
