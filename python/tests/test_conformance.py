"""The conformance vectors, read from Python: every good file gives its JSON, every bad one its error and place."""

import json
import tomllib

import pytest

import manaka

from pathlib import Path

VECTORS = Path(__file__).resolve().parents[2] / "conformance"
GOOD = sorted(path for path in (VECTORS / "good").iterdir() if path.suffix != ".json")
BAD = sorted(path for path in (VECTORS / "bad").iterdir() if path.suffix != ".toml")
EXPECT = tomllib.loads((VECTORS / "bad/expect.toml").read_text())


def test_there_are_vectors_and_every_bad_one_is_claimed():
    assert len(GOOD) > 10 and {path.name for path in BAD} == set(EXPECT)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.name)
def test_a_good_file_gives_its_json(path):
    expected = json.loads((path.parent / f"{path.name.split('.')[0]}.json").read_text())
    stream = manaka.open_stream(path)
    header, said = stream.header, expected["header"]
    assert header.version == said["version"]
    assert header.pov == ["side_to_move", "black"][said["pov"]]
    assert header.policy_source == ["visits", "softmax_cp"][said["policy_source"]]
    for key in ("mate_scale", "mate_slack", "fv_scale", "eval_coef", "mate_threshold"):
        assert getattr(header, key) == said[key], key
    assert header.mate_slack_in_force == said["mate_slack_in_force"]

    records = list(stream)
    assert len(records) == len(expected["records"])
    for record, want in zip(records, expected["records"]):
        assert (record.ply, record.value_z, record.value_q) == (want["ply"], want["value_z"], want["value_q"])
        assert record.packed.hex() == want["packed"]
        position = record.position
        assert position.faults == want["faults"]
        if want["sfen"] is not None:
            assert position.sfen.rsplit(" ", 1)[0] == want["sfen"].removesuffix(" -1")
        found = [(int(c["mv"]), int(c["visits"]), int(c["cp"])) for c in record.candidates]
        assert found == [(c["mv"], c["visits"], c["cp"]) for c in want["candidates"]]
        assert [manaka.usi(mv) for mv, _, _ in found] == [c["usi"] for c in want["candidates"]]


def read_all(path, size):
    """Records read and errors met, going on wherever the reader does."""
    found = []
    try:
        batches = manaka.open_stream(path).batches(size)
    except manaka.Error as error:
        return [error]
    while True:
        try:
            found.extend(next(batches))
        except StopIteration:
            return found
        except manaka.Error as error:
            found.append(error)


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("path", BAD, ids=lambda path: path.name)
def test_a_bad_file_gives_its_error_and_place(path, size):
    expect = EXPECT[path.name]
    found = read_all(path, size)
    at = next(i for i, each in enumerate(found) if isinstance(each, manaka.Error))
    error = found[at]
    assert isinstance(error, manaka.FormatError) and isinstance(error, ValueError)
    assert error.kind == expect["kind"]
    assert error.path == str(path) and str(path) in str(error)
    if "offset" in expect:
        assert error.offset == expect["offset"]
        assert error.record == expect.get("record")
    if "before" in expect:
        assert at == expect["before"]
    if "behind" in expect:
        assert len([each for each in found[at + 1 :] if isinstance(each, manaka.Record)]) == expect["behind"]
