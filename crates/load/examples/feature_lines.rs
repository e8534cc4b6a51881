//! Features as lines of text, for an independent oracle to disagree with.
//!
//! ```text
//! feature_lines [mirrored]   an SFEN a line on stdin, a tab, moves in USI with spaces between; an answer a line
//! ```
//!
//! An answer is separated by tabs: `ok`, the planes as digits (one a square, then one a square of the whole planes),
//! the bits of both as hexadecimal bytes, HalfKP's two lists, KP's two lists, the labels of the moves (`none` where
//! there is none); or `error` and a reason.
// A command that prints.
#![allow(clippy::print_stderr, reason = "the complaint of a program that ends")]

use manaka_core::{Move16, Packed, Square};
use manaka_load::features::{
    BITS1, BITS2, Board, HALFKP_WIDTH, KP_WIDTH, PLANES1, PLANES2, Planes, View, halfkp, kp, label,
};
use std::fmt::Write as _;
use std::io::{self, BufRead, BufWriter, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.as_slice() {
        [] => answers(false),
        [mode] if mode == "mirrored" => answers(true),
        _ => Err(io::Error::other("usage: feature_lines [mirrored]")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("feature_lines: {error}");
            ExitCode::FAILURE
        }
    }
}

fn answers(mirrored: bool) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        match answer(&line?, mirrored) {
            Ok(answer) => writeln!(out, "ok\t{answer}")?,
            Err(reason) => writeln!(out, "error\t{reason}")?,
        }
    }
    out.flush()
}

fn answer(line: &str, mirrored: bool) -> Result<String, String> {
    let (sfen, moves) = line.split_once('\t').unwrap_or((line, ""));
    let (packed, _) = Packed::from_sfen(sfen).map_err(|error| error.to_string())?;
    let board = Board::new(packed.as_bytes()).map_err(|error| error.to_string())?;
    let view = View::of(board.mover()).mirrored(mirrored);

    let mut planes = Planes::EMPTY;
    planes.set(&board, view);
    let (mut first, mut second) = ([0u8; PLANES1 * Square::COUNT], [0u8; PLANES2 * Square::COUNT]);
    planes.unfold(&mut first, &mut second);
    let (mut bits1, mut bits2) = ([0; BITS1], [0; BITS2]);
    planes.bits(&mut bits1, &mut bits2);
    let (mut halfkp_own, mut halfkp_other) = ([0; HALFKP_WIDTH], [0; HALFKP_WIDTH]);
    halfkp(&board, view, &mut halfkp_own, &mut halfkp_other);
    let (mut kp_own, mut kp_other) = ([0; KP_WIDTH], [0; KP_WIDTH]);
    kp(&board, view, &mut kp_own, &mut kp_other);

    let mut answer = String::new();
    answer.extend(first.iter().chain(&second).map(|&digit| char::from(b'0' + digit)));
    answer.push('\t');
    for byte in bits1.iter().chain(&bits2) {
        let _ = write!(answer, "{byte:02x}");
    }
    for list in [&halfkp_own[..], &halfkp_other, &kp_own, &kp_other] {
        answer.push('\t');
        answer.push_str(&list.iter().map(i32::to_string).collect::<Vec<_>>().join(" "));
    }
    let labels = moves.split_whitespace().map(|text| {
        let mv = Move16::from_usi(text).ok_or_else(|| format!("{text} is no move"))?;
        Ok(label(mv, view).map_or_else(|| "none".to_owned(), |label| label.to_string()))
    });
    answer.push('\t');
    answer.push_str(&labels.collect::<Result<Vec<_>, String>>()?.join(" "));
    Ok(answer)
}
