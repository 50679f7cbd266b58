"""From one transform to the next: how each is drafted, and which ones are called with an image instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from torch import nn

from fastaug._draft import written
from fastaug._draft.draft import Draft
from fastaug._draft.tape import called
from fastaug._draft.written import global_hooks, global_pre_hooks
from fastaug._names import is_ours
from fastaug._program.ops import MAX_OPS

#: Three functions that draft the transforms of a class. The first, if any, changes the image before parameters are
#: drawn. The second, if any, draws them and touches no pixels. The third appends the ops for them and draws nothing.
Step = tuple[
    Callable[[Any, Draft, Any], None] | None, Callable[[Any, Draft], Any] | None, Callable[[Any, Draft, Any], None]
]

# Ops before a draft is done so far. A transform drafts few, so a program stays below the native core's limit.
MAX_DRAFT = MAX_OPS // 2

# For each class its step, and the check that an object takes it. None for a class that is called with an image.
_steps: dict[type, tuple[Step, Callable[[Any], bool]] | None] = {}


def know(cls: type) -> None:
    """Find the step of a class. Call this for a class of this package before user code can change it."""
    owner = _owner_of(cls)
    if owner is None:
        _steps[cls] = None
        return
    sample = cls._sample if getattr(cls, "_drawn", ()) else None  # type: ignore[attr-defined]
    step = vars(owner).get("_before_drawing"), sample, vars(owner)["_draft"]
    _steps[cls] = step, written.check_of(cls, owner)


def _owner_of(cls: type) -> type | None:
    """Return the class of this package that drafts the transforms of a class, or None."""
    owner = next((base for base in cls.__mro__ if "_draft" in vars(base)), None)
    return owner if owner is not None and is_ours(owner) else None


def step_of(transform: Any) -> Step | None:
    """Return the step of a transform, or None if it is called with an image."""
    cls = type(transform)
    if cls not in _steps:
        know(cls)
    found = _steps[cls]
    if found is None or not found[1](transform):
        return None
    return None if (global_hooks or global_pre_hooks) and isinstance(transform, nn.Module) else found[0]


def replaced(cls: type) -> str | None:
    """Return the name of the method that user code has replaced in a class that is drafted otherwise, or None."""
    owner = nn.Sequential if cls is nn.Sequential else _owner_of(cls)
    return None if owner is None else next(iter(written.other_methods(cls, owner)), None)


def _draft_sequential(sequential: Any, draft: Draft, params: None) -> None:
    draft_through(sequential._modules.values(), draft)


_steps[nn.Sequential] = (None, None, _draft_sequential), written.check_of(nn.Sequential, nn.Sequential)


def draft_through(transforms: Iterable[Any], draft: Draft) -> None:
    """Draft one transform after the other.

    One that cannot be drafted is called with the image so far, and its result is drafted further.
    """
    log, tape = draft.call.log, draft.call.tape
    if draft.call.traced and log is None and tape is None and draft.call.draws.generator is None:
        # Nothing is gained from drafting, and Dynamo follows calls.
        for transform in transforms:
            draft.reset(transform(draft.handed()))
        return
    for transform in transforms:
        step = step_of(transform)
        if log is not None:
            log.begin(transform, draft)
        if step is None:
            if log is not None:
                log.barrier(transform, draft)
            image = draft.handed()
            draft.reset(transform(image) if tape is None else called(tape, transform, partial(transform, image)))
        else:
            draft.take(transform, step)
            if draft.core.count > MAX_DRAFT:
                draft.shorten()
        if log is not None:
            log.end(transform, draft)
