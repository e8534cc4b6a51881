//! How fast editors are beside only decoding and encoding the same streams: `edit_speed SCRATCH STREAM…` (docs/performance.md).
#![allow(clippy::print_stdout, reason = "an example")]

use manaka_core::stream::{Compression, StreamReader, StreamWriter};
use manaka_edit::{CutOptions, Job, OutputOptions, Relabel, Unfinished, cut, merge, rotate};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs `work` into an empty directory, three times, and gives the least seconds.
fn least(
    dir: &Path,
    mut work: impl FnMut(&Path) -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        fs::create_dir_all(dir)?;
        let began = Instant::now();
        work(dir)?;
        least = least.min(began.elapsed().as_secs_f64());
        fs::remove_dir_all(dir)?;
    }
    Ok(least)
}

fn job<'a>(inputs: &'a [PathBuf], out: &'a Path) -> Job<'a> {
    Job { inputs, out, progress: &() }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let scratch = args.next().ok_or("a scratch directory, then streams")?.join("edit-speed");
    let inputs: Vec<PathBuf> = args.collect();
    let (mut records, mut bytes) = (0u64, 0u64);
    let decode = least(&scratch, |_| {
        (records, bytes) = (0, 0);
        for path in &inputs {
            let mut reader = StreamReader::open(path)?;
            while let Some(record) = reader.next_ref()? {
                records += 1;
                bytes += record.bytes().len() as u64;
            }
        }
        Ok(())
    })?;
    println!("{records} records, {bytes} bytes; only decoded: {decode:.2} s");
    for (name, compression) in [("raw", Compression::None), ("zstd 3", Compression::DEFAULT)] {
        let output = OutputOptions { records_per_part: None, compression: Some(compression) };
        let floor = least(&scratch, |dir| {
            let conventions = StreamReader::open(&inputs[0])?.header().conventions;
            let path = dir.join(format!("all{}", compression.suffix()));
            let mut writer = StreamWriter::create(&path, conventions, compression)?;
            for path in &inputs {
                let mut reader = StreamReader::open(path)?;
                while let Some(record) = reader.next_ref()? {
                    writer.write_ref(record)?;
                }
            }
            writer.finish()?;
            Ok(())
        })?;
        println!("{name}: decoded and encoded: {floor:.2} s");
        let told = |verb: &str, seconds: f64| {
            println!("{name}: {verb}: {seconds:.2} s, {:.2} × that", seconds / floor)
        };
        told("merge", least(&scratch, |dir| Ok(merge(job(&inputs, dir), &output).map(drop)?))?);
        told("rotate", least(&scratch, |dir| Ok(rotate(job(&inputs, dir), &output).map(drop)?))?);
        let options = CutOptions {
            max_ply: Some(100),
            relabel: Some(Relabel::Draw),
            drop_unfinished: Some(Unfinished::Drawn),
            output,
            ..CutOptions::default()
        };
        told("cut", least(&scratch, |dir| Ok(cut(job(&inputs, dir), &options).map(drop)?))?);
    }
    Ok(())
}
