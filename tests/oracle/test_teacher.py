"""`manaka teacher` against docs/spec/corpus.md: every record, every refusal, the summary and the exit code."""

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oracle import corpora, mpk, shards
from oracle.cli import COULD_NOT, DONE, FINDINGS, USAGE
from oracle.teacher import REASONS, distil

GOLDEN_HEADER = bytes.fromhex("4d504b31 02006000 0001007d 1c006400 8905bd44 00000000")


def parts_of(directory):
    """The parts' common header and all their records; numbered from 0 without a hole, nothing unfinished beside."""
    parts = sorted(directory.glob("part-*"))
    assert [p.name for p in parts] == [f"part-{n:05}.mpk.zst" for n in range(len(parts))]
    read = [mpk.read_stream(part) for part in parts]
    headers = {header for header, _ in read}
    assert len(headers) == 1
    return headers.pop(), [record for _, records in read for record in records]


def check_records(got, want):
    assert len(got) == len(want)
    for number, (ours, theirs) in enumerate(zip(got, want)):
        assert ours._replace(value_q=0.0) == theirs._replace(value_q=0.0), number
        assert shards.bits(ours.value_z) == shards.bits(theirs.value_z), number
        assert abs(ours.value_q - theirs.value_q) <= shards.TOLERANCE, number


def check_summary(run, rows, written, counts, kept=0):
    """`R rows read, W written, J rejected`, then every reason with its count, each once."""
    rejected = sum(counts.values())
    assert written + rejected == rows
    line = f"{rows} rows read, {written} written, {rejected} rejected\n"
    assert line in run.stdout, run.stdout
    pairs = re.findall(r"\b([a-z_]+)=(\d+)", run.stdout.split(line, 1)[1])
    assert sorted(pairs) == sorted((reason, str(count)) for reason, count in counts.items())
    said = re.search(r"kept off the search, without an outcome: (\d+)", run.stdout)
    assert int(said[1] if said else 0) == kept
    assert run.returncode == (FINDINGS if rejected else DONE)


def check_rejects(path, expected):
    """`expected` is (corpus file, refusals) for each input."""
    head, *lines = path.read_text().splitlines()
    assert head == "file\trow\treason\tdetail"
    cells = [line.split("\t") for line in lines]
    assert all(len(cell) == 4 for cell in cells)
    got = [(file.rsplit("/", 1)[-1], int(row), reason) for file, row, reason, _ in cells]
    assert sorted(got) == sorted((file.name, r.row, r.reason) for file, refusals in expected for r in refusals)


def check_example(corpus, out, run, strict):
    header, records = parts_of(out)
    verdict = distil(corpus, header, strict)
    assert verdict.rows == 19522
    check_records(records, verdict.records)
    check_summary(run, verdict.rows, len(verdict.records), verdict.counts())


def test_every_record_of_the_example_corpus(corpus, fairy_run):
    out, run = fairy_run
    check_example(corpus, out, run, strict=True)


def test_every_record_of_the_example_corpus_without_a_board(manaka, corpus, tmp_path):
    run = manaka("teacher", corpus, "--out", tmp_path / "parts", "--no-strict")
    check_example(corpus, tmp_path / "parts", run, strict=False)


def test_the_header_says_version_2_side_to_move_and_scores(fairy_run):
    header, _ = parts_of(fairy_run[0])
    assert (header.version, header.packed_len, header.flags) == (2, 96, 0)
    assert (header.pov, header.policy_source) == (mpk.POV_SIDE_TO_MOVE, mpk.SOURCE_SCORES)
    assert header.eval_coef > 0


def test_rows_played_off_the_search_are_kept_without_an_outcome(manaka, corpus, tmp_path):
    table = pq.read_table(corpus).slice(0, 5000)
    rows = table.to_pylist()
    for number, row in enumerate(rows):
        if number % 700 in (3, 4):  # a move no search of that position names, and a word that is none
            row["move"] = "1a2a" if number % 2 else "resign"
    off, out = tmp_path / "off.parquet", tmp_path / "parts"
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), off)
    run = manaka("teacher", off, "--out", out, "--records-per-part", 400, "--keep-off-search")
    parts = sorted(out.glob("part-*"))
    read = [mpk.read_stream(part) for part in parts]
    records = [record for _, records in read for record in records]
    verdict = distil(off, read[0][0], strict=True, keep_off_search=True)
    check_records(records, verdict.records)
    kept = sum(record.value_z == mpk.NO_OUTCOME for record in records)
    assert kept == distil(off, read[0][0], strict=True).counts()["move_not_candidate"] > 0
    check_summary(run, verdict.rows, len(records), verdict.counts(), kept)
    assert verdict.counts()["move_not_candidate"] == 0
    assert {header.version for header, _ in read} == {2, 3}
    for header, own in read:
        assert header.version == (3 if any(record.value_z == mpk.NO_OUTCOME for record in own) else 2)


def test_a_corpus_without_such_rows_gives_the_same_bytes_whether_or_not_they_would_be_kept(manaka, tmp_path):
    path = tmp_path / "in.parquet"
    rows = [c.row for c in corpora.cases() if c.want_strict != "move_not_candidate"]
    corpora.write_corpus(path, rows, corpora.STORAGES["narrow"])
    for name, flags in (("kept", ["--keep-off-search"]), ("refused", [])):
        manaka("teacher", path, "--out", tmp_path / name, *flags, expect=FINDINGS)
    kept, refused = ([part.read_bytes() for part in sorted((tmp_path / n).iterdir())] for n in ("kept", "refused"))
    assert kept == refused
    assert parts_of(tmp_path / "kept")[0].version == 2


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
def test_a_kept_row_is_refused_for_whatever_else_is_wrong_with_it(manaka, tmp_path, strict):
    path, rejects = tmp_path / "in.parquet", tmp_path / "rejects.tsv"
    corpora.write_corpus(path, [c.row for c in corpora.cases()], corpora.STORAGES["narrow"])
    flags = ["--strict" if strict else "--no-strict", "--keep-off-search"]
    run = manaka("teacher", path, "--out", tmp_path / "out", "--rejects", rejects, *flags, expect=FINDINGS)
    header, records = parts_of(tmp_path / "out")
    verdict = distil(path, header, strict, keep_off_search=True)
    check_rejects(rejects, [(path, verdict.refusals)])
    check_records(records, verdict.records)
    kept = sum(record.value_z == mpk.NO_OUTCOME for record in records)
    assert kept > 0 and header.version == 3
    check_summary(run, verdict.rows, len(records), verdict.counts(), kept)


def test_the_stated_conventions_reach_the_header_and_the_values(manaka, tmp_path):
    rows = corpora.write_corpus(
        tmp_path / "in.parquet", [c.row for c in corpora.cases() if not c.want_strict], corpora.STORAGES["narrow"]
    )
    manaka(
        "teacher", tmp_path / "in.parquet", "--out", tmp_path / "out",
        "--mate-scale", 32000, "--mate-slack", 100, "--fv-scale", 28, "--eval-coef", 1512.173, expect=DONE,
    )  # fmt: skip
    header, records = parts_of(tmp_path / "out")
    assert header.pack() == GOLDEN_HEADER
    assert len(records) == len(rows)
    check_records(records, distil(tmp_path / "in.parquet", header).records)


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
@pytest.mark.parametrize("storage", corpora.STORAGES)
def test_every_refusal_in_every_storage(manaka, tmp_path, storage, strict):
    path, rejects = tmp_path / "in.parquet", tmp_path / "rejects.tsv"
    corpora.write_corpus(path, [c.row for c in corpora.cases()], corpora.STORAGES[storage])
    flags = ["--strict"] if strict else ["--no-strict"]
    run = manaka("teacher", path, "--out", tmp_path / "out", "--rejects", rejects, *flags, expect=FINDINGS)
    header, records = parts_of(tmp_path / "out")
    verdict = distil(path, header, strict)
    assert {r.reason for r in verdict.refusals} == set(REASONS if strict else REASONS[:5])
    check_rejects(rejects, [(path, verdict.refusals)])
    check_records(records, verdict.records)
    check_summary(run, verdict.rows, len(verdict.records), verdict.counts())


def test_two_corpora_are_one_run_and_count_their_rows_apart(manaka, tmp_path):
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    rows = [c.row for c in corpora.cases()]
    corpora.write_corpus(paths[0], rows[::2], corpora.STORAGES["wide-snappy-many-groups"])
    corpora.write_corpus(paths[1], rows[1::2], corpora.STORAGES["dictionary"])
    rejects = tmp_path / "rejects.tsv"
    run = manaka("teacher", *paths, "--out", tmp_path / "out", "--rejects", rejects, expect=FINDINGS)
    header, records = parts_of(tmp_path / "out")
    verdicts = [distil(path, header, strict=True) for path in paths]
    check_records(records, verdicts[0].records + verdicts[1].records)
    check_rejects(rejects, [(path, v.refusals) for path, v in zip(paths, verdicts)])
    counts = {reason: sum(v.counts()[reason] for v in verdicts) for reason in REASONS}
    check_summary(run, sum(v.rows for v in verdicts), len(records), counts)


def test_a_clean_corpus_exits_0_and_lists_no_reject(manaka, tmp_path):
    path, rejects = tmp_path / "in.parquet", tmp_path / "rejects.tsv"
    clean = [c.row for c in corpora.cases() if c.want_strict is None]
    corpora.write_corpus(path, clean, corpora.STORAGES["large-string"])
    run = manaka("teacher", path, "--out", tmp_path / "out", "--rejects", rejects, "--strict", expect=DONE)
    check_rejects(rejects, [])
    check_summary(run, len(clean), len(clean), dict.fromkeys(REASONS, 0))


@pytest.mark.parametrize("column", ["sfen", "side", "depth", "cand_cp", "result"])
def test_a_corpus_without_a_used_column_is_refused_by_its_name(manaka, tmp_path, column):
    path = tmp_path / "in.parquet"
    corpora.write_corpus(path, [corpora.row()], corpora.STORAGES["narrow"])
    pq.write_table(pq.read_table(path).drop_columns([column]), path)
    run = manaka("teacher", path, "--out", tmp_path / "out")
    assert run.returncode in (COULD_NOT, USAGE)
    assert path.name in run.stderr and column in run.stderr
    assert not list(tmp_path.rglob("part-*.mpk.zst"))
