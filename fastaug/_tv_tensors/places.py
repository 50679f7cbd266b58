"""Bounding boxes and key points, which carry the size of their image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from fastaug._tv_tensors.base import TVTensor
from fastaug._tv_tensors.formats import ROTATED, format_name


class BoundingBoxFormat(Enum):
    """The meaning of the numbers of a box, in pixels from the upper left corner of the image; angles are in degrees.

    ``XYXY`` is left, top, right, bottom. ``XYWH`` is left, top, width, height, and ``CXCYWH`` has the middle instead of
    the corner. ``XYWHR`` and ``CXCYWHR`` add an angle. ``XYXYXYXY`` is the four corners that were upper left, upper
    right, lower right and lower left before the rotation.

    Example:
        >>> from fastaug import tv_tensors
        >>> tv_tensors.BoundingBoxFormat["CXCYWH"]
        <BoundingBoxFormat.CXCYWH: 'CXCYWH'>
    """

    XYXY = "XYXY"
    XYWH = "XYWH"
    CXCYWH = "CXCYWH"
    XYWHR = "XYWHR"
    CXCYWHR = "CXCYWHR"
    XYXYXYXY = "XYXYXYXY"


def is_rotated_bounding_format(format: BoundingBoxFormat | str) -> bool:
    """Return whether a format is of rotated boxes: XYWHR, CXCYWHR or XYXYXYXY.

    Args:
        format: a BoundingBoxFormat, or the name of one in upper case. Other strings give False.

    Raises:
        ValueError: neither a BoundingBoxFormat nor a string.

    Example:
        >>> from fastaug import tv_tensors
        >>> tv_tensors.is_rotated_bounding_format("XYWHR"), tv_tensors.is_rotated_bounding_format("XYWH")
        (True, False)
    """
    if not isinstance(format, (BoundingBoxFormat, str)):
        raise ValueError(f"format should be str or BoundingBoxFormat, got {type(format)}")
    return (format.name if isinstance(format, BoundingBoxFormat) else format) in ROTATED


def _wrapped(cls: Any, output: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None, *names: str) -> Any:
    """Return an output with these attributes of the first object of a class among arguments and lists of them."""
    leaves, _ = tree_flatten((tuple(args), tuple((kwargs or {}).values())))
    first = next(leaf for leaf in leaves if isinstance(leaf, cls))
    wrap = partial(cls._wrap, **{name: getattr(first, name) for name in names}, check_dims=False)
    if isinstance(output, torch.Tensor) and not isinstance(output, cls):
        return wrap(output)
    return type(output)(map(wrap, output)) if isinstance(output, (tuple, list)) else output


class BoundingBoxes(TVTensor):
    """The bounding boxes of an image, one a row: a tensor of shape (boxes, numbers).

    The numbers are 4, or 5 or 8 for formats of rotated boxes. One object holds all boxes of a sample, with the
    attributes that transforms need: ``format``, ``canvas_size`` and ``clamping_mode``.

    Args:
        data: anything for ``torch.as_tensor``, of any dtype, but floating point for rotated boxes. One dimension is one
            box. Tensors and arrays share their memory with the result.
        format: a BoundingBoxFormat, or the name of one.
        canvas_size: height and width of the image.
        clamping_mode: how transforms cut boxes to the image: "hard" cuts off the parts outside, "soft" leaves more of
            rotated boxes, and None cuts nothing.
        dtype, device, requires_grad: as in :class:`Image`.

    Raises:
        ValueError: no or more than two dimensions, another ``clamping_mode``, integers with a format of rotated boxes,
            or with a ``format`` that is neither a BoundingBoxFormat nor a string.
        KeyError: an unknown name of a ``format``.
        TypeError: what ``torch.as_tensor`` does not take.

    Example:
        >>> from fastaug import tv_tensors
        >>> tv_tensors.BoundingBoxes([[1, 2, 3, 4]], format="xywh", canvas_size=(60, 80))
        BoundingBoxes([[1, 2, 3, 4]], format=BoundingBoxFormat.XYWH, canvas_size=(60, 80), clamping_mode=soft)
    """

    format: BoundingBoxFormat
    canvas_size: tuple[int, int]
    clamping_mode: str | None

    @classmethod
    def _wrap(
        cls,
        tensor: torch.Tensor,
        *,
        format: BoundingBoxFormat | str,
        canvas_size: tuple[int, int],
        clamping_mode: str | None = "soft",
        check_dims: bool = True,
    ) -> BoundingBoxes:
        if check_dims:
            if tensor.ndim == 1:
                tensor = tensor.unsqueeze(0)
            elif tensor.ndim != 2:
                raise ValueError(f"Expected a 1D or 2D tensor, got {tensor.ndim}D")
        if clamping_mode is not None and clamping_mode not in ("hard", "soft"):
            raise ValueError(f"clamping_mode must be None, hard or soft, got {clamping_mode}.")
        if isinstance(format, str):
            format = BoundingBoxFormat[format_name(format)]
        boxes = tensor.as_subclass(cls)
        boxes.format = format
        boxes.canvas_size = canvas_size
        boxes.clamping_mode = clamping_mode
        return boxes

    @classmethod
    def wrap(cls, tensor: torch.Tensor, like: BoundingBoxes, **kwargs: Any) -> BoundingBoxes:  # type: ignore[override]
        """Return a tensor as boxes with the attributes of others, for :func:`wrap`.

        Args:
            tensor: of shape (boxes, numbers), or (numbers); the result shares its memory.
            like: boxes.
            **kwargs: ``format``, ``canvas_size`` and ``clamping_mode``, where they differ.

        Raises:
            ValueError: another number of dimensions, another ``clamping_mode``.
            KeyError: an unknown name of a ``format``.
        """
        return cls._wrap(
            tensor,
            format=kwargs.get("format", like.format),
            canvas_size=kwargs.get("canvas_size", like.canvas_size),
            clamping_mode=kwargs.get("clamping_mode", like.clamping_mode),
        )

    def __new__(
        cls,
        data: Any,
        *,
        format: BoundingBoxFormat | str,
        canvas_size: tuple[int, int],
        clamping_mode: str | None = "soft",
        dtype: torch.dtype | None = None,
        device: torch.device | str | int | None = None,
        requires_grad: bool | None = None,
    ) -> BoundingBoxes:
        tensor = cls._to_tensor(data, dtype, device, requires_grad)
        if not torch.is_floating_point(tensor) and is_rotated_bounding_format(format):
            raise ValueError(f"Rotated bounding boxes should be floating point tensors, got {tensor.dtype}.")
        return cls._wrap(tensor, format=format, canvas_size=canvas_size, clamping_mode=clamping_mode)

    @classmethod
    def _wrap_output(cls, output: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        # Not `cls`, as in torchvision: a subclass overrides this method for results of its class.
        return _wrapped(BoundingBoxes, output, args, kwargs, "format", "canvas_size", "clamping_mode")

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return self._make_repr(format=self.format, canvas_size=self.canvas_size, clamping_mode=self.clamping_mode)


class KeyPoints(TVTensor):
    """Points in an image, or chains, polygons and skeletons of points: a tensor of shape (..., 2), x before y.

    All points of a sample are in one object, which carries the size of the image, ``canvas_size``.

    Args:
        data: anything for ``torch.as_tensor``, of any dtype. One dimension is one point. Tensors and arrays share their
            memory with the result.
        canvas_size: height and width of the image.
        dtype, device, requires_grad: as in :class:`Image`.

    Raises:
        ValueError: the last of several dimensions is not 2.
        IndexError: no dimensions.
        TypeError: what ``torch.as_tensor`` does not take.

    Example:
        >>> from fastaug import tv_tensors
        >>> tv_tensors.KeyPoints([[1.0, 2.0], [30.0, 40.0]], canvas_size=(60, 80))
        KeyPoints([[ 1.,  2.],
                   [30., 40.]], canvas_size=(60, 80))
    """

    canvas_size: tuple[int, int]

    @classmethod
    def _wrap(cls, tensor: torch.Tensor, *, canvas_size: tuple[int, int], check_dims: bool = True) -> KeyPoints:
        if check_dims:
            if tensor.ndim == 1:
                tensor = tensor.unsqueeze(0)
            elif tensor.shape[-1] != 2:
                raise ValueError(f"Expected a tensor of shape (..., 2), not {tensor.shape}")
        points = tensor.as_subclass(cls)
        points.canvas_size = canvas_size
        return points

    @classmethod
    def wrap(cls, tensor: torch.Tensor, like: KeyPoints, **kwargs: Any) -> KeyPoints:  # type: ignore[override]
        """Return a tensor as points with the canvas of others, for :func:`wrap`.

        Args:
            tensor: of shape (..., 2); the result shares its memory.
            like: points.
            **kwargs: ``canvas_size``, where it differs.

        Raises:
            ValueError: the last of several dimensions is not 2.
            IndexError: no dimensions.
        """
        return cls._wrap(tensor, canvas_size=kwargs.get("canvas_size", like.canvas_size))

    def __new__(
        cls,
        data: Any,
        *,
        canvas_size: tuple[int, int],
        dtype: torch.dtype | None = None,
        device: torch.device | str | int | None = None,
        requires_grad: bool | None = None,
    ) -> KeyPoints:
        return cls._wrap(cls._to_tensor(data, dtype, device, requires_grad), canvas_size=canvas_size)

    @classmethod
    def _wrap_output(cls, output: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        return _wrapped(KeyPoints, output, args, kwargs, "canvas_size")

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return self._make_repr(canvas_size=self.canvas_size)
