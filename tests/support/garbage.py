"""What is left by a call, where nothing but a collection of garbage would have it go."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

#: Seconds in which threads that were left end the work they are at.
PATIENCE = 10


def left_by(call: Callable[[], object], *classes: type) -> list[str]:
    """The classes of the objects that are still there after a call, which drops all that it makes."""

    def there() -> dict[int, str]:
        # By their types: some objects of others answer questions about their class with a warning.
        return {id(found): type(found).__name__ for found in gc.get_objects() if issubclass(type(found), classes)}

    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        before = there()
        call()
        until = time.monotonic() + PATIENCE
        while (left := there().keys() - before) and time.monotonic() < until:
            time.sleep(0.01)
        return [name for number, name in there().items() if number in left]
    finally:
        if was_enabled:
            gc.enable()
