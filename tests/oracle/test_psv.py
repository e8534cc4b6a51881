"""Raw PSV against docs/spec/psv.md, with cshogi's and rsshogi's own encoders: positions, moves, records, corpora.

MANAKA_PSV names the program that answers (default: target/release/examples/psv_lines under the repository root, built by
`cargo build --release -p manaka-corpus --example psv_lines`). A missing one is a failure. Everything is made when the tests
run, from fixed seeds.
"""

import os
import random
from collections import Counter
from pathlib import Path

import cshogi
import numpy as np
import pyarrow.parquet as pq
import pytest
import rsshogi.core as rsshogi
from rsshogi.record import GameResult

from oracle import psv
from oracle.legality import in_check
from oracle.position import SIDE, parse_sfen
from oracle.psv import LAYOUTS, ORDERS, REASONS, Fold, PsvLines, Record
from test_rules import STARTS, composed, playouts

ROOT = Path(__file__).resolve().parents[2]
# The same squares, with every piece in one hand or the other.
BARE_KINGS = "4k4/9/9/9/9/9/9/9/4K4"


@pytest.fixture(scope="session")
def lines() -> PsvLines:
    program = Path(os.environ.get("MANAKA_PSV") or ROOT / "target/release/examples/psv_lines").resolve()
    if not program.is_file():
        pytest.fail(f"{program} does not exist; build it, or point MANAKA_PSV at it", pytrace=False)
    return PsvLines(program)


def full_hands(seed: int, wanted: int) -> list[str]:
    """Almost nothing on the board: long runs of pieces in hand and, where some are left out, in the box."""
    draw = random.Random(seed)
    found = []
    for number in range(wanted):
        hands = Counter()
        for letter, count in {"R": 2, "B": 2, "G": 4, "S": 4, "N": 4, "L": 4, "P": 18}.items():
            for _ in range(count):
                if number % 2 == 0 or draw.random() < 0.8:
                    hands[draw.choice([letter, letter.lower()])] += 1
        text = "".join((str(hands[x]) if hands[x] > 1 else "") + x for x in "RBGSNLPrbgsnlp" if hands[x])
        found.append(f"{BARE_KINGS} {draw.choice('bw')} {text or '-'} 1")
    return found


def positions() -> list[str]:
    """SFENs without move numbers, each once."""
    texts = playouts(91, 5000) + composed(92, 3000) + full_hands(93, 400) + list(STARTS)
    return list(dict.fromkeys(text.rsplit(" ", 1)[0] for text in texts))


def test_positions_have_the_bytes_of_both_encoders(lines):
    sfens = positions()
    seen = Counter()
    for sfen in sfens:
        packed = parse_sfen(sfen)
        pieces = sum(byte != 0xFF for byte in packed[:81]) + sum(packed[81:95])
        seen["check"] += in_check(packed, packed[SIDE])
        seen["handicap"] += pieces < 40
        seen["hands"] += sum(packed[81:95]) >= 30
        seen["empty hands"] += sum(packed[81:95]) == 0
        seen[f"side {packed[SIDE]}"] += 1
    assert len(sfens) > 8000
    assert all(seen[kind] > 200 for kind in ("check", "handicap", "hands", "side 0", "side 1")), seen
    assert seen["empty hands"] > 20, seen

    theirs = [psv.cshogi_position(sfen) for sfen in sfens]
    for sfen, expected in zip(sfens, theirs):
        board = rsshogi.Board()
        board.set_sfen(f"{sfen} 1")
        assert board.to_packed_sfen() == expected, sfen
    ours = lines.answers("encode", lines=sfens)
    assert ours == [expected.hex() for expected in theirs]
    assert lines.answers("decode", lines=ours) == sfens


def test_positions_that_both_libraries_refuse_are_refused(lines):
    """Flipped bits: whatever rsshogi's strict decoder takes is taken with the same content, all else is refused."""
    draw = random.Random(94)
    damaged = []
    for sfen in playouts(95, 2000):
        bits = bytearray(psv.cshogi_position(sfen.rsplit(" ", 1)[0]))
        for _ in range(draw.choice([1, 1, 2, 3])):
            bit = draw.randrange(256)
            bits[bit // 8] ^= 1 << bit % 8
        damaged.append(bytes(bits))
    answers = lines.answers("decode", lines=[blob.hex() for blob in damaged])
    taken = 0
    for blob, answer in zip(damaged, answers):
        board = rsshogi.Board()
        try:
            board.set_packed_sfen(blob)
        except ValueError:
            assert answer.startswith("error\t"), (blob.hex(), answer)
            continue
        taken += 1
        assert answer == board.to_sfen().rsplit(" ", 1)[0]
    assert 100 < taken < len(damaged) - 100


def test_moves_have_the_bits_of_both_libraries(lines):
    seen = {}
    for sfen in playouts(96, 3000):
        board = cshogi.Board(sfen)
        for move in board.legal_moves:
            seen.setdefault(cshogi.move_to_usi(move), cshogi.move16(move))
    assert len(seen) > 3000
    drops = [usi for usi in seen if usi[1] == "*"]
    assert {usi[0] for usi in drops} == set("PLNSGBR") and sum(usi.endswith("+") for usi in seen) > 300
    for usi, apery in seen.items():
        move = rsshogi.Move.from_usi(usi)
        assert psv.move_bits("apery", usi) == apery == move.to_apery().value
        assert psv.move_bits("yaneuraou", usi) == cshogi.move16_to_psv(apery) == move.value
    usis = list(seen)
    for layout in LAYOUTS:
        bits = [str(psv.move_bits(layout, usi)) for usi in usis]
        assert lines.answers("bits", layout, lines=usis) == bits
        assert lines.answers("usi", layout, lines=bits) == usis


def games(seed: int, count: int, width: int, plies: int = 90) -> list[Record]:
    draw = random.Random(seed)
    return [
        record
        for number in range(count)
        for record in psv.game(STARTS[number % len(STARTS)], draw, plies, width)
    ]


def write(path: Path, records: list[Record], layout: str, slots: int, **how) -> Path:
    path.write_bytes(b"".join(psv.record_bytes(record, layout, slots, **how) for record in records))
    return path


def test_records_have_the_bytes_of_both_libraries(lines, tmp_path):
    records = [record._replace(candidates=[]) for record in games(97, 20, 1)]
    table = np.zeros(len(records), cshogi.PackedSfenValue)
    for record, row in zip(records, table):
        board = cshogi.Board(f"{record.sfen} 1")
        board.to_psfen(row["sfen"])
        row["score"], row["gamePly"], row["game_result"] = record.score, record.ply, record.result
        row["move"] = cshogi.move16_to_psv(cshogi.move16(board.move_from_usi(record.move)))
        other = rsshogi.Board()
        other.set_sfen(f"{record.sfen} 1")
        # rsshogi puts the number of an ending where the format has the mover's result: that byte is left out.
        blob = other.to_psv(rsshogi.Move.from_usi(record.move), record.score, GameResult.BLACK_WIN, record.ply)
        assert blob[:38] + row.tobytes()[38:39] + blob[39:] == row.tobytes()
    theirs = table.tobytes()
    ours = tmp_path / "ours.psv"
    text = "".join(psv.text_line(record) + "\n" for record in records)
    lines.lines("write", "yaneuraou", 0, "move-score", ours, text=text)
    assert ours.read_bytes() == theirs
    assert lines.lines("read", "yaneuraou", 0, "move-score", ours) == text.splitlines()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("implied", [False, True])
def test_candidates_are_where_the_layout_puts_them(lines, tmp_path, layout, order, implied):
    records = games(98, 6, 5, 40)
    if implied:
        records = [
            r._replace(candidates=[(r.move, r.score), *(c for c in r.candidates if c[0] != r.move)]) for r in records
        ]
    records[3] = records[3]._replace(pad=0xC3, move=None, candidates=[])
    slots = 4 if implied else 5
    path = write(tmp_path / "raw.psv", records, layout, slots, order=order, implied=implied)
    name = order + ",implied" * implied
    printed = lines.lines("read", layout, slots, name, path)
    assert printed == [psv.text_line(record) for record in records]
    again = tmp_path / "again.psv"
    lines.lines("write", layout, slots, name, again, text="".join(line + "\n" for line in printed))
    assert again.read_bytes() == path.read_bytes()


def corpus_rows(out: Path) -> list[dict]:
    return [row for path in sorted(out.glob("part-*.parquet")) for row in pq.read_table(path).to_pylist()]


def starts_of_games(rows: list[dict]) -> int:
    plies = [row["ply"] for row in rows]
    return sum(before is None or ply <= before for before, ply in zip([None, *plies], plies))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("slots", [0, 1, 5, 10])
def test_a_corpus_holds_every_record_whatever_its_form(lines, tmp_path, layout, slots):
    records = [r._replace(candidates=r.candidates if slots else []) for r in games(99, 15, max(slots, 1))]
    half = len(records) // 2
    raw = [
        write(tmp_path / f"{name}.psv", part, layout, slots)
        for name, part in (("b", records[:half]), ("a", records[half:]))
    ]
    report = lines.convert(tmp_path / "out", "--threads", 3, "--rows-per-file", 500, *raw)
    rows = corpus_rows(tmp_path / "out")
    assert rows == [psv.verdict(record, slots) for record in records]
    assert (report.move16, report.refused, report.torn) == (layout, {}, [])
    listed = sum(record.move in dict(record.candidates) for record in records) if slots else len(records)
    assert report.counts == {
        "candidates": slots, "records": len(records), "rows": len(records), "games": starts_of_games(rows),
        "unlisted": len(records) - listed, "mates_folded": 0, "scores_clamped": 0, "files": -(-len(records) // 500),
    }  # fmt: skip


def test_a_corpus_has_the_schema_of_the_example(lines, tmp_path, corpus):
    raw = write(tmp_path / "raw.psv", games(100, 2, 5), "yaneuraou", 5)
    lines.convert(tmp_path / "out", raw)
    part = pq.ParquetFile(tmp_path / "out/part-00000.parquet")
    assert part.schema_arrow.equals(pq.ParquetFile(corpus).schema_arrow)
    codecs = {part.metadata.row_group(0).column(c).compression for c in range(9)}
    assert codecs == {"ZSTD"}
    assert all(column.null_count == 0 for column in part.read().columns)


def test_mixed_and_ambiguous_moves_are_refused_with_their_counts(lines, tmp_path):
    records = games(101, 6, 5)
    one, other = records[: len(records) // 2], records[len(records) // 2 :]
    files = {layout: write(tmp_path / f"{layout}.psv", one, layout, 5) for layout in LAYOUTS}
    for first in LAYOUTS:
        for second in LAYOUTS:
            if first == second:
                continue
            both = tmp_path / "both.psv"
            tail = b"".join(psv.record_bytes(record, second, 5) for record in other)
            both.write_bytes(files[first].read_bytes() + tail)
            said = lines.refused_to_convert(tmp_path / "out", both)
            moves = sum(1 + len(record.candidates) for record in records)
            assert "mixed" in said and f"of {moves} moves in {len(records)} of {len(records)} records" in said
            said = lines.refused_to_convert(tmp_path / "out", files[first], files[second])
            assert all(word in said for word in (first, second, f"{first}.psv", f"{second}.psv")), said
            told = lines.refused_to_convert(tmp_path / "out", "--move16", second, files[first])
            assert f"moves are not in the {second} layout" in told

    plain = [r._replace(candidates=[]) for r in records if "*" not in r.move and "+" not in r.move]
    quiet = write(tmp_path / "quiet.psv", plain, "apery", 0)
    said = lines.refused_to_convert(tmp_path / "none", quiet)
    counted = f"yaneuraou {len(plain)} legal (0 in no other), apery {len(plain)} legal (0 in no other)"
    assert "several layouts fit" in said and counted in said
    for layout in ("apery", "yaneuraou"):
        report = lines.convert(tmp_path / f"told {layout}", "--move16", layout, quiet)
        assert (report.move16, report.counts["rows"]) == (layout, len(plain))


def test_records_of_another_length_are_refused(lines, tmp_path):
    five = write(tmp_path / "five.psv", games(102, 3, 5), "apery", 5)
    none = write(tmp_path / "none.psv", [r._replace(candidates=[]) for r in games(102, 3, 1)], "apery", 0)
    assert "with 5 they do" in lines.refused_to_convert(tmp_path / "out", "--candidates", 4, five)
    said = lines.refused_to_convert(tmp_path / "out", five, none)
    assert "none.psv: with 5 candidates" in said and "with 0 they do" in said
    junk = tmp_path / "junk.psv"
    junk.write_bytes(random.Random(1).randbytes(60_000))
    assert "not raw PSV" in lines.refused_to_convert(tmp_path / "out", junk)


def test_bad_records_are_refused_by_name_and_the_others_become_rows(lines, tmp_path):
    draw = random.Random(103)
    records = games(104, 40, 5)
    expected, blobs, hurt = [], [], Counter()
    for number, record in enumerate(records):
        blob, verdict = None, None
        # Legal nowhere here: the king stands on its first square in few of these positions.
        if number % 9 == 4:
            reason = REASONS[number // 9 % len(REASONS)]
            match reason:
                case "unplayable":
                    record = record._replace(sfen=f"4k4/9/9/9/9/9/4P4/4P4/4K4 {draw.choice('bw')} -")
                case "no_move":
                    record = record._replace(move=None)
                case "illegal_move":
                    record = record._replace(move="1a9i")
                case "no_candidates":
                    record = record._replace(candidates=[])
                case "illegal_candidate":
                    record = record._replace(candidates=[*record.candidates[:2], ("9i1a", 3)])
                case "duplicate_candidate":
                    record = record._replace(candidates=[*record.candidates[:2], record.candidates[0]])
                case "bad_score":
                    record = record._replace(score=-32768)
                case _:
                    blob = bytearray(psv.record_bytes(record, "yaneuraou", 5))
                    spot, value = {
                        "bad_position": (7, bytes(9)), "bad_result": (38, b"\x02"), "bad_move": (34, b"\x81\x00"),
                        "bad_candidate": (40, b"\xff\xff"),
                    }[reason]  # fmt: skip
                    blob[spot : spot + len(value)] = value
                    verdict = reason
            hurt[reason] += 1
        blobs.append(bytes(blob or psv.record_bytes(record, "yaneuraou", 5)))
        expected.append(verdict or psv.verdict(record, 5))
    assert set(hurt) == set(REASONS)
    refused = [(number, reason) for number, reason in enumerate(expected) if isinstance(reason, str)]
    assert Counter(reason for _, reason in refused) == hurt

    raw = tmp_path / "raw.psv"
    raw.write_bytes(b"".join(blobs) + blobs[0][:33])
    report = lines.convert(tmp_path / "out", raw)
    assert corpus_rows(tmp_path / "out") == [row for row in expected if isinstance(row, dict)]
    assert report.refused == dict(hurt)
    assert report.first == [("raw.psv", number, 60 * number, reason) for number, reason in refused[:10]]
    [torn] = report.torn
    assert f"record {len(records)} at byte {60 * len(records)} has only 33 bytes" in torn
    # The reader says the same of what it can see.
    printed = lines.lines("read", "yaneuraou", 5, "move-score", raw)
    errors = [line.split("\t")[1:4] for line in printed if line.startswith("error")]
    seen = [[reason, str(number), str(60 * number)] for number, reason in refused if reason in REASONS[:4]]
    assert errors == [*seen, ["truncated", str(len(records)), str(60 * len(records))]]


def test_the_mate_scale_is_folded_only_when_asked(lines, tmp_path):
    draw = random.Random(105)
    edges = [0, 1, 29679, 29680, 29999, 30000, 31679, 31680, 31753, 31754, 31899, 31900, 31999, 32000, 32001, 32767]
    records = []
    for record in games(106, 10, 3):
        scores = [draw.choice([-1, 1]) * draw.choice(edges) for _ in range(4)]
        listed = [(move, score) for (move, _), score in zip(record.candidates, scores[1:])]
        records.append(record._replace(score=scores[0], candidates=listed))
    raw = write(tmp_path / "raw.psv", records, "yaneuraou", 3)
    lines.convert(tmp_path / "as it is", raw)
    assert corpus_rows(tmp_path / "as it is") == [psv.verdict(record, 3) for record in records]
    for name, options, fold in [
        ("seeds", ["--mate-scale", 30000], Fold(32000, 100, 30000, 320)),
        ("narrow", ["--mate-scale", 30000, "--mate-slack", 100], Fold(32000, 100, 30000, 100)),
        ("up", ["--engine-mate-scale", 30000, "--engine-mate-slack", 0, "--mate-scale", 32000],
         Fold(30000, 320, 32000, 320)),
        ("other", ["--engine-mate-scale", 32600, "--engine-mate-slack", 250, "--mate-scale", 10000],
         Fold(32600, 250, 10000, 320)),
    ]:  # fmt: skip
        report = lines.convert(tmp_path / name, *options, raw)
        expected = [psv.verdict(record, 3, fold) for record in records]
        rows = [row for row in expected if isinstance(row, dict)]
        assert corpus_rows(tmp_path / name) == rows
        assert report.refused == {"bad_score": len(expected) - len(rows)}
        kept = [record for record, row in zip(records, expected) if isinstance(row, dict)]
        scores = [score for record in kept for score in (record.score, *(cp for _, cp in record.candidates))]
        mates = [score for score in scores if abs(score) >= fold.engine - fold.engine_slack]
        assert report.counts["mates_folded"] == len(mates)
        clamped = [score for score in scores if score not in mates and fold(score) != score]
        assert report.counts["scores_clamped"] == len(clamped)
    said = lines.refused_to_convert(tmp_path / "no", "--mate-scale", 30000, "--engine-mate-slack", 400, raw)
    assert "mates reach 400 below" in said


def test_threads_and_the_cut_of_the_inputs_do_not_show(lines, tmp_path):
    records = games(107, 12, 5)
    bytes_of = {}
    for threads, pieces in ((1, 1), (2, 7), (5, 100)):
        raw = []
        for piece in range(pieces):
            part = records[piece * len(records) // pieces : (piece + 1) * len(records) // pieces]
            raw.append(write(tmp_path / f"{pieces:03}-{piece:03}.psv", part, "manaka", 5))
        out = tmp_path / f"out {threads}"
        lines.convert(out, "--move16", "manaka", "--threads", threads, "--rows-per-file", 333, *raw)
        bytes_of[threads] = [path.read_bytes() for path in sorted(out.iterdir())]
    assert bytes_of[1] == bytes_of[2] == bytes_of[5] and len(bytes_of[1]) == -(-len(records) // 333)


def test_a_corpus_of_raw_records_passes_the_teacher(lines, manaka, tmp_path):
    records = games(108, 20, 5)
    raw = write(tmp_path / "raw.psv", records, "yaneuraou", 5)
    lines.convert(tmp_path / "corpus", raw)
    run = manaka("teacher", tmp_path / "corpus", "--out", tmp_path / "stream")
    listed = sum(record.move in dict(record.candidates) for record in records)
    assert f"{len(records)} rows read, {listed} written" in run.stdout
    assert f"move_not_candidate={len(records) - listed}" in run.stdout
