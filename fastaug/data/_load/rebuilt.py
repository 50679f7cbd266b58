"""What a library gets of a loader that it builds another one of, torch's own, around the same data set."""

from __future__ import annotations

import sys
import warnings
from multiprocessing.sharedctypes import RawArray
from typing import Any

from torch.utils.data import Dataset, get_worker_info

from fastaug._draft.generators import seed_all, untouched
from fastaug.data._load.seeds import sample_seed

# Lightning makes a loader of the same class anew, with all of its arguments.
_LIBRARIES = ("accelerate",)

_LOST = ("threads", "num_threads", "device")


class OwnDraws(Dataset[Any]):
    """A data set whose samples have draws of their own, in any loader: ``rng="sample"`` without its loader.

    A loader that calls ``set_epoch`` of its data set, as accelerate's does, says which epoch it is.
    """

    def __init__(self, dataset: Any, seed: int, epoch: int) -> None:
        self.dataset = dataset
        self._seed = seed
        self._epoch = RawArray("Q", [epoch])  # workers that stay see the next one

    def set_epoch(self, epoch: int) -> None:
        self._epoch[0] = epoch
        if hasattr(self.dataset, "set_epoch"):
            self.dataset.set_epoch(epoch)

    def __getitem__(self, index: Any) -> Any:
        seed = sample_seed(self._seed, self._epoch[0], index)
        if get_worker_info() is not None:
            seed_all(seed)
            return self.dataset[index]
        with untouched():
            seed_all(seed)
            return self.dataset[index]

    def __len__(self) -> int:
        return len(self.dataset)


def dataset_for(loader: Any, dataset: Any, depth: int) -> Any:
    """The data set of a loader, for whatever code asks for it, so many frames above.

    A library that builds a loader of torch's around it gets one that has the draws of the loader. A warning names the
    arguments that are lost.
    """
    asking = str(sys._getframe(depth).f_globals.get("__name__")).partition(".")[0]
    if asking not in _LIBRARIES:
        return dataset
    given = {name: getattr(loader, name, None) for name in _LOST}
    lost = [
        f"{name}={str(value) if name == 'device' else value!r}" for name, value in given.items() if value is not None
    ]
    if lost and not loader._warned:
        loader._warned = True
        warnings.warn(
            f"fastaug.data.DataLoader: {asking} builds a loader of torch's around the data set, which does not keep "
            f"{', '.join(lost)}",
            stacklevel=depth + 1,
        )
    if loader.rng != "sample" or isinstance(dataset, OwnDraws):
        return dataset
    return OwnDraws(dataset, loader.seed, loader._next_epoch)
