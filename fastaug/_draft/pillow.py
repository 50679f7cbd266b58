"""Pillow's own operations on drafts, by Pillow's names and with its arguments.

What the core does not do is done at once, by Pillow. Each gives what Pillow's gives: a new image, with the size, mode
and info of Pillow's. Sizes and boxes are Pillow's too: (width, height), and (left, upper, right, lower).
"""

from __future__ import annotations

import functools
import math
import numbers
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageColor, ImageOps

from fastaug._draft.base import ALPHA_MODES, TOO_MANY_PIXELS
from fastaug._draft.color import ColorDraft
from fastaug._draft.filter import FilterDraft
from fastaug._draft.geometry import RESIZE_FLAGS, GeometryDraft
from fastaug._fallback import pillow as pillow_fallback
from fastaug._fallback import rounding
from fastaug._program import matrices, ops
from fastaug._program.kinds import ENCODED, PIL_IMAGE

#: The modes that Pillow blurs.
_BLURRED_MODES = ("L", "LA", "RGB", "RGBA", "CMYK")
#: Passes of GaussianBlur.
_PASSES = 3
#: Radii that the core takes. A larger one of GaussianBlur gives a larger one of a box.
_MOST_RADIUS = 1 << 19

# The longest side of an image.
_MAX_SIDE = 1 << 29

_NEAREST, _LANCZOS, _BILINEAR, _BICUBIC = 0, 1, 2, 3
#: Filters that the core has; Pillow may have more.
_FILTERS = (0, 1, 2, 3, 4, 5)
_WARP_FILTERS = (_NEAREST, _BILINEAR, _BICUBIC)
_AFFINE, _EXTENT, _PERSPECTIVE = 0, 1, 2

#: The ops for each number of Image.Transpose.
_TURNS: tuple[tuple[bytes, ...], ...] = (
    (ops.HFLIP,),
    (ops.VFLIP,),
    (ops.ROT90[90],),
    (ops.ROT90[180],),
    (ops.ROT90[270],),
    (ops.ROT90[90], ops.VFLIP),
    (ops.ROT90[90], ops.HFLIP),
)
#: Those that exchange width and height.
_SWAPS = (2, 4, 5, 6)
_ORIENTATIONS = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}
_ORIENTATION = 0x0112


def _pair(name: str, value: Any) -> tuple[float, float] | None:
    """Return one number for both axes, or two, or None if Pillow does not accept it."""
    both = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(both) != 2 or not all(isinstance(number, (numbers.Real, np.ndarray)) for number in both):
        raise TypeError(f"{name} must be a number, or a tuple of two, got {value!r}")
    # Pillow compares it to (0, 0), which a number of NumPy's does as an array, and has no truth.
    real = isinstance(value, (int, float, tuple, list)) and not isinstance(value, np.generic)
    real = real and all(isinstance(number, numbers.Real) for number in both)
    return (float(both[0]), float(both[1])) if real else None


def _index(number: Any) -> int | None:
    """Return a number of an enumeration, or None for one that is not an integer, such as 2.0, which C refuses."""
    try:
        return operator.index(number)
    except TypeError:
        return None


@functools.lru_cache(maxsize=256)
def _box_radius(radius: float) -> float:
    """Return the radius of the box that Pillow passes three times for a Gaussian of this standard deviation.

    Pillow, src/libImaging/BoxBlur.c, _gaussian_blur_radius: in float32, but for the root and what it is made of.
    """
    single = np.float32(radius)
    variance = single * single / np.float32(_PASSES)
    length = np.float32(math.sqrt(12.0 * float(variance) + 1.0))
    whole = np.float32(math.floor((float(length) - 1.0) / 2.0))
    one, two, three, six = (np.float32(number) for number in (1, 2, 3, 6))
    part = (two * whole + one) * (whole * (whole + one) - three * variance)
    part /= six * (variance - (whole + one) * (whole + one))
    return float(whole + part)


def _ink(mode: str, color: Any) -> bytes:
    """Return the samples of a pixel that Pillow fills with a colour."""
    if color is None:
        return ops.NO_FILL
    return Image.new(mode, (1, 1), color).tobytes().ljust(4, b"\0")


def _sides(size: Any) -> tuple[int, int] | None:
    """Return (width, height), or None where the core makes no such image."""
    try:
        width, height = map(operator.index, size)
    except (TypeError, ValueError):
        return None
    if not (0 < width <= _MAX_SIDE and 0 < height <= _MAX_SIDE) or width * height >= TOO_MANY_PIXELS:
        return None
    return width, height


def _borders(border: Any) -> tuple[int, int, int, int]:
    """Return left, top, right and bottom, as ImageOps reads them."""
    if not isinstance(border, tuple):
        return border, border, border, border
    if len(border) == 2:
        return border[0], border[1], border[0], border[1]
    if len(border) == 4:
        return border[0], border[1], border[2], border[3]
    raise ValueError(f"border must be an integer, or a tuple of two or four, got {border!r}")


class PillowDraft(GeometryDraft, FilterDraft, ColorDraft):
    """The methods of a draft for Pillow's own operations."""

    __slots__ = ()

    def _by_pillow(self, name: str, *given: Any, size: Sequence[int] | None = None, mode: str | None = None) -> None:
        """Do one of pillow_fallback.FUNCTIONS at once. `size` and `mode` are those of the result, where they change."""
        if self.call.log is not None:
            self.call.log.eager(self, name)
        self.reset(pillow_fallback.FUNCTIONS[name](self.handed(), *given))

    def need_pillow(self) -> None:
        if self.core.kind != PIL_IMAGE:
            raise TypeError(f"image must be a PIL image, got {type(self.image)}")

    def _appended(self, *added: bytes, alone: bool = False) -> None:
        """Append ops. `alone` means that Pillow may do the only one by itself."""
        if alone:
            self.core.append_named(*added)
        else:
            for op in added:
                self.core.append(op)
        self.core.copied = True

    # Filters.

    def pillow_gaussian_blur(self, radius: Any) -> None:
        pair = _pair("radius", radius)
        if pair is not None and max(map(abs, pair)) <= _MOST_RADIUS:
            pair = _box_radius(pair[0]), _box_radius(pair[1])
        self._box_blur("gaussian_blur", radius, pair, _PASSES)

    def pillow_box_blur(self, radius: Any) -> None:
        both = radius if isinstance(radius, (tuple, list)) else (radius,)
        if any(isinstance(number, (int, float, np.number)) and not 0 <= number < 1 << 31 for number in both):
            raise ValueError(f"radius must not be negative, nor 2**31 or more, got {radius!r}")
        self._box_blur("box_blur", radius, _pair("radius", radius), 1)

    def _box_blur(self, name: str, radius: Any, pair: tuple[float, float] | None, passes: int) -> None:
        blurs = self.core.native and self.core.mode in _BLURRED_MODES
        # A NaN is between no bounds.
        if not blurs or pair is None or not all(0 <= number <= _MOST_RADIUS for number in pair):
            self._by_pillow(name, radius)
            return
        self.core.copied = True
        if any(pair):
            self.core.append(ops.box_blur(*pair, passes))

    # Tables.

    def _looked_up(self) -> bool:
        """Return whether both ImageOps and the core look the samples up."""
        return self.core.native and self.core.mode in ("L", "RGB")

    def pillow_solarize(self, threshold: Any) -> None:
        if self._looked_up() and type(threshold) in (int, float):
            # No sample lies beyond these bounds, nor does anything compare to NaN, which inverts every sample.
            self._appended(ops.solarize(max(min(threshold, 256), 0) if threshold == threshold else 0))
        else:
            self._by_pillow("solarize", threshold)

    def pillow_posterize(self, bits: Any) -> None:
        looked_up = self._looked_up()
        if isinstance(bits, (int, float)) and not 1 <= bits <= 8:
            raise ValueError(f"bits must be 1 to 8, got {bits!r}")
        if looked_up and type(bits) is int:
            self._appended(ops.posterize(bits), alone=True)
        else:
            self._by_pillow("posterize", bits)

    def pillow_invert(self) -> None:
        if self._looked_up():
            self._appended(ops.INVERT, alone=True)
        else:
            self._by_pillow("invert")

    def pillow_equalize(self, mask: Any) -> None:
        if self._looked_up() and mask is None:
            self._appended(ops.EQUALIZE)
        else:
            self._by_pillow("equalize", mask, mode="RGB" if self.core.mode == "P" else None)

    def pillow_autocontrast(self, cutoff: Any, ignore: Any, mask: Any, preserve_tone: Any) -> None:
        plain = ignore is None and mask is None and cutoff in (0, (0, 0))
        if self._looked_up() and plain and (not preserve_tone or self.core.mode == "L"):
            self._appended(ops.AUTOCONTRAST)
        else:
            self._by_pillow("autocontrast", cutoff, ignore, mask, preserve_tone)

    def pillow_point(self, lut: Any, mode: Any) -> None:
        self._by_pillow("point", lut, mode, mode=mode)

    # ImageEnhance.

    pillow_brightness = ColorDraft.adjust_brightness
    pillow_contrast = ColorDraft.adjust_contrast
    pillow_color = ColorDraft.adjust_saturation
    pillow_sharpness = ColorDraft.adjust_sharpness

    # Modes.

    def pillow_convert(self, mode: Any, matrix: Any, dither: Any, palette: Any, colors: Any) -> None:
        transparent = bool(self.info and "transparency" in self.info)
        if matrix is None and self.core.native and (not mode or mode == self.core.mode):
            self.core.copied = True
        elif (
            matrix is None
            and self.core.native
            and not transparent
            and mode == "L"
            and self.core.mode in ("RGB", "RGBA")
        ):
            self._appended(ops.LUMA)
            self.core.mode, self.core.channels = "L", 1
        elif matrix is None and self.core.native and not transparent and mode == "RGB" and self.core.mode == "L":
            self._appended(ops.REPLICATE_3)
            self.core.mode, self.core.channels = "RGB", 3
        else:
            self._by_pillow("convert", mode, matrix, dither, palette, colors, mode=mode or self._unpaletted())

    def _unpaletted(self) -> str | None:
        palette = getattr(self.image, "palette", None)
        return self.core.mode if self.core.mode != "P" else palette.mode if palette is not None else "RGB"

    # Geometry.

    def pillow_transpose(self, method: Any) -> None:
        try:
            turn = operator.index(method)
        except TypeError:
            raise TypeError(f"method must be one of Image.Transpose, 0 to 6, got {method!r}") from None
        if not 0 <= turn <= 6:
            raise ValueError(f"method must be one of Image.Transpose, 0 to 6, got {method!r}")
        width, height = (self.core.height, self.core.width) if turn in _SWAPS else (self.core.width, self.core.height)
        if self.core.native:
            turns = _TURNS[turn]
            self._appended(*turns, alone=len(turns) == 1)
            self.core.height, self.core.width = height, width
        else:
            self._by_pillow("transpose", method, size=(width, height))

    def pillow_exif_transpose(self) -> None:
        if self.core.source == ENCODED:
            # It is upright already, and has no metadata.
            self.core.copied = True
            return
        self.load()
        image = self._with_exif()
        if not self.core.native:
            size = ImageOps.exif_transpose(image).size
            self._by_pillow("exif_transpose", size=size)
            return
        turn = _ORIENTATIONS.get(image.getexif().get(_ORIENTATION, 1))
        self.core.copied = True
        if turn is not None:
            # What Pillow does to the metadata of the result, it does to those of any image.
            pixel = Image.new("L", (1, 1))
            pixel.info = dict(self.info or {})
            info = ImageOps.exif_transpose(pixel).info
            self.pillow_transpose(turn)
            self.info = info or None

    def _with_exif(self) -> Image.Image:
        """Return an image with the metadata of the one so far."""
        image: Image.Image = self.image
        if self.core.count or self.core.copied or self.core.source != PIL_IMAGE:
            image = Image.new("L", (1, 1))
            image.info = dict(self.info or {})
        return image

    def pillow_crop(self, box: Any) -> None:
        if box is None or box == (0, 0, self.core.width, self.core.height):
            if self.core.native:
                self.core.copied = True
            else:
                self._by_pillow("crop", None)
            return
        try:
            ends = box[2] < box[0] or box[3] < box[1]
        except (TypeError, IndexError) as error:
            wanted = "box must be None or four numbers, left, upper, right, lower"
            raise type(error)(f"{wanted}, got {box!r}") from None
        if ends:
            raise ValueError(f"box must not end before it begins, got {box!r}")
        try:
            left, upper, right, lower = map(int, map(round, box))
        except (TypeError, ValueError, OverflowError):
            self._by_pillow("crop", box)
            return
        width, height = right - left, lower - upper
        most = Image.MAX_IMAGE_PIXELS
        small = most is None or width * height <= most
        near = max(abs(left), abs(upper)) <= _MAX_SIDE
        if self.core.native and near and small and _sides((width, height)) is not None:
            self._appended(ops.window(upper, left, height, width), alone=True)
            self.core.height, self.core.width = height, width
        else:
            self._by_pillow("crop", box, size=(width, height))

    def pillow_resize(self, size: Any, resample: Any, box: Any, reducing_gap: Any) -> None:
        number = _BICUBIC if resample is None else _index(resample)
        if reducing_gap is not None and reducing_gap < 1.0:
            raise ValueError(f"reducing_gap must be 1.0 or more, got {reducing_gap!r}")
        sides = _sides(size)
        all_of_it = (0, 0, self.core.width, self.core.height)
        if number in _FILTERS and self.core.native and sides is not None and (box is None or tuple(box) == all_of_it):
            width, height = sides
            if sides == (self.core.width, self.core.height) and (box is None or box == all_of_it):
                self.core.copied = True
                return
            gaps = reducing_gap is not None and number != _NEAREST
            if not gaps or max(self.core.width / width, self.core.height / height) / reducing_gap < 2:
                self._resized(width, height, number)
                return
        self._by_pillow("resize", size, resample, box, reducing_gap, size=size)

    def _resized(self, width: int, height: int, number: int) -> None:
        if number == _NEAREST:
            self._appended(ops.nearest(height, width, ops.NEAREST_PILLOW), alone=True)
        elif self.core.mode in ALPHA_MODES:
            resize = ops.resize(height, width, number | RESIZE_FLAGS)
            self._appended(ops.PREMULTIPLY, resize, ops.UNPREMULTIPLY)
        else:
            self._appended(ops.resize(height, width, number | RESIZE_FLAGS))
        self.core.height, self.core.width = height, width

    def pillow_rotate(
        self, angle: Any, resample: Any, expand: Any, center: Any, translate: Any, fillcolor: Any
    ) -> None:
        try:
            turn = angle % 360.0
        except TypeError:
            raise TypeError(f"angle must be a number of degrees, got {angle!r}") from None
        if not (center or translate):
            if turn == 0:
                self.pillow_crop(None)
                return
            if turn == 180 or (turn in (90, 270) and (expand or self.core.width == self.core.height)):
                self.pillow_transpose({90: 2, 180: 3, 270: 4}[int(turn)])
                return
        height, width, matrix = matrices.rotation(
            self.core.height,
            self.core.width,
            turn,
            bool(expand),
            center,
            None,
            (0, 0) if translate is None else translate,
        )
        self.pillow_transform((width, height), _AFFINE, matrix, resample, 1, fillcolor)

    def pillow_transform(self, size: Any, method: Any, data: Any, resample: Any, fill: Any, fillcolor: Any) -> None:
        sides = _sides(size)
        coefficients = None
        number = _index(resample)
        drawn = (
            self.core.native
            and number in _WARP_FILTERS
            and isinstance(size, (list, tuple))
            and rounding.follows("warps")
        )
        if drawn and sides is not None and isinstance(method, int):
            coefficients = _coefficients(method, data, sides)
        if sides is None or number is None or coefficients is None:
            self._by_pillow("transform", size, method, data, resample, fill, fillcolor, size=size)
            return
        width, height = sides
        mixes = number != _NEAREST and self.core.mode in ALPHA_MODES
        ink = _ink({"LA": "La", "RGBA": "RGBa"}[self.core.mode or ""] if mixes else self.core.mode or "", fillcolor)
        pack = ops.perspective if len(coefficients) == 8 else ops.affine
        op = pack(height, width, number, coefficients, ink)
        # The fill is not premultiplied: Pillow paints it into the premultiplied image.
        self._appended(*((ops.PREMULTIPLY, op, ops.UNPREMULTIPLY) if mixes else (op,)))
        self.core.height, self.core.width = height, width

    # ImageOps of geometry.

    def pillow_crop_border(self, border: Any) -> None:
        left, top, right, bottom = _borders(border)
        self.pillow_crop((left, top, self.core.width - right, self.core.height - bottom))

    def pillow_scale(self, factor: Any, resample: Any) -> None:
        if factor == 1:
            self.pillow_crop(None)
            return
        if factor <= 0:
            raise ValueError(f"factor must be more than 0, got {factor!r}")
        self.pillow_resize((round(factor * self.core.width), round(factor * self.core.height)), resample, None, None)

    def pillow_in_proportion(self, name: str, size: Any, method: Any) -> None:
        """Resize to the largest size within `size` of the image's proportions ("contain"), or the least around it."""
        wanted_size = size
        if not (self.core.height and size[1]):
            self._by_pillow(name, size, method, size=(0, 0) if self.core.height else (size[0], 0))
            return
        ratio = self.core.width / self.core.height
        wanted = size[0] / size[1]
        if ratio != wanted:
            if ratio > wanted if name == "contain" else ratio < wanted:
                size = (size[0], round(self.core.height / self.core.width * size[0]))
            else:
                size = (round(self.core.width / self.core.height * size[1]), size[1])
        if name == "contain" and min(size) == 0:
            self._by_pillow(name, wanted_size, method, size=size)
        else:
            self.pillow_resize(size, method, None, None)

    def pillow_fit(self, size: Any, method: Any, bleed: Any, centering: Any) -> None:
        across, down = (at if 0.0 <= at <= 1.0 else 0.5 for at in centering)
        bleed = bleed if 0.0 <= bleed < 0.5 else 0.0
        margin = bleed * self.core.width, bleed * self.core.height
        width, height = self.core.width - margin[0] * 2, self.core.height - margin[1] * 2
        if min(size) == 0 or height == 0:
            self._by_pillow("fit", size, method, bleed, centering, size=size)
            return
        kept_width, kept_height = width, height
        ratio, wanted = width / height, size[0] / size[1]
        if ratio > wanted:
            kept_width = wanted * height
        elif ratio < wanted:
            kept_height = width / wanted
        left = margin[0] + (width - kept_width) * across
        top = margin[1] + (height - kept_height) * down
        self.pillow_resize(size, method, (left, top, left + kept_width, top + kept_height), None)

    def pillow_expand(self, border: Any, fill: Any) -> None:
        left, top, right, bottom = _borders(border)
        size = (left + self.core.width + right, top + self.core.height + bottom)
        if not self._placed(size, left, top, fill):
            self._by_pillow("expand", border, fill, size=size)

    def _placed(self, size: Any, left: int, top: int, fill: Any) -> bool:
        """Put the image on a canvas of a colour. Return False, with nothing done, where Pillow must do it."""
        sides = _sides(size)
        try:
            left, top = operator.index(left), operator.index(top)
        except TypeError:
            return False
        if not self.core.native or sides is None or max(abs(left), abs(top)) > _MAX_SIDE:
            return False
        width, height = sides
        mode = self.core.mode or ""
        ink = _ink(mode, ImageColor.getcolor(fill, mode) if isinstance(fill, str) else fill)
        self._appended(ops.window(-top, -left, height, width, ink), alone=True)
        self.core.height, self.core.width = height, width
        self.info = {"transparency": self.info["transparency"]} if self.info and "transparency" in self.info else None
        return True

    def pillow_pad(self, size: Any, method: Any, color: Any, centering: Any) -> None:
        if not self.core.native or _sides(size) is None:
            self._by_pillow("pad", size, method, color, centering, size=size)
            return
        self.pillow_in_proportion("contain", size, method)
        if (self.core.width, self.core.height) == size:
            return
        left = top = 0
        if self.core.width != size[0]:
            left = round((size[0] - self.core.width) * max(0, min(centering[0], 1)))
        else:
            top = round((size[1] - self.core.height) * max(0, min(centering[1], 1)))
        if not self._placed(size, left, top, color):
            self._by_pillow("place", size, left, top, color, size=size)


def _coefficients(method: int, data: Any, size: tuple[int, int]) -> list[float] | None:
    """Return the six or eight coefficients of a map from output to input, or None if the core lacks such maps."""
    try:
        if method == _AFFINE:
            coefficients = [float(number) for number in data[:6]]
        elif method == _PERSPECTIVE:
            coefficients = [float(number) for number in data[:8]]
        elif method == _EXTENT:
            x0, y0, x1, y1 = data
            coefficients = [float((x1 - x0) / size[0]), 0.0, float(x0), 0.0, float((y1 - y0) / size[1]), float(y0)]
        else:
            return None
    except (TypeError, ValueError):
        return None
    if not all(isinstance(number, numbers.Real) for number in data):
        return None
    wanted = 8 if method == _PERSPECTIVE else 6
    return coefficients if len(coefficients) == wanted and all(map(math.isfinite, coefficients)) else None
