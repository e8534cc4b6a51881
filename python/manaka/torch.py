"""Shards as a dataset of PyTorch, which is imported only when one is made."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from manaka.loader import Loader

__all__ = ["Dataset", "dataset"]


class Dataset:
    """What :func:`dataset` makes, beside being an ``IterableDataset``: a dict of tensors for each batch."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        """The loader that was given."""
        # What this worker process delivers.
        self._part: Loader | None = None

    def begin_epoch(self, epoch: int) -> None:
        """Goes to the first row of an epoch, in this process and in workers that start from now on."""
        self.loader.begin_epoch(epoch)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        from_numpy = import_module("torch").from_numpy
        worker = import_module("torch.utils.data").get_worker_info()
        if worker is None:
            loader = self.loader
        else:
            self._part = loader = self._part or self.loader.part(worker.id, worker.num_workers)
        for batch in loader:
            yield {name: from_numpy(array) for name, array in batch.items()}

    def __reduce__(self) -> tuple[Any, tuple[Loader]]:
        return dataset, (self.loader,)


def dataset(loader: Loader) -> Any:
    """A ``torch.utils.data.IterableDataset`` of a loader's batches; the tensors take the arrays' memory.

    ::

        import manaka.torch
        data = torch.utils.data.DataLoader(manaka.torch.dataset(loader), batch_size=None)

    The loader has threads of its own, so ``num_workers=0`` is the usual choice, and the one under which
    ``loader.cursor()`` is the place of the training loop. With workers each takes its part of the loader's rows, and
    together they deliver all of them; the loader has to stand at the begin of an epoch. Workers that do not persist start
    from the loader of this process each time: call ``begin_epoch`` in front of every epoch then, as with torch's own
    ``set_epoch``.
    """
    torch_data: Any = import_module("torch.utils.data")
    return type("TorchDataset", (Dataset, torch_data.IterableDataset), {})(loader)
