"""Fixtures for handles that keep their pixels."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fastaug._image import decode, encoded, kept


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing was used before, and nothing is kept afterwards."""
    monkeypatch.setattr(kept, "_viewed", 0)
    for one in list(kept._keepers):
        one.give_back()
    yield
    assert not kept._keepers


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read: once for all that is decoded of one at a time."""
    found: list[str] = []
    read_file = encoded.read_file
    monkeypatch.setattr(encoded, "read_file", lambda path: found.append(path) or read_file(path))
    return found


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The handles that are decoded whole by the core, to be kept: their id()."""
    found: list[int] = []
    stored = decode.stored
    monkeypatch.setattr(decode, "stored", lambda image: found.append(id(image)) or stored(image))
    return found
