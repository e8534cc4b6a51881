"""The loader, in Rust and from the wheel, beside a loop of cshogi and numpy, and beside plain column reads of pyarrow:
the same shards, one run.

    python benches/python/load_side_by_side.py SHARDS [--rate PATH] [--rows N] [--repeat N]

Each figure is positions a second of one core. The loops of cshogi do what trainers' own loaders do: a board is set for each
row (from a HuffmanCodedPos, its fastest way in), features are written to arrays that are kept. They run over the first N rows.
"""

import argparse
import subprocess
import time
from pathlib import Path

import cshogi
import cshogi.dlshogi as dlshogi
import manaka
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

BOARD_KINDS = "KRBGSNLP"
HAND_ORDER = "PLNSGBR"
HALFKP_BASES = [0, 90, 252, 414, 576, 900, 1224, 738, 0, 738, 738, 738, 738, 1062, 1386]
HANDS = [[1, 39, 49, 59, 69, 79, 85], [20, 44, 54, 64, 74, 82, 88]]


def sfen(packed: bytes) -> str:
    """The 96 bytes as SFEN."""
    ranks = []
    for rank in range(9):
        text, empty = "", 0
        for column in range(9):
            byte = packed[column * 9 + rank]
            if byte == 0xFF:
                empty += 1
                continue
            kind = byte & 15
            letter = BOARD_KINDS[kind] if kind < 8 else "+" + "RBSNLP"[kind - 8]
            text += (str(empty) if empty else "") + (letter.lower() if byte & 16 else letter)
            empty = 0
        ranks.append(text + (str(empty) if empty else ""))
    hand = ""
    for side in range(2):
        for at, letter in enumerate(HAND_ORDER):
            count = packed[81 + 7 * side + at]
            if count:
                hand += (str(count) if count > 1 else "") + (letter.lower() if side else letter)
    return f"{'/'.join(ranks)} {'bw'[packed[95]]} {hand or '-'} 1"


def coded(packed: np.ndarray) -> np.ndarray:
    """Positions as cshogi reads them fastest; made outside of the timing."""
    out = np.zeros(len(packed), cshogi.HuffmanCodedPos)
    board = cshogi.Board()
    for row, position in enumerate(packed):
        board.set_sfen(sfen(position.tobytes()))
        board.to_hcp(out[row : row + 1])
    return out


def planes(positions: np.ndarray, batch: int) -> None:
    first = np.zeros((batch, dlshogi.FEATURES1_NUM, 9, 9), np.float32)
    second = np.zeros((batch, dlshogi.FEATURES2_NUM, 9, 9), np.float32)
    board = cshogi.Board()
    for start in range(0, len(positions), batch):
        first.fill(0)
        second.fill(0)
        for row, position in enumerate(positions[start : start + batch]):
            board.set_hcp(position["hcp"])
            dlshogi.make_input_features(board, first[row], second[row])


def halfkp(positions: np.ndarray, batch: int) -> None:
    own = np.full((batch, 38), -1, np.int32)
    other = np.full((batch, 38), -1, np.int32)
    own_base = np.zeros(33, np.int32)
    other_base = np.zeros(33, np.int32)
    for kind, base in enumerate(HALFKP_BASES):
        own_base[kind], own_base[kind + 16] = base, base + 81
        other_base[kind], other_base[kind + 16] = base + 81, base
    board = cshogi.Board()
    for start in range(0, len(positions), batch):
        for row, position in enumerate(positions[start : start + batch]):
            board.set_hcp(position["hcp"])
            pieces = np.array(board.pieces)
            black, white = int(np.argmax(pieces == cshogi.BKING)), int(np.argmax(pieces == cshogi.WKING))
            squares = np.flatnonzero(pieces)
            squares = squares[(squares != black) & (squares != white)]
            kinds = pieces[squares]
            ours = [own_base[kinds] + squares]
            theirs = [other_base[kinds] + 80 - squares]
            for color, hand in enumerate(board.pieces_in_hand):
                for kind, count in enumerate(hand):
                    if count:
                        ours.append(HANDS[color][kind] + np.arange(count))
                        theirs.append(HANDS[1 - color][kind] + np.arange(count))
            lists = np.concatenate(ours) + 1548 * black, np.concatenate(theirs) + 1548 * (80 - white)
            if board.turn == cshogi.WHITE:
                lists = lists[::-1]
            own[row, : len(lists[0])], other[row, : len(lists[1])] = lists


def columns(paths: list[Path], names: list[str]) -> int:
    rows = 0
    for path in paths:
        file = pq.ParquetFile(path, memory_map=False)
        for group in range(file.num_row_groups):
            rows += file.read_row_group(group, columns=names, use_threads=False).num_rows
    return rows


def wheel(shards: Path, batch: int, **options) -> None:
    for _ in manaka.Loader(shards, batch_size=batch, threads=1, **options):
        pass


def rate(rows: int, repeat: int, run) -> float:
    """Positions a second of processor time, the best of some runs."""
    best = 0.0
    for _ in range(repeat):
        began = time.process_time()
        run()
        best = max(best, rows / (time.process_time() - began))
    return best


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("shards", type=Path)
    parser.add_argument("--rate", type=Path, default=Path("target/release/load-rate"))
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)

    paths = sorted(args.shards.glob("*.parquet")) if args.shards.is_dir() else [args.shards]
    total = sum(pq.read_metadata(path).num_rows for path in paths)
    table = pq.ParquetFile(paths[0]).iter_batches(args.rows, columns=["packed"])
    packed = np.frombuffer(b"".join(next(table)["packed"].to_pylist()), np.uint8).reshape(-1, 96)
    positions = coded(packed)

    print(f"{total:,} rows; cshogi's loops over {len(positions):,} of them; positions a second of one core")
    theirs = {
        "cshogi planes f32": rate(len(positions), args.repeat, lambda: planes(positions, args.batch)),
        "cshogi halfkp": rate(len(positions), args.repeat, lambda: halfkp(positions, args.batch)),
        "pyarrow value columns": rate(total, args.repeat, lambda: columns(paths, ["packed", "value_q", "weight"])),
        "pyarrow with candidates": rate(
            total, args.repeat, lambda: columns(paths, ["packed", "value_q", "weight", "candidates"])
        ),
    }
    for name, figure in theirs.items():
        print(f"{name:26} {figure:12,.0f}")
    for features in ("halfkp", "kp", "planes", "planes_u8", "planes_bits"):
        figure = rate(total, args.repeat, lambda: wheel(args.shards, args.batch, features=features))
        print(f"{'wheel ' + features:26} {figure:12,.0f}")
    run = subprocess.run(
        [args.rate, args.shards, "--batch-size", str(args.batch), "--repeat", str(args.repeat)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    print(run.stdout)
    ours = {line.split()[0]: float(line.split()[2]) for line in run.stdout.splitlines()[2:]}
    for name, other in [
        ("halfkp", "cshogi halfkp"),
        ("planes_f32", "cshogi planes f32"),
        ("planes_u8", "cshogi planes f32"),
        ("planes_bits", "cshogi planes f32"),
        ("halfkp", "pyarrow value columns"),
        ("planes_bits", "pyarrow value columns"),
        ("planes_bits+policy", "pyarrow with candidates"),
    ]:
        print(f"{name:20} {ours[name] / theirs[other]:7.2f} x {other}")


if __name__ == "__main__":
    main()
