"""Run ``python -m fastaug demo``: pipeline P on real tiles, compared and timed against torchvision."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont, UnidentifiedImageError
from tqdm import tqdm

import fastaug
import fastaug.transforms
from fastaug._cli.pipelines import CommandError
from fastaug._inspect.check import Comparison, compare
from fastaug._inspect.words import Table

SIDE = 1024
VARIANTS = tuple((size, rotation) for size in (512, 224) for rotation in ("nearest", "bilinear"))
MEAN = STD = (0.5, 0.5, 0.5)

#: The tiles of the contact sheet: tissue and other photographs in turn.
SHOWN = (1, 0, 2, 4, 5, 12, 7)
#: Photographs in scikit-image's package. The first is the subject of this demo.
PHOTOGRAPHS = ("ihc.png", "retina.jpg", "astronaut.png", "hubble_deep_field.jpg", "coffee.png", "chelsea.png")

Pixels = NDArray[np.uint8]


# Tiles


def tile_of(picture: Pixels, top: int, left: int) -> Pixels:
    """Return a 1024x1024 window of the plane that a picture and its mirror images tile without seams."""

    def positions(start: int, size: int) -> NDArray[np.int64]:
        index = np.arange(start, start + SIDE) % (2 * size)
        return np.where(index < size, index, 2 * size - 1 - index)

    rows, columns = positions(top, picture.shape[0]), positions(left, picture.shape[1])
    return np.ascontiguousarray(picture[rows[:, None], columns[None, :]])


def read(path: Path) -> Pixels | None:
    """Return the image as RGB, or None if Pillow cannot read it."""
    try:
        with Image.open(path) as image:
            return np.array(image.convert("RGB"))
    except (UnidentifiedImageError, OSError):
        return None


def user_pictures(folder: Path, most: int) -> list[Pixels]:
    """Return up to `most` images of a folder and its subfolders, sorted by name."""
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    pictures = list(islice((picture for path in files if (picture := read(path)) is not None), most))
    if not pictures:
        raise CommandError(f"no image that Pillow can read in {folder}")
    return pictures


def packaged_pictures() -> list[Pixels]:
    try:
        import skimage
    except ImportError as error:
        raise CommandError("needs photographs: pip install scikit-image, or --images DIR with your own") from error
    data = Path(skimage.__file__).parent / "data"
    found = [picture for name in PHOTOGRAPHS if (picture := read(data / name)) is not None]
    if not found:
        raise CommandError("this scikit-image holds no photographs; give your own with --images DIR")
    return found


def enlarged(picture: Pixels) -> Pixels:
    """Return the picture, enlarged to at least a tile."""
    image = Image.fromarray(picture)
    factor = SIDE / min(image.size)
    if factor > 1:
        size = (max(SIDE, round(image.width * factor)), max(SIDE, round(image.height * factor)))
        image = image.resize(size, Image.Resampling.BICUBIC)
    return np.asarray(image)


def bag(folder: Path | None, count: int) -> list[Pixels]:
    """Return `count` tiles, from the user's images in turn, or mostly tissue and every fourth from another photograph.

    Images smaller than a tile are enlarged. Tissue is mirrored instead, which keeps its scale.
    """
    pictures = user_pictures(folder, count) if folder else packaged_pictures()
    pictures = [enlarged(picture) if folder or number else picture for number, picture in enumerate(pictures)]
    generator = np.random.default_rng(0)
    tiles = []
    for number in tqdm(range(count), desc="cutting tiles", unit="tile", disable=None):
        if folder or len(pictures) == 1:
            picture = pictures[number % len(pictures)]
        else:
            picture = pictures[0] if number % 4 else pictures[1 + number // 4 % (len(pictures) - 1)]
        # Cut a tile inside the picture if it fits, otherwise anywhere in its mirrored plane.
        ends = (size - SIDE + 1 if size >= SIDE else 2 * size for size in picture.shape[:2])
        top, left = (int(generator.integers(end)) for end in ends)
        tiles.append(tile_of(picture, top, left))
    return tiles


# Pipeline P


def pipeline_p(T: Any, size: int, rotation: str) -> Any:
    """Return the reference pipeline of one of the two libraries, with the same user code."""
    return T.Compose(
        [
            T.ToPILImage(),
            T.RandomRotation(25, interpolation=T.InterpolationMode(rotation)),
            T.RandomResizedCrop(SIDE, scale=(0.5, 1.5), ratio=(0.8, 1.2)),
            T.Resize(size),
            T.RandomHorizontalFlip(),
            T.RandomVerticalFlip(),
            T.ColorJitter(0.2, 0.1, 0.05, 0.02),
            T.ToTensor(),
            T.Normalize(MEAN, STD),
        ]
    )


@dataclass
class Outcome:
    """The milliseconds of each call of one variant of P, and the differing pixels."""

    size: int
    rotation: str
    compared: Comparison
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Return the speedup, the median over the tiles."""
        return statistics.median(b / a for a, b in zip(self.ours, self.theirs))


def timed(transform: Callable[[Pixels], torch.Tensor], tile: Pixels, seed: int) -> tuple[float, torch.Tensor]:
    torch.manual_seed(seed)
    start = time.perf_counter()
    result = transform(tile)
    return (time.perf_counter() - start) * 1e3, result


def play(tiles: list[Pixels], size: int, rotation: str, reference: Any | None) -> Outcome:
    """Run one variant on the bag. fastaug goes first, so it is the one that finds each tile cold."""
    outcome = Outcome(size, rotation, Comparison("torchvision", "exact", len(tiles), 1))
    ours = pipeline_p(fastaug.transforms, size, rotation)
    theirs = pipeline_p(reference, size, rotation) if reference else None
    ours(tiles[-1])  # The first calls load code, so they are not timed.
    if theirs:
        theirs(tiles[-1])
    label = f"P, {size}, rotation {rotation:<8}"
    for seed, tile in enumerate(tqdm(tiles, desc=label, unit="tile", disable=None)):
        elapsed, result = timed(ours, tile, seed)
        outcome.ours.append(elapsed)
        if theirs:
            elapsed, expected = timed(theirs, tile, seed)
            outcome.theirs.append(elapsed)
            compare(outcome.compared, seed, seed, result, expected, (MEAN, STD), None)
    return outcome


# What is printed


def verdict(outcomes: list[Outcome]) -> str:
    values = sum(outcome.compared.samples for outcome in outcomes)
    wrong = [f"P {o.size} {o.rotation}, {one}" for o in outcomes for one in o.compared.differences]
    if not wrong:
        return f"All {values:,} output values equal torchvision's, bit for bit, for the same seeds."
    shown = [*wrong[:10], *([f"and {len(wrong) - 10} more"] if len(wrong) > 10 else [])]
    return "NOT EQUAL to torchvision for the same seeds:\n  " + "\n  ".join(shown)


def table(outcomes: list[Outcome]) -> str:
    compared = bool(outcomes[0].theirs)
    rows: list[tuple[str, ...]] = [
        ("pipeline P, 1024x1024 to", "rotation", "torchvision" * compared, "fastaug", "faster" * compared)
    ]
    for o in outcomes:
        theirs, ratio = (f"{statistics.median(o.theirs):.1f} ms", f"{o.ratio:.1f} x") if compared else ("", "")
        rows.append((f"{o.size}x{o.size}", o.rotation, theirs, f"{statistics.median(o.ours):.2f} ms", ratio))
    return "\n".join(Table(rows, "<<>>>", (26, 11, 12, 12, 12)).lines())


# The contact sheet


def augmented(tiles: list[Pixels], seeds: list[int], size: int) -> Iterator[Image.Image]:
    """Yield each tile as a network would see it, as 8-bit images."""
    transform = pipeline_p(fastaug.transforms, size, "bilinear")
    for tile, seed in zip(tiles, seeds):
        torch.manual_seed(seed)
        levels = (transform(tile) * 127.5 + 127.5).round().clamp(0, 255).to(torch.uint8)
        yield Image.fromarray(np.ascontiguousarray(levels.permute(1, 2, 0).numpy()))


def contact_sheet(tiles: list[Pixels], caption: str) -> Image.Image:
    """Draw tiles before the pipeline, and after it for three seeds."""
    chosen = [tiles[i] for i in SHOWN if i < len(tiles)]
    cell, gap, margin, gutter, head, foot = 224, 10, 32, 96, 104, 56
    rows = [("tile", [Image.fromarray(tile).resize((cell, cell), Image.Resampling.LANCZOS) for tile in chosen])]
    for draw in range(3):
        seeds = [1000 * draw + i for i in range(len(chosen))]
        rows.append((f"draw {draw + 1}", list(augmented(chosen, seeds, cell))))

    step, extra = cell + gap, 14
    width = margin + gutter + step * len(chosen) - gap + margin
    height = head + step * len(rows) - gap + extra + foot
    font = ImageFont.load_default
    canvas = Image.new("RGB", (max(width, 760), height), "white")
    pen = ImageDraw.Draw(canvas)
    pen.text((margin, 26), "Pipeline P on 1024x1024 tiles", fill="#111111", font=font(30))
    steps = "rotate, random resized crop, resize, flips, colour jitter, normalise"
    pen.text((margin, 66), f"{steps}: one native call a tile", fill="#666666", font=font(17))
    top = head
    for number, (label, images) in enumerate(rows):
        pen.text((margin, top + cell // 2), label, fill="#111111", font=font(19), anchor="lm")
        for column, image in enumerate(images):
            canvas.paste(image, (margin + gutter + column * step, top))
        top += step
        if number == 0:
            pen.line((margin, top - gap + 12, canvas.width - margin, top - gap + 12), fill="#cccccc", width=1)
            top += extra
    pen.text((margin, height - foot // 2 - 4), caption, fill="#666666", font=font(17), anchor="lm")
    return canvas


def run(images: Path | None, out: Path, count: int) -> int:
    """Run the whole demo. Return 0, or 1 if a pixel differs from torchvision's."""
    torch.set_num_threads(1)
    try:
        import torchvision.transforms as reference
    except ImportError:
        reference = None
    print(f"fastaug {fastaug.__version__}, {fastaug.isa()}, one thread; torch {torch.__version__}")
    tiles = bag(images, count)
    outcomes = [play(tiles, size, rotation, reference) for size, rotation in VARIANTS]
    print()
    if reference is None:
        print("torchvision is not installed, so there is nothing to compare with: times only.")
        caption = f"fastaug {statistics.median(outcomes[0].ours):.1f} ms a tile (P at 512)"
    else:
        print(verdict(outcomes))
        same = "the same pixels as torchvision" if all(o.compared for o in outcomes) else "NOT torchvision's"
        theirs, ours = statistics.median(outcomes[1].theirs), statistics.median(outcomes[1].ours)
        caption = f"{same}; P at 512, bilinear: torchvision {theirs:.1f} ms a tile, fastaug {ours:.1f} ms, one core"
    print(f"\n{table(outcomes)}\n(median of {count} tiles, one core, parameter draws and output included)\n")
    try:
        contact_sheet(tiles, caption).save(out)
    except (OSError, ValueError) as error:
        raise CommandError(f"cannot write {out}: {error}") from error
    print(f"contact sheet: {out}")
    return 0 if reference is None or all(outcome.compared for outcome in outcomes) else 1
