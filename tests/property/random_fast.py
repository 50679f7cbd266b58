"""Random chains in fast mode, each held to its contract by `check`: near to torchvision, or no further from float64.

Images are photographs and noise. Where an image has few colours, roundings are few as well, and chance decides whose
are nearer to the truth.
"""

from __future__ import annotations

import random

import fastaug.transforms as T
import pipeline_steps as steps
from pipeline_steps import ANY, BYTES, Draw
from random_pipelines import Case, build, evaluate

#: The steps that are one program with others, and their arguments.
STEPS = {
    **{name: ANY[name] for name in ANY if name not in ("ElasticTransform", "GaussianBlur")},
    "RandomEqualize": BYTES["RandomEqualize"],
    "RandomPosterize": BYTES["RandomPosterize"],
}
CONTENTS = ("photo", "photo", "noise")


class Large(Draw):
    """Arguments with which most images keep the pixels that fast mode wants."""

    def extent(self) -> int:
        return self.rng.randint(40, 150) if self.rng.random() < 0.9 else super().extent()


def draw_case(number: int, tensors: bool = False) -> Case:
    """The case of this number, the same on every machine; `tensors`: one of uint8 tensors."""
    rng = random.Random(f"fast tensor {number}" if tensors else f"fast {number}")
    mode = rng.choice(["RGB"] * 5 + ["L"])
    container = "tensor" if tensors else "pil"
    draw = Large(rng, container, 3 if mode == "RGB" else 1)
    names = [rng.choice(sorted(STEPS)) for _ in range(rng.randint(1, 6))]
    chain = [steps.Step(f"T.{name}({STEPS[name](draw)})") for name in names]
    if rng.random() < 0.5:
        chain.append(steps.FROM_TENSOR[0] if tensors else steps.FROM_PIL[0])
    height, width = rng.randint(40, 200), rng.randint(40, 200)
    return Case(tuple(chain), container, mode, rng.choice(CONTENTS), height, width, rng.getrandbits(31))


def verdict(case: Case) -> str:
    """What `check` says of a case that breaks the contract; nothing if its call keeps it, or raises as torchvision's.

    A result whose contract cannot be decided does not keep it.
    """
    pipeline = build(case.pipeline(), T)
    pipeline.mode = "fast"
    _, given = evaluate(case)
    report = pipeline.check([given], seeds=[case.seed])
    return "" if report or report.errors else str(report)


def check(number: int, tensors: bool = False) -> str:
    """What breaks the contract in the case of this number."""
    case = draw_case(number, tensors)
    said = verdict(case)
    if not said:
        return ""
    return (
        f"case {'of tensors ' * tensors}{number}: {case.pipeline()}, {case.content}, {case.height} x {case.width}, "
        f"{case.mode}\n{said}"
    )
