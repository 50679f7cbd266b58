"""Random objects that call transforms: their own outcome, and that of fastaug in every way to get it.

An object has a ``__call__`` that makes values of values and returns some of them, several times or in a structure.
It holds transforms of torchvision, v1 and v2, and functions that draw from every generator, write to images, or return
what they get. The object itself is what all else is compared with: compiled, and as a program of fastaug's transforms.
"""

from __future__ import annotations

import copy
import io
import pickle
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV
from PIL import Image
from torch import nn
from torchvision.transforms import v2 as TV2

import fastaug
import fastaug.io
import fastaug.transforms as T
from fastaug.transforms import v2
from shrinking import shrunk
from support.outcomes import numpy_state, seed_all, snapshot

Value = fastaug.Views.Value

HEIGHT, WIDTH = 24, 20


# ---- what is held


def same(image: Any) -> Any:
    return image


def drawing(image: Any) -> Any:
    """Draws from all generators; the pixels tell what was drawn."""
    drawn = random.randrange(50) + int(torch.randint(0, 50, ())) + int(np.random.randint(50))  # noqa: NPY002
    if isinstance(image, Image.Image):
        image = image.copy()
        image.paste(image.crop((0, 0, 3, 3)), (drawn % 7, drawn % 5))
        return image
    image = image.clone()
    image[..., drawn % image.shape[-2], :] = 0
    return image


def writing(image: Any) -> Any:
    """Writes to what it is given."""
    if isinstance(image, Image.Image):
        image.paste(image.crop((0, 0, 3, 3)), (4, 4))
    else:
        image[..., 1:4, :] = 0
    return image


def turned(image: Any) -> Any:
    """A view of a tensor's memory."""
    return image if isinstance(image, Image.Image) else image.flip(-1) if image.shape[-2] % 2 else image[..., 1:, :]


FUNCTIONS = ("same", "drawing", "drawing", "writing", "writing", "turned")

#: By the kind of image; M is a package, with v1's names for all that is in v1 and v2, and V is v1.
ANY = (
    "M.RandomHorizontalFlip(0.5)",
    "M.RandomHorizontalFlip(0.0)",
    "M.RandomVerticalFlip(0.5)",
    "M.RandomCrop(12)",
    f"M.RandomCrop(({HEIGHT}, {WIDTH}), pad_if_needed=True)",
    "M.CenterCrop(16)",
    f"M.CenterCrop(({HEIGHT}, {WIDTH}))",
    "M.Pad(2)",
    "M.Pad(0)",
    "M.RandomApply([M.RandomVerticalFlip(1.0)], p=0.0)",
    "M.RandomApply([M.CenterCrop(14), Alone(M.RandomHorizontalFlip())], p=0.5)",
    "M.RandomChoice([M.CenterCrop(16), M.Pad(1), Alone(M.RandomVerticalFlip())])",
    "M.RandomOrder([M.RandomCrop(12), M.RandomHorizontalFlip(), M.Pad(1)])",
    "M.Compose([M.RandomCrop(14), M.Lambda(drawing), M.RandomVerticalFlip()])",
    "M.Compose([M.Lambda(writing), M.RandomHorizontalFlip(0.2)])",
    "M.Compose([M.Pad(0), M.RandomHorizontalFlip(0.3)])",
    "M.Compose([M.RandomHorizontalFlip(), Alone(M.RandomCrop(10))])",
    "nn.Sequential(M.RandomHorizontalFlip(), M.RandomCrop(11))",
    "nn.Identity()",
    "Alone(M.RandomHorizontalFlip(0.3))",
    "Pairs([M.CenterCrop(13), M.RandomHorizontalFlip()])",
    # Of v1 among others of v2.
    "M.Compose([M.RandomHorizontalFlip(0.3), V.RandomVerticalFlip(0.3)])",
    "M.Compose([V.RandomHorizontalFlip(0.3), M.RandomVerticalFlip(0.3), V.Pad(0)])",
    f"M.Compose([V.CenterCrop(({HEIGHT}, {WIDTH})), M.RandomHorizontalFlip(0.3), M.Lambda(writing)])",
    "M.Compose([M.RandomApply([V.RandomCrop(12), M.Pad(1)]), V.RandomHorizontalFlip(0.3)])",
    "M.RandomChoice([V.RandomCrop(12), V.RandomVerticalFlip(0.2), M.Pad(1)])",
    "M.RandomOrder([V.RandomCrop(12), M.RandomHorizontalFlip(), V.Pad(1)])",
    "M.RandomApply([V.Compose([V.RandomCrop(12), V.Lambda(drawing)]), M.Pad(1)])",
    "M.Compose([V.RandomApply([V.Pad(1)]), M.RandomHorizontalFlip(), Alone(V.RandomRotation((90, 90)))])",
    "M.Compose([M.RandomCrop(18), V.RandomChoice([V.Pad(1), V.RandomCrop(12), Alone(V.CenterCrop(9))])])",
)
BYTES = (
    "M.ColorJitter(0.4)",
    "M.RandomInvert(0.5)",
    "M.RandomPosterize(3, 0.5)",
    "M.RandomSolarize(99, 0.5)",
    "M.Resize((15, 17), M.InterpolationMode.NEAREST)",
    "M.Resize((HEIGHT, WIDTH))",
    "M.RandomEqualize(0.5)",
    "M.RandomAutocontrast(0.5)",
)
PIL = (
    *("M.RandomResizedCrop(14)", "M.RandomRotation(30)", "M.Resize(18)", "M.Resize(13, M.InterpolationMode.BICUBIC)"),
    "M.RandomAffine(0, translate=(0.2, 0.2))",
)
FLOATS = (
    "M.Normalize([0.5], [0.25])",
    "M.Normalize([0.5], [0.25], inplace=True)",
    "M.Normalize([0.5], [0.25], inplace=True)",
    "M.RandomErasing(0.5)",
    "M.RandomErasing(1.0, inplace=True)",
    "M.RandomApply([M.RandomErasing(1.0, inplace=True)], p=0.5)",
    "M.Compose([M.CenterCrop(14), M.Normalize([0.5], [0.25], inplace=True)])",
    "M.Compose([M.Normalize([0.5], [0.25], inplace=True), M.Pad(0), M.RandomErasing(1.0, inplace=True)])",
    "Alone(M.Normalize([0.5], [0.25], inplace=True))",
)
ERASING = ("M.RandomErasing(1.0, value=7, inplace=True)", "M.RandomErasing(0.5, value=3)")
TO_FLOATS = {"pil": ("M.ToTensor()",), "bytes": ("M.ConvertImageDtype(torch.float32)",)}
TO_BYTES = ("M.PILToTensor()",)
OF_KIND = {"pil": (*BYTES, *PIL), "bytes": (*BYTES, *ERASING), "floats": FLOATS}


class Alone(nn.Module):
    """A module that calls another one, and can be looked into."""

    last = None

    def __init__(self, transform: Any) -> None:
        super().__init__()
        self.transform = transform

    def forward(self, image: Any) -> Any:
        image = self.transform(image)
        return image if self.last is None else self.last(image)


class Pairs:
    """Transforms one after the other, by a loop."""

    def __init__(self, transforms: list[Any]) -> None:
        self.named = dict(enumerate(transforms))

    def __call__(self, image: Any) -> Any:
        for transform in self.named.values():
            image = transform(image)
        return image


# ---- cases


@dataclass(frozen=True)
class Held:
    """A transform: its source, and whether of v2."""

    source: str
    sampled: bool = False

    def build(self, ours: bool) -> Any:
        package = (v2 if self.sampled else T) if ours else (TV2 if self.sampled else TV)
        return eval(self.source, {**globals(), "M": package, "V": T if ours else TV})


@dataclass(frozen=True)
class Case:
    """An object.

    Attributes:
        held: the transforms that it holds.
        calls: which of them is called with which value; call n makes value n + 1.
        result: as source, with values v0, v1, ...
        image: as source.
    """

    held: tuple[Held, ...]
    calls: tuple[tuple[int, int], ...]
    result: str
    image: str
    seed: int

    @property
    def encoded(self) -> bool:
        return self.image.startswith("encoded(")

    def source(self) -> str:
        lines = [f"        v{n} = self.held[{held}](v{value})" for n, (held, value) in enumerate(self.calls, 1)]
        call = "\n".join(["    def __call__(self, v0):", *lines, f"        return {self.result}"])
        built = ", ".join(one.source.replace("M.", "TV2." if one.sampled else "TV.") for one in self.held)
        return f"class Object:\n    held = [{built}]\n\n{call}"


IMAGES = (
    *("picture('RGB')",) * 4,
    *("picture('L')", "picture('P')", "picture('RGBA')", "picture('CMYK')", "opened('RGB', 'PNG')"),
    *("opened('RGB', 'JPEG')", "opened('P', 'PNG')", "opened('RGB', 'BMP')"),
    *("pixels()", "pixels()", "pixels(1)", "pixels()[None].to(memory_format=torch.channels_last)[0]", "pixels() / 255"),
    *("pixels()[:, ::2, 1:]", "(pixels() / 255).expand(3, -1, -1)"),
    *("encoded('RGB', 'PNG')", "encoded('RGB', 'JPEG')", "encoded('L', 'JPEG')", "encoded('P', 'GIF')"),
)


def content(channels: int = 3) -> np.ndarray:
    wave = np.indices((HEIGHT, WIDTH, channels)).astype(np.float64)
    noise = np.random.default_rng(5).normal(0, 20, (HEIGHT, WIDTH, channels))
    return np.clip(128 + 90 * np.sin(wave[0] / 3 + wave[2]) * np.cos(wave[1] / 4) + noise, 0, 255).astype(np.uint8)


def picture(mode: str) -> Image.Image:
    return Image.fromarray(content()).convert(mode)


def file_of(mode: str, name: str) -> bytes:
    file = io.BytesIO()
    picture(mode).save(file, name)
    return file.getvalue()


def opened(mode: str, name: str) -> Image.Image:
    return Image.open(io.BytesIO(file_of(mode, name)))


def encoded(mode: str, name: str) -> bytes:
    return file_of(mode, name)


def pixels(channels: int = 3) -> torch.Tensor:
    made = torch.from_numpy(content(channels)).permute(2, 0, 1).contiguous()
    return made if channels == 3 else made.clone()


def draw_case(number: int) -> Case:
    """The case of this number, the same on every machine."""
    rng = random.Random(f"views {number}")
    image = rng.choice(IMAGES)
    kinds = ["pil" if image[0] in "poe" and not image.startswith("pixels") else "floats" if "/" in image else "bytes"]
    palette = "'P'" in image and "encoded" not in image
    some_v2 = rng.random() < 0.4
    held: list[Held] = []
    by_kind: dict[tuple[str, str], list[int]] = {}
    calls = []
    for _ in range(rng.randint(1, 6)):
        value = rng.choice([0, len(kinds) - 1, rng.randrange(len(kinds))])
        kind = kinds[value]
        sampled = some_v2 and rng.random() < 0.7
        choice = rng.random()
        after = kind
        if choice < 0.2 and kind in TO_FLOATS and not sampled:
            source, after = rng.choice(TO_FLOATS[kind]), "floats"
        elif choice < 0.25 and kind == "pil":
            source, after = rng.choice(TO_BYTES), "bytes"
        elif choice < 0.4:
            source, sampled = rng.choice(FUNCTIONS), False
            if source == "writing" and (image.startswith("encoded(") or "expand" in image):
                source = "drawing"
        elif choice < 0.65 or (palette and kind == "pil"):
            source = rng.choice(ANY)
            if "writing" in source and (image.startswith("encoded(") or "expand" in image):
                source = "M.Pad(1)"
        else:
            source = rng.choice(OF_KIND[kind])
        known = by_kind.setdefault((kind, after), [])
        if known and rng.random() < 0.25:
            which = rng.choice(known)
        else:
            which = len(held)
            held.append(Held(source, sampled))
            known.append(which)
        calls.append((which, value))
        kinds.append(after)
    wanted = [f"v{n}" for n in range(1, len(kinds)) if n == len(kinds) - 1 or rng.random() < 0.6]
    if rng.random() < 0.15:
        wanted.append("v0")
    if rng.random() < 0.2:
        wanted.append(rng.choice(wanted))
    rng.shuffle(wanted)
    joined = ", ".join(wanted)
    result = rng.choice([f"[{joined}]", f"[{joined}]", f"({joined},)", "{'a': " + wanted[0] + f", 'all': [{joined}]}}"])
    if len(wanted) == 1 and rng.random() < 0.3:
        result = wanted[0]
    return Case(tuple(held), tuple(calls), result, image, rng.getrandbits(32))


# ---- running


def build(case: Case) -> Any:
    """The object."""
    namespace: dict[str, Any] = dict(globals())
    source = case.source().replace(case.source().splitlines()[1], "    pass")
    exec(source, namespace)
    made = namespace["Object"]()
    made.held = [one.build(ours=False) for one in case.held]
    return made


def compiled(case: Case) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is not read
        return fastaug.compile(build(case))


def program(case: Case) -> Any:
    """The calls, of fastaug's transforms."""
    held = [one.build(ours=True) for one in case.held]
    calls = [(held[which], value, n) for n, (which, value) in enumerate(case.calls, 1)]
    values = {f"v{n}": Value(n) for n in range(len(calls) + 1)}
    return fastaug.Views._of_calls(calls, eval(case.result, values))


def image_of(case: Case, ours: bool) -> Any:
    made = eval(case.image)
    if not case.encoded:
        return made
    return fastaug.io.lazy(made) if ours else Image.open(io.BytesIO(made)).convert("RGB")


@dataclass
class Outcome:
    result: Any
    error: Exception | None
    states: tuple[Any, ...]
    given: Any
    shared: list[tuple[int, ...]]


def leaves(result: Any) -> Iterator[Any]:
    if isinstance(result, (list, tuple)):
        for part in result:
            yield from leaves(part)
    elif isinstance(result, dict):
        yield from leaves(list(result.values()))
    else:
        yield result


def written(leaf: Any) -> None:
    if isinstance(leaf, Image.Image):
        leaf.paste(leaf.getpixel((0, 0)), (0, 0, 1, 1))
        value = leaf.getpixel((1, 1))
        leaf.putpixel((1, 1), value ^ 1 if isinstance(value, int) else (value[0] ^ 1, *value[1:]))
    elif isinstance(leaf, torch.Tensor):
        leaf[..., 1, 1] = 1 - leaf[..., 1, 1]


def sharing(result: Any, given: Any) -> list[tuple[int, ...]]:
    """For each leaf, those that are the same object, or that change when it is written to; -1 is what was given."""
    every = [given, *leaves(result)]
    found = []
    for one in every:
        alike = [n for n, other in enumerate(every, -1) if other is one]
        before = [snapshot(other) for other in every]
        try:
            written(one)
        except RuntimeError:
            continue  # an expanded tensor
        moved = [n for n, (other, old) in enumerate(zip(every, before), -1) if snapshot(other) != old]
        found.append((len(alike), *alike, *moved))
    return found


def run(call: Callable[[], Any], case: Case, ours: bool) -> Outcome:
    """Calls what `call` makes, with all that can be seen of it."""
    transform = call()
    given = image_of(case, ours)
    seed_all(case.seed)
    result, error = None, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = transform(given)
        except Exception as raised:
            error = raised
    states = torch.default_generator.get_state().tolist(), random.getstate(), numpy_state()
    before = None if ours and case.encoded else snapshot(given)
    seen = plain(result, given if ours and case.encoded else None)
    shared = [] if error is not None or case.encoded else sharing(result, given)
    return Outcome(seen, error, states, before, shared)


def plain(result: Any, handle: Any) -> Any:
    """A snapshot; a handle that was handed on is its image."""
    if isinstance(result, dict):
        return {key: plain(value, handle) for key, value in result.items()}
    if isinstance(result, (list, tuple)):
        return type(result)(plain(part, handle) for part in result)
    if isinstance(result, fastaug.io.LazyImage):
        return snapshot(Image.fromarray(np.asarray(result)))
    return snapshot(result)


def pickled(case: Case) -> Any:
    made = program(case)
    try:
        return pickle.loads(pickle.dumps(made))
    except (pickle.PicklingError, AttributeError):
        return copy.deepcopy(made)


WAYS: dict[str, Callable[[Case], Any]] = {"compiled": compiled, "program": program, "pickled": pickled}


def difference(case: Case) -> str | None:
    """What fastaug does differently from the object, in a line; None when all agree."""
    theirs = run(lambda: build(case), case, ours=False)
    for name, make in WAYS.items():
        found = _difference(run(lambda make=make: make(case), case, ours=True), theirs, case)  # type: ignore[misc]
        if found:
            return f"{name}: {found}"
    return _in_batches(case)


def _difference(ours: Outcome, theirs: Outcome, case: Case) -> str | None:
    if ours.error is not None or theirs.error is not None:
        if type(ours.error) is not type(theirs.error):
            return f"raised {ours.error!r}, the object {theirs.error!r}"
        return None
    if ours.result != theirs.result:
        one, other = list(leaves_of(ours.result)), list(leaves_of(theirs.result))
        if len(one) != len(other):
            return "another structure"
        index = next((n for n, (a, b) in enumerate(zip(one, other)) if a != b), None)
        return f"leaf {index} differs: {_head(one, index)}, {_head(other, index)}"
    if ours.states != theirs.states:
        return "the generators are left in other states"
    if case.encoded:
        return None
    if ours.given != theirs.given:
        return "what was given is different afterwards"
    if ours.shared != theirs.shared:
        return f"what is shared: {ours.shared}, the object {theirs.shared}"
    return None


def _head(parts: list[Any], index: int | None) -> str:
    return "structure" if index is None else str([part for part in parts[index] if not isinstance(part, bytes)])


def leaves_of(seen: Any) -> Iterator[Any]:
    """Snapshots, which are tuples that begin with a name."""
    if isinstance(seen, tuple) and seen and seen[0] in ("PIL", "tensor"):
        yield seen
    elif isinstance(seen, dict):
        yield from leaves_of(list(seen.values()))
    else:
        for part in seen:
            yield from leaves_of(part)


def _in_batches(case: Case) -> str | None:
    """Three images at a time, on two threads, are what calls give one after the other."""
    seed_all(case.seed)
    one, other = compiled(case), compiled(case)
    outcomes = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for go in (
            lambda images: [one(image) for image in images],
            lambda images: list(other.map(images, num_threads=2)),
        ):
            seed_all(case.seed)
            result, error = None, None
            try:
                result = go([image_of(case, ours=True) for _ in range(3)])
            except Exception as raised:
                error = raised
            seen = plain(result, None)
            outcomes.append((seen, type(error), torch.default_generator.get_state().tolist(), random.getstate()))
    (seen, error, *states), (mapped, failed, *others) = outcomes
    if error is not failed:
        return f"map: {failed}, calls {error}"
    if error is type(None) and seen != mapped:
        return "map: other results than calls"
    return "map: other states" if error is type(None) and states != others else None


# ---- making a failing case small


def smaller(case: Case) -> Iterator[Case]:
    """Simpler cases, the boldest first."""
    from dataclasses import replace

    count = len(case.calls)
    for dropped in range(count, 0, -1):
        if any(value == dropped for _, value in case.calls):
            continue
        kept = [n for n in range(1, count + 1) if n != dropped]
        number = {0: 0, **{old: new for new, old in enumerate(kept, 1)}}
        wanted = [f"v{number[n]}" for n in number if n and f"v{n}" in case.result]
        if kept and wanted:
            calls = tuple((which, number[value]) for which, value in (case.calls[n - 1] for n in kept))
            yield replace(case, calls=calls, result=f"[{', '.join(wanted)}]")
    for n in range(count + 1):
        names = [f"v{one}" for one in range(count + 1) if f"v{one}" in case.result and one != n]
        if f"v{n}" in case.result and names:
            yield replace(case, result=f"[{', '.join(names)}]")
    for index, (_, value) in enumerate(case.calls):
        # One that goes past another.
        if value and case.calls[value - 1][1] != value:
            calls = (*case.calls[:index], (case.calls[index][0], case.calls[value - 1][1]), *case.calls[index + 1 :])
            yield replace(case, calls=calls)


def shrink(case: Case, attempts: int = 100) -> Case:
    """A smaller case that still fails."""
    return shrunk(case, smaller, difference, attempts)


def check(number: int) -> str:
    """Runs a case: '' when all do the same, else what differs and the object."""
    case = draw_case(number)
    if difference(case) is None:
        return ""
    small = shrink(case)
    return f"# views {number}: {difference(small)}\n# {small.image}, seed {small.seed}\n{small.source()}\n{small!r}"
