"""Draws the pictures of the reference: a photograph and what a transform or function makes of it, side by side.

``python -m docs._ext.pictures FOLDER [NAME ...]`` draws all of classes, or some, outside a build of the documentation.
"""

from __future__ import annotations

import functools
import importlib.util
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont
from tqdm import tqdm

import fastaug.transforms as T
import fastaug.transforms.functional as F
from docs._ext.examples import EXAMPLES, Example, NoPicture
from fastaug._inspect.words import short
from fastaug.transforms import v2

#: Of the photograph that every transform gets.
WIDTH, HEIGHT = 176, 132
GAP, CAPTION, FONT_SIZE = 8, 24, 14
COLUMNS = 4
#: The side of the patches that the whitening of LinearTransformation's example was computed from.
PATCH = 16


class PicturesError(RuntimeError):
    """Why no pictures can be made, in words for the one who builds the documentation."""


@functools.cache
def photograph(name: str) -> Image.Image:
    """A photograph that scikit-image installs with itself: its middle, in RGB, at the size of the examples."""
    spec = importlib.util.find_spec("skimage")
    if spec is None or spec.origin is None:
        raise PicturesError("the pictures need the photographs of scikit-image: pip install scikit-image")
    with Image.open(Path(spec.origin).parent / "data" / name) as opened:
        image = opened.convert("RGB")
    width = min(image.width, image.height * WIDTH // HEIGHT)
    height = width * HEIGHT // WIDTH
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS, (left, top, left + width, top + height))


def whitening(image: Image.Image) -> tuple[torch.Tensor, torch.Tensor]:
    """The ZCA matrix and the mean of all patches of an image, for LinearTransformation."""
    pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1) / 255
    patches = pixels.unfold(1, PATCH, 2).unfold(2, PATCH, 2).permute(1, 2, 0, 3, 4).reshape(-1, 3 * PATCH * PATCH)
    mean = patches.mean(0)
    centred = patches - mean
    values, vectors = torch.linalg.eigh(centred.T @ centred / len(patches))
    return vectors @ torch.diag((values.clamp(min=0) + 1e-2).rsqrt()) @ vectors.T, mean


def seed(number: int) -> None:
    torch.manual_seed(number)
    random.seed(f"picture {number}")
    np.random.seed(number)  # noqa: NPY002  # user callables may draw from it


def as_image(result: Any, spread: bool) -> Image.Image:
    """A result as it can be looked at."""
    if isinstance(result, torch.Tensor):
        if spread:
            result = (result - result.min()) / (result.max() - result.min())
        result = F.to_pil_image(result.clamp(0, 1))
    return result.convert("RGB")


def results(name: str, example: Example) -> Iterator[Image.Image]:
    """What the calls of an example return, in order."""
    photo = photograph(example.photo)
    for call in example.calls:
        for draw in range(example.draws):
            seed(draw)
            result = evaluated(name, example, call, photo)
            # A transform is yet to be called with the photograph; a function has been.
            result = result(photo.copy()) if callable(result) else result
            for image in result if isinstance(result, (list, tuple)) else (result,):
                yield as_image(image, example.spread)


def evaluated(name: str, example: Example, call: str, photo: Image.Image) -> Any:
    """The transform that a call of an example makes, or the result of a function."""
    names: dict[str, Any] = {"T": T, "F": F, "torch": torch, "image": photo.copy()}
    if example.samples:
        names.update(T=v2, F=v2.functional)
    if name == "LinearTransformation":
        names["matrix"], names["mean"] = whitening(photo)
    if name in ("elastic", "elastic_transform"):
        names["displacement"] = wave(photo)
    return eval(call, names)


def wave(image: Image.Image) -> torch.Tensor:
    """A displacement of elastic_transform, up to a thirtieth of the image to each side."""
    rows = torch.sin(torch.arange(image.height) / 8)[:, None].expand(image.height, image.width)
    return torch.stack([rows, torch.zeros_like(rows)], dim=-1)[None] / 15


def drawn(name: str, example: Example) -> list[tuple[str, str]]:
    """What was drawn for each result of an example: its caption and the parameters, of those that draw any."""
    photo = photograph(example.photo)
    made = []
    for call in example.calls:
        for draw in range(example.draws):
            transform = evaluated(name, example, call, photo)
            compose = v2.Compose if example.samples else T.Compose
            pipeline = transform if isinstance(transform, compose) else compose([transform])
            seed(draw)
            made.append([told(step, len(pipeline.transforms) > 1) for step in pipeline.sample(photo)])
    if not any(made):
        return []
    return [(label, ", then ".join(steps) or "nothing") for label, steps in zip(captions(example, len(made)), made)]


def told(step: dict[str, Any], several: bool) -> str:
    """The parameters of a transform on one line. Noise is too much to print."""
    values = {name: value for name, value in step.items() if name != "transform" and value is not None}
    text = ", ".join(f"{name}={'...' if isinstance(value, bytes) else short(value)}" for name, value in values.items())
    return f"{step['transform']}: {text}" if several else text


def captions(example: Example, count: int) -> list[str]:
    if example.labels:
        labels = list(example.labels)
    elif example.draws > 1:
        labels = [f"draw {number}" for number in range(1, count + 1)]
    else:
        labels = [call.removeprefix("T.").replace(", p=1)", ")").replace("(p=1)", "") for call in example.calls]
        labels = [label.removeprefix("F.").replace("(image, ", "(") for label in labels]
    if len(labels) != count:
        raise PicturesError(f"{count} results but {len(labels)} labels: {labels}")
    return labels


def strip(name: str, example: Example | NoPicture) -> Image.Image:
    """The picture of a class or function: the photograph on the left, and results in rows beside it."""
    if not isinstance(example, Example):
        raise PicturesError(f"{name} has no picture: {example.reason}")
    made = list(results(name, example))
    labels = captions(example, len(made))
    if example.zoom > 1:
        made = [image.resize([example.zoom * side for side in image.size], Image.Resampling.NEAREST) for image in made]
    columns = min(len(made), 5 if len(made) % 5 == 0 else COLUMNS)
    rows = -(-len(made) // columns)
    width, height = (max(sides) for sides in zip(*(image.size for image in made)))
    font = ImageFont.load_default(FONT_SIZE)
    width = max(width, *(int(font.getlength(label)) + 1 for label in labels))
    tall = max(height, HEIGHT) if rows == 1 else height
    canvas = Image.new(
        "RGB",
        (WIDTH + columns * (width + GAP), max(rows * (tall + CAPTION), HEIGHT + CAPTION)),
        "white",
    )
    pen = ImageDraw.Draw(canvas)

    def put(image: Image.Image, label: str, left: int, top: int, size: tuple[int, int]) -> None:
        """An image, in the middle of its cell, under its label."""
        pen.text((left + size[0] // 2, top + CAPTION // 2), label, fill="#333333", font=font, anchor="mm")
        offset = (size[0] - image.width) // 2, (size[1] - image.height) // 2
        canvas.paste(image, (left + offset[0], top + CAPTION + offset[1]))

    put(photograph(example.photo), "original", 0, 0, (WIDTH, tall if rows == 1 else HEIGHT))
    for number, (image, label) in enumerate(zip(made, labels)):
        row, column = divmod(number, columns)
        put(image, label, WIDTH + GAP + column * (width + GAP), row * (tall + CAPTION), (width, tall))
    return canvas


def draw(
    folder: Path, names: Iterable[str] | None = None, examples: dict[str, Example | NoPicture] = EXAMPLES
) -> list[Path]:
    """Writes NAME.webp for the examples of these names, by default for all that have a picture.

    Raises:
        PicturesError: there are no photographs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if names is None:
        names = sorted(name for name, example in examples.items() if isinstance(example, Example))
    paths = []
    for name in tqdm(list(names), desc="drawing pictures", unit="picture", disable=None):
        path = folder / f"{name}.webp"
        strip(name, examples[name]).save(path, quality=85, method=4)
        paths.append(path)
    return paths


if __name__ == "__main__":
    draw(Path(sys.argv[1]), sys.argv[2:] or None)
