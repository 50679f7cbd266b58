"""Pixels that handles keep, so that several views of an image decode it once."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image

    from fastaug import _C

#: Bytes of pixels that one handle may keep, and all handles of the process.
MOST = 64 << 20
MOST_IN_ALL = 256 << 20

#: Two uses of a handle are views of one image if there are at most so many uses of any handles between them.
#: Otherwise they belong to two epochs, and keeping pixels from one to the next would waste the room.
NEAR = 64

# _viewed counts from 0 to this whether recent handles had several views. From the half on, new ones are expected to.
_SEVERAL = 8

_uses = 0
_viewed = 0


class Kept:
    """The uses of a handle, and the pixels that it keeps."""

    __slots__ = ("__weakref__", "_last", "_near", "pixels")

    def __init__(self) -> None:
        self._last = 0  # the number of its last use, among those of all handles; 0: none
        self._near = 0  # uses in a row, each near the one before it
        #: Stored pixels if the core decodes them to the handle's mode, otherwise Pillow's image.
        self.pixels: np.ndarray | Image.Image | None = None

    def use(self, view: bool) -> bool:
        """Count a use. Return True if pixels are worth keeping now. For a first use, that is a guess for views only."""
        global _uses, _viewed
        now = _uses = _uses + 1
        if self._last and now - self._last <= NEAR:
            self._near += 1
            if self._near == 2:
                _viewed = min(_viewed + 2, _SEVERAL)
        else:
            self._near = 1
            _viewed = max(_viewed - 1, 0)
        self._last = now
        return self._near > 1 or (view and _viewed >= _SEVERAL // 2)

    def expects_views(self) -> bool:
        """Return what `use` would return for a view that came now."""
        return bool(self._last and _uses + 1 - self._last <= NEAR) or _viewed > _SEVERAL // 2

    def make_room(self, size: int) -> bool:
        """Return True if `size` bytes of pixels may now be made and passed to keep().

        False if there is no room, or another thread makes them. Only handles without recent uses give up pixels for
        it, so of too many handles some always keep theirs, and none makes them again and again.
        """
        with _lock:
            if size > MOST or self in _keepers:
                return False
            room = MOST_IN_ALL - sum(_keepers.values())
            if room < size:
                far = [one for one in _keepers if one.pixels is not None and self._last - one._last > NEAR]
                for one in sorted(far, key=lambda one: one._last):
                    room += _keepers[one]
                    one.give_back()
                    if room >= size:
                        break
                else:
                    return False
            _keepers[self] = size
            return True

    def keep(self, pixels: np.ndarray | Image.Image | None) -> None:
        """End what make_room() began, with pixels or None."""
        with _lock:
            if pixels is None:
                _keepers.pop(self, None)
            elif self in _keepers:  # give_back() was not called meanwhile
                self.pixels = pixels

    def give_back(self) -> None:
        with _lock:
            self.pixels = None
            _keepers.pop(self, None)


class Never(Kept):
    """The state of a handle that is used once, or cannot keep its pixels."""

    __slots__ = ()


class Once(Never):
    """The state of a handle that the views of one call share, which is decoded once."""

    __slots__ = ("deferred", "native", "pil", "source", "together")

    def __init__(self, pixels: np.ndarray | Image.Image | None, native: bool) -> None:
        super().__init__()
        self.pixels = pixels
        self.native = native
        #: True if all remaining views run in one native call, so that their pixels need not be kept.
        self.together = False
        #: The core's source, its reason for not decoding that, and Pillow's image in that case.
        self.source: _C.Source | None = None
        self.deferred: Exception | None = None
        self.pil: Image.Image | None = None


# Bytes by handles that keep or make pixels.
_keepers: WeakKeyDictionary[Kept, int] = WeakKeyDictionary()
# Never held while pixels are made. Reentrant, since garbage collection may run any code.
_lock = threading.RLock()


def _forked() -> None:
    """Release what threads held that do not exist in the child."""
    global _lock
    _lock = threading.RLock()
    for one in list(_keepers):
        if one.pixels is None:
            del _keepers[one]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
