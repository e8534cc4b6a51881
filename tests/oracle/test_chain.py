"""A real engine's games through the whole chain: gensfen, corpus, teacher, pack, check; judged by the oracle."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

from oracle import legality, mpk, position
from oracle.cli import DONE
from oracle.teacher import distil

ENGINE = "/usr/games/fairy-stockfish"


def play(manaka, out, *more):
    assert shutil.which(ENGINE), f"{ENGINE} is missing: scripts/test.sh installs it"
    return manaka(
        "gensfen", "--engine", ENGINE, "--option", "UCI_Variant=shogi", "--option", "Threads=1", "--games", 4,
        "--nodes", 500, "--random-plies", 5, "--random-until-ply", 200, "--seed", 7, "--out", out, *more, expect=DONE,
    )  # fmt: skip


@pytest.fixture(scope="module")
def raw(manaka, tmp_path_factory):
    out = tmp_path_factory.mktemp("chain") / "raw"
    play(manaka, out)
    return out


def test_four_games_pass_every_stage_and_every_position_and_move_is_legal(manaka, raw, tmp_path):
    manaka("corpus", raw / "games.psv", "--out", tmp_path / "corpus", expect=DONE)
    manaka("teacher", tmp_path / "corpus", "--out", tmp_path / "streams", expect=DONE)
    manaka("pack", tmp_path / "streams", "--out", tmp_path / "shards", expect=DONE)
    manaka("check", tmp_path / "streams", tmp_path / "shards", expect=DONE)

    corpus = tmp_path / "corpus" / "part-00000.parquet"
    positions = json.loads((raw / "gensfen.json").read_text())["totals"]["positions"]
    assert pq.ParquetFile(corpus).metadata.num_rows == positions > 100
    header, records = mpk.read_stream(tmp_path / "streams" / "part-00000.mpk.zst")
    verdict = distil(corpus, header, strict=True)
    assert not verdict.refusals and len(verdict.records) == len(records) == positions
    for record in records:
        legal = legality.legal_moves(record.packed)
        assert {position.move16_to_usi(c.mv) for c in record.candidates} <= legal


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_workers(manaka, raw, tmp_path):
    play(manaka, tmp_path / "again", "--workers", 3)
    assert (tmp_path / "again" / "games.psv").read_bytes() == (raw / "games.psv").read_bytes()
