"""Normalization, filters, user functions, and removal of invalid boxes and points."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import PIL.Image
import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from fastaug import transforms as _v1
from fastaug._draft import recipe
from fastaug._draft.draws import drawing_from, python_random
from fastaug._draft.leaf import Leaf, MaskDraft
from fastaug._sample.sample import Sample
from fastaug._tv_tensors.boxes import BoxesDraft
from fastaug._tv_tensors.choice import wrapped
from fastaug._tv_tensors.points import PointsDraft
from fastaug.transforms._blur import checked_kernel
from fastaug.transforms._convert import check_matrix, length_for
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._transform import Keeping, Transform, reads_drafts
from fastaug.transforms.v2._utils import (
    _find_labels_default_heuristic,
    _no_labels,
    _parse_labels_getter,
    _setup_number_or_seq,
    draws_of,
    get_bounding_boxes,
    get_keypoints,
    has_any,
    settled,
    tv_named,
    tv_types,
    type_of,
)
from fastaug.transforms.v2.functional._utils import is_pure_tensor

__all__ = ["GaussianBlur", "GaussianNoise", "Identity", "Lambda", "LinearTransformation", "Normalize"]
__all__ += ["SanitizeBoundingBoxes", "SanitizeKeyPoints"]

_LabelsGetter = Callable[[Any], Any] | str | None


class Identity(Keeping):
    """The sample as it is.

    Example:
        >>> from fastaug.transforms import v2
        >>> v2.Identity()("anything")
        'anything'
    """

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return inpt


class Lambda(Transform):
    """A function, applied to each leaf of some types.

    Args:
        lambd: the function, of one leaf.
        *types: of the leaves that it gets; all by default.

    Example:
        >>> from fastaug.transforms import v2
        >>> v2.Lambda(str.upper, str)({"label": "cat", "index": 3})
        {'label': 'CAT', 'index': 3}
    """

    _transformed_types = (object,)

    def __init__(self, lambd: Callable[[Any], Any], *types: type) -> None:
        super().__init__()
        self.lambd = lambd
        self.types = types or self._transformed_types

    def _change(self, sample: Sample) -> None:
        # The function may draw from torch's generator, and return a structure instead of a leaf.
        sample.call.draws.release()
        super()._change(sample)
        sample.regroup()

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self.lambd(settled(inpt)) if issubclass(type_of(inpt), self.types) else inpt

    def _takes_images(self) -> bool:
        """Return whether the function gets images or videos."""
        images = PIL.Image.Image, torch.Tensor, *tv_named("Image", "Video")
        of_pil = any(issubclass(one, PIL.Image.Image) for one in self.types)
        return of_pil or any(issubclass(one, self.types) for one in images)

    def extra_repr(self) -> str:
        name = getattr(self.lambd, "__name__", None)
        types = f"types={[cls.__name__ for cls in self.types]}"
        return f"{name}, {types}" if name else types


class _OfTensors(Keeping):
    """The base of transforms that refuse PIL images."""

    def check_inputs(self, sample: list[Any]) -> None:
        """Raise a TypeError if there are PIL images in the sample."""
        if has_any(sample, PIL.Image.Image):
            raise TypeError(f"{type(self).__name__}() does not support PIL images.")


class LinearTransformation(_OfTensors):
    """Tensor images and videos, flattened, minus a mean and times a square matrix, such as whitening needs.

    Args:
        transformation_matrix: tensor of shape (D, D), with D = channels * height * width.
        mean_vector: tensor of shape (D,).

    Raises:
        TypeError: when called, a sample with PIL images.
        ValueError: shapes, devices or dtypes that do not match; when called, an image of another size or device.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.LinearTransformation(torch.eye(4) * 2, torch.ones(4))(torch.ones(1, 2, 2) * 3)
        tensor([[[4., 4.],
                 [4., 4.]]])
    """

    _by_functional = True
    _v1_transform_cls = _v1.LinearTransformation

    _transformed_types = tv_types(is_pure_tensor, "Image", "Video")

    def __init__(self, transformation_matrix: torch.Tensor, mean_vector: torch.Tensor) -> None:
        super().__init__()
        check_matrix(transformation_matrix, mean_vector)
        self.transformation_matrix = transformation_matrix
        self.mean_vector = mean_vector

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        inpt = settled(inpt)
        length = length_for(inpt, self.transformation_matrix, self.mean_vector)
        flat = inpt.reshape(-1, length) - self.mean_vector
        output = torch.mm(flat, self.transformation_matrix.to(flat.dtype)).reshape(inpt.shape)
        return wrapped(output, like=inpt)


class Normalize(_OfTensors):
    """(image - mean) / std for each channel of float tensors, images and videos.

    Args:
        mean, std: one number per channel.
        inplace: write into the tensor that is given.

    Raises:
        TypeError: when called, a sample with PIL images, or not floating point.
        ValueError: when called, fewer than 3 dimensions, or a standard deviation of 0.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.Normalize([0.5], [0.25])(torch.ones(1, 1, 2))
        tensor([[[2., 2.]]])
    """

    _by_functional = True
    _v1_transform_cls = _v1.Normalize

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        super().__init__()
        self.mean = list(mean)
        self.std = list(std)
        self.inplace = inplace

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.normalize, inpt, mean=self.mean, std=self.std, inplace=self.inplace)


class GaussianBlur(Keeping):
    """Images and videos blurred by a Gaussian of random width.

    Draws one standard deviation for both axes. The border is mirrored.

    Args:
        kernel_size: (width, height) of the kernel in pixels, both odd; or a number or sequence of one for both.
        sigma: (low, high) of the standard deviation in pixels, or a number.

    Raises:
        TypeError: ``sigma`` is neither a number nor a sequence.
        ValueError: a size that is even or not positive, a ``sigma`` that is not positive, or wrong lengths.

    Example:
        >>> from fastaug.transforms import v2
        >>> from PIL import Image
        >>> v2.GaussianBlur(5, sigma=(0.1, 2.0))(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _v1_transform_cls = _v1.GaussianBlur

    def __init__(self, kernel_size: int | Sequence[int], sigma: int | float | Sequence[float] = (0.1, 2.0)) -> None:
        super().__init__()
        self.kernel_size = checked_kernel(kernel_size)
        self.sigma = _setup_number_or_seq(sigma, "sigma")
        if not 0.0 < self.sigma[0] <= self.sigma[1]:
            raise ValueError(f"sigma values should be positive and of the form (min, max). Got {self.sigma}")

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        sigma = draws_of(flat_inputs).uniform(self.sigma[0], self.sigma[1])
        return {"sigma": [sigma, sigma]}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.gaussian_blur, inpt, self.kernel_size, **params)


class GaussianNoise(Keeping):
    """Tensor images and videos with normally distributed noise added, another to each.

    Args:
        mean: of the noise, where 1 is the whole range of samples.
        sigma: its standard deviation.
        clip: keep samples in their range; otherwise those of uint8 wrap around.

    Raises:
        ValueError: when called, a PIL image, a negative ``sigma``, or a dtype that is neither uint8 nor floating point.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.GaussianNoise(mean=0.5, sigma=0.0)(torch.tensor([[[0, 200]]], dtype=torch.uint8))
        tensor([[[127, 255]]], dtype=torch.uint8)
    """

    def __init__(self, mean: float = 0.0, sigma: float = 0.1, clip: bool = True) -> None:
        super().__init__()
        self.mean = mean
        self.sigma = sigma
        self.clip = clip

    def _change(self, sample: Sample) -> None:
        # It draws for each leaf while it transforms: from what the thread draws from.
        draws = sample.call.draws
        draws.release()
        tape = sample.call.tape
        generator = None if tape is None else tape.noise(self, draws)
        if generator is None:
            generator = draws.generator
        with nullcontext() if generator is None else drawing_from(generator, python_random()):
            super()._change(sample)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self._call_kernel(F.gaussian_noise, inpt, mean=self.mean, sigma=self.sigma, clip=self.clip)


class _Sanitizer(Keeping):
    """The base of transforms that remove invalid items from leaves and labels."""

    _spares_images = True

    labels_getter: _LabelsGetter
    _labels_getter: Callable[[Any], Any]

    #: The class of drafts, and the names of the classes of tv_tensors from which items are removed.
    _drafts: type[BoxesDraft | PointsDraft]
    _classes: tuple[str, ...]

    @abstractmethod
    def _valid(self, draft: Any) -> torch.Tensor:
        """Return which items are valid, a bool for each."""

    def _has_labels(self) -> bool:
        """Return whether labels are looked for.

        Raises:
            NoRecipe: by a function of the user's.
        """
        if self._labels_getter not in (_find_labels_default_heuristic, _no_labels):
            raise recipe.NoRecipe
        return self._labels_getter is not _no_labels

    def _params_for(self, flat_inputs: list[Any], labels: Any) -> dict[str, Any]:
        """Return which items are "valid", and the "labels", a tuple of tensors or None."""
        places = (get_bounding_boxes if self._drafts is BoxesDraft else get_keypoints)(flat_inputs)
        for label in labels or ():
            if places.shape[0] != label.shape[0]:
                name = "boxes" if self._drafts is BoxesDraft else "keypoints"
                raise ValueError(
                    f"Number of {name} (shape={places.shape}) must match the number of labels. "
                    f"Found labels with shape={label.shape})."
                )
        draft = places if isinstance(places, self._drafts) else self._drafts(places)
        return {"valid": self._valid(draft), "labels": labels}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if isinstance(inpt, self._drafts):
            inpt.keep(params["valid"])
            return inpt
        is_label = params["labels"] is not None and any(inpt is label for label in params["labels"])
        if not is_label and not issubclass(type_of(inpt), tv_named(*self._classes)):
            return inpt
        inpt = settled(inpt)
        output = inpt[params["valid"]]
        return output if is_label else wrapped(output, like=inpt)

    def forward(self, *inputs: Any) -> Any:
        """The sample without what is not valid."""
        if reads_drafts(self):
            return self._called_with(inputs)
        structure = inputs if len(inputs) > 1 else inputs[0]
        labels = _tensors(self._labels_getter(structure))
        flat_inputs, spec = tree_flatten(structure)
        params = self._params_for(flat_inputs, labels)
        return tree_unflatten([self.transform(inpt, params) for inpt in flat_inputs], spec)

    def _take(self, sample: Sample) -> None:
        labels = None
        if self._labels_getter is not _no_labels:
            labels = self._labels_of(sample)
        leaves = sample.leaves
        params = self._params_for(leaves, labels)
        sample.leaves = [self.transform(leaf, params) for leaf in leaves]
        sample.rebuilt = True

    def _labels_of(self, sample: Sample) -> Any:
        if self._labels_getter is _find_labels_default_heuristic:
            labels = self._labels_getter(sample.structure())
            parts = labels if isinstance(labels, (tuple, list)) else (labels,)
            if not any(isinstance(part, Leaf) for part in parts):
                return _tensors(labels)
        # A function of the user's gets the leaves themselves, of which it may return some.
        sample.restart(sample.finish(False))
        return _tensors(self._labels_getter(sample.given))


def _tensors(labels: Any) -> Any:
    """Return labels as a tuple or list of tensors, or None."""
    if labels is None:
        return None
    parts = labels if isinstance(labels, (tuple, list)) else (labels,)
    for part in parts:
        if not isinstance(part, torch.Tensor):
            raise ValueError(
                f"The labels in the input to forward() must be a tensor or None, got {type(part)} instead."
            )
    return parts


class SanitizeBoundingBoxes(_Sanitizer):
    """The sample without boxes that are too small or reach out of the image, nor their labels and masks.

    Masks are those with as many rows in their first dimension as there are boxes.

    Args:
        min_size: least width and height of boxes.
        min_area: their least area.
        labels_getter: a function of the sample that returns its labels: a tensor or a sequence of them, with a row for
            each box. "default" finds them under a key with "label" in it; None means that there are none.

    Raises:
        ValueError: ``min_size`` or ``min_area`` below 1, or another ``labels_getter``; when called, a sample without
            boxes, or labels that are not found, are not tensors, or have another length.

    Example:
        >>> import torch
        >>> from fastaug import tv_tensors
        >>> from fastaug.transforms import v2
        >>> boxes = tv_tensors.BoundingBoxes([[0, 0, 5, 5], [3, 3, 3, 8]], format="XYXY", canvas_size=(10, 10))
        >>> v2.SanitizeBoundingBoxes()({"boxes": boxes, "labels": torch.tensor([7, 8])})["labels"]
        tensor([7])
    """

    _drafts, _classes = BoxesDraft, ("BoundingBoxes", "Mask")

    def __init__(self, min_size: float = 1.0, min_area: float = 1.0, labels_getter: _LabelsGetter = "default") -> None:
        super().__init__()
        for name, least in (("min_size", min_size), ("min_area", min_area)):
            if least < 1:
                raise ValueError(f"{name} must be >= 1, got {least}.")
        self.min_size = min_size
        self.min_area = min_area
        self.labels_getter = labels_getter
        self._labels_getter = _parse_labels_getter(labels_getter)

    def _valid(self, draft: BoxesDraft) -> torch.Tensor:
        return draft.sanitize(self.min_size, self.min_area)

    def _packed(self) -> recipe.Packed:
        limits = recipe.number(self.min_size), recipe.number(self.min_area)
        return "SanitizeBoundingBoxes", *limits, self._has_labels()

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if isinstance(inpt, MaskDraft) and inpt.select(params["valid"]):
            return inpt
        try:
            return super().transform(inpt, params)
        except IndexError:  # another number of items
            return inpt


class SanitizeKeyPoints(_Sanitizer):
    """The sample without key points outside of the image, nor their labels.

    Of groups of points, of shape (groups, ..., 2), those with a point outside are removed.

    Args:
        labels_getter: as in :class:`SanitizeBoundingBoxes`; by default there are no labels.

    Raises:
        ValueError: another ``labels_getter``; when called, a sample without key points, or labels that are not found,
            are not tensors, or have another length.

    Example:
        >>> from fastaug import tv_tensors
        >>> from fastaug.transforms import v2
        >>> points = tv_tensors.KeyPoints([[1.0, 2.0], [3.0, 12.0]], canvas_size=(10, 10))
        >>> v2.SanitizeKeyPoints()(points).tolist()
        [[1.0, 2.0]]
    """

    _drafts, _classes = PointsDraft, ("KeyPoints",)

    def __init__(self, labels_getter: _LabelsGetter = None) -> None:
        super().__init__()
        self.labels_getter = labels_getter
        self._labels_getter = _parse_labels_getter(labels_getter)

    def _valid(self, draft: PointsDraft) -> torch.Tensor:
        return draft.sanitize()

    def _packed(self) -> recipe.Packed:
        return "SanitizeKeyPoints", self._has_labels()
