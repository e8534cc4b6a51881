"""The README's Python runs as it stands, on files of the names it uses."""

import re
import shutil

import manaka


def test_the_pages_code_runs(root, corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    shutil.copy(corpus, tmp_path / "corpus/a.parquet")
    page = (root / "python/README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    names = {"manaka": manaka}
    for block in blocks:
        exec(block, names)
    assert len(list(manaka.open_stream("mine.mpk.zst"))) == 1


def test_the_pages_name_everything_that_is_exported_and_nothing_else(root):
    page = (root / "python/README.md").read_text() + (root / "README.md").read_text()
    named = set(re.findall(r"`(?:manaka\.)?(\w+)\b", page)) | set(re.findall(r"manaka\.(\w+)", page))
    helpers = {"Arrays", "CANDIDATE", "NO_CP", "NO_OUTCOME", "RECORD", "Batches", "Stream", "Written", "__version__"}
    assert set(manaka.__all__) - helpers <= named
    assert set(re.findall(r"manaka\.(\w+)\(", page)) <= set(manaka.__all__)
