"""`manaka selfplay` against docs/spec/selfplay.md: records judged by an independent move generator, shards by the fold."""

import json

import pyarrow.parquet as pq
import pytest

from oracle import legality, mpk, position
from oracle.cli import DONE
from test_pack import check_shards

SEARCHES = {
    "puct": ("--search", "puct", "--playouts", 24, "--games", 6),
    "gumbel": ("--search", "gumbel", "--simulations", 16, "--games", 12),
}


@pytest.fixture(scope="module", params=list(SEARCHES))
def run(request, manaka, tmp_path_factory):
    out = tmp_path_factory.mktemp(request.param) / "run"
    manaka("selfplay", *SEARCHES[request.param], "--max-ply", 90, "--threads", 2, "--out", out, expect=DONE)
    header, records = mpk.read_stream(out / "games.mpk")
    return request.param, out, header, records


def games(out, records):
    at = 0
    for line in map(json.loads, (out / "games.jsonl").read_text().splitlines()):
        yield line, records[at : at + line["records"]]
        at += line["records"]
    assert at == len(records)


def test_the_header_declares_visits_and_no_centipawns(run):
    _, _, header, _ = run
    assert header == mpk.Header(
        version=2, pov=mpk.POV_SIDE_TO_MOVE, policy_source=mpk.SOURCE_VISITS, mate_scale=0, fv_scale=0, mate_slack=0, eval_coef=0.0
    )


def test_every_move_is_legal_and_visits_sum_to_the_budget(run):
    name, _, header, records = run
    for record in records:
        assert mpk.record_fault(header, record) is None
        legal = legality.legal_moves(record.packed)
        moves = [position.move16_to_usi(c.mv) for c in record.candidates]
        assert set(moves) <= legal and len(set(moves)) == len(moves)
        assert [c.mv for c in record.candidates] == sorted(c.mv for c in record.candidates)
        total = sum(c.visits for c in record.candidates)
        assert total == 24 if name == "puct" else abs(total - 65536) <= len(legal) / 2


def test_a_game_is_a_line_of_positions_with_one_result_in_turn(run):
    _, out, _, records = run
    report = json.loads((out / "selfplay.json").read_text())
    endings, winners = {}, {}
    for number, (line, rows) in enumerate(games(out, records)):
        assert line["game"] == number
        endings[line["ending"]] = endings.get(line["ending"], 0) + 1
        winners[line["winner"]] = winners.get(line["winner"], 0) + 1
        for ply, row in enumerate(rows, start=1):
            side = "white" if row.packed[position.SIDE] else "black"
            assert row.ply == ply and side == ("black", "white")[(ply - 1) % 2]
            assert row.value_z == {"draw": 0, side: 1}.get(line["winner"], -1)
        for before, after in zip(rows, rows[1:]):
            assert sum(a != b for a, b in zip(before.packed, after.packed)) in (3, 4), "one move apart"
        last = rows[-1]
        if line["ending"] == "max_ply":
            assert (last.ply, line["winner"]) == (90, "draw")
        if line["ending"] == "mate":
            assert last.value_z == 1
    assert {k: v for k, v in report["totals"]["endings"].items() if v} == endings
    assert {k: v for k, v in report["totals"]["winners"].items() if v} == winners
    assert report["complete"] and report["totals"]["positions"] == len(records)


def test_it_passes_check_and_folds_as_the_oracle_folds(run, manaka, tmp_path):
    _, out, header, records = run
    shards = tmp_path / "shards"
    manaka("pack", out, "--out", shards, "--prefix", "teacher", expect=DONE)
    manaka("check", out, shards, expect=DONE)
    assert check_shards(shards, header, records) > 100
    table = pq.read_table(shards)
    assert "value_z" in table.column_names and table["value_z"].null_count == 0
    for row in table.to_pylist():
        assert all(c["cp"] is None for c in row["candidates"])
        assert abs(sum(c["prob"] for c in row["candidates"]) - 1) < 1e-5
