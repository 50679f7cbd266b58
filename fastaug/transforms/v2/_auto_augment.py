"""AutoAugment, RandAugment, TrivialAugment and AugMix: random ops of random strength on one image or video."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import PIL.Image
import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from fastaug import transforms as _v1
from fastaug._draft.draws import Draws
from fastaug._draft.leaf import ImageDraft, PixelDraft
from fastaug._draft.recipe import Packed
from fastaug._program.arguments import as_float32
from fastaug._sample.sample import Sample
from fastaug._tv_tensors.choice import wrapped
from fastaug.transforms._augmix import draw_weights, mixed_natively
from fastaug.transforms._auto_augment import (
    IDENTITY,
    INVERT,
    MIX,
    PAPER,
    WIDE,
    Magnitudes,
    Strengths,
    colours,
    levels,
    nth,
    packed_policies,
    values_of,
)
from fastaug.transforms._auto_augment_policies import AutoAugmentPolicy, Policy, policies_of
from fastaug.transforms.v2 import _recipe
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._arguments import _Fill, _Interpolation
from fastaug.transforms.v2._transform import Keeping, reads_drafts, run
from fastaug.transforms.v2._utils import (
    _get_fill,
    _setup_fill_arg,
    check_type,
    draws_of,
    query_size,
    settled,
    tv_named,
    type_of,
)
from fastaug.transforms.v2.functional._utils import is_pure_tensor

__all__ = ["AugMix", "AutoAugment", "RandAugment", "TrivialAugmentWide"]

#: Names of ops with their magnitudes.
_Ops = Iterator[tuple[str, float]]


def _bits(most: int, fewer: int) -> Magnitudes:
    return lambda bins, height, width: (most - (torch.arange(bins) / ((bins - 1) / fewer))).round().int()


_PAPER: Strengths = {**PAPER, **levels(_bits(8, 4), 1.0)}


def _signed(draws: Draws, magnitude: float, signed: bool) -> float:
    return -magnitude if signed and draws.rand() <= 0.5 else magnitude


class _AutoAugmentBase(Keeping):
    """Ops on the only image or video of a sample."""

    _AUGMENTATION_SPACE: ClassVar[Strengths]

    def __init__(self, *, interpolation: _Interpolation = "nearest", fill: _Fill = None) -> None:
        super().__init__()
        self.interpolation = interpolation
        self.fill = fill
        self._fill = _setup_fill_arg(fill)

    def _extract_params_for_v1_transform(self) -> dict[str, Any]:
        params = super()._extract_params_for_v1_transform()
        if isinstance(params["fill"], dict):
            raise ValueError(f"{type(self).__name__}() can not be scripted for when `fill` is a dictionary.")
        return params

    def forward(self, *inputs: Any) -> Any:
        """The sample with its image or video transformed."""
        if reads_drafts(self):
            return run(self._take, inputs)
        parts, image = self._flatten_and_extract_image_or_video(inputs)
        return self._unflatten_and_insert_image_or_video(parts, self.transform(image, self.make_params([image])))

    def _flatten_and_extract_image_or_video(self, inputs: tuple[Any, ...]) -> tuple[tuple[list[Any], Any, int], Any]:
        """Return (leaves, their structure, the place of the image among them), and the image."""
        flat_inputs, spec = tree_flatten(inputs if len(inputs) > 1 else inputs[0])
        index = self._place(flat_inputs)
        return (flat_inputs, spec, index), flat_inputs[index]

    def _unflatten_and_insert_image_or_video(self, parts: tuple[list[Any], Any, int], image: Any) -> Any:
        flat_inputs, spec, index = parts
        flat_inputs[index] = image
        return tree_unflatten(flat_inputs, spec)

    def _found(self, leaves: list[Any]) -> list[int]:
        return [self._place(leaves)]

    def _place(self, flat_inputs: list[Any]) -> int:
        """Return the place of the only image or video among the leaves."""
        images: tuple[Any, ...] = (PIL.Image.Image, is_pure_tensor, *tv_named("Image", "Video"))
        others = tv_named("BoundingBoxes", "Mask", "KeyPoints")
        found = []
        for index, (inpt, needed) in enumerate(zip(flat_inputs, self._needs_transform_list(flat_inputs))):
            if needed and check_type(inpt, images):
                found.append(index)
            elif issubclass(type_of(inpt), others):
                raise TypeError(f"Inputs of type {type_of(inpt).__name__} are not supported by {type(self).__name__}()")
        if not found:
            raise TypeError("Found no image in the sample.")
        if len(found) > 1:
            raise TypeError(
                "Auto augment transformations are only properly defined for a single image or video, "
                f"but found {len(found)}."
            )
        return found[0]

    def _packed_sampling(self) -> Packed:
        return _recipe.resampling(self.interpolation), _recipe.filling(self)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"ops": self._draw(draws_of(flat_inputs), *query_size(flat_inputs))}

    @abstractmethod
    def _draw(self, draws: Draws, height: int, width: int) -> _Ops: ...

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._applied(inpt, params["ops"])

    def _applied(self, image: Any, ops: _Ops) -> Any:
        for transform_id, magnitude in ops:
            image = self._apply_image_or_video_transform(
                image, transform_id, magnitude, interpolation=self.interpolation, fill=self._fill
            )
        return image

    def _apply_image_or_video_transform(
        self, image: Any, transform_id: str, magnitude: float, interpolation: _Interpolation, fill: dict[Any, Any]
    ) -> Any:
        """Return the image or video after the op of that name."""
        if transform_id == "Identity":
            return image
        colour = _COLOUR_OPS.get(transform_id)
        if colour is not None:
            return colour(image, magnitude)
        fill_ = _get_fill(fill, type_of(image))
        if transform_id == "Rotate":
            return F.rotate(image, angle=magnitude, interpolation=interpolation, fill=fill_)
        if transform_id not in ("ShearX", "ShearY", "TranslateX", "TranslateY"):
            raise ValueError(f"No transform available for {transform_id}")
        translate, shear, center = [0, 0], [0.0, 0.0], None
        axis = 0 if transform_id[-1] == "X" else 1
        if transform_id.startswith("Shear"):
            # A shear by the magnitude itself, where `affine` takes the angle.
            shear[axis], center = math.degrees(math.atan(magnitude)), [0.0, 0.0]
        else:
            translate[axis] = int(magnitude)
        settings: dict[str, Any] = {"interpolation": interpolation, "fill": fill_, "center": center}
        return F.affine(image, angle=0.0, translate=translate, scale=1.0, shear=shear, **settings)


def _solarize(image: Any, magnitude: float) -> Any:
    dtype = image.dtype if isinstance(image, (torch.Tensor, PixelDraft)) else None
    most: Any = 255.0
    if dtype is not None:
        floats = dtype.is_floating_point or dtype.is_complex or dtype is torch.bool
        most = 1 if floats else torch.iinfo(dtype).max
    return F.solarize(image, threshold=most * magnitude)


_COLOUR_OPS: dict[str, Callable[[Any, float], Any]] = {
    "Brightness": lambda image, magnitude: F.adjust_brightness(image, brightness_factor=1.0 + magnitude),
    "Color": lambda image, magnitude: F.adjust_saturation(image, saturation_factor=1.0 + magnitude),
    "Contrast": lambda image, magnitude: F.adjust_contrast(image, contrast_factor=1.0 + magnitude),
    "Sharpness": lambda image, magnitude: F.adjust_sharpness(image, sharpness_factor=1.0 + magnitude),
    "Posterize": lambda image, magnitude: F.posterize(image, bits=int(magnitude)),
    "Solarize": _solarize,
    "AutoContrast": lambda image, magnitude: F.autocontrast(image),
    "Equalize": lambda image, magnitude: F.equalize(image),
    "Invert": lambda image, magnitude: F.invert(image),
}


class AutoAugment(_AutoAugmentBase):
    """Two ops in a row, by a policy that was learned on a dataset (https://arxiv.org/abs/1805.09501).

    Draws the policy, and for each of its two ops whether it happens, and the sign of its strength where it has one.

    Args:
        policy: :class:`AutoAugmentPolicy`.
        interpolation: as in :class:`RandomRotation`, for ops of geometry.
        fill: colour of what lies outside the image, as in :class:`Pad`.

    Raises:
        TypeError: wrong type of ``fill``; when called, boxes, masks or points, or not exactly one image or video.
        ValueError: unknown policy.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.AutoAugment(v2.AutoAugmentPolicy.CIFAR10)(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _v1_transform_cls = _v1.AutoAugment

    _AUGMENTATION_SPACE: ClassVar[Strengths] = {**_PAPER, **INVERT}

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: _Interpolation = "nearest",
        fill: _Fill = None,
    ) -> None:
        super().__init__(interpolation=interpolation, fill=fill)
        self.policy = policy
        self._policies = self._get_policies(policy)

    def _get_policies(self, policy: AutoAugmentPolicy) -> list[Policy]:
        return policies_of(policy)

    def _draw(self, draws: Draws, height: int, width: int) -> _Ops:
        for transform_id, probability, index in self._policies[draws.randint(0, len(self._policies))]:
            if not draws.rand() <= as_float32(probability):
                continue
            magnitudes, signed = self._AUGMENTATION_SPACE[transform_id]
            values = values_of(magnitudes, 10, height, width)
            yield transform_id, 0.0 if values is None else _signed(draws, nth(values, index), signed)

    def _packed(self) -> Packed:
        return packed_policies(self, self._policies)


class RandAugment(_AutoAugmentBase):
    """Some random ops in a row, all of the same strength (https://arxiv.org/abs/1909.13719).

    For each, draws the op, and the sign of its strength where it has one.

    Args:
        num_ops: how many.
        magnitude: their strength, below ``num_magnitude_bins``.
        num_magnitude_bins: how many strengths there are.
        interpolation, fill: as in :class:`AutoAugment`.

    Raises:
        IndexError: when called, ``magnitude`` is out of range.
        TypeError: as in :class:`AutoAugment`.
        ValueError: negative ``num_ops``.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.RandAugment(num_ops=2, magnitude=9)(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _v1_transform_cls = _v1.RandAugment
    _packed = _v1.RandAugment._packed

    _AUGMENTATION_SPACE: ClassVar[Strengths] = {**IDENTITY, **_PAPER}

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: _Interpolation = "nearest",
        fill: _Fill = None,
    ) -> None:
        super().__init__(interpolation=interpolation, fill=fill)
        given: Any = num_ops
        if not isinstance(given, int) or given < 0:
            raise ValueError(f"num_ops should be a non-negative integer, but got {num_ops} instead.")
        self.num_ops = num_ops
        self.magnitude = magnitude
        self.num_magnitude_bins = num_magnitude_bins

    def _draw(self, draws: Draws, height: int, width: int) -> _Ops:
        space = tuple(self._AUGMENTATION_SPACE.items())
        for _ in range(self.num_ops):
            transform_id, (magnitudes, signed) = space[draws.randint(0, len(space))]
            values = values_of(magnitudes, self.num_magnitude_bins, height, width)
            yield transform_id, 0.0 if values is None else _signed(draws, nth(values, self.magnitude), signed)


def _draw_op(
    draws: Draws, space: Strengths, num_bins: int, strengths: int, height: int, width: int
) -> tuple[str, float]:
    """Draw an op, its magnitude out of the first `strengths`, and its sign."""
    transform_id, (magnitudes, signed) = tuple(space.items())[draws.randint(0, len(space))]
    values = values_of(magnitudes, num_bins, height, width)
    if values is None:
        return transform_id, 0.0
    return transform_id, _signed(draws, values[draws.randint(0, strengths)], signed)


class TrivialAugmentWide(_AutoAugmentBase):
    """One random op of random strength (https://arxiv.org/abs/2103.10158).

    Draws the op, its strength where it has one, and then the sign of it.

    Args:
        num_magnitude_bins: how many strengths there are.
        interpolation, fill: as in :class:`AutoAugment`.

    Raises:
        TypeError: as in :class:`AutoAugment`.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.TrivialAugmentWide()(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _v1_transform_cls = _v1.TrivialAugmentWide
    _packed = _v1.TrivialAugmentWide._packed

    _AUGMENTATION_SPACE: ClassVar[Strengths] = {**WIDE, **levels(_bits(8, 6), 1.0)}

    def __init__(
        self, num_magnitude_bins: int = 31, interpolation: _Interpolation = "nearest", fill: _Fill = None
    ) -> None:
        super().__init__(interpolation=interpolation, fill=fill)
        self.num_magnitude_bins = num_magnitude_bins

    def _draw(self, draws: Draws, height: int, width: int) -> _Ops:
        bins = self.num_magnitude_bins
        return iter([_draw_op(draws, self._AUGMENTATION_SPACE, bins, bins, height, width)])


class AugMix(_AutoAugmentBase):
    """The image or video mixed with several chains of random ops on it (https://arxiv.org/abs/1912.02781).

    Draws the weights, then for each chain its length, and for each op of it the op, its strength where it has one, and
    the sign of that. The ops are those that torchvision has for tensors, for PIL images too.

    Args:
        severity: strength of the ops, 1 to 10.
        mixture_width: number of chains.
        chain_depth: ops in a chain; 1 to 3 at random if it is not positive.
        alpha: parameter of the Dirichlet distributions that the weights come from.
        all_ops: with brightness, contrast, saturation and sharpness too.
        interpolation, fill: as in :class:`AutoAugment`.

    Raises:
        TypeError: as in :class:`AutoAugment`.
        ValueError: ``severity`` out of range.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.AugMix()(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _v1_transform_cls = _v1.AugMix

    _PARTIAL_AUGMENTATION_SPACE: ClassVar[Strengths] = {**MIX, **levels(_bits(4, 4), 1.0)}
    _AUGMENTATION_SPACE: ClassVar[Strengths] = {**_PARTIAL_AUGMENTATION_SPACE, **colours(0.9)}

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: _Interpolation = "bilinear",
        fill: _Fill = None,
    ) -> None:
        super().__init__(interpolation=interpolation, fill=fill)
        self._PARAMETER_MAX = 10
        if not 1 <= severity <= self._PARAMETER_MAX:
            raise ValueError(f"The severity must be between [1, {self._PARAMETER_MAX}]. Got {severity} instead.")
        self.severity = severity
        self.mixture_width = mixture_width
        self.chain_depth = chain_depth
        self.alpha = alpha
        self.all_ops = all_ops

    _sample_dirichlet = _v1.AugMix._sample_dirichlet

    def _change(self, sample: Sample) -> None:
        # The image is read and made a tensor of before the first draw.
        (index,) = self._plan(sample)
        leaf = sample.leaves[index]
        if isinstance(leaf, PixelDraft):
            leaf.by_exact_rules()
        sample.leaves[index] = settled(leaf)
        super()._change(sample)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        draws, (height, width) = draws_of(flat_inputs), query_size(flat_inputs)
        batch = _batch_of(settled(flat_inputs[0]))
        shares, weights = draw_weights(self, draws, len(batch), batch.device)
        chains = (self._draw_chain(draws, height, width) for _ in range(self.mixture_width))
        return {"shares": shares[:, 0], "weights": weights, "chains": chains}

    def _draw_chain(self, draws: Draws, height: int, width: int) -> _Ops:
        space = self._AUGMENTATION_SPACE if self.all_ops else self._PARTIAL_AUGMENTATION_SPACE
        depth = self.chain_depth if self.chain_depth > 0 else draws.randint(1, 4)
        for _ in range(depth):
            yield _draw_op(draws, space, self._PARAMETER_MAX, self.severity, height, width)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        image = settled(inpt)
        batch = _batch_of(image)
        mixed = self._mixed(batch, params)
        if not isinstance(image, torch.Tensor):
            return F.to_pil_image(mixed[0])
        return wrapped(mixed.reshape(image.shape), like=image)

    def _mixed(self, batch: torch.Tensor, params: dict[str, Any]) -> torch.Tensor:
        shares, weights = params["shares"], params["weights"]
        # A single image takes a shorter way through the native core than a batch of one.
        start = batch[0] if len(batch) == 1 and batch.ndim == 4 else batch
        chains = [self._chain(start, ops) for ops in params["chains"]]
        if start is not batch and shares.dtype is weights.dtype is torch.float32:
            mixed: torch.Tensor | None = mixed_natively(start, chains, [shares.item(), *weights[0].tolist()])
            if mixed is not None:
                return mixed[None]
        each_image = [len(batch)] + [1] * (batch.ndim - 1)
        mixture: torch.Tensor = shares.reshape(each_image) * batch
        for number, chain in enumerate(chains):
            mixture.add_(weights[:, number].reshape(each_image) * chain)
        return mixture.to(dtype=batch.dtype)

    def _chain(self, image: torch.Tensor, ops: _Ops) -> torch.Tensor:
        if not reads_drafts(self):
            chain: torch.Tensor = self._applied(image[None] if image.ndim == 3 else image, ops)
            return chain
        draft = self._applied(ImageDraft(image), ops)
        if isinstance(draft, ImageDraft):
            # They are mixed, so the samples have the order of the image's.
            draft.core.channel_last = image.ndim == 3 and not image.is_contiguous()
        chain = settled(draft)
        return chain


def _batch_of(image: Any) -> torch.Tensor:
    """Return an image or video as a batch of plain tensors."""
    rank = 5 if isinstance(image, tv_named("Video")) else 4
    tensor: torch.Tensor = image if isinstance(image, torch.Tensor) else F.pil_to_tensor(image)
    plain = tensor.as_subclass(torch.Tensor)
    return plain.reshape([1] * max(rank - plain.ndim, 0) + list(plain.shape))
