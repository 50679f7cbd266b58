"""Transforms of boxes' formats, and of what lies outside of the image."""

from __future__ import annotations

from typing import Any

from fastaug._draft.recipe import NoRecipe, Packed
from fastaug._tv_tensors.boxes import BoxesDraft
from fastaug._tv_tensors.formats import PLAIN, format_name
from fastaug._tv_tensors.points import PointsDraft
from fastaug.transforms.v2 import functional as F
from fastaug.transforms.v2._transform import Keeping
from fastaug.transforms.v2._utils import tv_types

__all__ = ["ClampBoundingBoxes", "ClampKeyPoints", "ConvertBoundingBoxFormat", "SetClampingMode"]


def _named(mode: Any) -> str:
    """Return the name of a clamping mode for the core."""
    if mode not in (None, "soft", "hard"):
        raise NoRecipe
    return mode or "none"


class _OfPlaces(Keeping):
    """The base of transforms of boxes, or of points."""

    _spares_images = True


class ConvertBoundingBoxFormat(_OfPlaces):
    """Boxes in another format.

    Args:
        format: member of ``tv_tensors.BoundingBoxFormat``, or its name.

    Raises:
        KeyError: no format of this name.
        ValueError: when called, boxes that are turned, to a format that is not, or the other way round.

    Example:
        >>> from fastaug import tv_tensors
        >>> from fastaug.transforms import v2
        >>> boxes = tv_tensors.BoundingBoxes([[1.0, 2.0, 5.0, 8.0]], format="XYXY", canvas_size=(10, 10))
        >>> v2.ConvertBoundingBoxFormat("XYWH")(boxes).tolist()
        [[1.0, 2.0, 4.0, 6.0]]
    """

    _transformed_types = tv_types("BoundingBoxes")

    def __init__(self, format: Any) -> None:
        super().__init__()
        self.format = format

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if isinstance(inpt, BoxesDraft):
            inpt.convert_bounding_box_format(self.format)
            return inpt
        return F.convert_bounding_box_format(inpt, new_format=self.format)

    def _packed(self) -> Packed:
        name = format_name(self.format)
        if name not in PLAIN:
            raise NoRecipe
        return "ConvertBoundingBoxFormat", PLAIN.index(name)


class ClampBoundingBoxes(_OfPlaces):
    """Boxes without what lies outside of the image.

    Args:
        clamping_mode: "soft", "hard" or None for none, as ``tv_tensors.BoundingBoxes`` have it; "auto" for what the
            boxes have.

    Raises:
        ValueError: when called, another mode.

    Example:
        >>> from fastaug import tv_tensors
        >>> from fastaug.transforms import v2
        >>> boxes = tv_tensors.BoundingBoxes([[-1.0, 2.0, 15.0, 8.0]], format="XYXY", canvas_size=(10, 10))
        >>> v2.ClampBoundingBoxes()(boxes).tolist()
        [[0.0, 2.0, 10.0, 8.0]]
    """

    _transformed_types = tv_types("BoundingBoxes")

    def __init__(self, clamping_mode: str | None = "auto") -> None:
        super().__init__()
        self.clamping_mode = clamping_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if isinstance(inpt, BoxesDraft):
            inpt.clamp(self.clamping_mode)
            return inpt
        return F.clamp_bounding_boxes(inpt, clamping_mode=self.clamping_mode)

    def _packed(self) -> Packed:
        return "ClampBoundingBoxes", None if self.clamping_mode == "auto" else _named(self.clamping_mode)


class ClampKeyPoints(_OfPlaces):
    """Key points moved into the image where they lie outside.

    Example:
        >>> from fastaug import tv_tensors
        >>> from fastaug.transforms import v2
        >>> v2.ClampKeyPoints()(tv_tensors.KeyPoints([[-1.0, 15.0]], canvas_size=(10, 10))).tolist()
        [[0.0, 9.0]]
    """

    _transformed_types = tv_types("KeyPoints")

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if isinstance(inpt, PointsDraft):
            inpt.clamp()
            return inpt
        return F.clamp_keypoints(inpt)

    def _packed(self) -> Packed:
        return ("ClampKeyPoints",)


class SetClampingMode(_OfPlaces):
    """Boxes with another clamping mode, for the transforms that follow.

    Args:
        clamping_mode: "soft", "hard" or None.

    Raises:
        ValueError: another mode.

    Example:
        >>> from fastaug import tv_tensors
        >>> from fastaug.transforms import v2
        >>> boxes = tv_tensors.BoundingBoxes([[1.0, 2.0, 5.0, 8.0]], format="XYXY", canvas_size=(10, 10))
        >>> v2.SetClampingMode("hard")(boxes).clamping_mode
        'hard'
    """

    _transformed_types = tv_types("BoundingBoxes")

    def __init__(self, clamping_mode: str | None) -> None:
        super().__init__()
        if clamping_mode not in (None, "soft", "hard"):
            raise ValueError(f"clamping_mode must be soft, hard or None, got {clamping_mode}")
        self.clamping_mode = clamping_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        boxes = inpt if isinstance(inpt, BoxesDraft) else inpt.clone()
        boxes.clamping_mode = self.clamping_mode
        return boxes

    def _packed(self) -> Packed:
        return "SetClampingMode", _named(self.clamping_mode)
