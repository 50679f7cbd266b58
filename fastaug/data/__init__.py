"""What stands between images and a training loop: pairs, and statistics of folders."""

from __future__ import annotations

from fastaug._load.report import LoaderReport
from fastaug._load.seeds import sample_seed
from fastaug._names import publish
from fastaug.data._loader import DataLoader
from fastaug.data._paired import PairedRandomCrop
from fastaug.data._statistics import MeanStd, mean_std

__all__ = ["DataLoader", "LoaderReport", "MeanStd", "PairedRandomCrop", "mean_std", "sample_seed"]

publish(globals())
