"""The end of a run whose main thread may wait for a device that does not answer."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Callable, Iterator

SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextlib.contextmanager
def watching(seconds: float, end: Callable[[str, int], None]) -> Iterator[None]:
    """Call `end(why, status)` on a thread of its own at the first signal, or after so many seconds.

    The interpreter runs handlers of signals on its main thread, and not while that waits in native code. Their numbers
    come through a pipe at once, so that what is known is written even then.

    Args:
        end: does not return.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def watch() -> None:
        ready, _, _ = select.select([reading], [], [], seconds)
        number = os.read(reading, 1)[0] if ready else 0
        if number:
            end(f"ended by {signal.Signals(number).name}", 128 + number)
        elif not ready:
            end("the time was over", 1)

    handlers = {number: signal.signal(number, lambda *_: None) for number in SIGNALS}
    before = signal.set_wakeup_fd(writing)
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.write(writing, b"\0")
        thread.join()
        for number, handler in handlers.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)
