//! What holds for all inputs: round trips, readers that agree, fast paths equal to their slow twins.

mod naive;
mod readers;
mod sample;

use manaka_core::conventions::{NO_CP, NO_OUTCOME, NO_VISITS, Softmax};
use manaka_core::sfen::Sfen;
use manaka_core::stream::{Candidate, Header, Record, RecordRef};
use manaka_core::{Conventions, Faults, Move16, Packed, PolicySource, Pov};
use proptest::prelude::*;
use readers::{by_decoder, by_stream, frames, in_every_way};

fn well_formed_move() -> impl Strategy<Value = Move16> {
    prop_oneof![
        (0u16..81, 0u16..81, 0u16..2).prop_map(|(from, to, promote)| promote << 14 | from << 7 | to),
        (81u16..88, 0u16..81).prop_map(|(origin, to)| origin << 7 | to),
    ]
    .prop_map(Move16::from_bits)
}

/// 96 bytes: anything, or a board of pieces with any hands.
fn any_packed() -> impl Strategy<Value = Packed> {
    prop_oneof![
        1 => proptest::array::uniform32(any::<u8>()).prop_flat_map(|a| {
            proptest::collection::vec(any::<u8>(), 64).prop_map(move |b| {
                let mut bytes = [0; 96];
                bytes[..32].copy_from_slice(&a);
                bytes[32..].copy_from_slice(&b);
                Packed::from_bytes(bytes)
            })
        }),
        4 => printable_packed(),
    ]
}

/// A position, sound or not, that an SFEN can hold. Mostly few pieces, so that faults come singly too.
fn printable_packed() -> impl Strategy<Value = Packed> {
    let piece = |empty: u32| {
        prop_oneof![
            empty => Just(0xFFu8),
            1 => (0u8..14, 0u8..2).prop_map(|(kind, color)| kind | color << 4),
        ]
    };
    let board = prop_oneof![
        proptest::collection::vec(piece(1), 81),
        proptest::collection::vec(piece(4), 81),
        proptest::collection::vec(piece(30), 81),
    ];
    let count = || prop_oneof![8 => Just(0u8), 2 => 1u8..5, 1 => any::<u8>()];
    (board, proptest::collection::vec(count(), 14), 0u8..2).prop_map(|(board, hands, side)| {
        let mut packed = Packed::empty();
        packed.as_bytes_mut()[..81].copy_from_slice(&board);
        packed.as_bytes_mut()[81..95].copy_from_slice(&hands);
        packed.as_bytes_mut()[95] = side;
        packed
    })
}

fn conventions() -> impl Strategy<Value = Conventions> {
    let scale = prop_oneof![
        Just((0, 0)),
        (321u16..=u16::MAX).prop_map(|scale| (scale, 0)),
        (2u16..=u16::MAX).prop_flat_map(|scale| (Just(scale), 1..scale)),
    ];
    (any::<bool>(), any::<bool>(), scale, any::<u16>(), 0.0f32..1e6).prop_map(
        |(black, visits, (mate_scale, mate_slack), fv_scale, eval_coef)| {
            let pov = if black { Pov::Black } else { Pov::SideToMove };
            if visits {
                Conventions { pov, ..Conventions::VISITS }
            } else {
                let policy_source = PolicySource::SoftmaxCp;
                Conventions { pov, policy_source, mate_scale, mate_slack, fv_scale, eval_coef }
            }
        },
    )
}

/// A record that every rule of version 3 allows.
fn valid_record(source: PolicySource) -> impl Strategy<Value = Record> {
    let candidate = (well_formed_move(), 1..=u32::MAX, -32767..=i16::MAX).prop_map(
        move |(mv, visits, cp)| match source {
            PolicySource::Visits => Candidate { mv, visits, cp: NO_CP },
            PolicySource::SoftmaxCp => Candidate { mv, visits: NO_VISITS, cp },
        },
    );
    (
        any::<u16>(),
        prop_oneof![4 => Just(1.0f32), 4 => Just(-1.0), 4 => Just(0.0), 4 => Just(-0.0), 1 => Just(NO_OUTCOME)],
        -1.0f32..=1.0,
        any_packed(),
        proptest::collection::vec(candidate, 1..9),
    )
        .prop_map(|(ply, value_z, value_q, packed, candidates)| Record {
            ply,
            value_z,
            value_q,
            packed,
            candidates,
        })
}

fn valid_stream() -> impl Strategy<Value = (Conventions, Vec<Record>)> {
    conventions().prop_flat_map(|conventions| {
        let records = proptest::collection::vec(valid_record(conventions.policy_source), 0..6);
        (Just(conventions), records)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 400 } else { 4000 }))]

    #[test]
    fn a_header_decodes_to_what_was_encoded(conventions in conventions()) {
        prop_assert_eq!(conventions.inconsistency(), None);
        for header in [Header::new(conventions), Header::new(conventions).allowing_absent_outcomes()] {
            prop_assert_eq!(Header::decode(&header.encode()).unwrap(), header);
        }
        prop_assert_eq!(conventions.conflict(&conventions), None);
        prop_assert!(conventions.mate_threshold().is_none_or(|threshold| threshold > 0));
    }

    #[test]
    fn a_header_that_decodes_encodes_to_the_same_conventions(
        mut bytes in proptest::array::uniform24(any::<u8>()),
        sound in 0usize..=10,
    ) {
        // Random bytes stop at the magic; a sound beginning lets the later fields be reached.
        let good = [b'M', b'P', b'K', b'1', 2, 0, 96, 0, 0, 1];
        bytes[..sound].copy_from_slice(&good[..sound]);
        if sound == 10 {
            bytes[20..].fill(0);
        }
        if let Ok(header) = Header::decode(&bytes) {
            let again = Header::decode(&header.encode()).unwrap();
            prop_assert_eq!(again.conventions, header.conventions);
        }
    }

    #[test]
    fn a_record_decodes_to_what_was_encoded(record in valid_record(PolicySource::SoftmaxCp)) {
        let bytes = readers::encode(&record);
        let view = RecordRef::frame(&bytes).unwrap();
        let old = view.validate(&Header::new(Conventions::TEACHER));
        prop_assert_eq!(old.is_ok(), record.outcome().is_some());
        prop_assert_eq!(view.validate(&Header::new(Conventions::TEACHER).allowing_absent_outcomes()), Ok(()));
        let mut read = Record::default();
        view.read_into(&mut read);
        // By bits: the sign of a draw stays.
        prop_assert_eq!(readers::encode(&read), bytes);
        prop_assert_eq!(read, record);
    }

    #[test]
    fn every_reader_sees_the_same_of_a_damaged_stream_however_it_is_split(
        (conventions, records) in valid_stream(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        keep in any::<prop::sample::Index>(),
        (whole, version) in (any::<bool>(), 1u8..=3),
        mut cuts in proptest::collection::vec(0usize..1200, 0..8),
        step in 1usize..300,
    ) {
        let mut bytes = sample::stream(conventions, &records);
        bytes[4] = version;
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if !whole {
            bytes.truncate(keep.index(bytes.len() + 1));
        }
        let dir = tempfile::tempdir().unwrap();
        let events = in_every_way(&bytes, &dir.path().join("a.mpk"));
        cuts.sort_unstable();
        prop_assert_eq!(&by_decoder(&bytes, cuts), &events);
        prop_assert_eq!(&by_stream(&frames(&bytes, step)[..]), &events);
    }

    #[test]
    fn the_faults_of_a_position_are_those_of_the_slow_twin(packed in any_packed()) {
        prop_assert_eq!(packed.faults(), Faults::from_iter(naive::faults(&packed)));
        prop_assert_eq!(packed.faults().iter().collect::<Vec<_>>(), naive::faults(&packed));
    }

    #[test]
    fn a_position_survives_its_sfen_sound_or_not(packed in printable_packed(), ply in any::<Option<u32>>()) {
        let text = packed.sfen(ply).to_string();
        prop_assert_eq!(Sfen::parse(&text), Ok(Sfen { packed, ply }));
        let sound = packed.faults().is_empty();
        prop_assert_eq!(Packed::from_sfen(&text).is_ok(), sound);
    }

    #[test]
    fn an_sfen_with_one_byte_changed_is_refused_or_says_the_same_when_printed(
        packed in printable_packed(), at in any::<prop::sample::Index>(), byte in 0x20u8..0x7f,
    ) {
        let mut text = packed.sfen(Some(1)).to_string().into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        let text = String::from_utf8(text).unwrap();
        if let Ok(sfen) = Sfen::parse(&text) {
            prop_assert_eq!(Sfen::parse(&sfen.packed.sfen(sfen.ply).to_string()), Ok(sfen));
        }
    }

    #[test]
    fn any_text_is_parsed_without_a_panic(text in any::<String>()) {
        let _ = Sfen::parse(&text);
        let _ = Move16::from_usi(&text);
    }

    #[test]
    fn value_q_is_bounded_odd_and_does_not_fall(cp in -32767i16..=i16::MAX, conventions in conventions()) {
        let conventions = Conventions { eval_coef: conventions.eval_coef + 1.0, ..conventions };
        let value = conventions.value_q(cp);
        prop_assert!((-1.0..=1.0).contains(&value));
        prop_assert_eq!(value, -conventions.value_q(-cp));
        prop_assert!(cp == i16::MAX || conventions.value_q(cp + 1) >= value);
        let formula = (f64::from(cp) / f64::from(conventions.eval_coef)).tanh();
        prop_assert!(conventions.is_mate(cp) || (f64::from(value) - formula).abs() < 1e-7);
    }

    #[test]
    fn a_softmax_is_a_distribution_in_the_order_of_its_scores(
        mut scores in proptest::collection::vec(-32767i16..=i16::MAX, 1..20), temperature in 0.1f64..2000.0,
    ) {
        scores.sort_unstable_by(|a, b| b.cmp(a));
        let mut probs = Vec::new();
        Softmax::new(temperature).unwrap().probs(&scores, &mut probs);
        prop_assert!((probs.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        prop_assert!(probs.is_sorted_by(|a, b| a >= b));
        let best = f64::from(scores[0]);
        let weights: Vec<f64> = scores.iter().map(|&cp| ((f64::from(cp) - best) / temperature).exp()).collect();
        let sum: f64 = weights.iter().sum();
        for (prob, weight) in probs.iter().zip(weights) {
            prop_assert!((f64::from(*prob) - weight / sum).abs() < 1e-7);
        }
    }
}

#[test]
fn every_two_and_three_byte_start_of_a_file_is_named_without_a_panic() {
    for a in 0..=255u8 {
        for b in [0, b'P', 0x2A, 0xB5, 0xFF] {
            for bytes in [vec![a], vec![a, b], vec![a, b, b'K'], vec![a, b, b'K', b'1']] {
                let event = &by_stream(&bytes[..])[0];
                let readers::Event::Fault(fault) = event else { panic!("{bytes:?}") };
                let kinds = ["truncated", "magic"];
                assert!(kinds.contains(&fault.kind), "{bytes:?}: {}", fault.kind);
            }
        }
    }
}
