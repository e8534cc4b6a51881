"""The loader: what a naive twin says row by row, whatever the threads, ranks, batches, kills and damage."""

import hashlib
import json
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import types

import naive
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import manaka

ALL = {"columns": ["packed", "ply"]}


def rows_of(batch) -> list[dict]:
    """The rows of a batch, comparable: lists without pads and ascending, planes as bytes, policies as pairs."""
    batch = dict(batch)
    if "first" in batch and batch["first"].ndim == 2:
        batch["first"], batch["second"] = manaka.unfold_planes(batch["first"], batch["second"], np.uint8)
    rows = []
    for at in range(len(batch["value"])):
        row = {"value": batch["value"][at], "weight": batch["weight"][at]}
        for name in ("mover", "opponent"):
            if name in batch:
                indices = batch[name][at].tolist()
                men = [index for index in indices if index >= 0]
                assert indices == men + [-1] * (len(indices) - len(men))
                row[name] = sorted(men)
        for name in ("first", "second"):
            if name in batch:
                planes = batch[name][at]
                assert set(np.unique(planes)) <= {0, 1}
                row[name] = planes.astype(np.uint8).tobytes()
        if "policy" in batch:
            there = np.flatnonzero(batch["policy"][at])
            row["policy"] = [(int(label), batch["policy"][at, label]) for label in there]
        if "policy_label" in batch:
            here = slice(*batch["policy_offsets"][at : at + 2])
            row["policy"] = list(zip(batch["policy_label"][here].tolist(), batch["policy_prob"][here]))
        if "packed" in batch:
            row["packed"], row["ply"] = batch["packed"][at].tobytes(), batch["ply"][at]
        rows.append(row)
    return rows


def all_rows(batches) -> list[dict]:
    return [row for batch in batches for row in rows_of(batch)]


def assert_rows(found, wanted):
    assert len(found) == len(wanted)
    for at, (have, want) in enumerate(zip(found, wanted)):
        assert have.keys() == want.keys(), at
        for name in want:
            if name in ("value", "weight"):
                assert have[name] == pytest.approx(want[name], abs=1e-6), (at, name)
            elif name == "policy":
                want_policy = [pair for pair in want[name] if pair[1] != 0 or len(have[name]) == len(want[name])]
                assert [pair[0] for pair in have[name]] == [pair[0] for pair in want_policy], at
                assert [pair[1] for pair in have[name]] == pytest.approx([pair[1] for pair in want_policy]), at
            else:
                assert have[name] == want[name], (at, name)


def regrouped(source, out, rows, group, cuts):
    """Shards of the first rows of a shard, cut at `cuts`, in groups of `group` rows: more borders in fewer rows."""
    table = pq.read_table(source).slice(0, rows)
    out.mkdir()
    for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, rows])):
        path = out / f"s-{number:05}.parquet"
        pq.write_table(table.slice(start, end - start), path, row_group_size=group)
    return out


@pytest.fixture(scope="module")
def small(shards, tmp_path_factory):
    """900 rows of scores in three shards, one of them without rows, in groups of 110."""
    out = tmp_path_factory.mktemp("loader") / "small"
    return regrouped(sorted(shards.iterdir())[0], out, 900, 110, [500, 500])


def played(path, header, games, seed, outcomes=(-1, 0, 1)):
    """A stream of random play; some positions come often."""
    dice = random.Random(seed)
    with manaka.Writer(path, header, absent_outcomes=None in outcomes) as writer:
        for _ in range(games):
            position = manaka.Position.startpos()
            for _ in range(20):
                legal = position.legal_moves()
                moves = dice.sample(legal, min(len(legal), 3))
                visits = [(move, dice.randrange(1, 90)) for move in moves]
                z, q = dice.choice(outcomes), dice.randrange(-64, 65) / 64
                writer.write(position, visits, value_z=z, value_q=q)
                position = position.play(moves[0] if dice.random() < 0.5 else legal[0])
    return path


@pytest.fixture(scope="module", params=["side_to_move", "black", "black, some unknown"])
def outcomes(request, tmp_path_factory):
    """A shard of visits, which has outcomes, in each view; and one where some games end nobody knows how."""
    out = tmp_path_factory.mktemp("outcomes")
    pov, *unknown = request.param.split(", ")
    header = manaka.Header(pov=pov, policy_source="visits")
    known = (-1, 0, 1, None) if unknown else (-1, 0, 1)
    report = manaka.pack(played(out / "a.mpk", header, 40, 5, known), out / "shards")
    assert (report["rows_without_outcome"] > 0) == bool(unknown)
    return out / "shards"


@pytest.fixture(scope="module")
def twin(small):
    return naive.read(sorted(small.iterdir()))


@pytest.mark.parametrize("mirror", ["never", "half", "always"])
@pytest.mark.parametrize("features", [None, "halfkp", "kp", "planes", "planes_u8", "planes_bits"])
def test_every_feature_set_equals_the_naive_twin(features, mirror, small, twin):
    policy = "dense" if features == "planes" else "sparse"
    options = {"features": features, "policy": policy, "mirror": mirror, "seed": 3, **ALL}
    wanted = [
        naive.expected(row, features=features, policy=policy, mirror=naive.mirrors(row, mirror, 3, 0))
        for row in naive.in_order(twin)
    ]
    if mirror == "half":
        assert wanted != [naive.expected(row, features=features, policy=policy) for row in naive.in_order(twin)]
    for threads, batch_size in [(1, 64), (3, 1024), (2, 7)]:
        loader = manaka.Loader(small, threads=threads, batch_size=batch_size, **options)
        assert (len(loader), loader.rows) == (-(-900 // batch_size), 900)
        batches = list(loader)
        assert [len(batch["value"]) for batch in batches[:-1]] == [batch_size] * (len(batches) - 1)
        assert_rows(all_rows(batches), wanted)


def test_shapes_and_dtypes_are_those_of_the_page(small):
    def shapes(**options):
        batch = next(iter(manaka.Loader(small, batch_size=10, **options)))
        return {name: (array.shape, array.dtype.name) for name, array in batch.items()}

    always = {"value": ((10,), "float32"), "weight": ((10,), "float32")}
    assert shapes() == always
    lists = shapes(features="halfkp", columns=["packed", "ply"])
    assert lists == always | {
        "mover": ((10, 38), "int32"),
        "opponent": ((10, 38), "int32"),
        "packed": ((10, 96), "uint8"),
        "ply": ((10,), "uint16"),
    }
    assert shapes(features="kp")["mover"] == ((10, 40), "int32")
    for features, dtype in (("planes", "float32"), ("planes_u8", "uint8")):
        found = shapes(features=features)
        assert found["first"] == ((10, 62, 9, 9), dtype) and found["second"] == ((10, 57, 9, 9), dtype)
    bits = shapes(features="planes_bits")
    assert bits["first"] == ((10, 628), "uint8") and bits["second"] == ((10, 8), "uint8")
    assert shapes(policy="dense")["policy"] == ((10, 2187), "float32")
    sparse = shapes(policy="sparse")
    (candidates,), dtype = sparse["policy_label"]
    assert dtype == "uint16" and sparse["policy_prob"] == ((candidates,), "float32")
    assert sparse["policy_offsets"] == ((11,), "uint32")


@pytest.mark.parametrize("weight", ["stored", "sqrt", "log", 3.5])
def test_values_are_blended_and_weights_shaped_as_asked(weight, outcomes):
    rows = naive.in_order(naive.read(sorted(outcomes.iterdir())))
    assert max(row.weight for row in rows) > 4
    for blend in (0.0, 0.25, 1.0):
        found = all_rows(manaka.Loader(outcomes, blend=blend, weight=weight, **ALL))
        assert_rows(found, [naive.expected(row, blend=blend, weight_mode=weight) for row in rows])


def test_outcomes_that_are_not_there_are_blended_by_name_only(small, twin):
    with pytest.raises(manaka.UsageError, match="has no value_z") as error:
        next(iter(manaka.Loader(small, blend=0.5)))
    assert error.value.kind == "option"
    found = all_rows(manaka.Loader(small, blend=0.5, outcome_absent="search", **ALL))
    assert_rows(found, [naive.expected(row) for row in naive.in_order(twin)])


@pytest.mark.parametrize("order", ["written", "shuffled"])
def test_ranks_are_disjoint_complete_and_in_the_order_of_the_epoch(order, small, twin):
    for world_size in (1, 3, 7):
        loaders = [
            manaka.Loader(small, order=order, seed=9, rank=rank, world_size=world_size, batch_size=50, **ALL)
            for rank in range(world_size)
        ]
        for epoch in range(3):
            whole = naive.in_order(twin, order, 9, epoch)
            for rank, loader in enumerate(loaders):
                assert loader.epoch == epoch
                wanted = [row.packed for row in naive.part(whole, rank, world_size)]
                assert [row["packed"] for row in all_rows(loader)] == wanted
    even = [manaka.Loader(small, rank=r, world_size=7, batch_size=50, last_batch="drop") for r in range(7)]
    assert {len(list(loader)) for loader in even} == {len(even[0])} == {2}
    if order == "shuffled":
        assert naive.in_order(twin, order, 9, 0) != naive.in_order(twin, order, 9, 1)


def test_sets_are_mixed_by_their_shares(small, outcomes, twin):
    first = [row.packed for row in naive.in_order(twin)]
    second = [row.packed for row in naive.in_order(naive.read(sorted(outcomes.iterdir())))]
    expected, taken = [], [0, 0]
    for turn in range(10**6):
        source = (0, 0, 1, 0)[turn % 4]
        if taken[source] == len((first, second)[source]):
            break
        expected.append((first, second)[source][taken[source]])
        taken[source] += 1
    files = sorted(small.iterdir())
    for shards in ({small: 3, outcomes: 1}, [(str(small), 3), ([outcomes], 1)], {tuple(files): 3, str(outcomes): 1}):
        loader = manaka.Loader(shards, **ALL)
        assert [row["packed"] for row in all_rows(loader)] == expected
        assert [header.policy_source for header in loader.headers] == ["softmax_cp", "visits"]
    repeated = all_rows(manaka.Loader({small: 3, outcomes: 1}, set_end="repeat", **ALL))
    assert {row["packed"] for row in repeated} == {*first, *second}


def test_a_pass_goes_from_the_place_to_the_end_and_the_next_is_the_next_epoch(small):
    loader = manaka.Loader(small, batch_size=100, order="shuffled", **ALL)
    whole = all_rows(loader)
    assert (loader.epoch, loader.row) == (1, 0)
    loader.begin_epoch(0)
    for batch in loader:
        front = rows_of(batch)
        break
    assert (loader.epoch, loader.row) == (0, 100)
    assert front + all_rows(loader) == whole
    second = all_rows(loader)
    assert loader.epoch == 2 and second != whole
    under_way = iter(loader)
    next(under_way)
    loader.begin_epoch(1)
    assert list(under_way) == [] and all_rows(loader) == second
    fresh = manaka.Loader(small, batch_size=100, order="shuffled", **ALL)
    fresh.begin_epoch(1)
    assert fresh.epoch == 1 and all_rows(fresh) == second


def test_a_cursor_goes_on_with_exactly_the_rest(small):
    options = {"batch_size": 70, "order": "shuffled", "mirror": "half", "seed": 4, "features": "halfkp", **ALL}
    loader = manaka.Loader(small, threads=3, **options)
    places, batches = [loader.cursor()], []
    for _ in range(2):
        for batch in loader:
            batches.append(rows_of(batch))
            places.append(loader.cursor())
    for at in (0, 1, 5, 12, 13, 14, 20, 25):
        again = manaka.Loader(small, threads=1, cursor=places[at], **options)
        # The last place of an epoch is behind its rows: what is left of it is nothing.
        rest = [rows_of(batch) for _ in range(2 - again.epoch) for batch in again]
        assert rest == batches[at:], at
        loader.seek(places[at])
        assert loader.cursor() == places[at]
    moved = pickle.loads(pickle.dumps(loader))
    assert moved.cursor() == loader.cursor() and (moved.epoch, moved.row) == (loader.epoch, loader.row)
    assert all_rows(moved) == all_rows(loader)


def test_a_cursor_of_something_else_is_refused_by_name(small, outcomes):
    loader = manaka.Loader(small, batch_size=100)
    next(iter(loader))
    cursor = loader.cursor()

    def refused(match, call):
        with pytest.raises(manaka.UsageError, match=match) as error:
            call()
        assert error.value.kind == "cursor"

    refused("no cursor", lambda: manaka.Loader(small, cursor="somewhere"))
    refused("batch_size was 100 and is 50", lambda: len(manaka.Loader(small, batch_size=50, cursor=cursor)))
    refused("shards_0", lambda: len(manaka.Loader(outcomes, batch_size=100, cursor=cursor)))
    refused("the epoch has 900", lambda: loader.seek(cursor.replace("row 100", "row 901")))
    assert loader.cursor() == cursor


CHILD = """
import json, os, sys, time, hashlib
import manaka
out, shards, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
loader, rows = manaka.Loader(shards, **options), []
while True:
    for batch in loader:
        rows += [hashlib.md5(row.tobytes() + bytes(ply)).hexdigest() for row, ply in zip(batch["packed"], batch["ply"])]
        with open(out + ".new", "w") as file:
            json.dump([loader.cursor(), rows], file)
        os.replace(out + ".new", out)
        time.sleep(0.02)
"""


def test_a_killed_loader_goes_on_at_its_saved_cursor(small, tmp_path):
    options = {"batch_size": 40, "order": "shuffled", "seed": 8, "columns": ["packed", "ply"]}

    def digests(batch):
        pairs = zip(batch["packed"], batch["ply"])
        return [hashlib.md5(row.tobytes() + bytes(ply)).hexdigest() for row, ply in pairs]

    whole = manaka.Loader(small, **options)
    wanted = [digest for _ in range(2) for batch in whole for digest in digests(batch)]
    for enough in (40, 400, 1000):
        out = tmp_path / f"{enough}.json"
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(out), str(small), json.dumps(options)])
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and child.poll() is None:
            if out.exists() and len(json.loads(out.read_text())[1]) >= enough:
                break
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        cursor, rows = json.loads(out.read_text())
        assert enough <= len(rows) < len(wanted) and rows == wanted[: len(rows)]
        resumed = manaka.Loader(small, cursor=cursor, **options)
        rest = [digest for _ in range(2 - resumed.epoch) for batch in resumed for digest in digests(batch)]
        assert rows + rest == wanted


def load(path, **options):
    return all_rows(manaka.Loader(path, features="halfkp", policy="sparse", **ALL, **options))


def test_truncated_shards_are_an_error_wherever_they_are_cut(small, tmp_path, capfd):
    whole = sorted(small.iterdir())[0].read_bytes()
    path = tmp_path / "a.parquet"
    for length in (0, 3, 11, 2000, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(manaka.FormatError) as error:
            load(path)
        assert (error.value.kind, error.value.path) == ("parquet", str(path)) and str(path) in str(error.value)
    assert capfd.readouterr().err == ""


def test_flipped_bits_are_an_error_or_other_plausible_numbers_and_never_print(small, tmp_path, capfd):
    source = sorted(small.iterdir())[0]
    whole, good = source.read_bytes(), load(source)
    path = tmp_path / "a.parquet"
    dice = random.Random(11)
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    places = [(at, True) for at in (0, len(whole) - 1, len(whole) - 6)]
    places += [(dice.randrange(footer), False) for _ in range(250)]
    places += [(dice.randrange(footer, len(whole)), False) for _ in range(150)]
    kinds = set()
    for at, sure in places:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << dice.randrange(8)]) + whole[at + 1 :])
        try:
            rows = load(path, threads=2)
        except manaka.FormatError as error:
            assert error.path == str(path) and len(str(error)) < 600
            kinds.add(error.kind)
        else:
            assert len(rows) == len(good) and (not sure or at == 0)
    assert kinds >= {"parquet", "not_a_shard"}, kinds
    assert capfd.readouterr().err == ""


def test_a_row_that_cannot_be_is_an_error_behind_every_batch_in_front_of_it(small, tmp_path):
    table = pq.read_table(sorted(small.iterdir())[0])
    weights = table["weight"].to_pylist()
    weights[333] = 0
    column = table.schema.get_field_index("weight")
    table = table.set_column(column, table.schema.field("weight"), pa.array(weights, pa.uint32()))
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=100)
    loader = manaka.Loader(path, batch_size=50, threads=3)
    seen = 0
    for _ in range(2):
        with pytest.raises(manaka.FormatError) as error:
            for batch in loader:
                seen += len(batch["value"])
        assert (error.value.kind, error.value.path, error.value.record) == ("weight", str(path), 333)
        # The loader stands where it stood, and meets the row again.
        assert (seen, loader.row) == (300, 300)


def test_what_is_no_shard_is_refused(tmp_path, root, small):
    def refused(kind, *paths):
        with pytest.raises(manaka.FormatError) as error:
            load(paths)
        assert (error.value.kind, error.value.path) == (kind, str(paths[-1]))

    refused("not_a_shard", root / "examples/corpus.parquet")
    (tmp_path / "empty.parquet").touch()
    refused("parquet", tmp_path / "empty.parquet")
    refused("parquet", sorted(small.iterdir())[0], tmp_path / "empty.parquet")
    shard = sorted(small.iterdir())[0]
    table = pq.read_table(shard)
    pq.write_table(table.drop_columns(["weight"]), tmp_path / "foreign.parquet")
    refused("not_a_shard", tmp_path / "foreign.parquet")
    pq.write_table(table.replace_schema_metadata({}), tmp_path / "bare.parquet")
    refused("not_a_shard", tmp_path / "bare.parquet")
    # A shard without rows is part of a set; a set without rows is none.
    assert pq.read_metadata(sorted(small.iterdir())[1]).num_rows == 0
    refused("no_rows", sorted(small.iterdir())[1])
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.parquet")


def test_shards_of_other_conventions_are_refused_with_both_files(small, tmp_path):
    shard = sorted(small.iterdir())[0]
    table = pq.read_table(shard)
    other = table.replace_schema_metadata({**table.schema.metadata, b"mate_scale": b"30000"})
    pq.write_table(other, tmp_path / "z.parquet")
    with pytest.raises(manaka.ConventionMismatch) as error:
        len(manaka.Loader([shard, tmp_path / "z.parquet"]))
    error = error.value
    assert (error.kind, error.key, error.here, error.there) == ("conflict", "mate_scale", "30000", "32000")
    assert (error.path, error.other) == (str(tmp_path / "z.parquet"), str(shard))


def test_options_that_make_no_sense_are_refused_before_anything_is_opened():
    cases = [
        {"batch_size": 0},
        {"features": "halfkpe9"},
        {"blend": 1.5},
        {"blend": float("nan")},
        {"outcome_absent": "guess"},
        {"weight": "cbrt"},
        {"weight": 0.5},
        {"policy": "soft"},
        {"columns": ["value_q"]},
        {"order": "random"},
        {"mirror": "maybe"},
        {"rank": 1},
        {"world_size": 0},
        {"last_batch": "pad"},
        {"set_end": "wrap"},
    ]
    for options in cases:
        with pytest.raises(manaka.UsageError) as error:
            manaka.Loader("nowhere", **options)
        assert error.value.kind == "option", options
    with pytest.raises(TypeError):
        manaka.Loader("nowhere", batch=5)
    for shards in ({"nowhere": 0}, {"nowhere": 1, "there": -1}, {(): 1}, {}, [], [("nowhere", 0)]):
        with pytest.raises(manaka.UsageError) as error:
            manaka.Loader(shards)
        assert error.value.kind == "option", shards
    for shards in ({"nowhere": 0.5}, [("nowhere", 1), "there"]):
        with pytest.raises((TypeError, manaka.UsageError)):
            len(manaka.Loader(shards))


def taken(loader):
    return [row["packed"] for row in all_rows(loader)]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_loaders_work_in_worker_processes(method, small):
    loader = manaka.Loader(small, batch_size=100, threads=2, order="shuffled", **ALL)
    # Threads of this process are under way when the others begin.
    under_way = iter(loader)
    front = rows_of(next(under_way))
    parts = [manaka.Loader(small, batch_size=100, rank=rank, world_size=2, order="shuffled", **ALL) for rank in (0, 1)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        rest, *halves = pool.map(taken, [loader, *parts])
    assert len(rest) == 800 and halves[0] + halves[1] == [row["packed"] for row in front] + rest
    assert [row["packed"] for row in all_rows(under_way)] == rest


def test_a_fork_begins_its_own_pass_and_is_refused_one_that_was_begun(small):
    from test_processes import fork

    loader = manaka.Loader(small, batch_size=100, threads=2, **ALL)
    under_way = iter(loader)
    next(under_way)
    cursor = loader.cursor()

    def child():
        nonlocal under_way
        if (loader.cursor(), loader.row) != (cursor, 100):
            return False
        try:
            next(under_way)
            return False
        except manaka.UsageError as error:
            refused = error.kind == "forked"
        under_way = None
        return refused and len(taken(loader)) == 800

    assert fork(child) == 0

    def at_once():
        return len(taken(loader)) == 800 and loader.epoch == 1

    assert fork(at_once) == 0
    assert len(all_rows(under_way)) == 800


def test_arrays_are_the_callers_and_are_taken_without_a_copy(small):
    for features in ("halfkp", "planes", "planes_u8", "planes_bits"):
        for policy in ("sparse", "dense"):
            loader = manaka.Loader(small, batch_size=100, features=features, policy=policy, **ALL)
            batches = list(loader)
            copies = [{name: array.copy() for name, array in batch.items()} for batch in batches]
            for batch in batches:
                for array in batch.values():
                    flags = array.flags
                    assert flags.c_contiguous and flags.aligned and flags.writeable and not flags.owndata
                    shared = np.from_dlpack(array)
                    assert np.shares_memory(shared, array)
                    assert shared.__array_interface__["data"][0] == array.__array_interface__["data"][0]
            # Nothing writes to a batch that was handed out.
            for batch, copy in zip(batches, copies):
                assert all(np.array_equal(batch[name], copy[name]) for name in copy)
            arrays = [array for batch in batches for array in batch.values()]
            places = sorted((array.__array_interface__["data"][0], array.nbytes) for array in arrays if array.nbytes)
            assert all(start + size <= after for (start, size), (after, _) in zip(places, places[1:]))
    loader.close()
    del loader
    assert all(np.array_equal(batch[name], copy[name]) for batch, copy in zip(batches, copies) for name in copy)


def test_other_threads_run_while_a_batch_is_waited_for(shards):
    loader = manaka.Loader(shards, batch_size=8000, features="planes", policy="dense", threads=1)
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.001):
            ticks.append(time.monotonic())

    batches = iter(loader)
    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    next(batches)
    ended = time.monotonic()
    over.set()
    thread.join()
    inside = [tick for tick in ticks if began < tick < ended]
    assert ended - began > 0.02 and len(inside) >= 5, (ended - began, len(inside))


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_does_not_grow_over_epochs(small):
    loader = manaka.Loader(small, batch_size=100, features="planes_u8", policy="sparse", threads=2, **ALL)

    def epochs(count):
        for _ in range(count):
            for batch in loader:
                assert len(batch["value"]) > 0
        return resident()

    before = epochs(20)
    # An epoch is 9 MB: one that was kept in ten would show.
    assert epochs(60) - before < 20 << 20


def test_closing_lets_go_of_files_and_keeps_the_place(small):
    loader = manaka.Loader(small, batch_size=100, **ALL)
    front = rows_of(next(iter(loader)))

    def held():
        links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
        return [link for link in links if os.path.exists(link) and str(small) in os.readlink(link)]

    assert held()
    loader.close()
    assert not held() and loader.row == 100
    assert front + all_rows(loader) == all_rows(manaka.Loader(small, **ALL))
    assert repr(loader) == "<manaka.Loader of 1 sets, at row 0 of epoch 1>"


def test_features_and_labels_of_a_single_position(small, twin):
    rows = naive.in_order(twin)[:150]
    loaders = {
        (features, mirrored): all_rows(
            manaka.Loader(small, batch_size=150, features=features, mirror="always" if mirrored else "never")
        )
        for features in ("halfkp", "kp", "planes", "planes_u8", "planes_bits")
        for mirrored in (False, True)
    }
    for at, row in enumerate(rows):
        position = manaka.Position.from_packed(row.packed)
        for (features, mirrored), found in loaders.items():
            arrays = position.features(features, mirrored=mirrored)
            batch = {name: array[None] for name, array in arrays.items()}
            (alone,) = rows_of(batch | {"value": np.zeros(1), "weight": np.zeros(1)})
            for name in arrays:
                assert alone[name] == found[at][name], (features, name)
        for usi in position.legal_moves():
            assert position.label(usi) == naive.label(row.packed, usi)
            turned = naive.label(naive.mirrored_position(row.packed), naive.mirrored_move(usi))
            assert position.label(manaka.move16(usi), mirrored=True) == turned
    with pytest.raises(manaka.UsageError, match="must be one of halfkp, kp"):
        position.features("nnue")
    with pytest.raises(manaka.PositionError) as error:
        manaka.Position.from_packed(bytes(96), check=False).features("kp")
    assert error.value.kind == "no_features"
    with pytest.raises(manaka.IllegalMoveError) as error:
        position.label("9a8d")
    assert error.value.kind == "no_label"


@pytest.fixture
def torch(monkeypatch):
    """As much of torch as the dataset uses. The worker this process plays is `torch.worker`."""
    fake, utils, data = (types.ModuleType(name) for name in ("torch", "torch.utils", "torch.utils.data"))
    data.IterableDataset = type("IterableDataset", (), {})
    fake.worker = None
    data.get_worker_info = lambda: fake.worker
    fake.from_numpy = np.asarray
    fake.utils, utils.data = utils, data
    for module in (fake, utils, data):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return fake


def test_torch_is_imported_only_when_a_dataset_is_made(small):
    code = "import sys, manaka, manaka.torch; assert 'torch' not in sys.modules; manaka.torch.dataset(None)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1 and "No module named 'torch'" in run.stderr


def test_a_torch_dataset_splits_ranks_among_workers(small, twin, torch):
    import manaka.torch

    for epoch in range(2):
        seen = []
        for rank in range(2):
            loader = manaka.Loader(small, batch_size=64, order="shuffled", rank=rank, world_size=2, **ALL)
            made = manaka.torch.dataset(loader)
            assert isinstance(made, torch.utils.data.IterableDataset) and isinstance(made, manaka.torch.Dataset)
            made.begin_epoch(epoch)
            for worker in range(3):
                torch.worker = types.SimpleNamespace(id=worker, num_workers=3)
                # Each worker process has its own.
                seen += taken(pickle.loads(pickle.dumps(made)))
            torch.worker = None
            # The workers took nothing from this process's loader.
            assert (loader.epoch, loader.row) == (epoch, 0)
        assert seen == [row.packed for row in naive.in_order(twin, "shuffled", 0, epoch)]


def test_a_torch_worker_that_persists_goes_on_to_the_next_epoch(small, twin, torch):
    import manaka.torch

    made = manaka.torch.dataset(manaka.Loader(small, order="shuffled", **ALL))
    torch.worker = types.SimpleNamespace(id=1, num_workers=2)
    for epoch in range(3):
        whole = naive.in_order(twin, "shuffled", 0, epoch)
        assert taken(made) == [row.packed for row in naive.part(whole, 1, 2)]
    torch.worker = None
    assert len(taken(made)) == 900 and made.loader.epoch == 1
    begun = manaka.Loader(small, batch_size=100)
    next(iter(begun))
    torch.worker = types.SimpleNamespace(id=0, num_workers=2)
    with pytest.raises(manaka.UsageError, match="in the middle of an epoch"):
        next(iter(manaka.torch.dataset(begun)))
