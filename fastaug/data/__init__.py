"""Loaders, pairs of images, folders of decoded images, and statistics."""

from __future__ import annotations

from fastaug._names import publish
from fastaug.data._cache import CacheResult, cache
from fastaug.data._index import IndexResult, index
from fastaug.data._load.choice import LoaderChoice
from fastaug.data._load.report import LoaderReport
from fastaug.data._load.seeds import sample_seed
from fastaug.data._loader import DataLoader
from fastaug.data._paired import PairedRandomCrop
from fastaug.data._statistics import MeanStd, histogram, mean_std
from fastaug.data._tar import TarDataset

__all__ = [
    "CacheResult",
    "DataLoader",
    "IndexResult",
    "LoaderChoice",
    "LoaderReport",
    "MeanStd",
    "PairedRandomCrop",
    "TarDataset",
    "cache",
    "histogram",
    "index",
    "mean_std",
    "sample_seed",
]

publish(globals())
