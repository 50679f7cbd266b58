"""Importing this makes a process one in which torchvision is not installed."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec


class Blocker(MetaPathFinder):
    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] == "torchvision":
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


assert "torchvision" not in sys.modules
BLOCKER = Blocker()
sys.meta_path.insert(0, BLOCKER)


def install_torchvision() -> None:
    sys.meta_path.remove(BLOCKER)
