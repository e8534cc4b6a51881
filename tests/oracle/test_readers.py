"""Shards and parts as strangers read them: pyarrow, DuckDB and Polars, and the published short loop."""

import pyarrow.parquet as pq
import pytest

from oracle import mpk, shards, streams


@pytest.fixture(scope="module")
def visits_shards(manaka, tmp_path_factory):
    home = tmp_path_factory.mktemp("visits")
    header, records, _ = streams.playout_sums()
    mpk.write_stream(home / "in.mpk.zst", header, records)
    manaka("pack", home / "in.mpk.zst", "--out", home / "out", "--prefix", "visits", expect=0)
    return home / "out"


@pytest.mark.parametrize("kind", ["fairy_shards", "visits_shards"])
def test_three_readers_see_equal_values(request, kind):
    files = shards.shard_files(request.getfixturevalue(kind))
    assert files
    for path in files:
        arrow, duck, polar = shards.with_pyarrow(path), shards.with_duckdb(path), shards.with_polars(path)
        names = {tuple(table[0]) for table in (arrow, duck, polar)}
        assert len(names) == 1 and ("value_z" in names.pop()) == (kind == "visits_shards")
        rows = shards.to_rows(arrow)
        assert rows == shards.to_rows(duck)
        assert rows == shards.to_rows(polar)
        assert all(c.cp is None for r in rows for c in r.candidates) == (kind == "visits_shards")


def test_row_groups_hold_8192_rows_but_for_the_last_of_a_shard(fairy_shards):
    for path in shards.shard_files(fairy_shards):
        meta = pq.ParquetFile(path).metadata
        sizes = [meta.row_group(n).num_rows for n in range(meta.num_row_groups)]
        assert set(sizes[:-1]) <= {shards.ROW_GROUP}
        assert 0 < sizes[-1] <= shards.ROW_GROUP


def test_the_published_loop_walks_every_part(fairy_parts, tmp_path):
    for part in fairy_parts:
        plain = tmp_path / part.name.removesuffix(".zst")
        plain.write_bytes(mpk.stream_payload(part))
        _, records = mpk.read_stream(part)
        walked = list(mpk.seed_reader(plain))
        assert walked == [
            (r.ply, r.value_z, r.value_q, r.packed, [(c.mv, c.cp) for c in r.candidates]) for r in records
        ]


def test_no_part_says_anything_the_stream_page_forbids(fairy_parts):
    for part in fairy_parts:
        header, records = mpk.read_stream(part)  # raises on the first fault
        assert all(c.visits == mpk.NO_VISITS for r in records for c in r.candidates)
        assert header.pack() == mpk.stream_payload(part)[:24]
