"""Read the transforms of DINOv2. Its GaussianBlur is a RandomApply, and DataAugmentationDINO only calls transforms."""

from __future__ import annotations

from functools import partial

from fastaug.adapters._known import Known
from fastaug.adapters._steps import ToTensorUnlessTensor, register_all

_known = Known({"MaybeToTensor": {"4cacc816a181dd57"}})


_READERS = {"dinov2.data.transforms": {"MaybeToTensor": lambda transform: ToTensorUnlessTensor()}}

install = partial(register_all, _READERS, _known.made)
