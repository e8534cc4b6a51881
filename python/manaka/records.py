"""Records as numpy sees them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from manaka import _manaka

__all__ = ["CANDIDATE", "NO_CP", "NO_OUTCOME", "RECORD", "Batch", "Record"]

RECORD = np.dtype(
    [("ply", "<u2"), ("value_z", "<f4"), ("value_q", "<f4"), ("n_cand", "<u2"), ("packed", "u1", (96,))]
)
"""The fixed part of a record: the 108 bytes of stream.md §3.1. ``value_z`` is :data:`NO_OUTCOME` where absent."""

CANDIDATE = np.dtype([("mv", "<u2"), ("visits", "<u4"), ("cp", "<i2")])
"""A candidate: the 8 bytes of stream.md §3.2. ``visits`` is 0 and ``cp`` is :data:`NO_CP` where absent."""

NO_CP = -32768
"""The ``cp`` of a candidate that has none."""

NO_OUTCOME = 2.0
"""The ``value_z`` of a record whose outcome is not known, in arrays of dtype :data:`RECORD`. It is no number to compute
with: leave these records out first."""


class Record(NamedTuple):
    """One searched position."""

    ply: int
    """The move number, as the producer gave it."""
    value_z: float | None
    """The game's outcome: -1, 0 or 1, in the view ``header.pov`` names; None where it is not known."""
    value_q: float
    """The search's value of the root in [-1, 1], in the same view."""
    packed: bytes
    """The position, 96 bytes."""
    candidates: npt.NDArray[np.void]
    """The moves the search looked at: dtype :data:`CANDIDATE`, shape (n_cand,)."""

    @property
    def position(self) -> _manaka.Position:
        """The position. Its structure is not judged; see ``Position.faults``."""
        return _manaka.Position.from_packed(self.packed, self.ply, check=False)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some records of a stream, copied once, from the read buffer into these arrays; they are yours to change."""

    records: npt.NDArray[np.void]
    """The fixed parts: dtype :data:`RECORD`, shape (n,). ``records["packed"]`` has shape (n, 96)."""
    candidates: npt.NDArray[np.void]
    """The candidates of all records, one behind the other: dtype :data:`CANDIDATE`, shape (m,)."""
    offsets: npt.NDArray[np.int64]
    """Record i has ``candidates[offsets[i]:offsets[i + 1]]``; shape (n + 1,)."""

    @classmethod
    def of(cls, records: npt.NDArray[np.void], candidates: npt.NDArray[np.void]) -> "Batch":
        """A batch of arrays of one's own; the offsets follow from ``records["n_cand"]``."""
        offsets = np.zeros(len(records) + 1, np.int64)
        np.cumsum(records["n_cand"], out=offsets[1:])
        return cls(np.asarray(records, RECORD), np.asarray(candidates, CANDIDATE), offsets)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, index: int) -> Record:
        if not -len(self) <= index < len(self):
            raise IndexError(f"record {index} of a batch of {len(self)}")
        index %= len(self)
        fixed: Any = self.records[index]
        candidates = self.candidates[self.offsets[index] : self.offsets[index + 1]]
        return Record(
            int(fixed["ply"]),
            None if fixed["value_z"] == NO_OUTCOME else float(fixed["value_z"]),
            float(fixed["value_q"]),
            fixed["packed"].tobytes(),
            candidates,
        )

    def __iter__(self) -> Iterator[Record]:
        return map(self.__getitem__, range(len(self)))

    def __arrow_c_schema__(self) -> object:
        return _manaka.schema_capsule()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The batch for anything that takes Arrow: ``pyarrow.record_batch(batch)``. Copies into columns."""
        array = _manaka.array_capsule(self.records.tobytes(), self.candidates.tobytes())
        return _manaka.schema_capsule(), array
