"""Bounding boxes and key points: coordinates in an image whose size they carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any, TypeVar

import torch
from torch.utils._pytree import tree_flatten

from fastaug._tv_tensors.base import TVTensor

_Place = TypeVar("_Place", bound=TVTensor)


class BoundingBoxFormat(Enum):
    """What the numbers of a box are, in pixels from the upper left corner of the image; angles are in degrees.

    ``XYXY`` is left, top, right, bottom. ``XYWH`` is left, top, width, height, and ``CXCYWH`` has the middle in place
    of the corner. ``XYWHR`` and ``CXCYWHR`` are these with an angle. ``XYXYXYXY`` is four corners: those that were
    upper left, upper right, lower right and lower left before the box was turned.

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


_ROTATED = (BoundingBoxFormat.XYWHR, BoundingBoxFormat.CXCYWHR, BoundingBoxFormat.XYXYXYXY)


def is_rotated_bounding_format(format: BoundingBoxFormat | str) -> bool:
    """Whether boxes of a format may be turned: XYWHR, CXCYWHR and XYXYXYXY.

    Args:
        format: a BoundingBoxFormat, or the name of one in upper case. Other strings name no such format.

    Raises:
        ValueError: neither a BoundingBoxFormat nor a string.

    Example:
        >>> from fastaug import tv_tensors
        >>> tv_tensors.is_rotated_bounding_format("XYWHR"), tv_tensors.is_rotated_bounding_format("XYWH")
        (True, False)
    """
    if not isinstance(format, (BoundingBoxFormat, str)):
        raise ValueError(f"format should be str or BoundingBoxFormat, got {type(format)}")
    return format in _ROTATED or format in [one.name for one in _ROTATED]


def _first(cls: type[_Place], args: Sequence[Any], kwargs: Mapping[str, Any] | None) -> _Place:
    """The first object of a class among arguments, in lists of them too: attributes of a result are its attributes.

    Boxes of two formats in one function are a mistake that nothing can put right.
    """
    leaves, _ = tree_flatten((tuple(args), tuple((kwargs or {}).values())))
    return next(leaf for leaf in leaves if isinstance(leaf, cls))


class BoundingBoxes(TVTensor):
    """The bounding boxes of an image, one a row: a tensor of shape (boxes, numbers).

    The numbers are 4, or 5 or 8 for formats of turned boxes. All boxes of a sample are in one object, which carries
    what transforms need to know about them: ``format``, ``canvas_size`` and ``clamping_mode``.

    Args:
        data: what ``torch.as_tensor`` takes, of any dtype, but floating point for turned boxes. One dimension is one
            box. Tensors and arrays share their memory with the result.
        format: a BoundingBoxFormat, or the name of one.
        canvas_size: height and width of the image.
        clamping_mode: what transforms do to boxes that reach out of the image: "hard" cuts off what is outside, "soft"
            does so too but leaves more of turned boxes, and None leaves all of them as they are.
        dtype: of the result; that of ``data`` by default.
        device: of the result; that of ``data`` by default.
        requires_grad: whether autograd records what is done; by default as a tensor given as ``data`` has it.

    Raises:
        ValueError: no or more than two dimensions, another ``clamping_mode``, integers with a format of turned boxes,
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
            names = BoundingBoxFormat.__members__
            if format.upper() not in names:
                raise KeyError(f"format must be one of {', '.join(names)}, got {format!r}")
            format = names[format.upper()]
        boxes = tensor.as_subclass(cls)
        boxes.format = format
        boxes.canvas_size = canvas_size
        boxes.clamping_mode = clamping_mode
        return boxes

    @classmethod
    def wrap(cls, tensor: torch.Tensor, like: BoundingBoxes, **kwargs: Any) -> BoundingBoxes:  # type: ignore[override]
        """A tensor as boxes with the attributes of others; what :func:`wrap` calls.

        Args:
            tensor: of shape (boxes, numbers), or (numbers); the result has its memory.
            like: boxes.
            **kwargs: ``format``, ``canvas_size`` and ``clamping_mode``, where they differ.

        Returns:
            Boxes of this class.

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
        first = _first(BoundingBoxes, args, kwargs)
        # Not `cls`, as in torchvision: a class derived from this one overrides this method to get its own back.
        wrapped = partial(
            BoundingBoxes._wrap,
            format=first.format,
            canvas_size=first.canvas_size,
            clamping_mode=first.clamping_mode,
            check_dims=False,
        )
        if isinstance(output, torch.Tensor) and not isinstance(output, BoundingBoxes):
            return wrapped(output)
        return type(output)(map(wrapped, output)) if isinstance(output, (tuple, list)) else output

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return self._make_repr(format=self.format, canvas_size=self.canvas_size, clamping_mode=self.clamping_mode)


class KeyPoints(TVTensor):
    """Points in an image, or chains, polygons and skeletons of points: a tensor of shape (..., 2), x before y.

    All points of a sample are in one object, which carries the size of the image, ``canvas_size``.

    Args:
        data: what ``torch.as_tensor`` takes, of any dtype. One dimension is one point. Tensors and arrays share their
            memory with the result.
        canvas_size: height and width of the image.
        dtype: of the result; that of ``data`` by default.
        device: of the result; that of ``data`` by default.
        requires_grad: whether autograd records what is done; by default as a tensor given as ``data`` has it.

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
        """A tensor as points with the canvas of others; what :func:`wrap` calls.

        Args:
            tensor: of shape (..., 2); the result has its memory.
            like: points.
            **kwargs: ``canvas_size``, where it differs.

        Returns:
            Points of this class.

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
        first = _first(KeyPoints, args, kwargs)
        wrapped = partial(KeyPoints._wrap, canvas_size=first.canvas_size, check_dims=False)
        if isinstance(output, torch.Tensor) and not isinstance(output, KeyPoints):
            return wrapped(output)
        return type(output)(map(wrapped, output)) if isinstance(output, (tuple, list)) else output

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return self._make_repr(canvas_size=self.canvas_size)
