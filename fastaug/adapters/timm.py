"""Read timm's transforms, from timm.data.create_transform.

Each class here draws like timm's class of the same name, from the generators of Python, NumPy and torch, and applies
functions to an image in progress. The originals are in timm/data/{transforms,auto_augment,random_erasing}.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageOps

import fastaug.transforms.functional as F
from fastaug import pillow
from fastaug._compile.drawn import Drawn
from fastaug._draft.draft import Draft
from fastaug._draft.draws import drawn_from, numpy_random, python_random
from fastaug._draft.interpolation import InterpolationMode
from fastaug._draft.progress import begun, in_progress, is_pil
from fastaug._draft.tape import generator_at, noise_state
from fastaug.adapters import _steps
from fastaug.adapters._known import Known
from fastaug.adapters._steps import (
    CenterCropOrPad,
    PILToTensorUnlessTensor,
    Readers,
    ToTensorUnlessTensor,
    chosen,
    mode_names,
    register_all,
)
from fastaug.adapters._timm_digests import DIGESTS

_known = Known(DIGESTS)


def _at_once(image: Any, work: Callable[[Any], Any], result: Any = None) -> Any:
    """Apply `work` to the pixels now. The result has the size and kind of the image, or of `result`."""
    draft = in_progress(image)
    if draft is None:
        return work(image)
    draft.apart(lambda draft: draft.reset(work(draft.handed())), result)
    return draft


# timm.data.transforms


class RandomResizedCropAndInterpolation(Drawn):
    def __init__(self, theirs: Any) -> None:
        self.size = tuple(theirs.size)
        self.scale, self.ratio = tuple(theirs.scale), tuple(theirs.ratio)
        self.interpolation = mode_names(theirs.interpolation)

    def draw(self, image: Any) -> Any:
        return *self._box(image), chosen(self.interpolation)

    def _box(self, image: Any) -> tuple[int, int, int, int]:
        _, image_height, image_width = F.get_dimensions(image)
        area = image_width * image_height
        random = python_random()
        least, most = self.ratio
        for _ in range(10):
            target = random.uniform(*self.scale) * area
            aspect = math.exp(random.uniform(math.log(least), math.log(most)))
            width, height = round(math.sqrt(target * aspect)), round(math.sqrt(target / aspect))
            if width <= image_width and height <= image_height:
                top = random.randint(0, image_height - height)
                return top, random.randint(0, image_width - width), height, width
        width, height = image_width, image_height
        if width / height < least:
            height = round(width / least)
        elif width / height > most:
            width = round(height * most)
        return (image_height - height) // 2, (image_width - width) // 2, height, width

    def apply(self, image: Any, params: Any) -> Any:
        top, left, height, width, mode = params
        return F.resized_crop(image, top, left, height, width, self.size, InterpolationMode(mode))


class ResizeKeepRatio(_steps.ResizeKeepRatio):
    def _aspect(self) -> Any:
        low, high = map(math.log, self.random_aspect_range)
        return math.sqrt(math.exp(python_random().uniform(low, high)))


class RandomCropOrPad(CenterCropOrPad):
    _drawn = ("params",)

    def draw(self, image: Any) -> Any:
        _, *sides = F.get_dimensions(image)
        return [_signed(side - target) for side, target in zip(sides, self.size)]

    def apply(self, image: Any, params: Any) -> Any:
        _, image_height, image_width = F.get_dimensions(image)
        top, left = params
        height, width = self.size
        bottom, right = top + height, left + width
        if left < 0 or top < 0 or right > image_width or bottom > image_height:
            padding = [
                max(-left + min(0, right), 0),
                max(-top + min(0, bottom), 0),
                max(right - max(image_width, left), 0),
                max(bottom - max(image_height, top), 0),
            ]
            image = F.pad(image, padding, fill=self.fill, padding_mode=self.padding_mode)
        return F.crop(image, max(top, 0), max(left, 0), height, width)


def _signed(slack: int) -> int:
    """Draw an integer from 0 to `slack`, which may be negative."""
    return int(math.copysign(python_random().randint(0, abs(slack)), slack))


class RandomPad(Drawn):
    def __init__(self, theirs: Any) -> None:
        self.size, self.fill = tuple(theirs.input_size), theirs.fill

    def draw(self, image: Any) -> Any:
        _, height, width = F.get_dimensions(image)
        across, down = max(self.size[1] - width, 0), max(self.size[0] - height, 0)
        left, top = python_random().randint(0, across), python_random().randint(0, down)
        return left, top, across - left, down - top

    def apply(self, image: Any, params: Any) -> Any:
        return F.pad(image, tuple(params), self.fill)


class TrimBorder(Drawn):
    _drawn = ()

    def __init__(self, theirs: Any) -> None:
        self.border_size = theirs.border_size

    def apply(self, image: Any, params: Any) -> Any:
        _, height, width = F.get_dimensions(image)
        border = self.border_size
        # timm compares both with the height.
        top = left = min(border, height)
        return F.crop(image, top, left, max(0, height - 2 * border), max(0, width - 2 * border))


class MaybeToTensor(ToTensorUnlessTensor):
    pass


class MaybePILToTensor(PILToTensorUnlessTensor):
    pass


class ToTensor(Drawn):
    """A conversion to a tensor of another dtype with the same sample values."""

    _drawn = ()

    def __init__(self, theirs: Any) -> None:
        self.dtype = theirs.dtype

    def apply(self, image: Any, params: Any) -> Any:
        channels, height, width = F.get_dimensions(image)
        like = torch.empty((), dtype=self.dtype).expand(channels, height, width)
        return _at_once(F.pil_to_tensor(image), lambda samples: samples.to(dtype=self.dtype), like)


class ToNumpy(Drawn):
    """A conversion to an array of shape (channels, height, width)."""

    _drawn = ()

    def apply(self, image: Any, params: Any) -> Any:
        if isinstance(image, Draft) and image.is_pil and image.native:
            like = np.broadcast_to(np.uint8(0), (image.channels, image.height, image.width))
            planes: Any = image
            return _at_once(F.pil_to_tensor(planes), lambda samples: samples.numpy(), like)
        return _at_once(image, _as_array, np.broadcast_to(np.uint8(0), (1, 1, 1)))


def _as_array(image: Any) -> Any:
    array = np.array(image, dtype=np.uint8)
    if array.ndim < 3:
        array = np.expand_dims(array, axis=-1)
    return np.moveaxis(array, 2, 0)


# timm.data.random_erasing


class RandomErasing(Drawn):
    """An in-place erasing of a tensor, or of each tensor of a batch."""

    def __init__(self, theirs: Any) -> None:
        self.probability = theirs.probability
        self.min_area, self.max_area = theirs.min_area, theirs.max_area
        self.log_aspect_ratio = tuple(theirs.log_aspect_ratio)
        self.min_count, self.max_count = theirs.min_count, theirs.max_count
        self.num_splits = theirs.num_splits
        self.noise = "pixel" if theirs.per_pixel else "rand" if theirs.rand_color else "const"

    def draw(self, image: Any) -> Any:
        """Return the boxes of each image, with their fill values."""
        shape = [*image.lead, *F.get_dimensions(image)]
        if not image.is_tensor or image.flat or len(shape) > 4:
            raise TypeError("RandomErasing takes a tensor of an image, or of a batch of them")
        if len(shape) == 3:
            return [self._boxes(image, shape)]
        clean = shape[0] // self.num_splits if self.num_splits > 1 else 0
        return [[] for _ in range(clean)] + [self._boxes(image, shape[1:]) for _ in range(clean, shape[0])]

    def _boxes(self, image: Any, shape: Sequence[int]) -> list[Any]:
        random = python_random()
        if random.random() > self.probability:
            return []
        channels, image_height, image_width = shape
        area = image_height * image_width
        count = self.min_count if self.min_count == self.max_count else random.randint(self.min_count, self.max_count)
        boxes: list[Any] = []
        for _ in range(count):
            for _ in range(10):
                target = random.uniform(self.min_area, self.max_area) * area / count
                aspect = math.exp(random.uniform(*self.log_aspect_ratio))
                height, width = round(math.sqrt(target * aspect)), round(math.sqrt(target / aspect))
                if width < image_width and height < image_height:
                    top = random.randint(0, image_height - height)
                    left = random.randint(0, image_width - width)
                    boxes.append((top, left, height, width, self._drawn_values(image, (channels, height, width))))
                    break
        return boxes

    def _drawn_values(self, image: Any, shape: tuple[int, int, int]) -> Any:
        """Return None for zeros, a number per channel, or noise. A tape gets the generator's state before the noise."""
        if self.noise == "const":
            return None
        state = noise_state(image.call.draws) if self.noise == "pixel" and image.call.tape is not None else None
        size = shape if self.noise == "pixel" else (shape[0], 1, 1)
        values = torch.empty(size, dtype=_dtype_of(image)).normal_(**drawn_from(image.call.draws.generator))
        return state if state is not None else values if self.noise == "pixel" else values.flatten().tolist()

    def apply(self, image: Any, params: Any) -> Any:
        if len(params) == 1 and not getattr(image, "lead", None) and getattr(image, "ndim", 3) == 3:
            for top, left, height, width, values in params[0]:
                filling = _filling(values, (F.get_dimensions(image)[0], height, width), _dtype_of(image))
                image = F.erase(image, top, left, height, width, filling, inplace=True)
            return image
        return _at_once(image, partial(_erase_batch, params)) if any(params) else image


def _dtype_of(image: Any) -> Any:
    """Return the dtype of a tensor's samples."""
    if not isinstance(image, Draft):
        return image.dtype
    return torch.float32 if image.stored else torch.uint8 if image.native else image.image.dtype


def _filling(values: Any, shape: tuple[int, int, int], dtype: torch.dtype) -> Any:
    """Return the value to assign to a box."""
    if values is None:
        return 0
    if isinstance(values, bytes):
        return torch.empty(shape, dtype=dtype).normal_(generator=generator_at(values))
    return values if isinstance(values, torch.Tensor) else torch.tensor(values, dtype=dtype)[:, None, None]


def _erase_batch(params: Any, batch: torch.Tensor) -> torch.Tensor:
    for image, boxes in zip(batch, params, strict=True):
        for top, left, height, width, values in boxes:
            filling = _filling(values, (len(image), height, width), image.dtype)
            image[:, top : top + height, left : left + width] = filling
    return batch


def _read_erasing(theirs: Any) -> Any:
    # On another device, timm makes the noise there.
    return RandomErasing(theirs) if torch.device(theirs.device).type == "cpu" else None


# timm.data.auto_augment


def _warped(matrix: Callable[..., tuple[float, ...]]) -> Callable[..., Any]:
    """Return an op that maps an image by a matrix of its (width, height) and an argument."""

    def apply(image: Any, amount: float, fillcolor: Any, resample: int) -> Any:
        size = image.width, image.height
        numbers = matrix(size, amount)
        return pillow.transform(image, size, Image.Transform.AFFINE, numbers, resample, fillcolor=fillcolor)

    return apply


def _solarize_add(image: Any, add: int, threshold: int = 128) -> Any:
    mode = image.mode
    if mode not in ("L", "RGB"):
        return image
    table = [min(255, sample + add) if sample < threshold else sample for sample in range(256)]
    return pillow.point(image, table * (3 if mode == "RGB" else 1))


def _posterize(image: Any, bits: int) -> Any:
    if bits >= 8:
        return image
    if bits > 0:
        return pillow.posterize(image, bits)
    # Some releases of Pillow refuse 0 bits.
    return _at_once(image, lambda image: ImageOps.posterize(image, bits))


#: Functions that do the same as timm's, by timm's names.
_COLOUR: dict[str, Callable[..., Any]] = {
    "auto_contrast": pillow.autocontrast,
    "brightness": pillow.brightness,
    "color": pillow.color,
    "contrast": pillow.contrast,
    "desaturate": lambda image, factor: pillow.color(image, min(1.0, max(0.0, 1.0 - factor))),
    "equalize": pillow.equalize,
    "gaussian_blur": pillow.gaussian_blur,
    "gaussian_blur_rand": pillow.gaussian_blur,
    "invert": pillow.invert,
    "posterize": _posterize,
    "sharpness": pillow.sharpness,
    "solarize": pillow.solarize,
    "solarize_add": _solarize_add,
}

#: Functions that also take a colour and an interpolation, which may be drawn.
_GEOMETRY: dict[str, Callable[..., Any]] = {
    "rotate": lambda image, degrees, fillcolor, resample: pillow.rotate(image, degrees, resample, fillcolor=fillcolor),
    "shear_x": _warped(lambda size, factor: (1, factor, 0, 0, 1, 0)),
    "shear_y": _warped(lambda size, factor: (1, 0, 0, factor, 1, 0)),
    "translate_x_abs": _warped(lambda size, pixels: (1, 0, pixels, 0, 1, 0)),
    "translate_x_rel": _warped(lambda size, share: (1, 0, share * size[0], 0, 1, 0)),
    "translate_y_abs": _warped(lambda size, pixels: (1, 0, 0, 0, 1, pixels)),
    "translate_y_rel": _warped(lambda size, share: (1, 0, 0, 0, 1, share * size[1])),
}


class AugmentOp(Drawn):
    def __init__(self, theirs: Any) -> None:
        self.name, self.prob, self.magnitude = theirs.name, theirs.prob, theirs.magnitude
        self.hparams = dict(theirs.hparams)
        self.magnitude_std = theirs.magnitude_std
        self.magnitude_max = theirs.magnitude_max
        self.fillcolor = theirs.kwargs["fillcolor"]
        resample = theirs.kwargs["resample"]
        self.resample = tuple(map(int, resample)) if isinstance(resample, (list, tuple)) else int(resample)
        self._function: str = theirs.aug_fn.__name__
        self._geometric = self._function in _GEOMETRY
        # timm's own function, which gets no image.
        self._arguments_of: Any = theirs.level_fn

    def draw(self, image: Any) -> Any:
        """Return the arguments of its function, or None if it is not called."""
        random = python_random()
        if self.prob < 1.0 and random.random() > self.prob:
            return None
        magnitude = self.magnitude
        if self.magnitude_std > 0:
            if self.magnitude_std == math.inf:
                magnitude = random.uniform(0, magnitude)
            else:
                magnitude = random.gauss(magnitude, self.magnitude_std)
        magnitude = max(0.0, min(magnitude, self.magnitude_max or _MOST_MAGNITUDE))
        arguments: tuple[Any, ...] = () if self._arguments_of is None else self._arguments_of(magnitude, self.hparams)
        if self._geometric:
            return *arguments, chosen(self.resample)
        if self._function == "gaussian_blur_rand":
            return (random.uniform(0.1, 2.0 * arguments[0]),)
        return arguments

    def apply(self, image: Any, params: Any) -> Any:
        if params is None:
            return image
        if not is_pil(image):
            raise TypeError(f"timm's {self.name} takes PIL images")
        if self._geometric:
            *arguments, resample = params
            return _GEOMETRY[self._function](image, *arguments, self.fillcolor, resample)
        return _COLOUR[self._function](image, *params)


# The largest magnitude by default: timm's _LEVEL_DENOM.
_MOST_MAGNITUDE = 10.0


class AutoAugment(Drawn):
    def __init__(self, policy: list[list[AugmentOp]]) -> None:
        self.policy = policy

    def draw(self, image: Any) -> Any:
        number = python_random().choice(range(len(self.policy)))
        return number, [op.draw(image) for op in self.policy[number]]

    def apply(self, image: Any, params: Any) -> Any:
        number, arguments = params
        for op, given in zip(self.policy[number], arguments, strict=True):
            image = op.apply(image, given)
        return image


class RandAugment(Drawn):
    def __init__(self, ops: list[AugmentOp], theirs: Any) -> None:
        self.ops, self.num_layers = ops, theirs.num_layers
        self.choice_weights = theirs.choice_weights

    def draw(self, image: Any) -> Any:
        weights = self.choice_weights
        numbers = numpy_random().choice(len(self.ops), self.num_layers, replace=weights is None, p=weights)
        return [(number, self.ops[number].draw(image)) for number in numbers.tolist()]

    def apply(self, image: Any, params: Any) -> Any:
        return _through(self.ops, image, params)


def _through(ops: list[AugmentOp], image: Any, params: Any) -> Any:
    for number, given in params:
        image = ops[number].apply(image, given)
    return image


class AugMixAugment(Drawn):
    """A mix of chains of ops. Each chain runs as a draft, and NumPy and Pillow mix the results, as in timm."""

    def __init__(self, ops: list[AugmentOp], theirs: Any) -> None:
        self.ops = ops
        self.alpha, self.width, self.depth, self.blended = theirs.alpha, theirs.width, theirs.depth, theirs.blended

    def draw(self, image: Any) -> Any:
        """Return the weights of the chains, the share of their mix, and the chains."""
        weights: Any = np.float32(numpy_random().dirichlet([self.alpha] * self.width))
        share = np.float32(numpy_random().beta(self.alpha, self.alpha))
        if self.blended:
            weights = _blended_weights(weights, share)
        chains = []
        for _ in range(len(weights)):
            depth = self.depth if self.depth > 0 else numpy_random().randint(1, 4)
            numbers = numpy_random().choice(len(self.ops), depth, replace=True)
            chains.append([(number, self.ops[number].draw(image)) for number in numbers.tolist()])
        return weights.tolist(), float(share), chains

    def apply(self, image: Any, params: Any) -> Any:
        if not is_pil(image):
            raise TypeError("timm's AugMixAugment takes PIL images")
        return _at_once(image, partial(self._mixed, params))

    def _mixed(self, params: Any, image: Image.Image) -> Image.Image:
        weights, share, chains = params
        mixed: Any = image if self.blended else np.zeros_like(image, dtype=np.float32)
        for weight, chain in zip(weights, chains, strict=True):
            draft: Any = begun(image)
            augmented = _through(self.ops, draft, chain).finish()
            if self.blended:
                mixed = Image.blend(mixed, augmented, weight)
            else:
                mixed += np.float32(weight) * np.asarray(augmented, dtype=np.float32)
        if self.blended:
            return mixed if chains else image.copy()
        np.clip(mixed, 0, 255.0, out=mixed)
        return Image.blend(image, Image.fromarray(mixed.astype(np.uint8)), share)


def _blended_weights(weights: Any, share: Any) -> Any:
    """Return factors for blending the chains in turn, so that each has its weight at the end."""
    left: Any = 1.0
    shares = []
    for weight in (weights * share)[::-1]:
        part = weight / left
        left *= 1 - part
        shares.append(part)
    return np.array(shares[::-1], dtype=np.float32)


def _read_op(theirs: Any) -> AugmentOp | None:
    function = theirs.aug_fn
    name = getattr(function, "__name__", None)
    drafted = (name in _COLOUR or name in _GEOMETRY) and _known.has(function)
    return AugmentOp(theirs) if drafted and theirs.kwargs.keys() == {"fillcolor", "resample"} else None


def _read_ops(theirs: Any) -> list[AugmentOp] | None:
    """Return the ops of a list, or None if one is unknown."""
    read: dict[int, AugmentOp | None] = {
        id(op): _read_op(op) if type(op).__name__ == "AugmentOp" and _known.made(op) else None for op in theirs
    }
    ops = [op for op in map(read.get, map(id, theirs)) if op is not None]
    return ops if len(ops) == len(theirs) else None


def _read_auto_augment(theirs: Any) -> AutoAugment | None:
    policy = list(map(_read_ops, theirs.policy))
    known = [ops for ops in policy if ops is not None]
    return AutoAugment(known) if len(known) == len(policy) else None


def _read_list(made: Callable[[list[AugmentOp], Any], Any], theirs: Any) -> Any:
    ops = _read_ops(theirs.ops)
    return None if ops is None else made(ops, theirs)


_READERS: Readers = {
    "timm.data.transforms": {
        cls.__name__: cls
        for cls in (
            RandomResizedCropAndInterpolation,
            ResizeKeepRatio,
            CenterCropOrPad,
            RandomCropOrPad,
            RandomPad,
            TrimBorder,
            ToTensor,
        )
    }
    | {
        "MaybeToTensor": lambda theirs: MaybeToTensor(),
        "MaybePILToTensor": lambda theirs: MaybePILToTensor(),
        "ToNumpy": lambda theirs: ToNumpy(),
    },
    "timm.data.random_erasing": {"RandomErasing": _read_erasing},
    "timm.data.auto_augment": {
        "AugmentOp": _read_op,
        "AutoAugment": _read_auto_augment,
        "RandAugment": partial(_read_list, RandAugment),
        "AugMixAugment": partial(_read_list, AugMixAugment),
    },
}

install = partial(register_all, _READERS, _known.made)
