"""Functions of geometry."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from fastaug._draft.draft import Draft
from fastaug._draft.interpolation import InterpolationMode, as_interpolation
from fastaug._draft.progress import applied, begun, dimensions, ended, in_progress, is_pil
from fastaug._draft.replaced import TransformDraft, functions
from fastaug._fallback import pil as pil_fallback
from fastaug._fallback import tensor as tensor_fallback
from fastaug._image.types import ImageT
from fastaug._names import export_functions
from fastaug._program import arguments


def resize(
    img: ImageT,
    size: int | Sequence[int],
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> ImageT:
    """The image in another size. The same object comes back when the size does not change.

    Args:
        size: (height, width); or an int or sequence of one for the shorter side, keeping the proportions.
        interpolation: any mode on PIL images and arrays; NEAREST, NEAREST_EXACT, BILINEAR or BICUBIC on tensors.
            NEAREST on tensors follows torch's rule for the source pixel, elsewhere Pillow's.
        max_size: limit of the longer side, where ``size`` is the shorter one.
        antialias: on tensors, whether BILINEAR and BICUBIC widen their filter when shrinking (None means False). PIL
            images and arrays always do.

    Raises:
        TypeError: wrong type of image or interpolation.
        ValueError: wrong length of ``size``, or a ``max_size`` that is not above it.

    Example:
        >>> from PIL import Image
        >>> resize(Image.new("RGB", (40, 30)), 15).size
        (20, 15)
    """
    return applied(img, "resize", size, interpolation, max_size, antialias)


def pad(
    img: ImageT, padding: int | Sequence[int], fill: float | Sequence[float] = 0, padding_mode: str = "constant"
) -> ImageT:
    """The image with a border.

    Args:
        padding: pixels on all sides, or (left and right, top and bottom), or (left, top, right, bottom). Negative
            ones crop.
        fill: colour of a constant border: a number, or one per channel (not on tensors).
        padding_mode: "constant"; "edge" repeats the border pixel; "reflect" mirrors without and "symmetric" with it.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong length of ``padding`` or ``fill``, or unknown ``padding_mode``.
        RuntimeError: on tensors, reflection of more pixels than there are.

    Example:
        >>> from PIL import Image
        >>> pad(Image.new("L", (4, 3)), (1, 2)).size
        (6, 7)
    """
    return applied(img, "pad", padding, fill, padding_mode)


def crop(img: ImageT, top: int, left: int, height: int, width: int) -> ImageT:
    """A box of the image, with zeros where it reaches beyond. A box inside a tensor is a view of it.

    Args:
        top, left: first row and column.
        height, width: rows and columns.

    Raises:
        TypeError: not an image.

    Example:
        >>> from PIL import Image
        >>> crop(Image.new("RGB", (40, 30)), 2, 3, 10, 20).size
        (20, 10)
    """
    if isinstance(img, Tensor):
        return tensor_fallback.crop(img, top, left, height, width)
    return applied(img, "crop", top, left, height, width)


def center_crop(img: ImageT, output_size: int | Sequence[int]) -> ImageT:
    """The middle of the image, with zeros around it where it is smaller than that.

    Args:
        output_size: (height, width), or an int or sequence of one for a square.

    Raises:
        TypeError: not an image.

    Example:
        >>> from PIL import Image
        >>> center_crop(Image.new("RGB", (40, 30)), (50, 20)).size
        (20, 50)
    """
    if not functions:
        return applied(img, "center_crop", output_size)
    draft = begun(img, TransformDraft)
    Draft.center_crop(draft, output_size)
    return ended(draft, img)


def resized_crop(
    img: ImageT,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int],
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    antialias: bool | None = True,
) -> ImageT:
    """A box of the image, resized. Pixels outside the box do not count.

    Args:
        top, left: first row and column.
        height, width: rows and columns.
        size: as in :func:`resize`.
        interpolation, antialias: as in :func:`resize`.

    Raises:
        TypeError: wrong type of image or interpolation.
        ValueError: wrong length of ``size``.

    Example:
        >>> from PIL import Image
        >>> resized_crop(Image.new("RGB", (40, 30)), 2, 3, 10, 20, (5, 5)).size
        (5, 5)
    """
    if not functions:
        return applied(img, "resized_crop", top, left, height, width, size, interpolation, antialias)
    draft = begun(img, TransformDraft)
    Draft.resized_crop(draft, top, left, height, width, size, interpolation, antialias)
    return ended(draft, img)


def hflip(img: ImageT) -> ImageT:
    """The image mirrored left to right.

    Raises:
        TypeError: not an image.

    Example:
        >>> import torch
        >>> hflip(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8))
        tensor([[[3, 2, 1]]], dtype=torch.uint8)
    """
    return applied(img, "hflip")


def vflip(img: ImageT) -> ImageT:
    """The image turned upside down, as a mirror does.

    Raises:
        TypeError: not an image.

    Example:
        >>> import torch
        >>> vflip(torch.tensor([[[1], [2]]], dtype=torch.uint8))
        tensor([[[2],
                 [1]]], dtype=torch.uint8)
    """
    return applied(img, "vflip")


def rotate(
    img: ImageT,
    angle: float,
    interpolation: InterpolationMode | int = InterpolationMode.NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: float | Sequence[float] | None = None,
) -> ImageT:
    """The image rotated.

    Args:
        angle: degrees, counter-clockwise.
        interpolation: NEAREST, BILINEAR, or BICUBIC (not on tensors).
        expand: enlarge the image so that all of it stays visible; supposes rotation about the centre.
        center: (x, y) in pixels from the top left corner; the middle of the image by default.
        fill: colour of the corners: a number, one per channel, or None for 0.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong length of ``fill``, or an interpolation that rotation does not have.

    Example:
        >>> from PIL import Image
        >>> rotate(Image.new("RGB", (40, 30)), 90, expand=True).size
        (30, 40)
    """
    return applied(img, "rotate", angle, interpolation, expand, center, fill)


def affine(
    img: ImageT,
    angle: float,
    translate: Sequence[int],
    scale: float,
    shear: float | Sequence[float],
    interpolation: InterpolationMode | int = InterpolationMode.NEAREST,
    fill: float | Sequence[float] | None = None,
    center: Sequence[float] | None = None,
) -> ImageT:
    """The image rotated, scaled and sheared about its middle, then moved. Its size stays.

    Args:
        angle: degrees, clockwise.
        translate: (right, down) in pixels.
        scale: scale, above 0.
        shear: degrees, clockwise: along x, or (along x, along y).
        interpolation: NEAREST, BILINEAR, or BICUBIC (not on tensors).
        fill: colour of what lies outside the image: a number, one per channel, or None for 0.
        center: (x, y) in pixels from the top left corner; the middle of the image by default.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong length of a sequence, a scale that is not positive, or an interpolation that there is not.

    Example:
        >>> import torch
        >>> affine(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8), 0.0, [1, 0], 1.0, 0.0)
        tensor([[[0, 1, 2]]], dtype=torch.uint8)
    """
    return applied(img, "affine", angle, translate, scale, shear, interpolation, fill, center)


def perspective(
    img: ImageT,
    startpoints: Sequence[Sequence[int]],
    endpoints: Sequence[Sequence[int]],
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    fill: float | Sequence[float] | None = None,
) -> ImageT:
    """The image in the perspective that takes four points of it to four others. Its size stays.

    Args:
        startpoints: four points [x, y] of the image, such as its corners.
        endpoints: where they go.
        interpolation, fill: as in :func:`affine`.

    Raises:
        TypeError: wrong type of image or interpolation.
        ValueError: not four points, wrong length of ``fill``, or an interpolation that warps do not have.

    Example:
        >>> from PIL import Image
        >>> corners = [[0, 0], [39, 0], [39, 29], [0, 29]]
        >>> perspective(Image.new("RGB", (40, 30)), corners, [[4, 2], [35, 0], [39, 29], [0, 29]]).size
        (40, 30)
    """
    return applied(img, "perspective", startpoints, endpoints, interpolation, fill)


def elastic_transform(
    img: ImageT,
    displacement: Tensor,
    interpolation: InterpolationMode | int = InterpolationMode.BILINEAR,
    fill: float | Sequence[float] | None = None,
) -> ImageT:
    """The image sampled where a field says; in every container as torchvision samples tensors.

    Args:
        displacement: tensor of shape (1, height, width, 2): how far to the right and below each pixel is taken from, as
            a share of half the width and height.
        interpolation: NEAREST or BILINEAR.
        fill: colour of what lies outside the image: a number, one per channel, or None for 0.

    Raises:
        TypeError: not an image, or ``displacement`` is not a tensor.
        ValueError: wrong shape of ``displacement``.

    Example:
        >>> import torch
        >>> elastic_transform(torch.ones(3, 4, 5), torch.zeros(1, 4, 5, 2)).shape
        torch.Size([3, 4, 5])
    """
    mode: Any = interpolation
    if isinstance(mode, int):
        warnings.warn(
            "Argument interpolation should be of type InterpolationMode instead of int. "
            "Please, use InterpolationMode enum.",
            stacklevel=2,
        )
        mode = as_interpolation(mode)
    return applied(img, "elastic_transform", displacement, mode, fill)


def gaussian_blur(
    img: ImageT, kernel_size: int | Sequence[int], sigma: float | Sequence[float] | None = None
) -> ImageT:
    """The image blurred by a Gaussian; in every container as torchvision blurs tensors.

    The border is mirrored, so the image must be larger than half the kernel.

    Args:
        img: image; tensors with at most one leading dimension.
        kernel_size: (width, height) of the kernel in pixels, both odd; or an int for both.
        sigma: (horizontal, vertical) standard deviation in pixels, or one for both; by default
            0.15 * kernel_size + 0.35.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong length of an argument, a size that is even, or a ``sigma`` that is not positive.
        RuntimeError: the kernel is too large for the image.

    Example:
        >>> from PIL import Image
        >>> gaussian_blur(Image.new("RGB", (40, 30)), 5).size
        (40, 30)
    """
    return applied(img, "gaussian_blur", kernel_size, sigma)


def five_crop(img: ImageT, size: int | Sequence[int]) -> tuple[ImageT, ImageT, ImageT, ImageT, ImageT]:
    """The top left, top right, bottom left and bottom right corner and the middle of the image.

    Args:
        size: (height, width) of each, or an int or sequence of one for squares.

    Raises:
        TypeError: not an image.
        ValueError: wrong length of ``size``, or a size above the image's.

    Example:
        >>> from PIL import Image
        >>> [crop.size for crop in five_crop(Image.new("RGB", (40, 30)), (10, 20))]
        [(20, 10), (20, 10), (20, 10), (20, 10), (20, 10)]
    """
    if in_progress(img) is not None:
        raise TypeError("img is an image in progress, of which only one image can be made: crop it instead")
    crop_height, crop_width = arguments.two_sides(size)
    _, height, width = dimensions(img)
    if crop_width > width or crop_height > height:
        raise ValueError(f"Requested crop size {(crop_height, crop_width)} is bigger than input size {(height, width)}")
    bottom, right = height - crop_height, width - crop_width
    cut: Any = functions.get("crop", pil_fallback.crop if is_pil(img) else crop)
    top_left, top_right, bottom_left, bottom_right = (
        cut(img, top, left, crop_height, crop_width) for top, left in ((0, 0), (0, right), (bottom, 0), (bottom, right))
    )
    if "center_crop" in functions:
        center = functions["center_crop"](img, [crop_height, crop_width])
    else:
        center = cut(img, round(bottom / 2.0), round(right / 2.0), crop_height, crop_width)
    return top_left, top_right, bottom_left, bottom_right, center


def ten_crop(img: ImageT, size: int | Sequence[int], vertical_flip: bool = False) -> tuple[ImageT, ...]:
    """The crops of :func:`five_crop`, and the same five of the mirrored image.

    Args:
        size: as in :func:`five_crop`.
        vertical_flip: mirror top to bottom instead of left to right.

    Raises:
        TypeError: not an image.
        ValueError: wrong length of ``size``, or a size above the image's.

    Example:
        >>> from PIL import Image
        >>> len(ten_crop(Image.new("RGB", (40, 30)), 10))
        10
    """
    size = arguments.two_sides(size)
    five = functions.get("five_crop", five_crop)
    first: tuple[Any, ...] = five(img, size)
    flip = functions.get("vflip", vflip) if vertical_flip else functions.get("hflip", hflip)
    return first + five(flip(img), size)  # type: ignore[no-any-return]


def erase(img: Tensor, i: int, j: int, h: int, w: int, v: Tensor, inplace: bool = False) -> Tensor:
    """A tensor image with a box of it overwritten.

    Args:
        img: tensor of shape (..., channels, height, width).
        i, j: first row and column.
        h, w: rows and columns.
        v: what is written: anything that can be assigned to the box.
        inplace: write into ``img`` itself.

    Raises:
        TypeError: not a tensor.

    Example:
        >>> import torch
        >>> erase(torch.ones(1, 2, 3), 0, 1, 2, 1, torch.tensor(0.0))
        tensor([[[1., 0., 1.],
                 [1., 0., 1.]]])
    """
    if (draft := in_progress(img)) is not None:
        draft.overwrite(i, j, h, w, v, inplace)
        return ended(draft, img)
    if not isinstance(img, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(img)}")
    return tensor_fallback.erase(img, i, j, h, w, v, inplace)


export_functions(globals())
