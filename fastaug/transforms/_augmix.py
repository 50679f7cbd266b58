"""AugMix: chains of random ops, mixed with the image."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from fastaug import _C
from fastaug._draft import Draft
from fastaug._draft_tensor import TensorDraft
from fastaug._interpolation import InterpolationMode
from fastaug.transforms import functional as F
from fastaug.transforms._auto_augment import Fill, Space, Table, apply_op, mix_space, table_of
from fastaug.transforms._base import Transform, fill_of

__all__ = ["AugMix"]


class AugMix(Transform):
    """The image mixed with several chains of random ops on it (https://arxiv.org/abs/1912.02781).

    Draws the weights, then for each chain its length, and for each op of it the op, its strength where it has one, and
    the sign of that. Images have 1 or 3 channels and 8 bits; in every container, PIL images too, the ops are those that
    torchvision has for tensors.

    Args:
        severity: strength of the ops, 1 to 10.
        mixture_width: number of chains.
        chain_depth: ops in a chain; 1 to 3 at random if it is not positive.
        alpha: parameter of the Dirichlet distributions that the weights come from.
        all_ops: with brightness, contrast, saturation and sharpness too.
        interpolation: NEAREST or BILINEAR, for ops of geometry.
        fill: colour of what lies outside the image: a number, one per channel, or None for 0.

    Raises:
        ValueError: ``severity`` out of range.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.AugMix()(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        fill: Fill = None,
    ) -> None:
        super().__init__()
        self._PARAMETER_MAX = 10
        if not 1 <= severity <= self._PARAMETER_MAX:
            raise ValueError(f"The severity must be between [1, {self._PARAMETER_MAX}]. Got {severity} instead.")
        self.severity = severity
        self.mixture_width = mixture_width
        self.chain_depth = chain_depth
        self.alpha = alpha
        self.all_ops = all_ops
        self.interpolation = interpolation
        self.fill = fill

    def _augmentation_space(self, num_bins: int, image_size: tuple[int, int]) -> Space:
        return mix_space(num_bins, image_size, self.all_ops)

    def _table(self, image_size: tuple[int, int]) -> Table:
        return table_of(
            self, AugMix, _space_of_all if self.all_ops else _space_of_some, self._PARAMETER_MAX, image_size
        )

    def _sample_dirichlet(self, params: Tensor) -> Tensor:
        return torch._sample_dirichlet(params)

    def _draft(self, draft: Draft) -> None:
        channels, height, width = draft.dimensions()
        fill = fill_of(self.fill, draft.kind, channels)
        image = draft.flush()
        if isinstance(image, Tensor):
            draft.reset(self._mixed(image, (height, width), fill))
        elif isinstance(image, Image.Image):
            draft.reset(F.to_pil_image(self._mixed(F.pil_to_tensor(image), (height, width), fill)))
        else:
            if image.dtype != np.uint8:
                draft.refuse_array()
            planes = torch.from_numpy(image[None] if image.ndim == 2 else image.transpose(2, 0, 1).copy())
            mixed = self._mixed(planes, (height, width), fill)
            draft.reset((mixed[0] if image.ndim == 2 else mixed.permute(1, 2, 0).contiguous()).numpy())

    def _mixed(self, image: Tensor, image_size: tuple[int, int], fill: Any) -> Tensor:
        table = self._table(image_size)
        batch = image.view([1] * max(4 - image.ndim, 0) + list(image.shape))
        count = batch.size(0)
        each = [count] + [1] * (batch.ndim - 1)
        device = batch.device
        # How much of the original and of the mixture; then how much of each chain.
        shares = self._sample_dirichlet(torch.tensor([self.alpha, self.alpha], device=device).expand(count, -1))
        weights = self._sample_dirichlet(
            torch.tensor([self.alpha] * self.mixture_width, device=device).expand(count, -1)
        ) * shares[:, 1].view([count, -1])
        # A single image takes a shorter way through the native core than a batch of one.
        single = count == 1 and batch.ndim == 4
        start = batch[0] if single else batch
        chains = [self._chain(start, table, fill) for _ in range(self.mixture_width)]
        if single and shares.dtype is weights.dtype is torch.float32:
            mixed = _mixed_natively(start, chains, [shares[0, 0].item(), *weights[0].tolist()])
            if mixed is not None:
                return mixed.view(image.shape)
        mixture = shares[:, 0].view(each) * batch
        for number, chain in enumerate(chains):
            mixture.add_(weights[:, number].view(each) * chain)
        return mixture.view(image.shape).to(dtype=image.dtype)

    def _chain(self, image: Tensor, table: Table, fill: Any) -> Tensor:
        draft = TensorDraft(image)
        # The pixels of a result lie in memory as those of a PIL image do, if those of the image do.
        draft.channel_last = image.ndim == 3 and not image.is_contiguous()
        draw = torch.empty(1, dtype=torch.int64)
        depth = self.chain_depth if self.chain_depth > 0 else int(draw.random_(1, 4).item())
        for _ in range(depth):
            name, magnitudes, signed = table[int(draw.random_(len(table)).item())]
            magnitude = 0.0 if magnitudes is None else magnitudes[int(draw.random_(self.severity).item())]
            if signed and draw.random_(2).item():
                magnitude = -magnitude
            apply_op(draft, name, magnitude, self.interpolation, fill)
        result: Tensor = draft.finish()
        return result

    def forward(self, orig_img: Any) -> Any:
        """The mixed image, in the container of ``orig_img``."""
        return super().forward(orig_img)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(severity={self.severity}, mixture_width={self.mixture_width}, "
            f"chain_depth={self.chain_depth}, alpha={self.alpha}, all_ops={self.all_ops}, "
            f"interpolation={self.interpolation}, fill={self.fill})"
        )


def _mixed_natively(image: Tensor, chains: list[Tensor], weights: list[float]) -> Tensor | None:
    """The weighted sum; None where torch must form it."""
    images = [image, *chains]
    if image.dtype is not torch.uint8 or not image.is_cpu or not all(map(math.isfinite, weights)):
        return None
    if not (image.is_contiguous() or image.permute(1, 2, 0).is_contiguous()):
        return None
    if any(chain.stride() != image.stride() or chain.shape != image.shape for chain in chains):
        return None
    result = torch.empty_like(image)
    _C.mix([part.data_ptr() for part in images], weights, image.numel(), result.data_ptr())
    return result


def _space_of_all(bins: int, image_size: tuple[int, int]) -> Space:
    return mix_space(bins, image_size, True)


def _space_of_some(bins: int, image_size: tuple[int, int]) -> Space:
    return mix_space(bins, image_size, False)
