"""Training data for shogi engines: streams, shards and positions.

========================  =====================================================
:func:`open_stream`       read ``.mpk`` streams: numpy batches, Arrow, records
:class:`Writer`           write one, every record checked
:class:`Loader`           shards into a trainer: batches of numpy arrays
:class:`Position`         SFEN, 96 bytes, legal moves, board as text and SVG
:func:`corpus`            raw PSV to corpus parquet
:func:`teacher`           corpus parquet to streams
:func:`pack`              streams to shuffled training shards
:func:`check`             is this data healthy?
:func:`stat`              what it is like, and what looks wrong
:func:`card`              the card it is published with
:func:`info`              what files state about themselves
========================  =====================================================

Errors are :class:`Error` and its kinds, each with ``kind``, ``path``, ``record`` and ``offset``; ``OSError`` where the
system fails.
"""

from manaka._manaka import Header, Position, __version__, move16, usi
from manaka.errors import (
    ConventionMismatch,
    Error,
    FormatError,
    IllegalMoveError,
    PositionError,
    UsageError,
)
from manaka.loader import Arrays, Loader, unfold_planes
from manaka.records import CANDIDATE, NO_CP, NO_OUTCOME, RECORD, Batch, Record
from manaka.runs import card, check, corpus, info, pack, stat, teacher
from manaka.stream import Batches, Stream, open_stream
from manaka.writer import Writer, Written

__all__ = [
    "CANDIDATE",
    "NO_CP",
    "NO_OUTCOME",
    "RECORD",
    "Arrays",
    "Batch",
    "Batches",
    "ConventionMismatch",
    "Error",
    "FormatError",
    "Header",
    "IllegalMoveError",
    "Loader",
    "Position",
    "PositionError",
    "Record",
    "Stream",
    "UsageError",
    "Writer",
    "Written",
    "__version__",
    "card",
    "check",
    "corpus",
    "info",
    "move16",
    "open_stream",
    "pack",
    "stat",
    "teacher",
    "unfold_planes",
    "usi",
]
