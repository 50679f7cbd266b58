"""check(): whether a pipeline gives torchvision's pixels, on the user's own images."""

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
from fastaug._inspect.contract import LEAST_PSNR, NoTruthError, Truth
from fastaug._inspect.pairs import Path, pairs, psnr, same, samples, spelled
from fastaug._inspect.picture import listed, normalisation
from fastaug._inspect.twin import NoTwinError, Twin, copied, delivered, sample_for, twin_of
from fastaug._sample.pipeline import SamplePipeline
from fastaug._tv_tensors.choice import loaded

_SHOWN = 10


@dataclass
class Difference:
    """What is not equal for one image and one seed.

    Attributes:
        image: its position.
        seed: of the generators.
        what: "pixels", or in words what else differs.
        part: of a result of several, which; as it is written in Python after the result's name.
        first: index of the first sample that differs, in the order of the result's axes.
        largest: difference of any two samples, in the result's units.
        share: of the samples that differ.
        psnr: in dB, of the image without its normalisation; infinite where all is equal, NaN of what is no image.
        truth: in ``mode="fast"``, where psnr is below 54 dB: the PSNR of fastaug's and of torchvision's result from
            the same chain in float64; None where there is none.
        kept: whether it is within the contract of ``mode="fast"``; None where that cannot be decided, "why" says why.
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
        """What differs, without where."""
        others = f"; so do {', '.join(f'result{part}' for part in self.others)}" if self.others else ""
        return self._told() + others

    def _told(self) -> str:
        where = f"in result{self.part}, " if self.part else ""
        if self.what != "pixels":
            return where + self.what
        image = not math.isnan(self.psnr)
        text = (
            f"{where}{100 * self.share:.3g} % of the {'samples' if image else 'numbers'} differ, first at "
            f"{self.first}, by up to {self.largest:.4g}"
        )
        if image:
            text += f"; PSNR {self.psnr:.1f} dB"
        if self.truth is not None:
            ours, theirs = self.truth
            text += f"; {ours:.1f} dB from the float64 reference, torchvision {theirs:.1f} dB"
        return text + (f"; {self.why}" if self.why else "")


@dataclass
class Failure:
    """A call that raised the same type of error on both sides.

    Attributes:
        image: its position.
        seed: of the generators.
        error: its type, and what fastaug's says.
    """

    image: int
    seed: int
    error: str


@dataclass(repr=False)
class Comparison:
    """What check() found. Prints as a report.

    True if every call gave a result that is equal to torchvision's, and left the random generators as torchvision does.
    In ``mode="fast"`` results may differ as its contract allows: each is at least 54 dB from torchvision's or, where it
    departs further, no further from the same chain in float64 than torchvision's is.

    Attributes:
        against: what was compared with.
        mode: of the pipeline.
        images, seeds: how many.
        samples: how many were compared.
        results: how many calls gave results to compare.
        differences: a :class:`Difference` for each image and seed that is not equal.
        errors: a :class:`Failure` for each call that raised the same type of error on both sides, so that there is
            nothing to compare.
        adrift: (image, seed) of each call that left the random generators in another state.
        psnr: of each pair of images, in dB.
        names: of the images, to print.
        unit: what they are called: "image" or "sample".
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
        """Whether the random generators were always left in the same state."""
        return not self.adrift

    def __bool__(self) -> bool:
        kept = all(difference.kept for difference in self.differences)
        return self.results > 0 and kept and not self.errors and not self.adrift

    def __str__(self) -> str:
        lines = [self.head(), *self._verdict()]
        if self.errors:
            lines.append(f"NOTHING TO COMPARE in {self._of_calls(len(self.errors))}: both sides raise the same error:")
            lines += self._listed([(one.image, one.seed, one.error) for one in self.errors])
        if self.adrift:
            lines.append(f"Random generators: NOT left in the same state in {self._of_calls(len(self.adrift))}:")
            lines += self._listed([(image, seed, "") for image, seed in self.adrift])
        else:
            lines.append("Random generators: left in the same state.")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return notebook.comparison(self)

    def head(self) -> str:
        """What was compared with what, in words."""
        return (
            f"mode {self.mode}, against {self.against}: {_count(self.images, self.unit)}, {_count(self.seeds, 'seed')}"
        )

    def _verdict(self) -> list[str]:
        broken = [one for one in self.differences if one.kept is False]
        lines = []
        if self.mode == "fast":
            lines += self._contract(broken)
        elif self.results and not broken:
            what = f"{self.samples:,} samples of " if self.samples else ""
            lines.append(f"Equal: all {what}{_count(self.results, 'result')}, bit for bit.")
        if broken:
            title = "The contract of fast mode is BROKEN" if self.mode == "fast" else "NOT EQUAL"
            lines.append(f"{title} in {self._of_calls(len(broken))}:")
            lines += self._listed([(one.image, one.seed, one.told()) for one in broken])
        return lines

    def _contract(self, broken: list[Difference]) -> list[str]:
        """What is said of results that are within the contract of fast mode, or may be."""
        kept = [one for one in self.differences if one.kept]
        unsure = [one for one in self.differences if one.kept is None]
        lines = []
        if held := self.results - len(broken) - len(unsure):
            lines.append(f"The contract of fast mode is kept in {self._of_calls(held)}:")
        if equal := self.results - len(self.differences):
            lines.append(f"  {_count(equal, 'result')} with torchvision's pixels")
        near = [one.psnr for one in kept if one.truth is None]
        if near:
            lines.append(
                f"  {_count(len(near), 'result')} no less than {LEAST_PSNR:g} dB from torchvision: "
                f"{min(near):.1f} dB at least, median {statistics.median(near):.1f} dB"
            )
        true = [(one.psnr, *one.truth) for one in kept if one.truth is not None]
        if true:
            far, ours, theirs = zip(*true)
            least = min(b - c for _, b, c in true)
            lines.append(
                f"  {_count(len(true), 'result')} further from torchvision ({min(far):.1f} dB at least), but as near "
                f"to the chain in float64: median {statistics.median(ours):.1f} dB, torchvision "
                f"{statistics.median(theirs):.1f} dB; nearer by {least:.1f} dB at least"
            )
        if unsure:
            lines.append(f"Whether the contract of fast mode is kept is OPEN in {self._of_calls(len(unsure))}:")
            lines += self._listed([(one.image, one.seed, one.told()) for one in unsure])
        return lines

    def _of_calls(self, count: int) -> str:
        calls = self.images * self.seeds
        return f"all {calls} calls" if count == calls > 1 else f"{count} of {_count(calls, 'call')}"

    def _listed(self, found: list[tuple[int, int, str]]) -> list[str]:
        """Calls, and what is to be said of each: a line for those of one image of which that is the same."""
        groups: dict[tuple[int, str], list[int]] = {}
        for image, seed, said in found:
            groups.setdefault((image, said), []).append(seed)
        lines = []
        for (image, said), seeds in groups.items():
            name = self.names[image] if image < len(self.names) else f"{self.unit} {image}"
            which = f"seed{'s' * (len(seeds) > 1)} {words.numbers_of(seeds)}"
            lines.append(f"  {name}, {which}{': ' * bool(said)}{said}")
        return lines[:_SHOWN] + [f"  and {len(lines) - _SHOWN} more"] * (len(lines) > _SHOWN)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def check(
    pipeline: Any, images: Any, seeds: int | Iterable[int] = range(10), names: Sequence[str] | None = None
) -> Comparison:
    """Compares a pipeline with torchvision on images of yours.

    Without torchvision, or where it has no such transforms, the pipeline is compared with fastaug's own op-by-op
    reference, which is slow and plain, and the report says so. The random generators are afterwards as they were
    before. For fast mode, torchvision's functions are replaced by float64 ones for a moment, in the whole process.

    Args:
        pipeline: of this package.
        images: an image (PIL image, array, tensor; a path or bytes for a pipeline that begins with Decode), or several;
            for a pipeline of samples a sample, or a list of several.
        seeds: of the random generators, for each image; an int means so many, from 0.
        names: of the images, for the report.

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
    chain: Twin | str
    try:
        chain = twin_of(pipeline)
    except NoTwinError as reason:
        theirs, chain = functools.partial(_reference, pipeline), str(reason)
        against, own = f"fastaug's op-by-op reference ({reason})", generator
    else:
        theirs = functools.partial(_twin_result, pipeline, chain.whole)
        against, own = f"torchvision {chain.version}", None
    if of_samples and isinstance(chain, Twin):
        chain = "torchvision's v2 has no model in float64"
    comparison = Comparison(against, pipeline.mode, len(originals), len(numbers))
    comparison.unit = "sample" if of_samples else "image"
    comparison.names = [_name(comparison.unit, *one) for one in enumerate(originals)] if names is None else list(names)
    undo = normalisation(pipeline.transforms)
    from tqdm import tqdm

    with untouched(generator), tqdm(total=len(originals) * len(numbers), unit="call", disable=None) as progress:
        for position, image in enumerate(originals):
            for seed in numbers:
                mine, state = outcome(pipeline, image, seed, generator)
                other, expected = outcome(theirs, image, seed, own)
                if state != expected:
                    comparison.adrift.append((position, seed))
                truth = Truth(chain, image, seed) if pipeline.mode == "fast" else None
                compare(comparison, position, seed, mine, other, undo, truth)
                progress.update()
    return comparison


def _name(unit: str, position: int, image: Any) -> str:
    """What to call an image or a sample: its file, if it is known."""
    file = image if isinstance(image, str) else getattr(image, "filename", None)
    return f"{unit} {position}" + (f" ({file})" if isinstance(file, str) and file else "")


def _twin_result(pipeline: Any, whole: Callable[[Any], Any], image: Any) -> Any:
    return delivered(pipeline, whole(sample_for(pipeline, image)))


def _reference(pipeline: Any, image: Any) -> Any:
    call = pipeline._call.like(rewrites=_C.EXACT)
    call.run = functools.partial(_C.run, reference=True)
    return pipeline._run(image, call)


def outcome(function: Callable[[Any], Any], image: Any, seed: int, generator: Any) -> tuple[Any, Any]:
    """The result, or the error, and the state of the random generators afterwards."""
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
    """Adds one call."""
    if isinstance(mine, Exception) and type(mine) is type(other):
        comparison.errors.append(Failure(image, seed, words.failure(mine)))
        return
    comparison.results += 1
    if isinstance(mine, Exception) or isinstance(other, Exception):
        what = f"{_told(mine)}, where {_told(other)} was expected"
        comparison.differences.append(Difference(image, seed, what))
        return
    found = []
    for path, one, two in pairs(mine, other):
        part = spelled(path)
        other_difference = _other_difference(one, two)
        if other_difference is not None:
            if other_difference:
                found.append(Difference(image, seed, other_difference, part))
            continue
        difference = _of_pixels(comparison, image, seed, part, one, two, undo)
        if difference is not None:
            if truth is not None and not _is_label(one):
                _judge(difference, truth, path, one, two, undo)
            found.append(difference)
    # One says enough about this call: the worst, or else the first.
    found.sort(key=lambda one: (one.kept is not False, one.kept is not None))
    if found and comparison.unit == "sample":
        found[0].others = [other.part for other in found[1:]]
    comparison.differences += found[:1]


def _other_difference(one: Any, two: Any) -> str | None:
    """How two parts of results differ beside their pixels; nothing if they are equal; None if it is up to these."""
    if words.described(one) != words.described(two):
        return f"{words.described(one)}, where {words.described(two)} was expected"
    if samples(one) is not None:
        if isinstance(one, Image.Image) and one.getpalette() != two.getpalette():
            return "another palette"
        return None
    equal = same(one, two)
    if equal is None:
        return f"cannot be compared: {type(one).__name__} does not say what is equal"
    return "" if equal else f"{words.cut(repr(one), 80)}, where {words.cut(repr(two), 80)} was expected"


def _of_pixels(
    comparison: Comparison, image: int, seed: int, part: str, mine: Any, other: Any, undo: Any
) -> Difference | None:
    one, two = samples(mine), samples(other)
    assert one is not None and two is not None
    comparison.samples += one.size
    wrong = np.asarray((one != two) & ~(np.isnan(one) & np.isnan(two)) if one.dtype.kind == "f" else one != two)
    label = _is_label(mine)
    if not wrong.any():
        comparison.psnr += [] if label else [math.inf]
        return None
    gap = np.abs(one.astype(np.float64) - two.astype(np.float64))
    distance = math.nan
    if not label:
        distance = psnr(gap, one, undo if isinstance(mine, torch.Tensor) else None)
        comparison.psnr.append(distance)
    first = tuple(int(k) for k in np.argwhere(wrong)[0])
    return Difference(image, seed, "pixels", part, first, float(gap.max()), float(wrong.mean()), distance)


def _is_label(leaf: Any) -> bool:
    """Whether the numbers of a part of a sample are labels or places, and no intensities."""
    classes = loaded()
    return (
        classes is not None
        and isinstance(leaf, classes.TVTensor)
        and not isinstance(leaf, (classes.Image, classes.Video))
    )


def _judge(difference: Difference, truth: Truth, path: Path, mine: Any, other: Any, undo: Any) -> None:
    """Says whether a difference is within the contract of fast mode."""
    if difference.psnr >= LEAST_PSNR:
        difference.kept = True
        return
    try:
        difference.truth = truth.distances(path, mine, other, undo if isinstance(mine, torch.Tensor) else None)
    except NoTruthError as reason:
        difference.kept, difference.why = None, str(reason)
    else:
        difference.kept = difference.truth[0] >= difference.truth[1]


def _told(outcome: Any) -> str:
    return words.failure(outcome) if isinstance(outcome, Exception) else words.described(outcome)
