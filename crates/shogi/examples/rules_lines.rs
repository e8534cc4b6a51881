//! The rules as lines of text, for an independent oracle to disagree with.
//!
//! ```text
//! rules_lines               an SFEN a line on stdin, an answer a line on stdout
//! rules_lines perft N SFEN  the number of lines of N moves
//! ```
//!
//! An answer is separated by tabs: `ok`, in check 0/1, can declare 0/1, the legal moves in USI sorted as text and
//! separated by spaces, the SFEN written back; or `error` and a reason.
// A command that prints.
#![allow(clippy::print_stderr, reason = "the complaint of a program that ends")]

use manaka_core::{Move16, Packed};
use manaka_shogi::Board;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufWriter, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.as_slice() {
        [] => answer_lines().map_err(|error| error.to_string()),
        [mode, depth, sfen @ ..] if mode == "perft" && !sfen.is_empty() => perft(depth, &sfen.join(" ")),
        _ => Err("usage: rules_lines | rules_lines perft N SFEN".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rules_lines: {error}");
            ExitCode::FAILURE
        }
    }
}

fn answer_lines() -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut board = Board::start();
    for line in io::stdin().lock().lines() {
        match answer(&mut board, &line?) {
            Ok(answer) => writeln!(out, "ok\t{answer}")?,
            Err(reason) => writeln!(out, "error\t{reason}")?,
        }
    }
    out.flush()
}

fn answer(board: &mut Board, sfen: &str) -> Result<String, String> {
    let (packed, ply) = Packed::from_sfen(sfen).map_err(|error| error.to_string())?;
    board.set(&packed, ply.unwrap_or(0)).map_err(|error| error.to_string())?;
    let mut moves = Vec::new();
    board.legal_moves(&mut moves);
    let mut moves: Vec<_> = moves.iter().map(Move16::to_string).collect();
    moves.sort_unstable();
    let mut answer = String::new();
    let _ = write!(
        answer,
        "{}\t{}\t{}\t{}",
        u8::from(board.in_check()),
        u8::from(board.can_declare()),
        moves.join(" "),
        board.to_packed().sfen(ply.map(|_| board.ply()))
    );
    Ok(answer)
}

fn perft(depth: &str, sfen: &str) -> Result<(), String> {
    let depth = depth.parse().map_err(|_| format!("{depth} is no depth"))?;
    let (packed, ply) = Packed::from_sfen(sfen).map_err(|error| error.to_string())?;
    let mut board = Board::from_packed(&packed, ply.unwrap_or(0)).map_err(|error| error.to_string())?;
    let nodes = lines(&mut board, depth).map_err(|error| error.to_string())?;
    writeln!(io::stdout(), "{nodes}").map_err(|error| error.to_string())
}

/// Every leaf is played, so that the count tests playing and taking back as well as generating.
fn lines(board: &mut Board, depth: u32) -> Result<u64, manaka_shogi::IllegalMove> {
    if depth == 0 {
        return Ok(1);
    }
    let mut moves = Vec::new();
    board.legal_moves(&mut moves);
    let mut nodes = 0;
    for mv in moves {
        board.play(mv)?;
        nodes += lines(board, depth - 1)?;
        board.undo();
    }
    Ok(nodes)
}
