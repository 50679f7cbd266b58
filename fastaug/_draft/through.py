"""From one transform to the next: how each is drafted, and which ones are called with an image instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torch import nn
from torch.nn.modules import module as _module

from fastaug._draft.draft import Draft
from fastaug._names import is_ours
from fastaug._program.ops import MAX_OPS

#: How the transforms of a class are drafted, as functions of a transform and a draft: what is done to the image before
#: parameters are drawn, if anything is; what draws them, if there are any, and touches no pixels; and what appends the
#: ops for given parameters, and draws nothing.
Step = tuple[Callable[[Any, Draft], None] | None, Callable[[Any, Draft], Any] | None, Callable[[Any, Draft, Any], None]]

# Hooks on all modules, which a draft would pass by. torch changes these dictionaries in place.
global_pre_hooks = _module._global_forward_pre_hooks
global_hooks = _module._global_forward_hooks

# Ops before a draft is done so far. A transform drafts few, so a program stays below the native core's limit.
MAX_DRAFT = MAX_OPS // 2

# How each class of transforms is drafted; None for those that are called with an image.
_steps: dict[type, Step | None] = {}


def step_of(cls: type) -> Step | None:
    """That of a class of this package, or of a subclass that does not override what calling it does."""
    step: Step | None = None
    for owner in cls.__mro__:
        if "_draft" in owner.__dict__:
            ours = is_ours(owner)
            call = "forward" if issubclass(cls, nn.Module) else "__call__"
            if ours and getattr(cls, call) is getattr(owner, call):
                sample = cls._sample if getattr(cls, "_drawn", ()) else None  # type: ignore[attr-defined]
                step = owner.__dict__.get("_before_drawing"), sample, owner.__dict__["_draft"]
            if issubclass(cls, nn.Module) and cls.__call__ is not nn.Module.__call__:
                step = None
            break
    if cls is nn.Sequential:
        step = None, None, _draft_sequential
    _steps[cls] = step
    return step


def _draft_sequential(sequential: Any, draft: Draft, params: None) -> None:
    draft_through(sequential._modules.values(), draft)


def draft_through(transforms: Iterable[Any], draft: Draft) -> None:
    """Drafts one transform after the other.

    One that cannot be drafted is called with the image so far, and its result is drafted further.
    """
    log, tape = draft.call.log, draft.call.tape
    for transform in transforms:
        cls = type(transform)
        step = _steps[cls] if cls in _steps else step_of(cls)
        if log is not None:
            log.begin(transform, draft)
        if step is None or _hooked(transform.__dict__):
            if log is not None:
                log.barrier(transform, draft)
            draft.reset(transform(draft.finish()))
        else:
            if tape is None:
                prepare, sample, do = step
                if prepare is not None:
                    prepare(transform, draft)
                do(transform, draft, None if sample is None else sample(transform, draft))
            else:
                draft.take(transform, step)
            if len(draft.ops) > MAX_DRAFT:
                draft.shorten()
        if log is not None:
            log.end(transform, draft)


def _hooked(own: dict[str, Any]) -> Any:
    """Whether a user hung something onto this module, or onto all modules, that wants to see images."""
    return (
        own.get("_forward_hooks")
        or own.get("_forward_pre_hooks")
        or "forward" in own
        or global_pre_hooks
        or global_hooks
    )
