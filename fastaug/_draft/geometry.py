"""The ops of geometry: flips, boxes, paddings, sizes and warps."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import PIL

from fastaug._draft.base import ALPHA_MODES, DraftBase, rule
from fastaug._draft.interpolation import InterpolationMode, as_interpolation, pil_modes_mapping
from fastaug._fallback import rounding
from fastaug._program import arguments, checks, matrices, ops, resizing
from fastaug._program.kinds import OTHER, TENSOR

# numpy has no modes: after np.pad Pillow guesses one from the shape, and torchvision lets it.
_PADDED_MODE = {"CMYK": "RGBA", "YCbCr": "RGB", "HSV": "RGB"}

# Pillow 13 may shrink the height first; until then it was always the width.
RESIZE_FLAGS = ops.WIDTH_FIRST if int(PIL.__version__.partition(".")[0]) < 13 else 0

_PILLOW = {mode.name: number for mode, number in pil_modes_mapping.items()}
_NEAREST_RULES = {"NEAREST": ops.NEAREST_TORCH, "NEAREST_EXACT": ops.NEAREST_TORCH_EXACT}
# torch's grid_sample, on tensors.
_SAMPLERS = {"nearest": 0, "bilinear": 2}
_MAX_SIDE = 1 << 29
# Along longer sides float32 does not tell samples apart.
_LONGEST = 1 << 24


def _is_point(center: Any) -> bool:
    """Return whether the core takes a centre: two numbers, or None."""
    return center is None or (len(center) == 2 and all(isinstance(number, (int, float)) for number in center))


class GeometryDraft(DraftBase):
    """A draft's methods for geometry."""

    __slots__ = ()

    hflip = rule("hflip")
    vflip = rule("vflip")
    transpose = rule("transpose")
    rot90 = rule("rot90")
    crop = rule("crop")

    def center_crop(self, size: Any) -> None:
        """Cut out the middle of the image, with zeros around it if it is too small."""
        size = arguments.square_if_single(size)
        _, height, width = self.dimensions()
        crop_height, crop_width = size
        if crop_height > height or crop_width > width:
            missing_rows = crop_height - height if crop_height > height else 0
            missing_columns = crop_width - width if crop_width > width else 0
            near = (missing_columns // 2, missing_rows // 2)
            self.pad((*near, (missing_columns + 1) // 2, (missing_rows + 1) // 2), 0, "constant")
            _, height, width = self.dimensions()
            if crop_height == height and crop_width == width:
                return
        self.crop(round((height - crop_height) / 2.0), round((width - crop_width) / 2.0), crop_height, crop_width)

    def resized_crop(
        self, top: int, left: int, height: int, width: int, size: Any, interpolation: Any, antialias: bool | None
    ) -> None:
        self.crop(top, left, height, width)
        self.resize(size, interpolation, None, antialias)

    def pad(self, padding: Any, fill: Any, padding_mode: str) -> None:
        self._check_padding(padding, fill, padding_mode)
        box = arguments.whole_sides(padding)
        if box is not None and padding_mode != "constant" and self.core.kind != TENSOR:
            # On PIL images torchvision's other modes do not take a single number of NumPy's.
            single = padding if not isinstance(padding, (list, tuple)) else padding[0] if len(padding) == 1 else 0
            box = box if isinstance(single, int) else None
        # In floats, other fills are not what their bytes are.
        zeros = (
            self.core.floats
            and not self.core.stored
            and padding_mode == "constant"
            and not fill
            and type(fill) is not float
        )
        if (self.core.native or zeros) and box is not None and self._pad_natively(box, fill, padding_mode):
            return
        self._eager("pad", padding, fill, padding_mode)

    def _check_padding(self, padding: Any, fill: Any, padding_mode: str) -> None:
        if self.core.kind == OTHER:
            checks.need_pil(self.image)
        if not self.core.native:
            self.dimensions()
        if self.core.kind == TENSOR:
            paddings: Any = (int, tuple, list)
            fills: Any = (int, float)
        else:
            paddings = fills = (numbers.Number, tuple, list)
        if type(padding) is not int and not isinstance(padding, paddings):
            raise TypeError(f"Got inappropriate padding arg: {padding!r}, accepted are an int or a sequence of ints")
        if fill is not None and type(fill) is not int and not isinstance(fill, fills):
            accepted = "a number" if self.core.kind == TENSOR else "a number or a sequence of numbers"
            raise TypeError(f"Got inappropriate fill arg: {fill!r}, accepted is {accepted}")
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
        height, width = self.core.height + top + bottom, self.core.width + left + right
        if not (0 < height <= _MAX_SIDE and 0 < width <= _MAX_SIDE and -_MAX_SIDE <= min(box) <= max(box) <= _MAX_SIDE):
            return False
        if padding_mode == "constant":
            if self.core.kind == TENSOR and not self._torch_frames(box, fill):
                return False
            colour = arguments.fill_bytes(fill, self.core.channels)
            if colour is None:
                return False
            if len(colour) <= 4:
                self.core.append_named(ops.window(-top, -left, height, width, colour))
            else:
                self._append_filled(lambda part: ops.window(-top, -left, height, width, part), colour)
            # Where nothing is added, torch copies what is left.
            if self.core.channel_last and max(box) > 0:
                self.core.padded_by_torch()
            if self.info:
                self.info = {"transparency": self.info["transparency"]} if "transparency" in self.info else None
        elif self.core.kind == TENSOR and not self._torch_pads(box, padding_mode):
            return False
        else:
            if min(box) < 0:
                kept_height = self.core.height + min(top, 0) + min(bottom, 0)
                kept_width = self.core.width + min(left, 0) + min(right, 0)
                if kept_height <= 0 or kept_width <= 0:
                    return False
                self.core.append(ops.window(-min(top, 0), -min(left, 0), kept_height, kept_width))
            self.core.append(ops.pad(max(left, 0), max(top, 0), max(right, 0), max(bottom, 0), padding_mode))
            if padding_mode == "symmetric":
                self.core.channel_last = False
            else:
                self.core.padded_by_torch()
            self.core.mode = _PADDED_MODE.get(self.core.mode, self.core.mode)
            self.info = None
        self.core.height, self.core.width = height, width
        return True

    def _torch_frames(self, box: tuple[int, int, int, int], fill: Any) -> bool:
        """Return whether torch pads uint8 samples with this number. It refuses those that do not fit."""
        return fill is None or (isinstance(fill, int) and 0 <= fill <= 255)

    def _torch_pads(self, box: tuple[int, int, int, int], padding_mode: str) -> bool:
        """Return whether torch takes this padding. Otherwise torch is called, and raises its error."""
        if len(self.core.lead) > self._most_leading or (self.core.flat and padding_mode == "symmetric"):
            return False
        if padding_mode == "edge":
            return True
        slack = 1 if padding_mode == "reflect" else 0
        left, top, right, bottom = box
        return (
            min(box) >= 0
            and max(left, right) <= self.core.width - slack
            and max(top, bottom) <= self.core.height - slack
        )

    def _is_batch(self) -> bool:
        """Return whether torch samples this image: neither a plane alone nor too many leading dimensions."""
        return not (self.core.flat and self.core.kind == TENSOR) and (
            not self.core.lead or len(self.core.lead) <= self._most_leading
        )

    def _append(self, *added: bytes) -> None:
        for op in added:
            self.core.append(op)

    def _append_filled(self, op: Any, fill: Any, mixes: bool = False) -> None:
        """Append op(fill), for every four channels if there are more. A fill of numbers has a multiple of four.

        `mixes` means that Pillow's op mixes pixels, so that their colours are multiplied by alpha.
        """
        if mixes and self.core.mode in ALPHA_MODES:
            # The fill is not premultiplied: Pillow paints it into the premultiplied image.
            self._append(ops.PREMULTIPLY, op(fill), ops.UNPREMULTIPLY)
        elif len(fill) <= 4:
            self.core.append(op(fill))
        else:
            if isinstance(fill, bytes):
                fill += bytes(-len(fill) % 4)
            self.core.append(tuple(op(fill[k : k + 4]) for k in range(0, len(fill), 4)))

    def resize(self, size: Any, interpolation: Any, max_size: int | None, antialias: bool | None) -> None:
        if type(interpolation) is not InterpolationMode:
            interpolation = as_interpolation(interpolation)
        size = arguments.as_size_list(size, max_size)
        if not self.core.native:
            self.dimensions()
        height, width = arguments.resized_size(self.core.height, self.core.width, size, max_size)
        if height == self.core.height and width == self.core.width:
            return
        name = interpolation._name_
        number = _PILLOW[name]
        if self.core.kind == TENSOR:
            # antialias does not change the nearest modes. Without it torch has another filter.
            smooth = bool(antialias) and number in (2, 3)
            native = self.core.native and (number == 0 or smooth) and self._is_batch()
            if self.by_torch and number != 0 and native:
                # torch gives all rows of a single column the values of the first one, mostly.
                single = width == 1 and height != self.core.height
                native = not single and max(height, width, self.core.height, self.core.width) <= _LONGEST
                native = native and resizing.follows(number == 3)
        else:
            native = self.core.native
            if antialias is False:
                checks.warn_antialias()
        if type(height) is not int or type(width) is not int:
            rows, columns = arguments.whole(height), arguments.whole(width)
            if rows is None or columns is None:
                native = False
            else:
                height, width = rows, columns
        if not (native and 0 < height <= _MAX_SIDE and 0 < width <= _MAX_SIDE):
            self._eager("resize", height, width, number, interpolation.value, antialias)
            return
        if number == 0:
            nearest = _NEAREST_RULES[name] if self.core.kind == TENSOR else ops.NEAREST_PILLOW
            op = ops.nearest(height, width, nearest)
            if nearest == ops.NEAREST_PILLOW:
                self.core.append_named(op)
            else:
                self.core.append(op)
        elif self.by_torch:
            self.core.append(ops.torch_resize(height, width, number))
        elif self.core.mode in ALPHA_MODES:
            self._append(ops.PREMULTIPLY, ops.resize(height, width, number | RESIZE_FLAGS), ops.UNPREMULTIPLY)
        else:
            self.core.append(ops.resize(height, width, number | RESIZE_FLAGS))
        self.core.padded_by_torch()
        self.core.height, self.core.width = height, width

    def rotate(self, angle: float, interpolation: Any, expand: bool, center: Sequence[float] | None, fill: Any) -> None:
        if type(interpolation) is not InterpolationMode:
            interpolation = as_interpolation(interpolation)
        if not isinstance(angle, (int, float)):
            raise TypeError(f"Argument angle should be int or float, got {angle!r}")
        if center is not None and not isinstance(center, (list, tuple)):
            raise TypeError(f"Argument center should be a sequence, got {center!r}")
        number = _PILLOW[interpolation._name_]
        if self.core.native and self._is_batch() and _is_point(center):
            if self.by_torch:
                if self._rotate_by_torch(angle, interpolation.value, expand, center, fill):
                    return
            elif (colour := arguments.fill_bytes(fill, self.core.channels)) is not None:
                if self.core.kind == TENSOR:
                    checks.check_warp(self.core.channels, interpolation.value, fill)
                if self._rotate_natively(angle, number, expand, center, colour):
                    return
        self._eager("rotate", angle, number, interpolation.value, expand, center, fill)

    def _rotate_by_torch(self, angle: float, mode_name: str, expand: bool, center: Any, fill: Any) -> bool:
        """Append torchvision's rotation of a tensor, for any angle."""
        height, width = self.core.height, self.core.width
        matrix = matrices.rotation_matrix(height, width, angle, center)
        size = matrices.size_around(matrix, height, width) if expand else (height, width)
        return self._sample_by_torch(ops.torch_affine, matrix, size, mode_name, fill)

    def _sample_by_torch(
        self, pack: Any, numbers: Sequence[float], size: tuple[int, int], mode_name: str, fill: Any
    ) -> bool:
        """Append a map from output to input, sampled as in torchvision's tensor functions."""
        number = _SAMPLERS.get(mode_name)
        height, width = size
        if number is None or not all(map(math.isfinite, numbers)) or not rounding.follows("warps of tensors"):
            return False
        if not (0 < height <= _MAX_SIDE and 0 < width <= _MAX_SIDE):
            return False
        flags = number | rounding.fuses_products()
        colour: Any = bytes(max(self.core.channels, 4))
        if fill is not None:
            colour = arguments.grid_fill(fill, self.core.channels)
            if colour is None:
                return False
            checks.check_warp(self.core.channels, mode_name, fill)
            flags |= (ops.FILLED | ops.V2_FILL) if self._v2 else ops.FILLED
        self._append_filled(lambda part: pack(height, width, flags, numbers, part), colour)
        self.core.height, self.core.width = height, width
        self.core.channel_last = False
        return True

    def _rotate_natively(self, angle: float, number: int, expand: bool, center: Any, fill: Any) -> bool:
        # The shortcuts of Image.rotate (Pillow, Image.py), whatever the interpolation.
        size = None
        if expand and self.core.kind == TENSOR and math.isfinite(angle):
            size = matrices.rotated_size(self.core.height, self.core.width, angle, center)  # of torchvision's tensors
        angle = angle % 360.0
        if not center:
            if angle == 0:
                self._copy_by_torch()
                return True
            turned = expand and size in (None, (self.core.width, self.core.height))
            if angle == 180 or (angle in (90, 270) and (turned or self.core.width == self.core.height)):
                if self.core.kind == TENSOR:
                    self.core.append(ops.ROT90[int(angle)])
                else:
                    self.core.append_named(ops.ROT90[int(angle)])
                if angle != 180:
                    self.core.height, self.core.width = self.core.width, self.core.height
                self.core.channel_last = False
                return True
        if number not in (0, 2, 3) or not math.isfinite(angle) or not self._warps_natively():
            return False
        height, width, matrix = matrices.rotation(self.core.height, self.core.width, angle, expand, center, size)
        if not (0 < height <= _MAX_SIDE and 0 < width <= _MAX_SIDE and all(map(math.isfinite, matrix))):
            return False
        self._append_filled(lambda part: ops.affine(height, width, number, matrix, part), fill, number != 0)
        self.core.height, self.core.width = height, width
        self.core.channel_last = False
        return True

    def _warps_natively(self) -> bool:
        """Return whether the core maps this image as Pillow does. For tensors only the core has Pillow's rules."""
        return self.core.kind == TENSOR or rounding.follows("warps")

    def _copy_by_torch(self) -> None:
        """Copy the image instead of a warp that moves no pixel. torchvision samples a tensor nevertheless."""
        self.core.copied = True
        self.core.channel_last = False

    def affine(
        self,
        angle: float,
        translate: Sequence[float],
        scale: float,
        shear: Any,
        interpolation: Any,
        fill: Any,
        center: Sequence[float] | None,
    ) -> None:
        if type(interpolation) is not InterpolationMode:
            interpolation = as_interpolation(interpolation)
        shear = arguments.checked_shear(angle, translate, scale, shear, center)
        _, height, width = self.dimensions()
        number = _PILLOW[interpolation._name_]
        if self.core.native and self.by_torch:
            if self._is_batch() and _is_point(center):
                matrix = matrices.affine_matrix(height, width, angle, translate, scale, shear, center)
                if self._sample_by_torch(ops.torch_affine, matrix, (height, width), interpolation.value, fill):
                    return
        elif self.core.native and _is_point(center):
            middle = (width * 0.5, height * 0.5) if center is None else center
            matrix = matrices.inverse_affine_matrix(middle, angle, translate, scale, shear)
            if self._warp_natively(ops.affine, matrix, number, interpolation.value, fill):
                return
        self._eager("affine", angle, translate, scale, shear, number, interpolation.value, fill, center)

    def perspective(self, startpoints: Any, endpoints: Any, interpolation: Any, fill: Any) -> None:
        coefficients = matrices.perspective_coefficients(startpoints, endpoints)
        if type(interpolation) is not InterpolationMode:
            interpolation = as_interpolation(interpolation)
        number = _PILLOW[interpolation._name_]
        if self.core.native and self.by_torch:
            size = self.core.height, self.core.width
            pack = ops.torch_perspective
            if self._is_batch() and self._sample_by_torch(pack, coefficients, size, interpolation.value, fill):
                return
        elif self.core.native and self._warp_natively(ops.perspective, coefficients, number, interpolation.value, fill):
            return
        self._eager("perspective", coefficients, number, interpolation.value, fill)

    def _warp_natively(self, pack: Any, numbers: Sequence[float], number: int, mode_name: str, fill: Any) -> bool:
        """Append Pillow's map from output to input, which keeps the size."""
        colour = arguments.fill_bytes(fill, self.core.channels)
        if colour is None or number not in (0, 2, 3) or not self._is_batch() or not all(map(math.isfinite, numbers)):
            return False
        if self.core.kind == TENSOR:
            checks.check_warp(self.core.channels, mode_name, fill)
        if not self._warps_natively():
            return False
        height, width = self.core.height, self.core.width

        def op(part: bytes) -> bytes:
            packed: bytes = pack(height, width, number, numbers, part)
            return packed

        if len(numbers) == 6 and matrices.is_shift(numbers):
            # Every position is the centre of a pixel, exactly, so both neighbours that Pillow mixes have the weights 1
            # and 0, and truncation takes nothing away: each mode copies pixels.
            top, left = int(numbers[5]), int(numbers[2])
            if top == 0 == left and (number == 0 or self.core.mode not in ALPHA_MODES):
                self._copy_by_torch()
                return True
            if max(abs(top), abs(left)) <= _MAX_SIDE:
                if (
                    len(colour) <= 4
                    and not self.core.channel_last
                    and (number == 0 or self.core.mode not in ALPHA_MODES)
                ):
                    self.core.append_named(ops.window(top, left, height, width, colour))
                    return True

                def op(part: bytes) -> bytes:
                    return ops.window(top, left, height, width, part)

        self._append_filled(op, colour, number != 0)
        self.core.channel_last = False
        return True
