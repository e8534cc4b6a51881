//! Everything that reaches the data, as the report states it.

use crate::game::Book;
use crate::options::{EngineLife, Limit, Options, UnknownOption};
use crate::usi::{Identity, MateScale};
use manaka_corpus::psv::{Layout, LayoutText};
use serde_json::{Value, json};

/// What may differ between the parts of one run: where things lie, and how long is waited. By its path of keys.
pub(crate) const FREE: [&str; 4] = ["engine.program", "engine.timeouts", "openings.book", "recover_from"];

pub(crate) fn settings(options: &Options, engine: &Identity, book: &Book) -> Value {
    let asked = &options.engine;
    let play = &options.play;
    let (limit, amount) = match asked.limit {
        Limit::Nodes(n) => ("nodes", n),
        Limit::Depth(n) => ("depth", n),
        Limit::Byoyomi(n) => ("byoyomi_ms", n),
    };
    json!({
        "engine": {
            "name": engine.name,
            "author": engine.author,
            "program": asked.command.program,
            "args": asked.command.args,
            "options": asked.settings.iter().map(|s| (&s.name, &s.value)).collect::<Vec<_>>(),
            "unknown_option": match asked.unknown {
                UnknownOption::Refuse => "refuse",
                UnknownOption::Warn => "warn",
            },
            "limit": { limit: amount },
            "multipv": asked.multipv,
            "life": match asked.life { EngineLife::Run => "run", EngineLife::Game => "game" },
            "timeouts": {
                "handshake_s": asked.timeouts.handshake.as_secs_f64(),
                "ready_s": asked.timeouts.ready.as_secs_f64(),
                "search_s": asked.timeouts.search.as_secs_f64(),
            },
        },
        "openings": {
            "book": options.openings.book.as_ref().map(|path| path.display().to_string()),
            "book_positions": book.len(),
            "book_xxh3": format!("{:016x}", book.hash()),
            "random_plies": options.openings.random_plies,
        },
        "play": {
            "random_move": play.random_move,
            "random_move_pad": crate::RANDOM_MOVE_PAD,
            "softmax_temp_cp": play.softmax_temp_cp,
            "random_until_ply": play.random_until_ply,
            "resign_count": play.resign_count,
            "resign_score": play.resign_score,
            "max_ply": play.max_ply,
            "eval_limit": play.eval_limit,
            "repetition": "four-fold, perpetual check loses",
            "declaration": "27 points",
        },
        "scores": {
            "pov": "side_to_move",
            "mate_scale": play.mate_scale,
            "mate_slack": MateScale::SLACK,
        },
        "layout": layout(&options.layout),
        "seed": options.seed,
        "recovery": options.recover_from.is_some(),
        "recover_from": options.recover_from.as_ref().map(|path| path.display().to_string()),
    })
}

/// The layout of the records.
pub(crate) fn layout(layout: &Layout) -> Value {
    json!({
        "move16": layout.moves.to_string(),
        "candidates": layout.candidates,
        "layout": LayoutText { order: layout.order, played: layout.played }.to_string(),
        "record_bytes": layout.record_len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Book;
    use manaka_runs::difference;

    fn of(options: &Options) -> Value {
        let value = settings(options, &Identity::default(), &Book::startpos().unwrap());
        // As it comes back from a file.
        serde_json::from_str(&serde_json::to_string(&value).unwrap()).unwrap()
    }

    #[test]
    fn the_first_setting_that_differs_is_named_with_both_values() {
        let mut options = Options::new("engine".parse().unwrap(), 10);
        options.play.random_move = 0.123_456_789_012_345_68;
        let first = of(&options);
        assert_eq!(difference(&first, &of(&options), &FREE), None);
        let key = |change: &dyn Fn(&mut Options)| {
            let mut changed = options.clone();
            change(&mut changed);
            difference(&first, &of(&changed), &FREE).map(|found| (found.key, found.there, found.here))
        };
        let found =
            |key: &str, there: &str, here: &str| Some((key.to_owned(), there.to_owned(), here.to_owned()));
        assert_eq!(key(&|o| o.play.random_move += 1e-15).unwrap().0, "play.random_move");
        assert_eq!(key(&|o| o.seed = 2), found("seed", "1", "2"));
        assert_eq!(key(&|o| o.play.max_ply = 256), found("play.max_ply", "320", "256"));
        assert_eq!(key(&|o| o.play.eval_limit = Some(3000)), found("play.eval_limit", "null", "3000"));
        assert_eq!(
            key(&|o| o.engine.limit = Limit::Depth(3.try_into().unwrap())),
            found("engine.limit.depth", "null", "3")
        );
        assert_eq!(key(&|o| o.layout.candidates = 0).unwrap().0, "layout.candidates");
        assert_eq!(key(&|o| o.engine.settings = vec!["A=1".parse().unwrap()]).unwrap().0, "engine.options");
        // Where things lie, how fast and how many is free.
        assert_eq!(key(&|o| o.engine.command.program = "/opt/engine".to_owned()), None);
        assert_eq!(key(&|o| o.engine.timeouts.search *= 2), None);
        assert_eq!(key(&|o| (o.games, o.workers) = (20, 4.try_into().unwrap())), None);
    }
}
