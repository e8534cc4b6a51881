//! Everything that reaches the data, as the report states it.

use crate::evaluator::Identity;
use crate::options::Options;
use crate::run::worker::OpeningOrder;
use manaka_search::{MateTest, PuctQ, QScale, Rule, Schedule, Unvisited};
use serde_json::{Value, json};

/// What may differ between the parts of one run: where things lie. By its path of keys.
pub(crate) const FREE: [&str; 1] = ["openings.book"];

pub(crate) fn settings(options: &Options, evaluator: &Identity, openings: &OpeningOrder) -> Value {
    let resign = &options.resign;
    json!({
        "evaluator": evaluator,
        "search": search(&options.search),
        "openings": {
            "book": options.openings.book.as_ref().map(|path| path.display().to_string()),
            "book_positions": openings.book().openings().len(),
            "book_xxh3": format!("{:016x}", openings.book().hash()),
            "policy_plies": options.openings.policy_plies,
        },
        "play": {
            "resign_value": resign.value,
            "resign_count": resign.count,
            "play_on": resign.play_on,
            "max_ply": options.max_ply,
            "repetition": "four-fold in games, two-fold in searches, perpetual check loses",
            "declaration": "27 points",
        },
        "seed": options.seed,
    })
}

fn search(options: &manaka_search::Options) -> Value {
    let mut value = match &options.rule {
        Rule::Puct(puct) => {
            let (q, unvisited) = match puct.q {
                PuctQ::Unit(Unvisited::Loss) => ("unit", json!("loss")),
                PuctQ::Unit(Unvisited::Node) => ("unit", json!("node")),
                PuctQ::Unit(Unvisited::Below(below)) => ("unit", json!({ "below": below })),
                PuctQ::Siblings => ("siblings", Value::Null),
            };
            json!({
                "rule": "puct",
                "c_init": puct.c_init,
                "c_base": puct.c_base,
                "q": q,
                "unvisited": unvisited,
                "noise_alpha": puct.noise_alpha,
                "noise_share": puct.noise_share,
                "temperature": schedule(&puct.temperature),
            })
        }
        Rule::Gumbel(gumbel) => json!({
            "rule": "gumbel",
            "considered": gumbel.considered,
            "c_visit": gumbel.c_visit,
            "c_scale": gumbel.c_scale,
            "q": match gumbel.q {
                QScale::Unit => "unit",
                QScale::Signed => "signed",
                QScale::MinMax => "min-max",
            },
            "noise_scale": schedule(&gumbel.noise_scale),
            "quanta": manaka_search::QUANTA,
        }),
    };
    value["budget"] = options.budget.into();
    value["mate_test"] = match options.mate_test {
        MateTest::Leaf => "leaf".into(),
        MateTest::Off => "off".into(),
    };
    value
}

fn schedule(schedule: &Schedule) -> Value {
    json!({ "first": schedule.first, "plies": schedule.plies, "then": schedule.then })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::{Evaluators, Uniform};
    use manaka_corpus::book::Book;
    use manaka_runs::difference;
    use manaka_search::{Gumbel, Puct};

    fn of(options: &Options) -> Value {
        let openings = OpeningOrder::new(Book::startpos().unwrap(), 1);
        settings(options, &Uniform::default().identity(), &openings)
    }

    #[test]
    fn every_constant_is_stated_and_the_first_that_differs_is_named_with_both_values() {
        let puct = Puct { c_init: 1.234_567_890_123_456_7, ..Puct::default() };
        let options = Options::new(manaka_search::Options::new(800, puct), 10);
        let first = of(&options);
        let key = |change: &dyn Fn(&mut Options)| {
            let mut changed = options.clone();
            change(&mut changed);
            let read: Value = serde_json::from_str(&serde_json::to_string(&first).unwrap()).unwrap();
            difference(&read, &of(&changed), &FREE).map(|found| (found.key, found.there, found.here))
        };
        let found =
            |key: &str, there: &str, here: &str| Some((key.to_owned(), there.to_owned(), here.to_owned()));
        let with = |options: &mut Options, change: &dyn Fn(&mut Puct)| {
            if let Rule::Puct(puct) = &mut options.search.rule {
                change(puct);
            }
        };
        assert_eq!(key(&|_| {}), None);
        assert_eq!(key(&|o| o.seed = 2), found("seed", "1", "2"));
        assert_eq!(key(&|o| o.max_ply = 256), found("play.max_ply", "320", "256"));
        assert_eq!(key(&|o| o.resign.value = 0.5), found("play.resign_value", "0.95", "0.5"));
        assert_eq!(key(&|o| o.resign.count = 1).unwrap().0, "play.resign_count");
        assert_eq!(key(&|o| o.resign.play_on = 0.0).unwrap().0, "play.play_on");
        assert_eq!(key(&|o| o.openings.policy_plies = 3).unwrap().0, "openings.policy_plies");
        assert_eq!(key(&|o| o.search.budget = 3), found("search.budget", "800", "3"));
        assert_eq!(key(&|o| o.search.mate_test = MateTest::Off).unwrap().0, "search.mate_test");
        assert_eq!(key(&|o| o.search.rule = Gumbel::default().into()).unwrap().0, "search.c_base");
        assert_eq!(key(&|o| with(o, &|puct| puct.c_init += 1e-15)).unwrap().0, "search.c_init");
        assert_eq!(key(&|o| with(o, &|puct| puct.c_base = 1.0)).unwrap().0, "search.c_base");
        assert_eq!(key(&|o| with(o, &|puct| puct.noise_alpha = 1.0)).unwrap().0, "search.noise_alpha");
        assert_eq!(key(&|o| with(o, &|puct| puct.noise_share = 1.0)).unwrap().0, "search.noise_share");
        assert_eq!(
            key(&|o| with(o, &|puct| puct.temperature.plies = 1)),
            found("search.temperature.plies", "30", "1")
        );
        assert_eq!(key(&|o| with(o, &|puct| puct.q = PuctQ::Siblings)).unwrap().0, "search.q");
        assert_eq!(
            key(&|o| with(o, &|puct| puct.q = PuctQ::Unit(Unvisited::Below(0.2)))),
            found("search.unvisited", "\"loss\"", "{\"below\":0.2}")
        );
        // Where things lie, how fast and how many is free.
        assert_eq!(key(&|o| o.games = 20), None);
        assert_eq!(key(&|o| (o.threads, o.batch) = (4.try_into().unwrap(), 3.try_into().ok())), None);
    }
}
