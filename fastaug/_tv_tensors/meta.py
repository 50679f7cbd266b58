"""torchvision's functions of boxes and points that take plain tensors and tv_tensors alike."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from fastaug._tv_tensors import boxes, points
from fastaug._tv_tensors.choice import loaded
from fastaug._tv_tensors.formats import clamping_mode_of, converted, format_name
from fastaug._tv_tensors.maps import Canvas


def _is_pure(inpt: Any) -> bool:
    """Whether it is a tensor, and none that says what it holds."""
    classes = loaded()
    return isinstance(inpt, Tensor) and not (classes is not None and isinstance(inpt, classes.TVTensor))


def _is_a(inpt: Any, name: str) -> bool:
    classes = loaded()
    return classes is not None and isinstance(inpt, getattr(classes, name))


def _wrapped(tensor: Tensor, like: Any, **kwargs: Any) -> Any:
    classes: Any = loaded()
    return classes.wrap(tensor, like=like, **kwargs)


def get_size_bounding_boxes(bounding_box: Any) -> list[int]:
    """[height, width] of the canvas that BoundingBoxes carry."""
    return list(bounding_box.canvas_size)


def get_size_keypoints(keypoints: Any) -> list[int]:
    """[height, width] of the canvas that KeyPoints carry."""
    return list(keypoints.canvas_size)


def convert_bounding_box_format(
    inpt: Any, old_format: Any = None, new_format: Any = None, inplace: bool = False
) -> Any:
    """The same boxes in another format.

    Args:
        inpt: BoundingBoxes, or a tensor of shape (..., 4), or (..., 5) or (..., 8) in formats of turned boxes; any
            dtype. Integers are cut off where halves are lost.
        old_format: the format of a plain tensor, a BoundingBoxFormat or the name of one; BoundingBoxes have theirs.
        new_format: the format that is wanted; it is required.
        inplace: whether the input may be written over.

    Returns:
        BoundingBoxes of the new format, or a tensor.

    Raises:
        TypeError: no ``new_format``; an input that is neither a plain tensor nor BoundingBoxes.
        ValueError: a plain tensor without ``old_format``, or BoundingBoxes with one; one format is of turned boxes, and
            the other is not.
        KeyError: an unknown name of a format.

    Example:
        >>> import torch
        >>> from fastaug._tv_tensors.meta import convert_bounding_box_format
        >>> convert_bounding_box_format(torch.tensor([[1, 2, 5, 8]]), "XYXY", "XYWH")
        tensor([[1, 2, 4, 6]])
    """
    if new_format is None:
        raise TypeError("convert_bounding_box_format() missing 1 required argument: 'new_format'")
    new = format_name(new_format)
    if _is_pure(inpt):
        if old_format is None:
            raise ValueError("For pure tensor inputs, `old_format` has to be passed.")
        return converted(inpt, format_name(old_format), new, inplace)
    if not _is_a(inpt, "BoundingBoxes"):
        raise TypeError(
            f"Input can either be a plain tensor or a bounding box tv_tensor, but got {type(inpt)} instead."
        )
    if old_format is not None:
        raise ValueError("For bounding box tv_tensor inputs, `old_format` must not be passed.")
    return _wrapped(converted(inpt.as_subclass(Tensor), format_name(inpt.format), new, inplace), inpt, format=new)


def clamp_bounding_boxes(
    inpt: Any, format: Any = None, canvas_size: Canvas | None = None, clamping_mode: str | None = "auto"
) -> Any:
    """Boxes cut to the canvas.

    Args:
        inpt: BoundingBoxes, or a tensor of boxes of any dtype.
        format: of a plain tensor.
        canvas_size: (height, width), of a plain tensor.
        clamping_mode: "soft" leaves the smallest box around what is inside, "hard" the largest one inside, which for
            boxes that are not turned is the same; None leaves all as it is, and "auto" is what BoundingBoxes have.

    Returns:
        BoundingBoxes or a tensor, a copy.

    Raises:
        TypeError: an input that is neither a plain tensor nor BoundingBoxes.
        ValueError: another ``clamping_mode``; a plain tensor without one of the others, or with "auto"; BoundingBoxes
            with a format or a canvas.

    Example:
        >>> import torch
        >>> from fastaug._tv_tensors.meta import clamp_bounding_boxes
        >>> clamp_bounding_boxes(torch.tensor([[-1, 2, 50, 8]]), "XYXY", (10, 20), "soft")
        tensor([[ 0,  2, 20,  8]])
    """
    if clamping_mode not in ("soft", "hard", "auto", None):
        raise ValueError(f"clamping_mode must be soft, hard, auto or None, got {clamping_mode}")
    if _is_pure(inpt):
        if format is None or canvas_size is None or clamping_mode == "auto":
            raise ValueError("For pure tensor inputs, `format`, `canvas_size` and `clamping_mode` have to be passed.")
        return boxes.clamped(inpt, format, canvas_size, clamping_mode)
    if not _is_a(inpt, "BoundingBoxes"):
        raise TypeError(
            f"Input can either be a plain tensor or a bounding box tv_tensor, but got {type(inpt)} instead."
        )
    if format is not None or canvas_size is not None:
        raise ValueError("For bounding box tv_tensor inputs, `format` and `canvas_size` must not be passed.")
    mode = clamping_mode_of(inpt) if clamping_mode == "auto" else clamping_mode
    return _wrapped(boxes.clamped(inpt.as_subclass(Tensor), inpt.format, inpt.canvas_size, mode), inpt)


def clamp_keypoints(inpt: Any, canvas_size: Canvas | None = None) -> Any:
    """Points moved onto the pixels of the canvas.

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
        >>> from fastaug._tv_tensors.meta import clamp_keypoints
        >>> clamp_keypoints(torch.tensor([[-1, 2], [50, 8]]), (10, 20))
        tensor([[ 0,  2],
                [19,  8]])
    """
    if _is_pure(inpt):
        if canvas_size is None:
            raise ValueError("For pure tensor inputs, `canvas_size` has to be passed.")
        return points.clamped(inpt, canvas_size)
    if not _is_a(inpt, "KeyPoints"):
        raise TypeError(f"Input can either be a plain tensor or a keypoints tv_tensor, but got {type(inpt)} instead.")
    if canvas_size is not None:
        raise ValueError("For keypoints tv_tensor inputs, `canvas_size` must not be passed.")
    return _wrapped(points.clamped(inpt.as_subclass(Tensor), inpt.canvas_size), inpt)


def sanitize_bounding_boxes(
    bounding_boxes: Any,
    format: Any = None,
    canvas_size: Canvas | None = None,
    min_size: float = 1.0,
    min_area: float = 1.0,
) -> tuple[Any, Tensor]:
    """The boxes that are large enough and wholly on the canvas, and which of them these are.

    Args:
        bounding_boxes: BoundingBoxes, or a tensor of shape (boxes, numbers) of any dtype.
        format: of a plain tensor.
        canvas_size: (height, width), of a plain tensor.
        min_size: the least width and height of a box that is kept.
        min_area: its least area.

    Returns:
        BoundingBoxes or a tensor, and a bool tensor of shape (boxes,), for what else belongs to the boxes.

    Raises:
        ValueError: an input that is neither a plain tensor nor BoundingBoxes; a plain tensor without a format or a
            canvas, BoundingBoxes with one.
        KeyError: an unknown name of a format.

    Example:
        >>> import torch
        >>> from fastaug._tv_tensors.meta import sanitize_bounding_boxes
        >>> sanitize_bounding_boxes(torch.tensor([[1, 2, 5, 8], [3, 3, 3, 9]]), "XYXY", (10, 20))
        (tensor([[1, 2, 5, 8]]), tensor([ True, False]))
    """
    given = f"Got format={format} and canvas_size={canvas_size}."
    if _is_pure(bounding_boxes):
        if format is None or canvas_size is None:
            raise ValueError(
                f"format and canvas_size cannot be None if bounding_boxes is a pure tensor. {given} "
                "Set those to appropriate values or pass bounding_boxes as a tv_tensors.BoundingBoxes object."
            )
        valid = boxes.valid_boxes(bounding_boxes, format, canvas_size, min_size, min_area)
        return bounding_boxes[valid], valid
    if not _is_a(bounding_boxes, "BoundingBoxes"):
        raise ValueError(
            f"bounding_boxes must be a tv_tensors.BoundingBoxes instance or a pure tensor, got {type(bounding_boxes)}."
        )
    if format is not None or canvas_size is not None:
        raise ValueError(
            "format and canvas_size must be None when bounding_boxes is a tv_tensors.BoundingBoxes instance. "
            f"{given} Leave those to None or pass bounding_boxes as a pure tensor."
        )
    plain = bounding_boxes.as_subclass(Tensor)
    valid = boxes.valid_boxes(plain, bounding_boxes.format, bounding_boxes.canvas_size, min_size, min_area)
    return _wrapped(plain[valid], bounding_boxes), valid


def sanitize_keypoints(key_points: Any, canvas_size: Canvas | None = None) -> tuple[Any, Tensor]:
    """The points, or groups of points, that are wholly on the canvas, and which of them these are.

    Args:
        key_points: KeyPoints, or a tensor of shape (..., 2) of any dtype. From three dimensions on the first one counts
            groups, which are kept or removed whole.
        canvas_size: (height, width), of a plain tensor.

    Returns:
        KeyPoints or a tensor, and a bool tensor with one value for each point or group.

    Raises:
        ValueError: an input that is neither a plain tensor nor KeyPoints; a plain tensor without a canvas, KeyPoints
            with one.

    Example:
        >>> import torch
        >>> from fastaug._tv_tensors.meta import sanitize_keypoints
        >>> sanitize_keypoints(torch.tensor([[1, 2], [50, 8]]), (10, 20))
        (tensor([[1, 2]]), tensor([ True, False]))
    """
    if _is_pure(key_points):
        if canvas_size is None:
            raise ValueError(
                "canvas_size cannot be None if key_points is a pure tensor. "
                "Set it to an appropriate value or pass key_points as a tv_tensors.KeyPoints object."
            )
        valid = points.valid_points(key_points, canvas_size)
        return key_points[valid], valid
    if not _is_a(key_points, "KeyPoints"):
        raise ValueError(
            f"key_points must be a tv_tensors.KeyPoints instance or a pure tensor, got {type(key_points)}."
        )
    if canvas_size is not None:
        raise ValueError(
            "canvas_size must be None when key_points is a tv_tensors.KeyPoints instance. "
            f"Got canvas_size={canvas_size}. Leave it to None or pass key_points as a pure tensor."
        )
    plain = key_points.as_subclass(Tensor)
    valid = points.valid_points(plain, key_points.canvas_size)
    return _wrapped(plain[valid], key_points), valid
