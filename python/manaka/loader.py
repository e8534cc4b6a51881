"""Loading shards into trainers."""

import copy
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from manaka import _manaka
from manaka.errors import UsageError
from manaka.stream import StrPath, path_list

__all__ = ["Arrays", "Loader", "unfold_planes"]

Arrays = dict[str, npt.NDArray[Any]]
"""A batch: its arrays by name."""

Shards = (
    StrPath
    | Iterable[StrPath]
    | Mapping[Any, int]
    | Iterable[tuple[StrPath | Iterable[StrPath], int]]
)

PLANES = (62, 57)
"""dlshogi's planes that differ by square, and those that do not (features.md §6)."""


class Loader:
    """Batches of shards, made by threads of Rust: every row once an epoch, in an order that options alone decide.

    ``for batch in loader`` is an epoch, or what is left of the one the loader stands in; the next ``for`` is the next
    epoch. A batch is a dict of arrays over ``n`` rows, always in the view of the side to move:

    ======================================================  ==========================================================
    ``value`` (n,) float32                                  the target in [-1, 1]
    ``weight`` (n,) float32                                 the row's weight
    ``mover``, ``opponent`` (n, 38 or 40) int32             ``halfkp``, ``kp``: indices, -1 behind the last
    ``first`` (n, 62, 9, 9), ``second`` (n, 57, 9, 9)       ``planes``: float32; ``planes_u8``: uint8
    ``first`` (n, 628), ``second`` (n, 8) uint8             ``planes_bits``: :func:`unfold_planes` makes planes of them
    ``policy_label`` (m,) uint16, ``policy_prob`` float32   ``sparse``: the candidates of row i are those from
    ``policy_offsets`` (n + 1,) uint32                      ``policy_offsets[i]`` up to ``policy_offsets[i + 1]``
    ``policy`` (n, 2187) float32                            ``dense``: a prob for each label
    ``packed`` (n, 96) uint8, ``ply`` (n,) uint16           ``columns``, as they stand in the shard
    ======================================================  ==========================================================

    The arrays are yours: nothing writes to them again, and their memory is what the threads filled. The indices, planes
    and labels are those of ``docs/spec/features.md``; order, ranks, mixing and cursors those of ``docs/spec/loading.md``.

    A loader holds its options and its place. Shards are opened, and threads started, in the process that first asks for
    something of them: so loaders can be pickled and used in worker processes, forked or spawned, each going on from the
    place the loader had. A pass that was begun in front of a fork is refused in the fork.

    Rows that cannot be and files that are damaged raise :class:`manaka.FormatError` with path and row, shards that may
    not be read together :class:`manaka.ConventionMismatch`, options and cursors that do not fit
    :class:`manaka.UsageError`. After an error the loader stands where it stood, behind the last batch.
    """

    def __init__(
        self,
        shards: Shards,
        *,
        batch_size: int = 1024,
        features: Literal["halfkp", "kp", "planes", "planes_u8", "planes_bits"] | None = None,
        blend: float = 1.0,
        outcome_absent: Literal["refuse", "search"] = "refuse",
        weight: Literal["stored", "sqrt", "log"] | float = "stored",
        policy: Literal["sparse", "dense"] | None = None,
        columns: Iterable[Literal["packed", "ply"]] = (),
        order: Literal["written", "shuffled"] = "written",
        seed: int = 0,
        mirror: Literal["never", "half", "always"] = "never",
        rank: int = 0,
        world_size: int = 1,
        threads: int | None = None,
        last_batch: Literal["deliver", "drop"] = "deliver",
        set_end: Literal["stop", "repeat"] = "stop",
        cursor: str | None = None,
    ) -> None:
        """``shards`` are a path or several, each a file, a directory or a glob. Several sets are mixed by
        ``{path: share}`` or pairs ``(path or paths, share)``, shares being whole numbers.

        ``blend`` r makes the value ``(1 - r) * outcome + r * search``. The default is the search's value alone, which
        every shard has; with r < 1 shards without outcomes are refused, unless ``outcome_absent="search"`` takes the
        search's value for them. ``weight`` is the number of records behind a row, its ``"sqrt"``, ``"log"`` (of base 2,
        of 1 + weight), or capped at a number. Rows of a shard are shuffled already; ``order="shuffled"`` draws the order
        of row groups anew for each epoch. ``mirror="half"`` exchanges left and right in half of the rows.

        This loader delivers part ``rank`` of ``world_size``; ``last_batch="drop"`` gives every rank as many batches.
        When a set of several has no more rows, the epoch ends (``set_end="stop"``), or the set begins again until all
        were delivered whole (``"repeat"``). ``threads``, by default the cores of the machine and at most 4, do not show
        in what is delivered. ``cursor`` is the text that :meth:`cursor` gave, in any process.
        """
        self._sources = _sources(shards)
        self._options: dict[str, object] = {
            "batch_size": batch_size,
            "threads": threads,
            "features": features,
            "blend": blend,
            "outcome_absent": outcome_absent,
            "weight": weight,
            "policy": policy,
            "columns": list(columns),
            "order": order,
            "seed": seed,
            "mirror": mirror,
            "rank": rank,
            "world_size": world_size,
            "last_batch": last_batch,
            "set_end": set_end,
        }
        self._place = _manaka.Loader.check(self._options, cursor)
        # The place while nothing is open; without a cursor it is the first row of an epoch.
        self._cursor = cursor
        self._opened: _manaka.Loader | None = None
        self._process = os.getpid()

    def _open(self) -> _manaka.Loader:
        """What is open in this process."""
        if self._process != os.getpid():
            self.close()
        if self._opened is None:
            opened = _manaka.Loader(self._sources, self._options, self._cursor)
            epoch, _ = self._place
            if self._cursor is None and epoch > 0:
                opened.begin_epoch(epoch)
            self._opened, self._process = opened, os.getpid()
        return self._opened

    def close(self) -> None:
        """Lets go of files and threads. The place stays; whatever is asked next opens them again."""
        if self._opened is not None:
            self._place = self._opened.place
            self._cursor = self._opened.cursor()
            self._opened = None
        self._process = os.getpid()

    def __iter__(self) -> Iterator[Arrays]:
        """The batches from where the loader stands to the end of the epoch. The GIL is free while one is waited for.

        :meth:`seek` and :meth:`begin_epoch` end the passes under way.
        """
        opened = self._open()
        epoch, _ = opened.place
        while self._opened is opened and opened.place[0] == epoch:
            try:
                batch = opened.next_batch()
            except BaseException:
                self.close()
                raise
            if batch is None:
                opened.begin_epoch(epoch + 1)
                return
            yield batch

    def __len__(self) -> int:
        """Batches of a whole epoch."""
        return self._open().batches

    @property
    def rows(self) -> int:
        """Rows of a whole epoch, those of this rank."""
        return self._open().rows

    @property
    def headers(self) -> list[_manaka.Header]:
        """The conventions that the shards of each set state. :func:`manaka.info` has the rest of their footers."""
        return self._open().headers

    @property
    def epoch(self) -> int:
        """The epoch of the next batch, from 0."""
        return self._here()[0]

    @property
    def row(self) -> int:
        """Rows of this epoch that came in front of the next batch."""
        return self._here()[1]

    def _here(self) -> tuple[int, int]:
        return self._place if self._opened is None else self._opened.place

    def cursor(self) -> str:
        """The place in front of the next batch, as text: save it beside the model, after the step that used the last
        batch. A loader of the same shards and options, threads aside, goes on from it with exactly the rest."""
        return self._cursor or self._open().cursor() if self._opened is None else self._opened.cursor()

    def seek(self, cursor: str) -> None:
        """Goes to the place of a cursor."""
        place = _manaka.Loader.check(self._options, cursor)
        opened = _manaka.Loader(self._sources, self._options, cursor)
        self._place, self._cursor = place, cursor
        self._opened, self._process = opened, os.getpid()

    def begin_epoch(self, epoch: int) -> None:
        """Goes to the first row of an epoch, wherever the loader is."""
        if epoch < 0:
            raise UsageError(f"epoch {epoch}", "option")
        if self._opened is not None and self._process == os.getpid():
            self._opened.begin_epoch(epoch)
            return
        self._opened, self._cursor, self._place = None, None, (epoch, 0)

    def part(self, rank: int, world_size: int) -> "Loader":
        """A loader of part ``rank`` of ``world_size`` of what this one delivers, at the first row of this epoch."""
        epoch, row = self._here()
        if row > 0:
            raise UsageError("a loader in the middle of an epoch cannot be parted", "option")
        if not 0 <= rank < world_size:
            raise UsageError(f"rank {rank} is not below world_size {world_size}", "option")
        own: Any = self._options
        ranks = {"rank": own["rank"] * world_size + rank, "world_size": own["world_size"] * world_size}
        part = copy.copy(self)
        part._options = {**own, **ranks}
        # The cursor is that of the whole.
        part._cursor = None
        return part

    def __getstate__(self) -> dict[str, Any]:
        cursor = self._cursor if self._opened is None else self._opened.cursor()
        return {"sources": self._sources, "options": self._options, "cursor": cursor, "place": self._here()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._sources, self._options = state["sources"], state["options"]
        self._cursor, self._place = state["cursor"], state["place"]
        self._opened, self._process = None, os.getpid()

    def __repr__(self) -> str:
        epoch, row = self._here()
        return f"<manaka.Loader of {len(self._sources)} sets, at row {row} of epoch {epoch}>"


def _sources(shards: Shards) -> list[tuple[list[str], int]]:
    """Paths and share of each set."""
    if isinstance(shards, (str, os.PathLike)):
        return [(path_list(shards), 1)]
    items: list[Any] = list(shards.items()) if isinstance(shards, Mapping) else list(shards)
    mixed = bool(items) and all(isinstance(item, tuple) for item in items)
    sources = [(path_list(paths), share) for paths, share in (items if mixed else [(items, 1)])]
    for paths, share in sources:
        if not paths:
            raise UsageError("a set of no shards", "option")
        if share < 1:
            raise UsageError(f"{paths[0]}: a share of {share}", "option")
    return sources


def unfold_planes(
    first: npt.NDArray[np.uint8], second: npt.NDArray[np.uint8], dtype: npt.DTypeLike = np.float32
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The planes of a batch of ``planes_bits``: ``(…, 628)`` and ``(…, 8)`` to ``(…, 62, 9, 9)`` and ``(…, 57, 9, 9)``.

    Bits are a sixtieth of the bytes of floats: take them to a device and unfold them there likewise (features.md §6.2).
    """
    squares = np.unpackbits(first, axis=-1, count=PLANES[0] * 81, bitorder="little")
    whole = np.unpackbits(second, axis=-1, count=PLANES[1], bitorder="little").astype(dtype)
    planes = np.broadcast_to(whole[..., None, None], (*whole.shape, 9, 9))
    return squares.reshape(*first.shape[:-1], PLANES[0], 9, 9).astype(dtype), np.ascontiguousarray(planes)
