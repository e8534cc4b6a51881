"""Corpus parquet to records and refusals, row by row (docs/spec/corpus.md; conventions.md for the numbers)."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq

from .legality import legal_moves, waiting_side_in_check
from .mpk import NO_OUTCOME, NO_VISITS, Candidate, Header, Record
from .position import SIDE, SfenError, parse_sfen, structural_faults, usi_to_move16

COLUMNS = ["sfen", "side", "ply", "cp", "cand_move", "cand_cp", "move", "result"]
NOT_MOVES = {"resign", "win", "none", "pass", "0000"}  # USI words with no move16
REASONS = [  # in the order they are looked for
    "malformed_record", "bad_sfen", "side_mismatch", "unlabelled_move", "move_not_candidate", "no_legal_moves",
    "illegal_candidate",
]  # fmt: skip


class Refusal(NamedTuple):
    row: int
    reason: str


class _Refused(Exception):
    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


@dataclass
class Verdict:
    rows: int
    records: list[Record]
    refusals: list[Refusal]

    def counts(self) -> dict[str, int]:
        return {reason: sum(r.reason == reason for r in self.refusals) for reason in REASONS}


def distil(path, header: Header, strict: bool = True, keep_off_search: bool = False) -> Verdict:
    """Judge every row of one corpus file under the conventions `header` states."""
    rows = pq.read_table(path, columns=COLUMNS).to_pylist()
    return distil_rows(rows, header, strict, keep_off_search)


def distil_rows(rows: list[dict], header: Header, strict: bool = True, keep_off_search: bool = False) -> Verdict:
    verdict = Verdict(len(rows), [], [])
    for number, row in enumerate(rows):
        try:
            verdict.records.append(_record(row, header, strict, keep_off_search))
        except _Refused as refused:
            verdict.refusals.append(Refusal(number, refused.reason))
    return verdict


def is_malformed(row: dict) -> bool:
    """corpus.md, malformed_record: what can be seen without looking at the position."""
    if any(row[name] is None for name in COLUMNS):
        return True
    moves, scores = row["cand_move"], row["cand_cp"]
    if None in moves or None in scores:
        return True
    if len(moves) != len(scores) or not moves:
        return True
    if row["side"] not in (0, 1) or row["result"] not in (-1, 0, 1):
        return True
    if not 0 <= row["ply"] <= 65535:
        return True
    if any(not -32767 <= score <= 32767 for score in [row["cp"], *scores]):
        return True
    if any(text not in NOT_MOVES and usi_to_move16(text) is None for text in [row["move"], *moves]):
        return True
    return len(set(moves)) != len(moves)


def _position(text: str, strict: bool) -> bytes:
    try:
        packed = parse_sfen(text)
    except SfenError:
        raise _Refused("bad_sfen") from None
    if structural_faults(packed) or (strict and waiting_side_in_check(packed)):
        raise _Refused("bad_sfen")
    return packed


def _record(row: dict, header: Header, strict: bool, keep_off_search: bool) -> Record:
    if is_malformed(row):
        raise _Refused("malformed_record")
    packed = _position(row["sfen"], strict)
    if packed[SIDE] != row["side"]:
        raise _Refused("side_mismatch")
    if any(text in NOT_MOVES for text in row["cand_move"]):
        raise _Refused("unlabelled_move")
    off_search = row["move"] not in row["cand_move"]
    if off_search and not keep_off_search:
        raise _Refused("move_not_candidate")
    if strict:
        legal = legal_moves(packed)
        if not legal:
            raise _Refused("no_legal_moves")
        if not legal.issuperset(row["cand_move"]):
            raise _Refused("illegal_candidate")
    listed = zip(row["cand_move"], row["cand_cp"])
    return Record(
        ply=row["ply"],
        value_z=NO_OUTCOME if off_search else value_z(row["result"], row["side"]),
        value_q=value_q(row["cp"], header),
        packed=packed,
        candidates=tuple(Candidate(usi_to_move16(text), NO_VISITS, score) for text, score in listed),
    )


def value_z(result: int, side: int) -> float:
    """The corpus counts for Black, the record for the side to move; a draw is never minus zero."""
    return float(-result if side else result)


def value_q(cp: int, header: Header) -> float:
    """conventions.md: tanh(cp / eval_coef), or the sign alone for a mate."""
    if header.is_mate(cp):
        return math.copysign(1.0, cp)
    return float(np.float32(math.tanh(cp / header.eval_coef)))
