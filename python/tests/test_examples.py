"""Shards are read by others: each example runs as a person would run it and says what the fold said."""

import os
import re
import subprocess
import sys

import pytest

import manaka


@pytest.mark.parametrize("library", ["pyarrow", "duckdb", "polars", "datasets"])
def test_an_example_reads_the_shards(library, root, parts, tmp_path):
    report = manaka.pack(parts, tmp_path / "shards")
    shards = [shard["path"] for shard in report["shards"]]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(tmp_path / "cache")}
    run = subprocess.run(
        [sys.executable, root / f"python/examples/read_{library}.py", *shards],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    assert re.search(rf"\b{report['rows']} rows", run.stdout), run.stdout
    records = report["records"] - sum(report["refused"].values())
    assert re.search(rf"\b{records} records", run.stdout), run.stdout
