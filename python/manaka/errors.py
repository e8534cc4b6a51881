"""What can go wrong, each with its stable name and its place.

Where the system failed (a missing file, a full disk) the exception is Python's own ``OSError``. A run that was
interrupted raises ``KeyboardInterrupt``.
"""

__all__ = ["ConventionMismatch", "Error", "FormatError", "IllegalMoveError", "PositionError", "UsageError"]


class Error(Exception):
    """The root of the others; by itself it is raised where a run fails for no reason named below.

    ``kind`` is the stable name: for streams that of ``docs/spec/stream.md`` §6. ``path``, ``record`` (from 0) and
    ``offset`` (bytes, in the decompressed stream) say where; each is None where there is no such place.
    """

    def __init__(
        self,
        message: str,
        kind: str,
        path: str | None = None,
        record: int | None = None,
        offset: int | None = None,
        *more: object,
    ) -> None:
        # All of it are the arguments of the exception, so that it survives being pickled by a worker process.
        super().__init__(message, kind, path, record, offset, *more)
        self.message = message
        self.kind = kind
        self.path = path
        self.record = record
        self.offset = offset

    def __str__(self) -> str:
        return self.message


class FormatError(Error, ValueError):
    """Data that is not what it should be: a malformed stream, a record that breaks a rule, a file that is no shard."""


class ConventionMismatch(Error, ValueError):
    """Streams that may not be read or folded together (conventions.md §6).

    ``key`` is the convention, ``here`` its value in ``path`` and ``there`` its value in ``other``.
    """

    def __init__(
        self,
        message: str,
        kind: str,
        path: str | None,
        record: int | None,
        offset: int | None,
        values: tuple[str, str, str],
        other: str,
    ) -> None:
        super().__init__(message, kind, path, record, offset, values, other)
        self.key, self.here, self.there = values
        self.other = other


class PositionError(Error, ValueError):
    """A position that is none, or cannot be played on.

    ``kind`` is ``malformed_sfen`` (``offset`` is the byte of the text), ``unsound`` (``faults`` names every structural
    fault, stream.md §4.4) or ``unplayable``.
    """

    def __init__(
        self,
        message: str,
        kind: str,
        path: str | None = None,
        record: int | None = None,
        offset: int | None = None,
        faults: list[str] | None = None,
    ) -> None:
        super().__init__(message, kind, path, record, offset, faults)
        self.faults = faults or []


class IllegalMoveError(Error, ValueError):
    """A move the rules forbid (``illegal_move``), or text or bits that are no move (``no_move``)."""


class UsageError(Error, ValueError):
    """Something was asked for that makes no sense or cannot be done with this file or directory."""
