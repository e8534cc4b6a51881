"""Synthetic streams for the fold: real positions, legal moves, and numbers chosen to hurt (docs/spec/stream.md)."""

import random
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import cshogi
import numpy as np

from .mpk import NO_CP, NO_OUTCOME, POV_BLACK, SOURCE_VISITS, Candidate, Header, Record
from .position import parse_sfen, usi_to_move16

VISITS_HEADER = Header(policy_source=SOURCE_VISITS, mate_scale=0, mate_slack=0, fv_scale=0, eval_coef=0.0)


class Synthetic(NamedTuple):
    """A stream in one convention. `second`, if given, is a header that says the same in other bytes."""

    header: Header
    records: list[Record]
    second: Header | None = None


@cache
def positions(count: int = 240, seed: int = 5) -> tuple[tuple[bytes, tuple[int, ...]], ...]:
    """Distinct positions of random games, both sides to move, each with its legal moves as move16."""
    rng = random.Random(seed)
    found, board = {}, cshogi.Board()
    while len(found) < count:
        moves = list(board.legal_moves)
        if not moves or board.move_number > 80:
            board.reset()
            continue
        packed = parse_sfen(board.sfen())
        found[packed] = tuple(sorted(usi_to_move16(cshogi.move_to_usi(m)) for m in moves))
        board.push(rng.choice(moves))
    return tuple(found.items())


def scored(packed: bytes, scores: dict[int, int], ply=1, value_z=0.0, value_q=0.0) -> Record:
    return Record(ply, value_z, value_q, packed, tuple(Candidate(mv, 0, cp) for mv, cp in scores.items()))


def visited(packed: bytes, visits: dict[int, int], ply=1, value_z=0.0, value_q=0.0) -> Record:
    return Record(ply, value_z, value_q, packed, tuple(Candidate(mv, n, NO_CP) for mv, n in visits.items()))


def _random_records(count: int, form, make, seed: int) -> list[Record]:
    """Records over few positions, so that most of them meet; half of the drawn games are a minus zero."""
    rng = random.Random(seed)
    places, records = positions(), []
    for number in range(count):
        packed, moves = places[min(rng.randrange(len(places)), rng.randrange(len(places)))]
        chosen = rng.sample(moves, min(len(moves), rng.randint(1, 6)))
        numbers = {mv: make(rng) for mv in chosen}
        outcome = rng.choice([-1.0, 1.0, 0.0, -0.0])
        value_q = float(np.float32(rng.choice([rng.uniform(-1, 1), 1.0, -1.0, rng.gauss(0, 1e-6)])))
        records.append(form(packed, numbers, rng.choice([0, 5, 65535, number % 300]), outcome, value_q))
    return records


def playouts(rng: random.Random) -> int:
    return rng.choice([1, 1, 2, 3, rng.randint(1, 800)])


def evaluations(rng: random.Random) -> int:
    return rng.choice([rng.randint(-120, 120), rng.randint(-3000, 3000), 0, rng.randint(-20000, 20000)])


def evaluations_and_mates(rng: random.Random) -> int:
    return rng.choice([evaluations(rng), evaluations(rng), rng.choice([-1, 1]) * rng.randint(29000, 32767)])


def duplicates() -> Synthetic:
    return Synthetic(Header(fv_scale=28), _random_records(4000, scored, evaluations, seed=1))


def halves() -> Synthetic:
    """Means that end in one half, and their neighbours, on both sides of zero."""
    lists = [
        (1, 2), (-1, -2), (0, 1), (0, -1), (1, -2), (3, -2), (1, 1, 2, 2), (-1, -1, -2, -2), (1, 1, 2), (-1, -1, -2),
        (1, 2, 2), (-1, -2, -2), (29679, 29678), (-29679, -29678), (0, 0, 0, 1, 1, 1), (7, 8, 100, -105, 0, 1),
    ]  # fmt: skip
    records = []
    for (packed, moves), scores in zip(positions(), lists):
        for score in scores:
            records.append(scored(packed, {moves[0]: score, moves[1]: 4}, value_q=0.5))
    return Synthetic(Header(), records)


def mates_on(header: Header) -> Synthetic:
    """Both sides of the threshold, tied leaders, lost positions, and means that leave the mate band or enter it."""
    edge = header.mate_scale - header.effective_slack()
    top = min(header.mate_scale - 1, 32767)
    searches = [
        [(edge, 50, 10)], [(edge - 1, 50, 10)], [(-edge, 50, 10)], [(1 - edge, 50, 10)], [(10, top, top)],
        [(top, 10, top)], [(-top, -top, -top)], [(-top, 1 - top, -edge)], [(5, -edge, 5)],
        [(top, 0, 0), (100, 0, 0)], [(edge, 0, 9), (edge - 1, 0, 8)], [(edge, 3, 9), (edge - 2, 4, 8)],
        [(-edge, 0, 9), (1 - edge, 0, 8)], [(-edge, 0, 9), (2 - edge, 0, 8)], [(12000, 0, -12000)],
        [(9700, 0, -3)], [(0, 8000, 8001)],
    ]  # fmt: skip
    records = []
    for offset in (0, len(searches)):  # twice, so that both sides to move meet every list
        for (packed, moves), group in zip(positions()[offset + 40 :], searches):
            for scores in group:
                records.append(scored(packed, dict(zip(moves[-3:], scores)), value_q=1.0))
    return Synthetic(header, records + _random_records(600, scored, evaluations_and_mates, seed=3))


def playout_sums() -> Synthetic:
    """Sums that no u32 holds, and moves whose different sums are one f32."""
    records = _random_records(3000, visited, playouts, seed=4)
    big = 4_000_000_000
    for (packed, moves), shift in zip(positions()[100:], (0, 1, 1000, 3_000_000_000)):
        low, high = moves[0], moves[1]
        records += [visited(packed, {high: big, low: big - shift}, ply=9, value_z=-0.0)] * 3
    return Synthetic(VISITS_HEADER, records)


def drawn_games() -> Synthetic:
    records = [visited(packed, {moves[0]: 1}, value_z=-0.0, value_q=-0.0) for packed, moves in positions()[:50]]
    return Synthetic(VISITS_HEADER, records + records[:20])


def unknown_outcomes() -> Synthetic:
    """Version 3: half of the records have no outcome, of some positions none has, and every third record has one, so that
    these may stand under a header of version 2."""
    stated = playout_sums().records
    third, rng = len(stated) // 3, random.Random(6)
    hazy = [r._replace(value_z=NO_OUTCOME) if rng.random() < 0.5 else r for r in stated[: 2 * third]]
    silent = [visited(packed, {moves[0]: 3}, value_z=NO_OUTCOME) for packed, moves in positions(300)[250:290]]
    first, second, last = hazy[::2], stated[2 * third :], silent * 2 + hazy[1::2]
    records = [record for trio in zip(first, second, last) for record in trio]
    return Synthetic(replace(VISITS_HEADER, version=3), records)


SYNTHETIC = {
    "many duplicates": duplicates,
    "rounding halves": halves,
    "mates at 30000, slack unstated": lambda: mates_on(Header()),
    "mates at 32000, slack 100": lambda: mates_on(Header(mate_scale=32000, mate_slack=100, fv_scale=28)),
    "no mate scale": lambda: mates_on(Header(mate_scale=32000))._replace(header=Header(mate_scale=0)),
    "pov black": lambda: mates_on(Header(pov=POV_BLACK)),
    "pov black duplicates": lambda: duplicates()._replace(header=Header(pov=POV_BLACK, fv_scale=16)),
    "visits": playout_sums,
    "visits, every game drawn with a minus zero": drawn_games,
    "version 3, outcomes unknown": unknown_outcomes,
    "version 3 beside version 2": lambda: unknown_outcomes()._replace(second=VISITS_HEADER),
    "version 1": lambda: mates_on(Header(version=1)),
    "version 1 beside version 2": lambda: mates_on(Header(version=1))._replace(second=Header(mate_slack=320)),
}
