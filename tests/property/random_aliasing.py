"""Who owns the memory of a result: every transform on every container, alone and in random chains, and torchvision's.

Compared are: whether the result is the input itself, or a view of it; what class, dtype, shape and memory format it
has; whether it can be written to; whether what is written there shows in the input, and the other way round; and
whether the call itself has written into the input. Pixels are compared elsewhere.

A case is Python source: a container, a pipeline and a seed. The first `SINGLES` numbers are each transform and function
on each container, those above are chains.
"""

from __future__ import annotations

import io
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV
import torchvision.transforms.functional as TF
from PIL import Image
from torchvision import tv_tensors

import fastaug
import fastaug.transforms as T
import fastaug.transforms.functional as F

HEIGHT, WIDTH = 12, 10


class Marked(torch.Tensor):
    """A subclass such as users define."""


class Noted(torch.Tensor):
    """A subclass that has a say in what torch's functions give."""

    note = ""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = super().__torch_function__(func, types, args, kwargs or {})
        if isinstance(result, Noted):
            result.note = "kept"
        return result


@cache
def _noise(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng([*shape]).integers(0, 256, shape, dtype=np.uint8)


def noise(*shape: int) -> np.ndarray:
    """Bytes, the same on each call, in memory of their own."""
    return _noise(shape).copy()


def bytes_of(*shape: int) -> torch.Tensor:
    return torch.from_numpy(noise(*shape))


def floats_of(*shape: int) -> torch.Tensor:
    return bytes_of(*shape) / 255


def pil(mode: str) -> Image.Image:
    """An image of that mode, whose metadata say something."""
    rgb = Image.fromarray(noise(HEIGHT, WIDTH, 3))
    image = Image.fromarray(noise(HEIGHT, WIDTH).astype(np.uint16) * 257) if mode == "I;16" else rgb.convert(mode)
    image.info["note"] = "kept"
    return image


def opened() -> Image.Image:
    """A file that Pillow has not read yet."""
    file = io.BytesIO()
    pil("RGB").save(file, "PNG", compress_level=1)
    return Image.open(file)


def read_only() -> np.ndarray:
    array = noise(HEIGHT, WIDTH, 3)
    array.flags.writeable = False
    return array


#: Each makes an image anew, the same one on each call.
CONTAINERS: dict[str, Callable[[], Any]] = {
    **{f"PIL {mode}": lambda mode=mode: pil(mode) for mode in ("1", "L", "P", "RGB", "CMYK", "YCbCr", "I;16", "F")},
    **{f"PIL {mode}": lambda mode=mode: pil(mode) for mode in ("LA", "RGBA", "HSV", "I")},
    "PIL file": opened,
    "uint8 HW": lambda: bytes_of(HEIGHT, WIDTH),
    **{f"uint8 {count}HW": lambda count=count: bytes_of(count, HEIGHT, WIDTH) for count in (1, 2, 3, 4)},
    "uint8 of 2 columns": lambda: bytes_of(3, HEIGHT, 2),
    "uint8 HWC memory": lambda: bytes_of(HEIGHT, WIDTH, 3).permute(2, 0, 1),
    "uint8 slice": lambda: bytes_of(4, HEIGHT + 3, WIDTH + 4)[1:, 2:-1, 1:-3],
    "uint8 every other": lambda: bytes_of(3, 2 * HEIGHT, 2 * WIDTH)[:, ::2, 1::2],
    "uint8 expanded": lambda: bytes_of(1, HEIGHT, WIDTH).expand(3, -1, -1),
    "uint8 batch": lambda: bytes_of(2, 3, HEIGHT, WIDTH),
    "uint8 gray batch": lambda: bytes_of(2, 1, HEIGHT, WIDTH),
    "uint8 batch of one": lambda: bytes_of(1, 3, HEIGHT, WIDTH),
    "uint8 batch of batches": lambda: bytes_of(2, 2, 3, HEIGHT, WIDTH),
    "uint8 channels_last": lambda: bytes_of(2, 3, HEIGHT, WIDTH).contiguous(memory_format=torch.channels_last),
    "uint8 tv_tensors.Image": lambda: tv_tensors.Image(bytes_of(3, HEIGHT, WIDTH)),
    "uint8 subclass": lambda: bytes_of(3, HEIGHT, WIDTH).as_subclass(Marked),
    "uint8 channels_last subclass": lambda: (
        bytes_of(2, 3, HEIGHT, WIDTH).contiguous(memory_format=torch.channels_last).as_subclass(Marked)
    ),
    "uint8 subclass with a say": lambda: bytes_of(3, HEIGHT, WIDTH).as_subclass(Noted),
    "uint8 Parameter": lambda: torch.nn.Parameter(bytes_of(3, HEIGHT, WIDTH), requires_grad=False),
    **{
        f"{name} CHW": lambda name=name: floats_of(3, HEIGHT, WIDTH).to(getattr(torch, name))
        for name in ("float32", "float64", "float16")
    },
    **{
        f"{name} CHW": lambda name=name: bytes_of(3, HEIGHT, WIDTH).to(getattr(torch, name))
        for name in ("bool", "int16", "int32", "int64")
    },
    "float32 1HW": lambda: floats_of(1, HEIGHT, WIDTH),
    "float32 HWC memory": lambda: floats_of(HEIGHT, WIDTH, 3).permute(2, 0, 1),
    "float32 slice": lambda: floats_of(3, HEIGHT + 3, WIDTH + 4)[:, 2:-1, 1:-3],
    "float32 channels_last": lambda: floats_of(2, 3, HEIGHT, WIDTH).contiguous(memory_format=torch.channels_last),
    "float32 with gradient": lambda: floats_of(3, HEIGHT, WIDTH).requires_grad_(),
    "float32 tv_tensors.Image": lambda: tv_tensors.Image(floats_of(3, HEIGHT, WIDTH)),
    "float32 subclass": lambda: floats_of(3, HEIGHT, WIDTH).as_subclass(Marked),
    "float32 Parameter": lambda: torch.nn.Parameter(floats_of(3, HEIGHT, WIDTH)),
    "array HW": lambda: noise(HEIGHT, WIDTH),
    **{f"array HW{count}": lambda count=count: noise(HEIGHT, WIDTH, count) for count in (1, 3, 4)},
    "array read-only": read_only,
    "array mirrored": lambda: noise(HEIGHT, WIDTH, 3)[:, ::-1],
    "array of planes": lambda: noise(3, HEIGHT, WIDTH).transpose(1, 2, 0),
    "array float32 HW1": lambda: noise(HEIGHT, WIDTH, 1).astype(np.float32),
    "array float32 HW": lambda: noise(HEIGHT, WIDTH).astype(np.float32),
    "array int32 HW": lambda: noise(HEIGHT, WIDTH).astype(np.int32),
    "array int16 HW": lambda: noise(HEIGHT, WIDTH).astype(np.int16),
}

#: As source: T is a package of transforms, F its functional.
TRANSFORMS: tuple[str, ...] = (
    "T.Resize(7)",
    f"T.Resize(({HEIGHT}, {WIDTH}))",
    "T.Resize((7, 9), T.InterpolationMode.NEAREST)",
    "T.Resize((20, 16), T.InterpolationMode.BICUBIC)",
    "T.CenterCrop(6)",
    f"T.CenterCrop(({HEIGHT}, {WIDTH}))",
    "T.CenterCrop((8, 15))",
    "T.CenterCrop((14, 20))",
    "T.RandomCrop(6)",
    f"T.RandomCrop(({HEIGHT}, {WIDTH}))",
    f"T.RandomCrop(({HEIGHT}, {WIDTH}), padding=1)",
    f"T.RandomCrop(({HEIGHT}, {WIDTH}), padding=0)",
    "T.RandomCrop(6, padding=2, padding_mode='reflect')",
    "T.RandomCrop(14, pad_if_needed=True)",
    "T.RandomResizedCrop(6)",
    f"T.RandomResizedCrop(({HEIGHT}, {WIDTH}), (1, 1), ({WIDTH / HEIGHT}, {WIDTH / HEIGHT}))",
    "T.Pad(2)",
    "T.Pad(0)",
    "T.Pad((-1, 0, -2, -1))",
    "T.Pad((0, 1), padding_mode='edge')",
    "T.Pad(0, padding_mode='edge')",
    "T.Pad(0, padding_mode='symmetric')",
    "T.Pad((-1, 0, 0, -1), padding_mode='symmetric')",
    "T.RandomHorizontalFlip(1.0)",
    "T.RandomHorizontalFlip(0.0)",
    "T.RandomVerticalFlip(1.0)",
    "T.RandomRotation(30)",
    "T.RandomRotation((0, 0))",
    "T.RandomRotation((90, 90), expand=True)",
    "T.RandomRotation((180, 180))",
    "T.RandomAffine(20, shear=5)",
    "T.RandomAffine(0)",
    "T.RandomAffine(0, translate=(0.1, 0.1))",
    "T.RandomPerspective(p=1.0)",
    "T.RandomPerspective(p=0.0)",
    "T.RandomPerspective(0.0, 1.0)",
    "T.ElasticTransform(sigma=1.0)",
    "T.GaussianBlur(3)",
    "T.ColorJitter()",
    "T.ColorJitter(0.4, 0.4, 0.4, 0.1)",
    "T.ColorJitter(brightness=(1, 1))",
    "T.ColorJitter(contrast=(1.0, 1.0001))",
    "T.ColorJitter(saturation=(1.0, 1.0001))",
    "T.ColorJitter(hue=(0.0, 0.0001))",
    "T.Grayscale()",
    "T.Grayscale(3)",
    "T.RandomGrayscale(1.0)",
    "T.RandomGrayscale(0.0)",
    "T.RandomInvert(1.0)",
    "T.RandomInvert(0.0)",
    "T.RandomPosterize(4, 1.0)",
    "T.RandomPosterize(8, 1.0)",
    "T.RandomSolarize(0.5, 1.0)",
    "T.RandomAdjustSharpness(1.5, 1.0)",
    "T.RandomAdjustSharpness(1, 1.0)",
    "T.RandomAutocontrast(1.0)",
    "T.RandomEqualize(1.0)",
    "T.AutoAugment()",
    "T.RandAugment()",
    "T.RandAugment(0)",
    "T.TrivialAugmentWide()",
    "T.AugMix()",
    "T.FiveCrop(6)",
    f"T.FiveCrop(({HEIGHT}, {WIDTH}))",
    "T.TenCrop(6)",
    "T.ToTensor()",
    "T.PILToTensor()",
    "T.ToPILImage()",
    "T.ConvertImageDtype(torch.float32)",
    "T.ConvertImageDtype(torch.uint8)",
    "T.Normalize([0.5], [0.25])",
    "T.Normalize([0.5], [0.25], inplace=True)",
    "T.RandomErasing(1.0)",
    "T.RandomErasing(0.0)",
    "T.RandomErasing(1.0, value='random')",
    "T.RandomErasing(1.0, inplace=True)",
    "T.RandomErasing(1.0, (1.0, 1.0), (1.0, 1.0))",
    f"T.LinearTransformation(torch.eye({3 * HEIGHT * WIDTH}), torch.zeros({3 * HEIGHT * WIDTH}))",
    "T.Lambda(lambda image: image)",
    "T.RandomApply([T.RandomHorizontalFlip(0.0)], p=1.0)",
    "T.RandomApply([T.CenterCrop(6)], p=0.0)",
    "T.RandomChoice([T.Pad(0), T.CenterCrop(6)])",
    "T.RandomOrder([T.CenterCrop(8), T.RandomHorizontalFlip(1.0)])",
    "T.Compose([])",
    "torch.nn.Sequential(T.Resize(7), T.CenterCrop(5))",
    "torch.nn.Sequential()",
)

#: As source: an expression of an image x.
FUNCTIONS: tuple[str, ...] = (
    f"F.resize(x, [{HEIGHT}, {WIDTH}])",
    "F.resize(x, [7, 7])",
    "F.pad(x, 0)",
    "F.pad(x, [1, -1])",
    "F.crop(x, 1, 2, 5, 6)",
    f"F.crop(x, 0, 0, {HEIGHT}, {WIDTH})",
    "F.crop(x, -1, 2, 5, 6)",
    "F.center_crop(x, [6, 6])",
    f"F.center_crop(x, [{HEIGHT}, {WIDTH}])",
    "F.resized_crop(x, 1, 2, 5, 6, [5, 6])",
    "F.resized_crop(x, 1, 2, 5, 6, [3, 4])",
    "F.hflip(x)",
    "F.vflip(x)",
    "F.rotate(x, 0)",
    "F.rotate(x, 90)",
    "F.affine(x, 0, [0, 0], 1.0, 0)",
    "F.affine(x, 0, [1, 2], 1.0, 0)",
    "F.perspective(x, [[0, 0], [9, 0], [9, 9], [0, 9]], [[0, 0], [9, 0], [9, 9], [0, 9]])",
    "F.gaussian_blur(x, 3)",
    "F.five_crop(x, 5)",
    "F.ten_crop(x, 5)",
    "F.adjust_brightness(x, 1)",
    "F.adjust_contrast(x, 1.0)",
    "F.adjust_saturation(x, 1)",
    "F.adjust_saturation(x, 0.5)",
    "F.adjust_hue(x, 0)",
    "F.adjust_gamma(x, 1)",
    "F.adjust_sharpness(x, 1)",
    "F.adjust_sharpness(x, 2)",
    "F.rgb_to_grayscale(x)",
    "F.rgb_to_grayscale(x, 3)",
    "F.to_grayscale(x)",
    "F.invert(x)",
    "F.posterize(x, 8)",
    "F.posterize(x, 3)",
    "F.solarize(x, 1)",
    "F.autocontrast(x)",
    "F.equalize(x)",
    "F.to_tensor(x)",
    "F.pil_to_tensor(x)",
    "F.to_pil_image(x)",
    "F.convert_image_dtype(x, torch.float32)",
    "F.convert_image_dtype(x, torch.uint8)",
    "F.normalize(x, [0.5], [0.5])",
    "F.normalize(x, [0.5], [0.5], inplace=True)",
    "F.erase(x, 1, 2, 3, 4, torch.tensor(0))",
    "F.erase(x, 1, 2, 3, 4, torch.tensor(0), inplace=True)",
)

SINGLES = (len(TRANSFORMS) + len(FUNCTIONS)) * len(CONTAINERS)

#: Not in chains: the size of an expanded rotation is Pillow's in every container, and a tensor that torchvision could
#: not look at as a vector, since it is a part of a larger one, may be whole here.
ALONE = ("T.RandomRotation((90, 90), expand=True)", *(step for step in TRANSFORMS if "LinearTransformation" in step))
CHAINED = tuple(step for step in TRANSFORMS if step not in ALONE)


@dataclass(frozen=True)
class Case:
    container: str
    steps: tuple[str, ...]
    seed: int

    @property
    def is_function(self) -> bool:
        return self.steps[0].startswith("F.")

    def source(self) -> str:
        return self.steps[0] if len(self.steps) == 1 else f"T.Compose([{', '.join(self.steps)}])"


def draw_case(number: int) -> Case:
    """The case of this number, the same on every machine."""
    containers = list(CONTAINERS)
    if number < SINGLES:
        step, container = divmod(number, len(containers))
        return Case(containers[container], ((*TRANSFORMS, *FUNCTIONS)[step],), number)
    rng = random.Random(number)
    container = rng.choice(containers)
    return Case(container, tuple(draw_step(rng) for _ in range(rng.choice([1, 2, 2, 3, 4, 5]))), number)


def draw_step(rng: random.Random, depth: int = 1) -> str:
    if depth and rng.random() < 0.15:
        inner = ", ".join(draw_step(rng, depth - 1) for _ in range(rng.randint(1, 3)))
        return rng.choice(
            [
                f"T.RandomApply([{inner}], p=0.7)",
                f"T.RandomChoice([{inner}])",
                f"T.RandomOrder([{inner}])",
                f"T.Compose([{inner}])",
            ]
        )
    return rng.choice(CHAINED)


# ---- running


class Function:
    """An expression of an image as a transform."""

    def __init__(self, source: str, package: Any) -> None:
        self.source = source
        self.names = {"torch": torch, "F": package}

    def __call__(self, image: Any) -> Any:
        return eval(self.source, {**self.names, "x": image})


def build(source: str, package: Any) -> Any:
    return eval(source, {"torch": torch, "T": package})


class OneByOne:
    """Transforms, each called by itself."""

    def __init__(self, transforms: list[Any]) -> None:
        self.transforms = transforms

    def __call__(self, image: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return image


def ways(case: Case, number: int) -> dict[str, Any]:
    """fastaug's ways to run a case; of one transform in each container one way."""
    if case.is_function:
        return {"fastaug": Function(case.source(), F)}
    every: dict[str, Callable[[], Any]] = {
        "one by one": lambda: OneByOne([build(step, T) for step in case.steps]),
        "Compose": lambda: T.Compose([build(step, T) for step in case.steps]),
        "compiled": lambda: fastaug.compile(build(case.source(), TV)),
    }
    chosen = [list(every)[number % 3]] if number < SINGLES else list(every)
    return {name: every[name]() for name in chosen}


def parts_of(value: Any) -> list[Any]:
    """The images in a result."""
    if isinstance(value, (tuple, list)):
        return [part for item in value for part in parts_of(item)]
    return [value]


def memory(value: Any) -> int | None:
    """Where the storage of a tensor or array begins."""
    if isinstance(value, torch.Tensor):
        return value.untyped_storage().data_ptr() or None
    if isinstance(value, np.ndarray):
        while isinstance(value.base, np.ndarray):
            value = value.base
        return start(value) or None
    return None


def start(value: Any) -> int:
    """The address of the first pixel."""
    if isinstance(value, torch.Tensor):
        return value.data_ptr()
    address: int = value.__array_interface__["data"][0]
    return address


def content(value: Any) -> Any:
    """All pixels of an image, and what is written beside them."""
    if isinstance(value, Image.Image):
        return value.mode, value.size, value.tobytes(), dict(value.info)
    if isinstance(value, torch.Tensor):
        value = value.detach().as_subclass(torch.Tensor).contiguous().numpy()
    return value.shape, str(value.dtype), value.tobytes()


@dataclass(frozen=True)
class Part:
    """What an image of a result is, and how it lies in memory."""

    cls: str
    form: Any  # mode, dtype, size, metadata, what autograd knows
    same: bool  # the input itself
    # The strides that a copy of it would have. Of the memory of a result that nobody else has, only the order of axes
    # counts: torchvision's may be a view of more than is seen, where fastaug makes no more.
    order: tuple[int, ...] = ()
    place: Any = None  # where it lies in the memory of the input: offset and strides


def part_of(value: Any, given: Any) -> Part:
    cls, same = type(value).__name__, value is given
    if isinstance(value, Image.Image):
        return Part(cls, (value.mode, value.size, value.info), same)
    inside = memory(value) is not None and memory(value) == memory(given)
    offset = start(value) - start(given) if inside else 0
    if isinstance(value, torch.Tensor):
        dense = torch.empty_like(value.detach().as_subclass(torch.Tensor)).stride()
        order = tuple(stride for size, stride in zip(value.shape, dense) if size > 1)
        form: Any = value.dtype, tuple(value.shape), value.requires_grad, value.is_leaf, getattr(value, "note", None)
        return Part(cls, form, same, order, (offset, value.stride()) if inside else None)
    form = value.dtype, value.shape, value.flags.writeable
    return Part(cls, form, same, (), (offset, value.strides) if inside else None)


def overwrite(value: Any) -> str:
    """Changes every pixel of an image; the name of the error, if that cannot be."""
    try:
        if isinstance(value, Image.Image):
            value.paste(value.point(lambda sample: 255 - sample) if value.mode not in ("F", "I", "I;16") else 1)
        elif isinstance(value, torch.Tensor):
            with torch.no_grad():
                value.logical_not_() if value.dtype == torch.bool else value.add_(3)
        else:
            value[...] = value + 1
    except Exception as error:
        return type(error).__name__
    return ""


@dataclass
class Outcome:
    """What a call did, and to whose memory."""

    error: str
    container: str = ""
    parts: tuple[Any, ...] = ()
    shared: tuple[Any, ...] = ()  # for each part the first part that lies in the same memory
    written: bool = False  # the call has changed the input
    through: tuple[Any, ...] = ()  # for each part the error on writing into it, and whether that changes the input
    back: tuple[bool, ...] = ()  # for each part whether writing into the input changes it


def outcome(transform: Callable[[Any], Any], make: Callable[[], Any], seed: int) -> Outcome:
    given = make()
    if isinstance(given, Image.Image):
        given.load()
    before = content(given)
    # torch.manual_seed also makes a note for each device that there may be one day.
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    try:
        result = transform(given)
    except Exception as error:
        return Outcome(type(error).__name__)
    written = content(given) != before
    images = parts_of(result)
    parts = tuple(part_of(image, given) for image in images)
    places = [memory(image) for image in images]
    shared = tuple(None if place is None else places.index(place) for place in places)
    contents = [content(image) for image in images]
    overwrite(given)
    back = tuple(content(image) != old for image, old in zip(images, contents))
    through = []
    for image in images:
        before = content(given)
        error = overwrite(image)
        through.append((error, content(given) != before))
    return Outcome("", type(result).__name__, parts, shared, written, tuple(through), back)


def difference(ours: Outcome, theirs: Outcome, ignored: set[str]) -> str:
    """In words; '' when there is none."""
    if ours.error or theirs.error:
        return "" if ours.error == theirs.error else f"error {ours.error or None}, torchvision {theirs.error or None}"
    for name in ("container", "written", "parts", "shared", "through", "back"):
        mine, its = getattr(ours, name), getattr(theirs, name)
        if name == "parts" and "memory format" in ignored:
            mine, its = (tuple(replace(part, order=()) for part in parts) for parts in (mine, its))
        if name == "through" and "errors of writing" in ignored:
            mine, its = (tuple(changed for _, changed in parts) for parts in (mine, its))
        if mine != its:
            if isinstance(mine, tuple) and len(mine) == len(its):
                mine, its = next((a, b) for a, b in zip(mine, its) if a != b)
            return f"{name} {mine}, torchvision {its}"
    return ""


def ignored_of(case: Case) -> set[str]:
    """What fastaug need not do as torchvision does it."""
    source, ignored = case.source(), set()
    # Three equal channels: torchvision's are one plane, seen three times, which cannot be written to.
    if "rayscale" in source:
        ignored.add("errors of writing")
    # Hue: the last of torchvision's steps gives planes a pixel of which lies side by side, whatever they came from.
    if "hue" in source or "ColorJitter(0.4" in source:
        ignored.add("memory format")
    # torchvision hands on how a PIL image lies in memory. Floats take less time to write plane by plane.
    if case.container.startswith("PIL") and "PILToTensor" in source and "torch.float32" in source:
        ignored.add("memory format")
    return ignored


def difference_of_arrays(ours: Outcome, theirs: Outcome) -> str:
    """As `difference` for an array, which torchvision does not take, from what it does to the PIL image of it."""
    if ours.error or theirs.error:
        return ""
    for mine, its in zip(ours.parts, theirs.parts):
        if mine.cls == "ndarray" and mine.same != its.same:
            return f"same object {mine.same}, torchvision's PIL image {its.same}"
        if mine.cls == "ndarray" and not mine.same and (mine.place is not None or not mine.form[-1]):
            return f"{mine}, not an array of its own"
    return "writes into the input" if ours.written else ""


def as_pil(make: Callable[[], Any]) -> Callable[[], Any]:
    def made() -> Image.Image:
        array = make()
        return Image.fromarray(array[:, :, 0] if array.shape[2:] == (1,) else array)

    return made


def check(number: int) -> str:
    """What fastaug does differently from torchvision in the case of this number; '' when nothing."""
    case = draw_case(number)
    make, source = CONTAINERS[case.container], case.source()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        original: Any = Function(source, TF) if case.is_function else build(source, TV)
        theirs = outcome(original, make, case.seed)
        if theirs.error and case.container == "uint8 HW":
            return ""  # fastaug takes planes where torchvision wants channels
        if theirs.error == "RuntimeError" and "rayscale" in source and "inplace=True" in source:
            return ""  # one plane for three channels cannot be written to
        compare: Callable[[Outcome, Outcome], str] = partial(difference, ignored=ignored_of(case))
        if theirs.error and case.container.startswith("array"):
            compare = difference_of_arrays
            theirs = outcome(original, as_pil(make), case.seed)
        for way, transform in ways(case, number).items():
            if text := compare(outcome(transform, make, case.seed), theirs):
                return f"{number}: {source} on {case.container}, {way}: {text}"
    return ""
