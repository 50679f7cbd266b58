"""check(): compare a pipeline with torchvision, on the user's own images."""

from __future__ import annotations

import functools
import math
import random
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from PIL import Image

from fastaug import _C
from fastaug._draft.generators import generator_of, seed_all, untouched
from fastaug._inspect import notebook, words
from fastaug._inspect.contract import LEAST_PSNR, Truth
from fastaug._inspect.float64 import NoTruthError
from fastaug._inspect.pairs import Path, pairs, psnr, same, samples, spelled
from fastaug._inspect.picture import listed, normalisation
from fastaug._inspect.twin import NoTwinError, copied, sample_for, twin_of
from fastaug._own import own as own_calls
from fastaug._sample.pipeline import SamplePipeline
from fastaug._tv_tensors.choice import classes

_SHOWN = 10


@dataclass
class Difference:
    """A call whose results differ, by one image and one seed.

    Attributes:
        image: its position.
        seed: of the generators.
        what: "pixels", or in words what else differs.
        part: of a result of several, as Python writes it after the result's name.
        first: index of the first sample that differs, in the order of the result's axes.
        largest: difference of any two samples, in the result's units.
        share: of the samples that differ.
        psnr: in dB, of the image without its normalisation; infinite for equal images, NaN for other values.
        truth: in ``mode="fast"``, where psnr is below 54 dB: the PSNR of fastaug's and of torchvision's result from
            the same chain in float64; None without such a reference.
        kept: the contract of ``mode="fast"``; None where that cannot be decided, for the reason in "why".
        why: in words.
        others: further parts of the result that are not equal.
    """

    image: int
    seed: int
    what: str
    part: str = ""
    first: tuple[int, ...] | None = None
    largest: float = 0.0
    share: float = 0.0
    psnr: float = math.inf
    truth: tuple[float, float] | None = None
    kept: bool | None = False
    why: str = ""
    others: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"image {self.image}, seed {self.seed}: {self.told()}"

    def told(self) -> str:
        """Return what differs, without the image and the seed."""
        where = f"in result{self.part}, " if self.part else ""
        others = f"; so do {', '.join(f'result{part}' for part in self.others)}" if self.others else ""
        return where + (self._pixels() if self.what == "pixels" else self.what) + others

    def _pixels(self) -> str:
        image = not math.isnan(self.psnr)
        parts = [
            f"{100 * self.share:.3g} % of the {'samples' if image else 'numbers'} differ, first at {self.first}, "
            f"by up to {self.largest:.4g}"
        ]
        if image:
            parts.append(f"PSNR {self.psnr:.1f} dB")
        if self.truth is not None:
            ours, theirs = self.truth
            parts.append(f"{ours:.1f} dB from the float64 reference, torchvision {theirs:.1f} dB")
        return "; ".join([*parts, self.why] if self.why else parts)


@dataclass
class Failure:
    """A call that raised the same type of error on both sides.

    Attributes:
        image: its position.
        seed: of the generators.
        error: its type, and fastaug's message.
    """

    image: int
    seed: int
    error: str


@dataclass(repr=False)
class Comparison:
    """The report of check(). It prints.

    It is true if every call gave a result that is equal to torchvision's, and left the random generators as torchvision
    does. In ``mode="fast"`` results may differ within its contract: each is at least 54 dB from torchvision's or, where
    it departs further, no further from the same chain in float64 than torchvision's is.

    Attributes:
        against: the library or function that fastaug was compared with.
        mode: of the pipeline.
        images, seeds: how many.
        samples: how many were compared.
        results: how many calls gave results to compare.
        differences: a :class:`Difference` for each image and seed that is not equal.
        errors: a :class:`Failure` for each call that raised the same type of error on both sides, which leaves nothing
            to compare.
        adrift: (image, seed) of each call that left the random generators in another state.
        psnr: of each pair of images, in dB.
        names: of the images, to print.
        unit: of the report: "image" or "sample".
    """

    against: str
    mode: str
    images: int
    seeds: int
    samples: int = 0
    results: int = 0
    differences: list[Difference] = field(default_factory=list)
    errors: list[Failure] = field(default_factory=list)
    adrift: list[tuple[int, int]] = field(default_factory=list)
    psnr: list[float] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    unit: str = "image"

    @property
    def generators(self) -> bool:
        """Return whether all calls left the random generators in the same state."""
        return not self.adrift

    def __bool__(self) -> bool:
        kept = all(difference.kept for difference in self.differences)
        return self.results > 0 and kept and not self.errors and not self.adrift

    def __str__(self) -> str:
        broken, unsure = ([one for one in self.differences if one.kept is kept] for kept in (False, None))
        fast = self.mode == "fast"
        lines = [self.head()]
        if fast:
            lines += self._kept(self.results - len(broken) - len(unsure))
        elif self.results and not broken:
            what = f"{self.samples:,} samples of " if self.samples else ""
            lines.append(f"Equal: all {what}{words.counted(self.results, 'result')}, bit for bit.")
        for found, title, end in (
            (unsure, "Whether the contract of fast mode is kept is OPEN in", ""),
            (broken, "The contract of fast mode is BROKEN in" if fast else "NOT EQUAL in", ""),
            (self.errors, "NOTHING TO COMPARE in", " both sides raise the same error:"),
            (self.adrift, "Random generators: NOT left in the same state in", ""),
        ):
            if found:
                lines += [f"{title} {self._of_calls(len(found))}:{end}", *self._listed(found)]
        if not self.adrift:
            lines.append("Random generators: left in the same state.")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return notebook.comparison(self)

    def head(self) -> str:
        images, seeds = words.counted(self.images, self.unit), words.counted(self.seeds, "seed")
        return f"mode {self.mode}, against {self.against}: {images}, {seeds}"

    def _kept(self, calls: int) -> list[str]:
        """Return the lines about results within the contract of fast mode."""
        lines = [f"The contract of fast mode is kept in {self._of_calls(calls)}:"] if calls else []
        if equal := self.results - len(self.differences):
            lines.append(f"  {words.counted(equal, 'result')} with torchvision's pixels")
        kept = [one for one in self.differences if one.kept]
        if near := [one.psnr for one in kept if one.truth is None]:
            lines.append(
                f"  {words.counted(len(near), 'result')} no less than {LEAST_PSNR:g} dB from torchvision: "
                f"{min(near):.1f} dB at least, median {statistics.median(near):.1f} dB"
            )
        if true := [(one.psnr, *one.truth) for one in kept if one.truth is not None]:
            far, ours, theirs = zip(*true)
            lines.append(
                f"  {words.counted(len(true), 'result')} further from torchvision ({min(far):.1f} dB at least), but as "
                f"near to the chain in float64: median {statistics.median(ours):.1f} dB, torchvision "
                f"{statistics.median(theirs):.1f} dB; nearer by {min(map(float.__sub__, ours, theirs)):.1f} dB at least"
            )
        return lines

    def _of_calls(self, count: int) -> str:
        calls = self.images * self.seeds
        return f"all {calls} calls" if count == calls > 1 else f"{count} of {words.counted(calls, 'call')}"

    def _listed(self, found: Sequence[Difference | Failure | tuple[int, int]]) -> list[str]:
        """Return a line for all calls with one image and the same message."""
        groups: dict[tuple[int, str], list[int]] = {}
        for one in found:
            image, seed = one if isinstance(one, tuple) else (one.image, one.seed)
            said = one.told() if isinstance(one, Difference) else getattr(one, "error", "")
            groups.setdefault((image, said), []).append(seed)
        lines = []
        for (image, said), seeds in groups.items():
            name = self.names[image] if image < len(self.names) else f"{self.unit} {image}"
            which = f"seed{'s' * (len(seeds) > 1)} {words.numbers_of(seeds)}"
            lines.append(f"  {name}, {which}{': ' * bool(said)}{said}")
        return lines[:_SHOWN] + [f"  and {len(lines) - _SHOWN} more"] * (len(lines) > _SHOWN)


def check(
    pipeline: Any, images: Any, seeds: int | Iterable[int] = range(10), names: Sequence[str] | None = None
) -> Comparison:
    """Compare a pipeline with torchvision on images or samples, as its method `check` does.

    Without torchvision, or where it has no such transforms, the pipeline is compared with fastaug's own op-by-op
    reference, which is slow and plain. The `names` of the images are for the report.

    Raises:
        ValueError: no images, or no seeds.
    """
    of_samples = isinstance(pipeline, SamplePipeline)
    originals = listed(images, of_samples)
    numbers = list(range(seeds) if isinstance(seeds, int) else seeds)
    if not numbers:
        raise ValueError(f"seeds should be at least one, got {seeds!r}")
    generator = generator_of(pipeline)
    theirs: Callable[[Any], Any]
    try:
        twin = twin_of(pipeline)
    except NoTwinError as reason:
        theirs, no_truth = functools.partial(_reference, pipeline), str(reason)
        against, own = f"fastaug's op-by-op reference ({reason})", generator
    else:
        theirs = functools.partial(_twin_result, pipeline, twin.whole)
        no_truth = "torchvision's v2 has no model in float64" if of_samples else ""
        against, own = f"torchvision {twin.version}", None
    comparison = Comparison(against, pipeline.mode, len(originals), len(numbers))
    comparison.unit = "sample" if of_samples else "image"
    comparison.names = [_name(comparison.unit, *one) for one in enumerate(originals)] if names is None else list(names)
    undo = normalisation(pipeline.transforms)
    from tqdm import tqdm

    bar = tqdm(total=len(originals) * len(numbers), unit="call", disable=None)
    with own_calls(), untouched(generator), bar as progress:
        for position, image in enumerate(originals):
            for seed in numbers:
                mine, state = outcome(pipeline, image, seed, generator)
                other, expected = outcome(theirs, image, seed, own)
                if state != expected:
                    comparison.adrift.append((position, seed))
                truth = Truth(pipeline, image, seed, no_truth) if pipeline.mode == "fast" else None
                compare(comparison, position, seed, mine, other, undo, truth)
                progress.update()
    return comparison


def _name(unit: str, position: int, image: Any) -> str:
    file = image if isinstance(image, str) else getattr(image, "filename", None)
    return f"{unit} {position}" + (f" ({file})" if isinstance(file, str) and file else "")


def _twin_result(pipeline: Any, whole: Callable[[Any], Any], image: Any) -> Any:
    return pipeline._formatted(whole(sample_for(pipeline, image)))


def _reference(pipeline: Any, image: Any) -> Any:
    call = pipeline._call.like(rewrites=_C.EXACT)
    call.run = functools.partial(_C.run, reference=True)
    return pipeline._run(image, call)


def outcome(function: Callable[[Any], Any], image: Any, seed: int, generator: Any) -> tuple[Any, Any]:
    """Return the result or the error of a call, and the state of the random generators afterwards."""
    seed_all(seed, generator)
    image = copied(image)
    result: Any
    try:
        result = function(image)
    except Exception as error:
        result = error
    state = (torch.default_generator if generator is None else generator).get_state()
    return result, (bytes(state.tolist()), random.getstate())


def compare(
    comparison: Comparison, image: int, seed: int, mine: Any, other: Any, undo: Any, truth: Truth | None
) -> None:
    failed = isinstance(mine, Exception) or isinstance(other, Exception)
    if failed and type(mine) is type(other):
        comparison.errors.append(Failure(image, seed, words.failure(mine)))
        return
    comparison.results += 1
    if failed:
        one, two = (words.failure(x) if isinstance(x, Exception) else words.described(x) for x in (mine, other))
        comparison.differences.append(Difference(image, seed, f"{one}, where {two} was expected"))
        return
    found = []
    for path, one, two in pairs(mine, other):
        difference = Difference(image, seed, _other_difference(one, two), spelled(path))
        if difference.what == "pixels":
            label = _is_label(one)
            pixels_undo = undo if isinstance(one, torch.Tensor) else None
            if not _compare_pixels(comparison, difference, one, two, pixels_undo, label):
                continue
            if truth is not None and not label:
                _judge(difference, truth, path, one, two, pixels_undo)
        if difference.what:
            found.append(difference)
    # One says enough about this call: the worst, or else the first.
    found.sort(key=lambda one: (one.kept is not False, one.kept is not None))
    if found and comparison.unit == "sample":
        found[0].others = [other.part for other in found[1:]]
    comparison.differences += found[:1]


def _other_difference(one: Any, two: Any) -> str:
    """Return how two parts of results differ; nothing if they are equal, "pixels" if their samples decide."""
    if words.described(one) != words.described(two):
        return f"{words.described(one)}, where {words.described(two)} was expected"
    if samples(one) is not None:
        other_palette = isinstance(one, Image.Image) and one.getpalette() != two.getpalette()
        return "another palette" if other_palette else "pixels"
    equal = same(one, two)
    if equal is None:
        return f"cannot be compared: {type(one).__name__} does not say what is equal"
    return "" if equal else f"{words.cut(repr(one), 80)}, where {words.cut(repr(two), 80)} was expected"


def _compare_pixels(
    comparison: Comparison, difference: Difference, mine: Any, other: Any, undo: Any, label: bool
) -> bool:
    """Return whether samples differ, and add them to the report."""
    one, two = np.asarray(samples(mine)), np.asarray(samples(other))
    comparison.samples += one.size
    wrong = np.asarray((one != two) & ~(np.isnan(one) & np.isnan(two)) if one.dtype.kind == "f" else one != two)
    if wrong.any():
        gap = np.abs(one.astype(np.float64) - two.astype(np.float64))
        difference.first = tuple(int(k) for k in np.argwhere(wrong)[0])
        difference.largest, difference.share = float(gap.max()), float(wrong.mean())
        difference.psnr = math.nan if label else psnr(gap, one, undo)
    comparison.psnr += [] if label else [difference.psnr]
    return bool(wrong.any())


def _is_label(leaf: Any) -> bool:
    """Return whether the numbers of a part of a sample are labels or places instead of intensities."""
    return isinstance(leaf, classes("TVTensor")) and not isinstance(leaf, classes("Image", "Video"))


def _judge(difference: Difference, truth: Truth, path: Path, mine: Any, other: Any, undo: Any) -> None:
    """Decide whether a difference is within the contract of fast mode."""
    difference.kept = difference.psnr >= LEAST_PSNR
    if difference.kept:
        return
    try:
        difference.truth = ours, theirs = truth.distances(path, mine, other, undo)
    except NoTruthError as reason:
        difference.kept, difference.why = None, str(reason)
    else:
        difference.kept = ours >= theirs and truth.is_of(path, other, undo)
        if ours >= theirs and not difference.kept:
            difference.why = "exact mode departs from torchvision, too"
