"""From one transform to the next: how each is drafted, and which ones are called with an image instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from torch import nn
from torch.nn.modules import module as _module

from fastaug._draft.draft import Draft
from fastaug._draft.tape import called
from fastaug._names import is_ours
from fastaug._program.ops import MAX_OPS

#: How the transforms of a class are drafted, as functions of a transform and a draft: what is done to the image before
#: parameters are drawn, if anything is; what draws them, if there are any, and touches no pixels; and what appends the
#: ops for given parameters, and draws nothing.
Step = tuple[Callable[[Any, Draft], None] | None, Callable[[Any, Draft], Any] | None, Callable[[Any, Draft, Any], None]]


#: What is known of a class of transforms: its step, None if it is called with an image; its own `forward`, None if it
#: is no class of modules; and its own `__call__`. Users may put others in the place of these two.
Known = tuple[Step | None, Any, Any]


# Hooks on all modules, which a draft would pass by. torch changes these dictionaries in place.
global_pre_hooks = _module._global_forward_pre_hooks
global_hooks = _module._global_forward_hooks

# Ops before a draft is done so far. A transform drafts few, so a program stays below the native core's limit.
MAX_DRAFT = MAX_OPS // 2

_known: dict[type, Known] = {}

_module_call = nn.Module.__call__


def know(cls: type) -> Known:
    """A class of transforms, as it is now. A class that is drafted has to come here before a user can change it."""
    found: Known = None, None, None
    is_module = issubclass(cls, nn.Module)
    name = "forward" if is_module else "__call__"
    owner = next((base for base in cls.__mro__ if "_draft" in base.__dict__), None)
    if owner is not None and is_ours(owner) and _definer(cls, name) is _definer(owner, name):
        origin = found if owner is cls else _known.get(owner) or know(owner)
        sample = cls._sample if getattr(cls, "_drawn", ()) else None  # type: ignore[attr-defined]
        step = owner.__dict__.get("_before_drawing"), sample, owner.__dict__["_draft"]
        if is_module:
            forward = owner.forward if owner is cls else origin[1]  # type: ignore[attr-defined]
            if _definer(cls, "__call__") is nn.Module:
                found = step, forward, _module_call
        else:
            found = step, None, owner.__call__ if owner is cls else origin[2]
    _known[cls] = found
    return found


def known(cls: type) -> Known:
    """What is known of a class of transforms."""
    return _known.get(cls) or know(cls)


def _definer(cls: type, name: str) -> type | None:
    return next((base for base in cls.__mro__ if name in base.__dict__), None)


def step_of(cls: type) -> Step | None:
    """That of a class of this package, or of a subclass that does not override what calling it does."""
    step, _, _ = known(cls)
    return None if replaced(cls) else step


def replaced(cls: type) -> str | None:
    """What a user has put another function in the place of, if the class is one that is drafted otherwise."""
    step, forward, call = known(cls)
    if step is not None and forward is not None and cls.forward is not forward:  # type: ignore[attr-defined]
        return "forward"
    return "__call__" if step is not None and cls.__call__ is not call else None


def _draft_sequential(sequential: Any, draft: Draft, params: None) -> None:
    draft_through(sequential._modules.values(), draft)


_known[nn.Sequential] = (None, None, _draft_sequential), nn.Sequential.forward, _module_call


def is_plain_sequential(transform: Any) -> bool:
    """Whether a callable is an nn.Sequential that does what its class does, and that nobody watches."""
    return type(transform) is nn.Sequential and not replaced(nn.Sequential) and not hooked(vars(transform))


def draft_through(transforms: Iterable[Any], draft: Draft) -> None:
    """Drafts one transform after the other.

    One that cannot be drafted is called with the image so far, and its result is drafted further.
    """
    log, tape = draft.call.log, draft.call.tape
    if draft.call.traced and log is None and tape is None and draft.call.draws.generator is None:
        # Nothing is gained from drafting, and Dynamo follows calls.
        for transform in transforms:
            draft.reset(transform(draft.handed()))
        return
    for transform in transforms:
        cls = type(transform)
        found = _known.get(cls)
        if found is None:
            found = know(cls)
        step, forward, call = found
        if log is not None:
            log.begin(transform, draft)
        # Whether a user put a function in the place of one of the class; and, as `hooked` asks, which is not called
        # here because it would be for every transform of every call, whether something was hung onto this module.
        if (
            step is None
            or cls.__call__ is not call
            or (
                forward is not None
                and (
                    cls.forward is not forward
                    or (own := transform.__dict__)["_forward_hooks"]
                    or own["_forward_pre_hooks"]
                    or "forward" in own
                    or global_pre_hooks
                    or global_hooks
                )
            )
        ):
            if log is not None:
                log.barrier(transform, draft)
            image = draft.handed()
            draft.reset(transform(image) if tape is None else called(tape, transform, partial(transform, image)))
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


def hooked(own: dict[str, Any]) -> Any:
    """Whether a user hung something onto this module, or onto all modules, that wants to see images."""
    return (
        own.get("_forward_hooks")
        or own.get("_forward_pre_hooks")
        or "forward" in own
        or global_pre_hooks
        or global_hooks
    )
