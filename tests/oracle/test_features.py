"""The features of `manaka-load` (docs/spec/features.md): planes and labels against cshogi, indices against the formula.

MANAKA_FEATURES names the program that answers (default: target/release/examples/feature_lines under the repository root,
built by `cargo build --release -p manaka-load --example feature_lines`). A missing one is a failure.
"""

import os
import random
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import cshogi
import cshogi.dlshogi as dlshogi
import numpy as np
import pyarrow.parquet as pq
import pytest

from oracle.loading import group_order, is_mirrored
from test_psv import full_hands
from test_rules import DROP_MATES, MATSURI, MOST_MOVES, STARTS, composed, hunted_kings, playouts, read_sfen, write_sfen

ROOT = Path(__file__).resolve().parents[2]
PLANES1, PLANES2 = 62, 57
P_INPUTS = 1548
HAND_ORDER = "PLNSGBR"
# features.md §4, written out again.
HANDS = [dict(zip(HAND_ORDER, row)) for row in ([1, 39, 49, 59, 69, 79, 85], [20, 44, 54, 64, 74, 82, 88])]
KINDS = ["P", "L", "N", "S", "G", "B", "+B", "R", "+R"]
GOLDS = {"+P": "G", "+L": "G", "+N": "G", "+S": "G"}


class Answer(NamedTuple):
    planes: np.ndarray
    bits: bytes
    lists: list[list[int]]
    labels: list[str]


@pytest.fixture(scope="session")
def program() -> Path:
    path = Path(os.environ.get("MANAKA_FEATURES") or ROOT / "target/release/examples/feature_lines").resolve()
    if not path.is_file():
        pytest.fail(f"{path} does not exist; build it, or point MANAKA_FEATURES at it", pytrace=False)
    return path


def ask(program: Path, lines: list[str], *arguments: str) -> list[Answer]:
    text = "".join(line + "\n" for line in lines)
    run = subprocess.run([program, *arguments], input=text, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    answers = []
    for line in run.stdout.splitlines():
        ok, planes, bits, *rest = line.split("\t")
        assert ok == "ok" and len(rest) == 5, line[:200]
        digits = np.frombuffer(planes.encode(), np.uint8) - ord("0")
        lists = [[int(index) for index in text.split()] for text in rest[:4]]
        answers.append(Answer(digits, bytes.fromhex(bits), lists, rest[4].split()))
    assert len(answers) == len(lines)
    return answers


class Position(NamedTuple):
    sfen: str
    moves: list[int]

    @property
    def line(self) -> str:
        return self.sfen + "\t" + " ".join(cshogi.move_to_usi(move) for move in self.moves)


@pytest.fixture(scope="session")
def sample() -> list[Position]:
    corpora = ROOT / "examples"
    sfens = []
    for name in ("corpus.parquet", "fairy-corpus.parquet"):
        rows = pq.read_table(corpora / name, columns=["sfen"])["sfen"].to_pylist()
        # Read and written again: corpora leave the move number out.
        sfens += [write_sfen(*read_sfen(text + " 1")) for text in random.Random(7).sample(rows, 2500)]
    sfens += [*STARTS, MATSURI, MOST_MOVES, *DROP_MATES, *playouts(505, 2500)]
    sfens += composed(506, 1500) + hunted_kings(507, 800) + full_hands(508, 400)
    positions = []
    for sfen in dict.fromkeys(sfens):
        board = cshogi.Board(sfen)
        positions.append(Position(sfen, list(board.legal_moves)))
    return positions


@pytest.fixture(scope="session")
def answers(program, sample) -> list[Answer]:
    return ask(program, [position.line for position in sample])


def planes_of(sfen: str) -> np.ndarray:
    first = np.zeros((PLANES1, 9, 9), np.float32)
    second = np.zeros((PLANES2, 9, 9), np.float32)
    dlshogi.make_input_features(cshogi.Board(sfen), first, second)
    return np.concatenate([first.ravel(), second.ravel()])


def test_the_sample_holds_what_it_is_meant_to_hold(sample):
    seen = Counter()
    for position in sample:
        squares, hands, side, _ = read_sfen(position.sfen)
        seen["positions"] += 1
        seen["side " + side] += 1
        seen["check " + side] += cshogi.Board(position.sfen).is_check()
        seen["whole" if len(squares) + sum(hands.values()) == 40 else "handicap"] += 1
        seen["9 pawns in a hand"] += max(hands["P"], hands["p"]) >= 9
        seen["moves"] += len(position.moves)
    assert seen["positions"] >= 9000 and seen["moves"] >= 500_000, seen
    assert min(seen["side b"], seen["side w"]) >= 3500 and min(seen["check b"], seen["check w"]) >= 300, seen
    assert min(seen["whole"], seen["handicap"]) >= 1500 and seen["9 pawns in a hand"] >= 300, seen


def test_planes_are_those_of_cshogi_byte_by_byte(sample, answers):
    assert (dlshogi.FEATURES1_NUM, dlshogi.FEATURES2_NUM) == (PLANES1, PLANES2)
    for position, answer in zip(sample, answers):
        expected = planes_of(position.sfen)
        assert np.array_equal(answer.planes.astype(np.float32), expected), (
            position.sfen,
            sorted({int(at) // 81 for at in np.nonzero(answer.planes != expected)[0]}),
        )


def test_bits_unfold_to_the_planes(answers):
    for answer in answers:
        first, second = answer.bits[:628], answer.bits[628:]
        squares = np.unpackbits(np.frombuffer(first, np.uint8), bitorder="little")
        whole = np.unpackbits(np.frombuffer(second, np.uint8), bitorder="little")
        assert not squares[PLANES1 * 81 :].any() and not whole[PLANES2:].any()
        unfolded = np.concatenate([squares[: PLANES1 * 81], np.repeat(whole[:PLANES2], 81)])
        assert np.array_equal(unfolded, answer.planes)


def test_labels_are_those_of_cshogi(sample, answers):
    for position, answer in zip(sample, answers):
        turn = cshogi.Board(position.sfen).turn
        expected = [str(dlshogi.make_move_label(move, turn)) for move in position.moves]
        assert answer.labels == expected, position.sfen
        # No two legal moves share a label.
        assert len(set(expected)) == len(expected), position.sfen


def naive_lists(sfen: str) -> list[Counter]:
    """HalfKP and KP of the mover and of its opponent, by the formulas of features.md."""
    squares, hands, side, _ = read_sfen(sfen)
    halfkp, kp = [], []
    for black in (side == "b", side != "b"):
        def at(file, rank):
            square = (file - 1) * 9 + rank - 1
            return square if black else 80 - square

        men, kings = [], {}
        for (file, rank), piece in squares.items():
            other = int(piece.isupper() != black)
            piece = piece.upper()
            if piece == "K":
                kings[other] = at(file, rank)
            else:
                kind = KINDS.index(GOLDS.get(piece, piece))
                men.append(90 + 162 * kind + 81 * other + at(file, rank))
        for letter, count in hands.items():
            other = int(letter.isupper() != black)
            men += [HANDS[other][letter.upper()] + number for number in range(count)]
        halfkp.append(Counter(kings[0] * P_INPUTS + man for man in men))
        kp.append(Counter([*men, P_INPUTS + kings[0], P_INPUTS + 81 + kings[1]]))
    return halfkp + kp


def test_indices_are_those_of_the_formula(sample, answers):
    for position, answer in zip(sample, answers):
        for found, expected, width in zip(answer.lists, naive_lists(position.sfen), (38, 38, 40, 40)):
            men = [index for index in found if index >= 0]
            # The pad stands behind everything else.
            assert found == men + [-1] * (width - len(men)), position.sfen
            assert Counter(men) == expected, position.sfen


def mirror_sfen(sfen: str) -> str:
    squares, hands, side, number = read_sfen(sfen)
    return write_sfen({(10 - file, rank): piece for (file, rank), piece in squares.items()}, hands, side, number)


def mirror_move(usi: str) -> str:
    return "".join(str(10 - int(letter)) if letter.isdigit() else letter for letter in usi)


def test_a_mirrored_row_is_the_row_of_the_mirrored_position(program, sample, answers):
    some = sample[::5]
    turned = ask(program, [position.line for position in some], "mirrored")
    lines = [
        mirror_sfen(p.sfen) + "\t" + " ".join(mirror_move(cshogi.move_to_usi(move)) for move in p.moves) for p in some
    ]
    for position, mirrored, plain in zip(some, turned, ask(program, lines)):
        assert np.array_equal(mirrored.planes, plain.planes), position.sfen
        assert mirrored.bits == plain.bits and mirrored.labels == plain.labels
        assert [sorted(indices) for indices in mirrored.lists] == [sorted(indices) for indices in plain.lists]
        expected = planes_of(mirror_sfen(position.sfen))
        assert np.array_equal(mirrored.planes.astype(np.float32), expected), position.sfen


def test_the_draws_that_the_loader_is_held_to():
    """The numbers stand in crates/load/src/order.rs: this is where they come from."""
    assert group_order(9, 1, 0) == [8, 1, 7, 0, 4, 6, 5, 2, 3]
    assert group_order(9, 1, 3) == [2, 7, 1, 3, 6, 5, 8, 0, 4]
    assert group_order(9, 1, 3, loading_pass=2, source=1) == [6, 2, 5, 0, 3, 4, 7, 8, 1]
    bits = [sum(is_mirrored(5, 2, group, row) << row for row in range(24)) for group in range(3)]
    assert bits == [0x020DEA, 0x04F7A4, 0x6B4AD5]


def test_what_has_no_features_is_refused_by_name(program):
    lines = ["4k4/9/9/9/9/9/9/9/9 b - 1", "nonsense", "4k4/9/9/9/9/9/9/9/4K4 b - 1\t7g7g"]
    run = subprocess.run([program], input="".join(line + "\n" for line in lines), capture_output=True, text=True)
    assert [line.split("\t")[0] for line in run.stdout.splitlines()] == ["error"] * 3
    assert "panicked" not in run.stderr
