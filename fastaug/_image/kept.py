"""Which handles keep their pixels, and for how long: several views of an image are to decode it once."""

from __future__ import annotations

import itertools
import os
import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image

    from fastaug import _C

#: Bytes of pixels that one handle may keep, and all of the process together.
MOST = 64 << 20
MOST_IN_ALL = 256 << 20

#: Two uses of a handle are views of one image if no more uses than these are from the one to the other, of any handle
#: and by any thread. Else they are of two epochs, and what is kept from one to the next is only in the way.
NEAR = 64

# What handles were used for of late: from 0, for one view each, to this, for several. From the half on, a new one is
# taken to be for several as well.
_SEVERAL = 8

_uses = itertools.count(1)  # two uses at once may share a number, which changes nothing that is asked of them
_viewed = 0


class Kept:
    """The uses of a handle, and the pixels that it keeps."""

    __slots__ = ("__weakref__", "_last", "_near", "pixels")

    def __init__(self) -> None:
        self._last = 0  # the number of its last use, among those of all handles; 0: none
        self._near = 0  # uses in a row, each near the one before it
        #: As they are stored, where the core decodes them to the handle's mode; else the image that Pillow made.
        self.pixels: np.ndarray | Image.Image | None = None

    def use(self, view: bool) -> bool:
        """Counts a use. Whether pixels are worth keeping now; of the first use, that of a view is expected to be."""
        global _viewed
        now = next(_uses)
        if self._last and now - self._last <= NEAR:
            self._near += 1
            if self._near == 2:
                _viewed = min(_viewed + 2, _SEVERAL)
        else:
            self._near = 1
            _viewed = max(_viewed - 1, 0)
        self._last = now
        return self._near > 1 or (view and _viewed >= _SEVERAL // 2)

    def make_room(self, size: int) -> bool:
        """Whether `size` bytes of pixels may now be made, and given to keep().

        Else they have no room, or another thread is making them.

        Whoever was not used of late gives pixels back for it, and nobody else: of more than have room together, some
        keep theirs all the time, and the others never, but none makes them again and again.
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
        """Ends what make_room() began; None when there are no pixels after all."""
        with _lock:
            if pixels is None:
                _keepers.pop(self, None)
            elif self in _keepers:  # they were not given back before they were there
                self.pixels = pixels

    def give_back(self) -> None:
        with _lock:
            self.pixels = None
            _keepers.pop(self, None)


class Never(Kept):
    """Of a handle that is used once by its nature, or cannot keep its pixels: nobody asks."""

    __slots__ = ()


class Once(Never):
    """Of a handle that all views of one call share, and nobody else: it is decoded once.

    Args:
        pixels: that the handle it is made of keeps.
        native: whether the core decodes the image to its mode.
    """

    __slots__ = ("deferred", "native", "pil", "source", "together")

    def __init__(self, pixels: np.ndarray | Image.Image | None, native: bool) -> None:
        super().__init__()
        self.pixels = pixels
        self.native = native
        #: Whether all that is still wanted of the image is wanted at once, so that what is decoded need not be kept.
        self.together = False
        #: What the core is told of the image; why it does not decode it; and what Pillow made of it then.
        self.source: _C.Source | None = None
        self.deferred: Exception | None = None
        self.pil: Image.Image | None = None


# Who keeps pixels or makes them, and how many bytes.
_keepers: WeakKeyDictionary[Kept, int] = WeakKeyDictionary()
# Held for moments, never while pixels are made. Reentrant, since any code may run when garbage is collected.
_lock = threading.RLock()


def _forked() -> None:
    """In a child: the threads that held the lock, or were making pixels, are not there."""
    global _lock
    _lock = threading.RLock()
    for one in list(_keepers):
        if one.pixels is None:
            del _keepers[one]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
