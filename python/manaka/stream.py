"""Reading streams."""

import os
from collections.abc import Iterable, Iterator

from manaka import _manaka
from manaka.errors import UsageError
from manaka.records import CANDIDATE, RECORD, Batch, Record

__all__ = ["Batches", "Stream", "StrPath", "open_stream", "path_list"]

StrPath = str | os.PathLike[str]

BATCH = 65_536
"""Records in a batch unless told otherwise: 7 MB, and 8 bytes a candidate."""


def path_list(paths: StrPath | Iterable[StrPath]) -> list[str]:
    """One path or many, as a list."""
    if isinstance(paths, (str, os.PathLike)):
        return [os.fspath(paths)]
    return [os.fspath(path) for path in paths]


class Batches(Iterator[Batch]):
    """One pass over a stream, in batches.

    A record that breaks a rule raises :class:`manaka.FormatError`, behind every record in front of it. Calling
    ``next`` once more goes on behind that record; after an error that ends a file it goes on with the next file.
    Belongs to the process it was made in: a fork has to begin its own.
    """

    def __init__(self, files: list[str], size: int) -> None:
        if size < 1:
            raise UsageError(f"a batch of {size} records", "option")
        self._reader = _manaka.Reader(files)
        self._size = size

    def __next__(self) -> Batch:
        arrays = self._reader.read(self._size)
        if arrays is None:
            raise StopIteration
        heads, offsets, candidates = arrays
        return Batch(heads.view(RECORD), candidates.view(CANDIDATE), offsets)


class Stream:
    """Stream files read as one: what they state, and passes over their records.

    Holds no file open between passes, so it can be read again and again, pickled, and used in worker processes,
    forked or spawned. Made by :func:`open_stream`.
    """

    def __init__(self, files: list[str]) -> None:
        self.files = files
        """The files, in reading order."""
        self.header = _manaka.Reader(files).header
        """The conventions all files share; its version is that of the first file."""

    def batches(self, size: int = BATCH) -> Batches:
        """A pass in batches of at most ``size`` records; only the last of a pass (or one in front of an error) has
        fewer. The GIL is released while records are read and checked."""
        return Batches(self.files, size)

    def __iter__(self) -> Iterator[Record]:
        """A pass record by record. For speed take :meth:`batches`."""
        for batch in self.batches(4096):
            yield from batch

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A pass for anything that takes Arrow: ``pyarrow.table(stream)``, ``polars.DataFrame(stream)``, DuckDB.

        Columns ``packed``, ``ply``, ``value_z``, ``value_q`` and ``candidates``, a list of ``mv``, ``visits``, ``cp``
        with nulls for the half that is absent and for outcomes that are not known. The conventions are metadata of the schema.
        """
        return _manaka.stream_capsule(self.files, BATCH)

    def __arrow_c_schema__(self) -> object:
        return _manaka.schema_capsule(self.header)

    def __repr__(self) -> str:
        return f"<manaka.Stream of {len(self.files)} files, {self.header!r}>"


def open_stream(paths: StrPath | Iterable[StrPath]) -> Stream:
    """Opens stream files: a path or several, each a file, a directory or a glob; raw and zstd alike.

    Raises :class:`manaka.ConventionMismatch` for files that may not be read together, :class:`manaka.FormatError` for a
    malformed header, ``OSError`` for what is not there.
    """
    return Stream([os.fspath(path) for path in _manaka.stream_files(path_list(paths))])
