"""Random pipelines of transforms.v2 on random samples: torchvision's outcome, and fastaug's in every way to get it.

A case is Python source: a pipeline, a sample and a seed. So a failing case is a script as it stands, which `script`
prints after `shrink` has made it small.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torchvision.transforms import v2 as TV
from torchvision.transforms.v2.functional import _color as torchvision_color

import fastaug
import fastaug.transforms.v2 as T
import v2_steps
from fastaug._draft.recipe import Book
from pipeline_steps import Step, simpler
from shrinking import shrunk
from support.random_samples import NAMES, Sample, draw_batch, draw_sample
from support.v2_outcomes import V2Outcome, run_v2, v2_difference

#: torchvision's results of these have strides that fastaug does not follow: hue makes contiguous tensors interleaved,
#: three channels of gray share their memory, and a quarter turn exchanges rows and columns.
ACCIDENTS = (
    *("ColorJitter(", "RandomPhotometricDistort(", "Grayscale(", "RGB(", "AutoAugment(", "RandAugment("),
    "RandomRotation((90, 90)",
)
#: What is called with the sample so far: a crop of what torchvision has made is a view there, and here a tensor of its
#: own, which torch resizes and pads to another memory format.
CALLED = ("Sequential(", "Lambda(")
#: Contrast of bytes is in these.
CONTRAST = ("ColorJitter(", "RandomPhotometricDistort(", "Augment(", "TrivialAugmentWide(", "AugMix(")
#: What draws when it is done, and not before.
UNREPLAYED = ("GaussianNoise(", "Sequential(")
CONTAINERS = ("Compose", "RandomApply", "RandomChoice", "RandomOrder")


@dataclass(frozen=True)
class Case:
    """`exact`: floats are torchvision's bit for bit."""

    steps: tuple[Step, ...]
    sample: Sample
    exact: bool
    seed: int

    def pipeline(self) -> str:
        """Its source."""
        return f"T.Compose([{', '.join(step.source for step in self.steps)}])"

    @property
    def strides(self) -> bool:
        source = self.pipeline()
        if any(name in source for name in CALLED) and "Crop(" in source:
            return False
        return not any(name in source for name in ACCIDENTS)

    @property
    def planar(self) -> bool:
        """Whether floats may be made of a PIL image."""
        return self.sample.main == "pil" or "ToPILImage(" in self.pipeline()


def draw_case(number: int) -> Case:
    """The case of this number, the same on every machine."""
    rng = random.Random(f"v2 {number}")
    if number % 12 == 0:
        sample = draw_batch(rng)
        steps, exact = v2_steps.draw_mix(rng, sample)
    else:
        sample = draw_sample(rng)
        steps, exact = v2_steps.draw_steps(rng, sample)
    return Case(steps, sample, exact, rng.getrandbits(32))


# ---- running


def build(source: str, package: Any) -> Any:
    return eval(source, {**NAMES, "T": package})


class Alone(torch.nn.Module):
    """A transform that nothing is fused with: containers know no more of it than of any callable."""

    def __init__(self, transform: Any) -> None:
        super().__init__()
        self.transform = transform

    def forward(self, *inputs: Any) -> Any:
        return self.transform(*inputs)


class OpByOp:
    """A package, each transform of it alone wherever it stands."""

    def __init__(self, package: Any) -> None:
        self.package = package

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.package, name)
        if name in CONTAINERS or not issubclass(value, torch.nn.Module):
            return value
        return lambda *arguments, **keywords: Alone(value(*arguments, **keywords))


def compiled(source: str) -> Any:
    """torchvision's pipeline, compiled."""
    theirs = build(source, TV)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is not read
        return fastaug.compile(theirs)


def pickled(source: str) -> Any:
    """Through a pickle; a copy, where there are lambdas in it."""
    pipeline = build(source, T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of modules that pickle looks for a lambda in, which are all there are
        try:
            return pickle.loads(pickle.dumps(pipeline))
        except (pickle.PicklingError, AttributeError):
            return copy.deepcopy(pipeline)


def replayed(source: str) -> Callable[..., Any]:
    """With parameters that were drawn before, by themselves."""
    pipeline = build(source, T)
    if any(name in source for name in UNREPLAYED):
        return pipeline  # type: ignore[no-any-return]

    def call(*inputs: Any) -> Any:
        if len(inputs) > 1 or type(inputs[0]) is int:
            return pipeline(*inputs)  # it takes one sample, and an integer for a size
        return pipeline.replay(inputs[0], pipeline.sample(inputs[0]))

    return call


def as_recipe(source: str) -> Callable[..., Any]:
    """As after many calls: the core does what it can of the first one."""
    pipeline = build(source, T)
    pipeline._book = Book()
    pipeline._book.recipe = pipeline._recipe()
    return pipeline  # type: ignore[no-any-return]


#: Ways to run a pipeline, from its source.
WAYS: dict[str, Callable[[str], Any]] = {
    "fastaug": lambda source: build(source, T),
    "as a recipe": as_recipe,
    "op by op": lambda source: build(source, OpByOp(T)),
    "compiled": compiled,
    "pickled": pickled,
    "replayed": replayed,
}


def build_or_none(source: str) -> Any:
    """torchvision's pipeline; None if it refuses to be built."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return build(source, TV)
        except Exception:
            return None


def made(make: Callable[[str], Any], source: str) -> Callable[..., Any]:
    """Builds the pipeline when it is called, since that can raise and warn, too."""
    return lambda *inputs: make(source)(*inputs)


@contextlib.contextmanager
def without_remainders() -> Iterator[None]:
    """torchvision, with planes of a multiple of 16 samples where torch adds a mean to an image.

    Of the samples that are left over behind the last such vector, torch rounds some twice, and all others once:
    up to twelve of an image, whose last bit has nothing to do with what they are.
    """
    given = torchvision_color._blend

    def blend(image: torch.Tensor, other: torch.Tensor, ratio: float) -> torch.Tensor:
        width = image.shape[-1]
        if other.shape[-1] == width:
            return given(image, other, ratio)
        padded = torch.nn.functional.pad(image, (0, -width % 16))
        return given(padded, other, ratio)[..., :width].clone()

    torchvision_color._blend = blend
    try:
        yield
    finally:
        torchvision_color._blend = given


def difference(case: Case) -> str | None:
    """What fastaug does differently from torchvision, in a line; None when all agree."""
    found = _difference(case)
    if found is not None and "values differ" in found and any(name in case.pipeline() for name in CONTRAST):
        with without_remainders():
            return _difference(case, strides=False)
    return found


def _difference(case: Case, strides: bool = True) -> str | None:
    theirs = run_v2(made(lambda source: build(source, TV), case.pipeline()), case.sample.build(), case.seed)
    for name, make in WAYS.items():
        ours = run_v2(made(make, case.pipeline()), case.sample.build(), case.seed)
        found = compared(case, name, ours, theirs, strides)
        if found is not None:
            return f"{name}: {found}"
    return None


def compared(case: Case, way: str, ours: V2Outcome, theirs: V2Outcome, strides: bool = True) -> str | None:
    """How the outcome of a way to run a case differs from torchvision's, in a line; None when it does not."""
    if way == "compiled" and "Sequential.forward() takes 2" in str(theirs.error):
        return None  # its transforms are those of the Compose then, and take several inputs as well as one
    if way == "replayed" and ours.error is not None:
        ours.states = theirs.states  # all that is drawn is drawn before it fails
    return v2_difference(ours, theirs, exact=case.exact, strides=strides and case.strides, planar=case.planar)


# ---- making a failing case small


def smaller(case: Case) -> Iterator[Case]:
    """Simpler cases, the boldest first."""
    for parts in simpler(case.steps):
        if parts:
            yield replace(case, steps=parts)
    leaves, sample = case.sample.leaves, case.sample
    for index in range(len(leaves)):
        if len(leaves) > 1:
            yield replace(case, sample=replace(sample, leaves=(*leaves[:index], *leaves[index + 1 :])))
    if len(leaves) == 1 and sample.layout != "alone":
        yield replace(case, sample=replace(sample, layout="alone"))


def shrink(case: Case, attempts: int = 200) -> Case:
    """A smaller case that still fails."""
    return shrunk(case, smaller, difference, attempts)


SCRIPT = """\
# PYTHONPATH=.:tests:tests/property
import fastaug.transforms.v2
import torchvision.transforms.v2
from random_v2 import build
from support.outcomes import seed_all
from support.random_samples import NAMES

for T in (fastaug.transforms.v2, torchvision.transforms.v2):
    sample = eval({sample!r}, dict(NAMES))
    seed_all({seed})
    try:
        print(T.__name__, build({source!r}, T)(*sample))
    except Exception as error:
        print(T.__name__, repr(error))
"""


def script(case: Case) -> str:
    """A program that shows the difference by itself."""
    return SCRIPT.format(sample=case.sample.source(), seed=case.seed, source=case.pipeline())


def check(number: int) -> str:
    """Runs a case: '' when both packages do the same, else what differs and a script that shows it."""
    case = draw_case(number)
    found = difference(case)
    if found is None:
        return ""
    small = shrink(case)
    return f"# v2 {number}: {difference(small) or f'once: {found}'}\n{script(small)}"
