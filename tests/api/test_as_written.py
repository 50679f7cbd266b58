"""What the core says of transforms of samples: whether they are as they were written."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from fastaug import _C
from fastaug.transforms import v2
from fastaug.transforms.v2 import _transform


class Base:
    def __init__(self) -> None:
        self.hooks: dict[str, Any] = {}

    def forward(self) -> str:
        return "forward"

    def inherited(self) -> str:
        return "inherited"


class Derived(Base):
    def forward(self) -> str:
        return "derived"


NAMES = ("forward", "inherited")
FORBIDDEN = ("forward", "transform")


def asked(cls: type = Derived) -> Callable[[object], bool]:
    return _C.as_written(cls, NAMES, tuple(getattr(cls, name) for name in NAMES), FORBIDDEN, ("hooks",))


def test_objects_as_written() -> None:
    reads = asked()
    assert reads(Derived()) is True and reads(Derived()) is True
    assert reads(Base()) is False and reads(3) is False


@pytest.mark.parametrize(("owner", "name"), [(Derived, "forward"), (Base, "inherited"), (Derived, "inherited")])
def test_methods_that_are_replaced_for_a_while(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
    """Each time, before the first question and after it, and also when the method is set to itself in between."""
    reads, other = asked(), Derived()
    for _ in range(5):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, lambda self: "patched", raising=False)
            assert reads(other) is False and reads(other) is False
        assert reads(other) is True
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, getattr(owner, name))
            assert reads(other) is True
        assert reads(other) is True


def test_many_versions_of_a_class() -> None:
    cls: Any = type("Many", (Derived,), {})
    reads, one = asked(cls), cls()
    for number in range(300):
        cls.unrelated = number
        assert reads(one) is True
        cls.forward = lambda self: "patched"
        assert reads(one) is False
        del cls.forward
        assert reads(one) is True


def test_objects_with_something_of_their_own() -> None:
    reads, one = asked(), Derived()
    for name in FORBIDDEN:
        setattr(one, name, None)
        assert reads(one) is False
        delattr(one, name)
        assert reads(one) is True
    one.hooks["one"] = print
    assert reads(one) is False
    one.hooks.clear()
    one.inherited = None  # type: ignore[method-assign, assignment]
    assert reads(one) is True
    del one.hooks
    with pytest.raises(KeyError, match="hooks"):
        reads(one)


def test_what_cannot_be_asked() -> None:
    with pytest.raises(ValueError, match="as many values as names"):
        _C.as_written(Derived, ("forward",), (), (), ())
    reads = _C.as_written(Derived, ("missing",), (None,), (), ())
    with pytest.raises(AttributeError, match="missing"):
        reads(Derived())


def test_a_class_that_is_patched_while_others_ask() -> None:
    cls: Any = type("Shared", (Derived,), {})
    reads, one, stop = asked(cls), cls(), threading.Event()

    def ask() -> None:
        while not stop.is_set():
            reads(one)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        cls.forward = lambda self: "patched"
        assert reads(one) is False
        del cls.forward
        assert reads(one) is True
    stop.set()
    for thread in threads:
        thread.join()


def test_a_transform_of_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """A patched method, a hook and a method of one object are all noticed."""

    def answers() -> set[bool]:
        return {_transform.reads_drafts(transform)}

    transform = v2.RandomHorizontalFlip(0.5)
    assert answers() == {True}
    for name in ("transform", "make_params", "forward", "__call__"):
        with monkeypatch.context() as patch:
            patch.setattr(v2.RandomHorizontalFlip, name, lambda *_: None)
            assert answers() == {False}
        assert answers() == {True}
    hook = transform.register_forward_hook(lambda *_: None)
    assert answers() == {False}
    hook.remove()
    transform.transform = None  # type: ignore[method-assign, assignment]
    assert answers() == {False}
    del transform.transform
    assert answers() == {True}
