"""Random pipelines of transforms on float tensors of every layout, behind a callable of the user's or not.

A case is a number: a tensor, a pipeline and a seed are drawn from it. What is compared with torchvision is all that can
be seen: bits, dtype, the order in memory, class, gradients, whose memory the result is of, what was written to the
input, the state of the generator, and the type of an error.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV

import fastaug
import fastaug.transforms as T
from shrinking import shrunk

SIDES = (1, 1, 2, 3, 5, 8, 13, 16, 17, 33, 40)
#: Bit patterns of float32: zeros of both signs, infinities, NaNs with payloads, subnormals, the ends.
SPECIAL = (0x0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001, 0x1, 0x807FFFFF, 0x7F7FFFFF)
MEAN, STD = (0.485, 0.456, 0.406, 0.5, 0.1), (0.229, 0.224, 0.225, 0.25, 0.3)


class Cloned:
    """Somebody's ToTensor, of which fastaug knows nothing."""

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return image.clone()


class Handed:
    """Somebody's callable that hands on what it is given."""

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return image


class Doubled:
    """Somebody's arithmetic."""

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return image * 2


class Marked(torch.Tensor):
    """A subclass that does nothing of its own."""


def _part(x: torch.Tensor) -> torch.Tensor:
    channels, height, width = x.shape
    part = torch.full((channels, height + 3, width + 2), 7.0)[:, 2:-1, 1:-1]
    return part.copy_(x)


def _every_other(x: torch.Tensor) -> torch.Tensor:
    channels, height, width = x.shape
    return torch.full((channels, 2 * height, 3 * width), 7.0)[:, ::2, ::3].copy_(x)


def _of_a_batch(x: torch.Tensor) -> torch.Tensor:
    batch = torch.full((3, *x.shape), 7.0)
    return batch[1].copy_(x)


#: Layouts of samples [C, H, W].
LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "plain": lambda x: x,
    "channels last": lambda x: x.permute(1, 2, 0).contiguous().permute(2, 0, 1),
    "part": _part,
    "part of channels last": lambda x: _part(x.permute(1, 2, 0)).permute(2, 0, 1),
    "one of a batch": _of_a_batch,
    "every other": _every_other,
    "turned": lambda x: x.transpose(1, 2).contiguous().transpose(1, 2),
    "expanded": lambda x: x[:1].clone().expand(x.shape),
    "one row": lambda x: x[:, :1].clone().expand(x.shape),
    "negated": lambda x: torch._neg_view(x),
    "leaf": lambda x: x.requires_grad_(),
    "result": lambda x: x.requires_grad_() * 1,
    "marked": lambda x: x.as_subclass(Marked),  # type: ignore[arg-type]
    "parameter": lambda x: torch.nn.Parameter(x),
    "batch": lambda x: torch.stack([x, x.flip(1)]),
    "channels last batch": lambda x: torch.stack([x, x.flip(1)]).contiguous(memory_format=torch.channels_last),
    "flat": lambda x: x[0],
    "half": lambda x: x.half(),
    "bfloat16": lambda x: x.bfloat16(),
    "double": lambda x: x.double(),
}

Make = Callable[[Any, int], Any]


def _values(rng: random.Random, channels: int) -> Any:
    return rng.choice([0, 0.0, 0.5, -1, "random", [0.5, -1.0, 2.0, 0.0, 3.0][:channels], (1, 2, 3), float("nan")])


def _erasing(rng: random.Random) -> Make:
    p, inplace, number = rng.choice([0.0, 0.7, 1.0]), bool(rng.getrandbits(1)), rng.getrandbits(30)
    return lambda P, c: P.RandomErasing(p, value=_values(random.Random(number), c), inplace=inplace)


def _normalise(rng: random.Random) -> Make:
    one, inplace, listed = rng.random() < 0.3, rng.random() < 0.4, bool(rng.getrandbits(1))
    strange = rng.random()

    def make(P: Any, channels: int) -> Any:
        count = 1 if one else channels
        mean, std = MEAN[:count], STD[:count]
        if strange < 0.04:
            std = (0.0,) * count
        elif strange < 0.08:
            mean = (float("nan"),) * count
        elif strange < 0.1:
            mean = MEAN[:2]
        return P.Normalize(list(mean), list(std), inplace) if listed else P.Normalize(mean, std, inplace)

    return make


def _pad(rng: random.Random) -> Make:
    padding = rng.choice([0, 1, 2, (1, 2), (1, 0, 2, 3), (-1, 0, 1, 0), (-1, -1), (0, 0)])
    fill = rng.choice([0, 0, 0, 0.0, 3, 0.25, -1, False])
    mode = rng.choice(["constant", "constant", "constant", "edge", "reflect", "symmetric"])
    return lambda P, _: P.Pad(padding, fill, mode)


def _crop(rng: random.Random) -> Make:
    size, padding = rng.choice([1, 5, 8, (9, 4), (3, 30)]), rng.choice([None, None, 1, 2, (3, 0)])
    needed, fill = rng.random() < 0.8, rng.choice([0, 0, 0, 2])
    return lambda P, _: P.RandomCrop(size, padding, needed, fill)


def _dtype(rng: random.Random) -> Make:
    dtype = rng.choice([torch.float32] * 6 + [torch.float16, torch.float64, torch.uint8, torch.bfloat16])
    return lambda P, _: P.ConvertImageDtype(dtype)


def _always(make: Make) -> Callable[[random.Random], Make]:
    return lambda rng: make


#: Steps, by name: of a random generator, what makes one by a package, for so many channels.
STEPS: dict[str, Callable[[random.Random], Make]] = {
    "crop": _crop,
    "centre": lambda r: (lambda size: lambda P, _: P.CenterCrop(size))(r.choice([4, (9, 7), (40, 2), 1])),
    "hflip": lambda r: (lambda p: lambda P, _: P.RandomHorizontalFlip(p))(r.choice([0.5, 1.0, 1.0, 0.0])),
    "vflip": lambda r: (lambda p: lambda P, _: P.RandomVerticalFlip(p))(r.choice([0.5, 1.0, 1.0, 0.0])),
    "pad": _pad,
    "normalise": _normalise,
    "erase": _erasing,
    "dtype": _dtype,
    "blur": _always(lambda P, _: P.GaussianBlur(3, (0.5, 1.5))),
    "resize": lambda r: (lambda size: lambda P, _: P.Resize(size))(r.choice([6, (9, 12), (17, 5)])),
    "resized crop": _always(lambda P, _: P.RandomResizedCrop(7)),
    "gray": _always(lambda P, _: P.RandomGrayscale(0.5)),
    "jitter": _always(lambda P, _: P.ColorJitter(0.3, 0.3)),
    "rotate": _always(lambda P, _: P.RandomRotation(30)),
    "five": _always(lambda P, _: P.Compose([P.FiveCrop(3), P.Lambda(torch.stack)])),
    "cloned": _always(lambda P, _: Cloned()),
    "handed": _always(lambda P, _: Handed()),
    "doubled": _always(lambda P, _: Doubled()),
    "apply": lambda r: (lambda make, p: lambda P, c: P.RandomApply([make(P, c), P.RandomHorizontalFlip(1.0)], p))(
        _normalise(r), r.choice([0.0, 0.6, 1.0])
    ),
}
SUMS = ("blur", "resize", "resized crop", "gray", "jitter", "rotate")
#: Those that the core does, or follows.
COMMON = ("crop", "centre", "hflip", "vflip", "pad", "normalise", "normalise", "erase", "handed", "cloned", "dtype")

WAYS = ("compose", "compiled", "read", "batch", "half", "bfloat16", "channels last")
UNWRITABLE = ("leaf", "parameter", "expanded", "one row")
_DTYPES = {"half": torch.float16, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class Case:
    layout: str
    channels: int
    height: int
    width: int
    special: bool
    steps: tuple[tuple[str, int], ...]
    way: str
    seed: int

    def tensor(self) -> torch.Tensor:
        rng = np.random.default_rng(self.seed)
        samples = rng.standard_normal((self.channels, self.height, self.width)).astype(np.float32)
        if self.special:
            at = rng.random(samples.shape) < 0.1
            bits = rng.choice(np.array(SPECIAL, np.uint32), samples.shape)
            samples.view(np.uint32)[at] = bits[at]
        return LAYOUTS[self.layout](torch.from_numpy(samples).clone())

    def pipeline(self, package: Any) -> Any:
        return package.Compose(
            [STEPS[name](random.Random(number))(package, self.channels) for name, number in self.steps]
        )


def draw_case(number: int) -> Case:
    """The case of this number, the same on every machine."""
    rng = random.Random(f"floats {number}")
    layout = rng.choice(["plain", "plain", "plain", "channels last", "channels last", *LAYOUTS])
    channels, height, width = rng.choice((1, 2, 3, 3, 3, 4, 5)), rng.choice(SIDES), rng.choice(SIDES)
    names = [rng.choice(COMMON if rng.random() < 0.8 else [*STEPS]) for _ in range(rng.randint(0, 6))]
    if rng.random() < 0.5:
        names.insert(0, rng.choice(["cloned", "handed"]))
    steps = tuple((name, rng.getrandbits(30)) for name in names)
    # A batch hands callables a copy of what was written to, and so nothing is said of what must not be.
    way = rng.choice([one for one in WAYS if one != "batch" or layout not in UNWRITABLE])
    special = rng.random() < 0.5
    return Case(layout, channels, height, width, special, steps, way, rng.getrandbits(31))


def bits(tensor: torch.Tensor, sums: bool = False) -> tuple[Any, ...]:
    """Its samples; `sums`: made of several, of whose NaNs torch keeps those of one or of the other."""
    plain = tensor.detach().resolve_neg().as_subclass(torch.Tensor)
    if plain.is_floating_point() and (sums or plain.dtype in (torch.float16, torch.bfloat16)):
        # Nor do torch's conversions of one sample and of several at once keep the same bits of a NaN.
        plain = torch.where(plain.isnan(), torch.full_like(plain, float("nan")), plain)
    return plain.dtype, tuple(plain.shape), plain.reshape(-1).clone().view(torch.uint8).numpy().tobytes()


def _stored(tensor: torch.Tensor) -> bytes:
    """All of the memory that it is of."""
    plain = tensor.detach().as_subclass(torch.Tensor)
    return torch.empty(0, dtype=torch.uint8).set_(plain.untyped_storage()).numpy().tobytes()


def _strides(tensor: torch.Tensor) -> tuple[int, ...]:
    return tuple(stride if size > 1 else 0 for stride, size in zip(tensor.stride(), tensor.shape))


def _placed(result: torch.Tensor, image: torch.Tensor) -> tuple[Any, ...]:
    """Where a result lies: in the input's memory, or in an order of its own."""
    if result.untyped_storage().data_ptr() == image.untyped_storage().data_ptr() and result.numel():
        return "input", result.data_ptr() - image.data_ptr(), _strides(result), result.is_neg()
    return "own", _strides(result.detach().as_subclass(torch.Tensor).clone())


def outcome(case: Case, call: Callable[[torch.Tensor], Any], whole: bool = True) -> dict[str, Any]:
    """What a call does to the case's tensor; `whole`: not its samples alone."""
    image = case.tensor()
    before = _stored(image)
    torch.manual_seed(case.seed)
    told: dict[str, Any] = {}
    try:
        result = call(image)
        told["bits"] = bits(result, any(name in SUMS for name, _ in case.steps))
        if whole:
            told["place"] = _placed(result, image)
            told["class"] = type(result), result.requires_grad, result.is_leaf
            told["same"] = result is image
            told["draws"] = bits(torch.get_rng_state())
    except Exception as error:
        told = {"error": type(error).__name__, "text": str(error)[:200]}
    if whole:
        told["written"] = _stored(image) if _stored(image) != before else None
    return told


def difference(case: Case) -> str | None:
    """What is not as torchvision has it; None if nothing is."""
    theirs = case.pipeline(TV)
    ours: Any = theirs if case.way == "read" else case.pipeline(T)
    if case.way in ("compiled", "read"):
        ours = fastaug.compile(ours)
    wanted: Callable[[torch.Tensor], Any] = theirs
    whole = case.way in ("compose", "compiled", "read")
    if case.way == "batch":
        pipeline = ours
        ours = lambda image: pipeline.batch([image], num_threads=2)[0]  # noqa: E731
    elif case.way in _DTYPES:
        dtype = _DTYPES[case.way]
        ours = fastaug.compile(ours, dtype=dtype)
        wanted = lambda image: theirs(image).to(dtype)  # noqa: E731
    elif case.way == "channels last":
        ours = fastaug.compile(ours, memory_format=torch.channels_last)
    one, other = outcome(case, ours, whole), outcome(case, wanted, whole)
    # A batch draws for all steps before any is done, and its errors come first.
    if "error" in one and (one["error"] == other.get("error") or (case.way == "batch" and "error" in other)):
        return None
    parts = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    if not parts:
        return None
    said = {name: (_short(one.get(name)), _short(other.get(name))) for name in parts}
    return f"{case}\n  differs in {said}"


def _short(value: Any) -> str:
    return repr(value) if len(repr(value)) < 150 else f"{repr(value)[:60]}... <{hash(repr(value)):x}>"


def shrink(case: Case) -> Case:
    """A case with fewer steps that still differs."""

    def simpler(one: Case) -> list[Case]:
        fewer = [replace(one, steps=one.steps[:k] + one.steps[k + 1 :]) for k in range(len(one.steps))]
        others = (replace(one, special=False), replace(one, layout="plain"), replace(one, way="compose"))
        return [*fewer, *(other for other in others if other != one)]

    return shrunk(case, simpler, difference)
