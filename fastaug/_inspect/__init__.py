"""What looks into a pipeline: explain(), profile(), check() and show()."""

from __future__ import annotations
