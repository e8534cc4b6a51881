"""The editors against their naive twins: games are lists here, and lists are cut (docs/guide/edit.md, lineage.md)."""

import json
import random
from collections import Counter

import pytest
import xxhash

from oracle import mpk, shards
from oracle.cli import COULD_NOT, DONE, FINDINGS, USAGE
from oracle.position import parse_sfen, to_sfen, usi_to_move16
from oracle.streams import positions, scored

CAP = 24


def games(seed: int, count: int = 80, opens=(1, 1, 15), steps=(1, 1, 1, 2, 3)) -> list[list[mpk.Record]]:
    """Games that finish, games longer than the cap with and without holes there, and abandoned ones."""
    rng, places, found = random.Random(seed), positions(), []
    for number in range(count):
        ply, records = rng.choice(opens), []
        outcome = rng.choice([1.0, -1.0, 1.0, -1.0, 0.0, -0.0])
        for _ in range(rng.choice([3, 8, 20, 40])):
            packed, moves = rng.choice(places)
            listed = {mv: rng.randint(-900, 900) for mv in rng.sample(moves, min(len(moves), rng.randint(1, 5)))}
            sided = outcome if packed[95] == 0 or outcome == 0 else -outcome
            records.append(scored(packed, listed, ply, sided, rng.choice([-0.5, 0.0, 0.25])))
            ply += rng.choice(steps)
        found.append(records)
    return found


def write_parts(directory, header, records, lengths, suffix=".mpk.zst"):
    directory.mkdir()
    at = 0
    for number, length in enumerate([*lengths, len(records)]):
        mpk.write_stream(directory / f"part-{number:05}{suffix}", header, records[at : at + length])
        at += length
    return directory


def read_parts(directory):
    parts = sorted(directory.glob("part-*"))
    assert not list(directory.glob("*.tmp"))
    read = [mpk.read_stream(part) for part in parts]
    assert len({header for header, _ in read}) == 1
    return read[0][0], [record for _, records in read for record in records]


def step_of(directory, verb):
    lineage = json.loads((directory / "LINEAGE.json").read_text())
    assert (lineage["format"], lineage["version"]) == ("manaka-lineage", 1)
    step = lineage["steps"][-1]
    assert step["verb"] == verb
    for file in step["outputs"]:
        blob = (directory / file["name"]).read_bytes()
        assert file["bytes"] == len(blob)
        assert file["xxh3_128"] == xxhash.xxh3_128_hexdigest(blob)
        assert file["records"] == len(mpk.read_stream(directory / file["name"])[1])
    return step


def split_games(records):
    found = []
    for record in records:
        if found and record.ply > found[-1][-1].ply:
            found[-1].append(record)
        else:
            found.append([record])
    return found


def bytes_of(records):
    return [mpk.pack_record(record) for record in records]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("unfinished", [True, False])
def test_a_cut_is_what_cutting_lists_gives(manaka, tmp_path, seed, unfinished):
    records = [record for game in games(seed) for record in game]
    header = mpk.Header(mate_scale=32000, mate_slack=100, fv_scale=28)
    rng = random.Random(seed)
    source = write_parts(tmp_path / "in", header, records, [rng.randint(1, 300) for _ in range(3)])
    out = tmp_path / "out"
    more = ["--drop-unfinished"] if unfinished else []
    run = manaka("cut", source, "--max-ply", CAP, "--relabel-cut", "draw", *more, "--out", out, "--format", "json", expect=DONE)

    expected, left, counts, ends, ends_out = [], 0, Counter(), Counter(), Counter()
    whole = split_games(records)
    for game in whole:
        undecided = all(record.value_z == 0 for record in game)
        ends[game[-1].ply, undecided] += 1
        kept = [record for record in game if record.ply <= CAP]
        reached = game[-1].ply >= CAP
        counts["beyond"] += len(game) - len(kept)
        if reached and kept:
            counts["relabelled"] += len(kept)
            counts["relabelled games"] += 1
            counts["short"] += kept[-1].ply < CAP
            counts["changed"] += sum(record.value_z != 0 for record in kept)
            kept = [record._replace(value_z=0.0) for record in kept]
            undecided = True
        elif unfinished and undecided and not reached:
            counts["unfinished"] += len(game)
            counts["unfinished games"] += 1
            continue
        if kept:
            left += 1
            ends_out[kept[-1].ply, undecided] += 1
            expected += kept
    assert counts["beyond"] and counts["relabelled"]

    got_header, got = read_parts(out)
    assert got_header.pack() == header.pack()
    assert bytes_of(got) == bytes_of(expected)
    assert len(list(out.glob("part-*"))) == 4
    report = json.loads(run.stdout)
    step = report["step"]
    assert step == step_of(out, "cut")
    assert step["records"] == {"in": len(records), "out": len(expected)}
    assert step["games"] == {"in": len(whole), "out": left}
    assert step["dropped"]["beyond_max_ply"]["records"] == counts["beyond"]
    assert step["changed"]["relabelled"] == {
        "records": counts["relabelled"], "games": counts["relabelled games"], "bytes": None,
    }  # fmt: skip
    if unfinished:
        taken = step["dropped"]["unfinished"]
        assert (taken["records"], taken["games"]) == (counts["unfinished"], counts["unfinished games"])
        assert counts["unfinished games"] > 0
    else:
        assert "unfinished" not in step["dropped"]
    assert report["figures"]["outcomes_changed"] == counts["changed"]
    assert report["figures"]["games_short_of_max_ply"] == counts["short"]
    # What opens above the end of the game before it cannot be told from it once what stood between is gone.
    assert report["figures"]["games_run_together"] == left - len(split_games(expected))
    for name, want in (("terminal_plies", ends), ("terminal_plies_out", ends_out)):
        found = {end["ply"]: (end["games"], end["undecided"]) for end in report["figures"][name]}
        plies = {ply for ply, _ in want}
        assert found == {ply: (want[ply, True] + want[ply, False], want[ply, True]) for ply in plies}


def test_a_cut_stream_cut_again_is_the_same(manaka, tmp_path):
    records = [record for game in games(9, opens=(1,), steps=(1,)) for record in game]
    source = write_parts(tmp_path / "in", mpk.Header(), records, [100])
    options = ["--max-ply", CAP, "--relabel-cut", "draw", "--drop-unfinished", "--records-per-part", 77]
    run = manaka("cut", source, *options, "--format", "json", "--out", tmp_path / "a", expect=DONE)
    figures = json.loads(run.stdout)["figures"]
    # These two are what keeps a cut from being repeated: here every game begins at ply 1 and has a record at every ply.
    assert (figures["games_run_together"], figures["games_short_of_max_ply"]) == (0, 0)
    manaka("cut", tmp_path / "a", *options, "--out", tmp_path / "b", expect=DONE)
    for part in sorted((tmp_path / "a").glob("part-*")):
        assert part.read_bytes() == (tmp_path / "b" / part.name).read_bytes()


def turned(record: mpk.Record, pov: int) -> mpk.Record:
    """The twin through text: ranks and files read backwards, cases swapped."""
    board, side, hand = to_sfen(record.packed).split()[:3]
    pieces, at = [], 0
    for letter in board:
        if letter == "+":
            at = 1
            continue
        pieces.append("+" * at + letter.swapcase())
        at = 0
    text = "".join(reversed(pieces))
    packed = parse_sfen(f"{text} {'w' if side == 'b' else 'b'} {hand.swapcase()} 1")

    def square(index):
        file, rank = 9 - index // 9, index % 9 + 1
        return (9 - (10 - file)) * 9 + (10 - rank - 1)

    def move(mv):
        to, origin = mv & 127, mv >> 7 & 127
        return square(to) | (square(origin) if origin < 81 else origin) << 7 | mv & 0x4000

    sign = -1 if pov == mpk.POV_BLACK else 1
    value = lambda number: number * sign if number else number  # noqa: E731
    listed = tuple(c._replace(mv=move(c.mv), cp=c.cp * sign) for c in record.candidates)
    return record._replace(packed=packed, value_z=value(record.value_z), value_q=value(record.value_q), candidates=listed)


@pytest.mark.parametrize("pov", [mpk.POV_SIDE_TO_MOVE, mpk.POV_BLACK])
def test_twins_fold_with_nothing_of_the_original_but_their_like(manaka, tmp_path, pov):
    header = mpk.Header(pov=pov)
    records = [record for game in games(3) for record in game]
    # A position that is its own twin but for who moves: both are there, and fold with one another's twins.
    start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL"
    moves = (("b", "7g7f"), ("w", "3c3d"))
    symmetric = [scored(parse_sfen(f"{start} {side} - 1"), {usi_to_move16(usi): 30}) for side, usi in moves]
    records += symmetric
    source = write_parts(tmp_path / "in", header, records, [500])
    manaka("edit", "rotate", source, "--out", tmp_path / "twins", expect=DONE)
    _, twins = read_parts(tmp_path / "twins")
    assert bytes_of(twins) == bytes_of([turned(record, pov) for record in records])
    manaka("edit", "rotate", tmp_path / "twins", "--out", tmp_path / "back", expect=DONE)
    assert bytes_of(read_parts(tmp_path / "back")[1]) == bytes_of(records)
    step_of(tmp_path / "twins", "edit rotate")

    originals, others = {r.packed for r in records}, {r.packed for r in twins}
    shared = originals & others
    assert len(shared) >= 2
    manaka("pack", source, tmp_path / "twins", "--out", tmp_path / "shards", expect=DONE)
    rows = shards.read_rows(tmp_path / "shards")
    weight, times = {row.packed: row.weight for row in rows}, Counter(r.packed for r in records + twins)
    assert len(rows) == len(originals) + len(others) - len(shared)
    assert weight == dict(times)


def test_a_torn_part_is_kept_up_to_its_last_whole_record(manaka, tmp_path):
    records = games(1, 3)[0][:3]
    blob = mpk.stream_bytes(mpk.Header(), records)
    whole = len(mpk.stream_bytes(mpk.Header(), records[:2]))
    torn = tmp_path / "part-00004.mpk"
    torn.write_bytes(blob[: whole + 50])
    run = manaka("edit", "repair", torn, "--out", tmp_path / "out", "--format", "json", expect=FINDINGS)
    lost = {"name": torn.name, "records": 2, "last_record": 1, "offset": whole, "lost_bytes": 50}
    assert json.loads(run.stdout)["figures"]["torn"] == [lost]
    assert (tmp_path / "out" / torn.name).read_bytes() == blob[:whole]
    again = manaka("edit", "repair", tmp_path / "out", "--out", tmp_path / "again", expect=DONE)
    assert "no file was torn" in again.stdout
    (tmp_path / "none.mpk").write_bytes(blob[:20])
    manaka("edit", "repair", tmp_path / "none.mpk", "--out", tmp_path / "none", expect=COULD_NOT)


def test_what_cannot_be_done_is_said_by_exit_code_and_name(manaka, tmp_path):
    records = games(2, 4)[0]
    old = write_parts(tmp_path / "old", mpk.Header(version=1), records, [2], ".mpk")
    new = write_parts(tmp_path / "new", mpk.Header(fv_scale=28), records, [], ".mpk")
    run = manaka("edit", "merge", old, new, "--out", tmp_path / "x", expect=COULD_NOT)
    assert "fv_scale is 28 here and 0 in" in run.stderr
    assert str(old / "part-00000.mpk") in run.stderr and str(new / "part-00000.mpk") in run.stderr
    manaka("edit", "set-header", old, "--fv-scale", 28, "--out", tmp_path / "stated", expect=DONE)
    manaka("edit", "merge", tmp_path / "stated", new, "--out", tmp_path / "all", expect=DONE)
    assert bytes_of(read_parts(tmp_path / "all")[1]) == bytes_of(records * 2)
    run = manaka("edit", "set-header", new, "--fv-scale", 16, "--out", tmp_path / "y", expect=COULD_NOT)
    assert "fv_scale: the header states 28, not 16" in run.stderr
    for arguments in (
        ["cut", new],
        ["cut", new, "--max-ply", 9],
        ["cut", new, "--relabel-cut", "draw"],
        ["edit", "split", new],
        ["edit", "split", new, "--validation", 1.5],
        ["edit", "filter", new],
        ["edit", "set-header", new],
        ["edit", "set-header", new, "--fv-scale", 0],
    ):
        manaka(*arguments, "--out", tmp_path / "usage", expect=USAGE)
        assert not (tmp_path / "usage").exists()
