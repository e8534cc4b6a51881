//! Which records and rows conditions take: each condition by itself, at both of its ends, and against a naive twin.

use manaka_core::conventions::{NO_CP, NO_VISITS};
use manaka_core::select::{Candidates, Data, Item, Outcome, Select, Within};
use manaka_core::stream::{Candidate, Record, RecordRef};
use manaka_core::{Color, Conventions, Move16, Packed, Pov};
use proptest::prelude::*;

const KINGS: &str = "4k4/9/9/9/9/9/9/9/4K4 b R 7";

fn scored(usi: &str, cp: i16) -> Candidate {
    Candidate { mv: Move16::from_usi(usi).unwrap(), visits: NO_VISITS, cp }
}

fn record() -> Record {
    Record {
        ply: 20,
        value_z: 1.0,
        value_q: 0.5,
        packed: Packed::from_sfen(KINGS).unwrap().0,
        candidates: vec![scored("5i5h", 120), scored("R*5e", -300), scored("5i4h", 200)],
    }
}

fn select(text: &str) -> Select {
    text.parse().unwrap()
}

/// Whether a record of a stream of scores meets conditions.
fn takes(text: &str, record: &Record) -> bool {
    takes_under(text, record, &Conventions::TEACHER)
}

fn takes_under(text: &str, record: &Record, conventions: &Conventions) -> bool {
    let matcher = select(text).on(Data::Stream(conventions)).unwrap();
    let taken = matcher.matches(&Item::from(record));
    // The same record as its bytes.
    let mut bytes = Vec::new();
    record.encode(&mut bytes).unwrap();
    let borrowed = RecordRef::frame(&bytes).unwrap();
    assert_eq!(matcher.matches(&Item::from(borrowed)), taken, "{text}");
    taken
}

#[test]
fn without_conditions_everything_is_taken() {
    assert!(takes("", &record()) && takes("  ", &record()) && select("").is_all());
    assert!(!select("mate").is_all());
}

#[test]
fn both_ends_of_a_range_belong_to_it() {
    for (text, least, most) in [("16..46", 16, 46), ("16..", 16, 65535), ("..46", 0, 46), ("46", 46, 46)] {
        for ply in [0, 15, 16, 17, 45, 46, 47, 65535] {
            let record = Record { ply, ..record() };
            assert_eq!(takes(&format!("ply={text}"), &record), (least..=most).contains(&ply), "{text} {ply}");
        }
    }
    for (text, taken) in [("0.5..1", true), ("-1..0.5", true), ("0.5", true), ("0.500001..", false)] {
        assert_eq!(takes(&format!("value-q={text}"), &record()), taken, "{text}");
    }
}

#[test]
fn candidates_are_counted_and_looked_through() {
    for (text, taken) in [
        ("min-candidates=3 max-candidates=3", true),
        ("min-candidates=4", false),
        ("max-candidates=2", false),
        ("move=R*5e", true),
        ("move=5i4h", true),
        ("move=5i4h+", false),
        ("move=G*5e", false),
    ] {
        assert_eq!(takes(text, &record()), taken, "{text}");
    }
}

#[test]
fn the_best_score_for_the_mover_is_the_one_a_range_of_cp_is_asked_of() {
    assert!(takes("cp=200", &record()) && !takes("cp=..199", &record()));
    let white = Record { packed: Packed::from_sfen(&KINGS.replace(" b ", " w ")).unwrap().0, ..record() };
    assert!(takes("cp=200", &white));
    // In Black's view White's best is the lowest.
    let black_view = Conventions { pov: Pov::Black, ..Conventions::TEACHER };
    assert!(takes_under("cp=-300", &white, &black_view) && takes_under("cp=200", &record(), &black_view));
}

#[test]
fn a_mate_is_one_by_the_conventions_of_the_stream() {
    let with = |cp| Record { candidates: vec![scored("5i5h", 0), scored("R*5e", cp)], ..record() };
    for (cp, mate) in [(29_680, true), (29_679, false), (-29_680, true), (-29_679, false), (i16::MAX, true)] {
        assert_eq!(takes("mate", &with(cp)), mate, "{cp}");
    }
    let other = Conventions { mate_scale: 32_000, mate_slack: 100, ..Conventions::TEACHER };
    assert!(!takes_under("mate", &with(31_899), &other) && takes_under("mate", &with(-31_900), &other));
    // The marker of a score that is not there is no mate, though it is far below the scale.
    assert!(!takes("mate", &with(NO_CP)));
}

#[test]
fn a_position_is_compared_without_its_move_number_and_in_every_byte() {
    for sfen in [KINGS, "4k4/9/9/9/9/9/9/9/4K4 b R", "4k4/9/9/9/9/9/9/9/4K4 b R 300"] {
        assert!(takes(&format!("sfen='{sfen}'"), &record()) && takes(&format!("sfen=\"{sfen}\""), &record()));
    }
    for sfen in
        ["4k4/9/9/9/9/9/9/9/4K4 w R", "4k4/9/9/9/9/9/9/9/4K4 b 2R", "4k4/9/9/9/9/9/9/9/3K5 b R", "startpos"]
    {
        assert!(!takes(&format!("sfen='{sfen}'"), &record()), "{sfen}");
    }
    let start = Packed::from_sfen(manaka_core::sfen::STARTPOS).unwrap().0;
    assert!(takes("sfen=startpos", &Record { packed: start, ..record() }));
    // A position that is none can be looked for.
    let unsound = Record {
        packed: manaka_core::sfen::Sfen::parse("9/9/9/9/9/9/9/9/9 b -").unwrap().packed,
        ..record()
    };
    assert!(takes("sfen='9/9/9/9/9/9/9/9/9 b -'", &unsound));
}

#[test]
fn sides_and_outcomes_are_told_apart() {
    assert!(takes("side=b", &record()) && !takes("side=w", &record()));
    for (value_z, name) in [(-1.0, "-1"), (0.0, "0"), (-0.0, "0"), (1.0, "1")] {
        for asked in ["-1", "0", "1", "none"] {
            let taken = takes(&format!("value-z={asked}"), &Record { value_z, ..record() });
            assert_eq!(taken, asked == name, "{value_z} {asked}");
        }
    }
    // A folded row's mean is no outcome unless all of its games ended alike; a row without one has `none`.
    let folded = |value_z| {
        let record = record();
        let item = Item { value_z, ..Item::from(&record) };
        ["-1", "0", "1", "none"].map(|z| {
            select(&format!("value-z={z}")).on(Data::Shard(&Conventions::VISITS)).unwrap().matches(&item)
        })
    };
    assert_eq!(folded(Some(0.5)), [false; 4]);
    assert_eq!(folded(None), [false, false, false, true]);
    assert_eq!(folded(Some(1.0)), [false, false, true, false]);
}

#[test]
fn a_record_of_a_stream_weighs_one() {
    assert!(takes("min-weight=1 max-weight=1", &record()));
    assert!(!takes("min-weight=2", &record()) && !takes("max-weight=0", &record()));
    let (mv, cp) = ([Move16::from_usi("5i5h").unwrap().bits()], [-29_990]);
    let record = record();
    let row = Item { weight: 7, candidates: Candidates::Columns { mv: &mv, cp: &cp }, ..Item::from(&record) };
    let shard = |text: &str| select(text).on(Data::Shard(&Conventions::TEACHER)).unwrap().matches(&row);
    assert!(shard("min-weight=7 max-weight=7 mate move=5i5h cp=-29990 max-candidates=1"));
    assert!(!shard("min-weight=8") && !shard("max-weight=6") && !shard("move=5i4h"));
}

#[test]
fn a_score_of_the_root_comes_before_those_of_candidates() {
    let record = record();
    let item = Item { root: Some(-5), ..Item::from(&record) };
    let corpus = |text: &str| select(text).on(Data::Corpus).unwrap().matches(&item);
    assert!(corpus("cp=-5") && !corpus("cp=200"));
}

#[test]
fn what_the_data_has_nothing_for_is_refused_by_name() {
    let unscaled = Conventions { mate_scale: 0, ..Conventions::TEACHER };
    for (text, data, expected) in [
        ("mate", Data::Corpus, "mate cannot be asked of this corpus: it states no scale that mates are on"),
        (
            "mate",
            Data::Psv,
            "mate cannot be asked of this raw PSV file: it states no scale that mates are on",
        ),
        (
            "mate",
            Data::Stream(&unscaled),
            "mate cannot be asked of this stream: it states no scale that mates are on",
        ),
        (
            "mate",
            Data::Shard(&Conventions::VISITS),
            "mate cannot be asked of this shard: it states no scale that mates are on",
        ),
        (
            "cp=0..",
            Data::Stream(&Conventions::VISITS),
            "cp cannot be asked of this stream: its candidates have visits and no scores",
        ),
        ("value-q=0..", Data::Corpus, "value-q cannot be asked of this corpus: it has scores and no values"),
        (
            "value-z=1",
            Data::Shard(&Conventions::TEACHER),
            "value-z cannot be asked of this shard: rows of scores have no outcomes",
        ),
    ] {
        assert_eq!(select(text).on(data).unwrap_err().to_string(), expected);
    }
    // A visits stream that declares a scale it does not use has no mates all the same.
    let odd = Conventions { mate_scale: 30_000, ..Conventions::VISITS };
    assert!(select("mate").on(Data::Stream(&odd)).is_err());
    for (text, data) in [
        ("value-z=none", Data::Shard(&Conventions::TEACHER)),
        ("value-z=1", Data::Shard(&Conventions::VISITS)),
        ("value-z=1 cp=0 min-weight=2", Data::Corpus),
        ("value-z=1 cp=0 min-weight=2", Data::Psv),
    ] {
        assert!(select(text).on(data).is_ok(), "{text}");
    }
}

#[test]
fn a_text_that_is_no_condition_is_refused_with_what_is_wrong() {
    for (text, expected) in [
        (
            "plies=3",
            "\"plies\" is no condition; there are ply, min-weight, max-weight, mate, sfen, side, value-q, value-z, min-candidates, max-candidates, move, cp",
        ),
        ("ply", "ply needs a value: ply=…"),
        ("mate=1", "mate takes no value"),
        ("ply=1..2 ply=3", "ply stands twice"),
        ("mate mate", "mate stands twice"),
        ("ply=16..x", "ply=16..x: \"x\" is no number from 0 to 65535"),
        ("ply=-1", "ply=-1: \"-1\" is no number from 0 to 65535"),
        ("ply=65536..", "ply=65536..: \"65536\" is no number from 0 to 65535"),
        ("ply=..", "ply=..: a range needs an end: 16..46, 16.., ..46 or 46, both ends included"),
        ("ply=46..16", "ply=46..16: 46 is above 16"),
        ("ply=", "ply=: \"\" is no number from 0 to 65535"),
        ("ply=1..=2", "ply=1..=2: \"=2\" is no number from 0 to 65535"),
        ("cp=40000", "cp=40000: \"40000\" is no number from -32768 to 32767"),
        ("value-q=nan", "value-q=nan: \"nan\" is no number from -1 to 1"),
        ("value-q=-inf..", "value-q=-inf..: \"-inf\" is no number from -1 to 1"),
        ("value-q=2", "value-q=2: \"2\" is no number from -1 to 1"),
        ("value-z=2", "value-z=2: an outcome is -1, 0, 1 or none"),
        ("side=x", "side=x: a side is b (Black, 先手) or w (White, 後手)"),
        ("move=7g7f7", "move=7g7f7: a move is USI: 7g7f, 8h2b+, P*5e"),
        ("min-weight=x", "min-weight=x: invalid digit found in string"),
        ("sfen='9 b -'", "sfen=9 b -: malformed SFEN at byte 1: a board must have nine ranks"),
        ("sfen='4k4", "the quote that begins at '4k4 does not end"),
    ] {
        assert_eq!(text.parse::<Select>().unwrap_err().to_string(), expected);
    }
}

#[test]
fn two_sets_of_conditions_are_joined_unless_they_speak_of_the_same() {
    let joined = select("ply=1..2 mate").and(select("side=w cp=..0")).unwrap();
    assert_eq!(joined, select("mate cp=..0 side=w ply=1..2"));
    for (name, text) in [
        ("ply", "ply=1"),
        ("min-weight", "min-weight=1"),
        ("max-weight", "max-weight=1"),
        ("sfen", "sfen=startpos"),
        ("side", "side=b"),
        ("value-q", "value-q=0"),
        ("value-z", "value-z=0"),
        ("min-candidates", "min-candidates=1"),
        ("max-candidates", "max-candidates=1"),
        ("move", "move=7g7f"),
        ("cp", "cp=1"),
    ] {
        assert_eq!(select(text).and(select(text)).unwrap_err().to_string(), format!("{name} stands twice"));
        assert_eq!(select(text).and(Select::default()).unwrap(), select(text));
        assert_eq!(Select::default().and(select(text)).unwrap(), select(text));
    }
    assert!(select("mate").and(select("mate")).unwrap().mate);
}

#[test]
fn a_range_without_numbers_cannot_be_made() {
    assert!(Within::new(3u16, 2).is_none() && Within::new(f32::NAN, 1.0).is_none());
    assert!(Within::new(2u16, 2).is_some_and(|plies| plies.contains(2)));
}

prop_compose! {
    fn any_record()(
        ply in 0u16..8,
        value_z in prop_oneof![Just(-1.0f32), Just(0.0), Just(1.0)],
        value_q in (-4i8..=4).prop_map(|q| f32::from(q) / 4.0),
        white in any::<bool>(),
        rook in any::<bool>(),
        candidates in prop::collection::vec((0u8..3, prop_oneof![-2i16..3, Just(29_990)]), 1..4),
    ) -> Record {
        let sfen = format!(
            "4k4/9/9/9/9/9/9/9/4K4 {} {}", if white { 'w' } else { 'b' }, if rook { "R" } else { "-" },
        );
        let moves = ["5i5h", "R*5e", "5i4h"];
        Record {
            ply,
            value_z,
            value_q,
            packed: Packed::from_sfen(&sfen).unwrap().0,
            candidates: candidates.into_iter().map(|(mv, cp)| scored(moves[usize::from(mv)], cp)).collect(),
        }
    }
}

/// Terms and what they mean, written down a second time.
type Term = (&'static str, fn(&Record) -> bool);
const TERMS: [Term; 12] = [
    ("ply=2..5", |r| r.ply >= 2 && r.ply <= 5),
    ("min-weight=1", |_| true),
    ("max-weight=1", |_| true),
    ("mate", |r| r.candidates.iter().any(|c| i32::from(c.cp).abs() >= 30_000 - 320)),
    ("sfen='4k4/9/9/9/9/9/9/9/4K4 w R 3'", |r| {
        r.packed.sfen(None).to_string() == "4k4/9/9/9/9/9/9/9/4K4 w R"
    }),
    ("side=w", |r| r.packed.side() == Color::White),
    ("value-q=-0.5..0.25", |r| [-0.5, -0.25, 0.0, 0.25].contains(&r.value_q)),
    ("value-z=-1", |r| r.value_z < 0.0),
    ("min-candidates=2", |r| r.candidates.len() > 1),
    ("max-candidates=2", |r| r.candidates.len() < 3),
    ("move=R*5e", |r| r.candidates.iter().any(|c| c.mv.to_string() == "R*5e")),
    ("cp=0..1", |r| {
        let mut cp: Vec<i16> = r.candidates.iter().map(|c| c.cp).collect();
        cp.sort_unstable();
        [0, 1].contains(cp.last().unwrap())
    }),
];

proptest! {
    #[test]
    fn conditions_together_take_what_each_of_them_takes(
        record in any_record(),
        chosen in prop::sample::subsequence((0..TERMS.len()).collect::<Vec<_>>(), 0..4).prop_shuffle(),
    ) {
        let text: Vec<_> = chosen.iter().map(|&at| TERMS[at].0).collect();
        let expected = chosen.iter().all(|&at| TERMS[at].1(&record));
        prop_assert_eq!(takes(&text.join(" "), &record), expected);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in ".*", terms in "(ply|sfen|move|mate)?=?['\"]?[^ ]{0,6}['\"]? ?ply=1") {
        let _ = text.parse::<Select>();
        let _ = terms.parse::<Select>();
    }
}

#[test]
fn an_outcome_is_what_it_is_called() {
    assert_eq!("none".parse(), Ok(Outcome::Unstated));
    assert!(Outcome::Unstated.is(None) && !Outcome::Drawn.is(None));
}
