"""Transforms of time."""

from __future__ import annotations

from typing import Any

import torch

from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._transform import Keeping

__all__ = ["UniformTemporalSubsample"]


class UniformTemporalSubsample(Keeping):
    """Some frames of videos, evenly spaced; repeated where there are fewer.

    Args:
        num_samples: how many frames.

    Raises:
        IndexError: when called, a tensor of fewer than 4 dimensions.
        RuntimeError: when called, a negative ``num_samples``.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> video = torch.arange(5).view(5, 1, 1, 1)
        >>> v2.UniformTemporalSubsample(3)(video).flatten()
        tensor([0, 2, 4])
    """

    _transformed_types = (torch.Tensor,)

    def __init__(self, num_samples: int) -> None:
        super().__init__()
        self.num_samples = num_samples

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.uniform_temporal_subsample, inpt, self.num_samples)
