"""What a loader should deliver, row by row and with other people's code: pyarrow reads, cshogi makes planes and labels.

Index lists are made by the formulas of features.md, orders by the oracle's generator (tests/oracle).
"""

import sys
from pathlib import Path
from typing import NamedTuple

import cshogi
import cshogi.dlshogi as dlshogi
import numpy as np
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/oracle"))

from oracle.loading import group_order, is_mirrored  # noqa: E402
from oracle.position import move16_to_usi, to_sfen  # noqa: E402

# features.md §4, by board byte K R B G S N L P +R +B +S +N +L +P: which pair of 81 behind 90.
PAIRS = [None, 7, 5, 4, 3, 2, 1, 0, 8, 6, 4, 4, 4, 4]
HANDS = [[1, 39, 49, 59, 69, 79, 85], [20, 44, 54, 64, 74, 82, 88]]


class Row(NamedTuple):
    """A row of a shard, and the group of the set it lies in."""

    packed: bytes
    ply: int
    value_z: float | None
    value_q: float
    weight: int
    candidates: list[tuple[int, float]]
    black: bool
    group: int
    number: int


def read(paths) -> list[list[Row]]:
    """The rows of a set by row group; groups without rows are not counted."""
    groups = []
    for path in paths:
        file = pq.ParquetFile(path)
        black = file.schema_arrow.metadata[b"pov"] == b"black"
        for group in range(file.num_row_groups):
            rows = []
            for number, row in enumerate(file.read_row_group(group).to_pylist()):
                candidates = [(c["mv"], c["prob"]) for c in row["candidates"]]
                kept = (row["packed"], row["ply"], row.get("value_z"), row["value_q"], row["weight"], candidates)
                rows.append(Row(*kept, black, len(groups), number))
            if rows:
                groups.append(rows)
    return groups


def in_order(groups, order="written", seed=0, epoch=0) -> list[Row]:
    numbers = range(len(groups)) if order == "written" else group_order(len(groups), seed, epoch)
    return [row for number in numbers for row in groups[number]]


def part(rows, rank, world_size):
    return rows[len(rows) * rank // world_size : len(rows) * (rank + 1) // world_size]


def mirrored_position(packed: bytes) -> bytes:
    files = [packed[9 * file : 9 * file + 9] for file in range(9)]
    return b"".join(reversed(files)) + packed[81:]


def mirrored_move(usi: str) -> str:
    return "".join(str(10 - int(letter)) if letter.isdigit() else letter for letter in usi)


def value(row: Row, blend: float) -> float:
    z, q, r = np.float32(row.value_q if row.value_z is None else row.value_z), np.float32(row.value_q), np.float32(blend)
    blended = q if row.value_z is None else (np.float32(1) - r) * z + r * q
    return -blended if row.black and row.packed[95] == 1 else blended


def weight(row: Row, mode) -> float:
    if mode == "sqrt":
        return np.sqrt(row.weight)
    if mode == "log":
        return np.log2(1 + row.weight)
    return row.weight if mode == "stored" else min(row.weight, mode)


def index_list(packed: bytes, kp: bool, opponent: bool) -> list[int]:
    """HalfKP or KP as the mover or its opponent sees it, ascending."""
    viewer = packed[95] ^ opponent
    men, kings = [], {}
    for square, byte in enumerate(packed[:81]):
        if byte == 0xFF:
            continue
        seen = (8 - square // 9) * 9 + square % 9
        seen = 80 - seen if viewer else seen
        other = int(bool(byte & 16) != bool(viewer))
        if byte & 15:
            men.append(90 + 162 * PAIRS[byte & 15] + 81 * other + seen)
        else:
            kings[other] = seen
    for side, hand in enumerate((packed[81:88], packed[88:95])):
        for kind, count in enumerate(hand):
            men += [HANDS[side ^ viewer][kind] + number for number in range(count)]
    if kp:
        return sorted([*men, 1548 + kings[0], 1629 + kings[1]])
    return sorted(kings[0] * 1548 + man for man in men)


def planes(packed: bytes):
    first, second = np.zeros((62, 9, 9), np.float32), np.zeros((57, 9, 9), np.float32)
    dlshogi.make_input_features(cshogi.Board(to_sfen(packed) + " 1"), first, second)
    return first, second


def label(packed: bytes, usi: str) -> int:
    board = cshogi.Board(to_sfen(packed) + " 1")
    return dlshogi.make_move_label(board.move_from_usi(usi), board.turn)


def mirrors(row: Row, mirror: str, seed: int, epoch: int) -> bool:
    return mirror == "always" or (mirror == "half" and is_mirrored(seed, epoch, row.group, row.number))


def expected(row: Row, *, features=None, policy=None, blend=1.0, weight_mode="stored", mirror=False) -> dict:
    """A row as `rows` shows those of a batch."""
    out = {"value": value(row, blend), "weight": weight(row, weight_mode), "packed": row.packed, "ply": row.ply}
    packed = mirrored_position(row.packed) if mirror else row.packed
    if features in ("halfkp", "kp"):
        out["mover"] = index_list(packed, features == "kp", False)
        out["opponent"] = index_list(packed, features == "kp", True)
    elif features is not None:
        first, second = planes(packed)
        out["first"], out["second"] = first.astype(np.uint8).tobytes(), second.astype(np.uint8).tobytes()
    if policy is not None:
        moves = [(move16_to_usi(mv), prob) for mv, prob in row.candidates]
        labels = [(label(packed, mirrored_move(usi) if mirror else usi), prob) for usi, prob in moves]
        out["policy"] = labels if policy == "sparse" else sorted(labels)
    return out
