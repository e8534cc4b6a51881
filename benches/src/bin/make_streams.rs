//! Makes streams of realistic load: games that follow a book and then wander, five scored candidates a position, a
//! fixed seed.
#![allow(clippy::print_stdout, reason = "a tool of the benchmarks")]

use anyhow::{Result, anyhow};
use clap::Parser;
use manaka_core::Conventions;
use manaka_core::stream::{Candidate, Compression, PartsOptions, PartsWriter, Record, RecordRef};
use manaka_core::{Move16, Packed};
use manaka_shogi::Board;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::num::NonZeroU64;
use std::path::PathBuf;

/// Write streams for benchmarks.
#[derive(Parser)]
struct Args {
    /// Directory for the parts; must exist.
    #[arg(long)]
    out: PathBuf,
    /// Records in all.
    #[arg(long)]
    records: u64,
    /// Records in a part.
    #[arg(long, default_value = "1000000")]
    records_per_part: NonZeroU64,
    /// Leave the parts uncompressed.
    #[arg(long)]
    raw: bool,
    /// Write the records in random order; they are held in memory.
    #[arg(long)]
    shuffle: bool,
    /// Seed of everything.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Plies of the book: two games that follow the same line share these positions.
const BOOK_PLIES: u64 = 18;
/// Share in 256ths of games that open from the initial position; the others open from a line of the book.
const FROM_START: u64 = 148;
/// Plies of such a line.
const OPENING_PLIES: u64 = 14;
/// Games are cut here.
const MAX_PLY: u16 = 320;

fn main() -> Result<()> {
    let args = Args::parse();
    let options = PartsOptions {
        conventions: Conventions { fv_scale: 28, ..Conventions::TEACHER },
        records_per_part: args.records_per_part,
        compression: if args.raw { Compression::None } else { Compression::Zstd { level: 1 } },
    };
    let mut writer = PartsWriter::create(&args.out, options)?;
    let mut rng = ChaCha8Rng::seed_from_u64(args.seed);
    let mut board = Board::start();
    let mut moves = Vec::new();
    let mut game = Vec::new();
    let mut held = Held::default();
    let mut written = 0;
    while written < args.records {
        play(&mut rng, &mut board, &mut moves, &mut game);
        for record in game.iter().take(usize::try_from(args.records - written)?) {
            written += 1;
            if args.shuffle {
                held.push(record)?;
            } else {
                writer.write(record)?;
            }
        }
    }
    held.write_shuffled(&mut rng, &mut writer)?;
    let summary = writer.finish()?;
    println!("{} records in {} parts, {} bytes", summary.records, summary.paths.len(), summary.bytes);
    Ok(())
}

/// Encoded records and where each begins.
#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl Held {
    fn push(&mut self, record: &Record) -> Result<()> {
        self.starts.push(self.bytes.len());
        record.encode(&mut self.bytes)?;
        Ok(())
    }

    fn write_shuffled(mut self, rng: &mut ChaCha8Rng, writer: &mut PartsWriter) -> Result<()> {
        for last in (1..self.starts.len()).rev() {
            let other = usize::try_from(rng.next_u64() % (last as u64 + 1))?;
            self.starts.swap(last, other);
        }
        for start in self.starts {
            let framed = RecordRef::frame(&self.bytes[start..]);
            writer.write_ref(framed.map_err(|need| anyhow!("a record wants {need} bytes"))?)?;
        }
        Ok(())
    }
}

/// Plays one game into `game`.
fn play(rng: &mut ChaCha8Rng, board: &mut Board, moves: &mut Vec<Move16>, game: &mut Vec<Record>) {
    game.clear();
    while board.undo() {}
    let skipped = if rng.next_u64() % 256 < FROM_START { 0 } else { OPENING_PLIES };
    // Lengths spread around a hundred plies, as in the corpora.
    let length = 40 + rng.next_u64() % 120;
    let black_wins = rng.next_u64().is_multiple_of(2);
    let mut score = 0i64;
    for ply in 0..skipped + length {
        board.legal_moves(moves);
        if moves.is_empty() || board.ply() >= u32::from(MAX_PLY) {
            break;
        }
        let packed = board.to_packed();
        let count = moves.len() as u64;
        // The book: a line's next move follows from the position, with a choice of up to four.
        let played = if ply < BOOK_PLIES {
            let width = 1 + ply.min(3);
            let draw = (rng.next_u64() % width).min(rng.next_u64() % width);
            (hash(&packed).wrapping_add(draw.wrapping_mul(7919))) % count
        } else {
            rng.next_u64() % count
        };
        let played = usize::try_from(played).unwrap_or(0);
        score += i64::try_from(rng.next_u64() % 161).unwrap_or(0) - 80;
        score = score.clamp(-3000, 3000);
        if ply >= skipped {
            game.push(record(rng, &packed, moves, played, ply, score, black_wins));
        }
        if board.play(moves[played]).is_err() {
            break;
        }
    }
}

fn record(
    rng: &mut ChaCha8Rng,
    packed: &Packed,
    moves: &[Move16],
    played: usize,
    ply: u64,
    score: i64,
    black_wins: bool,
) -> Record {
    let conventions = Conventions::TEACHER;
    // Five candidates, now and then fewer, as MultiPV 5 gives them: 4.8 on average.
    let wanted = if rng.next_u64().is_multiple_of(10) { 3 } else { 5 };
    let mate = rng.next_u64() % 100 < 7;
    let sign = if packed.side() == manaka_core::Color::Black { 1 } else { -1 };
    let mut cp = i16::try_from(sign * score).unwrap_or(0);
    if mate {
        cp = 30000 - i16::try_from(rng.next_u64() % 60).unwrap_or(0);
    }
    let root = cp;
    let mut candidates = Vec::with_capacity(5);
    let mut at = played;
    // A stride coprime to nothing in particular visits distinct moves; stop when it comes round.
    for _ in 0..wanted.min(moves.len()) {
        if candidates.iter().any(|c: &Candidate| c.mv == moves[at]) {
            break;
        }
        candidates.push(Candidate { mv: moves[at], visits: 0, cp });
        at = (at + 1 + usize::try_from(rng.next_u64() % 5).unwrap_or(0)) % moves.len();
        if mate {
            cp = i16::try_from(sign * score).unwrap_or(0);
        }
        cp = cp.saturating_sub(i16::try_from(rng.next_u64() % 90).unwrap_or(0));
    }
    let wins = (sign == 1) == black_wins;
    Record {
        ply: u16::try_from(ply + 1).unwrap_or(u16::MAX),
        value_z: if wins { 1.0 } else { -1.0 },
        value_q: conventions.value_q(root),
        packed: *packed,
        candidates,
    }
}

/// A hash for the book's lines: FNV-1a.
fn hash(packed: &Packed) -> u64 {
    packed
        .as_bytes()
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01B3))
}
