"""Raw PSV records (docs/spec/psv.md): their bytes by way of cshogi and rsshogi, and the corpus rows they become.

Positions are packed by the two libraries and never by code of this project. Moves are turned into bits by hand here, and
test_psv.py holds that to both libraries.
"""

import random
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import cshogi
import numpy as np

from .legality import legal_moves, waiting_side_in_check
from .position import SIDE, parse_sfen, structural_faults

LAYOUTS = ["yaneuraou", "apery", "manaka"]
ORDERS = ["move-score", "score-move", "moves-scores", "scores-moves"]
DROPS = {"yaneuraou": "PLNSBRG", "apery": "PLNSBRG", "manaka": "PLNSGBR"}
REASONS = [  # in the order they are looked for
    "bad_position", "bad_result", "bad_move", "bad_candidate", "unplayable", "no_move", "illegal_move",
    "no_candidates", "illegal_candidate", "duplicate_candidate", "bad_score",
]  # fmt: skip


class Record(NamedTuple):
    """One record; `sfen` without a move number, moves in USI, `move` None when absent."""

    sfen: str
    score: int
    move: str | None
    ply: int
    result: int
    candidates: list[tuple[str, int]]
    pad: int = 0


def move_bits(layout: str, usi: str) -> int:
    def square(text: str) -> int:
        file, rank = int(text[0]), ord(text[1]) - ord("a")
        return (9 - file if layout == "manaka" else file - 1) * 9 + rank

    if usi[1] == "*":
        piece = DROPS[layout].index(usi[0])
        if layout == "yaneuraou":
            return square(usi[2:]) | (piece + 1) << 7 | 1 << 14
        return square(usi[2:]) | (81 + piece) << 7
    promotes = (1 << 15 if layout == "yaneuraou" else 1 << 14) if usi.endswith("+") else 0
    return square(usi[2:4]) | square(usi[:2]) << 7 | promotes


def cshogi_position(sfen: str) -> bytes:
    """The 32 bytes as cshogi writes them."""
    record = np.zeros(1, cshogi.PackedSfenValue)
    cshogi.Board(f"{sfen} 1").to_psfen(record["sfen"])
    return record["sfen"].tobytes()


def record_bytes(record: Record, layout: str, slots: int, order: str = "move-score", implied: bool = False) -> bytes:
    played = 0 if record.move is None else move_bits(layout, record.move)
    fixed = cshogi_position(record.sfen)
    fixed += struct.pack("<hHHbB", record.score, played, record.ply, record.result, record.pad)
    listed = record.candidates
    if implied:
        assert record.move is None or listed[0] == (record.move, record.score)
        listed = listed[1:]
    assert len(listed) <= slots
    pairs = [(move_bits(layout, usi), score) for usi, score in listed] + [(0, 0)] * (slots - len(listed))
    moves = [struct.pack("<H", bits) for bits, _ in pairs]
    scores = [struct.pack("<h", score) for _, score in pairs]
    match order:
        case "move-score":
            tail = [half for pair in zip(moves, scores) for half in pair]
        case "score-move":
            tail = [half for pair in zip(scores, moves) for half in pair]
        case "moves-scores":
            tail = moves + scores
        case "scores-moves":
            tail = scores + moves
    return fixed + b"".join(tail)


def game(start: str, draw: random.Random, plies: int, width: int) -> list[Record]:
    """A random game from a position with a move number; each record lists the played move among `width` at most."""
    board = cshogi.Board(start)
    black = draw.choice([1, -1, 0])
    records = []
    for _ in range(plies):
        moves = [cshogi.move_to_usi(move) for move in board.legal_moves]
        if not moves:
            break
        played = draw.choice(moves)
        others = [move for move in draw.sample(moves, min(len(moves), width + 1)) if move != played]
        listed = [played, *others][:width]
        draw.shuffle(listed)
        top = draw.randint(-3000, 3000)
        candidates = [(move, top - draw.randrange(20) - 15 * place) for place, move in enumerate(listed)]
        sfen, ply = board.sfen().rsplit(" ", 1)
        score = dict(candidates).get(played, top)
        records.append(
            Record(sfen, score, played, int(ply), black if board.turn == cshogi.BLACK else -black, candidates)
        )
        board.push_usi(played)
    return records


class Fold(NamedTuple):
    """psv.md §7.3."""

    engine: int
    engine_slack: int
    scale: int
    slack: int

    def __call__(self, score: int) -> int | None:
        size, sign = abs(score), -1 if score < 0 else 1
        if size > self.engine:
            return None
        if size >= self.engine - self.engine_slack:
            return sign * (self.scale - (self.engine - size))
        return sign * min(size, self.scale - self.slack - 1)


def verdict(record: Record, slots: int, fold=lambda score: score) -> dict | str:
    """The row of a record whose bytes are sound, or the reason it has none (psv.md §7)."""
    packed = parse_sfen(record.sfen)
    if structural_faults(packed) or waiting_side_in_check(packed):
        return "unplayable"
    legal = legal_moves(packed)
    if record.move is None:
        return "no_move"
    if record.move not in legal:
        return "illegal_move"
    candidates = record.candidates
    if not candidates:
        if slots:
            return "no_candidates"
        candidates = [(record.move, record.score)]
    for place, (move, _) in enumerate(candidates):
        if move not in legal:
            return "illegal_candidate"
        if move in [earlier for earlier, _ in candidates[:place]]:
            return "duplicate_candidate"
    scores = [record.score, *(score for _, score in candidates)]
    folded = [None if score == -32768 else fold(score) for score in scores]
    if None in folded:
        return "bad_score"
    side = packed[SIDE]
    return {
        "sfen": record.sfen, "side": side, "ply": record.ply, "cp": folded[0], "depth": 0,
        "cand_move": [move for move, _ in candidates], "cand_cp": folded[1:], "move": record.move,
        "result": -record.result if side else record.result,
    }  # fmt: skip


class PsvLines:
    """The program under test: crates/corpus/examples/psv_lines.rs."""

    def __init__(self, program: Path):
        self.program = program

    def run(self, *arguments, text: str = "") -> subprocess.CompletedProcess:
        command = [str(self.program), *map(str, arguments)]
        run = subprocess.run(command, input=text, capture_output=True, text=True, timeout=600)
        assert "panicked at" not in run.stderr, run.stderr
        return run

    def lines(self, *arguments, text: str = "") -> list[str]:
        run = self.run(*arguments, text=text)
        assert run.returncode == 0, run.stderr
        return run.stdout.splitlines()

    def answers(self, *arguments, lines: list) -> list[str]:
        answers = self.lines(*arguments, text="".join(f"{line}\n" for line in lines))
        assert len(answers) == len(lines)
        return answers

    def convert(self, out: Path, *arguments) -> "Report":
        return Report([line.split("\t") for line in self.lines("convert", out, *arguments)])

    def refused_to_convert(self, out: Path, *arguments) -> str:
        run = self.run("convert", out, *arguments)
        assert run.returncode == 1, run.stdout
        assert not list(out.glob("*"))
        return run.stderr


class Report:
    """What `psv_lines convert` prints."""

    def __init__(self, lines: list[list[str]]):
        self.counts = {line[0]: line[1] for line in lines if len(line) == 2 and line[0] != "torn"}
        self.move16 = self.counts.pop("move16")
        self.counts = {name: int(count) for name, count in self.counts.items()}
        self.refused = {reason: int(count) for kind, reason, count in (x for x in lines if x[0] == "refused")}
        self.first = [(Path(x[1]).name, int(x[2]), int(x[3]), x[4]) for x in lines if x[0] == "first"]
        self.torn = [line[1] for line in lines if line[0] == "torn"]


def text_line(record: Record) -> str:
    """A record as `psv_lines read` prints it."""
    candidates = " ".join(f"{move}:{score}" for move, score in record.candidates)
    fields = (record.sfen, record.score, record.move or "-", record.ply, record.result, record.pad, candidates)
    return "\t".join(map(str, fields))
