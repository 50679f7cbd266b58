"""AugMix: chains of random ops, mixed with the image."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from fastaug import _C
from fastaug._draft.draft import Draft
from fastaug._draft.draws import Draws, drawn_from
from fastaug._draft.interpolation import InterpolationMode
from fastaug._draft.replaced import TransformDraft
from fastaug._program.eager import addressable, traced
from fastaug._program.kinds import TENSOR
from fastaug.transforms import functional as F
from fastaug.transforms._auto_augment import MIXES, Fill, Ops, PolicyTransform, Strengths, Table, apply_op, draw_op
from fastaug.transforms._base import check_fill, fill_of

__all__ = ["AugMix"]

#: For each image of a batch a row of shares, of the original and the mixture, and a row of weights, of each chain:
#: tensors when torch traces, or a user's `_sample_dirichlet` gives another dtype than torch's default. Then chains.
Drawn = tuple[list[list[float]] | Tensor, list[list[float]] | Tensor, Iterable[Ops]]

_CPU = torch.device("cpu")


class AugMix(PolicyTransform):
    """The image mixed with several chains of random ops on it (https://arxiv.org/abs/1912.02781).

    Draws the weights, then for each chain its length, and for each op of it the op, its strength where it has one, and
    the sign of that. Images have 1 or 3 channels and 8 bits; the ops are torchvision's for tensors in every container.

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

    _drawn = ("shares", "weights", "chains")
    _apart = True
    _shown = ("severity", "mixture_width", "chain_depth", "alpha", "all_ops", "interpolation", "fill")

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

    @property
    def _AUGMENTATION_SPACE(self) -> Strengths:
        return MIXES[bool(self.all_ops)]

    def _sample_dirichlet(self, params: Tensor) -> Tensor:
        return torch._sample_dirichlet(params)

    def _sample(self, draft: Draft) -> Drawn:
        check_fill(self.fill, draft)
        draws = draft.call.draws
        table = self._table(draft, self._PARAMETER_MAX, (draft.height, draft.width))
        count = draft.lead[0] if draft.lead else 1
        draft.load()  # torchvision makes a tensor of the image before it draws
        own = draft.kind == draft.source == TENSOR and draft.device is None
        device = draft.image.device if own else _CPU
        shares, weights = draw_weights(self, draws, count, device)
        chains = (self._draw_chain(draws, table) for _ in range(self.mixture_width))
        if shares.dtype is weights.dtype is torch.get_default_dtype() and not draft.call.traced:
            return shares.tolist(), weights.tolist(), chains
        return shares, weights, chains

    def _draw_chain(self, draws: Draws, table: Table) -> Iterator[tuple[str, float]]:
        depth = self.chain_depth if self.chain_depth > 0 else draws.randint(1, 4)
        for _ in range(depth):
            yield draw_op(draws, table, self.severity)

    def _draft(self, draft: Draft, params: Drawn) -> None:
        draft.apart(partial(self._mix, params))

    def _mix(self, drawn: Drawn, draft: Draft) -> None:
        channels, _, _ = draft.dimensions()
        fill = fill_of(self.fill, draft.kind, channels)
        call = draft.call
        draft.by_exact_rules()
        image = draft.flush()
        draft.call = call
        if isinstance(image, Tensor):
            draft.reset(self._mixed(image, drawn, fill))
        elif isinstance(image, Image.Image):
            draft.reset(F.to_pil_image(self._mixed(F.pil_to_tensor(image), drawn, fill)))
        else:
            if image.dtype != np.uint8:
                draft.refuse_array()
            planes = torch.from_numpy(image[None] if image.ndim == 2 else image.transpose(2, 0, 1).copy())
            mixed = self._mixed(planes, drawn, fill)
            draft.reset((mixed[0] if image.ndim == 2 else mixed.permute(1, 2, 0).contiguous()).numpy())

    def _mixed(self, image: Tensor, drawn: Drawn, fill: Any) -> Tensor:
        shares, weights, ops = drawn
        batch = image.view([1] * max(4 - image.ndim, 0) + list(image.shape))
        count = batch.size(0)
        if len(shares) not in (1, count):
            raise ValueError(f"These shares are for a batch of {len(shares)} images. Got a batch of {count}")
        # A single image takes a shorter way through the native core than a batch of one.
        single = count == 1 and batch.ndim == 4
        start = batch[0] if single else batch
        chains = [self._chain(start, each, fill) for each in ops]
        if single and not traced() and not isinstance(shares, Tensor) and torch.get_default_dtype() is torch.float32:
            mixed = mixed_natively(start, chains, [shares[0][0], *weights[0]])
            if mixed is not None:
                return mixed.view(image.shape)
        shares, weights = (torch.as_tensor(part, device=batch.device) for part in (shares, weights))
        each_image = [len(shares)] + [1] * (batch.ndim - 1)
        mixture = shares[:, 0].view(each_image) * batch
        for number, chain in enumerate(chains):
            mixture.add_(weights[:, number].view(each_image) * chain)
        return mixture.view(image.shape).to(dtype=image.dtype)

    def _chain(self, image: Tensor, ops: Ops, fill: Any) -> Tensor:
        draft = TransformDraft(image)
        for name, magnitude in ops:
            apply_op(draft, name, magnitude, self.interpolation, fill)
        # The pixels of a result lie in memory as those of a PIL image do, if those of the image do: they are mixed.
        draft.core.channel_last = image.ndim == 3 and not image.is_contiguous()
        result: Tensor = draft.finish()
        return result

    def forward(self, orig_img: Any) -> Any:
        """The mixed image, in the container of ``orig_img``."""
        return super().forward(orig_img)


_sample_dirichlet = AugMix._sample_dirichlet


def draw_weights(transform: Any, draws: Draws, count: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Draw for each image the shares of it and of the mixture, and the weights of the chains."""
    draws.release()
    own = getattr(transform._sample_dirichlet, "__func__", None) is _sample_dirichlet
    generator = drawn_from(draws.generator)

    def draw(length: int) -> Any:
        params = torch.tensor([transform.alpha] * length, device=device).expand(count, -1)
        if own and generator and params.is_cpu:
            return torch._sample_dirichlet(params, **generator)
        return transform._sample_dirichlet(params)

    shares, weights = draw(2), draw(transform.mixture_width)
    return shares, weights * shares[:, 1].reshape([count, -1])


def mixed_natively(image: Tensor, chains: list[Tensor], weights: list[float]) -> Tensor | None:
    """The weighted sum; None where torch must form it."""
    images = [image, *chains]
    if image.dtype is not torch.uint8 or not image.is_cpu or not addressable(image) or not image.numel():
        return None
    if not all(map(math.isfinite, weights)):
        return None
    if not (image.is_contiguous() or image.permute(1, 2, 0).is_contiguous()):
        return None
    if any(chain.stride() != image.stride() or chain.shape != image.shape for chain in chains):
        return None
    result = torch.empty_like(image)
    _C.mix([part.data_ptr() for part in images], weights, image.numel(), result.data_ptr())
    return result
