"""The steps of random pipelines: the source of a transform with random arguments, valid ones for the most part."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Step:
    """A transform as source; one that holds others has them between `head` and `tail`.

    `exact`: bit for bit on floats too, not only on bytes.
    """

    head: str
    children: tuple[Step, ...] = ()
    tail: str = ""
    exact: bool = True

    @property
    def source(self) -> str:
        return self.head + ", ".join(child.source for child in self.children) + self.tail


TO_FLOAT = Step("T.ConvertImageDtype(torch.float32)")
TO_TENSOR = Step("T.ToTensor()")
TO_TENSOR_IN_TWO = Step("T.Compose([T.PILToTensor(), T.ConvertImageDtype(torch.float32)])")
TO_PIL = Step("T.ToPILImage()")
TO_BYTES = Step("T.PILToTensor()")


def stacked(to_float: str) -> tuple[Step, ...]:
    """Crops of one image as a batch, by a callable of the user's."""
    return tuple(
        Step(f"T.Compose([{crops}, T.Lambda(lambda crops: torch.stack([{to_float}(crop) for crop in crops]))])")
        for crops in ("T.FiveCrop(3)", "T.TenCrop((9, 4))")
    )


#: Ways from images of bytes to tensors of floats.
FROM_TENSOR = (*[TO_FLOAT] * 8, *stacked(TO_FLOAT.source))
FROM_ARRAY = (*[TO_TENSOR] * 6, *stacked(TO_TENSOR.source))
FROM_PIL = (*FROM_ARRAY, *[TO_TENSOR_IN_TWO] * 4)
#: What follows these is drawn for what they give, so they stay while anything follows.
CONVERSIONS = {*FROM_TENSOR, *FROM_PIL, TO_PIL, TO_BYTES}


class Draw:
    """Random arguments, as source, for an image of so many channels in a container.

    `floats`: for tensors of floats, whose functions take less than those of PIL images do.
    """

    def __init__(self, rng: random.Random, container: str, channels: int, floats: bool = False) -> None:
        self.rng, self.container, self.channels, self.floats = rng, container, channels, floats
        self.tensor = floats or container == "tensor"

    def real(self, low: float, high: float) -> str:
        return repr(self.rng.choice([low, high, *[round(self.rng.uniform(low, high), 4)] * 6]))

    def interval(self, low: float, high: float) -> str:
        ends = sorted(round(self.rng.uniform(low, high), 3) for _ in range(2))
        return f"({ends[0]}, {ends[1]})" if self.rng.random() < 0.8 else f"({ends[0]}, {ends[0]})"

    def p(self) -> str:
        return self.rng.choice(["0.5", "1.0", "1.0", "1.0", "0.3", "0.0"])

    def extent(self) -> int:
        return self.rng.choice([1, self.rng.randint(1, 24), self.rng.randint(1, 110), self.rng.randint(20, 80)])

    def size(self) -> str:
        one, two = self.extent(), self.extent()
        return self.rng.choice([str(one), f"({one}, {two})", f"[{one}, {two}]", f"[{one}]"])

    def fill(self, one: bool = False) -> str:
        """`one`: a number, which every function takes."""
        if self.floats:
            return self.rng.choice(["0", "1", self.real(0, 1)])
        number = self.rng.choice(["0", "255", str(self.rng.randint(0, 255)), self.real(0, 255)])
        if one or self.rng.random() < 0.6:
            return number
        values = [self.rng.randint(0, 255) for _ in range(self.rng.choice([self.channels] * 4 + [1, 3]))]
        return repr(values) if self.rng.random() < 0.5 else repr(tuple(values))

    def resampling(self) -> str:
        """Of a resize."""
        if self.tensor and self.rng.random() < 0.1:
            return "T.InterpolationMode.NEAREST_EXACT"
        return self.mode(self.rng.choice([0, 2, 2, 3, 3] if self.tensor else [0, 1, 2, 2, 3, 4, 5]))

    def warp(self) -> str:
        """Of a rotation and the like."""
        return self.mode(self.rng.choice([0, 2] if self.tensor else [0, 2, 3]))

    def mode(self, number: int) -> str:
        names = ("NEAREST", "LANCZOS", "BILINEAR", "BICUBIC", "BOX", "HAMMING")
        return str(number) if self.rng.random() < 0.5 else f"T.InterpolationMode.{names[number]}"

    def padding(self) -> str:
        sides = [self.rng.choice([0, self.rng.randint(0, 12)]) for _ in range(4)]
        return self.rng.choice([str(sides[0]), repr(tuple(sides[:2])), repr(sides)])

    def padding_mode(self) -> str:
        return self.rng.choice(["'constant'", "'edge'", "'reflect'", "'symmetric'"])

    def degrees(self) -> str:
        return self.rng.choice(
            ["(90, 90)", "(180, 180)", "(0, 0)", str(self.rng.randint(0, 180)), *[self.interval(-400, 400)] * 3]
        )

    def point(self) -> str:
        return self.rng.choice(["None", "None", "(0, 0)", f"[{self.rng.randint(-9, 70)}, {self.real(-5, 60)}]"])

    def jitter(self) -> str:
        return self.rng.choice(["0", self.real(0, 1.5), self.interval(0, 3)])

    def kernel(self) -> str:
        one, two = (2 * self.rng.choice([0, 1, 1, 2, 3, 5, 11]) + 1 for _ in range(2))
        return self.rng.choice([str(one), f"({one}, {two})"])


def affine(d: Draw) -> str:
    translate = d.rng.choice(["None", f"({d.real(0, 0.6)}, {d.real(0, 0.6)})"])
    scale = d.rng.choice(["None", d.interval(0.3, 2.0)])
    shear = d.rng.choice(
        ["None", str(d.rng.randint(0, 40)), d.interval(-40, 40), f"[-20, 20, {d.rng.randint(-30, 0)}, 9]"]
    )
    return f"{d.degrees()}, {translate}, {scale}, {shear}, {d.warp()}, {d.fill()}, {d.point()}"


def elastic(d: Draw) -> str:
    alpha = d.rng.choice([d.real(0.0, 200.0), f"[{d.real(1.0, 90.0)}, {d.real(0.0, 300.0)}]"])
    sigma = d.rng.choice([d.real(0.3, 3.0), d.real(1.0, 6.0), "0.0", f"[{d.real(0.5, 2.0)}, {d.real(0.5, 3.0)}]"])
    return f"{alpha}, {sigma}, {d.warp()}, {d.fill()}"


def auto_fill(d: Draw) -> str:
    return d.rng.choice(["None", "None", d.fill()])


#: Transforms of images of bytes and of floats: their arguments.
ANY: dict[str, Callable[[Draw], str]] = {
    "Resize": lambda d: f"{d.size()}, {d.resampling()}",
    "CenterCrop": lambda d: d.size(),
    "RandomCrop": lambda d: (
        f"{d.size()}, {d.rng.choice(['None', d.padding()])}, {d.rng.random() < 0.8}, {d.fill(d.tensor)}, "
        f"{d.padding_mode()}"
    ),
    "RandomResizedCrop": lambda d: f"{d.size()}, {d.interval(0.05, 1.6)}, {d.interval(0.3, 3)}, {d.resampling()}",
    "Pad": lambda d: f"{d.padding()}, {d.fill(d.tensor)}, {d.padding_mode()}",
    "RandomHorizontalFlip": Draw.p,
    "RandomVerticalFlip": Draw.p,
    "RandomRotation": lambda d: f"{d.degrees()}, {d.warp()}, {d.rng.random() < 0.4}, {d.point()}, {d.fill()}",
    "RandomAffine": affine,
    "RandomPerspective": lambda d: f"{d.real(0, 1)}, {d.p()}, {d.warp()}, {d.fill()}",
    "ElasticTransform": elastic,
    "GaussianBlur": lambda d: f"{d.kernel()}, {d.rng.choice([d.real(0.1, 4), d.interval(0.1, 3)])}",
    "ColorJitter": lambda d: f"{d.jitter()}, {d.jitter()}, {d.jitter()}, {d.rng.choice(['0', d.real(0, 0.5)])}",
    "RandomGrayscale": Draw.p,
    "Grayscale": lambda d: d.rng.choice(["1", "3", "3"]),
    "RandomInvert": Draw.p,
    "RandomAdjustSharpness": lambda d: f"{d.rng.choice(['0', '1', '2', d.real(0, 3)])}, {d.p()}",
    "RandomAutocontrast": Draw.p,
    "RandomSolarize": lambda d: f"{d.real(0, 1) if d.floats else d.rng.choice([d.real(0, 255), '128'])}, {d.p()}",
}
BYTES: dict[str, Callable[[Draw], str]] = {
    "RandomPosterize": lambda d: f"{d.rng.randint(1, 8)}, {d.p()}",
    "RandomEqualize": Draw.p,
    "AutoAugment": lambda d: (
        f"T.AutoAugmentPolicy({d.rng.choice(['imagenet', 'cifar10', 'svhn'])!r}), {d.warp()}, {auto_fill(d)}"
    ),
    "RandAugment": lambda d: f"{d.rng.randint(0, 4)}, {d.rng.randint(0, 30)}, 31, {d.warp()}, {auto_fill(d)}",
    "TrivialAugmentWide": lambda d: f"{d.rng.choice([31, 31, 5])}, {d.warp()}, {auto_fill(d)}",
    "AugMix": lambda d: (
        f"{d.rng.randint(1, 10)}, {d.rng.randint(1, 4)}, {d.rng.choice([-1, -1, 1, 2])}, {d.real(0.2, 2.0)}, "
        f"{d.rng.random() < 0.6}, {d.mode(d.rng.choice([0, 2]))}, {auto_fill(d)}"
    ),
}
FLOATS: dict[str, Callable[[Draw], str]] = {
    "Normalize": lambda d: d.rng.choice(["[0.5], [0.25]", "(0.485, 0.456, 0.406), (0.229, 0.224, 0.225)"]),
    "RandomErasing": lambda d: (
        f"{d.p()}, {d.interval(0.02, 1.0)}, {d.interval(0.2, 5)}, "
        f"{d.rng.choice(['0', d.real(-1, 1), repr('random'), '(0.1, 0.2, 0.3)', '[7]'])}, {d.rng.random() < 0.2}"
    ),
}
#: On floats these only move or replace values, or do one rounding each.
EXACT = ("CenterCrop", "RandomCrop", "Pad", "RandomHorizontalFlip", "RandomVerticalFlip", "Normalize", "RandomErasing")


def leaf(d: Draw) -> Step:
    table = {**ANY, **(FLOATS if d.floats else BYTES)}
    name = d.rng.choice(sorted(table))
    return Step(f"T.{name}({table[name](d)})", exact=not d.floats or name in EXACT)


def several(d: Draw) -> Step:
    """Transforms that stand for more than one, and are no modules."""
    if d.container == "pil" and not d.floats and d.rng.random() < 0.3:
        return Step("T.Compose([T.PILToTensor(), T.ToPILImage()])")
    if d.floats and d.rng.random() < 0.5:
        count = 12 * d.channels
        whiten = f"T.LinearTransformation(torch.eye({count}).flip(0), torch.full(({count},), 0.5))"
        steps = f"T.Resize((3, 4)), T.Lambda(lambda x: x.contiguous()), {whiten}"
        return Step(f"T.Compose([{steps}])", exact=False)
    crops = d.rng.choice([f"T.FiveCrop({d.extent() // 4 + 1})", f"T.TenCrop({d.extent() // 4 + 1}, True)"])
    return Step(f"T.Compose([{crops}, T.Lambda(lambda crops: crops[{d.rng.randrange(5)}])])")


def step(d: Draw, depth: int = 2) -> Step:
    if depth == 0 or d.rng.random() < 0.85:
        return several(d) if d.rng.random() < 0.06 else leaf(d)
    kind = d.rng.randrange(5)
    head, tail = (
        ("T.RandomApply([", f"], p={d.p()})"),
        ("T.RandomChoice([", "])"),
        ("T.RandomOrder([", "])"),
        ("T.Compose([", "])"),
        ("torch.nn.Sequential(", ")"),
    )[kind]
    count = d.rng.randint(1, 3)
    children = tuple(leaf(d) if head.startswith("torch") else step(d, depth - 1) for _ in range(count))
    return Step(head, children, tail, all(child.exact for child in children))


def draw_steps(rng: random.Random, container: str, channels: int) -> tuple[Step, ...]:
    steps = []
    if container != "pil" and rng.random() < 0.2:
        steps.append(TO_PIL)
        container = "pil"
    for _ in range(rng.choice([1, 1, 2, 3, 4, 6])):
        steps.append(step(Draw(rng, container, channels)))
        if container != "array" and rng.random() < 0.12:
            # The container decides the arithmetic of the steps that follow.
            steps.append(TO_PIL if container == "tensor" else TO_BYTES)
            container = "pil" if container == "tensor" else "tensor"
    if rng.random() < 0.5:
        floats = Draw(rng, container, channels, floats=True)
        steps.append(rng.choice({"tensor": FROM_TENSOR, "array": FROM_ARRAY, "pil": FROM_PIL}[container]))
        steps += [step(floats) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    return tuple(steps)


def simpler(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Every way of dropping one step or of opening one that holds others."""
    for index, step in enumerate(steps):
        before, after = steps[:index], steps[index + 1 :]
        if not after or step not in CONVERSIONS:
            yield (*before, *after)
        if step.children:
            yield (*before, *step.children, *after)
            for children in simpler(step.children):
                if children:
                    yield (*before, replace(step, children=children), *after)
