"""check(): whether a pipeline gives torchvision's pixels, on the user's own images."""

from __future__ import annotations

import functools
import math
import random
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from PIL import Image

from fastaug import _C
from fastaug._draft.call import Call
from fastaug._inspect import words
from fastaug._inspect.generators import generator_of, seed_all, untouched
from fastaug._inspect.show import listed, normalisation
from fastaug._inspect.twin import NoTwinError, delivered, pillow_image, twin_of

_SHOWN = 10


@dataclass
class Difference:
    """What is not equal for one image and one seed.

    Attributes:
        image: its position.
        seed: of the generators.
        what: "pixels", or in words what else differs.
        first: index of the first sample that differs, in the order of the result's axes.
        largest: difference of any two samples, in the result's units.
        share: of the samples that differ.
        psnr: in dB, of the image without its normalisation; infinite where all is equal.
    """

    image: int
    seed: int
    what: str
    first: tuple[int, ...] | None = None
    largest: float = 0.0
    share: float = 0.0
    psnr: float = math.inf

    def __str__(self) -> str:
        where = f"image {self.image}, seed {self.seed}: "
        if self.what != "pixels":
            return where + self.what
        return (
            f"{where}{100 * self.share:.3g} % of the samples differ, first at {self.first}, "
            f"by up to {self.largest:.4g}; PSNR {self.psnr:.1f} dB"
        )


@dataclass
class Comparison:
    """What check() found. True if all is equal. Prints as a report.

    Attributes:
        against: what was compared with.
        mode: of the pipeline.
        images, seeds: how many.
        samples: how many were compared.
        differences: a :class:`Difference` for each image and seed that is not equal.
        generators: whether the random generators were always left in the same state.
        errors: calls that raised the same type of error on both sides.
        psnr: of each pair of results, in dB.
    """

    against: str
    mode: str
    images: int
    seeds: int
    samples: int = 0
    differences: list[Difference] = field(default_factory=list)
    generators: bool = True
    errors: list[str] = field(default_factory=list)
    psnr: list[float] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.differences and self.generators

    def __str__(self) -> str:
        calls = self.images * self.seeds
        head = f"{self.images} image{'s' * (self.images != 1)}, {self.seeds} seed{'s' * (self.seeds != 1)}"
        lines = [f"mode {self.mode}, against {self.against}: {head}"]
        if self.mode == "fast":
            lines.append(self._quality())
        elif not self.differences:
            lines.append(f"Equal: all {self.samples:,} samples of {calls - len(self.errors)} results, bit for bit.")
        else:
            lines.append(f"NOT EQUAL in {len(self.differences)} of {calls} calls:")
        if self.mode != "fast" or any(one.what != "pixels" for one in self.differences):
            shown = [one for one in self.differences if self.mode != "fast" or one.what != "pixels"]
            lines += [f"  {one}" for one in shown[:_SHOWN]]
            if len(shown) > _SHOWN:
                lines.append(f"  and {len(shown) - _SHOWN} more")
        if self.errors:
            kinds = ", ".join(sorted(set(self.errors)))
            lines.append(f"{len(self.errors)} of {calls} calls raise the same error on both sides: {kinds}.")
        lines.append(
            f"Random generators: {'left in the same state' if self.generators else 'NOT left in the same state'}."
        )
        return "\n".join(lines)

    def _quality(self) -> str:
        finite = sorted(value for value in self.psnr if math.isfinite(value))
        same = len(self.psnr) - len(finite)
        if not self.psnr:
            return "No results to compare."
        if not finite:
            return f"All {same} results have the same pixels."
        text = f"PSNR {finite[0]:.1f} dB at least, median {statistics.median(finite):.1f} dB"
        return text + (f"; {same} of {len(self.psnr)} results have the same pixels" if same else "")


def check(pipeline: Any, images: Any, seeds: int | Iterable[int] = range(10)) -> Comparison:
    """Compares a pipeline with torchvision on images of yours.

    Without torchvision, or where it has no such transforms, the pipeline is compared with fastaug's own op-by-op
    reference, which is slow and plain, and the report says so. The random generators are afterwards as they were
    before.

    Args:
        pipeline: of this package.
        images: an image (PIL image, array, tensor), or several.
        seeds: of the random generators, for each image; an int means so many, from 0.
    """
    originals = listed(images)
    numbers = list(range(seeds) if isinstance(seeds, int) else seeds)
    generator = generator_of(pipeline)
    theirs: Callable[[Any], Any]
    try:
        twin = twin_of(pipeline)
    except NoTwinError as reason:
        theirs = functools.partial(_reference, pipeline)
        against, own = f"fastaug's op-by-op reference ({reason})", generator
    else:
        theirs = functools.partial(_twin_result, pipeline, twin.whole)
        against, own = f"torchvision {twin.version}", None
    comparison = Comparison(against, pipeline.mode, len(originals), len(numbers))
    undo = normalisation(pipeline.transforms)
    from tqdm import tqdm

    with untouched(generator), tqdm(total=len(originals) * len(numbers), unit="call", disable=None) as progress:
        for position, image in enumerate(originals):
            for seed in numbers:
                mine, state = _outcome(pipeline, image, seed, generator)
                other, expected = _outcome(theirs, image, seed, own)
                if not (isinstance(mine, Exception) and isinstance(other, Exception)) and state != expected:
                    comparison.generators = False
                _compare(comparison, position, seed, mine, other, undo)
                progress.update()
    return comparison


def _twin_result(pipeline: Any, whole: Callable[[Any], Any], image: Any) -> Any:
    return delivered(pipeline, whole(pillow_image(image)))


def _reference(pipeline: Any, image: Any) -> Any:
    call = Call(pipeline._call.draws, _C.EXACT)
    call.run = functools.partial(_C.run, reference=True)
    return pipeline._run(image, call)


def _outcome(function: Callable[[Any], Any], image: Any, seed: int, generator: Any) -> tuple[Any, Any]:
    """The result, or the error, and the state of the random generators afterwards."""
    seed_all(seed, generator)
    if isinstance(image, torch.Tensor):
        image = image.clone()
    elif hasattr(image, "copy"):
        image = image.copy()
    result: Any
    try:
        result = function(image)
    except Exception as error:
        result = error
    state = (torch.default_generator if generator is None else generator).get_state()
    return result, (bytes(state.tolist()), random.getstate())


def _compare(comparison: Comparison, image: int, seed: int, mine: Any, other: Any, undo: Any) -> None:
    def differs(what: str) -> None:
        comparison.differences.append(Difference(image, seed, what))

    if isinstance(mine, Exception) or isinstance(other, Exception):
        if type(mine) is type(other):
            comparison.errors.append(type(mine).__name__)
        else:
            differs(f"{_told(mine)}, where {_told(other)} was expected")
        return
    if isinstance(mine, (tuple, list)) and type(mine) is type(other) and len(mine) == len(other):
        before = len(comparison.differences)
        for one, two in zip(mine, other):
            _compare(comparison, image, seed, one, two, undo)
        del comparison.differences[before + 1 :]  # the first says enough about this call
        return
    if words.described(mine) != words.described(other):
        differs(f"{words.described(mine)}, where {words.described(other)} was expected")
        return
    one, two = _samples(mine), _samples(other)
    if one is None or two is None:
        if mine != other:
            differs("results that are no images differ")
        return
    comparison.samples += one.size
    wrong = (one != two) & ~(np.isnan(one) & np.isnan(two)) if one.dtype.kind == "f" else one != two
    if not wrong.any():
        comparison.psnr.append(math.inf)
        return
    gap = np.abs(one.astype(np.float64) - two.astype(np.float64))
    psnr = _psnr(gap, one, undo if isinstance(mine, torch.Tensor) else None)
    comparison.psnr.append(psnr)
    first = tuple(int(k) for k in np.argwhere(wrong)[0])
    comparison.differences.append(Difference(image, seed, "pixels", first, float(gap.max()), float(wrong.mean()), psnr))


def _told(outcome: Any) -> str:
    return type(outcome).__name__ if isinstance(outcome, Exception) else words.described(outcome)


def _samples(image: Any) -> np.ndarray[Any, Any] | None:
    if isinstance(image, torch.Tensor):
        image = image.detach().cpu()
        return np.asarray((image.float() if image.dtype in (torch.float16, torch.bfloat16) else image).numpy())
    if isinstance(image, (Image.Image, np.ndarray)):
        return np.asarray(image)
    return None


def _psnr(gap: np.ndarray[Any, Any], samples: np.ndarray[Any, Any], undo: Any) -> float:
    peak = 1.0
    if samples.dtype.kind in "ui":
        peak = float(np.iinfo(samples.dtype).max)
    elif undo is not None and samples.ndim >= 3:
        std = np.asarray(torch.as_tensor(undo[1]), np.float64).reshape(-1)
        gap = gap * std.reshape(-1, 1, 1)
    error = float(np.mean(gap**2))
    return 10 * math.log10(peak * peak / error) if error else math.inf
