"""Frames of videos."""

from __future__ import annotations

from typing import Any

import torch

from fastaug._draft.leaf import ImageDraft, VideoDraft
from fastaug._fallback import v2
from fastaug._image.types import InputT
from fastaug.transforms.v2.functional._make import drafted, functional
from fastaug.transforms.v2.functional._utils import registered

__all__: list[str] = ["uniform_temporal_subsample", "uniform_temporal_subsample_video"]


@functional(ImageDraft, VideoDraft)
def uniform_temporal_subsample(inpt: InputT, num_samples: int) -> InputT:
    """Evenly spaced frames, as :class:`~fastaug.transforms.v2.UniformTemporalSubsample` takes them.

    Args:
        inpt: video or plain tensor, of shape (..., frames, channels, height, width).
        num_samples: how many frames. The first and the last are among them, and some twice where there are not enough.

    Raises:
        IndexError: fewer than 4 dimensions.
        TypeError: an input of a type that has no kernel.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.uniform_temporal_subsample(torch.arange(5).view(5, 1, 1, 1), 3).flatten()
        tensor([0, 2, 4])
    """
    draft: Any = inpt
    if type(draft) is ImageDraft and draft.type is not torch.Tensor:
        return inpt
    return drafted(inpt).uniform_temporal_subsample(num_samples)


@registered(uniform_temporal_subsample, torch.Tensor, "Video")
def uniform_temporal_subsample_video(video: torch.Tensor, num_samples: int) -> torch.Tensor:
    return v2.uniform_temporal_subsample(video.as_subclass(torch.Tensor), num_samples)
