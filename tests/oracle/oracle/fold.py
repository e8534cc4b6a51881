"""Records to shard rows: everything is added as integers and divided once (docs/spec/shards.md)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from .mpk import NO_OUTCOME, POV_BLACK, SOURCE_SCORES, SOURCE_VISITS, Header, Record
from .position import SIDE

Q_UNIT = 2**60
DEFAULT_TEMPERATURE = 100.0


class RowCandidate(NamedTuple):
    mv: int
    prob: float
    cp: int | None


@dataclass(frozen=True)
class Row:
    packed: bytes
    ply: int
    value_z: float | None  # None where the shard has no such column, or no record of the row has an outcome
    value_q: float
    weight: int
    candidates: tuple[RowCandidate, ...]


def fold(header: Header, records: list[Record], temperature: float = DEFAULT_TEMPERATURE) -> tuple[list[Row], int]:
    """All rows, in no promised order, and how many records were refused as `duplicate_move`."""
    groups: dict[bytes, list[Record]] = {}
    refused = 0
    for record in records:
        moves = [c.mv for c in record.candidates]
        if len(set(moves)) != len(moves):
            refused += 1
        else:
            groups.setdefault(record.packed, []).append(record)
    return [_row(header, packed, group, temperature) for packed, group in groups.items()], refused


def _row(header: Header, packed: bytes, group: list[Record], temperature: float) -> Row:
    weight = len(group)
    assert weight < 2**32
    outcome = None
    if header.policy_source == SOURCE_VISITS:
        stated = [int(r.value_z) for r in group if r.value_z != NO_OUTCOME]
        outcome = f32(Fraction(sum(stated), len(stated))) if stated else None
    return Row(
        packed=packed,
        ply=min(r.ply for r in group),
        value_z=outcome,
        value_q=f32(Fraction(sum(round(Fraction(r.value_q) * Q_UNIT) for r in group), Q_UNIT * weight)),
        weight=weight,
        candidates=_candidates(header, packed, group, temperature),
    )


def _candidates(header: Header, packed: bytes, group: list[Record], temperature: float) -> tuple[RowCandidate, ...]:
    listed: dict[int, list] = {}
    for record in group:
        for candidate in record.candidates:
            listed.setdefault(candidate.mv, []).append(candidate)
    if header.policy_source == SOURCE_VISITS:
        visits = {mv: sum(c.visits for c in seen) for mv, seen in listed.items()}
        total = sum(visits.values())
        rows = [RowCandidate(mv, f32(count / total), None) for mv, count in visits.items()]
        return tuple(sorted(rows, key=lambda c: (-c.prob, c.mv)))
    scores = {mv: mean_away(sum(c.cp for c in seen), len(seen)) for mv, seen in listed.items()}
    views = {mv: mover_view(header, packed, score) for mv, score in scores.items()}
    if any(header.is_mate(score) for score in scores.values()):
        probs = one_hot(views)
    else:
        probs = softmax(views, temperature)
    rows = [RowCandidate(mv, f32(probs[mv]), scores[mv]) for mv in scores]
    # shards.md: prob first, then cp, then the lower move. Among equal probs the better score for the side to move
    # leads, so that a list reads best-first in both points of view.
    return tuple(sorted(rows, key=lambda c: (-c.prob, -views[c.mv], c.mv)))


def mover_view(header: Header, packed: bytes, score: int) -> int:
    """A score as the side to move sees it; the stored one is never changed."""
    return -score if header.pov == POV_BLACK and packed[SIDE] == 1 else score


def mean_away(total: int, count: int) -> int:
    """total / count rounded half away from zero, in integers."""
    magnitude = (2 * abs(total) + count) // (2 * count)
    return -magnitude if total < 0 else magnitude


def softmax(views: dict[int, int], temperature: float) -> dict[int, float]:
    best = max(views.values())
    powers = {mv: math.exp((view - best) / temperature) for mv, view in views.items()}
    total = math.fsum(powers.values())
    return {mv: power / total for mv, power in powers.items()}


def one_hot(views: dict[int, int]) -> dict[int, float]:
    """All of it on the best score, the lowest move breaking a tie."""
    leader = min(views, key=lambda mv: (-views[mv], mv))
    return {mv: float(mv == leader) for mv in views}


def f32(value) -> float:
    return float(np.float32(float(value)))


def footer(header: Header, temperature: float = DEFAULT_TEMPERATURE) -> dict[str, str]:
    """shards.md, footer: the keys a shard carries, but for `writer`. `eval_coef` is given as a number's text."""
    scores = header.policy_source == SOURCE_SCORES
    keys = {
        "pov": "black" if header.pov == POV_BLACK else "side_to_move",
        "policy_source": "softmax_cp" if scores else "visits",
        "mate_scale": str(header.mate_scale),
        "mate_slack": str(header.effective_slack()),
        "eval_coef": str(np.float32(header.eval_coef)),
        "fv_scale": str(header.fv_scale),
        "packed": "mailbox position, side to move in the last byte",
    }
    keys["softmax_temp_cp"] = f"{temperature:g}" if scores else "0"
    return keys
