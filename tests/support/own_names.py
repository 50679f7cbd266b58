"""Names that torchvision does not have."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"


def own_names(ours: ModuleType, theirs: ModuleType) -> set[str]:
    """Those of a module of this package."""
    return {name for name in ours.__all__ if not hasattr(theirs, name)}


def unannounced(ours: ModuleType, theirs: ModuleType) -> set[str]:
    """Those that the changelog does not name, but for kernels of a functional that it names."""
    announced = set(re.findall(r"`(?:T\.|v2\.|F\.)?(\w+)`", CHANGELOG.read_text()))
    announced |= {f"{name}_{leaf}" for name in announced for leaf in ("image", "mask", "video")}
    return own_names(ours, theirs) - announced
