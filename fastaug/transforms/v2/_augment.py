"""Erasing, mixing and JPEG."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import PIL.Image
import torch
from torch.nn.functional import one_hot
from torch.utils._pytree import tree_flatten, tree_unflatten

from fastaug import transforms as _v1
from fastaug._draft import recipe
from fastaug._draft.draws import Draws, drawn_from
from fastaug._draft.recipe import Packed
from fastaug._sample.sample import Leaves, Sample
from fastaug._tv_tensors.choice import wrapped
from fastaug.transforms._base import check_ranges
from fastaug.transforms._erasing import check_count, check_share, check_value, draw_box, written_value
from fastaug.transforms._warps import check_lengths
from fastaug.transforms.v2 import _recipe
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._crops import warn_of_passing
from fastaug.transforms.v2._transform import Keeping, Transform, _RandomApplyTransform
from fastaug.transforms.v2._utils import (
    _parse_labels_getter,
    draws_of,
    has_any,
    query_chw,
    query_size,
    tv_named,
)
from fastaug.transforms.v2.functional._utils import is_pure_tensor

__all__ = ["JPEG", "CutMix", "MixUp", "RandomErasing"]


class RandomErasing(_RandomApplyTransform):
    """Tensor images and videos with a random box overwritten, with probability ``p``.

    Draws whether it happens, then area and proportions, up to ten times until the box fits, then the noise, if any, and
    the top row and left column. If no box fits, the sample stays as it is.

    Args:
        scale: range of the area, as a share of the image's.
        ratio: range of height / width.
        value: what is written: a number, one per channel, or "random" for normally distributed noise.
        inplace: write into the tensors that are given.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: another string, ``p`` or ``scale`` out of range; when it happens, wrong length of ``value``.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> image = v2.RandomErasing(p=1.0)(torch.ones(3, 24, 32))
        >>> 0 < (image == 0).sum() < image.numel()
        tensor(True)
    """

    _v1_transform_cls = _v1.RandomErasing

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0.0,
        inplace: bool = False,
    ) -> None:
        super().__init__(p=p)
        check_value(value)
        check_ranges(scale, ratio)
        check_share(scale)
        self.scale = scale
        self.ratio = ratio
        self.value = written_value(value)
        self.inplace = inplace
        self._log_ratio = torch.log(torch.tensor(self.ratio))

    def _extract_params_for_v1_transform(self) -> dict[str, Any]:
        value = "random" if self.value is None else self.value
        return {**super()._extract_params_for_v1_transform(), "value": value}

    def _call_kernel(self, functional: Callable[..., Any], inpt: Any, *args: Any, **kwargs: Any) -> Any:
        warn_of_passing(self, inpt)
        return super()._call_kernel(functional, inpt, *args, **kwargs)

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        channels, height, width = query_chw(flat_inputs)
        check_count(self.value, channels)
        low, high, *_ = self._log_ratio.tolist()
        draws, noisy = draws_of(flat_inputs), self.value is None
        drawn = draw_box(draws, channels, height, width, self.scale, (low, high), noisy, False, self.value)
        return dict(zip("ijhwv", (0, 0, height, width, None) if drawn is None else drawn))

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return inpt if params["v"] is None else self._call_kernel(F.erase, inpt, **params, inplace=self.inplace)

    def _packed(self) -> Packed:
        recipe.truth(self.inplace)
        if self.value is None or not all(map(math.isfinite, self.value)):
            raise recipe.NoRecipe
        bounds = _recipe.logarithms(self._log_ratio)
        scale = recipe.interval(self.scale)
        return recipe.happening(recipe.chance(self.p), "Erasing", scale, bounds, self.value)


class _BaseMixUpCutMix(Transform):
    """Mixes each image of a batch, and its label, with those before it."""

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None, labels_getter: Any = "default") -> None:
        super().__init__()
        self.alpha = float(alpha)
        self._dist = torch.distributions.Beta(torch.tensor([alpha]), torch.tensor([alpha]))
        self.num_classes = num_classes
        self._labels_getter = _parse_labels_getter(labels_getter)

    def forward(self, *inputs: Any) -> Any:
        """Return the batch, mixed, with probabilities as labels."""
        return self._mixed(inputs, self.make_params)

    def _take(self, sample: Sample) -> None:
        def draw(flat_inputs: list[Any]) -> dict[str, Any]:
            leaves = Leaves(flat_inputs)
            leaves.draws = sample.call.draws
            tape = sample.call.tape
            if tape is None:
                return self.make_params(leaves)
            return tape.params(self, lambda: self.make_params(leaves))

        sample.apart(lambda *inputs: self._mixed(inputs, draw), self)

    def _mixed(self, inputs: tuple[Any, ...], draw: Callable[[list[Any]], dict[str, Any]]) -> Any:
        structure = inputs if len(inputs) > 1 else inputs[0]
        flat_inputs, spec = tree_flatten(structure)
        needs = self._needs_transform_list(flat_inputs)
        if has_any(flat_inputs, PIL.Image.Image, *tv_named("BoundingBoxes", "Mask", "KeyPoints")):
            raise ValueError(
                f"{type(self).__name__}() does not support PIL images, bounding boxes, keypoints and masks."
            )
        labels = self._labels_getter(structure)
        self._check_labels(labels)
        params = {"labels": labels, "batch_size": labels.shape[0]}
        params.update(draw([inpt for inpt, needed in zip(flat_inputs, needs) if needed]))
        needs[next(index for index, inpt in enumerate(flat_inputs) if inpt is labels)] = True
        outputs = [self.transform(inpt, params) if needed else inpt for inpt, needed in zip(flat_inputs, needs)]
        return tree_unflatten(outputs, spec)

    def _check_labels(self, labels: Any) -> None:
        if not isinstance(labels, torch.Tensor):
            raise ValueError(f"The labels must be a tensor, but got {type(labels)} instead.")
        if labels.ndim not in (1, 2):
            raise ValueError(
                "labels should be index based with shape (batch_size,) or probability based with shape (batch_size, "
                f"num_classes), but got a tensor of shape {labels.shape} instead."
            )
        if labels.ndim == 2 and self.num_classes is not None and labels.shape[-1] != self.num_classes:
            raise ValueError(
                "When passing 2D labels, the number of elements in last dimension must match num_classes: "
                f"{labels.shape[-1]} != {self.num_classes}. You can Leave num_classes to None."
            )
        if labels.ndim == 1 and self.num_classes is None:
            raise ValueError("num_classes must be passed if the labels are index-based (1D)")

    def _check_image_or_video(self, inpt: torch.Tensor, *, batch_size: int) -> None:
        rank = 5 if isinstance(inpt, tv_named("Video")) else 4
        if inpt.ndim != rank:
            raise ValueError(f"Expected a batched input with {rank} dims, but got {inpt.ndim} dimensions instead.")
        if inpt.shape[0] != batch_size:
            raise ValueError(
                "The batch size of the image or video does not match the batch size of the labels: "
                f"{inpt.shape[0]} != {batch_size}."
            )

    def _draw_share(self, draws: Draws) -> float:
        """Draw from the Beta distribution, as one column of a Dirichlet distribution."""
        draws.release()
        generator = drawn_from(draws.generator)
        if not generator:
            return float(self._dist.sample(()))
        alphas = torch.cat([self._dist.concentration1, self._dist.concentration0])
        return float(torch._sample_dirichlet(alphas, **generator)[0])

    @abstractmethod
    def _mixed_batch(self, batch: torch.Tensor, params: dict[str, Any]) -> torch.Tensor: ...

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if inpt is params["labels"]:
            return self._mixup_label(inpt, lam=params["lam_adjusted" if "box" in params else "lam"])
        if not is_pure_tensor(inpt) and not isinstance(inpt, tv_named("Image", "Video")):
            return inpt
        self._check_image_or_video(inpt, batch_size=params["batch_size"])
        return wrapped(self._mixed_batch(inpt, params), like=inpt)

    def _mixup_label(self, label: torch.Tensor, *, lam: float) -> torch.Tensor:
        if label.ndim == 1:
            label = one_hot(label, num_classes=self.num_classes)  # type: ignore[arg-type]
        if not label.dtype.is_floating_point:
            label = label.float()
        return _blended(label, lam)


def _blended(batch: torch.Tensor, share: float) -> torch.Tensor:
    return batch.roll(1, 0).mul_(1.0 - share).add_(batch.mul(share))


class MixUp(_BaseMixUpCutMix):
    """A batch of images or videos, each blended with the one before it, and so their labels.

    (https://arxiv.org/abs/1710.09412.) Draws the share of each image that stays, one for the batch.

    Args:
        alpha: both parameters of the Beta distribution of that share.
        num_classes: how many classes there are, for labels that are numbers of classes.
        labels_getter: a function of the batch that returns its labels; "default" takes a second argument that is a
            tensor, or the labels under a key with "label" in it.

    Raises:
        ValueError: when called, something that is not a batch of tensors; labels of another length, or not of shape
            (batch,) or (batch, classes); or ``num_classes`` is missing.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> images, labels = v2.MixUp(num_classes=10)(torch.zeros(4, 3, 8, 8), torch.arange(4))
        >>> labels.shape
        torch.Size([4, 10])
    """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"lam": self._draw_share(draws_of(flat_inputs))}

    def _mixed_batch(self, batch: torch.Tensor, params: dict[str, Any]) -> torch.Tensor:
        return _blended(batch, params["lam"])


class CutMix(_BaseMixUpCutMix):
    """A batch of images or videos, each with a box of the one before it, and so their labels.

    (https://arxiv.org/abs/1905.04899.) Draws the share of each image that stays and the box's middle, for the batch.

    Args:
        alpha: both parameters of the Beta distribution of that share.
        num_classes: how many classes there are, for labels that are numbers of classes.
        labels_getter: as in :class:`MixUp`.

    Raises:
        ValueError: as in :class:`MixUp`.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> images, labels = v2.CutMix(num_classes=10)(torch.zeros(4, 3, 8, 8), torch.arange(4))
        >>> labels.shape
        torch.Size([4, 10])
    """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        draws = draws_of(flat_inputs)
        share = self._draw_share(draws)
        height, width = query_size(flat_inputs)
        x, y = draws.randint(0, width), draws.randint(0, height)
        draws.release()
        extent = 0.5 * math.sqrt(1.0 - share)
        half_width, half_height = int(extent * width), int(extent * height)
        left, top = max(x - half_width, 0), max(y - half_height, 0)
        right, bottom = min(x + half_width, width), min(y + half_height, height)
        adjusted = float(1.0 - (right - left) * (bottom - top) / (width * height))
        return {"box": (left, top, right, bottom), "lam_adjusted": adjusted}

    def _mixed_batch(self, batch: torch.Tensor, params: dict[str, Any]) -> torch.Tensor:
        left, top, right, bottom = params["box"]
        output = batch.clone()
        output[..., top:bottom, left:right] = batch.roll(1, 0)[..., top:bottom, left:right]
        return output


class JPEG(Keeping):
    """uint8 images and videos, compressed as JPEG and decoded again.

    Draws the quality, even where there is one only.

    Args:
        quality: 1 to 100; or (least, greatest).

    Raises:
        TypeError: ``quality`` is neither an int nor a sequence.
        ValueError: it is out of range, or not two ints in order.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.JPEG((50, 90))(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    def __init__(self, quality: int | Sequence[int]) -> None:
        super().__init__()
        if isinstance(quality, bool):
            raise TypeError(f"quality can't be bool. Got {quality}")
        if isinstance(quality, int):
            quality = [quality, quality]
        else:
            check_lengths(quality, "quality", (2,))
        if not (1 <= quality[0] <= quality[1] <= 100 and all(isinstance(one, int) for one in quality)):
            raise ValueError(f"quality must be an integer from 1 to 100, got {quality =}")
        self.quality = quality

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        return {"quality": draws_of(flat_inputs).randint(self.quality[0], self.quality[1] + 1)}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.jpeg, inpt, quality=params["quality"])

    def _packed(self) -> Packed:
        return "Jpeg", *self.quality
