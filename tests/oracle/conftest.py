"""The binary under test, the example corpus, and the two long runs that several tests share.

MANAKA names the binary (default: target/release/manaka under the repository root) and MANAKA_CORPUS the corpus
(default: examples/fairy-corpus.parquet). A missing one is a failure: a test that skips proves nothing.
"""

import os
from pathlib import Path

import pytest

from oracle.cli import DONE, FINDINGS, Manaka

ROOT = Path(__file__).resolve().parents[2]


def _required(variable: str, default: str) -> Path:
    path = Path(os.environ.get(variable) or ROOT / default).resolve()
    if not path.is_file():
        pytest.fail(f"{path} does not exist; build it, or point {variable} at it", pytrace=False)
    return path


@pytest.fixture(scope="session")
def manaka() -> Manaka:
    return Manaka(_required("MANAKA", "target/release/manaka"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    return _required("MANAKA_CORPUS", "examples/fairy-corpus.parquet")


@pytest.fixture(scope="session")
def fairy_run(manaka, corpus, tmp_path_factory):
    """`manaka teacher` over the example corpus: its output directory and what it printed."""
    out = tmp_path_factory.mktemp("fairy") / "parts"
    run = manaka("teacher", corpus, "--out", out)
    assert run.returncode in (DONE, FINDINGS), run.stdout + run.stderr
    return out, run


@pytest.fixture(scope="session")
def fairy_parts(fairy_run) -> list[Path]:
    parts = sorted(fairy_run[0].glob("part-*.mpk.zst"))
    assert parts and parts[0].name == "part-00000.mpk.zst"
    return parts


@pytest.fixture(scope="session")
def fairy_shards(manaka, fairy_parts, tmp_path_factory) -> Path:
    """`manaka pack` over those parts: the directory of shards."""
    out = tmp_path_factory.mktemp("fairy") / "shards"
    manaka("pack", *fairy_parts, "--out", out, "--prefix", "teacher", expect=DONE)
    return out
