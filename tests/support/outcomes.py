"""Runs a transform the way a user would and compares all that can be seen of it with torchvision's run."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from PIL import Image

from tables.tolerances import FLOAT_TENSOR


@dataclass
class Outcome:
    """What a call did: its result or exception, its warnings, and the random generators it left behind."""

    value: Any
    error: Exception | None
    warned: list[tuple[type[Warning], str]]
    torch_state: torch.Tensor
    python_state: object
    numpy_state: tuple[bytes, int]
    same_object: bool

    @property
    def states(self) -> dict[str, Any]:
        return {"torch": self.torch_state, "python": self.python_state, "numpy": self.numpy_state}


def snapshot(value: Any) -> Any:
    """A value that is equal exactly when the pixels, type, shape, mode and palette are."""
    if isinstance(value, Image.Image):
        return (
            "PIL",
            value.mode,
            value.size,
            value.tobytes(),
            value.getpalette() if value.mode in ("P", "PA") else None,
        )
    if isinstance(value, torch.Tensor):
        raw = value.detach().contiguous().flatten().view(torch.uint8).numpy()
        return ("tensor", str(value.dtype), tuple(value.shape), raw.tobytes())
    if isinstance(value, np.ndarray):
        return ("ndarray", str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, *(snapshot(item) for item in value))
    return value


def clone(value: Any) -> Any:
    """A copy in the same container, so that a transform cannot reach the test's own input."""
    if isinstance(value, torch.Tensor):
        return value.clone(memory_format=torch.preserve_format)
    return value.copy() if isinstance(value, (np.ndarray, Image.Image)) else value


def seed_all(seed: int) -> None:
    """Seeds the generators of torch, Python and numpy."""
    torch.default_generator.manual_seed(seed)  # torch.manual_seed writes a traceback down for every device
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - the global generator is what users' code draws from


def numpy_state() -> tuple[bytes, int]:
    _, words, position, *_ = np.random.get_state()  # noqa: NPY002
    return words.tobytes(), position


def run(call: Callable[[Any], Any], value: Any, seed: int = 0, *, untouched: bool = False) -> Outcome:
    """Calls `call` on a copy of `value` with all generators seeded; fails when the copy was written to.

    `untouched` passes `value` itself, unread: for files that Pillow opens lazily.
    """
    given = value if untouched else clone(value)
    before = None if untouched else snapshot(given)
    seed_all(seed)
    result, error = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(given)
        except Exception as raised:  # the exception is part of the outcome
            error = raised
    assert untouched or snapshot(given) == before, "the input was modified"
    said = [(record.category, str(record.message)) for record in caught]
    # Pillow 11.3 says so of calls by older torchvisions' ToPILImage.
    warned = [(category, text) for category, text in said if not text.startswith("'mode' parameter is deprecated")]
    states = torch.get_rng_state(), random.getstate(), numpy_state()
    return Outcome(result, error, warned, *states, result is given)


def explain(ours: Any, theirs: Any) -> str:
    """How two results differ, in a line."""
    if type(ours) is not type(theirs):
        return f"types {type(ours)} and {type(theirs)}: {ours!r} and {theirs!r}"
    if isinstance(ours, (tuple, list)) and len(ours) == len(theirs):
        return next((explain(a, b) for a, b in zip(ours, theirs) if snapshot(a) != snapshot(b)), "equal")
    if isinstance(ours, Image.Image) and (ours.mode, ours.size) != (theirs.mode, theirs.size):
        return f"{ours.mode} {ours.size} and {theirs.mode} {theirs.size}"
    if isinstance(ours, (Image.Image, torch.Tensor, np.ndarray)):
        if isinstance(ours, torch.Tensor) and ours.dtype != theirs.dtype:
            return f"{ours.dtype} and {theirs.dtype}"
        a, b = (v.detach().double().numpy() if isinstance(v, torch.Tensor) else np.asarray(v) for v in (ours, theirs))
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{a.shape} and {b.dtype}{b.shape}"
        if a.dtype == bool:
            a, b = a.astype(np.uint8), b.astype(np.uint8)
        off = np.argwhere(a != b)
        if len(off) == 0:
            return "equal pixels, but another palette or bit pattern"
        first = tuple(int(index) for index in off[0])
        worst = np.abs(a.astype(np.float64) - b.astype(np.float64)).max()
        return f"{len(off)} of {a.size} values differ, by up to {worst:g}; first at {first}: {a[first]} and {b[first]}"
    return f"{ours!r} and {theirs!r}"


def close(ours: Any, theirs: Any) -> bool:
    """Whether tensors, or all in tuples and lists, differ by FLOAT_TENSOR at most, times the largest number above 1."""
    if isinstance(ours, (tuple, list)):
        return len(ours) == len(theirs) and all(close(a, b) for a, b in zip(ours, theirs))
    if not isinstance(ours, torch.Tensor) or ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    finite = theirs[theirs.isfinite()].abs()
    scale = max(1.0, finite.max().item() if finite.numel() else 1.0)
    return torch.allclose(ours, theirs, rtol=0, atol=FLOAT_TENSOR * scale, equal_nan=True)


def stride_difference(ours: Any, theirs: Any) -> str | None:
    """Axes lie in memory in torchvision's order: where it gives a view of what it made, ours may be of other memory."""
    if not isinstance(theirs, torch.Tensor) or theirs.numel() == 0:
        return None
    kept = [axis for axis, size in enumerate(theirs.shape) if size > 1]
    orders = [sorted(kept, key=lambda axis: -tensor.stride(axis)) for tensor in (ours, theirs)]
    same = ours.is_contiguous() == theirs.is_contiguous() or not theirs.is_contiguous()
    return None if same and orders[0] == orders[1] else f"strides {ours.stride()}, torchvision {theirs.stride()}"


def state_difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str | None:
    """How the states of the random generators, by name, differ."""
    for name, one in ours.items():
        if not (torch.equal(one, theirs[name]) if name == "torch" else one == theirs[name]):
            return f"{name}'s generator was left in another state"
    return None


def assert_same(ours: Outcome, theirs: Outcome, *, message: bool = False, identity: bool = True) -> None:
    """Same result, warnings and generator states; or the same exception type (and text, if `message`)."""
    if theirs.error is not None or ours.error is not None:
        if theirs.error is None:
            raise AssertionError(f"torchvision succeeds, fastaug raised {ours.error!r}") from ours.error
        assert ours.error is not None, f"torchvision raises {theirs.error!r}, fastaug gave {ours.value!r}"
        assert type(ours.error) is type(theirs.error), f"{ours.error!r}, torchvision {theirs.error!r}"
        if message:
            assert str(ours.error) == str(theirs.error)
        return
    assert snapshot(ours.value) == snapshot(theirs.value), explain(ours.value, theirs.value)
    found = state_difference(ours.states, theirs.states)
    assert found is None, found
    assert ours.warned == theirs.warned
    if identity:
        assert ours.same_object == theirs.same_object, (
            "torchvision hands back the input object" * theirs.same_object
            or ("the input object came back; torchvision makes a new one")
        )


def assert_parity(
    make: Callable[[Any], Callable[[Any], Any]], ours: Any, theirs: Any, value: Any, seed: int = 0, **options: bool
) -> None:
    """Builds the transform from both packages and compares their runs on `value`."""
    assert_same(run(make(ours), value, seed), run(make(theirs), value, seed), **options)
