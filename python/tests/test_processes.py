"""Worker processes, forked and spawned: streams, positions, runs and errors cross over."""

import multiprocessing
import os

import pytest

import manaka


def count(stream):
    return sum(len(batch) for batch in stream.batches(1000))


def legal(position):
    return len(position.legal_moves())


def checked(path):
    return manaka.check(path)["totals"]["records"]


def broken(path):
    return list(manaka.open_stream(path))


def header_of(header):
    return (header.pov, header.mate_scale, header.version)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_everything_works_in_worker_processes(method, parts, root, scores):
    whole = manaka.open_stream(parts)
    streams = [manaka.open_stream(path) for path in whole.files]
    # Threads and files of this process are under way when the others begin.
    begun = whole.batches(10)
    next(begun)
    manaka.check(parts)
    with multiprocessing.get_context(method).Pool(2) as pool:
        counts = pool.map(count, [whole, *streams])
        assert counts[0] == sum(counts[1:]) > 0
        start = manaka.Position.startpos()
        assert pool.map(legal, [start, start.play("7g7f")]) == [30, 30]
        assert pool.map(checked, [str(parts)]) == counts[:1]
        assert pool.map(header_of, [scores]) == [("side_to_move", 32000, 2)]
        bad = root / "conformance/bad/value_q_nan.mpk"
        with pytest.raises(manaka.FormatError) as error:
            pool.map(broken, [bad])
        assert (error.value.kind, error.value.path) == ("value_q", str(bad))
    assert sum(map(len, begun)) == counts[0] - 10


def fork(body):
    """The exit code of a fork that runs `body`: 0 when it returns True."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if body() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_what_was_begun_before_a_fork_is_refused_in_it(parts, tmp_path, scores):
    batches = manaka.open_stream(parts).batches(10)
    writer = manaka.Writer(tmp_path / "a.mpk", scores)

    def refused(call):
        try:
            call()
        except manaka.UsageError as error:
            return error.kind == "forked"
        return False

    def child():
        nonlocal writer
        ok = refused(lambda: next(batches)) and refused(writer.finish)
        # The unfinished file is the parent's: letting go of it here must not remove it.
        writer = None
        return ok

    assert fork(child) == 0
    assert len(next(batches)) == 10
    writer.finish()
    assert (tmp_path / "a.mpk").exists()
