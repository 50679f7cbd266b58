"""Report images that cannot be read. Every command names them, continues without them, and exits with 1."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fastaug._inspect import words

#: The largest number of failed images to print.
_SHOWN = 20


def reported(failed: Sequence[tuple[str, Exception]]) -> int:
    """Print the failed images with their errors, and return the exit code."""
    for path, error in failed[:_SHOWN]:
        print(f"failed: {path}: {words.failure(error)}", file=sys.stderr)
    if len(failed) > _SHOWN:
        print(f"  and {len(failed) - _SHOWN} more", file=sys.stderr)
    return int(bool(failed))
