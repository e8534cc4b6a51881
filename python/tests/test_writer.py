"""Streams written from Python: checked as Rust checks them, whole or not there, appended to after a crash."""

import numpy as np
import pytest

import manaka

MOVES = [("7g7f", 38), ("2g2f", 42), (manaka.move16("6i7h"), -7)]


def write(writer, **changes):
    record = {"value_z": 1, "value_q": 0.25} | changes
    moves = record.pop("candidates", MOVES)
    writer.write(record.pop("position", manaka.Position.startpos()), moves, **record)


def plain(path):
    return [(r.ply, r.value_z, r.value_q, r.packed, r.candidates.tolist()) for r in manaka.open_stream(path)]


@pytest.mark.parametrize("name", ["a.mpk", "a.mpk.zst"])
def test_what_is_written_is_read_again(tmp_path, scores, name):
    path = tmp_path / name
    with manaka.Writer(path, scores) as writer:
        write(writer)
        write(writer, position=manaka.Position.startpos().packed, ply=65535, value_z=-1, value_q=-1)
        assert writer.records == 2 and not path.exists()
    assert writer.closed
    packed = manaka.Position.startpos().packed
    moves = [(3095, 0, 38), (8900, 0, 42), (4505, 0, -7)]
    assert plain(path) == [(1, 1.0, 0.25, packed, moves), (65535, -1.0, -1.0, packed, moves)]
    assert manaka.open_stream(path).header == scores


def test_the_bytes_are_those_of_the_specification(tmp_path, visits):
    with manaka.Writer(tmp_path / "a.mpk", visits) as writer:
        write(writer, candidates=[("7g7f", 2)], ply=258, value_z=-1, value_q=0.5)
    header = "4d504b31 0200 6000 00 00 0000 0000 0000 00000000 00000000"
    fixed = "0201 000080bf 0000003f 0100"
    candidate = "170c 02000000 0080"
    expected = bytes.fromhex(header + fixed) + manaka.Position.startpos().packed + bytes.fromhex(candidate)
    assert (tmp_path / "a.mpk").read_bytes() == expected


def test_batches_are_written_as_they_were_read(parts, tmp_path):
    stream = manaka.open_stream(parts)
    path = tmp_path / "all.mpk.zst"
    with manaka.Writer(path, stream.header) as writer:
        for batch in stream.batches(3000):
            writer.write_batch(batch)
    assert plain(path) == plain(parts)
    one = next(stream.batches(500))
    turned = manaka.Batch.of(one.records[:0], one.candidates[:0])
    assert len(turned) == 0 and turned.offsets.tolist() == [0]


UNKNOWN = [(1, None), (1, -1.0), (0, None), (0, 0.0)]


@pytest.mark.parametrize("name", ["a.mpk", "a.mpk.zst"])
def test_an_outcome_that_is_not_known_is_written_where_that_is_asked_for(tmp_path, scores, name):
    path = tmp_path / name
    with manaka.Writer(path, scores, absent_outcomes=True) as writer:
        for ply, outcome in UNKNOWN:
            write(writer, value_z=outcome, ply=ply)
    stream = manaka.open_stream(path)
    assert stream.header.version == 3
    assert [(record.ply, record.value_z) for record in stream] == UNKNOWN
    batch = next(stream.batches())
    assert batch.records["value_z"].tolist() == [manaka.NO_OUTCOME, -1.0, manaka.NO_OUTCOME, 0.0]

    # A batch goes on as it came, and asks for the same permission.
    again = tmp_path / ("b" + name)
    with manaka.Writer(again, scores, absent_outcomes=True) as writer:
        writer.write_batch(batch)
    assert again.read_bytes() == path.read_bytes()
    with pytest.raises(manaka.FormatError) as error:
        with manaka.Writer(tmp_path / ("c" + name), scores) as writer:
            writer.write_batch(batch)
    assert (error.value.kind, error.value.record) == ("value_z", 0)


def test_a_writer_that_was_not_told_refuses_an_unknown_outcome(tmp_path, scores):
    path = tmp_path / "a.mpk"
    with manaka.Writer(path, scores) as writer:
        with pytest.raises(manaka.FormatError, match="only version 3 allows") as error:
            write(writer, value_z=None)
        assert error.value.kind == "value_z"
        write(writer)
    assert manaka.open_stream(path).header.version == 2


def test_outcomes_that_are_all_known_make_a_file_of_version_2(tmp_path, scores):
    for name, allowed in [("a.mpk.zst", True), ("b.mpk.zst", False)]:
        with manaka.Writer(tmp_path / name, scores, absent_outcomes=allowed) as writer:
            write(writer)
    assert manaka.open_stream(tmp_path / "a.mpk.zst").header.version == 2
    assert (tmp_path / "a.mpk.zst").read_bytes() == (tmp_path / "b.mpk.zst").read_bytes()


def test_an_appended_file_becomes_one_of_version_3_in_front_of_the_record_that_needs_it(tmp_path, scores):
    path = tmp_path / "a.mpk"
    with manaka.Writer(path, scores, append=True) as writer:
        write(writer, value_z=0)
    assert manaka.open_stream(path).header.version == 2
    with manaka.Writer(path, scores, append=True, absent_outcomes=True) as writer:
        write(writer, value_z=None)
    assert manaka.open_stream(path).header.version == 3
    assert [record.value_z for record in manaka.open_stream(path)] == [0, None]


BROKEN = [
    ("no_candidates", {"candidates": []}),
    ("value_z", {"value_z": 0.5}),
    ("value_q", {"value_q": 1.5}),
    ("value_q", {"value_q": float("nan")}),
    ("move16", {"candidates": [(0x8000, 1)]}),
    ("some_cp", {"candidates": [("7g7f", 1), ("2g2f", manaka.NO_CP)]}),
    ("missing_half", {"candidates": [("7g7f", manaka.NO_CP)]}),
    ("foreign_half", {"candidates": np.array([(3095, 5, 1)], manaka.CANDIDATE)}),
    ("some_visits", {"candidates": np.array([(3095, 5, 1), (8900, 0, 1)], manaka.CANDIDATE)}),
    ("many_candidates", {"candidates": np.zeros(65536, manaka.CANDIDATE)}),
]


@pytest.mark.parametrize("kind, changes", BROKEN)
def test_a_record_that_breaks_a_rule_is_refused_and_writing_goes_on(tmp_path, scores, kind, changes):
    path = tmp_path / "a.mpk"
    with manaka.Writer(path, scores) as writer:
        write(writer)
        with pytest.raises(manaka.FormatError) as refused:
            write(writer, **changes)
        assert (refused.value.kind, refused.value.record, refused.value.offset) == (kind, 1, 24 + 108 + 8 * 3)
        assert refused.value.path == str(path)
        write(writer, value_z=0)
    assert [record.value_z for record in manaka.open_stream(path)] == [1, 0]


def test_a_batch_is_written_up_to_the_record_that_is_refused(parts, tmp_path):
    stream = manaka.open_stream(parts)
    batch = next(stream.batches(100))
    batch.records["value_q"][60] = 2
    with manaka.Writer(tmp_path / "a.mpk", stream.header) as writer:
        with pytest.raises(manaka.FormatError) as refused:
            writer.write_batch(batch)
    assert (refused.value.kind, refused.value.record, writer.records) == ("value_q", 60, 60)
    assert len(plain(tmp_path / "a.mpk")) == 60
    batch.records["n_cand"][3] += 1
    with manaka.Writer(tmp_path / "b.mpk", stream.header) as writer:
        with pytest.raises(manaka.UsageError, match="n_cand"):
            writer.write_batch(batch)
        assert writer.records == 0


def test_a_block_left_by_an_exception_leaves_no_new_file(tmp_path, scores):
    with pytest.raises(ZeroDivisionError):
        with manaka.Writer(tmp_path / "a.mpk.zst", scores) as writer:
            write(writer)
            1 / 0
    assert list(tmp_path.iterdir()) == [] and writer.closed


def test_a_block_left_by_an_exception_leaves_an_appended_file_whole(tmp_path, scores):
    path = tmp_path / "a.mpk"
    with pytest.raises(ZeroDivisionError):
        with manaka.Writer(path, scores, append=True) as writer:
            write(writer)
            write(writer, value_z=0)
            1 / 0
    assert [record.value_z for record in manaka.open_stream(path)] == [1, 0]


def test_appending_goes_on_behind_the_last_whole_record(tmp_path, scores):
    path = tmp_path / "a.mpk"
    with manaka.Writer(path, scores, append=True) as writer:
        write(writer)
        writer.sync()
        assert len(plain(path)) == 1
        write(writer)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(manaka.FormatError, match="truncated"):
        plain(path)
    with manaka.Writer(path, scores, append=True) as writer:
        assert (writer.found, writer.cut) == (1, 108 + 24 - 5)
        write(writer, value_z=-1)
        with pytest.raises(manaka.FormatError) as refused:
            write(writer, value_z=2)
        assert refused.value.record == 2
    assert [record.value_z for record in manaka.open_stream(path)] == [1, -1]


def test_what_cannot_be_opened_for_writing(tmp_path, scores, visits):
    path = tmp_path / "a.mpk"
    with manaka.Writer(path, scores):
        pass
    with pytest.raises(FileExistsError, match="a.mpk"):
        manaka.Writer(path, scores)
    with pytest.raises(FileNotFoundError):
        manaka.Writer(tmp_path / "no/a.mpk", scores)
    for arguments, kind in [
        ((path, visits, True), "unsupported"),
        ((tmp_path / "b.mpk.zst", scores, True), "unsupported"),
        ((tmp_path / "b.parquet", scores, False), "name"),
    ]:
        with pytest.raises(manaka.UsageError) as refused:
            manaka.Writer(arguments[0], arguments[1], append=arguments[2])
        assert refused.value.kind == kind
    with pytest.raises(manaka.UsageError, match="level 20"):
        manaka.Writer(tmp_path / "b.mpk.zst", scores, level=20)
    slack = manaka.Header(pov="black", policy_source="softmax_cp", mate_slack=5)
    with pytest.raises(manaka.FormatError) as refused:
        manaka.Writer(tmp_path / "b.mpk", slack)
    assert refused.value.kind == "inconsistent_header"
    scaled = manaka.Header(pov="black", policy_source="visits", mate_scale=30000)
    with pytest.raises(manaka.UsageError, match="visits stream"):
        manaka.Writer(tmp_path / "b.mpk", scaled)
    assert {each.name for each in tmp_path.iterdir()} == {"a.mpk"}


def test_a_closed_writer_says_so(tmp_path, scores):
    writer = manaka.Writer(tmp_path / "a.mpk", scores)
    write(writer)
    assert writer.finish() == (1, 132, 156)
    for call in (lambda: write(writer), writer.finish, writer.sync):
        with pytest.raises(manaka.UsageError) as refused:
            call()
        assert refused.value.kind == "closed"
    with manaka.Writer(tmp_path / "b.mpk", scores) as writer:
        with pytest.raises(manaka.UsageError) as refused:
            writer.sync()
        assert refused.value.kind == "unsupported"
        with pytest.raises(manaka.UsageError, match="state ply"):
            write(writer, position=manaka.Position.startpos().packed)
        with pytest.raises((OverflowError, ValueError)):
            write(writer, ply=65536)


def test_conventions_are_never_guessed():
    with pytest.raises(TypeError):
        manaka.Header()
    with pytest.raises(manaka.UsageError, match="pov 'white'"):
        manaka.Header(pov="white", policy_source="visits")
    with pytest.raises(manaka.UsageError, match="policy_source 'cp'"):
        manaka.Header(pov="black", policy_source="cp")
