"""`manaka pack` against docs/spec/shards.md: every row, the order of the rows, the columns and the footer."""

import random
import re

import numpy as np
import pyarrow.parquet as pq
import pytest

from oracle import mpk, shards, streams
from oracle.cli import DONE, FINDINGS
from oracle.fold import fold, footer
from oracle.order import order_rows


def check_shards(directory, header, records):
    """Everything a directory of shards promises about the records it was made of. Returns the number of rows."""
    files = shards.shard_files(directory)
    assert [f.name for f in files] == [f"teacher-{n:05}.parquet" for n in range(len(files))]
    want, _ = fold(header, records)
    want = order_rows(want)
    got = shards.read_rows(directory)
    assert len(got) == len(want)
    assert sorted(r.packed for r in got) == sorted(r.packed for r in want)
    assert [r.packed for r in got] == [r.packed for r in want], "the same rows in another order"
    wrong = [(n, shards.differences(g, w)) for n, (g, w) in enumerate(zip(got, want))]
    wrong = [(n, names, got[n], want[n]) for n, names in wrong if names]
    assert not wrong, f"{len(wrong)} rows differ, the first: {wrong[0]}"
    for path in files:
        check_columns(path, header, any(row.value_z is None for row in want))
        check_footer(path, header)
    return len(got)


def check_columns(path, header, unknown):
    """`unknown`: some row of the pack has no outcome, so that the column of every shard may have nulls."""
    file = pq.ParquetFile(path)
    if header.policy_source == mpk.SOURCE_VISITS:
        assert file.schema_arrow.field("value_z").nullable == unknown
    got = [(field.name, shards.shape_of(field.type)) for field in file.schema_arrow]
    assert got == [(name, shards.shape_of(kind)) for name, kind in shards.expected_columns(header)]
    leaves = [file.schema.column(n).path for n in range(len(file.schema))]
    assert leaves[-3:] == [f"candidates.list.element.{name}" for name in ("mv", "prob", "cp")]
    group = file.metadata.row_group(0)
    assert {group.column(n).compression for n in range(group.num_columns)} == {"ZSTD"}


def check_footer(path, header):
    got, want = shards.read_footer(path), footer(header)
    assert re.fullmatch(r"manaka-pack \d+\.\d+\.\d+", got.pop("writer"))
    assert np.float32(got["eval_coef"]) == np.float32(want.pop("eval_coef"))
    if header.eval_coef:
        assert got["eval_coef"] == np.format_float_positional(np.float32(header.eval_coef), trim="-")
    got.pop("eval_coef")
    assert got == want


def pack(manaka, out, *inputs, expect=DONE):
    return manaka("pack", *inputs, "--out", out, "--prefix", "teacher", expect=expect)


def test_every_row_of_the_example_corpus(fairy_parts, fairy_shards):
    read = [mpk.read_stream(part) for part in fairy_parts]
    assert check_shards(fairy_shards, read[0][0], [r for _, records in read for r in records]) > 2 * shards.ROW_GROUP


@pytest.mark.parametrize("name", streams.SYNTHETIC)
def test_synthetic_streams(manaka, tmp_path, name):
    """Split over three files, plain, compressed and cut into zstd frames; the fold must not see the difference."""
    header, records, second = streams.SYNTHETIC[name]()
    thirds = [records[n::3] for n in range(3)]
    paths = [tmp_path / file for file in ("a.mpk", "b.mpk.zst", "c.mpk.zst")]
    for path, part, frames in zip(paths, thirds, (1, 1, 5)):
        mpk.write_stream(path, second if second and path is paths[1] else header, part, frames)
    pack(manaka, tmp_path / "out", *paths)
    assert check_shards(tmp_path / "out", header, records) < len(records)


def test_shards_depend_on_the_records_and_not_on_their_files(manaka, tmp_path):
    header, records, _ = streams.duplicates()
    shuffled = random.Random(8).sample(records, len(records))
    mpk.write_stream(tmp_path / "whole.mpk", header, records)
    cuts = [tmp_path / f"cut-{n}.mpk.zst" for n in range(4)]
    for n, path in enumerate(cuts):
        mpk.write_stream(path, header, shuffled[n * 1000 : n * 1000 + 1000], frames=n + 1)
    pack(manaka, tmp_path / "one", tmp_path / "whole.mpk")
    pack(manaka, tmp_path / "many", *reversed(cuts))
    one, many = ([(f.name, f.read_bytes()) for f in shards.shard_files(tmp_path / out)] for out in ("one", "many"))
    assert one
    assert one == many


def test_a_move_listed_twice_refuses_its_record_whole(manaka, tmp_path):
    header, records, _ = streams.duplicates()
    doubled = [r._replace(candidates=r.candidates + r.candidates[:1], ply=0) for r in records[10:13]]
    mixed = records[:11] + doubled[:1] + records[11:200] + doubled[1:]
    mpk.write_stream(tmp_path / "in.mpk", header, mixed)
    run = pack(manaka, tmp_path / "out", tmp_path / "in.mpk", expect=FINDINGS)
    assert re.search(r"duplicate_move\W+3\b|\b3\W+duplicate_move", run.stdout + run.stderr), run.stdout + run.stderr
    assert fold(header, mixed)[1] == 3
    check_shards(tmp_path / "out", header, mixed)


MIXES = {
    "pov": ({"pov": 0}, {"pov": 1}, None),
    "mate_scale": ({"mate_scale": 30000}, {"mate_scale": 32000}, ("30000", "32000")),
    "mate_slack": ({"mate_slack": 0}, {"mate_slack": 100}, ("320", "100")),
    "mate_slack of version 1": ({"version": 1}, {"mate_slack": 100}, ("320", "100")),
    "fv_scale": ({"fv_scale": 16}, {"fv_scale": 28}, ("16", "28")),
    "eval_coef": ({"eval_coef": 600.0}, {"eval_coef": 1512.173}, ("600", "1512.173")),
}


@pytest.mark.parametrize("name", MIXES)
def test_streams_that_mean_different_things_are_not_folded_together(manaka, tmp_path, name):
    first, second, values = MIXES[name]
    _, records, _ = streams.halves()
    for file, changes in (("one.mpk", first), ("two.mpk", second)):
        mpk.write_stream(tmp_path / file, mpk.Header(**changes), records)
    run = pack(manaka, tmp_path / "out", tmp_path / "one.mpk", tmp_path / "two.mpk", expect=1)
    for text in ("one.mpk", "two.mpk", name.split(" ")[0], *(values or ())):
        assert text in run.stderr, run.stderr
    assert not list(tmp_path.rglob("*.parquet"))


def test_counts_and_scores_are_not_folded_together(manaka, tmp_path):
    mpk.write_stream(tmp_path / "one.mpk", mpk.Header(mate_scale=0, eval_coef=0.0), streams.halves().records)
    mpk.write_stream(tmp_path / "two.mpk", streams.VISITS_HEADER, streams.drawn_games().records)
    run = pack(manaka, tmp_path / "out", tmp_path / "one.mpk", tmp_path / "two.mpk", expect=1)
    assert all(text in run.stderr for text in ("one.mpk", "two.mpk", "policy_source")), run.stderr
    assert not list(tmp_path.rglob("*.parquet"))
