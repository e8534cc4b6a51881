"""What several tests of the wheel share: the repository, a stream and shards made from the example corpus."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import manaka

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def command() -> Path:
    """The `manaka` binary: what the functions are compared with. A missing one is a failure, not a skip."""
    binary = Path(os.environ.get("MANAKA") or ROOT / "target/release/manaka").resolve()
    if not binary.is_file():
        pytest.fail(f"{binary} does not exist; build it, or point MANAKA at it", pytrace=False)
    return binary


@pytest.fixture(scope="session")
def corpus() -> Path:
    return ROOT / "examples/fairy-corpus.parquet"


@pytest.fixture(scope="session")
def parts(corpus, tmp_path_factory) -> Path:
    """A directory of stream parts, more than one."""
    out = tmp_path_factory.mktemp("wheel") / "parts"
    manaka.teacher(corpus, out, mate_scale=32000, mate_slack=100, records_per_part=5000)
    assert len(list(out.iterdir())) > 2
    return out


@pytest.fixture(scope="session")
def shards(parts, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("wheel") / "shards"
    manaka.pack(parts, out, rows_per_shard=6000)
    return out


@pytest.fixture(scope="session")
def split(root, command, tmp_path_factory) -> Path:
    """`train` and `valid`: shards of different games, made as docs/guide/train.md says."""
    out = tmp_path_factory.mktemp("train") / "split"
    environment = os.environ | {"MANAKA": str(command), "PYTHON": sys.executable}
    subprocess.run([root / "python/examples/make_shards.sh", out], env=environment, check=True, capture_output=True)
    return out


@pytest.fixture
def scores() -> manaka.Header:
    return manaka.Header(
        pov="side_to_move",
        policy_source="softmax_cp",
        mate_scale=32000,
        mate_slack=100,
        fv_scale=28,
        eval_coef=1512.173,
    )


@pytest.fixture
def visits() -> manaka.Header:
    return manaka.Header(pov="side_to_move", policy_source="visits")
