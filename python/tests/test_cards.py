"""The card: the command's text, and code that reads the files it is printed for."""

import re
import shutil
import subprocess

import pytest

import manaka


def code(card):
    return re.findall(r"```python\n(.*?)```", card, re.DOTALL)


def test_a_card_is_the_commands_text_and_replaces_nobodys_work(command, shards, tmp_path):
    shutil.copytree(shards, tmp_path / "data")
    out = tmp_path / "README.md"
    card = manaka.card(tmp_path / "data", out=out, name="A set", license="mit", threads=1)
    said = [command, "card", tmp_path / "data", "--out", tmp_path / "b.md", "--name", "A set", "--license", "mit"]
    # 3: a few games of one producer set alarms off.
    assert subprocess.run(said, timeout=300).returncode in (0, 3)
    assert out.read_text() == (tmp_path / "b.md").read_text() == card
    assert "`data/teacher-00000.parquet`" in card and str(tmp_path) not in card
    manaka.card(tmp_path / "data", out=out)
    out.write_text(card + "mine\n")
    with pytest.raises(manaka.UsageError) as refused:
        manaka.card(tmp_path / "data", out=out)
    assert refused.value.kind == "not_a_card" and out.read_text().endswith("mine\n")
    assert manaka.card(tmp_path / "data", out=out, force=True) == out.read_text()


def test_malformed_reports_beside_the_data_are_format_errors(shards, tmp_path):
    shutil.copytree(shards, tmp_path / "data")
    for name, kind in [("gensfen.json", "manifest"), ("LINEAGE.json", "lineage")]:
        (tmp_path / "data" / name).write_text("{")
        with pytest.raises(manaka.FormatError, match=name) as error:
            manaka.card(tmp_path / "data")
        assert error.value.kind == kind
        (tmp_path / "data" / name).unlink()
    with pytest.raises(manaka.UsageError):
        manaka.card([])


def run(blocks):
    names = {}
    for block in blocks:
        exec(compile(block, "card", "exec"), names)
    return names


def test_the_code_on_the_card_of_shards_reads_them(shards, tmp_path, monkeypatch):
    card = manaka.card(shards)
    monkeypatch.chdir(shards)
    names = run(code(card))
    assert len(code(card)) == 2
    assert names["loader"].rows > 10_000 and len(names["row"]["packed"]) == 96
    assert names["best"]["prob"] == max(c["prob"] for c in names["row"]["candidates"])


@pytest.mark.parametrize("stream", ["parts", "visits"])
def test_the_code_on_the_card_of_streams_reads_them(stream, parts, root, tmp_path, monkeypatch):
    if stream == "parts":
        shutil.copytree(parts, tmp_path / "streams")
    else:
        (tmp_path / "streams").mkdir()
        shutil.copy(root / "conformance/good/visits.mpk", tmp_path / "streams")
    card = manaka.card(tmp_path / "streams")
    monkeypatch.chdir(tmp_path / "streams")
    names = run(code(card))
    assert len(code(card)) == 3
    half = "visits" if stream == "visits" else "cp"
    assert f'batch.candidates["{half}"]' in card and names["batch"].num_rows > 0
    # The reader that needs nothing else reads what the wheel reads.
    records = list(manaka.open_stream(tmp_path / "streams"))
    header = manaka.open_stream(tmp_path / "streams").header
    with manaka.Writer(str(tmp_path / "raw.mpk"), header) as writer:
        for batch in manaka.open_stream(tmp_path / "streams").batches():
            writer.write_batch(batch)
    plain = list(names["records"](tmp_path / "raw.mpk"))
    assert [(r[0], r[3]) for r in plain] == [(r.ply, r.packed) for r in records]


def test_the_code_on_the_card_of_a_corpus_reads_it(corpus, tmp_path, monkeypatch):
    shutil.copy(corpus, tmp_path / "corpus.parquet")
    card = manaka.card(tmp_path / "corpus.parquet")
    monkeypatch.chdir(tmp_path)
    names = run(code(card))
    assert len(code(card)) == 2 and names["row"]["sfen"]
    assert manaka.info(tmp_path / "streams")
