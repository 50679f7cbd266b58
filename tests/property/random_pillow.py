"""Random chains of fastaug.pillow's functions and of transforms, and the same by Pillow and torchvision, one by one.

A case is a number: an image, a chain and a seed are drawn from it. Arguments are valid ones for the most part, and at
the edges otherwise. fastaug does a chain function by function, as one draft, and as `Drawn` transforms of a Compose.
"""

from __future__ import annotations

import io
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

import fastaug
import fastaug.transforms as T
from fastaug import pillow
from fastaug.io import LazyImage
from shrinking import shrunk
from support.images import noise, undated
from support.outcomes import snapshot

NATIVE = ("L", "LA", "RGB", "RGBA", "CMYK", "YCbCr", "HSV")
OTHERS = ("1", "La", "P", "PA", "RGBa", "RGBX", "LAB", "I", "F", "I;16")
#: Those that PNG files keep.
FILED = ("L", "LA", "RGB", "RGBA")
SIDES = (1, 1, 2, 3, 5, 8, 13, 17, 31, 33, 64, 90)
NAN, INF = float("nan"), float("inf")


def made(mode: str, width: int, height: int, seed: int, transparency: Any = None) -> Image.Image:
    """An image of that mode, with metadata."""
    samples = noise(height, width, 4, seed)
    if not (width and height):
        image = Image.new(mode, (width, height))
    elif mode in ("1", "L", "P"):
        image = Image.fromarray(samples[..., 0]).convert(mode)
    elif mode in ("I", "F"):
        image = Image.fromarray(samples[..., 0].astype(np.int32 if mode == "I" else np.float32) * 3)
    elif mode == "I;16":
        image = Image.fromarray(samples[..., 0].astype(np.uint16) * 7)
    elif mode == "PA":
        image = Image.merge("LA", [Image.fromarray(samples[..., k].copy()) for k in (0, 3)]).convert("PA")
    else:
        bands = len(Image.new(mode, (1, 1)).getbands())
        image = Image.frombytes(mode, (width, height), np.ascontiguousarray(samples[..., :bands]).tobytes())
    if mode == "P":
        image.putpalette([*range(255, -1, -1)] * 3)
    image.info = {"comment": [1, 2], "dpi": (72, 72)}
    if transparency is not None:
        image.info["transparency"] = transparency
    return image


# ---- arguments


def number(rng: random.Random, low: float, high: float) -> Any:
    """Mostly between these; sometimes of another type, or beyond what can be."""
    value: Any = rng.choice([low, high, rng.uniform(low, high), rng.uniform(low, high), rng.randint(0, 3)])
    strange = rng.random()
    if strange < 0.06:
        value = np.float32(value)
    elif strange < 0.10:
        value = np.float64(value)
    elif strange < 0.13:
        value = np.int64(int(value))
    elif strange < 0.16:
        value = bool(rng.getrandbits(1))
    elif strange < 0.24:
        value = rng.choice([0, -0.0, -1, 1e-9, -1e-3, 1e4, 1e9, 1e30, NAN, INF, -INF, None, "a", (1,), 1e300])
    return value


def radius(rng: random.Random) -> Any:
    if rng.random() < 0.3:
        return rng.choice([tuple, list])(number(rng, 0, 9) for _ in range(rng.choice([2, 2, 2, 2, 1, 3])))
    value = number(rng, 0, rng.choice([1, 5, 40]))
    return value


def side(rng: random.Random) -> Any:
    value: Any = rng.choice([rng.randint(1, 12), rng.randint(1, 60), rng.randint(1, 100)])
    strange = rng.random()
    if strange < 0.06:
        value = rng.choice([np.int64, np.int32, np.uint8, np.float64, float, bool])(value)
    elif strange < 0.10:
        value = rng.choice([0, 0, -1, 2.5, NAN, None, "a", 1 << 40])
    return value


def size(rng: random.Random) -> Any:
    made_of = rng.choice([tuple, tuple, tuple, list])(side(rng) for _ in range(2))
    return rng.choice([7, (5,), (4, 5, 6), None, np.array([6, 9])]) if rng.random() < 0.04 else made_of


def resample(rng: random.Random) -> Any:
    if rng.random() < 0.08:
        return rng.choice([None, 6, 7, 99, -1, True, 2.0, 2.5, np.int64(3), "bicubic", NAN])
    return rng.choice(tuple(Image.Resampling)) if rng.getrandbits(1) else rng.randint(0, 5)


def warp(rng: random.Random) -> Any:
    return rng.choice([0, 2, 3, Image.Resampling.BILINEAR]) if rng.random() < 0.9 else resample(rng)


def colour(rng: random.Random) -> Any:
    return rng.choice(
        [None, 0, rng.randint(0, 255), 300, -1, 7.6, "red", "#102030", "#10203040", "hsl(120,50%,40%)", "nonsense"]
        + [tuple(rng.randint(0, 255) for _ in range(count)) for count in (1, 2, 3, 4, 3, 4)]
        + [(300, -4, 2), [1, 2, 3], (1.5, 2.5, 3.5), True, np.int64(9), NAN, ()]
    )


def border(rng: random.Random) -> Any:
    one = [rng.choice([0, 0, 1, 2, rng.randint(0, 9), -rng.randint(0, 3)]) for _ in range(4)]
    strange = rng.choice([2.5, [1, 2], (1, 2, 3), np.int64(2), True, "a", None, 1 << 33, (1.5, 2), (1,)])
    return strange if rng.random() < 0.1 else rng.choice([one[0], tuple(one[:2]), tuple(one)])


def box(rng: random.Random) -> Any:
    left, upper = rng.randint(-4, 20), rng.randint(-4, 20)
    made_of: Any = (left, upper, left + rng.randint(0, 40), upper + rng.randint(0, 40))
    strange = rng.random()
    if strange < 0.1:
        made_of = tuple(value + rng.choice([0.5, 0.25, 0.0]) for value in made_of)
    elif strange < 0.2:
        made_of = rng.choice(
            [None, list(made_of), made_of[:3], (9, 0, 1, 1), np.array(made_of), (NAN, 0, 5, 5), (0, 0, INF, 3), 5]
            + [(0, 0, 1 << 34, 1), (1 << 40, 0, (1 << 40) + 2, 2), (-(1 << 31), 0, 2, 2), (True, False, 3, 3)]
            + [("a", 0, 1, 1), made_of + (3,)]
        )
    return made_of


def point_of(rng: random.Random) -> Any:
    if rng.random() < 0.6:
        return None
    return rng.choice([(0, 0), (3, 2), [1.5, 2], (rng.randint(-9, 40), 3.25), (), (1,), (1, 2, 3), (NAN, 1), (INF, 1)])


def degrees(rng: random.Random) -> Any:
    turn = rng.choice([0, 90, 180, 270, 360, -90, 450, 90.0, rng.uniform(-400, 400), rng.uniform(-400, 400)])
    return number(rng, -90, 90) if rng.random() < 0.1 else turn


def coefficients(rng: random.Random) -> tuple[Any, Any]:
    """A method and data of transform."""
    u = rng.uniform
    affine: Any = [1 + u(-0.5, 0.5), u(-0.5, 0.5), u(-9, 9), u(-0.5, 0.5), 1 + u(-0.5, 0.5), u(-9, 9)]
    if rng.random() < 0.3:
        affine = [1, 0, rng.choice([0, 3, -2, 0.5, u(-3, 3)]), 0, rng.choice([1, -1, 2]), rng.randint(-5, 5)]
    kind = rng.randint(0, 9)
    if kind < 4:
        data = affine
        method = rng.choice([0, Image.Transform.AFFINE])
    elif kind < 6:
        method, data = Image.Transform.PERSPECTIVE, [*affine, u(-1e-2, 1e-2), u(-1e-2, 1e-2)]
    elif kind < 8:
        left, upper = u(-5, 5), u(-5, 5)
        method, data = Image.Transform.EXTENT, [left, upper, left + u(-5, 40), upper + rng.randint(0, 30)]
    elif kind < 9:
        method, data = Image.Transform.QUAD, [u(-5, 40) for _ in range(8)]
    else:
        method, data = rng.choice([5, -1, None, "a", True, 0.0]), affine
    strange = rng.random()
    if strange < 0.04:
        data = data[:-1]
    elif strange < 0.08:
        data = [*data, 1.0]
    elif strange < 0.12:
        data = [*data[:-1], rng.choice([NAN, INF, 1e30, -1e18, None, "a", np.float32(0.3)])]
    elif strange < 0.13:
        data = None
    return method, (tuple(data) if data is not None and rng.getrandbits(1) else data)


def factor(rng: random.Random) -> Any:
    return number(rng, 0, rng.choice([1, 2.5, 4]))


def transformed(rng: random.Random) -> tuple[Any, ...]:
    method, data = coefficients(rng)
    return size(rng), method, data, warp(rng), 1, colour(rng)


def mode_of(rng: random.Random) -> Any:
    return rng.choice([*NATIVE, *OTHERS, "RGB", "RGB", "L", "L", None, "nonsense", ""])


def converted(rng: random.Random) -> tuple[Any, ...]:
    if rng.random() < 0.15:
        count = rng.choice([4, 12, 12, 3])
        return rng.choice(["L", "RGB"]), tuple(rng.uniform(-1, 1) for _ in range(count))
    if rng.random() < 0.25:
        return rng.choice(["P", "1", "RGB"]), None, rng.choice([None, 0, 3]), rng.choice([0, 1]), rng.choice([256, 7])
    return (mode_of(rng),)


def resized(rng: random.Random) -> tuple[Any, ...]:
    whole = size(rng), resample(rng)
    kind = rng.random()
    if kind < 0.6:
        return whole
    if kind < 0.8:
        return *whole, box(rng)
    return *whole, None, rng.choice([None, 1, 1.0, 2.0, 3, 0.5, NAN, 1.1])


def fitted(rng: random.Random) -> tuple[Any, ...]:
    bleed = rng.choice([0, 0.0, 0.1, 0.3, 0.5, -1, 0.49])
    centering = rng.choice([(0.5, 0.5), (0, 1), [0.3, 0.8], (2, -1), (NAN, 0.5)])
    return (size(rng), resample(rng)) if rng.random() < 0.6 else (size(rng), resample(rng), bleed, centering)


def padded(rng: random.Random) -> tuple[Any, ...]:
    return size(rng), resample(rng), colour(rng), rng.choice([(0.5, 0.5), (0, 1), [0.3, 0.8], (2, -1)])


def stretched(rng: random.Random) -> tuple[Any, ...]:
    if rng.random() < 0.5:
        return ()
    cutoff = rng.choice([0, 0, (0, 0), 0.0, 2, (1, 5), (60, 60), 100, [0, 0], False, np.int64(0), (0.0, 0)])
    return cutoff, rng.choice([None, None, 3, (0, 255)]), None, bool(rng.getrandbits(1))


def turned(rng: random.Random) -> tuple[Any, ...]:
    expand = rng.choice([False, True, 0, 1])
    return degrees(rng), warp(rng), expand, point_of(rng), point_of(rng), colour(rng)


Theirs = Callable[..., Any]


def _enhance(name: str) -> Theirs:
    return lambda image, amount: getattr(ImageEnhance, name)(image).enhance(amount)


#: Functions of fastaug.pillow: their arguments, and what Pillow has for them.
FUNCTIONS: dict[str, tuple[Callable[[random.Random], tuple[Any, ...]], Theirs]] = {
    "gaussian_blur": (lambda r: (radius(r),), lambda image, *a: image.filter(ImageFilter.GaussianBlur(*a))),
    "box_blur": (lambda r: (radius(r),), lambda image, *a: image.filter(ImageFilter.BoxBlur(*a))),
    "brightness": (lambda r: (factor(r),), _enhance("Brightness")),
    "contrast": (lambda r: (factor(r),), _enhance("Contrast")),
    "color": (lambda r: (factor(r),), _enhance("Color")),
    "sharpness": (lambda r: (factor(r),), _enhance("Sharpness")),
    "solarize": (lambda r: (number(r, -5, 260),), ImageOps.solarize),
    "posterize": (lambda r: (number(r, 1, 8) if r.random() < 0.3 else r.randint(1, 8),), ImageOps.posterize),
    "invert": (lambda r: (), ImageOps.invert),
    "equalize": (lambda r: (), ImageOps.equalize),
    "autocontrast": (stretched, ImageOps.autocontrast),
    "grayscale": (lambda r: (), ImageOps.grayscale),
    "mirror": (lambda r: (), ImageOps.mirror),
    "flip": (lambda r: (), ImageOps.flip),
    "exif_transpose": (lambda r: (), ImageOps.exif_transpose),
    "fit": (fitted, ImageOps.fit),
    "contain": (lambda r: (size(r), resample(r)), ImageOps.contain),
    "cover": (lambda r: (size(r), resample(r)), ImageOps.cover),
    "pad": (padded, ImageOps.pad),
    "scale": (lambda r: (number(r, 0.3, 2), resample(r)), ImageOps.scale),
    "expand": (lambda r: (border(r), colour(r)), ImageOps.expand),
    "crop_border": (lambda r: (border(r),), ImageOps.crop),
    "convert": (converted, Image.Image.convert),
    "transpose": (
        lambda r: (r.choice([*Image.Transpose, 0, 5, 7, -1, True, np.int64(2), 2.0, None]),),
        Image.Image.transpose,
    ),
    "crop": (lambda r: (box(r),), Image.Image.crop),
    "resize": (resized, Image.Image.resize),
    "rotate": (turned, Image.Image.rotate),
    "transform": (transformed, Image.Image.transform),
    "point": (lambda r: (r.choice([[255 - k for k in range(256)], [1] * 7]),), Image.Image.point),
}

#: torchvision's transforms between them, by either package.
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "hflip": lambda P: P.RandomHorizontalFlip(0.5),
    "crop": lambda P: P.RandomCrop(16, pad_if_needed=True),
    "resize": lambda P: P.Resize((11, 14)),
    "jitter": lambda P: P.ColorJitter(0.3, 0.3, 0.3),
    "affine": lambda P: P.RandomAffine(20, (0.1, 0.1), interpolation=P.InterpolationMode.BILINEAR),
    "solarize": lambda P: P.RandomSolarize(100, 0.5),
    "gray": lambda P: P.RandomGrayscale(0.3),
}


@dataclass(frozen=True)
class Call:
    """A function of fastaug.pillow with its arguments; or a transform, where these are None."""

    name: str
    arguments: tuple[Any, ...] | None

    def ours(self, image: Any) -> Any:
        return getattr(pillow, self.name)(image, *(self.arguments or ()))

    def theirs(self, image: Any) -> Any:
        return FUNCTIONS[self.name][1](image, *(self.arguments or ()))


class Doing(fastaug.Drawn):
    """Some calls, one after the other, as one transform."""

    def __init__(self, *calls: Call) -> None:
        self.calls = calls

    def apply(self, image: Any, params: Any) -> Any:
        for call in self.calls:
            image = call.ours(image)
        return image


@dataclass(frozen=True)
class Case:
    mode: str
    width: int
    height: int
    transparency: Any
    calls: tuple[Call, ...]
    joined: bool
    end: bool
    seed: int

    def image(self) -> Image.Image:
        return made(self.mode, self.width, self.height, self.seed % 1000, self.transparency)

    def pipeline(self) -> Any:
        """As Drawn transforms in a Compose, function by function or several at once."""
        steps: list[Any] = []
        for call in self.calls:
            if call.arguments is None:
                steps.append(TRANSFORMS[call.name](T))
            elif self.joined and steps and isinstance(steps[-1], Doing):
                steps[-1] = Doing(*steps[-1].calls, call)
            else:
                steps.append(Doing(call))
        return T.Compose([*steps, T.ToTensor()] if self.end else steps)

    def one_by_one(self, image: Any, package: Any) -> Any:
        for call in self.calls:
            if call.arguments is None:
                image = TRANSFORMS[call.name](package)(image)
            else:
                image = call.theirs(image) if package is TV else call.ours(image)
        return package.ToTensor()(image) if self.end else image


def draw_case(case: int, modes: tuple[str, ...] = ()) -> Case:
    """The case of this number, the same on every machine."""
    rng = random.Random(f"pillow {case}")
    mode = rng.choice(modes or (*NATIVE, *NATIVE, "RGB", "RGB", "L", *OTHERS))
    width, height = rng.choice(SIDES), rng.choice(SIDES)
    if rng.random() < 0.04:
        width = 0
    transparency = None
    if mode in ("L", "P", "RGB") and rng.random() < 0.15:
        transparency = {"L": 3, "P": rng.choice([3, bytes(range(256))]), "RGB": (1, 2, 3)}[mode]
    calls = []
    for _ in range(rng.choice([1, 2, 2, 3, 4, 6])):
        if rng.random() < 0.15:
            calls.append(Call(rng.choice([*TRANSFORMS]), None))
        else:
            name = rng.choice([*FUNCTIONS])
            calls.append(Call(name, FUNCTIONS[name][0](rng)))
    return Case(
        mode, width, height, transparency, tuple(calls), rng.random() < 0.5, rng.random() < 0.3, rng.getrandbits(31)
    )


def told(value: Any) -> Any:
    """All that can be seen of a result."""
    if isinstance(value, LazyImage):
        value = value.load()  # a handle that nothing was done to
    if not isinstance(value, Image.Image):
        return snapshot(value)
    palette = None if value.palette is None else (value.palette.mode, bytes(value.getpalette(value.palette.mode) or ()))
    return value.mode, value.size, value.tobytes(), undated(value.info), palette


def outcome(call: Callable[[Any], Any], image: Any, seed: int) -> tuple[Any, ...]:
    """What comes out, or the type of the error."""
    random.seed(seed)
    torch.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call(image)
            return told(result), result is image
        except Exception as error:
            return (type(error), str(error))


def same(one: tuple[Any, ...], other: tuple[Any, ...], any_error: bool) -> bool:
    """Of errors their types alone, or not even these."""
    failed = [isinstance(found[0], type) for found in (one, other)]
    if any(failed):
        return all(failed) and (any_error or one[0] is other[0])
    return bool(one == other)


def words(found: tuple[Any, ...]) -> str:
    if isinstance(found[0], type):
        return f"{found[0].__name__}({found[1][:100]})"
    first = found[0]
    parts = (repr(part) if len(repr(part)) < 60 else f"<{hash(repr(part)):x}>" for part in first)
    return f"{', '.join(parts)}{', the same object' if found[1] else ''}"


def difference(case: Case, batch: bool = True) -> str | None:
    """What is not as Pillow and torchvision have it; None if nothing is."""
    image = case.image()
    before = told(image)
    wanted = outcome(lambda given: case.one_by_one(given, TV), image, case.seed)
    pipeline = case.pipeline()
    ways: dict[str, Callable[[Any], Any]] = {
        "one by one": lambda given: case.one_by_one(given, T),
        "as a pipeline": pipeline,
    }
    if batch:
        ways["as a batch"] = lambda given: pipeline.batch([given], num_threads=2)[0]
    if all(call.arguments is not None for call in case.calls) and not case.end:
        ways["as one"] = Doing(*case.calls)
    for name, way in ways.items():
        got = outcome(way, image, case.seed)
        if name == "as a batch" and not isinstance(got[0], type) and not isinstance(wanted[0], type):
            got = (got[0], wanted[1])
        # Drafts see some errors of later calls before Pillow has seen those of earlier ones.
        if not same(got, wanted, any_error=(len(case.calls) > 1 and name != "one by one") or name == "as a batch"):
            return f"{case}\n  {name}: {words(got)}\n  wanted: {words(wanted)}"
        if told(image) != before:
            return f"{case}\n  {name}: the image was written to"
    return _of_a_file(case, pipeline) if case.mode in FILED and case.width and case.height else None


def _of_a_file(case: Case, pipeline: Any) -> str | None:
    """What is not as Pillow has it where fastaug is given a handle of a file, whose metadata stay there."""
    image = case.image()
    image.info = {}
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    wanted = outcome(lambda given: case.one_by_one(given, TV), image, case.seed)
    ways = {"of a file": pipeline, "of a file, one by one": lambda given: case.one_by_one(given, T)}
    for name, way in ways.items():
        got = outcome(way, LazyImage(file.getvalue(), case.mode), case.seed)
        if not same((got[0], wanted[1]) if not isinstance(got[0], type) else got, wanted, any_error=True):
            return f"{case}\n  {name}: {words(got)}\n  wanted: {words(wanted)}"
    return None


def shrink(case: Case) -> Case:
    """A case with fewer calls that still differs."""

    def simpler(one: Case) -> list[Case]:
        fewer = [replace(one, calls=one.calls[:k] + one.calls[k + 1 :]) for k in range(len(one.calls))]
        return [*fewer, *(other for other in (replace(one, end=False), replace(one, joined=False)) if other != one)]

    return shrunk(case, simpler, difference)
