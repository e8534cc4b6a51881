//! A scripted USI engine that misbehaves in the way it is told to. A program of the tests.
//!
//! Its arguments are `key=value`:
//!
//! * `mode=…`: what it does wrong; see [`Fake::go`] and [`Fake::handshake`].
//! * `every=N`: only where a hash of the position is a multiple of N, so that it does not depend on who asks; 1 always.
//! * `cp=N`: every score, from Black's side; `sign=mover` from that of the side to move.
//! * `script=7g7f,3c3d`: the moves it plays, by the number of moves behind the position, over and over again.
//! * `peace=1`: looks for no mates.
//! * `turn=FILE`: is another engine when the file is there, which it makes.
//! * `delay=MS`: before each answer. `pids=FILE`: appends its process number.
//!
//! Otherwise it plays by a hash of position and move, mates in one where it can, and forgets everything.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used, reason = "an engine, and a test")]

use manaka_core::{Color, Move16, Packed, sfen::STARTPOS};
use manaka_shogi::Board;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::process::exit;
use std::thread::sleep;
use std::time::Duration;

struct Fake {
    args: HashMap<String, String>,
    board: Board,
    /// Moves behind the position.
    moves: usize,
    hash: u64,
    multipv: usize,
    end: &'static str,
}

struct Line {
    mv: Move16,
    score: String,
}

fn main() {
    let args = std::env::args().skip(1);
    let args: HashMap<_, _> =
        args.map(|arg| arg.split_once('=').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap()).collect();
    if let Some(path) = args.get("pids") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{}", std::process::id()).unwrap();
    }
    let end = if args.get("mode").is_some_and(|mode| mode == "crlf") { "\r\n" } else { "\n" };
    let mut fake = Fake { args, board: Board::start(), moves: 0, hash: 0, multipv: 1, end };
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        match line.split(' ').next().unwrap() {
            "usi" => fake.handshake(),
            "isready" => match fake.mode() {
                "hang-ready" => fake.hang(),
                "crash-ready" => exit(4),
                _ => fake.say("readyok"),
            },
            "setoption" => {
                if let Some(value) = line.strip_prefix("setoption name MultiPV value ") {
                    fake.multipv = value.parse().unwrap();
                }
            }
            "position" => fake.position(&line),
            "go" => fake.go(),
            "quit" if fake.mode() == "hang-quit" => fake.hang(),
            "quit" => break,
            _ => {}
        }
    }
}

impl Fake {
    fn mode(&self) -> &str {
        self.args.get("mode").map_or("", String::as_str)
    }

    fn number(&self, key: &str, default: i64) -> i64 {
        self.args.get(key).map_or(default, |text| text.parse().unwrap())
    }

    fn say(&self, line: &str) {
        let mut out = io::stdout().lock();
        // The other side may have left.
        if write!(out, "{line}{}", self.end).and_then(|()| out.flush()).is_err() {
            exit(0);
        }
    }

    /// Hears nothing any more, not even the end of its input.
    fn hang(&self) -> ! {
        sleep(Duration::from_secs(3600));
        exit(1)
    }

    fn handshake(&self) {
        match self.mode() {
            "hang-usi" => self.hang(),
            "crash-usi" => {
                eprintln!("no evaluation function");
                exit(3)
            }
            "uci" => {
                self.say("Unknown command: usi");
                self.hang()
            }
            _ => {}
        }
        self.say("Fake 1.0 by nobody");
        if self.mode() != "nameless" {
            let turned = self.args.get("turn").is_some_and(|path| {
                let there = std::fs::exists(path).unwrap();
                std::fs::write(path, "").unwrap();
                there
            });
            self.say(if turned { "id name Fake 2" } else { "id name Fake" });
            self.say("id author Nobody, really");
        }
        if self.mode() != "no-multipv" {
            self.say("option name MultiPV type spin default 1 min 1 max 8");
        }
        self.say("option name Clear Hash type button");
        self.say("option name Style type combo default calm var calm var wild");
        self.say("option name EvalDir type string default <empty>");
        self.say("usiok");
    }

    fn position(&mut self, line: &str) {
        let line = line.strip_prefix("position ").unwrap();
        self.hash =
            line.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        let (position, moves) = line.split_once(" moves ").unwrap_or((line, ""));
        let sfen = if position == "startpos" { STARTPOS } else { position.strip_prefix("sfen ").unwrap() };
        let (packed, ply) = Packed::from_sfen(sfen).unwrap();
        self.board.set(&packed, ply.unwrap()).unwrap();
        let mut moves: Vec<&str> = moves.split_ascii_whitespace().collect();
        if self.mode() == "complain" && self.now() {
            self.say("info string thinking");
            self.say("position error: illegal move");
            return;
        }
        if self.mode() == "ignore" && self.now() {
            // It takes the last move for an illegal one, says nothing and stays where it was.
            moves.pop();
        }
        self.moves = moves.len();
        for mv in moves {
            self.board.play(Move16::from_usi(mv).unwrap()).unwrap();
        }
    }

    /// Whether it misbehaves in this position.
    fn now(&self) -> bool {
        let every = self.number("every", 1).unsigned_abs();
        mix(self.hash).is_multiple_of(every)
    }

    /// The lines of a depth, best first.
    fn lines(&mut self, depth: u64) -> Vec<Line> {
        let mate = if self.args.contains_key("peace") { None } else { self.board.mate_in_one() };
        let mut legal = Vec::new();
        self.board.legal_moves(&mut legal);
        let mut scored: Vec<(i64, Move16)> = legal
            .iter()
            .map(|&mv| {
                let noise = mix(self.hash ^ u64::from(mv.bits()) << 20 ^ depth << 40) % 200;
                (i64::try_from(noise).unwrap() - 100, mv)
            })
            .collect();
        scored.sort_by_key(|&(score, mv)| (Some(mv) != mate, -score, mv));
        if let Some(script) = self.args.get("script") {
            let script: Vec<&str> = script.split(',').collect();
            let next = Move16::from_usi(script[self.moves % script.len()]).unwrap();
            scored.sort_by_key(|&(_, mv)| mv != next);
        }
        let cp = self.args.get("cp").map(|text| {
            let cp: i64 = text.parse().unwrap();
            let turned = self.board.side() == Color::White && !self.args.contains_key("sign");
            if turned { -cp } else { cp }
        });
        let line = |&(score, mv): &(i64, Move16)| {
            let score = match cp {
                Some(cp) => format!("cp {cp}"),
                None if Some(mv) == mate => "mate 1".to_owned(),
                None => format!("cp {score}"),
            };
            Line { mv, score }
        };
        scored.iter().take(self.multipv).map(line).collect()
    }

    fn info(&self, depth: u64, rank: usize, score: &str, pv: &str) {
        let mut text =
            format!("info depth {depth} seldepth {} multipv {rank} score {score} nodes 100", depth + 1);
        if self.mode() == "plain" {
            text = format!("info depth {depth} score {score} time 1");
        }
        if !pv.is_empty() {
            let _ = write!(text, " pv {pv}");
        }
        self.say(&text);
    }

    fn go(&mut self) {
        sleep(Duration::from_millis(self.number("delay", 0).unsigned_abs()));
        let deepest = 3 + mix(self.hash ^ 7) % 3;
        let mode = if self.now() { self.mode().to_owned() } else { String::new() };
        match mode.as_str() {
            "hang" => self.hang(),
            "crash" => {
                self.say("info depth 1 score cp 3 pv 7g7f");
                eprintln!("assertion failed: depth > 0");
                exit(3)
            }
            "closed" => exit(0),
            "endless" => {
                let mut out = io::stdout().lock();
                while out.write_all(b"info string all work and no play ").is_ok() {}
                exit(0)
            }
            "flood" => loop {
                self.say("info depth 1 multipv 1 score cp 3 pv 7g7f");
            },
            "stderr" => {
                for _ in 0..200_000 {
                    eprintln!("warning: fifty bytes of nothing in particular, over and over");
                }
            }
            "binary" => {
                let mut out = io::stdout().lock();
                out.write_all(
                    b"\xff\xfe\x00info\n\n\0\0\n\x1b[0m garbage \xe3\x81\ninfo depth multipv score\n",
                )
                .unwrap();
            }
            "noscore" => {
                let best = self.lines(1)[0].mv;
                return self.say(&format!("bestmove {best}"));
            }
            "none" => return self.say("bestmove none"),
            "win" => return self.say("bestmove win"),
            "garbage" => return self.say("bestmove of the day"),
            "empty" => return self.say("bestmove"),
            "illegal" => {
                self.info(1, 1, "cp 3", "1a1b");
                return self.say("bestmove 1a1b");
            }
            "resign-now" => return self.say("bestmove resign"),
            _ => {}
        }
        let mut best = String::new();
        for depth in 1..=deepest {
            let lines = self.lines(depth);
            best = lines[0].mv.to_string();
            let last = depth == deepest;
            let count = lines.len();
            let mut order: Vec<usize> = (0..count).collect();
            if mode == "unsorted" {
                order.reverse();
            }
            for at in order {
                let Line { mv, score } = &lines[at];
                let (rank, mut pv, mut score) = (at + 1, format!("{mv} 5a4b pass"), score.clone());
                match mode.as_str() {
                    "mixed" if last && rank == count && depth > 1 => {
                        let before = self.lines(depth - 1);
                        self.info(
                            depth - 1,
                            rank,
                            &before[count - 1].score,
                            &before[count - 1].mv.to_string(),
                        );
                        continue;
                    }
                    "bounds" => {
                        self.info(depth, rank, "cp 5000 lowerbound", &pv);
                        if last {
                            self.info(depth + 1, rank, "cp -5000 upperbound", &pv);
                        }
                    }
                    "duplicates" if rank == 2 => pv = lines[0].mv.to_string(),
                    "mates" => {
                        score = ["mate +", "mate -", "mate -0", "mate 5", "mate -12"][at % 5].to_owned();
                        pv = mv.to_string();
                    }
                    "beyond" => {
                        let scores =
                            ["cp 1148897", "cp -2147483648", "cp 32768", "cp 99999999999999999999999"];
                        score = scores[at % 4].to_owned();
                    }
                    "words" if rank == 2 => pv = "resign".to_owned(),
                    "words" if rank == 3 => pv = "win".to_owned(),
                    "nopv" if last => pv.clear(),
                    "illegal-pv" if rank == count => pv = "1a1b".to_owned(),
                    _ => {}
                }
                if mode == "nopv" && rank > 1 {
                    continue;
                }
                if mode == "plain" && rank > 1 {
                    continue;
                }
                self.info(depth, rank, &score, &pv);
            }
        }
        match mode.as_str() {
            "resign" => self.say("bestmove resign"),
            "twice" => {
                // In one piece, so that the second is there when the first is looked at.
                self.say(&format!("bestmove {best}{}bestmove {best}", self.end));
            }
            _ => self.say(&format!("bestmove {best} ponder 5a4b")),
        }
    }
}

/// A good mixer of 64 bits.
fn mix(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ x >> 33
}
