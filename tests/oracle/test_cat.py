"""`manaka cat` against lines written here from the oracle's own reading: what is printed, which is taken, which is drawn."""

import json
import random
import struct
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oracle import mpk, order, shards
from oracle.cli import COULD_NOT, DONE, FINDINGS, USAGE
from oracle.faults import bad_streams
from oracle.position import move16_to_usi, to_sfen
from oracle.streams import SYNTHETIC

COLUMNS = ["number", "sfen", "ply", "weight", "value_z", "value_q", "root_cp", "move", "usi", "cp", "visits", "prob"]


def of_record(number, record):
    """A line as it is meant, from a record."""
    line = {"number": number, "sfen": f"{to_sfen(record.packed)} {record.ply}", "ply": record.ply}
    line |= {} if record.value_z == mpk.NO_OUTCOME else {"value_z": record.value_z}
    line |= {"value_q": record.value_q, "candidates": []}
    for mv, visits, cp in record.candidates:
        half = {"cp": cp} if cp != mpk.NO_CP else {"visits": visits}
        line["candidates"].append({"usi": move16_to_usi(mv), **half})
    return line


def of_row(number, row):
    line = {"number": number, "sfen": f"{to_sfen(row.packed)} {row.ply}", "ply": row.ply, "weight": row.weight}
    line |= {} if row.value_z is None else {"value_z": row.value_z}
    line |= {"value_q": row.value_q, "candidates": []}
    for c in row.candidates:
        line["candidates"].append({"usi": move16_to_usi(c.mv), "cp": c.cp, "prob": c.prob})
        if c.cp is None:
            del line["candidates"][-1]["cp"]
    return line


def f32(number):
    return struct.pack("<f", number)


def hold_to(found, wanted):
    """Equal, with every float the same f32 to its last bit and sign."""
    assert len(found) == len(wanted)
    for got, want in zip(found, wanted):
        assert list(got) == list(want)
        for name in ("value_z", "value_q"):
            if name in want:
                assert isinstance(got[name], float) and f32(got[name]) == f32(want[name])
        probs = [[c.get("prob", 0.0) for c in line["candidates"]] for line in (got, want)]
        assert list(map(f32, probs[0])) == list(map(f32, probs[1]))
        assert [list(c) for c in got["candidates"]] == [list(c) for c in want["candidates"]]
        assert got == want or probs[0] != probs[1] or got["value_q"] != want["value_q"]
        plain = [(line["number"], line["sfen"], line["ply"], line.get("weight")) for line in (got, want)]
        assert plain[0] == plain[1]
        assert [(c["usi"], c.get("cp"), c.get("visits")) for c in got["candidates"]] == [
            (c["usi"], c.get("cp"), c.get("visits")) for c in want["candidates"]
        ]


def cat(manaka, *arguments):
    run = manaka("cat", *arguments, expect=DONE)
    assert not run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def best(header, line):
    """The score of the candidate best for the mover."""
    scores = [c["cp"] for c in line["candidates"]]
    white = line["sfen"].split()[1] == "w"
    return min(scores) if white and header.pov == mpk.POV_BLACK else max(scores)


def conditions(header, lines, rng):
    """Arguments that take some of the lines, and what they mean, over numbers that are there."""
    some = rng.choice(lines)
    plies = sorted(line["ply"] for line in rng.sample(lines, 2))
    values = sorted(line["value_q"] for line in rng.sample(lines, 2))
    usi = some["candidates"][-1]["usi"]
    board = some["sfen"].rsplit(" ", 1)[0]
    count = len(some["candidates"])
    made = [
        ([f"--ply={plies[0]}..{plies[1]}"], lambda x: plies[0] <= x["ply"] <= plies[1]),
        ([f"--ply={plies[0]}.."], lambda x: plies[0] <= x["ply"]),
        ([f"--ply=..{plies[1]}"], lambda x: x["ply"] <= plies[1]),
        (["--ply", str(plies[0])], lambda x: x["ply"] == plies[0]),
        (["--side", "w"], lambda x: " w " in x["sfen"]),
        (["--side", "b"], lambda x: " b " in x["sfen"]),
        (["--sfen", some["sfen"]], lambda x: x["sfen"].rsplit(" ", 1)[0] == board),
        (["--sfen", board], lambda x: x["sfen"].rsplit(" ", 1)[0] == board),
        (["--move", usi], lambda x: usi in [c["usi"] for c in x["candidates"]]),
        (["--min-candidates", str(count)], lambda x: len(x["candidates"]) >= count),
        (["--max-candidates", str(count)], lambda x: len(x["candidates"]) <= count),
        (["--min-weight", "2"], lambda x: x.get("weight", 1) >= 2),
        (["--max-weight", "1"], lambda x: x.get("weight", 1) <= 1),
        (
            # Written with seventeen digits, so that the ends are the very numbers that are there.
            [f"--value-q={values[0]:.17g}..{values[1]:.17g}"],
            lambda x: values[0] <= x["value_q"] <= values[1],
        ),
        (["--value-z", "none"], lambda x: "value_z" not in x),
    ]
    if any("value_z" in line for line in lines):
        for outcome in ("-1", "0", "1"):
            made.append((["--value-z", outcome], lambda x, z=float(outcome): x.get("value_z") == z))
    if header.policy_source == mpk.SOURCE_SCORES:
        scores = sorted(best(header, line) for line in rng.sample(lines, 2))
        made.append(([f"--cp={scores[0]}..{scores[1]}"], lambda x: scores[0] <= best(header, x) <= scores[1]))
        if header.mate_scale:
            mate = lambda x: any(header.is_mate(c["cp"]) for c in x["candidates"])  # noqa: E731
            made.append((["--mate"], mate))
            made.append((["--where", f"mate ply={plies[0]}.."], lambda x: mate(x) and x["ply"] >= plies[0]))
    return made


def hold_filters(manaka, path, header, lines, rng):
    made = conditions(header, lines, rng)
    joined = [(a + b, lambda x, f=f, g=g: f(x) and g(x)) for (a, f), (b, g) in zip(made, made[5:])]
    joined = [(flags, keep) for flags, keep in joined if len({f.split("=")[0] for f in flags if f[:2] == "--"}) > 1]
    taken = 0
    for flags, keep in made + joined:
        wanted = [line for line in lines if keep(line)]
        assert cat(manaka, path, *flags) == wanted, flags
        taken += 0 < len(wanted) < len(lines)
    assert taken > len(made) / 2


@cache
def synthetic(name):
    return SYNTHETIC[name]()


@pytest.mark.parametrize("name", SYNTHETIC)
def test_records_are_printed_as_they_are_and_taken_by_every_condition(manaka, tmp_path, name):
    made = synthetic(name)
    path = tmp_path / "a.mpk.zst"
    mpk.write_stream(path, made.header, made.records, frames=3)
    lines = cat(manaka, path)
    hold_to(lines, [of_record(number, record) for number, record in enumerate(made.records)])
    hold_filters(manaka, path, made.header, lines, random.Random(name))


@pytest.mark.parametrize("name", ["many duplicates", "pov black", "visits", "mates at 32000, slack 100"])
def test_rows_are_printed_as_they_are_and_taken_by_every_condition(manaka, tmp_path, name):
    made = synthetic(name)
    mpk.write_stream(tmp_path / "a.mpk", made.header, made.records)
    manaka("pack", tmp_path / "a.mpk", "--out", tmp_path / "shards", expect=DONE)
    rows = shards.read_rows(tmp_path / "shards")
    lines = cat(manaka, tmp_path / "shards")
    hold_to(lines, [of_row(number, row) for number, row in enumerate(rows)])
    hold_filters(manaka, tmp_path / "shards", made.header, lines, random.Random(name))


def test_a_corpus_is_printed_with_outcomes_of_the_mover(manaka, corpus):
    table = pq.read_table(corpus).slice(0, 3000).to_pylist()
    lines = cat(manaka, corpus, "--head", 3000)
    assert len(lines) == 3000
    for line, row in zip(lines, table):
        outcome = float(row["result"] if row["side"] == 0 else -row["result"]) or 0.0
        want = {"number": line["number"], "sfen": f"{row['sfen']} {row['ply']}", "ply": row["ply"], "value_z": outcome}
        want |= {"root_cp": row["cp"], "move": row["move"]}
        listed = [{"usi": usi, "cp": cp} for usi, cp in zip(row["cand_move"], row["cand_cp"])]
        assert line == want | {"candidates": listed} and list(line)[:-1] == list(want)
    assert [line["number"] for line in lines] == list(range(3000))
    lost = cat(manaka, corpus, "--cp=-100..100", "--value-z=-1", "--ply=40..60")
    assert lost and all(abs(x["root_cp"]) <= 100 and x["value_z"] == -1 and 40 <= x["ply"] <= 60 for x in lost)


def test_tab_separated_lines_say_the_same(manaka, tmp_path, fairy_shards, fairy_parts, corpus):
    visits = tmp_path / "visits.mpk"
    mpk.write_stream(visits, synthetic("visits").header, synthetic("visits").records)
    for path in (fairy_shards, fairy_parts[0], corpus, visits):
        lines = cat(manaka, path, "--head", 2000)
        run = manaka("cat", path, "--head", 2000, "--format", "tsv", expect=DONE)
        head, *rest = run.stdout.removesuffix("\n").split("\n")
        assert head.split("\t") == COLUMNS and len(rest) == len(lines)
        for text, line in zip(rest, lines):
            cells = dict(zip(COLUMNS, text.split("\t"), strict=True))
            got = {name: cells[name] for name in COLUMNS[:3]}
            assert got == {name: str(line[name]) for name in COLUMNS[:3]}
            assert cells["weight"] == str(line.get("weight", 1))
            for name in ("value_z", "value_q", "root_cp"):
                assert (float(cells[name]) if cells[name] else None) == line.get(name)
            assert cells["move"] == line.get("move", "")
            for name in ("usi", "cp", "visits", "prob"):
                read = str if name == "usi" else float
                assert list(map(read, cells[name].split())) == [c[name] for c in line["candidates"] if name in c]


def test_runs_are_cut_from_what_meets_the_conditions(manaka, fairy_parts):
    every = cat(manaka, *fairy_parts, "--ply=16..46", "--side=w")
    for head, skip in [(0, 0), (1, 0), (7, 5), (10**9, 100), (3, len(every) - 2), (5, len(every)), (5, 10**9)]:
        cut = cat(manaka, *fairy_parts, "--ply=16..46", "--side=w", "--head", head, "--skip", skip)
        assert cut == every[skip : skip + head]


@pytest.mark.parametrize("count, seed", [(1, 0), (10, 1), (100, 2**64 - 1), (5000, 3)])
def test_a_sample_has_the_least_draws_of_what_meets_the_conditions(manaka, fairy_parts, count, seed):
    flags = [*fairy_parts, "--ply=20..29"]
    every = cat(manaka, *flags)
    key = struct.pack("<Q24x", seed)
    words = [w for block in range(-(-len(every) // 8)) for w in order.stream_block(key, 0, block)]
    draws = [low | high << 32 for low, high in zip(words[::2], words[1::2])]
    kept = sorted(sorted(range(len(every)), key=lambda number: (draws[number], number))[:count])
    found = cat(manaka, *flags, "--sample", count, "--seed", seed)
    assert found == [every[number] for number in kept]
    assert len(found) == min(count, len(every))


def test_every_record_can_be_drawn(manaka, tmp_path):
    made = synthetic("many duplicates")
    mpk.write_stream(tmp_path / "a.mpk", made.header, made.records[:60])
    seen = set()
    for seed in range(40):
        seen |= {line["number"] for line in cat(manaka, tmp_path / "a.mpk", "--sample", 12, "--seed", seed)}
    assert seen == set(range(60))


def test_floats_are_the_same_f32_whether_read_as_single_or_double(manaka, tmp_path):
    made = synthetic("many duplicates")
    rng = random.Random(1)
    bits = [rng.randrange(0x3F80_0001) | rng.choice([0, 1 << 31]) for _ in range(4000)]
    values = [struct.unpack("<f", struct.pack("<I", b))[0] for b in [*bits, 0, 1, 1 << 31, 0x3F80_0000, 0x3F7F_FFFF]]
    records = [made.records[0]._replace(value_q=value) for value in values]
    mpk.write_stream(tmp_path / "a.mpk", made.header, records)
    run = manaka("cat", tmp_path / "a.mpk", expect=DONE)
    texts = [line.split('"value_q":')[1].split(",")[0] for line in run.stdout.splitlines()]
    assert [f32(float(text)) for text in texts] == list(map(f32, values))
    assert [np.float32(text).tobytes() for text in texts] == list(map(f32, values))


def test_several_files_are_one_set_and_lines_can_name_theirs(manaka, tmp_path):
    made = synthetic("many duplicates")
    odd = tmp_path / 'a "tab\there" \\ and\nline 歩.mpk'
    plain = tmp_path / "b.mpk"
    mpk.write_stream(odd, made.header, made.records[:3])
    mpk.write_stream(plain, made.header, made.records[3:5])
    lines = cat(manaka, odd, plain, "--with-path")
    assert [(x["path"], x["number"]) for x in lines] == [(str(odd), n) for n in range(3)] + [(str(plain), n) for n in (0, 1)]
    assert [{k: v for k, v in x.items() if k != "path"} for x in lines] == cat(manaka, odd, plain)
    table = manaka("cat", odd, plain, "--with-path", "--format=tsv", expect=DONE).stdout.removesuffix("\n").split("\n")
    assert len(table) == 6 and table[0].split("\t") == ["path", *COLUMNS]
    names = [line.split("\t")[0] for line in table[1:]]
    unescape = {"\\t": "\t", "\\n": "\n", "\\\\": "\\"}
    for name, path in zip(names, [odd] * 3 + [plain] * 2):
        pieces, at = "", 0
        while at < len(name):
            step = 2 if name[at] == "\\" else 1
            pieces += unescape.get(name[at : at + step], name[at : at + step])
            at += step
        assert pieces == str(path)
    other = tmp_path / "c.mpk"
    mpk.write_stream(other, mpk.Header(pov=mpk.POV_BLACK), made.records[:1])
    run = manaka("cat", plain, other, expect=COULD_NOT)
    assert not run.stdout and "pov" in run.stderr and "c.mpk" in run.stderr
    assert "one is a stream, the other a shard" in manaka("cat", plain, *shards_of(manaka, tmp_path, made)).stderr


def shards_of(manaka, tmp_path, made):
    mpk.write_stream(tmp_path / "d.mpk", made.header, made.records[:9])
    manaka("pack", tmp_path / "d.mpk", "--out", tmp_path / "shards", expect=DONE)
    return shards.shard_files(tmp_path / "shards")


@pytest.mark.parametrize("name", sorted(bad_streams()))
def test_what_stands_before_a_fault_is_printed_and_then_the_fault_is_named(manaka, tmp_path, name):
    bad = bad_streams()[name]
    path = tmp_path / "bad.mpk"
    path.write_bytes(bad.blob)
    run = manaka("cat", path, expect=COULD_NOT)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert "bad.mpk" in run.stderr
    if bad.record is not None:
        assert [line["number"] for line in lines] == list(range(bad.record))
        assert f"record {bad.record}" in run.stderr
    else:
        assert not lines
    # A sample of half a file is none of the file.
    assert not manaka("cat", path, "--sample", 5, expect=COULD_NOT).stdout


def test_a_torn_stream_gives_every_whole_record_first(manaka, tmp_path, fairy_parts):
    blob = mpk.stream_payload(fairy_parts[0])
    _, records = mpk.parse_stream(blob)
    for cut in (1, 7, 100, len(blob) // 2):
        torn = tmp_path / "torn.mpk"
        torn.write_bytes(blob[:-cut])
        run = manaka("cat", torn, expect=COULD_NOT)
        numbers = [json.loads(line)["number"] for line in run.stdout.splitlines()]
        assert numbers == list(range(len(numbers))) and len(numbers) < len(records)
        size = 24 + sum(len(mpk.pack_record(r)) for r in records[: len(numbers)])
        assert size <= len(blob) - cut < size + len(mpk.pack_record(records[len(numbers)]))
        assert f"record {len(numbers)}" in run.stderr and f"byte {size}" in run.stderr


def test_conditions_that_cannot_be_answered_are_a_mistake_of_the_command_line(manaka, tmp_path, fairy_shards, corpus):
    visits = tmp_path / "visits.mpk"
    mpk.write_stream(visits, synthetic("visits").header, synthetic("visits").records[:5])
    for path, flags, word in [
        (visits, ["--mate"], "mate"),
        (visits, ["--cp=0.."], "cp"),
        (fairy_shards, ["--value-z=1"], "value-z"),
        (corpus, ["--mate"], "mate"),
        (corpus, ["--value-q=0.."], "value-q"),
        (visits, ["--ply=9..1"], "9 is above 1"),
        (visits, ["--where", "ply=1", "--ply=2"], "ply stands twice"),
        (visits, ["--where", "plies=1"], "plies"),
        (visits, ["--sfen", "nothing"], "SFEN"),
        (visits, ["--sample=1", "--head=1"], "--head"),
        (visits, ["--seed=1"], "--sample"),
        (visits, ["--side=x"], "side"),
    ]:
        run = manaka("cat", path, *flags, expect=USAGE)
        assert word in run.stderr and not run.stdout


def test_rows_that_cannot_be_read_are_counted_and_named(manaka, tmp_path, corpus):
    table = pq.read_table(corpus).slice(0, 20)
    rows = table.to_pylist()
    rows[4]["sfen"], rows[9]["cand_cp"] = "no position", [None] * len(rows[9]["cand_cp"])
    path = tmp_path / "bad.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    run = manaka("cat", path, expect=FINDINGS)
    numbers = [json.loads(line)["number"] for line in run.stdout.splitlines()]
    assert numbers == [n for n in range(20) if n not in (4, 9)]
    assert "1 bad_sfen" in run.stderr and "1 malformed_record" in run.stderr and "row 4" in run.stderr
