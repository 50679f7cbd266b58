"""Questions about samples, and checks of the arguments of transforms."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import PIL.Image
import torch

from fastaug._draft.draws import Draws, TorchDraws
from fastaug._draft.leaf import ImageDraft, Leaf, VideoDraft
from fastaug._image.lazy import LazyImage
from fastaug._sample.sample import Leaves
from fastaug._tv_tensors.choice import chosen, loaded
from fastaug.transforms.v2.functional._meta import get_dimensions, get_size
from fastaug.transforms.v2.functional._utils import is_pure_tensor

__all__ = ["check_type", "get_bounding_boxes", "get_keypoints", "has_all", "has_any", "query_chw", "query_size"]

_TORCH = TorchDraws()


def draws_of(flat_inputs: list[Any]) -> Draws:
    """Return the draws for these leaves: torch itself, where user code passes them."""
    return flat_inputs.draws if isinstance(flat_inputs, Leaves) else _TORCH


class tv_types:
    """A class attribute of types: classes, predicates, and names of tv_tensors, which are looked up on access."""

    def __init__(self, *types: type | Callable[[Any], bool] | str) -> None:
        self.types = types

    def __get__(self, owner: Any, cls: Any = None) -> tuple[Any, ...]:
        return tuple(getattr(chosen(), one) if isinstance(one, str) else one for one in self.types)

    def existing(self) -> tuple[Any, ...]:
        """Return the types that exist by now: before the first use of tv_tensors, no object is of one."""
        classes = loaded()
        types = (one if not isinstance(one, str) else getattr(classes, one, None) for one in self.types)
        return tuple(one for one in types if one is not None)


def type_of(inpt: Any) -> type:
    """Return the class of a leaf, or of the leaf that a draft or handle stands for."""
    cls: type = inpt.type if isinstance(inpt, Leaf) else type(inpt)
    return PIL.Image.Image if cls is LazyImage else cls


def check_type(obj: Any, types_or_checks: tuple[type | Callable[[Any], bool], ...]) -> bool:
    """Return whether an object is of one of the types, or passes one of the checks.

    Args:
        obj: a leaf of a sample.
        types_or_checks: classes, and functions that take the object and return a bool.

    Example:
        >>> from fastaug.transforms import v2
        >>> v2.check_type(3, (str, lambda leaf: leaf == 3))
        True
    """
    cls = type_of(obj)
    for type_or_check in types_or_checks:
        if issubclass(cls, type_or_check) if isinstance(type_or_check, type) else type_or_check(obj):
            return True
    return False


def has_any(flat_inputs: list[Any], *types_or_checks: type | Callable[[Any], bool]) -> bool:
    """Return whether :func:`check_type` is true of any leaf of a sample, for any of the types and checks.

    Example:
        >>> from fastaug.transforms import v2
        >>> v2.has_any([3, "cat"], str, float)
        True
    """
    return any(check_type(inpt, types_or_checks) for inpt in flat_inputs)


def has_all(flat_inputs: list[Any], *types_or_checks: type | Callable[[Any], bool]) -> bool:
    """Return whether :func:`check_type` is true of any leaf of a sample, for each of the types and checks.

    Example:
        >>> from fastaug.transforms import v2
        >>> v2.has_all([3, "cat"], str, float)
        False
    """
    return all(any(check_type(inpt, (one,)) for inpt in flat_inputs) for one in types_or_checks)


def tv_named(*names: str) -> tuple[type, ...]:
    """Return the classes of tv_tensors of these names: none before the first use of tv_tensors."""
    classes = loaded()
    return () if classes is None else tuple(getattr(classes, name) for name in names if hasattr(classes, name))


def _images() -> tuple[Any, ...]:
    return (is_pure_tensor, PIL.Image.Image, *tv_named("Image", "Video"))


def query_chw(flat_inputs: list[Any]) -> tuple[int, int, int]:
    """Return (channels, height, width) of the images and videos among the leaves of a sample.

    Raises:
        TypeError: there is none.
        ValueError: they have several.

    Example:
        >>> import torch
        >>> from fastaug.transforms import v2
        >>> v2.query_chw([torch.zeros(3, 6, 8), "cat"])
        (3, 6, 8)
    """
    sizes: set[Any] = set()
    types = None
    for inpt in flat_inputs:
        if isinstance(inpt, Leaf):
            if isinstance(inpt, (ImageDraft, VideoDraft)):
                sizes.add(inpt.dimensions())
            continue
        if types is None:
            types = _images()
        if check_type(inpt, types):
            sizes.add(tuple(get_dimensions(inpt)))
    chw: tuple[int, int, int] = _only(sizes, "CxHxW", "image or video")
    return chw


def query_size(flat_inputs: list[Any]) -> tuple[int, int]:
    """Return (height, width) of the images, videos, masks, boxes and points among the leaves of a sample.

    Raises:
        TypeError: there is none.
        ValueError: they have several.

    Example:
        >>> from fastaug import tv_tensors
        >>> from fastaug.transforms import v2
        >>> v2.query_size([tv_tensors.KeyPoints([[1.0, 2.0]], canvas_size=(6, 8)), "cat"])
        (6, 8)
    """
    sizes: set[Any] = set()
    types = None
    for inpt in flat_inputs:
        if isinstance(inpt, Leaf):
            draft: Any = inpt
            sizes.add((draft.height, draft.width))
            continue
        if types is None:
            types = (*_images(), *tv_named("Mask", "BoundingBoxes", "KeyPoints"))
        if check_type(inpt, types):
            sizes.add(tuple(get_size(inpt)))
    size: tuple[int, int] = _only(sizes, "HxW", "image, video, mask, bounding box or keypoint")
    return size


def _only(sizes: set[Any], axes: str, leaves: str) -> Any:
    if not sizes:
        raise TypeError(f"No {leaves} was found in the sample")
    if len(sizes) > 1:
        raise ValueError(f"Found multiple {axes} dimensions in the sample: {sorted(sizes)}")
    return sizes.pop()


def get_bounding_boxes(flat_inputs: list[Any]) -> Any:
    """Return the first boxes among the leaves of a sample.

    Raises:
        ValueError: there are none.

    Example:
        >>> from fastaug import tv_tensors
        >>> from fastaug.transforms import v2
        >>> boxes = tv_tensors.BoundingBoxes([[1, 2, 3, 4]], format="XYXY", canvas_size=(6, 8))
        >>> v2.get_bounding_boxes(["cat", boxes]) is boxes
        True
    """
    return _first(flat_inputs, "BoundingBoxes", "bounding boxes")


def get_keypoints(flat_inputs: list[Any]) -> Any:
    """Return the first key points among the leaves of a sample.

    Raises:
        ValueError: there are none.

    Example:
        >>> from fastaug import tv_tensors
        >>> from fastaug.transforms import v2
        >>> points = tv_tensors.KeyPoints([[1.0, 2.0]], canvas_size=(6, 8))
        >>> v2.get_keypoints(["cat", points]) is points
        True
    """
    return _first(flat_inputs, "KeyPoints", "keypoints")


def _first(flat_inputs: list[Any], cls: str, name: str) -> Any:
    types = tv_named(cls)
    for inpt in flat_inputs:
        if issubclass(type_of(inpt), types):
            return inpt
    raise ValueError(f"No {name} were found in the sample")


def _setup_number_or_seq(arg: Any, name: str) -> list[float]:
    """Return two floats: of a number, or of a sequence of one or two."""
    if isinstance(arg, (int, float)):
        return [float(arg), float(arg)]
    if not isinstance(arg, Sequence):
        raise TypeError(f"{name} should be a number or a sequence of numbers. Got {type(arg)}")
    if len(arg) not in (1, 2):
        raise ValueError(f"If {name} is a sequence its length should be 1 or 2. Got {len(arg)}")
    for element in arg:
        if not isinstance(element, (int, float)):
            raise ValueError(f"{name} should be a sequence of numbers. Got {type(element)}")
    return [float(arg[0]), float(arg[-1])]


def _check_fill_arg(fill: Any) -> None:
    if isinstance(fill, dict):
        for value in fill.values():
            _check_fill_arg(value)
    elif fill is not None and not isinstance(fill, (numbers.Number, tuple, list)):
        raise TypeError(
            f"Got inappropriate fill arg, only Numbers, tuples, lists and dicts are allowed. Got {type(fill)}"
        )


def _convert_fill_arg(fill: Any) -> Any:
    return fill if fill is None or isinstance(fill, (int, float)) else [float(value) for value in fill]


def _setup_fill_arg(fill: Any) -> dict[Any, Any]:
    """Return the fills by types and for "others". A user's dictionary is changed in place."""
    _check_fill_arg(fill)
    if not isinstance(fill, dict):
        return {"others": _convert_fill_arg(fill)}
    for key, value in fill.items():
        fill[key] = _convert_fill_arg(value)
    return fill


def _get_fill(fill_dict: dict[Any, Any], inpt_type: type) -> Any:
    """Return the fill for leaves of exactly this type, or None."""
    return fill_dict[inpt_type] if inpt_type in fill_dict else fill_dict.get("others")


def fill_for(transform: Any, inpt: Any) -> Any:
    """Return the fill of a transform for a leaf."""
    return _get_fill(transform._fill, type_of(inpt))


def _check_padding_arg(padding: Any) -> None:
    several = isinstance(padding, (tuple, list)) and len(padding) in (1, 2, 4)
    if not (several and all(isinstance(side, int) for side in padding)) and not isinstance(padding, int):
        raise ValueError(f"Padding must be an int or a 1, 2, or 4 element of tuple or list, got {padding}.")


def _find_labels_default_heuristic(inputs: Any) -> Any:
    """Return the labels of a sample: a dictionary, or a tuple or list whose second item is one, or is the labels.

    In a dictionary they are under "labels", or else under the first key with "label" in it, in any case.
    """
    if isinstance(inputs, (tuple, list)):
        inputs = inputs[1]
    if is_pure_tensor(inputs):
        return inputs
    if not isinstance(inputs, Mapping):
        raise ValueError(
            "When using the default labels_getter, the input passed to forward must be a dictionary or a two-tuple "
            f"whose second item is a dictionary or a tensor, but got {inputs} instead."
        )
    for matches in (lambda key: key == "labels", lambda key: "label" in key):
        for key in inputs:
            if matches(key.lower()):
                return inputs[key]
    raise ValueError(
        "Could not infer where the labels are in the sample. Try passing a callable as the labels_getter parameter? "
        "If there are no labels in the sample by design, pass labels_getter=None."
    )


def _no_labels(inputs: Any) -> None:
    """Return the labels of a sample that has none."""


def _parse_labels_getter(labels_getter: Any) -> Callable[[Any], Any]:
    if labels_getter == "default":
        return _find_labels_default_heuristic
    if labels_getter is None:
        return _no_labels
    if callable(labels_getter):
        getter: Callable[[Any], Any] = labels_getter
        return getter
    raise ValueError(f"labels_getter should either be 'default', a callable, or None, but got {labels_getter}.")


def order_of(flat_inputs: list[Any], order: list[int]) -> Any:
    """Return a permutation as a parameter: a tensor for user code, numbers for drafts."""
    return order if isinstance(flat_inputs, Leaves) else torch.tensor(order)


def settled(inpt: Any) -> Any:
    """Return a leaf itself, or the result of a draft."""
    return inpt.result() if isinstance(inpt, Leaf) else inpt
