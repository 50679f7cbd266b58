"""soak_slide.py [MINUTES] [FIRST]: random regions of slides, for as long as one likes.

Each case has its slide, of any layout, new or kept; it is read by several threads at once, as arrays, handles, batches
of a pipeline and numbers of tissue_stats, and in children that are forked meanwhile. Every result is compared. Slides
whose tiles are broken must fail where they are read, and nowhere else. Memory, threads and open files must not grow.
Stops at the fifth thing that is wrong; `soak_slide.py 0 NUMBER` runs one case again. Exits with 1 if there was any.
"""

from __future__ import annotations

import gc
import pickle
import random
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV
from PIL import Image
from slide_files import LAYOUTS, cut, places, write
from tqdm import tqdm

import fastaug
import fastaug.transforms as T
from fastaug import pathology
from fastaug.io import Slide

sys.path.insert(0, str(Path(__file__).parent))

from soaking import ENOUGH, HANGS, RAISES, forked, grown, left_over, main, open_files, resident

#: Of level 0 and the one above it.
SIZES = ((611, 820), (152, 205))

#: The tile of level 0 that is broken in every other slide: column 2, row 1 where tiles are of 48 rows and 64 columns.
BROKEN = 2 + 13


@dataclass
class Known:
    """A slide on disk, and what it holds."""

    path: Path
    levels: list[np.ndarray]
    broken: bool
    slide: Slide


def written(folder: Path) -> list[Known]:
    known = []
    for number, make in enumerate(LAYOUTS.values()):
        path = folder / f"{number}.tif"
        levels = write(path, make(), SIZES)
        known.append(Known(path, levels, False, Slide(path)))
        if make().tile is not None:
            data = bytearray(path.read_bytes())
            offset, size = places(path)[BROKEN]
            data[offset + size // 2 : offset + size] = bytes(size - size // 2)
            other = folder / f"{number}-broken.tif"
            other.write_bytes(data)
            known.append(Known(other, levels, True, Slide(other)))
    return known


def covers(level: int, left: int, top: int, width: int, height: int) -> bool:
    """Whether a region has pixels of the broken tile."""
    return level == 0 and left < 192 and left + width > 128 and top < 96 and top + height > 48


def read(known: Known, slide: Slide, rng: random.Random) -> str:
    """One region, as an array or a handle. What is wrong with it."""
    level = rng.randrange(2)
    tall, wide = SIZES[level]
    width, height = rng.randint(1, wide), rng.randint(1, tall)
    left, top = rng.randint(-40, wide), rng.randint(-40, tall)
    scale = slide.levels[level].downsample
    x, y = round(left * scale), round(top * scale)
    fails = known.broken and covers(level, left, top, width, height)
    try:
        if rng.random() < 0.5:
            got = slide.read(x, y, (width, height), level)
        else:
            got = np.asarray(slide.lazy(x, y, (width, height), level))
    except fastaug.DecodeError as error:
        right = fails and "column 2, row 1 of level 0" in str(error)
        return "" if right else f"{known.path.name}: {error}"
    if fails:
        return f"{known.path.name}: a broken tile was read, at {x}, {y}, {(width, height)}"
    equal = np.array_equal(got, cut(known.levels[level], left, top, width, height))
    return "" if equal else f"{known.path.name}: differs at {x}, {y}, {(width, height)} of level {level}"


def batched(known: Known, slide: Slide, rng: random.Random) -> str:
    """Regions of the sound part, through a pipeline."""
    count, seed = rng.randint(1, 12), rng.randrange(1 << 30)
    corners = [(rng.randint(200, 760), rng.randint(100, 560)) for _ in range(count)]
    steps = [(P.RandomResizedCrop(32), P.RandomHorizontalFlip(), P.ToTensor()) for P in (T, TV)]
    torch.manual_seed(seed)
    threads = rng.choice([1, 2, 4])
    ours = T.Compose(steps[0]).batch([slide.lazy(x, y, (96, 80)) for x, y in corners], num_threads=threads)
    torch.manual_seed(seed)
    theirs = TV.Compose(steps[1])
    for one, (x, y) in zip(ours, corners):
        if not torch.equal(one, theirs(Image.fromarray(cut(known.levels[0], x, y, 96, 80)))):
            return f"{known.path.name}: differs in a batch, at {x}, {y}"
    return ""


def counted(known: Known, slide: Slide, rng: random.Random) -> str:
    """Numbers of regions of the upper level, and of all its tiles."""
    tall, wide = SIZES[1]
    scale, pixels = slide.levels[1].downsample, known.levels[1]
    corners = [(rng.randint(-40, wide), rng.randint(-40, tall)) for _ in range(rng.randint(1, 12))]
    size = rng.randint(1, 90), rng.randint(1, 90)
    places = [(round(left * scale), round(top * scale)) for left, top in corners]
    handles = [slide.lazy(x, y, size, 1) for x, y in places]
    parts = [cut(pixels, left, top, *size) for left, top in corners]
    tiles = [pixels[y : y + 64, x : x + 48] for y in range(0, tall, 64) for x in range(0, wide, 48)]
    threads = rng.choice([1, 2, 4])
    ours = pathology.tissue_stats([*handles, *slide.tiles(1, (48, 64))], num_threads=threads)
    equal = ours.tobytes() == pathology.tissue_stats([*parts, *tiles], num_threads=1).tobytes()
    return "" if equal else f"{known.path.name}: other numbers of regions at {corners}, {size}"


def in_child(known: Known, slide: Slide, number: int) -> str:
    """What is wrong in a child that reads, and makes a batch."""

    def work() -> int:
        rng = random.Random(f"child {number}")
        texts = [read(known, slide, rng) for _ in range(5)] + [batched(known, slide, rng), counted(known, slide, rng)]
        return 2 if any(texts) else 0

    status = forked(work)
    what = {HANGS: "hangs", 2: "has another result", RAISES: "raises"}
    return f"{known.path.name}: a child {what.get(status, f'ends with {status}')}" if status else ""


def case(number: int, all_known: list[Known]) -> list[str]:
    """What is wrong with one."""
    rng = random.Random(f"slide {number}")
    known = rng.choice(all_known)
    way = rng.choice(["kept", "new", "pickled"])
    slide: Any = known.slide
    if way != "kept":
        slide = Slide(known.path) if way == "new" else pickle.loads(pickle.dumps(known.slide))
    texts: list[str] = []

    def work(thread: int) -> None:
        own = random.Random(f"slide {number}, thread {thread}")
        try:
            texts.extend(read(known, slide, own) for _ in range(6))
        except Exception as error:
            texts.append(f"{known.path.name}: {error!r}")

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(rng.choice([1, 2, 4]))]
    for thread in threads:
        thread.start()
    if number % 5 == 0:
        texts.append(in_child(known, slide, number))
    texts += [batched(known, slide, rng), counted(known, slide, rng)]
    for thread in threads:
        thread.join()
    return [f"slide {number}, {way}: {text}" for text in texts if text]


def soak(minutes: float, first: int, folder: Path) -> list[str]:
    """What is wrong; shows how far it is."""
    known = written(folder)
    seconds = 60 * minutes
    gc.collect()
    files, sizes, wrong = open_files(), [], []
    start, number = time.monotonic(), first
    with tqdm(total=round(seconds), unit="s", mininterval=1) as progress:
        while len(wrong) < ENOUGH and (number == first or time.monotonic() < start + seconds):
            texts = case(number, known)
            if number % 50 == 0 and (text := left_over(files)):
                texts.append(text)
            for text in texts:
                wrong.append(text)
                tqdm.write(text)
            sizes.append(resident())
            number += 1
            progress.set_postfix(cases=number - first, MB=sizes[-1] // 10**6, refresh=False)
            progress.update(min(round(seconds), int(time.monotonic() - start)) - progress.n)
    if text := left_over(files) or grown(sizes):
        wrong.append(text)
    after = f"{sizes[len(sizes) // 5] / 1e6:.0f} MB after a fifth, {sizes[-1] / 1e6:.0f} MB at the end"
    print(f"{number - first} cases, {-(-(number - first) // 5)} forks; memory {after}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(soak, 20.0))
