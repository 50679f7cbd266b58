"""Random arguments, odd ones among them, for every function and class: torchvision's outcome, and fastaug's.

A case is a call of a function of `functional`, of a class and then of the transform, or of a class's `get_params`. Its
arguments begin as what such a call usually gets; then some are replaced by values of any type. It is Python source, so
that a failing case is a script as it stands.
"""

from __future__ import annotations

import inspect
import random
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug
import fastaug.transforms as T
from argument_values import ENDLESS, IMAGES, NAMES, ODD, OF_TENSORS, USUAL, USUAL_OF
from shrinking import shrunk
from support.outcomes import numpy_state, seed_all, snapshot
from tables.tolerances import FLOAT_TENSOR

# ---- cases


_FIRST = ("img", "pic", "image", "tensor", "orig_img")


def _targets() -> dict[str, tuple[str, ...]]:
    """Every call that there is, and the names of its parameters behind the image."""
    found: dict[str, tuple[str, ...]] = {}
    for name in TV.functional.__dict__:
        value = getattr(TV.functional, name)
        if hasattr(T.functional, name) and inspect.isfunction(value):
            found[f"F.{name}"] = tuple(inspect.signature(value).parameters)[1:]
    for name in (*TV.transforms.__all__, *TV.autoaugment.__all__):
        value = getattr(TV, name)
        if not issubclass(value, Enum):
            found[f"T.{name}"] = tuple(inspect.signature(value).parameters)
            if hasattr(value, "get_params"):
                names = tuple(inspect.signature(value.get_params).parameters)
                found[f"T.{name}.get_params"] = names[1:] if names[0] in _FIRST else names
    return found


TARGETS = _targets()
TENSORS = [image for image in IMAGES if "_of(" in image and "numpy" not in image]
#: How a transform is called.
WAYS = ("alone", "alone", "alone", "in a Compose", "compiled", "compiled from torchvision", "behind ToTensor")


@dataclass(frozen=True)
class Case:
    target: str
    arguments: tuple[tuple[str, str], ...]
    image: str
    way: str
    seed: int

    @property
    def source(self) -> str:
        """A call on `x`; for a class, of the class alone."""
        given = [f"{name}={value}" for name, value in self.arguments]
        return f"{self.target}({', '.join([*['x'] * self._takes_image, *given])})"

    @property
    def _takes_image(self) -> bool:
        if self.target.endswith("get_params"):
            owner = getattr(TV, self.target.split(".")[1])
            return next(iter(inspect.signature(owner.get_params).parameters)) in _FIRST
        return self.target.startswith("F.")

    @property
    def makes_transform(self) -> bool:
        return self.target.startswith("T.") and not self.target.endswith("get_params")

    def __str__(self) -> str:
        text = self.source
        return f"{text}, {self.way}, of {self.image}" if self.makes_transform else f"{text} of {self.image}"


def draw_case(number: int) -> Case:
    """The case of this number, the same on every machine. Consecutive numbers are of different targets."""
    rng = random.Random(number)
    target = list(TARGETS)[number % len(TARGETS)]
    names = [name for name in TARGETS[target] if rng.random() < 0.6 or name not in _optional(target)]
    given = {name: rng.choice(USUAL_OF.get((target, name)) or USUAL[name]) for name in names}
    odd = rng.choice([0, 0, 1, 1, 1, 1, 2, 2, len(TARGETS[target])])
    for name in rng.sample(TARGETS[target], min(odd, len(TARGETS[target]))):
        given[name] = rng.choice(ODD)
    endless = "symmetric" in str(given.values())
    for name, value in given.items():
        if "**" in value and (endless or name in ENDLESS):
            given[name] = "-1"
        if name == "fill" and value.startswith(("iter", "'", "b'", "bytearray", "memoryview")):
            # An iterator is a fill for one call alone; a word means one number to Pillow, and several to torch.
            given[name] = "-1"
        if "np.uint" in value and (target in ("F.crop", "F.resized_crop") or "padding_mode" in given):
            given[name] = "-1"  # NumPy's sums of them wrap around, and torchvision's boxes and np.pad's with them
        if value.startswith("-") and target == "F.resized_crop" and name in ("left", "top"):
            given[name] = "-1"  # of a box beyond the border torchvision cuts another one out of a tensor
    order = {name: given[name] for name in TARGETS[target] if name in given}
    takes_tensors = target.split(".")[1] in OF_TENSORS and rng.random() < 0.7
    image, way = rng.choice(TENSORS if takes_tensors else IMAGES), rng.choice(WAYS)
    return Case(target, tuple(order.items()), image, way, rng.randrange(1000))


def _optional(target: str) -> set[str]:
    owner: Any = TV
    for name in target.split("."):
        owner = {"F": TV.functional, "T": TV}[name] if owner is TV and name in "FT" else getattr(owner, name)
    parameters = inspect.signature(owner).parameters.values()
    return {parameter.name for parameter in parameters if parameter.default is not parameter.empty}


# ---- running


@dataclass
class Outcome:
    """What was seen of a call, up to the error if there was one."""

    seen: dict[str, Any]
    error: Exception | None
    warned: list[type[Warning]]
    states: tuple[Any, ...]


def outcome(case: Case, package: Any, image: Any) -> Outcome:
    names = {**NAMES, "T": package, "F": package.functional}
    seen: dict[str, Any] = {}
    error = None
    given = eval(image, names) if isinstance(image, str) else image
    call = compile(case.source, "case", "eval")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        always = torch.is_warn_always_enabled()
        torch.set_warn_always(True)
        seed_all(case.seed)
        try:
            if case.makes_transform:
                transform = eval(call, names)
                seen["attributes"] = attributes_of(transform)
                seen["repr"] = repr_of(transform)
                if case.way == "compiled from torchvision":
                    transform = eval(call, {**NAMES, "T": TV, "F": TV.functional})
                seen["result"] = wrapped(transform, case.way, package)(given)
            else:
                seen["result"] = eval(call, {**names, "x": given})
        except Exception as raised:
            error = raised
        finally:
            torch.set_warn_always(always)
    states = torch.get_rng_state().numpy().tobytes(), random.getstate(), numpy_state()
    seen["image"] = given
    return Outcome(seen, error, [record.category for record in caught], states)


def wrapped(transform: Any, way: str, package: Any) -> Callable[[Any], Any]:
    if way == "in a Compose":
        return package.Compose([transform])  # type: ignore[no-any-return]
    if way == "behind ToTensor":
        return package.Compose([package.ToTensor(), transform])  # type: ignore[no-any-return]
    if way.startswith("compiled") and package is T:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where there is nothing to compile
            return fastaug.compile(transform)
    return transform  # type: ignore[no-any-return]


def repr_of(transform: Any) -> str:
    """The repr, or the type of the error that it raises."""
    try:
        return shown(transform)
    except Exception as error:
        return type(error).__name__


def attributes_of(transform: Any) -> dict[str, str]:
    """What users find in `vars`."""
    own = vars(transform)
    return {name: shown(value) for name, value in own.items() if not name.startswith("_") and name != "training"}


def shown(value: Any) -> str:
    return re.sub(" at 0x[0-9a-fA-F]+", "", f"{type(value).__name__} {value!r}")


# ---- comparing


def difference(case: Case) -> str:
    """How the outcomes differ, in a line; '' when they do not."""
    ours = outcome(case, T, case.image)
    theirs = [outcome(case, TV, image) for image in references(case.image)]
    found = [one_difference(ours, other) for other in theirs]
    return "" if "" in found else found[0]


def references(image: str) -> Iterator[Any]:
    """What torchvision is given in the place of an image; one of these outcomes has to be ours.

    Arrays are images here, and there in no function but two.
    """
    yield image
    value = eval(image, NAMES)
    if isinstance(value, np.ndarray):
        yield torch.from_numpy(np.moveaxis(value, 2, 0) if value.ndim == 3 else value)
        if value.ndim in (2, 3):
            yield as_pil(value.astype(np.uint8))


def as_pil(pixels: np.ndarray) -> Image.Image:
    if pixels.ndim == 3 and pixels.shape[2] == 4:
        # No band is alpha.
        return Image.frombytes("CMYK", pixels.shape[1::-1], pixels.tobytes())
    single = pixels.ndim == 3 and pixels.shape[2] == 1
    return Image.fromarray(np.ascontiguousarray(pixels[:, :, 0] if single else pixels))


def one_difference(ours: Outcome, theirs: Outcome) -> str:
    if not isinstance(ours.error, type(theirs.error)):
        return f"{told(ours)}; torchvision: {told(theirs)}"
    for name in ("attributes", "repr", "result", "image"):
        if name not in theirs.seen and name not in ours.seen:
            continue
        if name == "image" and type(ours.seen[name]) is not type(theirs.seen[name]):
            continue
        if not alike(ours.seen.get(name), theirs.seen.get(name)):
            return f"{name}: {ours.seen.get(name)!r}; torchvision: {theirs.seen.get(name)!r}"
    if ours.error is None and set(ours.warned) != set(theirs.warned):
        return f"warnings: {ours.warned}; torchvision: {theirs.warned}"
    for name, one, other in zip(("torch", "python", "numpy"), ours.states, theirs.states):
        if one != other:
            return f"{name}'s generator was left in another state"
    return ""


def told(outcome: Outcome) -> str:
    if outcome.error is not None:
        return f"{type(outcome.error).__name__}: {outcome.error}"
    return f"gave {outcome.seen['result']!r}"


def alike(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, (tuple, list)) and isinstance(theirs, (tuple, list)):
        return type(ours) is type(theirs) and len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(theirs, Image.Image) and isinstance(ours, (torch.Tensor, np.ndarray)):
        samples = torch.from_numpy(np.atleast_3d(np.array(theirs)))
        theirs = samples.permute(2, 0, 1) if isinstance(ours, torch.Tensor) else samples.numpy()
        ours, theirs = (value.reshape(-1) for value in (ours, theirs))
    if isinstance(ours, torch.Tensor) and isinstance(theirs, torch.Tensor):
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
            return False
        if ours.is_complex():
            ours, theirs = torch.view_as_real(ours), torch.view_as_real(theirs)
        if ours.is_floating_point():
            limit = FLOAT_TENSOR if ours.dtype in (torch.float32, torch.float64) else 2e-3
            finite = theirs[theirs.isfinite()].abs().double()
            scale = max(1.0, finite.max().item() if finite.numel() else 1.0)
            return torch.allclose(ours.double(), theirs.double(), rtol=0, atol=limit * scale, equal_nan=True)
    try:
        return bool(snapshot(ours) == snapshot(theirs)) or shown(ours) == shown(theirs)
    except Exception:
        return shown(ours) == shown(theirs)


def simpler(case: Case) -> Iterator[Case]:
    """Every way of leaving one argument out, or of taking a usual one in its place."""
    for index, (name, value) in enumerate(case.arguments):
        before, after = case.arguments[:index], case.arguments[index + 1 :]
        if name in _optional(case.target):
            yield replace(case, arguments=(*before, *after))
        usual = USUAL_OF.get((case.target, name)) or USUAL[name]
        if value not in usual:
            yield replace(case, arguments=(*before, (name, usual[0]), *after))
    if case.way != "alone":
        yield replace(case, way="alone")


def shrink(case: Case) -> Case:
    """A simpler case that still fails."""
    return shrunk(case, simpler, difference)


def check(number: int) -> str:
    """Runs a case: '' when both packages do the same, else the call and both outcomes."""
    case = draw_case(number)
    if not difference(case):
        return ""
    small = shrink(case)
    return f"arguments {number}: {small}\n{difference(small)}"
