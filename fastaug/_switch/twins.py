"""For transforms of torchvision the compiled ones that are called in their places, while both are the same."""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fastaug import _C
from fastaug._compile import registry
from fastaug._compile.compiled import Compiled
from fastaug._compile.drawn import Drawn
from fastaug._compile.read_samples import reason as reason_of_v2
from fastaug._compile.read_samples import takes_samples
from fastaug._compile.samples import CompiledSamples
from fastaug._compile.trace import inside
from fastaug._compile.views import CompiledViews, views_of
from fastaug._draft.pipeline import first_of
from fastaug._draft.recognise import reason as reason_of_v1
from fastaug._draft.through import step_of
from fastaug._draft.written import global_hooks, global_pre_hooks
from fastaug._inspect import words
from fastaug._names import is_ours
from fastaug._switch import times, watch
from fastaug._switch.keys import key_of

#: Calls of torchvision's own before an object is compiled; several where both are timed.
_OWN, _OWN_TIMED = 1, 4
#: Objects of equal values before their first call has a twin.
_EQUAL = 3
#: Calls of torchvision's own after a change, at first and at most.
_SOON, _LATE = 4, 1 << 10
#: The most that a transform without gain waits for another look.
_NEVER = 1 << 20
#: Twins that are kept for equal transforms, and values that were seen.
_SHARED, _SEEN = 256, 1024

#: Transforms of v1 that draw from Python's random.
_BY_RANDOM = ("RandomChoice", "RandomOrder")

#: Transforms that take arrays; torchvision refuses these for the others.
_OF_ARRAYS = ("ToTensor", "ToPILImage", "ToImage")


@dataclass
class Note:
    """A note about a transform of the program."""

    name: str
    #: Why torchvision's own is called, in words; None where a twin is.
    why: str | None = "called once"
    compiled: int = 0
    pause: int = _SOON
    key: Any = None
    #: Processor time of single calls.
    times: times.Times = field(default_factory=times.Times, repr=False)
    twin: Any = field(default=None, repr=False)


class _Left(Exception):
    """A transform is left to torchvision, for the reason in the message."""


class Named:
    """A name of the transform that a twin was compiled from."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *inputs: Any) -> Any:
        raise TypeError(f"{self._name} is called by its own class")

    def __repr__(self) -> str:
        return self._name


_active = False
_lock = threading.Lock()
_compiling = threading.local()
_shared: OrderedDict[Any, Any] = OrderedDict()
_seen: OrderedDict[Any, int] = OrderedDict()

#: Of transforms that are gone, by name and reason: calls, those with a twin, compilations, seconds saved.
gone: OrderedDict[tuple[str, str | None], list[float]] = OrderedDict()


def _missed(transform: Any, note: Note | None) -> Any:
    """Return the twin for a call, None or NotImplemented, and set what the next calls find."""
    # A thread never waits for another one: torchvision's own call is right at any time.
    if not _active or getattr(_compiling, "now", False) or not _lock.acquire(blocking=False):
        return None
    _compiling.now = True
    try:
        return _first(transform) if note is None else _again(transform, note)
    except (_Left, watch.UnwatchableError) as left:
        _leave(transform, note, str(left))
    except Exception as error:  # the program goes on with torchvision's own
        _leave(transform, note, f"compiling raised {type(error).__name__}: {error}")
    finally:
        _compiling.now = False
        _lock.release()
    return None


_twins = _C.Twins(_missed)
find = _twins.find


def _watch_modules() -> None:
    """Watch the functions of torchvision's modules anew, if one has been replaced or put back."""
    if not _twins.modules_hold():
        _shared.clear()
        _twins.watch_modules(watch.modules())


def _first(transform: Any) -> Any:
    _watch_modules()
    note = Note(_name(transform), key=key_of(transform))
    if note.key is not None and not (global_hooks or global_pre_hooks):
        twin = _shared.get(note.key)
        _seen[note.key] = _seen.pop(note.key, 0) + 1
        while len(_seen) > _SEEN:
            _seen.popitem(last=False)
        if twin is None and _seen[note.key] >= _EQUAL:
            _seen[note.key] -= _LATE  # others of these values are not compiled in vain
            twin = _compiled(transform, note)
        if twin is not None:
            _shared.move_to_end(note.key)
            # It is watched if it is called again.
            _put(transform, note, None, (), 0)
            note.why = None
            return twin
    return _wait(transform, note, (_OWN_TIMED if times.wanted else _OWN) - 1)


def _again(transform: Any, note: Note) -> Any:
    if note.twin is not None:
        note.twin, note.why = None, "it had changed since it was compiled"
        pause, note.pause = note.pause, min(2 * note.pause, _LATE)
        return _wait(transform, note, pause - 1)
    # What is compiled is what is watched: a change between both is seen.
    _watch_modules()
    with registry.quietly():
        roots = watch.roots(transform)
        note.key = key_of(transform)
        twin = _shared.get(note.key) or _compiled(transform, note)
    note.twin, note.why = twin, None
    _put(transform, note, twin, roots, 0)
    return twin


def _compiled(transform: Any, note: Note) -> Any:
    """Compile a transform, for all others of its values too."""
    note.compiled += 1
    if name := watch.replaced():
        raise _Left(f"{name} is not torchvision's own")
    with registry.quietly():
        views = views_of(transform)
        made: type[Compiled] = CompiledSamples if takes_samples(transform) else Compiled
        found = transform if views is None else views
        twin = (CompiledViews if views is not None else made)(
            Named(note.name), "exact", part=True, found=found, keep=watch.borrowed
        )
        if views is None and not any(map(_gains, twin.transforms)):
            raise _Left(_reason(transform))
    first = first_of([transform])
    of_samples = views is None and made is CompiledSamples
    vars(twin).update(
        takes_arrays=type(first).__name__ in _OF_ARRAYS,
        takes_samples=of_samples,
        draws_elsewhere=any(map(_draws_elsewhere, _all(twin.transforms))),
    )
    if note.key is not None:
        _shared[note.key] = twin
        while len(_shared) > _SHARED:
            _shared.popitem(last=False)
    return twin


def _all(steps: Iterable[Any]) -> Iterator[Any]:
    """Yield steps, and those inside of them."""
    for step in steps:
        yield step
        yield from _all(getattr(step, "transforms", ()))


def _draws_elsewhere(step: Any) -> bool:
    """Return whether a step may draw from the generators of Python and NumPy."""
    return isinstance(step, Drawn) or type(step).__name__ in _BY_RANDOM


def _gains(step: Any) -> bool:
    """Return whether a step of a twin is this package's."""
    return (
        not isinstance(step, watch.Borrowed)
        and is_ours(type(step))
        and (step_of(step) is not None or hasattr(step, "_take"))
    )


def _reason(transform: Any) -> str:
    """Return why nothing of a transform is read, in words."""
    several = getattr(transform, "transforms", None)
    if several is not None and (why := reason_of_v1(transform)) is not None and reason_of_v2(transform) is not None:
        return f"it {why}" if not why.startswith("a ") else f"it is {why}"
    inner = list(several) if isinstance(several, (list, tuple)) and several else [transform]
    if several is not None and not len(inner):
        return "it is empty"
    whys = []
    for one in inner:
        why = reason_of_v1(one) and reason_of_v2(one)
        if why is not None and inside(one) is None:
            whys.append(f"{words.called(one)} is {why}" if why.startswith("a ") else f"{words.called(one)} {why}")
    return "; ".join(dict.fromkeys(whys)) or "nothing in it is read"


def _leave(transform: Any, note: Note | None, why: str) -> None:
    """Let many calls be torchvision's own, for this reason."""
    note = Note(_name(transform)) if note is None else note
    note.why, note.twin = why, None
    pause, note.pause = max(note.pause, _LATE), min(max(note.pause, _LATE) * 2, _NEVER)
    _put(transform, note, None, (), pause)


def _wait(transform: Any, note: Note, calls: int) -> Any:
    """Let this call and so many after it be torchvision's own, with all inside."""
    _put(transform, note, None, (), calls, whole=True)
    return NotImplemented


def _put(transform: Any, note: Note, twin: Any, roots: tuple[Any, ...], left: int, whole: bool = False) -> None:
    reference = weakref.ref(transform, partial(_end, id(transform)))
    _twins.put(transform, reference, note, twin, roots, left, whole)


def _end(key: int, reference: Any) -> None:
    removed = _twins.remove(reference, key)
    if removed is None:
        return
    _, note, calls, found = removed
    counts = gone.setdefault((note.name, note.why), [0, 0, 0, 0])
    for k, count in enumerate((calls, found, note.compiled, note.times.saved(found))):
        counts[k] += count
    while len(gone) > _SEEN:
        gone.popitem(last=False)


def _name(transform: Any) -> str:
    """Return how a report calls a transform."""
    try:
        several = vars(transform).get("transforms")
        inner = several if isinstance(several, (list, tuple)) else ()
        named = [getattr(one, "__name__", None) or type(one).__name__ for one in inner]
    except Exception:  # of an object that computes its attributes
        named = []
    return f"{type(transform).__name__}({', '.join(map(str, named))})"[:160] if named else type(transform).__name__


def counts() -> list[tuple[Note, int, int]]:
    """Return the notes of all transforms that are there, their calls, and those with a twin."""
    return [(note, calls, found) for _, note, calls, found in _twins.counts()]


def begin() -> None:
    """Give out twins, and watch the functions of torchvision's modules, some of which may be new."""
    global _active
    _active = True
    watch.remember()
    _twins.watch_modules(watch.modules())


def note_of(transform: Any) -> tuple[Note, int] | None:
    """Return the note of a transform, and how many of its calls had a twin; None of one that is not known."""
    known = _twins.counts_of(transform)
    return None if known is None else (known[1], known[3])


def recount() -> None:
    """Count from nothing again, as a forked process does."""
    _twins.recount()
    gone.clear()


def forget() -> None:
    """Drop all twins and notes, and give out none."""
    global _active
    with _lock:
        _active = False
        _twins.clear()
        for known in (_shared, _seen, gone):
            known.clear()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # the other thread that held it is not there
    _compiling.now = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
