"""Running the binary under test, and what its exit codes mean."""

import subprocess
from pathlib import Path

DONE, COULD_NOT, USAGE, FINDINGS = 0, 1, 2, 3


class Manaka:
    """Calls the binary and keeps what it said; a panic, a signal or an unknown exit code fails the test at once."""

    def __init__(self, binary: Path):
        self.binary = binary

    def __call__(self, *arguments, expect: int | None = None) -> subprocess.CompletedProcess:
        command = [str(self.binary), *map(str, arguments)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)
        said = f"{' '.join(command)}\nexit {run.returncode}\n{run.stdout}{run.stderr}"
        assert run.returncode in (DONE, COULD_NOT, USAGE, FINDINGS), said
        assert "panicked at" not in run.stderr, said
        if expect is not None:
            assert run.returncode == expect, said
        return run
