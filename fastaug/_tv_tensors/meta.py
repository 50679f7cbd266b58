"""torchvision's functions of boxes and points, as plain tensors or tv_tensors."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from fastaug._tv_tensors.boxes import BoxesDraft
from fastaug._tv_tensors.choice import chosen, is_tv_tensor, wrapped
from fastaug._tv_tensors.formats import converted, format_name
from fastaug._tv_tensors.maps import Canvas
from fastaug._tv_tensors.points import PointsDraft


def _is_plain(inpt: Any, name: str, error: type[Exception], **given: Any) -> bool:
    """Return whether an input is a plain tensor instead of a tv_tensor.

    Raises:
        ValueError: a plain tensor without an attribute, or a tv_tensor with one.
        error: another input.
    """
    if isinstance(inpt, Tensor) and not is_tv_tensor(inpt):
        if any(value is None for value in given.values()):
            raise ValueError(f"A plain tensor needs {' and '.join(given)}.")
        return True
    if not (is_tv_tensor(inpt) and isinstance(inpt, getattr(chosen(), name))):
        raise error(f"The input should be a plain tensor or tv_tensors.{name}, got {type(inpt)}.")
    if any(value is not None for value in given.values()):
        raise ValueError(f"tv_tensors.{name} have their own {' and '.join(given)}, which should not be passed.")
    return False


def _boxes(inpt: Any, error: type[Exception], **given: Any) -> BoxesDraft:
    plain = _is_plain(inpt, "BoundingBoxes", error, **given)
    return BoxesDraft(None, inpt, **given) if plain else BoxesDraft(inpt)


def _points(inpt: Any, error: type[Exception], canvas_size: Any) -> PointsDraft:
    plain = _is_plain(inpt, "KeyPoints", error, canvas_size=canvas_size)
    return PointsDraft(None, inpt, canvas_size) if plain else PointsDraft(inpt)


def convert_bounding_box_format(
    inpt: Any, old_format: Any = None, new_format: Any = None, inplace: bool = False
) -> Any:
    """Convert boxes to another format.

    Args:
        inpt: BoundingBoxes, or a tensor of shape (..., 4), or (..., 5) or (..., 8) in formats of rotated boxes; any
            dtype. Halves of integers are truncated.
        old_format: a BoundingBoxFormat or its name, for a plain tensor only.
        new_format: the new format, which is required.
        inplace: whether to overwrite the input.

    Returns:
        BoundingBoxes of the new format, or a tensor.

    Raises:
        TypeError: no ``new_format``; an input that is neither a plain tensor nor BoundingBoxes.
        ValueError: a plain tensor without ``old_format``, or BoundingBoxes with one; one format is of rotated boxes,
            and the other is not.
        KeyError: an unknown name of a format.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.convert_bounding_box_format(torch.tensor([[1, 2, 5, 8]]), "XYXY", "XYWH")
        tensor([[1, 2, 4, 6]])
    """
    if new_format is None:
        raise TypeError("convert_bounding_box_format() missing 1 required argument: 'new_format'")
    new = format_name(new_format)
    if _is_plain(inpt, "BoundingBoxes", TypeError, old_format=old_format):
        return converted(inpt, format_name(old_format), new, inplace)
    return wrapped(converted(inpt.as_subclass(Tensor), format_name(inpt.format), new, inplace), inpt, format=new)


def clamp_bounding_boxes(
    inpt: Any, format: Any = None, canvas_size: Canvas | None = None, clamping_mode: str | None = "auto"
) -> Any:
    """Cut boxes to the canvas.

    Args:
        inpt: BoundingBoxes, or a tensor of boxes of any dtype.
        format: of a plain tensor.
        canvas_size: (height, width), of a plain tensor.
        clamping_mode: "soft" gives the smallest box around the part inside, "hard" the largest one inside; they differ
            for rotated boxes only. None changes nothing. "auto" is the mode of BoundingBoxes.

    Returns:
        BoundingBoxes or a tensor, a copy.

    Raises:
        TypeError: an input that is neither a plain tensor nor BoundingBoxes.
        ValueError: another ``clamping_mode``; a plain tensor without one of the others, or with "auto"; BoundingBoxes
            with a format or a canvas.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.clamp_bounding_boxes(torch.tensor([[-1, 2, 50, 8]]), "XYXY", (10, 20), "soft")
        tensor([[ 0,  2, 20,  8]])
    """
    if clamping_mode not in ("soft", "hard", "auto", None):
        raise ValueError(f"clamping_mode must be soft, hard, auto or None, got {clamping_mode}")
    draft = _boxes(inpt, TypeError, format=format, canvas_size=canvas_size)
    draft.clamp(clamping_mode)
    return wrapped(draft.plain(), inpt)


def clamp_keypoints(inpt: Any, canvas_size: Canvas | None = None) -> Any:
    """Move points onto the pixels of the canvas.

    Args:
        inpt: KeyPoints, or a tensor of shape (..., 2) of any dtype.
        canvas_size: (height, width), of a plain tensor.

    Returns:
        KeyPoints or a tensor, a copy, with x from 0 to width - 1 and y from 0 to height - 1.

    Raises:
        TypeError: an input that is neither a plain tensor nor KeyPoints.
        ValueError: a plain tensor without a canvas, or KeyPoints with one.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.clamp_keypoints(torch.tensor([[-1, 2], [50, 8]]), (10, 20))
        tensor([[ 0,  2],
                [19,  8]])
    """
    draft = _points(inpt, TypeError, canvas_size)
    draft.clamp()
    return wrapped(draft.plain(), inpt)


def sanitize_bounding_boxes(
    bounding_boxes: Any,
    format: Any = None,
    canvas_size: Canvas | None = None,
    min_size: float = 1.0,
    min_area: float = 1.0,
) -> tuple[Any, Tensor]:
    """Return the boxes that are large enough and wholly on the canvas, and a mask of them.

    Args:
        bounding_boxes: BoundingBoxes, or a tensor of shape (boxes, numbers) of any dtype.
        format: of a plain tensor.
        canvas_size: (height, width), of a plain tensor.
        min_size: least width and height of a box.
        min_area: least area of a box.

    Returns:
        BoundingBoxes or a tensor, and a bool tensor of shape (boxes,), for labels and the like.

    Raises:
        ValueError: an input that is neither a plain tensor nor BoundingBoxes; a plain tensor without a format or a
            canvas, BoundingBoxes with one.
        KeyError: an unknown name of a format.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.sanitize_bounding_boxes(torch.tensor([[1, 2, 5, 8], [3, 3, 3, 9]]), "XYXY", (10, 20))
        (tensor([[1, 2, 5, 8]]), tensor([ True, False]))
    """
    draft = _boxes(bounding_boxes, ValueError, format=format, canvas_size=canvas_size)
    valid = draft.sanitize(min_size, min_area)
    return wrapped(draft.plain()[valid], bounding_boxes), valid


def sanitize_keypoints(key_points: Any, canvas_size: Canvas | None = None) -> tuple[Any, Tensor]:
    """Return the points, or groups of points, that are wholly on the canvas, and a mask of them.

    Args:
        key_points: KeyPoints, or a tensor of shape (..., 2) of any dtype. With three dimensions or more, the first one
            counts groups, which are kept or removed whole.
        canvas_size: (height, width), of a plain tensor.

    Returns:
        KeyPoints or a tensor, and a bool tensor with one value for each point or group.

    Raises:
        ValueError: an input that is neither a plain tensor nor KeyPoints; a plain tensor without a canvas, KeyPoints
            with one.

    Example:
        >>> import torch
        >>> from fastaug.transforms.v2 import functional as F
        >>> F.sanitize_keypoints(torch.tensor([[1, 2], [50, 8]]), (10, 20))
        (tensor([[1, 2]]), tensor([ True, False]))
    """
    draft = _points(key_points, ValueError, canvas_size)
    valid = draft.sanitize()
    return wrapped(draft.plain()[valid], key_points), valid
