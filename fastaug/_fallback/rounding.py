"""Find out, once a process, whether Pillow and torch round on this machine as the core does.

A compiler may fuse a product with the sum after it, as for Pillow's wheels for ARM, and torch's kernels differ between
processors. If a library's result for a telling image differs, such ops are left to the library.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator

import numpy as np
import torch
from PIL import Image, ImageEnhance
from torch import Tensor

from fastaug import _C
from fastaug._fallback import color, pil, tensor, warp
from fastaug._program import arguments, matrices, ops
from fastaug._program.borrow import borrow_tensor, tensor_target

#: Factors of colours whose products with integers are nearly integers: the last bit of a sum decides.
_FACTORS = (0.1, 0.6, 1.4, 1.7)
#: Maps whose weights are nearly multiples of tenths, so that many sums are nearly integers or halves.
_MAPS = (
    [0.7, 0.1, 0.3, 0.1, 0.7, 0.2],
    [1.0, 0.3, 0.0, 0.0, 1.0, 0.0],
    [0.9, 0.2, 0.0, -0.2, 0.9, 0.0],
    [1.0, 0.1, 0.0, 0.1, 1.0, 0.0],
)
#: Sides of what is sampled; their product is a multiple of any vector.
_HEIGHT, _WIDTH = 96, 128
#: Rows of it that are blended, where more samples differ than in maps.
_FEW = 16

_FILTERS = {2: Image.Resampling.BILINEAR, 3: Image.Resampling.BICUBIC}

#: A pair of results that are to be equal.
Pair = tuple[Tensor, Tensor]

_answers: dict[str, bool] = {}


@functools.cache
def fuses_products() -> int:
    """Return how torch's matrix product rounds, as a flag: MKL fuses products and sums on some processors."""
    base = torch.tensor([1.0, 3.0, 1.0]).expand(1, 67, 3).contiguous()
    theta = torch.tensor([[[-1.0, 0.0], [1.0 / 3.0, 0.0], [0.0, 0.0]]])
    return ops.FUSED if torch.bmm(base, theta).any() else 0


def follows(name: str) -> bool:
    """Return True if the core gives the library's bits.

    Args:
        name: "blends", "warps" or "JPEG files" of Pillow; "colours" or "warps of tensors" of torch.
    """
    answer = _answers.get(name)
    if answer is None:
        with torch.autocast("cpu", enabled=False), torch.no_grad():
            answer = _answers[name] = all(torch.equal(*pair) for pair in _ASKED[name]())
    return answer


def described() -> dict[str, str]:
    """Describe, for each name, whether the core or the library computes it."""
    whose = {"colours": "torch", "warps of tensors": "torch"}
    shown = {"blends": "blends of PIL images", "warps": "warps of PIL images", "colours": "colours of tensors"}
    why = {"JPEG files": "whose libjpeg is as fast here, or rounds them in another way"}

    def way(name: str) -> str:
        library = whose.get(name, "Pillow")
        if follows(name):
            return f"as {library} here rounds them"
        return f"by {library}, {why.get(name, 'which rounds them in another way here')}"

    return {shown.get(name, name): way(name) for name in _ASKED}


def _image(channels: int = 3) -> Tensor:
    rng = np.random.default_rng(0)  # torch's generator stays where it is
    return torch.from_numpy(rng.integers(0, 256, (channels, _HEIGHT, _WIDTH), np.uint8))


def _run(image: Tensor, op: bytes) -> Tensor:
    result = torch.empty_like(image)
    _C.run([(op, borrow_tensor(image), tensor_target(result))])
    return result


def _planes(image: Image.Image) -> Tensor:
    return tensor.array_planes(np.array(image))


def _blends() -> Iterator[Pair]:
    image = _image()[:, :_FEW].contiguous()
    picture = tensor.to_pil_image(image, None)
    for factor in _FACTORS:
        yield _run(image, ops.by_factor("CONTRAST", factor)), _planes(ImageEnhance.Contrast(picture).enhance(factor))
        yield _run(image, ops.by_factor("SATURATION", factor)), _planes(ImageEnhance.Color(picture).enhance(factor))
        yield _run(image, ops.by_factor("SHARPNESS", factor)), _planes(ImageEnhance.Sharpness(picture).enhance(factor))


def _perspectives() -> Iterator[list[float]]:
    corners = [[0, 0], [_WIDTH - 1, 0], [_WIDTH - 1, _HEIGHT - 1], [0, _HEIGHT - 1]]
    for shift in (3, 12):
        moved = [[shift, 2], [_WIDTH - 1 - shift, shift], [_WIDTH - 2, _HEIGHT - shift], [1, _HEIGHT - 5]]
        yield matrices.perspective_coefficients(corners, moved)


def _warps() -> Iterator[Pair]:
    image = _image(1)
    picture, black = tensor.to_pil_image(image, None), bytes(4)
    for method, (pack, several) in {
        Image.Transform.AFFINE: (ops.affine, _MAPS),
        Image.Transform.PERSPECTIVE: (ops.perspective, _perspectives()),
    }.items():
        for numbers, (number, resample) in itertools.product(several, _FILTERS.items()):
            theirs = picture.transform((_WIDTH, _HEIGHT), method, numbers, resample)
            yield _run(image, pack(_HEIGHT, _WIDTH, number, numbers, black)), _planes(theirs)


def _colours() -> Iterator[Pair]:
    image = _image()[:, :_FEW].contiguous()
    for factor in _FACTORS:
        yield _run(image, ops.by_factor("TORCH_CONTRAST", factor)), color.adjust_contrast(image, factor)
        yield _run(image, ops.by_factor("TORCH_SATURATION", factor)), color.adjust_saturation(image, factor)
        yield _run(image, ops.by_factor("V2_CONTRAST", factor)), color.adjust_contrast(image, factor, v2=True)
        yield _run(image, ops.by_factor("V2_SATURATION", factor)), color.adjust_saturation(image, factor, v2=True)


def _tensor_warps() -> Iterator[Pair]:
    image, fill = _image(), [90.0]
    colour = arguments.grid_fill(fill, 3)
    assert colour is not None
    flags = 2 | fuses_products() | ops.FILLED
    for numbers in _MAPS:
        ours = _run(image, ops.torch_affine(_HEIGHT, _WIDTH, 2 | fuses_products(), numbers, bytes(4)))
        yield ours, warp.affine_map(image, numbers, 2, "bilinear", None, v2=True)
    for numbers in _perspectives():
        ours = _run(image, ops.torch_perspective(_HEIGHT, _WIDTH, flags, numbers, colour))
        yield ours, warp.perspective(image, numbers, 2, "bilinear", fill)


def _jpeg_files() -> Iterator[Pair]:
    if _C.jpeg_decoder() != "own":
        yield torch.zeros(1), torch.ones(1)  # libjpeg is as fast, or is to be used
        return
    noise = _image()[:, :35, :37]
    noise[:, :, 12:] = noise[:, :, 12:] // 64 * 85  # and edges
    for image, quality in itertools.product((noise, noise[:1]), (1, 30, 75, 100)):
        file = pil.jpeg(tensor.to_pil_image(image, None), quality)
        yield _run(image, ops.by_integer("JPEG", quality)), pil.pil_to_tensor(file)


_ASKED: dict[str, Callable[[], Iterator[Pair]]] = {
    "blends": _blends,
    "warps": _warps,
    "colours": _colours,
    "warps of tensors": _tensor_warps,
    "JPEG files": _jpeg_files,
}
