"""A draft: an image with the ops that are still to be done to it.

Each transform appends its ops to a draft instead of touching pixels; the native core runs them all in one call when
the result is asked for. What the core cannot express (other dtypes, rare Pillow modes, errors that are to be
torchvision's) is done at once, by Pillow or torch, on the result so far.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import PIL
import torch

from fastaug import _fallback_pil, _fallback_tensor, _finish, _lower, _ops
from fastaug._draft_base import OTHER, PIL_IMAGE, TENSOR, DraftBase
from fastaug._interpolation import InterpolationMode, as_interpolation, pil_modes_mapping

# The modes that a tensor or array of so many channels may be given; the first is the default.
_MODES_OF = {1: ("L",), 2: ("LA",), 3: ("RGB", "YCbCr", "HSV"), 4: ("RGBA", "CMYK")}
_ALPHA_MODES = ("LA", "RGBA")
_COLOUR_MODES = ("RGB", "RGBA")
# numpy has no modes: after np.pad Pillow guesses one from the shape, and torchvision lets it.
_PADDED_MODE = {"CMYK": "RGBA", "YCbCr": "RGB", "HSV": "RGB"}

# Pillow 13 may shrink the height first; until then it was always the width.
_RESIZE_FLAGS = _ops.WIDTH_FIRST if int(PIL.__version__.partition(".")[0]) < 13 else 0

_PILLOW = {mode.name: number for mode, number in pil_modes_mapping.items()}
_NEAREST_RULES = {"NEAREST": _ops.NEAREST_TORCH, "NEAREST_EXACT": _ops.NEAREST_TORCH_EXACT}
_MAX_SIDE = 1 << 29


class Draft(DraftBase):
    """A draft, and one method for each op: the op's home in Python."""

    __slots__ = ()

    # Geometry.

    def hflip(self) -> None:
        if self.native or self.store:
            self.ops.append(_ops.HFLIP)
        else:
            self._eager("hflip")

    def vflip(self) -> None:
        if self.native or self.store:
            self.ops.append(_ops.VFLIP)
        else:
            self._eager("vflip")

    def crop(self, top: int, left: int, height: int, width: int) -> None:
        """A box of the image, with zeros where it reaches beyond."""
        inside = top >= 0 and left >= 0 and top + height <= self.height and left + width <= self.width
        drafted = self.native or self.store
        if inside and drafted and height == self.height and width == self.width:
            self.copied = True
            return
        # Zero stays zero in TO_FLOAT, but not in NORMALIZE.
        if (self.native or (self.store and (inside or len(self.store) == 1))) and height > 0 and width > 0:
            if not (type(top) is type(left) is type(height) is type(width) is int):
                # Pillow takes floats and rounds the four corners of the box.
                as_int = round if self.kind == PIL_IMAGE else operator.index
                bottom, right = as_int(top + height), as_int(left + width)
                top, left = as_int(top), as_int(left)
                height, width = bottom - top, right - left
            if abs(top) <= _MAX_SIDE and abs(left) <= _MAX_SIDE and height <= _MAX_SIDE and width <= _MAX_SIDE:
                self.ops.append(_ops.window(top, left, height, width))
                self.height, self.width = height, width
                return
        self._eager("crop", top, left, height, width)

    def center_crop(self, size: Any) -> None:
        """The middle of the image, with zeros around it where it is too small."""
        size = _lower.square_if_single(size)
        _, height, width = self.dimensions()
        crop_height, crop_width = size
        if crop_height > height or crop_width > width:
            missing_rows, missing_columns = max(crop_height - height, 0), max(crop_width - width, 0)
            near = (missing_columns // 2, missing_rows // 2)
            self.pad((*near, (missing_columns + 1) // 2, (missing_rows + 1) // 2), 0, "constant")
            _, height, width = self.dimensions()
            if crop_height == height and crop_width == width:
                return
        self.crop(round((height - crop_height) / 2.0), round((width - crop_width) / 2.0), crop_height, crop_width)

    def pad(self, padding: Any, fill: Any, padding_mode: str) -> None:
        self._check_padding(padding, fill, padding_mode)
        box = _lower.sides(padding)
        if self.native and box is not None and self._pad_natively(box, fill, padding_mode):
            return
        self._eager("pad", padding, fill, padding_mode)

    def _check_padding(self, padding: Any, fill: Any, padding_mode: str) -> None:
        if self.kind == OTHER:
            _fallback_pil.need_pil(self.image)
        if not isinstance(padding, (int, float, tuple, list)):
            raise TypeError(f"Got inappropriate padding arg: {padding!r}, accepted are an int or a sequence of ints")
        if fill is not None and not isinstance(fill, (int, float, tuple, list)):
            raise TypeError(f"Got inappropriate fill arg: {fill!r}, accepted are a number or a sequence of numbers")
        if not isinstance(padding_mode, str):
            raise TypeError(f"Got inappropriate padding_mode arg: {padding_mode!r}")
        if isinstance(padding, (tuple, list)) and len(padding) not in (1, 2, 4):
            raise ValueError(
                f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(padding)} element tuple"
            )
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise ValueError(
                f"Padding mode should be either constant, edge, reflect or symmetric, got {padding_mode!r}"
            )

    def _pad_natively(self, box: tuple[int, int, int, int], fill: Any, padding_mode: str) -> bool:
        left, top, right, bottom = box
        height, width = self.height + top + bottom, self.width + left + right
        if not (0 < height <= _MAX_SIDE and 0 < width <= _MAX_SIDE and max(map(abs, box)) <= _MAX_SIDE):
            return False
        if padding_mode == "constant":
            if self.kind == TENSOR and not (isinstance(fill, (int, type(None))) and 0 <= (fill or 0) <= 255):
                return False  # torch refuses what does not fit into uint8
            colour = _lower.fill_bytes(fill, self.channels)
            if colour is None:
                return False
            self._append_filled(lambda part: _ops.window(-top, -left, height, width, part), colour)
            if self.info:
                self.info = {"transparency": self.info["transparency"]} if "transparency" in self.info else None
        elif self.kind == TENSOR and not self._torch_pads(box, padding_mode):
            return False
        else:
            if min(box) < 0:
                kept_height = self.height + min(top, 0) + min(bottom, 0)
                kept_width = self.width + min(left, 0) + min(right, 0)
                if kept_height <= 0 or kept_width <= 0:
                    return False
                self.ops.append(_ops.window(-min(top, 0), -min(left, 0), kept_height, kept_width))
            self.ops.append(_ops.pad(max(left, 0), max(top, 0), max(right, 0), max(bottom, 0), padding_mode))
            self.mode = _PADDED_MODE.get(self.mode, self.mode) if self.mode else None
            self.info = None
        self.height, self.width = height, width
        return True

    def _torch_pads(self, box: tuple[int, int, int, int], padding_mode: str) -> bool:
        """Whether torch would take this padding; where it would not, it is asked, so that the error is its own."""
        if len(self.lead) > 1 or (self.flat and padding_mode == "symmetric"):
            return False
        if padding_mode == "edge":
            return True
        slack = 1 if padding_mode == "reflect" else 0
        left, top, right, bottom = box
        return min(box) >= 0 and max(left, right) <= self.width - slack and max(top, bottom) <= self.height - slack

    def _append_filled(self, op: Any, fill: bytes) -> None:
        """Appends op(fill), for every four channels if there are more."""
        if len(fill) <= 4:
            self.ops.append(op(fill))
        else:
            fill += bytes(-len(fill) % 4)
            self.ops.append(tuple(op(fill[k : k + 4]) for k in range(0, len(fill), 4)))

    def resize(self, size: Any, interpolation: Any, max_size: int | None, antialias: bool | None) -> None:
        if type(interpolation) is not InterpolationMode:
            interpolation = as_interpolation(interpolation)
        size = _lower.as_size_list(size, max_size)
        if not self.native:
            self.dimensions()
        height, width = _lower.resized_size(self.height, self.width, size, max_size)
        if height == self.height and width == self.width:
            return
        name = interpolation._name_
        number = _PILLOW[name]
        if self.kind == TENSOR:
            # antialias says nothing to the nearest modes; without it torch has another filter.
            native = self.native and (number == 0 or (antialias and number in (2, 3))) and len(self.lead) <= 1
        else:
            native = self.native
            if antialias is False:
                _finish.warn_antialias()
        if not (native and type(height) is type(width) is int and 0 < height <= _MAX_SIDE and 0 < width <= _MAX_SIDE):
            self._eager("resize", height, width, number, interpolation.value, antialias)
            return
        if number == 0:
            rule = _NEAREST_RULES[name] if self.kind == TENSOR else _ops.NEAREST_PILLOW
            self.ops.append(_ops.nearest(height, width, rule))
        elif self.mode in _ALPHA_MODES:
            self.ops += (_ops.PREMULTIPLY, _ops.resize(height, width, number | _RESIZE_FLAGS), _ops.UNPREMULTIPLY)
        else:
            self.ops.append(_ops.resize(height, width, number | _RESIZE_FLAGS))
        self.height, self.width = height, width

    def rotate(self, angle: float, interpolation: Any, expand: bool, center: Sequence[float] | None, fill: Any) -> None:
        if type(interpolation) is not InterpolationMode:
            interpolation = as_interpolation(interpolation)
        if not isinstance(angle, (int, float)):
            raise TypeError(f"Argument angle should be int or float, got {angle!r}")
        if center is not None and not isinstance(center, (list, tuple)):
            raise TypeError(f"Argument center should be a sequence, got {center!r}")
        number = _PILLOW[interpolation._name_]
        if self.native:
            if self.kind == TENSOR:
                _fallback_tensor.check_rotation(self.channels, interpolation.value, fill)
            colour = _lower.fill_bytes(fill, self.channels)
            drawable = colour is not None and len(self.lead) <= 1
            if drawable and self._rotate_natively(angle, number, expand, center, colour):
                return
        self._eager("rotate", angle, number, interpolation.value, expand, center, fill)

    def _rotate_natively(self, angle: float, number: int, expand: bool, center: Any, fill: Any) -> bool:
        # The shortcuts of Image.rotate (Pillow, Image.py), whatever the interpolation.
        angle = angle % 360.0
        if not center:
            if angle == 0:
                self.copied = True
                return True
            if angle == 180 or (angle in (90, 270) and (expand or self.width == self.height)):
                self.ops.append(_ops.ROT90[int(angle)])
                if angle != 180:
                    self.height, self.width = self.width, self.height
                return True
        if number not in (0, 2, 3) or not math.isfinite(angle):
            return False
        height, width, matrix = _lower.rotation(self.height, self.width, angle, expand, center)
        if not (0 < height <= _MAX_SIDE and 0 < width <= _MAX_SIDE):
            return False
        if number != 0 and self.mode in _ALPHA_MODES:
            # The fill is not premultiplied: Pillow paints it into the premultiplied image.
            self.ops += (_ops.PREMULTIPLY, _ops.affine(height, width, number, matrix, fill), _ops.UNPREMULTIPLY)
        else:
            self._append_filled(lambda part: _ops.affine(height, width, number, matrix, part), fill)
        self.height, self.width = height, width
        return True

    # Colour.

    def _colour_channels(self) -> int:
        """The colour channels that an adjustment reads, 1 or 3; 0 when the native core must not do it."""
        if not self.native:
            return 0
        if self.kind == PIL_IMAGE:
            return 3 if self.mode in _COLOUR_MODES else 1 if self.mode in ("L", "LA") else 0
        if self.channels not in (1, 3):
            raise TypeError(f"Input image tensor permitted channel values are [1, 3], but found {self.channels}")
        return self.channels

    def adjust_brightness(self, factor: float) -> None:
        if self.kind != PIL_IMAGE and self.kind != OTHER:
            _fallback_tensor.need_not_negative("brightness_factor", factor)
        if not self._colour_channels() or not math.isfinite(factor):
            self._eager("adjust_brightness", factor)
        elif factor == 1:
            self.copied = True
        else:
            self.ops.append(_ops.brightness(factor, _ops.HAS_ALPHA if self.mode in _ALPHA_MODES else 0))
        self.info = None

    def adjust_contrast(self, factor: float) -> None:
        if self.kind != PIL_IMAGE and self.kind != OTHER:
            _fallback_tensor.need_not_negative("contrast_factor", factor)
        if not self._colour_channels() or not math.isfinite(factor) or (self.flat and self.kind == TENSOR):
            self._eager("adjust_contrast", factor)
        elif factor == 1:
            self.copied = True
        else:
            self.ops.append(_ops.contrast(factor, _ops.HAS_ALPHA if self.mode in _ALPHA_MODES else 0))
        self.info = None

    def adjust_saturation(self, factor: float) -> None:
        if self.kind != PIL_IMAGE and self.kind != OTHER:
            _fallback_tensor.need_not_negative("saturation_factor", factor)
        channels = self._colour_channels()
        if not channels or not math.isfinite(factor) or (self.info and "transparency" in self.info):
            self._eager("adjust_saturation", factor)
        elif channels == 1:
            # Gray is its own gray: Pillow blends an image with itself, torchvision's tensors come back as they are.
            self.copied = self.copied or self.kind != TENSOR
        elif factor == 1:
            self.copied = True
        else:
            self.ops.append(_ops.saturation(factor))

    def adjust_hue(self, factor: float) -> None:
        _fallback_tensor.need_hue(factor)
        channels = self._colour_channels()
        if not channels or self.mode == "LA":
            self._eager("adjust_hue", factor)
        elif channels == 3:
            self.ops.append(_ops.hue(int(factor * 255) & 255))
            self.info = None

    def grayscale(self, channels: int) -> None:
        """1 channel, or 3 equal ones."""
        if not self.native:
            self._eager("grayscale", channels)
            return
        if self.kind != PIL_IMAGE:
            if self.kind == TENSOR and self.flat:
                _fallback_tensor.need_channel_axis(self.image)
            self._colour_channels()
        if channels not in (1, 3):
            raise ValueError(f"num_output_channels should be either 1 or 3, got {channels}")
        if self.kind == PIL_IMAGE:
            if (self.mode != "L" and self.mode not in _COLOUR_MODES) or (self.info and "transparency" in self.info):
                self._eager("grayscale", channels)
                return
            self.mode = "L" if channels == 1 else "RGB"
        if self.channels > 1:
            self.ops.append(_ops.LUMA)
        if channels == 3:
            self.ops.append(_ops.REPLICATE_3)
            self.info = None
            self.flat = False
        self.copied = True
        self.channels = channels

    # Conversions.

    def to_float(self) -> None:
        """ToTensor."""
        if self.kind == TENSOR or self.kind == OTHER:
            raise TypeError(f"pic should be PIL Image or ndarray. Got {type(self.finish())}")
        if self.native and torch.get_default_dtype() is torch.float32:
            self.kind = TENSOR
            self._append_float()
            self.flat = False
        elif self.kind == PIL_IMAGE:
            self._eager("to_tensor")
        else:
            array = self.finish()
            if array.ndim not in (2, 3):
                raise ValueError(f"pic should be 2/3 dimensional. Got {array.ndim} dimensions.")
            self.reset(_fallback_tensor.array_to_tensor(array))

    def _append_float(self) -> None:
        self.store = (_ops.TO_FLOAT,)
        self.native = self.channel_last = False
        self.mode = self.info = None

    def to_uint8_tensor(self) -> None:
        """PILToTensor."""
        if self.kind != PIL_IMAGE:
            raise TypeError(f"pic should be PIL Image. Got {type(self.finish())}")
        if not self.native:
            self._eager("pil_to_tensor")
            return
        self.kind = TENSOR
        self.channel_last = True
        self.mode = self.info = None

    def to_pil(self, mode: str | None) -> None:
        """ToPILImage."""
        if self.native and self.kind != PIL_IMAGE and not self.lead:
            accepted = _MODES_OF.get(self.channels, ())
            if accepted and (mode is None or mode in accepted):
                self.kind = PIL_IMAGE
                self.mode = mode or accepted[0]
                self.flat = self.channel_last = False
                self.copied = True
                return
        self.reset(_fallback_tensor.to_pil_image(self.finish(), mode))

    def convert_dtype(self, dtype: torch.dtype) -> None:
        if self.kind != TENSOR:
            raise TypeError("Input img should be Tensor Image")
        if dtype is torch.float32 and self.native:
            self._append_float()
        elif not (dtype is torch.uint8 and self.native) and not (dtype is torch.float32 and self.store):
            self._eager("convert_image_dtype", dtype)

    def normalize(self, mean: Any, std: Any, inplace: bool, packed: Any = None) -> None:
        """`packed` is the op for this mean and std, or one op for every four channels."""
        if self.kind != TENSOR:
            raise TypeError(f"img should be Tensor Image. Got {type(self.finish())}")
        if packed is not None and len(self.store) == 1 and not self.flat:
            self.store = (_ops.TO_FLOAT, packed)
        else:
            self._eager("normalize", mean, std, inplace)
