"""Raw PSV to corpus parquet to MPK1: the chain of this project beside a cshogi and pyarrow script that does the same.

    cargo build --release -p manaka -p manaka-corpus --bins --examples
    .venv/bin/python benches/python/psv_chain.py

Both sides get the same file of random games (five candidates a record, YaneuraOu's move16), prove every move legal,
write zstd parquet with the same columns, read it again and write one zstd stream. The script is what one writes with
these two libraries: numpy reads the records, cshogi decodes each, lists become arrow tables. Its answers are compared
with ours row by row and byte by byte before a figure is printed.

The wall time is what counts; ours is the best of several runs, at one thread and at all cores.
"""

import argparse
import math
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cshogi
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

ROOT = Path(__file__).resolve().parents[2]
CANDIDATES = 5
RECORD = np.dtype([("psv", cshogi.PackedSfenValue), ("list", [("move", "<u2"), ("score", "<i2")], (CANDIDATES,))])
SCHEMA = pa.schema([
    ("sfen", pa.string()), ("side", pa.uint8()), ("ply", pa.uint16()), ("cp", pa.int16()), ("depth", pa.uint8()),
    ("cand_move", pa.list_(pa.string())), ("cand_cp", pa.list_(pa.int16())), ("move", pa.string()),
    ("result", pa.int8()),
])  # fmt: skip
BATCH = 32768
MATE_SCALE, MATE_THRESHOLD, EVAL_COEF = 30000, 29680, struct.unpack("<f", struct.pack("<f", 1512.173))[0]


def make_games(path: Path, records: int, seed: int) -> None:
    """Random games, so that most candidates are legal moves nobody would play; the work is the same."""
    draw = random.Random(seed)
    out = np.zeros(records, RECORD)
    at = 0
    while at < records:
        board, ply, black = cshogi.Board(), 1, draw.choice([1, -1, 0])
        while at < records and ply <= 160:
            moves = list(board.legal_moves)
            if not moves:
                break
            played = draw.choice(moves)
            listed = [played] + [move for move in draw.sample(moves, min(CANDIDATES, len(moves))) if move != played]
            record, score = out[at], draw.randint(-2000, 2000)
            board.to_psfen(record["psv"]["sfen"])
            record["psv"]["score"], record["psv"]["gamePly"] = score, ply
            record["psv"]["move"] = cshogi.move16_to_psv(cshogi.move16(played))
            record["psv"]["game_result"] = black if board.turn == cshogi.BLACK else -black
            for slot, move in enumerate(listed[:CANDIDATES]):
                record["list"][slot] = (cshogi.move16_to_psv(cshogi.move16(move)), score - 10 * slot)
            board.push(played)
            at, ply = at + 1, ply + 1
    out.tofile(path)


# The script.


def psv_to_parquet(raw: Path, parquet: Path) -> None:
    records = np.fromfile(raw, RECORD)
    board = cshogi.Board()
    with pq.ParquetWriter(parquet, SCHEMA, compression="zstd") as writer:
        for start in range(0, len(records), BATCH):
            batch = records[start : start + BATCH]
            psv, listed = batch["psv"], batch["list"]
            positions, played = psv["sfen"], psv["move"].tolist()
            moves, scores = listed["move"].tolist(), listed["score"].tolist()
            results = psv["game_result"].tolist()
            columns = {name: [] for name in ("sfen", "side", "cand_move", "cand_cp", "move", "result")}
            for at in range(len(batch)):
                board.set_psfen(positions[at])
                texts, cps = [], []
                for bits, score in zip(moves[at], scores[at]):
                    if bits:
                        texts.append(_usi(board, bits))
                        cps.append(score)
                side = board.turn
                columns["sfen"].append(board.sfen().rsplit(" ", 1)[0])
                columns["side"].append(side)
                columns["cand_move"].append(texts)
                columns["cand_cp"].append(cps)
                columns["move"].append(_usi(board, played[at]))
                columns["result"].append(-results[at] if side else results[at])
            columns |= {"ply": psv["gamePly"], "cp": psv["score"], "depth": np.zeros(len(batch), np.uint8)}
            writer.write_table(pa.table([pa.array(columns[f.name], f.type) for f in SCHEMA], schema=SCHEMA))


def _usi(board: cshogi.Board, bits: int) -> str:
    move = board.move_from_psv(bits)
    if not board.is_legal(move):
        raise ValueError(f"illegal move {bits:#06x} in {board.sfen()}")
    return cshogi.move_to_usi(move)


# cshogi's pieces (P L N S B R G K and promoted, White from 16) as stream.md's board bytes; its hands' order is P L N S G
# B R, as ours.
KINDS = [7, 6, 5, 4, 2, 1, 3, 0, 13, 12, 11, 10, 9, 8]
BOARD_BYTES = {0: 0xFF} | {p + 1 + 16 * white: kind | 16 * white for white in (0, 1) for p, kind in enumerate(KINDS)}
SQUARES = [(8 - square // 9) * 9 + square % 9 for square in range(81)]


def parquet_to_mpk1(parquet: Path, stream: Path) -> None:
    board = cshogi.Board()
    record, candidate = struct.Struct("<HffH"), struct.Struct("<HIh")
    compressor = zstandard.ZstdCompressor(level=3, write_checksum=True)
    with open(stream, "wb") as file, compressor.stream_writer(file) as out:
        out.write(struct.pack("<4sHHBBHHHfI", b"MPK1", 2, 96, 0, 1, MATE_SCALE, 0, 0, EVAL_COEF, 0))
        for batch in pq.ParquetFile(parquet).iter_batches(BATCH):
            columns = batch.to_pydict()
            parts = []
            for sfen, side, ply, cp, moves, cps, move, result in zip(*(
                columns[name] for name in ("sfen", "side", "ply", "cp", "cand_move", "cand_cp", "move", "result")
            )):  # fmt: skip
                board.set_sfen(sfen + " 1")
                if board.turn != side or move not in moves:
                    raise ValueError(sfen)
                mate = abs(cp) >= MATE_THRESHOLD
                value_q = math.copysign(1, cp) if mate else math.tanh(cp / EVAL_COEF)
                parts.append(record.pack(ply, -result if side else result, value_q, len(moves)))
                pieces = bytes([BOARD_BYTES[piece] for piece in board.pieces])
                black, white = board.pieces_in_hand
                parts.append(b"".join([pieces[72 - 9 * f : 81 - 9 * f] for f in range(9)]) + bytes([*black, *white, side]))
                for text, score in zip(moves, cps):
                    legal = board.move_from_usi(text)
                    if not board.is_legal(legal):
                        raise ValueError(text)
                    parts.append(candidate.pack(_move16(legal), 0, score))
            out.write(b"".join(parts))


def _move16(move: int) -> int:
    to = SQUARES[cshogi.move_to(move)]
    if cshogi.move_is_drop(move):
        return to | (81 + cshogi.move_drop_hand_piece(move)) << 7
    return to | SQUARES[cshogi.move_from(move)] << 7 | (0x4000 if cshogi.move_is_promotion(move) else 0)


# The comparison.


def measured(act) -> tuple[float, float]:
    """Wall seconds, and CPU seconds of this process and its children."""

    def cpu() -> float:
        of = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(usage.ru_utime + usage.ru_stime for usage in of)

    wall, before = time.perf_counter(), cpu()
    act()
    return time.perf_counter() - wall, cpu() - before


def call(*command) -> None:
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexit {run.returncode}\n{run.stdout}{run.stderr}")


def records_of(data: bytes):
    at = 24
    while at < len(data):
        ply, z, q, n = struct.unpack_from("<HffH", data, at)
        end = at + 108 + 8 * n
        yield (ply, z, data[at + 10 : end]), q
        at = end


def compare(ours: Path, theirs: Path, our_stream: Path, their_stream: Path) -> None:
    if not pq.read_table(ours).equals(pq.read_table(theirs)):
        sys.exit("the two corpora differ")
    left, right = (zstandard.ZstdDecompressor().stream_reader(path.open("rb")).read() for path in (our_stream, their_stream))
    if left[:24] != right[:24] or len(left) != len(right):
        sys.exit("the two streams differ in header or length")
    for (one, q), (other, other_q) in zip(records_of(left), records_of(right)):
        # Two tanhs may round a last bit apart.
        if one != other or abs(q - other_q) > 1e-7:
            sys.exit("the two streams differ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--manaka", type=Path, default=ROOT / "target/release/manaka")
    parser.add_argument("--psv-lines", type=Path, help="convert with this example program instead of `manaka corpus`")
    parser.add_argument("--records", type=int, default=300_000)
    parser.add_argument("--runs", type=int, default=5, help="runs of ours, of which the best counts")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    def corpus(raw, out, threads):
        if args.psv_lines:
            call(args.psv_lines, "convert", out, "--threads", threads, raw)
        else:
            call(args.manaka, "corpus", raw, "--out", out, "--threads", threads)

    with tempfile.TemporaryDirectory() as temp:
        temp = Path(temp)
        raw = temp / "raw.psv"
        make_games(raw, args.records, args.seed)
        script = [
            measured(lambda: psv_to_parquet(raw, temp / "script.parquet")),
            measured(lambda: parquet_to_mpk1(temp / "script.parquet", temp / "script.mpk.zst")),
        ]
        print(f"{args.records} records, {os.cpu_count()} cores; µs a record, wall (CPU)")
        report("script", script, args.records)
        for threads in sorted({1, os.cpu_count()}):
            best = None
            for _ in range(args.runs):
                for name in ("corpus", "stream"):
                    shutil.rmtree(temp / name, ignore_errors=True)
                steps = [
                    measured(lambda: corpus(raw, temp / "corpus", threads)),
                    measured(lambda: call(
                        args.manaka, "teacher", temp / "corpus", "--out", temp / "stream", "--threads", threads
                    )),
                ]  # fmt: skip
                if best is None or sum(wall for wall, _ in steps) < sum(wall for wall, _ in best):
                    best = steps
            compare(
                temp / "corpus/part-00000.parquet", temp / "script.parquet",
                temp / "stream/part-00000.mpk.zst", temp / "script.mpk.zst",
            )  # fmt: skip
            report(f"manaka, {threads} threads", best, args.records, script)


def report(name: str, steps, records: int, script=None) -> None:
    whole = tuple(map(sum, zip(*steps)))
    text = [f"{name:18}"]
    for step, of, base in zip(("psv→parquet", "parquet→mpk1", "chain"), [*steps, whole], _bases(script)):
        wall, cpu = (seconds / records * 1e6 for seconds in of)
        times = f"  {base / of[0]:5.1f}x" if base else ""
        text.append(f"{step} {wall:6.2f} ({cpu:6.2f}){times}")
    print("   ".join(text), flush=True)


def _bases(script):
    return [None] * 3 if script is None else [*(wall for wall, _ in script), sum(wall for wall, _ in script)]


if __name__ == "__main__":
    main()
