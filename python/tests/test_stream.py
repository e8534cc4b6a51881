"""Streams read from Python: batches equal a naive reader, whatever their size; other tools take them by Arrow."""

import pickle
import struct

import duckdb
import numpy as np
import polars
import pyarrow as pa
import pytest
import zstandard

import manaka


def naive(path):
    """The reader that stream.md §3 prints, over a decompressed part."""
    data = path.read_bytes()
    if path.name.endswith(".zst"):
        data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    at = 24
    while at < len(data):
        ply, value_z, value_q, n = struct.unpack_from("<HffH", data, at)
        end = at + 108 + 8 * n
        yield ply, value_z, value_q, data[at + 12 : at + 108], list(struct.iter_unpack("<HIh", data[at + 108 : end]))
        at = end


@pytest.fixture(scope="module")
def expected(parts):
    return [record for path in sorted(parts.iterdir()) for record in naive(path)]


def plain(record):
    return record.ply, record.value_z, record.value_q, record.packed, record.candidates.tolist()


@pytest.mark.parametrize("size", [1, 777, 5000, 10**6])
def test_batches_of_any_size_are_the_records_in_order(parts, expected, size):
    stream = manaka.open_stream(parts)
    at = 0
    for batch in stream.batches(size) if size > 1 else _first(stream.batches(1), 40):
        assert len(batch) <= size
        assert [plain(record) for record in batch] == expected[at : at + len(batch)]
        assert batch.records["packed"].shape == (len(batch), 96)
        assert batch.offsets.tolist() == [0, *np.cumsum(batch.records["n_cand"])]
        at += len(batch)
    assert at == (len(expected) if size > 1 else 40)


def _first(batches, count):
    return [next(batches) for _ in range(count)]


def test_a_stream_is_read_as_often_as_one_likes_and_survives_pickling(parts):
    stream = manaka.open_stream(parts)
    first = [plain(record) for record in next(stream.batches(50))]
    again = pickle.loads(pickle.dumps(stream))
    assert [plain(record) for record in next(again.batches(50))] == first
    assert again.header == stream.header and again.files == stream.files
    assert [plain(record) for record in _first(iter(stream), 50)] == first


def test_paths_are_files_directories_and_globs(parts, expected):
    files = sorted(parts.iterdir())
    for paths in (parts, str(parts), f"{parts}/*.mpk.zst", files, [files[0], *files[1:]]):
        assert manaka.open_stream(paths).files == [str(path) for path in files]
    assert sum(map(len, manaka.open_stream(files[0]).batches())) == 5000


def test_the_arrays_are_the_callers_to_change(parts):
    batch = next(manaka.open_stream(parts).batches(10))
    batch.records["value_q"] *= -1
    batch.candidates["cp"][:] = 7
    assert set(batch[0].candidates["cp"].tolist()) == {7}
    assert batch[-1].ply == batch.records["ply"][9]
    with pytest.raises(IndexError):
        batch[10]


def rows_of(table):
    for row in table.to_pylist():
        moves = [(c["mv"], c["visits"], c["cp"]) for c in row["candidates"]]
        yield row["ply"], row["value_z"], row["value_q"], row["packed"], moves


def test_pyarrow_reads_the_whole_stream_with_absent_halves_as_nulls(parts, expected):
    table = pa.table(manaka.open_stream(parts))
    table.validate(full=True)
    want = [(*rest, [(mv, None, cp) for mv, _, cp in moves]) for *rest, moves in expected]
    assert list(rows_of(table)) == want
    assert table.schema.metadata[b"policy_source"] == b"softmax_cp"
    assert table.schema.metadata[b"mate_slack"] == b"100"
    assert table.schema.field("packed").type == pa.binary(96)


def test_a_visits_stream_has_null_scores(root):
    table = pa.table(manaka.open_stream(root / "conformance/good/visits.mpk"))
    table.validate(full=True)
    moves = [c for row in table["candidates"].to_pylist() for c in row]
    assert moves and all(c["cp"] is None and c["visits"] > 0 for c in moves)


def test_an_outcome_that_is_not_known_is_null(root):
    stream = manaka.open_stream(root / "conformance/good/absent_outcome.mpk")
    outcomes = [record.value_z for record in stream]
    assert outcomes.count(None) == 1 and len(outcomes) == 3
    table = pa.table(stream)
    table.validate(full=True)
    assert table["value_z"].to_pylist() == outcomes
    assert pa.record_batch(next(stream.batches()))["value_z"].to_pylist() == outcomes


def test_a_batch_is_a_record_batch(parts, expected):
    batch = pa.record_batch(next(manaka.open_stream(parts).batches(100)))
    batch.validate(full=True)
    want = [(*rest, [(mv, None, cp) for mv, _, cp in moves]) for *rest, moves in expected[:100]]
    assert list(rows_of(batch)) == want


def test_a_stream_without_records_is_an_empty_table(tmp_path, scores):
    with manaka.Writer(tmp_path / "a.mpk", scores):
        pass
    stream = manaka.open_stream(tmp_path / "a.mpk")
    assert list(stream) == [] and list(stream.batches()) == []
    assert pa.table(stream).num_rows == 0


def test_polars_and_duckdb_read_a_stream(parts, expected):
    stream = manaka.open_stream(parts)
    frame = polars.DataFrame(stream)
    assert polars.from_arrow(stream).struct.unnest().equals(frame)
    assert frame["ply"].to_list() == [ply for ply, *_ in expected]
    best = max(cp for *_, moves in expected for _, _, cp in moves)
    query = "select count(*), max(c.cp) from (select unnest(candidates) as c from stream)"
    assert duckdb.sql(query).fetchall() == [(sum(len(moves) for *_, moves in expected), best)]
    # Once more over the same object: it is a source, not an iterator.
    assert duckdb.sql("select count(*) from stream").fetchall() == [(len(expected),)]


def test_an_error_in_the_middle_reaches_whoever_reads_by_arrow(root):
    stream = manaka.open_stream(root / "conformance/bad/value_q_above_1.mpk")
    with pytest.raises(pa.ArrowInvalid, match=r"record \d+ at byte \d+: value_q is"):
        pa.table(stream)
