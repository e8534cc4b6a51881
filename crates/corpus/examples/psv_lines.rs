//! Raw PSV as lines of text, for an independent oracle to disagree with.
//!
//! ```text
//! psv_lines encode                      an SFEN a line on stdin, the 32 bytes in hex on stdout
//! psv_lines decode                      the other way
//! psv_lines bits MOVES                  a USI move a line, its 16 bits as a number
//! psv_lines usi MOVES                   the other way
//! psv_lines read MOVES N LAYOUT FILE    the records of a file
//! psv_lines write MOVES N LAYOUT FILE   a file of records as `read` prints them
//! psv_lines convert OUT [--move16 MOVES] [--candidates N] [--layout LAYOUT] [--mate-scale S] [--mate-slack S]
//!     [--engine-mate-scale S] [--engine-mate-slack S] [--rows-per-file N] [--threads N] FILE…
//! ```
//!
//! What has no answer is answered by `error` and a reason. A record is separated by tabs: the SFEN without a move
//! number, score, played move, ply, result, the last byte, and each candidate as `move:score`; `-` is no move.
// A command that prints.
#![allow(clippy::print_stderr, reason = "the complaint of a program that ends")]

use manaka_core::{Move16, Packed};
use manaka_corpus::psv::{
    Kind, Layout, LayoutText, MoveLayout, Reader, Record, Writer, decode_position, encode_position,
};
use manaka_corpus::{MateFold, PsvOptions, from_psv};
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("psv_lines: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Result<()> {
    match args {
        ["encode"] => answer(|sfen| {
            let (packed, _) = Packed::from_sfen(sfen)?;
            Ok(encode_position(&packed)?.iter().map(|byte| format!("{byte:02x}")).collect())
        }),
        ["decode"] => answer(|hex| {
            let bytes: Vec<u8> = (0..hex.len() / 2)
                .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16))
                .collect::<std::result::Result<_, _>>()?;
            let bytes = <[u8; 32]>::try_from(bytes).map_err(|_| "not 32 bytes")?;
            Ok(decode_position(&bytes)?.sfen(None).to_string())
        }),
        ["bits", moves] => {
            let moves: MoveLayout = moves.parse()?;
            answer(|usi| {
                let mv = Move16::from_usi(usi).ok_or("not a move")?;
                Ok(moves.encode(mv).ok_or("not a move in this layout")?.to_string())
            })
        }
        ["usi", moves] => {
            let moves: MoveLayout = moves.parse()?;
            answer(|bits| Ok(moves.decode(bits.parse()?).ok_or("not a move in this layout")?.to_string()))
        }
        ["read", moves, candidates, text, file] => read(layout(moves, candidates, text)?, Path::new(file)),
        ["write", moves, candidates, text, file] => write(layout(moves, candidates, text)?, Path::new(file)),
        ["convert", out, options @ ..] => convert(Path::new(out), options),
        _ => Err("see the head of the source for how to call it".into()),
    }
}

fn answer(of: impl Fn(&str) -> Result<String>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        match of(&line?) {
            Ok(answer) => writeln!(out, "{answer}")?,
            Err(error) => writeln!(out, "error\t{error}")?,
        }
    }
    Ok(out.flush()?)
}

fn layout(moves: &str, candidates: &str, text: &str) -> Result<Layout> {
    let LayoutText { order, played } = text.parse()?;
    Ok(Layout { moves: moves.parse()?, candidates: candidates.parse()?, order, played })
}

fn read(layout: Layout, file: &Path) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut reader = Reader::open(file, layout)?;
    let mut record = Record::default();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                writeln!(out, "error\t{}\t{}\t{}\t{error}", error.kind.id(), error.record, error.offset)?;
                if !matches!(error.kind, Kind::Record(_)) {
                    break;
                }
                continue;
            }
        }
        let played = record.mv.map_or_else(|| "-".to_owned(), |mv| mv.to_string());
        let candidates: Vec<_> =
            record.candidates.iter().map(|(mv, score)| format!("{mv}:{score}")).collect();
        let Record { packed, score, ply, result, pad, .. } = &record;
        let (sfen, candidates) = (packed.sfen(None), candidates.join(" "));
        writeln!(out, "{sfen}\t{score}\t{played}\t{ply}\t{result}\t{pad}\t{candidates}")?;
    }
    Ok(out.flush()?)
}

fn write(layout: Layout, file: &Path) -> Result<()> {
    let mut writer = Writer::new(BufWriter::new(File::create_new(file)?), layout);
    for line in io::stdin().lock().lines() {
        let line = line?;
        let [sfen, score, played, ply, result, pad, candidates] =
            line.split('\t').collect::<Vec<_>>().try_into().map_err(|_| "not seven fields")?;
        let usi = |text: &str| Move16::from_usi(text).ok_or("not a move");
        let record = Record {
            packed: Packed::from_sfen(sfen)?.0,
            score: score.parse()?,
            mv: if played == "-" { None } else { Some(usi(played)?) },
            ply: ply.parse()?,
            result: result.parse()?,
            pad: pad.parse()?,
            candidates: candidates
                .split_whitespace()
                .map(|text| {
                    let (mv, score) = text.split_once(':').ok_or("not a candidate")?;
                    Ok((usi(mv)?, score.parse()?))
                })
                .collect::<Result<_>>()?,
        };
        writer.write_record(&record)?;
    }
    writer.flush()?;
    Ok(())
}

fn convert(out: &Path, args: &[&str]) -> Result<()> {
    let mut options = PsvOptions::default();
    let (mut mate_scale, mut mate_slack) = (None, 0);
    let mut engine = (MateFold::DEFAULT_ENGINE_SCALE, MateFold::DEFAULT_ENGINE_SLACK);
    let mut inputs = Vec::new();
    let mut args = args.iter();
    while let Some(&arg) = args.next() {
        let mut value = || args.next().copied().ok_or(format!("{arg} needs a value"));
        match arg {
            "--move16" => options.moves = Some(value()?.parse()?),
            "--candidates" => options.candidates = Some(value()?.parse()?),
            "--layout" => options.layout = value()?.parse()?,
            "--mate-scale" => mate_scale = Some(value()?.parse()?),
            "--mate-slack" => mate_slack = value()?.parse()?,
            "--engine-mate-scale" => engine.0 = value()?.parse()?,
            "--engine-mate-slack" => engine.1 = value()?.parse()?,
            "--rows-per-file" => options.rows_per_file = value()?.parse()?,
            "--threads" => options.threads = value()?.parse()?,
            _ => inputs.push(PathBuf::from(arg)),
        }
    }
    if let Some(scale) = mate_scale {
        options.mates = Some(MateFold::new(engine, (scale, mate_slack))?);
    }
    let report = from_psv(&inputs, out, &options, &())?;
    let mut out = io::stdout().lock();
    writeln!(out, "move16\t{}", report.layout.moves)?;
    for (name, count) in [
        ("candidates", report.layout.candidates.into()),
        ("records", report.records),
        ("rows", report.rows),
        ("games", report.games),
        ("unlisted", report.unlisted),
        ("mates_folded", report.mates_folded),
        ("scores_clamped", report.scores_clamped),
        ("files", report.files.len() as u64),
    ] {
        writeln!(out, "{name}\t{count}")?;
    }
    for (reason, count) in &report.refused {
        writeln!(out, "refused\t{reason}\t{count}")?;
    }
    for refused in &report.refused_first {
        let (path, record, offset) = (refused.path.display(), refused.record, refused.offset);
        writeln!(out, "first\t{path}\t{record}\t{offset}\t{}\t{}", refused.reason, refused.detail)?;
    }
    for torn in &report.torn {
        writeln!(out, "torn\t{torn}")?;
    }
    Ok(())
}
