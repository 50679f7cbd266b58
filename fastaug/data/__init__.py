"""What stands between images and a training loop: decoded files, pairs, statistics of folders, seeds."""

from __future__ import annotations

from fastaug._names import publish
from fastaug.data._cache import CacheResult, cache
from fastaug.data._paired import PairedRandomCrop
from fastaug.data._seeds import sample_seed
from fastaug.data._statistics import MeanStd, histogram, mean_std

__all__ = ["CacheResult", "MeanStd", "PairedRandomCrop", "cache", "histogram", "mean_std", "sample_seed"]

publish(globals())
