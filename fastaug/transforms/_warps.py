"""Transforms that move pixels along a rotation, a shear, a perspective or a random field."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from fastaug._draft import recipe
from fastaug._draft.draft import Draft
from fastaug._draft.draws import Draws, TorchDraws, drawn_from
from fastaug._draft.interpolation import InterpolationMode, stored_interpolation
from fastaug._draft.tape import generator_at, noise_state
from fastaug._fallback import warp
from fastaug._program import arguments
from fastaug.transforms._base import Transform, check_fill, fill_of, happens

__all__ = ["ElasticTransform", "RandomAffine", "RandomPerspective", "RandomRotation"]

Affine = tuple[float, tuple[int, int], float, tuple[float, float]]
Points = list[list[int]]
#: A number in [0, 1) for each pixel, for the horizontal and for the vertical displacement: (1, 1, height, width).
Noise = tuple[Tensor, Tensor]

_TORCH = TorchDraws()


class RandomRotation(Transform):
    """The image rotated by a random angle.

    Args:
        degrees: x for angles in [-x, x], or (low, high); counter-clockwise.
        interpolation: NEAREST, BILINEAR, or BICUBIC (not on tensors); or Pillow's integer.
        expand: enlarge the image so that all of it stays visible; supposes rotation about the centre.
        center: (x, y) in pixels from the top left corner; the middle of the image by default.
        fill: colour of the corners: a number, or one per channel.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: negative ``degrees``, or a pair that is none.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.RandomRotation((90, 90), expand=True)(Image.new("RGB", (40, 30))).size
        (30, 40)
    """

    _drawn = ("angle",)
    _shown = ("degrees", "interpolation.value", "expand", "center", "fill")
    _unless: ClassVar[dict[str, Any]] = {"center": None, "fill": None}

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: InterpolationMode | int = InterpolationMode.NEAREST,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: float | Sequence[float] | None = 0,
    ) -> None:
        super().__init__()
        self.interpolation = stored_interpolation(interpolation)
        self.degrees = angles(degrees, "degrees", (2,))
        if center is not None:
            check_lengths(center, "center", (2,))
        self.center = center
        self.expand = expand
        self.fill = _stored_fill(fill)

    @staticmethod
    def get_params(degrees: Sequence[float]) -> float:
        """Draws an angle in degrees.

        Example:
            >>> import fastaug.transforms as T
            >>> T.RandomRotation.get_params((30, 30))
            30.0
        """
        return _draw_angle(_TORCH, degrees)

    def _sample(self, draft: Draft) -> float:
        check_fill(self.fill, draft)
        return self._drawn_by(_draw_angle, draft, self.degrees)  # type: ignore[no-any-return]

    def _draft(self, draft: Draft, params: float) -> None:
        fill = fill_of(self.fill, draft.kind, draft.channels)
        draft.rotate(params, self.interpolation, self.expand, self.center, fill)

    def _packed(self) -> recipe.Packed:
        by, expand = recipe.resampling(self.interpolation), recipe.truth(self.expand)
        fill = recipe.filling(self.fill)
        return "RandomRotation", recipe.interval(self.degrees), by, expand, recipe.centre(self.center), fill


def _draw_angle(draws: Draws, degrees: Sequence[float]) -> float:
    return draws.uniform(float(degrees[0]), float(degrees[1]))


class RandomAffine(Transform):
    """The image rotated, moved, scaled and sheared at random, about its middle.

    Draws the angle, then, for those that are given, the horizontal and the vertical shift, the scale, and the shears.

    Args:
        degrees: x for angles in [-x, x], or (low, high); clockwise.
        translate: greatest shift, (share of the width, share of the height); shifts are whole pixels.
        scale: (low, high) of the scale.
        shear: degrees; x for [-x, x] along x, or (low, high) along x, or (low, high, low, high) along x and y.
        interpolation: NEAREST, BILINEAR, or BICUBIC (not on tensors); or Pillow's integer.
        fill: colour of what lies outside the image: a number, or one per channel.
        center: (x, y) in pixels from the top left corner; the middle of the image by default.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong length of a sequence, or a number out of range.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.RandomAffine(10, translate=(0.1, 0.1), scale=(0.9, 1.1))(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _drawn = ("angle", "translate", "scale", "shear")
    _shown = ("degrees", "translate", "scale", "shear", "interpolation.value", "fill", "center")
    _unless: ClassVar[dict[str, Any]] = {
        **dict.fromkeys(("translate", "scale", "shear", "center")),
        "interpolation.value": "nearest",
        "fill": 0,
    }

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: InterpolationMode | int = InterpolationMode.NEAREST,
        fill: float | Sequence[float] | None = 0,
        center: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        self.interpolation = stored_interpolation(interpolation)
        self.degrees = angles(degrees, "degrees", (2,))
        check_affine(translate, scale, center)
        self.translate = translate
        self.scale = scale
        self.shear = None if shear is None else angles(shear, "shear", (2, 4))
        self.fill = _stored_fill(fill)
        self.center = center

    @staticmethod
    def get_params(
        degrees: Sequence[float],
        translate: Sequence[float] | None,
        scale_ranges: Sequence[float] | None,
        shears: Sequence[float] | None,
        img_size: Sequence[int],
    ) -> Affine:
        """Draws (angle, (shift in x, shift in y), scale, (shear in x, shear in y)) for an image of (width, height).

        Example:
            >>> import fastaug.transforms as T
            >>> T.RandomAffine.get_params((0, 0), None, None, (5, 5), (40, 30))
            (0.0, (0, 0), 1.0, (5.0, 0.0))
        """
        return draw_affine(_TORCH, degrees, translate, scale_ranges, shears, img_size)

    def _sample(self, draft: Draft) -> Affine:
        check_fill(self.fill, draft)
        size = [draft.width, draft.height]
        drawn: Affine = self._drawn_by(draw_affine, draft, self.degrees, self.translate, self.scale, self.shear, size)
        return drawn

    def _draft(self, draft: Draft, params: Affine) -> None:
        fill = fill_of(self.fill, draft.kind, draft.channels)
        angle, translate, scale, shear = params
        draft.affine(angle, translate, scale, shear, self.interpolation, fill, self.center)

    def _packed(self) -> recipe.Packed:
        return packed_affine(self, recipe.resampling(self.interpolation), recipe.filling(self.fill))


def packed_affine(transform: Any, by: Any, fill: Any) -> recipe.Packed:
    """Return the recipe's step of RandomAffine, with this sampling and fill."""
    shares = None if transform.translate is None else recipe.interval(transform.translate)
    if shares is not None and not (0.0 <= shares[0] <= 1.0 and 0.0 <= shares[1] <= 1.0):
        raise recipe.NoRecipe
    scale = None if transform.scale is None else recipe.interval(transform.scale)
    shear = () if transform.shear is None else recipe.sequence(transform.shear, 2, 4)
    shears = [recipe.interval(shear[k : k + 2]) if len(shear) > k else None for k in (0, 2)]
    centre = recipe.centre(transform.center)
    return "RandomAffine", recipe.interval(transform.degrees), shares, scale, *shears, by, centre, fill


def check_affine(translate: Any, scale: Any, center: Any) -> None:
    """Check the arguments of RandomAffine that are None or pairs."""
    for name, given in (("translate", translate), ("scale", scale), ("center", center)):
        if given is not None:
            check_lengths(given, name, (2,))
    if translate is not None and not all(0.0 <= share <= 1.0 for share in translate):
        raise ValueError(f"translation values should be between 0 and 1. Got {translate}")
    if scale is not None and any(factor <= 0 for factor in scale):
        raise ValueError(f"scale values should be positive. Got {scale}")


def draw_affine(
    draws: Draws,
    degrees: Sequence[float],
    translate: Sequence[float] | None,
    scale_ranges: Sequence[float] | None,
    shears: Sequence[float] | None,
    size: Sequence[int],
) -> Affine:
    angle = _draw_angle(draws, degrees)
    shift = (0, 0)
    if translate is not None:
        limit_x, limit_y = float(translate[0] * size[0]), float(translate[1] * size[1])
        shift_x = round(draws.uniform(-limit_x, limit_x))
        shift = (shift_x, round(draws.uniform(-limit_y, limit_y)))
    scale = 1.0
    if scale_ranges is not None:
        scale = draws.uniform(scale_ranges[0], scale_ranges[1])
    shear_x = shear_y = 0.0
    if shears is not None:
        shear_x = draws.uniform(shears[0], shears[1])
        if len(shears) == 4:
            shear_y = draws.uniform(shears[2], shears[3])
    return angle, shift, scale, (shear_x, shear_y)


class RandomPerspective(Transform):
    """The image as seen from a random side, with probability ``p``.

    Draws whether it happens, then x and y of the new top left, top right, bottom right and bottom left corner.

    Args:
        distortion_scale: how far corners move: in [0, 1], as a share of half the image's sides.
        interpolation: NEAREST, BILINEAR, or BICUBIC (not on tensors); or Pillow's integer.
        fill: colour of what lies outside the image: a number, or one per channel.

    Raises:
        TypeError: wrong type of ``fill``; when called, of ``interpolation`` or of the image.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.RandomPerspective(p=1.0)(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _drawn = ("startpoints", "endpoints")
    _shown = ("p",)

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        fill: float | Sequence[float] | None = 0,
    ) -> None:
        super().__init__()
        self.p = p
        self.interpolation = stored_interpolation(interpolation)
        self.distortion_scale = distortion_scale
        self.fill = _stored_fill(fill)

    @staticmethod
    def get_params(width: int, height: int, distortion_scale: float) -> tuple[Points, Points]:
        """Draws (corners of the image, where they go): top left, top right, bottom right, bottom left; each [x, y].

        Example:
            >>> import fastaug.transforms as T
            >>> T.RandomPerspective.get_params(40, 30, 0.0)[1]
            [[0, 0], [39, 0], [39, 29], [0, 29]]
        """
        return draw_corners(_TORCH, width, height, distortion_scale)

    def _sample(self, draft: Draft) -> tuple[Points, Points] | None:
        check_fill(self.fill, draft)
        if not happens(draft.call.draws, self.p):
            return None
        corners: tuple[Points, Points] = self._drawn_by(
            draw_corners, draft, draft.width, draft.height, self.distortion_scale
        )
        return corners

    def _draft(self, draft: Draft, params: tuple[Points, Points] | None) -> None:
        if params is not None:
            fill = fill_of(self.fill, draft.kind, draft.channels)
            draft.perspective(params[0], params[1], self.interpolation, fill)

    def _packed(self) -> recipe.Packed:
        by, fill = recipe.resampling(self.interpolation), recipe.filling(self.fill)
        scale = float(recipe.number(self.distortion_scale))
        return recipe.happening(recipe.chance(self.p), "Perspective", scale, by, fill)


def draw_corners(draws: Draws, width: int, height: int, distortion_scale: float) -> tuple[Points, Points]:
    half_height, half_width = height // 2, width // 2
    draw = draws.randint
    slack_x = int(distortion_scale * half_width)
    left = draw(0, slack_x + 1)
    slack_y = int(distortion_scale * half_height)
    endpoints = [
        [left, draw(0, slack_y + 1)],
        [draw(width - slack_x - 1, width), draw(0, slack_y + 1)],
        [draw(width - slack_x - 1, width), draw(height - slack_y - 1, height)],
        [draw(0, slack_x + 1), draw(height - slack_y - 1, height)],
    ]
    return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], endpoints


class ElasticTransform(Transform):
    """The image moved along a smooth random field, as seen through moving water.

    Draws one number per pixel for the horizontal and then one for the vertical displacement, and blurs both. Every
    container is sampled as torchvision samples tensors.

    Args:
        alpha: strength: a float, or two for horizontal and vertical.
        sigma: standard deviation of the blur in pixels: a float, or two for horizontal and vertical.
        interpolation: NEAREST or BILINEAR; or Pillow's integer.
        fill: colour of what lies outside the image: a number, or one per channel.

    Raises:
        TypeError: ``alpha`` or ``sigma`` is not made of floats, or ``fill`` not of numbers.
        ValueError: wrong length of ``alpha`` or ``sigma``.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.ElasticTransform(alpha=20.0)(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _drawn = ("noise",)
    _apart = True
    _shown = ("alpha", "sigma", "interpolation", "fill")

    def __init__(
        self,
        alpha: float | Sequence[float] = 50.0,
        sigma: float | Sequence[float] = 5.0,
        interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
        fill: float | Sequence[float] = 0,
    ) -> None:
        super().__init__()
        self.alpha = _two_floats(alpha, "alpha")
        self.sigma = _two_floats(sigma, "sigma")
        self.interpolation = stored_interpolation(interpolation)
        given: Any = fill
        if isinstance(given, (int, float)):
            given = [given]
        elif not isinstance(given, (list, tuple)):
            raise TypeError(f"fill should be int or float or a list or tuple of them. Got {type(fill)}")
        self.fill = [float(value) for value in given]

    @staticmethod
    def get_params(alpha: Sequence[float], sigma: Sequence[float], size: list[int]) -> Tensor:
        """Draws the displacements for an image of (height, width), in grid_sample's units: (1, height, width, 2).

        Example:
            >>> import fastaug.transforms as T
            >>> T.ElasticTransform.get_params([50.0, 50.0], [5.0, 5.0], [24, 32]).shape
            torch.Size([1, 24, 32, 2])
        """
        drawn = (torch.rand([1, 1] + size, **drawn_from(None)) for _ in range(2))
        return _displacement(drawn, alpha, sigma, size)

    def _sample(self, draft: Draft) -> Tensor | Noise | bytes:
        """Draw the noise; for a tape, the state it is drawn from; by a user's get_params, the displacements."""
        _, height, width = draft.dimensions()
        call = draft.call
        if self.get_params is not self._own_params:
            return self._asked(draft, self.alpha, self.sigma, [height, width])  # type: ignore[no-any-return]
        call.draws.release()
        state = None if call.tape is None else noise_state(call.draws)
        noise = _draw_noise(call.draws.generator, self.sigma, [height, width])
        return noise if state is None else state

    def _draft(self, draft: Draft, params: Tensor | Noise | bytes) -> None:
        draft.apart(partial(self._move, params))

    def _move(self, params: Tensor | Noise | bytes, draft: Draft) -> None:
        _, height, width = draft.dimensions()
        if not isinstance(params, (Tensor, tuple)):
            params = _draw_noise(generator_at(params), self.sigma, [height, width])
        displacement = params
        if not isinstance(displacement, Tensor):
            displacement = _displacement(displacement, self.alpha, self.sigma, displacement[0].shape[-2:])
        draft.elastic_transform(displacement, self.interpolation, self.fill)

    def forward(self, tensor: Any) -> Any:
        """The transformed image, in the container of ``tensor``."""
        return super().forward(tensor)


def _draw_noise(generator: torch.Generator | None, sigma: Sequence[float], size: list[int]) -> Noise:
    return _draw_plane(generator, 0, sigma, size), _draw_plane(generator, 1, sigma, size)


def _draw_plane(generator: torch.Generator | None, axis: int, sigma: Sequence[float], size: list[int]) -> Tensor:
    plane = torch.rand([1, 1, *size], **drawn_from(generator))
    extent = sigma[axis]
    if extent > 0.0:
        kernel, _ = arguments.checked_blur([kernel_size(extent)] * 2, sigma)
        if kernel[0] // 2 >= min(plane.shape[-2:]):
            # torch draws no further where the mirrored border is wider than the image.
            _smooth(plane, extent, sigma)
    return plane


def _displacement(
    noise: Iterable[Tensor], alpha: Sequence[float], sigma: Sequence[float], size: Sequence[int]
) -> Tensor:
    moved = [_smooth(plane, sigma[axis], sigma) * alpha[axis] / size[1 - axis] for axis, plane in enumerate(noise)]
    return torch.concat(moved, 1).permute([0, 2, 3, 1])


def _smooth(noise: Tensor, extent: float, sigma: Sequence[float]) -> Tensor:
    noise = noise * 2 - 1
    if extent > 0.0:
        size = kernel_size(extent)
        noise = warp.gaussian_blur(noise, *arguments.checked_blur([size, size], sigma))
    return noise


def kernel_size(extent: float) -> int:
    return int(8 * extent + 1) | 1


def check_lengths(value: Any, name: str, lengths: tuple[int, ...]) -> None:
    message = f"{name} should be a sequence of length {' or '.join(map(str, lengths))}. Got {value!r}"
    if not isinstance(value, Sequence):
        raise TypeError(message)
    if len(value) not in lengths:
        raise ValueError(message)


def angles(value: Any, name: str, lengths: tuple[int, ...]) -> list[float]:
    """Return [-x, x] for a number x, or the numbers of a sequence."""
    if isinstance(value, numbers.Number):
        number: Any = value
        if number < 0:
            raise ValueError(f"If {name} is a single number, it must be positive. Got {value}")
        return [float(-number), float(number)]
    check_lengths(value, name, lengths)
    return [float(angle) for angle in value]


def _stored_fill(fill: Any) -> Any:
    if fill is not None and not isinstance(fill, (Sequence, numbers.Number)):
        raise TypeError(f"Fill should be either a sequence or a number. Got {fill!r}")
    return 0 if fill is None else fill


def _two_floats(value: Any, name: str) -> Any:
    if isinstance(value, float):
        return [float(value), float(value)]
    if not isinstance(value, Sequence):
        raise TypeError(f"{name} should be float or a sequence of floats. Got {type(value)}")
    if len(value) != 2:
        raise ValueError(f"If {name} is a sequence its length should be 2. Got {len(value)}")
    for element in value:
        if not isinstance(element, float):
            raise TypeError(f"{name} should be a sequence of floats. Got {type(element)}")
    return value
