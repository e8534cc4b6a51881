"""The figures of `manaka stat` against those counted here, record by record, from the oracle's own reading of the stream."""

import json
import math
from collections import Counter

import pytest

from oracle import mpk
from oracle.cli import DONE, FINDINGS
from oracle.streams import SYNTHETIC


def stat(manaka, *paths):
    run = manaka("stat", *paths, "--format", "json")
    assert run.returncode in (DONE, FINDINGS)
    return json.loads(run.stdout)


def outcome_of(record):
    return None if record.value_z == mpk.NO_OUTCOME else record.value_z


def for_mover(header, record, number):
    if number is None:
        return None
    return -number if header.pov == mpk.POV_BLACK and record.packed[95] == 1 else number


def for_black(header, record, number):
    if number is None:
        return None
    return -number if header.pov != mpk.POV_BLACK and record.packed[95] == 1 else number


def split_games(records):
    games = []
    for record in records:
        if games and record.ply > games[-1][-1].ply:
            games[-1].append(record)
        else:
            games.append([record])
    return games


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


def classes(outcomes):
    count = Counter(outcomes)
    return {"lost": count[-1.0], "drawn": count[0.0], "won": count[1.0], "mixed": 0, "unknown": count[None]}


def percentile(numbers, percent):
    numbers = sorted(numbers)
    return numbers[max(math.ceil(len(numbers) * percent / 100), 1) - 1]


def ranks(records, byte):
    count = Counter(square % 9 for r in records for square in range(81) if r.packed[square] == byte)
    return [count[rank] / max(sum(count.values()), 1) for rank in range(9)]


def hold_to(found, header, records):
    """Every main figure by the naive way."""
    games = split_games(records)
    assert found["totals"]["records"] == len(records)
    assert found["totals"]["candidates"] == sum(len(r.candidates) for r in records)
    assert found["games"]["games"] == len(games)
    opens = Counter(game[0].ply for game in games)
    assert {bin["value"]: bin["count"] for bin in found["games"]["opens"] if bin["value"] < 1024} == {
        ply: count for ply, count in opens.items() if ply < 1024
    }
    assert found["games"]["records"]["mean"] == pytest.approx(mean(map(len, games)))
    steps = [b.ply - a.ply for game in games for a, b in zip(game, game[1:])]
    assert found["games"]["followers"] == len(steps)
    assert found["games"]["gaps"] == sum(step > 1 for step in steps)
    assert found["games"]["widest_gap"] == max(steps, default=0)
    assert found["games"]["outcomes"] == classes(for_black(header, game[-1], outcome_of(game[-1])) for game in games)

    assert {bin["ply"]: bin["records"] for bin in found["plies"]} == Counter(r.ply for r in records)
    assert found["outcomes"]["mover"] == classes(for_mover(header, r, outcome_of(r)) for r in records)
    assert found["outcomes"]["black"] == classes(for_black(header, r, outcome_of(r)) for r in records)
    negative = sum(r.value_z == 0 and math.copysign(1, r.value_z) < 0 for r in records)
    assert found["outcomes"]["negative_zeros"] == negative

    widths = [len(r.candidates) for r in records]
    assert found["candidates"]["wider_than_5"] == sum(width > 5 for width in widths)
    assert found["candidates"]["single"] == widths.count(1)
    for percent in (1, 25, 50, 95):
        assert found["candidates"]["spread"][f"p{percent}"] == percentile(widths, percent)

    if header.policy_source == mpk.SOURCE_VISITS:
        visits = [c.visits for r in records for c in r.candidates]
        assert found["scores"] is None and found["visits"]["once"] == visits.count(1)
        assert found["visits"]["per_candidate"]["mean"] == pytest.approx(mean(visits))
        assert found["visits"]["per_record"]["greatest"] == max(sum(c.visits for c in r.candidates) for r in records)
    else:
        scores = [for_mover(header, r, c.cp) for r in records for c in r.candidates]
        assert (found["scores"]["least"], found["scores"]["greatest"]) == (min(scores), max(scores))
        edge = header.mate_scale - header.effective_slack()
        mates = sum(abs(score) >= edge for score in scores) if header.mate_scale else 0
        assert found["scores"]["mates"] == mates
        assert sum(bar["count"] for bar in found["scores"]["bars"]) == len(scores)
        for bar in found["scores"]["bars"]:
            assert bar["count"] == sum(bar["from"] <= score < bar["to"] for score in scores)

    assert sum(bin["records"] for bin in found["values"]["calibration"]) == sum(outcome_of(r) is not None for r in records)
    known = [r for r in records if outcome_of(r) is not None]
    at = [(for_mover(header, r, r.value_q), for_mover(header, r, r.value_z)) for r in known]
    for bin in found["values"]["calibration"]:
        # Values within a rounding of an edge may fall on either side of it.
        inside = [pair for pair in at if bin["from"] <= pair[0] < bin["to"] or (pair[0] == 1 and bin["to"] == 1)]
        near = sum(min(abs(value - bin["from"]), abs(value - bin["to"])) < 1e-6 for value, _ in at)
        assert abs(bin["records"] - len(inside)) <= near
        if not near and inside:
            assert bin["value"] == pytest.approx(mean(value for value, _ in inside), abs=1e-6)
            assert bin["outcome"] == pytest.approx(mean(outcome for _, outcome in inside), abs=1e-6)

    board = found["board"]
    assert board["black_to_move"] == sum(r.packed[95] == 0 for r in records)
    for key, byte in [("black_king", 0x00), ("white_king", 0x10), ("black_pawn", 0x07), ("white_pawn", 0x17)]:
        assert board[f"{key}_ranks"] == pytest.approx(ranks(records, byte))
    different = Counter(r.packed for r in records)
    duplicates = found["duplicates"]
    assert duplicates["exact"] and duplicates["positions"] == len(different)
    assert duplicates["share"] == pytest.approx(1 - len(different) / len(records))
    assert duplicates["most"] == max(different.values())


@pytest.mark.parametrize("name", SYNTHETIC)
def test_synthetic_streams_have_the_figures_counted_here(manaka, tmp_path, name):
    made = SYNTHETIC[name]()
    path = tmp_path / "a.mpk"
    path.write_bytes(mpk.stream_bytes(made.header, made.records))
    hold_to(stat(manaka, path), made.header, made.records)


def test_a_real_stream_has_the_figures_counted_here(manaka, fairy_parts):
    header, records = mpk.read_stream(fairy_parts[0])
    assert len(fairy_parts) == 1
    found = stat(manaka, *fairy_parts)
    hold_to(found, header, records)
    same = 0
    for record in records:
        cp = record.candidates[0].cp
        value = math.copysign(1, cp) if abs(cp) >= 29680 else math.tanh(cp / header.eval_coef)
        same += abs(value - record.value_q) <= 1e-6
    assert found["scores"]["slot_0_root"] == same
    assert found["ok"] and not found["alarms"]


def test_the_fitted_scale_is_the_likeliest(manaka, fairy_parts):
    header, records = mpk.read_stream(fairy_parts[0])
    fitted = stat(manaka, *fairy_parts)["values"]["scale"]["fitted"]
    pairs = [(math.atanh(r.value_q), r.value_z) for r in records if abs(r.value_q) <= 0.98]

    def likelihood(scale):
        slope = header.eval_coef / scale
        total = 0.0
        for x, z in pairs:
            won = (1 + z) / 2
            total -= won * math.log1p(math.exp(-2 * slope * x)) + (1 - won) * math.log1p(math.exp(2 * slope * x))
        return total

    # Values are binned by 0.004 there, which moves the best by less than a percent.
    best = max((fitted * (0.8 + 0.01 * step) for step in range(41)), key=likelihood)
    assert best == pytest.approx(fitted, rel=0.021)
