"""The photograph that comes with fastaug."""

from __future__ import annotations

from pathlib import Path

PHOTOGRAPH = str(Path(__file__).parents[1] / "sample.jpg")
