"""python -m bench.quality: how far fast mode is from torchvision, and which of the two is nearer to the truth.

Of every pipeline of the speed table, and of chains that put fast mode's rewrites to the test. The truth is the same
chain with the same parameters in float64, rounded nowhere (fastaug._inspect.float64).
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torchvision.transforms as T
from tqdm import tqdm

import fastaug
from bench import report
from bench.case import Case
from bench.cases import CASES
from bench.chains import CHAINS, Chain
from bench.images import BAGS, PHOTOGRAPHS, TILES, Pixels, photographs, read, scaled, windows
from fastaug._inspect.contract import LEAST_PSNR
from fastaug._inspect.float64 import Floats, NoTruthError, planes, unrounded
from fastaug._inspect.info import processor

RESULTS = Path(__file__).parent / "results"
#: Pictures are measured at their size and at a quarter of it, with the chain's sizes scaled alike.
SCALES = (1.0, 0.25)
NOTE = f"""\
Distances in levels of 0 to 255, Normalize undone: PSNR over all draws, the worst single draw in brackets, and the
largest difference of a sample. "reference" is the chain in float64 without any rounding between steps or at the end.
The contract of fast mode holds for a draw that is at least {LEAST_PSNR:g} dB from torchvision, or no further from the
reference than torchvision is; "margin" is the least by which any draw holds it. Ops that are functions of bytes have no
reference: where some draws have such an op their number is said, and theirs is a margin from torchvision alone. The
first rows are the pipelines of the speed table, on pictures of its bags."""


@dataclass(frozen=True)
class Distance:
    mean_square: float
    largest: float

    @property
    def psnr(self) -> float:
        return psnr(self.mean_square)


#: From a reference that there is not.
UNKNOWN = Distance(math.nan, math.nan)


@dataclass(frozen=True)
class Draw:
    """The distances of one call."""

    fast_to_torchvision: Distance
    fast_to_reference: Distance
    torchvision_to_reference: Distance

    @property
    def has_reference(self) -> bool:
        return not math.isnan(self.fast_to_reference.mean_square)

    @property
    def margin(self) -> float:
        """By how many dB the contract holds; negative where it is broken, or cannot be told for want of a reference."""
        near = self.fast_to_torchvision.psnr - LEAST_PSNR
        if not self.has_reference:
            return near
        true = self.fast_to_reference.psnr - self.torchvision_to_reference.psnr
        # Two results without any error hold it equally well.
        return max(near, 0.0 if math.isnan(true) else true)


@dataclass(frozen=True)
class Row:
    chain: str
    pictures: str
    draws: list[Draw]


def psnr(mean_square: float) -> float:
    return 10 * math.log10(255**2 / mean_square) if mean_square > 0 else math.inf


def distance(one: Floats, other: Floats) -> Distance:
    difference = one - other
    return Distance(float(np.mean(difference**2)), float(np.abs(difference).max()))


def levels(samples: Floats, transform: Any) -> Floats:
    """Samples from 0 to 255 of what `transform` gives: undoes its Normalize and ToTensor."""
    for step in reversed(transform.transforms):
        if isinstance(step, T.Normalize):
            mean, std = (np.reshape(value, (-1, 1, 1)) for value in (step.mean, step.std))
            samples = samples * std + mean
        elif isinstance(step, (T.ToTensor, T.ConvertImageDtype)):
            return samples * 255
    return samples


def compare(transform: Any, image: Any, seed: int, fast: Callable[[Any], Any] | None = None) -> Draw:
    """One draw of one of torchvision's Compose objects, three times.

    Raises:
        NoTruthError: there is no reference of this draw.
    """
    pipeline = fastaug.compile(transform, mode="fast")
    ours, theirs, true = drawn(image, seed, fast or pipeline, transform, lambda image: reference(pipeline, image))
    ours, theirs, true = (levels(samples, transform) for samples in (planes(ours), planes(theirs), true))
    return Draw(distance(ours, theirs), distance(ours, true), distance(theirs, true))


def reference(pipeline: Any, image: Any) -> Floats:
    """Return the samples of a pipeline's result in float64."""
    result, made = unrounded(pipeline, image)
    return made.of(result)


def drawn(image: Any, seed: int, *calls: Callable[[Any], Any]) -> list[Any]:
    results = []
    for call in calls:
        torch.manual_seed(seed)
        results.append(call(image))
    return results


def compare_if_known(transform: Any, image: Any, seed: int, fast: Callable[[Any], Any]) -> Draw:
    """As compare, but without a reference where there is none."""
    try:
        return compare(transform, image, seed, fast)
    except NoTruthError:
        ours, theirs = (levels(planes(result), transform) for result in drawn(image, seed, fast, transform))
        return Draw(distance(ours, theirs), UNKNOWN, UNKNOWN)


# ---- the pictures


def pictures(kind: str, scale: float, folder: Path | None, count: int) -> list[Pixels]:
    """Distinct windows of photographs: scikit-image's, or those of a folder."""
    if folder is not None:
        own = [read(path) for path in sorted(folder.iterdir()) if path.suffix.lower() in (".png", ".jpg", ".jpeg")]
    if kind == "tiles":
        side = round(1024 * scale)
        return list(windows(photographs("tile1024", TILES) if folder is None else own, count, side, side))
    height, width = round(375 * scale), round(500 * scale)
    return scaled(photographs("in500", PHOTOGRAPHS) if folder is None else own, height, width)[:count]


def measure(chain: Chain, scale: float, images: Iterable[Pixels], seeds: int) -> Row:
    """Every picture with as many seeds."""
    transform = chain.transform(scale)
    fast = fastaug.compile(transform, mode="fast")
    given = list(images)
    height, width = given[0].shape[:2]
    draws = [
        compare(transform, image if chain.pictures == "tiles" else T.functional.to_pil_image(image), seed, fast)
        for seed, image in enumerate(image for image in given for _ in range(seeds))
    ]
    return Row(chain.name, f"{width}x{height}", draws)


@functools.lru_cache(maxsize=1)
def bag(name: str, count: int) -> Pixels:
    return BAGS[name]()[:count].copy()


def measure_case(case: Case, count: int, seeds: int) -> Row:
    """A pipeline of the speed table, on the first pictures of its bag."""
    transform = case.build(T)
    fast = fastaug.compile(transform, mode="fast")
    given: list[Any] = list(bag(case.bag, count))
    height, width = given[0].shape[:2]
    if case.container == "pil":
        given = [T.functional.to_pil_image(image) for image in given]
    draws = [
        compare_if_known(transform, image, seed, fast)
        for seed, image in enumerate(image for image in given for _ in range(seeds))
    ]
    return Row(case.name, f"{width}x{height}", draws)


# ---- the table


def cells(distances: list[Distance]) -> list[str]:
    """PSNR over all, the worst, and the largest difference, of those that are known."""
    known = [one for one in distances if not math.isnan(one.mean_square)]
    if not known:
        return ["-", "-"]
    whole = psnr(sum(one.mean_square for one in known) / len(known))
    share = "" if len(known) == len(distances) else f", {len(known)} of {len(distances)} draws"
    return [f"{whole:.1f} ({min(one.psnr for one in known):.1f}){share}", f"{max(one.largest for one in known):.2g}"]


def is_broken(row: Row) -> bool:
    return any(draw.margin < 0 and draw.has_reference for draw in row.draws)


def table(rows: list[Row]) -> list[list[str]]:
    lines = [
        [
            *("pipeline or chain", "pictures", "fast to torchvision, dB", "largest"),
            *("fast to reference, dB", "largest", "torchvision to reference, dB", "largest", "margin, dB"),
        ]
    ]
    for row in rows:
        line = [row.chain, row.pictures]
        for name in ("fast_to_torchvision", "fast_to_reference", "torchvision_to_reference"):
            line += cells([getattr(draw, name) for draw in row.draws])
        least = min(draw.margin for draw in row.draws)
        broken = " BROKEN" if is_broken(row) else " UNKNOWN" if least < 0 else ""
        lines.append([*line, f"{least:.1f}{broken}"])
    return lines


def default_out() -> Path:
    return RESULTS / f"quality-{re.sub(r'[^a-z0-9]+', '-', processor().lower()).strip('-')}.md"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    parser.add_argument("--images", type=Path, metavar="DIR", help="photographs of your own (default: scikit-image's)")
    parser.add_argument("--out", type=Path, nargs="?", const=default_out(), metavar="FILE", help="write a page there")
    parser.add_argument("--only", metavar="PATTERN", default="*", help='chains by shell pattern, such as "P,*"')
    parser.add_argument("--pictures", type=int, default=6, metavar="N", help="pictures of each size")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="draws for each picture")
    parser.add_argument("--scales", type=float, nargs="+", default=SCALES, metavar="X", help="sizes of pictures")
    options = parser.parse_args()
    if options.images is not None and not options.images.is_dir():
        parser.error(f"{options.images} is not a directory")
    return options


def main() -> int:
    options = arguments()
    torch.set_num_threads(1)
    cases = [case for case in CASES if case.pipeline and fnmatch.fnmatch(case.name, options.only)]
    cases = [] if options.images is not None else sorted(cases, key=lambda case: case.bag)
    timed = {case.name for case in cases}
    chains = [chain for chain in CHAINS if fnmatch.fnmatch(chain.name, options.only)]
    rows = []
    with tqdm(total=len(cases) + len(chains) * len(options.scales), unit="row", disable=None) as progress:
        for case in cases:
            rows.append(measure_case(case, options.pictures, options.seeds))
            progress.update()
        order = [case.name for case in CASES]
        rows.sort(key=lambda row: order.index(row.chain))
        for chain in chains:
            for scale in options.scales:
                if chain.name in timed and scale == 1.0:
                    progress.update()
                    continue
                images = pictures(chain.pictures, scale, options.images, options.pictures)
                rows.append(measure(chain, scale, images, options.seeds))
                progress.update()
    about = report.machine({"isa": fastaug.isa()})
    lines = table(rows)
    print(report.text(lines) + "\n\n" + NOTE)
    if options.out is not None:
        head = "\n".join(f"- {name}: {value}" for name, value in about.items())
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(f"# Quality of fast mode\n\n{head}\n\n{NOTE}\n\n{report.markdown(lines)}\n")
        print(f"written: {options.out}")
    return int(any(is_broken(row) for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
