"""What every command does about images that cannot be read: it names them, goes on without them, and exits with 1."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fastaug._inspect import words

#: Images that fail are named, as far as there is room.
_SHOWN = 20


def reported(failed: Sequence[tuple[str, Exception]]) -> int:
    """Names the images that failed, each with its error. Returns the exit code."""
    for path, error in failed[:_SHOWN]:
        print(f"failed: {path}: {words.failure(error)}", file=sys.stderr)
    if len(failed) > _SHOWN:
        print(f"  and {len(failed) - _SHOWN} more", file=sys.stderr)
    return int(bool(failed))
