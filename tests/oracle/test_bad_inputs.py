"""Malformed input: named by file, record and byte, refused with the right exit code, and nothing else touched."""

import re

import pytest
import zstandard

from oracle import faults, mpk, shards
from oracle.cli import COULD_NOT, DONE, FINDINGS, USAGE

BAD = faults.bad_streams()


@pytest.fixture
def scene(tmp_path):
    """A sound stream, and a way to see afterwards that nothing that was there has changed."""
    mpk.write_stream(tmp_path / "sound.mpk", mpk.Header(), faults.sound_records(mpk.Header()))

    class Scene:
        home, sound, out = tmp_path, tmp_path / "sound.mpk", tmp_path / "out"

        def seal(self):
            self.before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}

        def untouched(self):
            assert {p: p.read_bytes() for p in self.before} == self.before
            made = [p for p in tmp_path.rglob("*.parquet") if p not in self.before]
            assert not made, f"left under a final name: {made}"

    return Scene()


def numbers_in(message: str, *paths) -> set[int]:
    """The whole numbers a message states, the paths it names left out."""
    for path in paths:
        message = message.replace(str(path), " ")
    return {int(n) for n in re.findall(r"(?<![\w.])\d+(?![\w.]*\d)", message)}


def check_place(run, path, bad):
    message = run.stdout + run.stderr
    assert path.name in message, message
    if bad.record is None:
        return
    stated = numbers_in(message, path, path.parent)
    assert bad.record in stated, f"record {bad.record} is not named: {message}"
    assert any(bad.first <= n <= bad.last for n in stated), f"no byte in {bad.first}..={bad.last}: {message}"


def pack(manaka, out, *inputs, **options):
    return manaka("pack", *inputs, "--out", out, "--prefix", "teacher", **options)


@pytest.mark.parametrize("name", BAD)
def test_pack_refuses(manaka, scene, name):
    bad = BAD[name]
    path = scene.home / "bad.mpk"
    path.write_bytes(bad.blob)
    scene.seal()
    # A visits stream never meets a score stream: it would be refused for that.
    others = [scene.sound] if bad.blob[9:10] == scene.sound.read_bytes()[9:10] else []
    run = pack(manaka, scene.out, *others, path, expect=COULD_NOT)
    check_place(run, path, bad)
    scene.untouched()


@pytest.mark.parametrize("name", BAD)
def test_check_finds(manaka, scene, name):
    bad = BAD[name]
    path = scene.home / "bad.mpk"
    path.write_bytes(bad.blob)
    scene.seal()
    run = manaka("check", path, expect=FINDINGS)
    check_place(run, path, bad)
    scene.untouched()


@pytest.mark.parametrize("name", ["NaN value_q", "truncated record, candidates", "n_cand 65535 at the end"])
@pytest.mark.parametrize("verb", ["pack", "check"])
def test_a_compressed_stream_names_the_same_place(manaka, scene, verb, name):
    """Byte offsets are those of the decompressed stream."""
    bad = BAD[name]
    path = scene.home / "bad.mpk.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(bad.blob))
    scene.seal()
    if verb == "pack":
        run = pack(manaka, scene.out, path, expect=COULD_NOT)
    else:
        run = manaka("check", path, expect=FINDINGS)
    check_place(run, path, bad)
    scene.untouched()


@pytest.mark.parametrize("damage", ["cut", "bytes after the last frame"])
def test_a_broken_zstd_file_is_not_a_short_stream(manaka, scene, damage):
    payload = scene.sound.read_bytes()
    compressed = zstandard.ZstdCompressor().compress(payload)
    blobs = {"cut": compressed[:-9], "bytes after the last frame": compressed + b"\1\2\3\4\5"}
    path = scene.home / "bad.mpk.zst"
    path.write_bytes(blobs[damage])
    scene.seal()
    run = pack(manaka, scene.out, path, expect=COULD_NOT)
    assert path.name in run.stderr
    run = manaka("check", path)
    assert run.returncode in (COULD_NOT, FINDINGS)
    assert path.name in run.stdout + run.stderr
    scene.untouched()


def test_check_has_nothing_to_say_about_a_sound_stream(manaka, scene):
    scene.seal()
    manaka("check", scene.sound, expect=DONE)
    scene.untouched()


@pytest.mark.parametrize("spelling", ["same", "through its directory", "symbolic link"])
def test_the_same_file_twice_is_a_usage_error(manaka, scene, spelling):
    again = scene.sound
    if spelling == "through its directory":
        (scene.home / "side").mkdir()
        again = scene.home / "side" / ".." / "sound.mpk"
    elif spelling == "symbolic link":
        again = scene.home / "link.mpk"
        again.symlink_to(scene.sound)
    scene.seal()
    run = pack(manaka, scene.out, scene.sound, again, expect=USAGE)
    assert "sound.mpk" in run.stderr
    scene.untouched()


@pytest.mark.parametrize("occupant", ["teacher-00000.parquet", "other-00000.parquet", "notes.txt"])
def test_a_directory_that_is_not_empty_is_not_written_into(manaka, scene, occupant):
    scene.out.mkdir()
    (scene.out / occupant).write_bytes(b"kept")
    scene.seal()
    run = pack(manaka, scene.out, scene.sound)
    assert run.returncode in (COULD_NOT, USAGE)
    assert scene.out.name in run.stderr
    assert [p.name for p in scene.out.iterdir()] == [occupant]
    scene.untouched()


def test_a_file_that_is_not_there(manaka, scene):
    scene.seal()
    run = pack(manaka, scene.out, scene.sound, scene.home / "absent.mpk")
    assert run.returncode in (COULD_NOT, USAGE)
    assert "absent.mpk" in run.stderr
    scene.untouched()


def test_the_sound_half_of_the_scene_packs(manaka, scene):
    """So that the refusals above are owed to the fault and to nothing else."""
    pack(manaka, scene.out, scene.sound, expect=DONE)
    assert len(shards.read_rows(scene.out)) == faults.GOOD_RECORDS
