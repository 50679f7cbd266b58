"""Runs a transform of transforms.v2 on a sample, and compares all that can be seen of it with torchvision's run."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from PIL import Image
from torch.utils._pytree import TreeSpec, tree_flatten
from torchvision import tv_tensors as tvt

from support.outcomes import close, explain, numpy_state, seed_all, snapshot, state_difference, stride_difference


@dataclass
class V2Outcome:
    """What a call did: its result or exception, the inputs as it left them, its warnings, and the generators' states.

    `came_from`: for each leaf of the result the place of the input that it is, the very object, or None. `aliases`:
    for each leaf, whether its memory is that of an input. `handed`: for each input, whether it came back as it is, with
    its containers; for one input alone, whether it is the result.
    """

    leaves: list[Any]
    structure: TreeSpec | None
    error: Exception | None
    came_from: list[int | None]
    aliases: list[bool]
    handed: list[bool]
    inputs: list[Any]
    warned: list[type[Warning]]
    states: dict[str, Any]


def run_v2(call: Callable[..., Any], inputs: tuple[Any, ...], seed: int = 0) -> V2Outcome:
    """Calls `call` on the inputs themselves, with all generators seeded."""
    given, _ = tree_flatten(inputs)
    leaves: list[Any] = []
    value, structure, error = None, None, None
    seed_all(seed)
    always = torch.is_warn_always_enabled()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.set_warn_always(True)
        try:
            value = call(*inputs)
            leaves, structure = tree_flatten(value)
        except Exception as raised:  # the exception is part of the outcome
            error = raised
        finally:
            torch.set_warn_always(always)
    states = {"torch": torch.get_rng_state(), "python": random.getstate(), "numpy": numpy_state()}
    place = {id(leaf): index for index, leaf in reversed(list(enumerate(given)))}
    memory = {storage_of(leaf) for leaf in given} - {None, 0}
    results = value if len(inputs) > 1 and isinstance(value, tuple) else (value,)
    return V2Outcome(
        leaves,
        structure,
        error,
        [place.get(id(leaf)) for leaf in leaves],
        [storage_of(leaf) in memory for leaf in leaves],
        [any(one is item for item in results) for one in inputs],
        given,
        # torchvision's JPEG is deprecated together with its encoder, which is not used here.
        sorted({record.category for record in caught} - {DeprecationWarning}, key=str),
        states,
    )


def storage_of(leaf: Any) -> int | None:
    if not isinstance(leaf, torch.Tensor):
        return None
    with torch._C.DisableTorchFunctionSubclass():
        return int(leaf.untyped_storage().data_ptr())


def v2_difference(
    ours: V2Outcome, theirs: V2Outcome, *, exact: bool = True, strides: bool = True, planar: bool = False
) -> str | None:
    """How two outcomes differ, in a line; None when they do not.

    Without `exact`, floats of images, videos and plain tensors may differ by FLOAT_TENSOR; masks, boxes and points may
    not. Without `strides`, axes may lie in memory in any order; with `planar`, floats plane by plane, as they are
    written of PIL images, where torchvision's have the channels of a pixel side by side.
    """
    if "INTERNAL ASSERT FAILED" in str(theirs.error):
        return None  # a mistake of torch's own: it resizes no three contiguous channels to a single pixel
    if "refers to a single memory location" in str(theirs.error):
        return None  # nor does it write to what torchvision's Grayscale(3) gives, whose channels share their memory
    if ours.error is not None or theirs.error is not None:
        if type(ours.error) is not type(theirs.error):
            return f"{told(ours)}, torchvision {told(theirs)}"
        return state_difference(ours.states, theirs.states)
    if ours.structure != theirs.structure:
        return f"structure {ours.structure}, torchvision {theirs.structure}"
    for index, (one, other) in enumerate(zip(ours.leaves, theirs.leaves)):
        floats = isinstance(one, torch.Tensor) and one.is_floating_point() and one.is_contiguous()
        ordered = strides and not (planar and floats)
        if (found := leaf_difference(one, other, exact=exact, strides=ordered)) is not None:
            return f"leaf {index}: {found}"
        if ours.came_from[index] != theirs.came_from[index]:
            return f"leaf {index} is input {ours.came_from[index]}, torchvision {theirs.came_from[index]}"
        if ours.aliases[index] and not theirs.aliases[index]:
            return f"leaf {index} is in the memory of an input, torchvision's is not"
    if ours.handed != theirs.handed:
        return f"inputs that came back as they are: {ours.handed}, torchvision {theirs.handed}"
    for index, (one, other) in enumerate(zip(ours.inputs, theirs.inputs)):
        if (found := leaf_difference(one, other, exact=exact, strides=False)) is not None:
            return f"input {index} afterwards: {found}"
    if ours.warned != theirs.warned:
        return f"warnings {ours.warned}, torchvision {theirs.warned}"
    return state_difference(ours.states, theirs.states)


def told(outcome: V2Outcome) -> str:
    return repr(outcome.error) if outcome.error is not None else f"gave {[kind(leaf) for leaf in outcome.leaves]}"


def kind(leaf: Any) -> str:
    shape = f"{tuple(leaf.shape)}" if isinstance(leaf, torch.Tensor) else ""
    return type(leaf).__name__ + shape


def leaf_difference(ours: Any, theirs: Any, *, exact: bool = True, strides: bool = True) -> str | None:
    """How two leaves differ, in a line: class, numbers, dtype, shape, order of the axes, metadata."""
    if type(ours) is not type(theirs):
        return f"{type(ours)} and {type(theirs)}"
    if isinstance(theirs, torch.Tensor):
        if vars(ours) != vars(theirs):
            return f"metadata {vars(ours)} and {vars(theirs)}"
        one, other = (leaf.detach().as_subclass(torch.Tensor) for leaf in (ours, theirs))
        if one.requires_grad != other.requires_grad or one.device != other.device:
            return "another device or gradient"
        placed = isinstance(theirs, (tvt.Mask, tvt.BoundingBoxes, tvt.KeyPoints))
        return tensor_difference(one, other, exact=exact or placed, strides=strides)
    if isinstance(theirs, Image.Image) and snapshot(ours) == snapshot(theirs) and ours.info != theirs.info:
        return f"info {ours.info} and {theirs.info}"
    return None if snapshot(ours) == snapshot(theirs) else explain(ours, theirs)


def tensor_difference(ours: torch.Tensor, theirs: torch.Tensor, *, exact: bool, strides: bool) -> str | None:
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"{ours.dtype}{tuple(ours.shape)} and {theirs.dtype}{tuple(theirs.shape)}"
    if not theirs.is_floating_point():
        if not torch.equal(ours, theirs):
            return explain(ours, theirs)
    elif exact:
        # NaN is no difference from NaN, nor 0.0 from -0.0.
        lost = [one.isnan() for one in (ours, theirs)]
        if not torch.equal(*lost) or not torch.equal(ours.masked_fill(lost[0], 0), theirs.masked_fill(lost[1], 0)):
            return explain(ours, theirs)
    elif not close(ours, theirs):
        return explain(ours, theirs)
    return stride_difference(ours, theirs) if strides else None


def assert_same_v2(
    make: Callable[[Any], Callable[..., Any]],
    packages: tuple[Any, Any],
    sample: Callable[[], tuple[Any, ...]],
    seed: int = 0,
    **options: bool,
) -> V2Outcome:
    """Builds the transform of both packages, runs each on a sample of its own, and compares; gives torchvision's."""
    ours, theirs = (run_v2(make(package), sample(), seed) for package in packages)
    assert theirs.error is None or ours.error is not None, f"torchvision raises {theirs.error!r}"
    found = v2_difference(ours, theirs, **options)
    if found is not None:
        raise AssertionError(f"seed {seed}: {found}") from ours.error
    return theirs
