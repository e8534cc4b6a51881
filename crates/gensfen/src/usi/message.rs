//! One line of an engine, read for what it says and forgiven for the rest.
//!
//! Whatever cannot be read is left out; nothing here fails. What a search as a whole may not leave out (a best move,
//! a score) is judged by those who need it.

use crate::usi::declared::Declared;
use manaka_core::Move16;

/// What a line says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message<'a> {
    /// `id name …`
    Name(&'a str),
    /// `id author …`
    Author(&'a str),
    /// `option name …`
    Option(Declared),
    /// `usiok`
    UsiOk,
    /// `readyok`
    ReadyOk,
    /// `info …` with a score.
    Info(Info),
    /// `bestmove …`: the word behind it, empty when there is none.
    BestMove(&'a str),
    /// `info` without a score.
    Chatter,
    /// Anything else.
    Other(&'a str),
}

/// What an `info` line says about one line of play.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// `depth`, where the line has one.
    pub depth: Option<u32>,
    /// `multipv`, 1 where the line has none.
    pub rank: u32,
    /// `score`.
    pub score: Score,
    /// Whether `lowerbound` or `upperbound` says that the score is no more than a bound.
    pub bound: bool,
    /// `pv`.
    pub pv: Pv,
}

/// A score as the engine said it, for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Score {
    /// `cp`, held at the ends of an i64 when the digits go beyond.
    Cp(i64),
    /// `mate`.
    Mate {
        /// Whether the side to move mates, or is mated.
        wins: bool,
        /// In how many plies; `None` for a bare `+` or `-`.
        plies: Option<u32>,
    },
}

/// The line of play itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pv {
    /// There is none.
    Missing,
    /// It begins with a move.
    Move {
        /// The move.
        first: Move16,
        /// Words of the line.
        len: u32,
    },
    /// It begins with something else: `resign`, `win`, `pass`, or what cannot be read.
    Word,
}

impl<'a> Message<'a> {
    /// Reads a line without its end.
    #[must_use]
    pub fn parse(line: &'a str) -> Self {
        let line = line.trim();
        let (word, rest) = line.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((line, ""));
        let rest = rest.trim_start();
        match word {
            "info" => info(rest).map_or(Message::Chatter, Message::Info),
            "bestmove" => Message::BestMove(rest.split_ascii_whitespace().next().unwrap_or("")),
            "usiok" => Message::UsiOk,
            "readyok" => Message::ReadyOk,
            "option" => Declared::parse(rest).map_or(Message::Other(line), Message::Option),
            "id" => match rest.split_once(' ') {
                Some(("name", name)) => Message::Name(name.trim()),
                Some(("author", author)) => Message::Author(author.trim()),
                _ => Message::Other(line),
            },
            _ => Message::Other(line),
        }
    }
}

/// The words that begin a field of an `info` line. A line of play ends in front of one: some engines write it first.
const FIELDS: [&str; 16] = [
    "depth",
    "seldepth",
    "time",
    "nodes",
    "nps",
    "hashfull",
    "multipv",
    "score",
    "lowerbound",
    "upperbound",
    "currmove",
    "currmovenumber",
    "cpuload",
    "tbhits",
    "pv",
    "string",
];

/// `None` when the line states no score, or one that cannot be read.
fn info(text: &str) -> Option<Info> {
    let (mut depth, mut rank, mut score, mut bound, mut pv) = (None, 1, None, false, Pv::Missing);
    let mut words = text.split_ascii_whitespace().peekable();
    while let Some(word) = words.next() {
        match word {
            "depth" => depth = words.next()?.parse().ok(),
            // A rank of its own that cannot be read must not pass for the first.
            "multipv" => rank = words.next()?.parse().ok().filter(|&rank| rank > 0)?,
            "score" => {
                score = Some(match words.next()? {
                    "cp" => Score::Cp(saturating(words.next()?)?),
                    "mate" => mate(words.next()?)?,
                    _ => return None,
                });
            }
            "lowerbound" | "upperbound" => bound = true,
            "pv" => {
                let mut line = std::iter::from_fn(|| words.next_if(|word| !FIELDS.contains(word)));
                if let Some(first) = line.next() {
                    pv = match Move16::from_usi(first) {
                        Some(first) => {
                            Pv::Move { first, len: u32::try_from(line.count() + 1).unwrap_or(u32::MAX) }
                        }
                        None => {
                            line.for_each(drop);
                            Pv::Word
                        }
                    };
                }
            }
            "string" => break,
            _ => {}
        }
    }
    Some(Info { depth, rank, score: score?, bound, pv })
}

/// A whole number, held at the ends of an i64.
fn saturating(text: &str) -> Option<i64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then_some(if negative { i64::MIN } else { i64::MAX })
}

/// `5`, `-5`, `+5`, `+`, `-`, and `0`, `-0` for a side to move that stands mated.
fn mate(text: &str) -> Option<Score> {
    let plies = |digits: &str| saturating(digits).and_then(|n| u32::try_from(n.min(u32::MAX.into())).ok());
    Some(match (text, text.as_bytes().first()?) {
        ("+", _) => Score::Mate { wins: true, plies: None },
        ("-", _) => Score::Mate { wins: false, plies: None },
        (_, b'+') => Score::Mate { wins: true, plies: Some(plies(&text[1..])?) },
        (_, b'-') => Score::Mate { wins: false, plies: Some(plies(&text[1..])?) },
        _ => {
            let plies = plies(text)?;
            Score::Mate { wins: plies > 0, plies: Some(plies) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(line: &str) -> Info {
        match Message::parse(line) {
            Message::Info(info) => info,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn mv(text: &str) -> Move16 {
        Move16::from_usi(text).unwrap()
    }

    #[test]
    fn an_ordinary_line_is_read_whole() {
        let line = "info depth 7 seldepth 8 multipv 2 score cp -288 nodes 6354 nps 264750 tbhits 0 time 24 pv 7g7f 6c6d";
        let pv = Pv::Move { first: mv("7g7f"), len: 2 };
        let expected = Info { depth: Some(7), rank: 2, score: Score::Cp(-288), bound: false, pv };
        assert_eq!(info(line), expected);
        assert_eq!(info(&format!("  {line}\r")), expected);
    }

    #[test]
    fn the_order_of_the_words_and_missing_ones_do_not_matter() {
        let expected = Info { depth: None, rank: 1, score: Score::Cp(35), bound: false, pv: Pv::Missing };
        assert_eq!(info("info score cp 35"), expected);
        assert_eq!(info("info score cp +35 pv"), expected);
        assert_eq!(info("info hashfull 3 score cp 35 nodes x currmove 7g7f"), expected);
        assert_eq!(info("info multipv 3 depth 1 score mate 1 pv G*5b").rank, 3);
        assert_eq!(info("info depth x score cp 35").depth, None);
    }

    #[test]
    fn bounds_are_marked_on_either_side_of_the_score() {
        assert!(info("info depth 5 multipv 3 score cp -269 upperbound nodes 3000 pv 3a3b").bound);
        assert!(
            info("info depth 5 score lowerbound".replace("lowerbound", "cp 3 lowerbound").as_str()).bound
        );
        assert!(info("info depth 5 lowerbound score cp 3 pv 3a3b").bound);
        assert!(info("info depth 5 score cp 3 pv 3a3b lowerbound").bound);
    }

    #[test]
    fn every_way_of_writing_a_mate_is_read() {
        let score = |text: &str| info(&format!("info depth 3 score mate {text} pv 7g7f")).score;
        let mate = |wins, plies| Score::Mate { wins, plies };
        assert_eq!(score("5"), mate(true, Some(5)));
        assert_eq!(score("+5"), mate(true, Some(5)));
        assert_eq!(score("-12"), mate(false, Some(12)));
        assert_eq!(score("+"), mate(true, None));
        assert_eq!(score("-"), mate(false, None));
        assert_eq!(score("-0"), mate(false, Some(0)));
        assert_eq!(score("0"), mate(false, Some(0)));
        assert_eq!(score("+0"), mate(true, Some(0)));
        assert_eq!(score("99999999999999999999"), mate(true, Some(u32::MAX)));
        assert_eq!(Message::parse("info score mate x pv 7g7f"), Message::Chatter);
        assert_eq!(Message::parse("info score mate --5 pv 7g7f"), Message::Chatter);
        assert_eq!(Message::parse("info score mate"), Message::Chatter);
    }

    #[test]
    fn scores_beyond_every_integer_stop_at_its_end() {
        assert_eq!(info("info score cp 1148897").score, Score::Cp(1_148_897));
        assert_eq!(info("info score cp -2147483648").score, Score::Cp(-2_147_483_648));
        assert_eq!(info("info score cp 9999999999999999999999").score, Score::Cp(i64::MAX));
        assert_eq!(info("info score cp -9999999999999999999999").score, Score::Cp(i64::MIN));
        for garbage in ["nan", "3.5", "", "-", "--3", "0x10", "12a"] {
            assert_eq!(Message::parse(&format!("info score cp {garbage}")), Message::Chatter, "{garbage}");
        }
    }

    #[test]
    fn lines_of_play_that_begin_with_no_move_are_told_apart_from_none() {
        assert_eq!(info("info score mate -0 pv resign").pv, Pv::Word);
        assert_eq!(info("info score cp 300 pv win").pv, Pv::Word);
        assert_eq!(info("info score cp 300 pv pass 5i6h").pv, Pv::Word);
        assert_eq!(info("info score cp 300 pv").pv, Pv::Missing);
        assert_eq!(info("info score cp 300").pv, Pv::Missing);
        let with_words = info("info score cp 5225 pv 5a4b G*4d pass 5i6h pass").pv;
        assert_eq!(with_words, Pv::Move { first: mv("5a4b"), len: 5 });
    }

    #[test]
    fn a_line_of_play_may_come_before_the_rest() {
        // As a YaneuraOu engine shows a move of its book.
        let book = info("info pv 2g2f 8c8d (42.00%) score cp 20 depth 24 multipv 2");
        let pv = Pv::Move { first: mv("2g2f"), len: 3 };
        assert_eq!(book, Info { depth: Some(24), rank: 2, score: Score::Cp(20), bound: false, pv });
        let resigned = info("info pv resign score mate -0 depth 3");
        assert_eq!((resigned.pv, resigned.depth), (Pv::Word, Some(3)));
        assert_eq!(info("info pv score cp 3 depth 2").pv, Pv::Missing);
    }

    #[test]
    fn lines_without_a_score_say_nothing() {
        for line in [
            "",
            " ",
            "info",
            "info depth 3 currmove 7g7f",
            "info string score cp 35 pv 7g7f",
            "information",
            "info multipv 0 score cp 3 pv 7g7f",
            "info multipv x score cp 3 pv 7g7f",
            "info score",
            "usiok!",
            "No such option: NoSuch",
            "\u{fffd}\u{fffd}",
            "id",
            "id version 3",
            "option",
            "option name",
        ] {
            assert!(matches!(Message::parse(line), Message::Chatter | Message::Other(_)), "{line:?}");
        }
    }

    #[test]
    fn best_moves_keep_their_word_and_lose_what_they_ponder_on() {
        assert_eq!(Message::parse("bestmove 7g7f ponder 8c8d"), Message::BestMove("7g7f"));
        assert_eq!(Message::parse("bestmove 7g7f"), Message::BestMove("7g7f"));
        assert_eq!(Message::parse("bestmove  resign "), Message::BestMove("resign"));
        assert_eq!(Message::parse("bestmove win"), Message::BestMove("win"));
        assert_eq!(Message::parse("bestmove"), Message::BestMove(""));
    }

    #[test]
    fn an_engine_says_who_it_is() {
        assert_eq!(
            Message::parse("id name Fairy-Stockfish 11.1 LB 64"),
            Message::Name("Fairy-Stockfish 11.1 LB 64")
        );
        assert_eq!(Message::parse("id author Fabian Fichter"), Message::Author("Fabian Fichter"));
        assert_eq!(Message::parse("usiok"), Message::UsiOk);
        assert_eq!(Message::parse("readyok\r"), Message::ReadyOk);
    }
}
