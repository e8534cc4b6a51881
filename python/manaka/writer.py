"""Writing streams."""

import os
from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manaka import _manaka
from manaka.errors import UsageError
from manaka.records import CANDIDATE, NO_CP, RECORD, Batch
from manaka.stream import StrPath

__all__ = ["Written", "Writer"]

Candidates = Sequence[tuple[str | int, int]] | npt.NDArray[np.void]


class Written(NamedTuple):
    """What a finished writer wrote."""

    records: int
    """Records, those found in an appended file not counted."""
    bytes: int
    """Their bytes before compression."""
    file_bytes: int
    """Bytes of the file on disk."""


class Writer:
    """Writes one stream file, ``.mpk`` or ``.mpk.zst`` by its name; every record is checked (stream.md §6).

    A new file has its name only once :meth:`finish` has brought it to disk: a ``with`` block does that at its end, and
    when it is left by an exception no file appears. With ``append=True`` records go behind those of a raw file, which
    keeps its name throughout and is whole up to the last whole record whatever happens; a torn record that an earlier
    crash left is cut off first, and :meth:`sync` brings everything so far to disk.

    A record that is refused raises :class:`manaka.FormatError` and leaves the stream as it was: writing can go on.
    An ``OSError`` while writing is final.
    """

    def __init__(
        self,
        path: StrPath,
        header: _manaka.Header,
        *,
        append: bool = False,
        level: int = 3,
        absent_outcomes: bool = False,
    ) -> None:
        """``level`` is that of zstd, 1 to 19. Raises ``FileExistsError`` where a new file would replace one.

        With ``absent_outcomes=True`` a record may have no outcome; without it such a record is refused. The file is of
        version 3 exactly when it holds one (stream.md §7).
        """
        path = os.fspath(path)
        compress = path.endswith(".mpk.zst")
        if not compress and not path.endswith(".mpk"):
            raise UsageError(f"{path}: a stream is called .mpk or .mpk.zst", "name", path)
        if compress and append:
            raise UsageError(f"{path}: only a raw stream can be appended to", "unsupported", path)
        if not 1 <= level <= 19:
            raise UsageError(f"level {level}: zstd has 1 to 19", "option")
        self.header = header
        """The conventions the file states."""
        self._writer = _manaka.Writer(path, header, append, level if compress else None, absent_outcomes)
        self._append = append
        self.found, self.cut = self._writer.found
        """Records that were there when appending began, and bytes of a torn record that were cut off behind them."""

    @property
    def records(self) -> int:
        """Records written so far, those found not counted."""
        return self._writer.records

    @property
    def closed(self) -> bool:
        """Whether the file was finished or given up."""
        return self._writer.closed

    def write(
        self,
        position: _manaka.Position | bytes,
        candidates: Candidates,
        *,
        value_z: float | None,
        value_q: float,
        ply: int | None = None,
    ) -> None:
        """Appends one record.

        ``value_z`` is None where the outcome is not known, as :class:`manaka.Record` has it.

        ``candidates`` are pairs of a move (USI or 16 bits) and the number that ``header.policy_source`` names, visits
        or cp; or an array of dtype :data:`manaka.CANDIDATE`. ``ply`` is that of the position unless given.
        """
        if isinstance(position, _manaka.Position):
            ply = position.ply if ply is None else ply
        if ply is None:
            raise UsageError("the position has no move number: state ply", "ply")
        array = candidates if isinstance(candidates, np.ndarray) else self._candidates(candidates)
        self._writer.write(ply, value_z, value_q, bytes(position), np.asarray(array, CANDIDATE).tobytes())

    def _candidates(self, pairs: Sequence[tuple[str | int, int]]) -> npt.NDArray[np.void]:
        array = np.empty(len(pairs), CANDIDATE)
        array["mv"] = [_manaka.move16(mv) if isinstance(mv, str) else mv for mv, _ in pairs]
        array["visits"], array["cp"] = 0, NO_CP
        array["visits" if self.header.policy_source == "visits" else "cp"] = [number for _, number in pairs]
        return array

    def write_batch(self, batch: Batch) -> None:
        """Appends the records of a batch in order. Those in front of one that is refused are written; ``record`` of
        the exception says which it is, in the file."""
        records = np.asarray(batch.records, RECORD)
        candidates = np.asarray(batch.candidates, CANDIDATE)
        self._writer.write_rows(records.tobytes(), candidates.tobytes())

    def sync(self) -> None:
        """Brings everything appended so far to disk. Raises UsageError for a file that is not appended to."""
        self._writer.sync()

    def finish(self) -> Written:
        """Brings the file to disk and gives it its name."""
        return Written(*self._writer.finish())

    def __enter__(self) -> "Writer":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.closed:
            return
        if kind is None or self._append:
            self.finish()
        else:
            self._writer.abort()
