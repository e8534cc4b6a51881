//! A network's evaluations as lines of text, for Python to disagree with.
//!
//! ```text
//! onnx_lines LIBRARY NET.onnx BATCH < SFENS            an SFEN a line on stdin; an answer a line
//! ```
//!
//! An answer is separated by tabs: the value, then of every legal move its USI text, `=` and its logit. Numbers are the
//! shortest that read back as the same f32.
// A command that prints.
#![allow(clippy::print_stderr, reason = "the complaint of a program that ends")]

use manaka_core::{Move16, Packed};
use manaka_onnx::{Onnx, Provider, Runtime};
use manaka_selfplay::{Evaluators, Replies, Request};
use manaka_shogi::Board;
use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("onnx_lines: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<(), Box<dyn Error>> {
    let [library, net, batch] = args else { return Err("usage: onnx_lines LIBRARY NET.onnx BATCH".into()) };
    let batch: NonZeroUsize = batch.parse()?;
    let runtime = Runtime::open(Some(Path::new(library)))?;
    let onnx = Onnx::open(Path::new(net), &runtime, Provider::Cpu, Some(batch))?;
    let mut evaluator = onnx.evaluator()?;
    let mut asked: Vec<(Packed, Vec<Move16>)> = Vec::new();
    for sfen in io::stdin().lines() {
        let (position, ply) = Packed::from_sfen(&sfen?)?;
        let mut moves = Vec::new();
        Board::from_packed(&position, ply.unwrap_or(1))?.legal_moves(&mut moves);
        asked.push((position, moves));
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let mut replies = Replies::new();
    for some in asked.chunks(batch.get()) {
        let batch: Vec<_> = some.iter().map(|(position, moves)| Request { position, moves }).collect();
        replies.fit(&batch);
        evaluator.evaluate(&batch, &mut replies)?;
        for (request, reply) in batch.iter().zip(replies.iter()) {
            write!(out, "{}", reply.value)?;
            for (mv, logit) in request.moves.iter().zip(reply.logits) {
                write!(out, "\t{mv}={logit}")?;
            }
            writeln!(out)?;
        }
    }
    Ok(out.flush()?)
}
