"""The long runs: the command's reports, progress, Ctrl-C, and a GIL that is free meanwhile."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time

import pytest

import manaka


def command_says(command, *arguments):
    run = subprocess.run([command, *map(str, arguments), "--format", "json"], capture_output=True, text=True, timeout=300)
    assert run.returncode in (0, 3), run.stderr
    return json.loads(run.stdout)


def renamed(report, old, new):
    return json.loads(json.dumps(report).replace(str(old), str(new)))


def test_teacher_reports_and_writes_what_the_command_does(command, corpus, tmp_path):
    conventions = {"mate_scale": 32000, "mate_slack": 100, "fv_scale": 28}
    report = manaka.teacher(corpus, tmp_path / "a", **conventions, rejects=tmp_path / "a.tsv")
    options = [f"--{key.replace('_', '-')}={value}" for key, value in conventions.items()]
    said = command_says(command, "teacher", corpus, "--out", tmp_path / "b", *options)
    assert renamed(report, tmp_path / "a", tmp_path / "b") == said
    assert report["rejected"] == sum(report["rejected_by_reason"].values())
    assert (tmp_path / "a/part-00000.mpk.zst").read_bytes() == (tmp_path / "b/part-00000.mpk.zst").read_bytes()
    assert (tmp_path / "a.tsv").read_text().startswith("file\trow\treason\tdetail\n")


def test_pack_reports_and_writes_what_the_command_does(command, parts, tmp_path):
    report = manaka.pack(parts, tmp_path / "a", rows_per_shard=6000, softmax_temp_cp=80, prefix="x")
    options = ["--rows-per-shard", 6000, "--softmax-temp-cp", 80, "--prefix", "x"]
    said = command_says(command, "pack", parts, "--out", tmp_path / "b", *options)
    for changing in ("seconds", "peak_memory"):
        assert report.pop(changing) and said.pop(changing)
    assert renamed(report, tmp_path / "a", tmp_path / "b") == said
    shards = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert len(shards) > 2
    for name in shards:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    rest = manaka.pack(parts, tmp_path / "c", exclude=tmp_path / "a" / shards[0])
    assert rest["rows"] == report["rows"] - 6000 and rest["excluded_positions"] == 6000


def test_check_and_info_report_what_the_command_does(command, parts, shards, root):
    assert manaka.check([parts, shards], threads=1) == command_says(command, "check", parts, shards)
    bad = root / "conformance/bad/value_q_nan.mpk"
    report = manaka.check(bad, limit=1)
    assert report == command_says(command, "check", bad, "--limit", 1)
    assert not report["ok"] and report["findings"][0]["id"] == "value_q"
    assert manaka.info([parts, shards]) == command_says(command, "info", parts, shards)


def test_stat_reports_and_writes_what_the_command_does(command, parts, shards, corpus, tmp_path):
    for data in (parts, shards, corpus):
        report = manaka.stat(data, html=tmp_path / "a.html", threads=1)
        assert report == command_says(command, "stat", data, "--html", tmp_path / "b.html")
        assert set(report) == set(manaka.reports.StatReport.__annotations__)
        assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()
    assert manaka.stat(parts)["games"]["joins"] > 1 and manaka.stat(shards)["games"] is None
    # The example's mates lie below 30000, and 32000 is stated.
    assert [alarm["id"] for alarm in manaka.stat(parts)["alarms"]] == ["mates_beyond_slack"]
    with pytest.raises(manaka.UsageError) as error:
        manaka.stat([parts, shards])
    assert error.value.kind == "mixed"
    with pytest.raises(ZeroDivisionError):
        manaka.stat(parts, progress=lambda *call: 1 / 0)


def test_corpus_reports_what_the_command_does(command, tmp_path):
    raw = tmp_path / "raw.psv"
    raw.write_bytes(psv_of_the_start() * 50)
    report = manaka.corpus(raw, tmp_path / "a", move16="yaneuraou", candidates=0)
    said = command_says(
        command, "corpus", raw, "--out", tmp_path / "b", "--move16", "yaneuraou", "--candidates", 0
    )
    assert renamed(report, tmp_path / "a", tmp_path / "b") == said and report["rows"] == 50


def psv_of_the_start():
    """One 40-byte record of the starting position, 7g7f played, packed by cshogi."""
    import cshogi
    import numpy as np

    record = np.zeros(1, cshogi.PackedSfenValue)
    board = cshogi.Board()
    board.to_psfen(record["sfen"])
    record["score"], record["gamePly"], record["game_result"] = 38, 1, 1
    record["move"] = cshogi.move16_to_psv(cshogi.move16(board.move_from_usi("7g7f")))
    return record.tobytes()


def test_progress_names_every_phase_and_ends_with_all_of_it(parts, corpus, tmp_path):
    calls = []
    manaka.teacher(corpus, tmp_path / "t", progress=lambda *call: calls.append((threading.get_ident(), *call)))
    manaka.pack(parts, tmp_path / "p", progress=lambda *call: calls.append((threading.get_ident(), *call)))
    manaka.check(parts, progress=lambda *call: calls.append((threading.get_ident(), *call)))
    assert {thread for thread, *_ in calls} == {threading.get_ident()}
    last = {phase: (done, total) for _, phase, done, total in calls}
    assert len(last) >= 4 and "teacher" in last
    for phase, (done, total) in last.items():
        assert total is None or done == total, phase


def test_an_exception_of_the_callback_stops_the_run_and_is_raised(parts, tmp_path):
    def stop(phase, done, total):
        raise ZeroDivisionError(phase)

    for run in (
        lambda: manaka.check(parts, progress=stop),
        lambda: manaka.pack(parts, tmp_path / "out", progress=stop),
    ):
        with pytest.raises(ZeroDivisionError):
            run()


@pytest.fixture(scope="module")
def many(parts, tmp_path_factory):
    """Streams that take a while: every part forty times."""
    out = tmp_path_factory.mktemp("many")
    for at in range(40):
        for path in parts.iterdir():
            shutil.copy(path, out / f"{at:02}-{path.name}")
    return out


def test_other_threads_run_meanwhile(many):
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.002):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    manaka.check(many)
    took = time.monotonic() - began
    over.set()
    thread.join()
    longest = max(b - a for a, b in zip([began, *ticks], [*ticks, began + took]))
    assert took > 0.3 and len(ticks) > 20, (took, len(ticks))
    assert longest < took / 2, (longest, took)


def interrupted(run):
    """Runs until KeyboardInterrupt: a signal of the system to this process, a moment from now."""
    timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run()
            pytest.fail("the run was over before it was interrupted")
    finally:
        timer.cancel()


def test_ctrl_c_stops_a_check_before_its_end(many):
    calls = []
    interrupted(lambda: manaka.check(many, threads=1, progress=lambda *call: calls.append(call)))
    _, done, _ = calls[-1]
    assert done < manaka.check(many)["totals"]["records"]


def test_ctrl_c_stops_a_pack_before_it_writes(many, tmp_path):
    interrupted(lambda: manaka.pack(many, tmp_path / "out", threads=1))
    assert not list((tmp_path / "out").glob("*.parquet"))


def test_ctrl_c_stops_a_teacher_before_its_part_is_whole(root, tmp_path):
    for copy in range(10):
        shutil.copy(root / "examples/corpus.parquet", tmp_path / f"{copy}.parquet")
    interrupted(lambda: manaka.teacher(tmp_path, tmp_path / "out", threads=1))
    assert not list((tmp_path / "out").glob("*.mpk.zst"))


def test_ctrl_c_stops_a_corpus_before_its_file_is_whole(tmp_path):
    raw = tmp_path / "raw.psv"
    raw.write_bytes(psv_of_the_start() * 3_000_000)
    interrupted(lambda: manaka.corpus(raw, tmp_path / "out", move16="yaneuraou", candidates=0, threads=1))
    assert not list((tmp_path / "out").glob("*.parquet"))


def test_an_interrupted_pack_is_resumed_to_the_same_bytes(many, tmp_path):
    options = {"memory": 110 << 20, "threads": 1, "checkpoint": 0, "rows_per_shard": 5000}
    seen = []

    def interrupt(phase, done, total):
        seen.append(phase)
        if len(set(seen)) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        manaka.pack(many, tmp_path / "a", progress=interrupt, **options)
    with pytest.raises(manaka.UsageError) as error:
        manaka.pack(many, tmp_path / "a", **options)
    assert error.value.kind == "leftover" and error.value.path.startswith(str(tmp_path / "a"))
    resumed = manaka.pack(many, tmp_path / "a", resume=True, **options)
    whole = manaka.pack(many, tmp_path / "b", rows_per_shard=5000)
    assert not resumed["in_memory"] and resumed["rows"] == whole["rows"]
    names = sorted(path.name for path in (tmp_path / "b").iterdir())
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
