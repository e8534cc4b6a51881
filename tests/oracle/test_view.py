"""`manaka view` on a terminal: a pseudo-terminal presses the keys, and is given back as it was."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import cshogi
import pytest

from oracle import mpk
from oracle.cli import COULD_NOT, DONE, USAGE
from oracle.position import move16_to_usi, parse_sfen, to_sfen

PATIENCE = 60


class Terminal:
    """A program that believes it is on a terminal of 40 rows."""

    def __init__(self, manaka, *arguments):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        self.before = termios.tcgetattr(theirs)
        self.theirs = theirs
        command = [str(manaka.binary), *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        self.said = ""

    def until(self, *texts):
        """Reads on until a page shows all of these; what it shows."""
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            page = self.said.split("\x1b[2J")[-1]
            if all(text in page for text in texts):
                return page
            if select.select([self.ours], [], [], 0.2)[0]:
                try:
                    self.said += os.read(self.ours, 1 << 16).decode(errors="replace")
                except OSError:
                    break
        pytest.fail(f"{texts} did not come; the last page:\n{self.said[-3000:]}")

    def press(self, keys):
        self.said = ""
        os.write(self.ours, keys.encode())

    def end(self):
        """Waits for the end of it; the terminal has to be as it was."""
        code = self.process.wait(PATIENCE)
        while select.select([self.ours], [], [], 0.2)[0]:
            self.said += os.read(self.ours, 1 << 16).decode(errors="replace")
        assert termios.tcgetattr(self.theirs) == self.before
        assert self.said.rstrip().endswith("\x1b[?1049l") or "\x1b[?1049l" in self.said
        assert "\x1b[?25h" in self.said and "panicked" not in self.said
        os.close(self.ours)
        os.close(self.theirs)
        return code


def sfen(records, number):
    return f"sfen {to_sfen(records[number].packed)} {records[number].ply}\r"


@pytest.fixture(scope="module")
def stream(fairy_parts):
    return fairy_parts[0], mpk.read_stream(fairy_parts[0])[1]


def test_keys_go_on_and_back_and_to_a_number(manaka, stream):
    path, records = stream
    terminal = Terminal(manaka, "view", path)
    terminal.until("record 0 ", sfen(records, 0))
    for keys, number in [
        ("n", 1), (" ", 2), ("\x1b[B", 3), ("\x1b[C", 4), ("\r", 5), ("p", 4), ("\x1b[A", 3), ("\x1b[D", 2), ("b", 1),
        ("\x1b[6~", 11), ("\x1b[5~", 1), ("g12345\r", 12345), ("p", 12344), ("g7\r", 7), ("g99\x7f8\r", 98),
        ("\x1b[H", 0), ("\x1b[F", len(records) - 1), ("p", len(records) - 2),
    ]:  # fmt: skip
        terminal.press(keys)
        terminal.until(f"record {number} ", sfen(records, number))
    terminal.press("g77777777\r")
    terminal.until("there is no 77777777", sfen(records, len(records) - 2))
    terminal.press("gx\r")
    terminal.until("is no number")
    terminal.press("a")
    terminal.until("to move", "9  8  7  6")
    terminal.press("h")
    terminal.until("Any key goes back")
    terminal.press("x")
    terminal.until(sfen(records, len(records) - 2))
    terminal.press("q")
    assert terminal.end() == DONE


def test_a_search_goes_to_what_meets_the_conditions(manaka, stream):
    path, records = stream
    at = [n for n, r in enumerate(records) if 16 <= r.ply <= 18 and r.packed[95] == 1]
    terminal = Terminal(manaka, "view", path)
    terminal.until("record 0 ")
    terminal.press("/ply=16..18 side=w\r")
    terminal.until(sfen(records, at[0]), "those that meet")
    for keys, number in [("n", at[1]), ("n", at[2]), ("p", at[1]), ("N", at[0])]:
        terminal.press(keys)
        terminal.until(sfen(records, number))
    terminal.press("p")
    terminal.until("none before this")
    terminal.press("/plies=3\r")
    terminal.until("is no condition")
    terminal.press("/ply=65000\r")
    terminal.until("nothing from here on")
    terminal.press("fn")
    terminal.until(sfen(records, at[0] + 1))
    terminal.press("\x1b")
    assert terminal.end() == DONE


@pytest.mark.parametrize("how", ["ctrl-c", "SIGINT", "SIGTERM"])
def test_the_terminal_is_given_back_when_it_is_interrupted(manaka, fairy_shards, how):
    shard = sorted(fairy_shards.glob("*.parquet"))[0]
    terminal = Terminal(manaka, "view", shard, "--min-candidates=2")
    terminal.until("(h: keys)")
    assert termios.tcgetattr(terminal.theirs)[3] & termios.ICANON == 0
    if how == "ctrl-c":
        terminal.press("\x03")
    else:
        terminal.process.send_signal(getattr(signal, how))
    assert terminal.end() in (DONE, COULD_NOT)


def test_what_cannot_be_shown_is_said_before_the_screen_is_taken(manaka, stream):
    for arguments in [["--row=99999999"], ["--ply=65000"]]:
        terminal = Terminal(manaka, "view", stream[0], *arguments)
        assert terminal.process.wait(PATIENCE) == COULD_NOT
        said = os.read(terminal.ours, 1 << 16).decode()
        assert "\x1b[" not in said and "record" in said


def test_conditions_find_rows_off_a_terminal_too(manaka, stream, fairy_shards, corpus):
    path, records = stream
    at = [n for n, r in enumerate(records) if r.ply == 30]
    run = manaka("view", path, "--ply=30", "--row", at[3], "--rows=2", expect=DONE)
    assert re.findall(r"^record (\d+) ", run.stdout, re.M) == [str(n) for n in at[3:5]]
    assert manaka("view", path, "--where", "ply=30", expect=DONE).stdout.startswith(f"record {at[0]} ")
    assert "no record from 0 on" in manaka("view", path, "--ply=65000", expect=COULD_NOT).stderr
    shard = sorted(fairy_shards.glob("*.parquet"))[0]
    assert "value-z" in manaka("view", shard, "--value-z=0", expect=USAGE).stderr
    assert "root_cp" in manaka("view", corpus, "--cp=500..", expect=DONE).stdout


def test_the_last_move_is_the_one_that_leads_there(manaka, stream):
    path, records = stream
    run = manaka("view", path, "--row=100", "--rows=200", "--format=json", expect=DONE)
    known = 0
    for entry in json.loads(run.stdout)["entries"]:
        before, here = records[entry["number"] - 1], records[entry["number"]]
        leads = []
        if before.ply + 1 == here.ply:
            for candidate in before.candidates:
                board = cshogi.Board(f"{to_sfen(before.packed)} 1")
                usi = move16_to_usi(candidate.mv)
                board.push_usi(usi)
                if parse_sfen(board.sfen()) == here.packed:
                    leads.append(usi)
        assert entry.get("last_move") == (leads[0] if leads else None)
        known += bool(leads)
    assert known > 100


def test_pictures_are_written_by_their_ending(manaka, stream, tmp_path):
    for name, magic in [("a.png", b"\x89PNG\r\n\x1a\n"), ("a.svg", b"<svg "), ("b.PNG", b"\x89PNG\r\n\x1a\n")]:
        manaka("view", stream[0], "--row=40", "--image", tmp_path / name, expect=DONE)
        assert (tmp_path / name).read_bytes().startswith(magic)
    size = struct.unpack(">II", (tmp_path / "a.png").read_bytes()[16:24])
    assert size == (1232, 976)
    for name in ("a.gif", "png", "a"):
        run = manaka("view", stream[0], "--image", tmp_path / name, expect=USAGE)
        assert "ends in .svg or .png" in run.stderr and not (tmp_path / name).exists()
