"""Random pipelines that mostly fail somewhere: where torchvision raises, and where that leaves the generators.

Steps are drawn for other images than they get, callables of the user's raise, and files are broken or of a mode that an
op refuses. Pixels are compared elsewhere (random_pipelines); here it is how a call ends: the type of its error, the
states of the generators, and whether Pillow has read the file that it was given.
"""

from __future__ import annotations

import functools
import io
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug
import fastaug.transforms as T
import pipeline_steps as steps
from random_pipelines import CHANNELS
from support.outcomes import Outcome, clone, run

Made = Callable[[], Any]


class Raised(Exception):
    """What the callables of these pipelines raise."""


def fail(image: Any) -> Any:
    raise Raised


def fail_sometimes(image: Any) -> Any:
    if torch.rand(1) < 0.3 or random.random() < 0.2 or np.random.rand() < 0.2:  # noqa: NPY002
        raise Raised
    return image


NAMES = {"torch": torch, "fail": fail, "fail_sometimes": fail_sometimes}

#: Formats and the modes that they keep.
FILES = {
    "PNG": ("L", "LA", "RGB", "RGBA", "P", "1", "I;16"),
    "JPEG": ("L", "RGB", "CMYK"),
    "BMP": ("L", "RGB", "P", "1"),
    "GIF": ("L", "P", "RGB"),
    "TIFF": ("L", "LA", "RGB", "RGBA", "CMYK", "F", "I;16", "YCbCr"),
    "WEBP": ("RGB", "RGBA"),
    "PPM": ("L", "RGB"),
    "ICO": ("RGB", "RGBA"),
    "TGA": ("L", "LA", "RGB", "RGBA"),
}
#: Steps that fail with most images, or that do nothing.
TROUBLE = (
    "T.Lambda(fail)",
    "T.Lambda(fail_sometimes)",
    "T.Lambda(lambda image: image)",
    "T.Compose([])",
    "T.RandomHorizontalFlip(0.0)",
    "T.RandomApply([T.RandomVerticalFlip()], p=0.4)",
    "T.RandomApply([T.Lambda(fail)], p=0.4)",
    "T.RandomCrop(60)",
    "T.RandomChoice([T.Lambda(fail), T.RandomRotation(10), T.Pad(1)])",
    "T.RandomOrder([T.ColorJitter(0.2), T.RandomCrop((9, 50))])",
    "T.ToTensor()",
    "T.PILToTensor()",
    "T.ToPILImage()",
    "T.ConvertImageDtype(torch.float32)",
    "T.ConvertImageDtype(torch.int16)",
    "T.Normalize([0.5], [0.2])",
    "T.Normalize([0.5, 0.1], [0.2, 0.1])",
    "T.RandomErasing(0.6)",
    "T.FiveCrop(9)",
    "T.Grayscale(2)",
    "T.RandomInvert(0.5)",
    "T.RandAugment(4)",
    "T.RandAugment(3, 31)",
    "T.AugMix()",
    "T.AutoAugment()",
    "T.TrivialAugmentWide()",
    "T.RandomPosterize(4, 0.5)",
    "T.RandomEqualize(0.5)",
    "T.RandomAutocontrast(0.5)",
    "T.RandomSolarize(300, 0.5)",
    "T.RandomAdjustSharpness(2, 0.5)",
    "T.ElasticTransform(5.0)",
    "T.ElasticTransform(5.0, 90.0)",
    "T.GaussianBlur(41)",
    "T.RandomRotation(20, fill=(1, 2))",
    "T.ColorJitter(hue=0.2)",
    "T.RandomGrayscale(0.5)",
)


def pixels(rng: random.Random, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(rng.getrandbits(32)).integers(0, 256, shape, dtype=np.uint8)


def draw_image(rng: random.Random, modes: Any = tuple(CHANNELS)) -> Image.Image:
    """A PIL image in memory."""
    mode = rng.choice(modes)
    height, width = rng.choice([1, 4, 30, 40, 70]), rng.choice([1, 9, 33, 64])
    image = Image.fromarray(pixels(rng, (height, width, 3)))
    return image.convert("L").convert("I;16") if mode == "I;16" else image.convert(mode)


def draw_file(rng: random.Random) -> tuple[str, Made]:
    """One that Pillow has opened and not read, mostly broken."""
    kind = rng.choice(list(FILES))
    image = draw_image(rng, FILES[kind])
    file = io.BytesIO()
    image.save(file, kind)
    data = file.getvalue()
    if rng.random() < 0.7:
        data = data[: -rng.randint(1, max(len(data) * 2 // 3, 1))]
    try:
        Image.open(io.BytesIO(data))
    except Exception:
        data = file.getvalue()
    return f"{kind} {image.mode} {image.size} {len(data)} of {len(file.getvalue())} bytes", functools.partial(
        lambda data: Image.open(io.BytesIO(data)), data
    )


def draw_tensor(rng: random.Random) -> torch.Tensor:
    side = rng.choice([1, 4, 30, 40, 70])
    channels = rng.choice([1, 2, 3, 3, 3, 4, 5])
    shapes = [(channels, side, 30)] * 5 + [(2, channels, side, 9), (2, 1, 3, 4, side), (side,), ()]
    tensor = torch.from_numpy(pixels(rng, rng.choice(shapes)))
    dtypes = [torch.uint8] * 4 + [torch.float32] * 2 + [torch.int16, torch.int64, torch.bool, torch.float16]
    return tensor.to(rng.choice(dtypes))


def draw_given(rng: random.Random) -> tuple[str, Made]:
    """What a pipeline is given, in words and as a function that makes it anew."""
    kind = rng.choice(["file"] * 4 + ["image"] * 3 + ["tensor"] * 3 + ["other"])
    if kind == "file":
        return draw_file(rng)
    if kind == "image":
        image = draw_image(rng)
        return f"{image.mode} {image.size}", lambda: clone(image)
    if kind == "tensor":
        tensor = draw_tensor(rng)
        return f"{tensor.dtype} {tuple(tensor.shape)}", lambda: clone(tensor)
    value = rng.choice([None, "image", 3, [1], (torch.zeros(3, 4, 4),), b"1", object()])
    return repr(value), lambda: value


def draw_pipeline(rng: random.Random) -> list[str]:
    container = rng.choice(["pil", "tensor"])
    drawn = [step.source for step in steps.draw_steps(rng, container, rng.choice([1, 3, 3]))]
    for _ in range(rng.choice([1, 1, 2, 3])):
        drawn.insert(rng.randint(0, len(drawn)), rng.choice(TROUBLE))
    return drawn[: rng.choice([1, 2, 4, 9])]


def build(sources: list[str], package: Any) -> list[Any]:
    return [eval(source, {**NAMES, "T": package}) for source in sources]


def is_read(image: Any) -> bool:
    """Whether Pillow has read the pixels of a file."""
    own = vars(image)
    return own.get("_im", own.get("im")) is not None


def ended(make: Callable[[], Callable[[Any], Any]], given: Made, seed: int) -> tuple[Outcome, bool | None]:
    value = given()
    outcome = run(make(), value, seed, untouched=True)
    return outcome, is_read(value) if isinstance(value, Image.Image) else None


def difference(ours: tuple[Outcome, bool | None], theirs: tuple[Outcome, bool | None]) -> str | None:
    (one, read), (other, other_read) = ours, theirs
    if type(one.error) is not type(other.error):
        return f"{one.error!r}, torchvision {other.error!r}"
    for name in ("torch", "python", "numpy"):
        a, b = (getattr(outcome, f"{name}_state") for outcome in (one, other))
        if not (torch.equal(a, b) if name == "torch" else a == b):
            return f"{name}'s generator was left in another state, after {other.error!r}"
    if read is not other_read:
        return f"the file was {'' if read else 'not '}read, after {other.error!r}"
    return None


def check(number: int) -> str:
    """What differs in the case of this number; empty if nothing does."""
    rng = random.Random(f"failures {number}")
    words, given = draw_given(rng)
    sources = draw_pipeline(rng)
    seed = rng.getrandbits(32)
    theirs = ended(lambda: TV.Compose(build(sources, TV)), given, seed)
    ways: dict[str, Callable[[], Callable[[Any], Any]]] = {
        "Compose": lambda: T.Compose(build(sources, T)),
        "compiled": lambda: fastaug.compile(TV.Compose(build(sources, TV))),
    }
    if len(sources) == 1:
        ways["alone"] = lambda: build(sources, T)[0]
    for name, make in ways.items():
        found = difference(ended(make, given, seed), theirs)
        if found is not None:
            return f"failure {number}: {name}: {found}\n  {words}, seed {seed}\n  " + "\n  ".join(sources)
    return ""
