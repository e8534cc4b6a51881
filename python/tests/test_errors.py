"""Errors from Python: each kind with its place, the system's as OSError, all of them through a pickle."""

import pickle

import pytest

import manaka


def test_the_hierarchy_is_what_the_page_says():
    for kind in ("FormatError", "ConventionMismatch", "PositionError", "IllegalMoveError", "UsageError"):
        assert issubclass(getattr(manaka, kind), manaka.Error)
        assert issubclass(getattr(manaka, kind), ValueError)
    assert not issubclass(manaka.Error, (OSError, ValueError))


def test_what_is_not_there_is_an_oserror(tmp_path):
    missing = tmp_path / "no.mpk"
    for call in (manaka.open_stream, manaka.check, manaka.info):
        with pytest.raises(FileNotFoundError) as error:
            call(missing)
        assert error.value.errno == 2 and error.value.filename == str(missing)
        assert str(error.value) == f"[Errno 2] No such file or directory: '{missing}'"
    with pytest.raises(FileNotFoundError, match="no .mpk or .mpk.zst file in this directory"):
        manaka.open_stream(tmp_path)
    with pytest.raises(FileNotFoundError, match="the pattern matches no"):
        manaka.open_stream(tmp_path / "*.mpk")
    (tmp_path / "dir.mpk").mkdir()
    with pytest.raises(FileNotFoundError):
        manaka.open_stream(tmp_path / "dir.mpk")


def test_inputs_that_make_no_sense(tmp_path, parts):
    with pytest.raises(manaka.UsageError) as error:
        manaka.open_stream([parts, next(parts.iterdir())])
    assert error.value.kind == "twice"
    with pytest.raises(manaka.UsageError) as error:
        manaka.open_stream(tmp_path / "a[.mpk")
    assert error.value.kind == "pattern"
    with pytest.raises(manaka.UsageError, match="a batch of 0 records"):
        manaka.open_stream(parts).batches(0)
    with pytest.raises(manaka.FormatError) as error:
        manaka.open_stream([])
    assert error.value.kind == "empty"


def test_streams_that_do_not_agree_name_the_key_both_values_and_both_files(tmp_path, scores):
    other = manaka.Header(
        pov="side_to_move", policy_source="softmax_cp", mate_scale=30000, mate_slack=100, fv_scale=28, eval_coef=1512.173
    )
    for name, header in (("a.mpk", scores), ("b.mpk", other)):
        manaka.Writer(tmp_path / name, header).finish()
    for call in (manaka.open_stream, lambda paths: manaka.pack(paths, tmp_path / "out")):
        with pytest.raises(manaka.ConventionMismatch) as error:
            call(tmp_path)
        error = error.value
        assert (error.kind, error.key, error.here, error.there) == ("conflict", "mate_scale", "30000", "32000")
        assert (error.path, error.other) == (str(tmp_path / "b.mpk"), str(tmp_path / "a.mpk"))


def test_an_error_in_the_middle_of_a_pack_has_its_place(root, tmp_path):
    bad = root / "conformance/bad/value_q_above_1.mpk"
    with pytest.raises(manaka.FormatError) as error:
        manaka.pack(bad, tmp_path / "out")
    assert error.value.kind == "value_q" and error.value.path == str(bad)
    assert error.value.record is not None and error.value.offset > 24


def test_shards_that_are_none(tmp_path, root, parts):
    (tmp_path / "noise.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    cases = [(tmp_path / "noise.parquet", "parquet"), (root / "examples/corpus.parquet", "not_a_shard")]
    for path, kind in cases:
        with pytest.raises(manaka.FormatError) as error:
            manaka.pack(parts, tmp_path / "out", exclude=path)
        assert (error.value.kind, error.value.path) == (kind, str(path))
    with pytest.raises(manaka.FormatError) as error:
        manaka.info(tmp_path / "noise.parquet")
    assert error.value.kind == "parquet"
    assert manaka.info(root / "examples/corpus.parquet")[0]["kind"] == "corpus"
    assert manaka.check(tmp_path / "noise.parquet")["ok"] is False


def test_corpora_that_are_none(tmp_path, shards):
    shard = next(shards.iterdir())
    with pytest.raises(manaka.FormatError) as error:
        manaka.teacher(shard, tmp_path / "out")
    assert (error.value.kind, error.value.path) == ("missing_columns", str(shard))
    (tmp_path / "noise.parquet").write_bytes(b"nothing")
    with pytest.raises(manaka.FormatError) as error:
        manaka.teacher(tmp_path / "noise.parquet", tmp_path / "out2")
    assert error.value.kind == "parquet"
    (tmp_path / "a.psv").write_bytes(bytes(4000))
    with pytest.raises(manaka.FormatError) as error:
        manaka.corpus(tmp_path / "a.psv", tmp_path / "out3")
    assert (error.value.kind, error.value.path) == ("not_psv", str(tmp_path / "a.psv"))


def test_options_and_directories_that_do_not_fit(tmp_path, parts, corpus):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").touch()
    cases = [
        (lambda: manaka.pack(parts, tmp_path / "full"), "not_empty"),
        (lambda: manaka.teacher(corpus, tmp_path / "full"), "not_empty"),
        (lambda: manaka.pack(parts, tmp_path / "out", prefix="a/b"), "option"),
        (lambda: manaka.pack(parts, tmp_path / "out", softmax_temp_cp=0), "option"),
        (lambda: manaka.pack(parts, tmp_path / "out", buckets=5000), "option"),
        (lambda: manaka.pack(parts, tmp_path / "out", checkpoint=-1), "option"),
        (lambda: manaka.teacher(corpus, tmp_path / "out", mate_scale=100, mate_slack=100), "conventions"),
        (lambda: manaka.teacher(corpus, tmp_path / "out", eval_coef=0), "conventions"),
        (lambda: manaka.corpus(corpus, tmp_path / "out", move16="stockfish"), "option"),
    ]
    for call, kind in cases:
        with pytest.raises(manaka.UsageError) as error:
            call()
        assert error.value.kind == kind
    assert not (tmp_path / "out").exists()
    with pytest.raises(TypeError):
        manaka.pack(parts, tmp_path / "out", rows=5)


def test_every_error_survives_a_pickle(root):
    def raised(call, *arguments):
        with pytest.raises(manaka.Error) as error:
            call(*arguments)
        return error.value

    errors = [
        raised(manaka.open_stream, root / "conformance/bad/magic.mpk"),
        raised(manaka.Position.from_sfen, "9/9/9/9/9/9/9/9/9 b - 1"),
        raised(manaka.usi, 0xFFFF),
        raised(manaka.open_stream, root / "conformance/good"),
    ]
    assert isinstance(errors[-1], manaka.ConventionMismatch)
    for error in errors:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error) != ""
        assert vars(again) == vars(error)
