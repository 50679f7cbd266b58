"""The iterators of a DataLoader whose workers are threads."""

from __future__ import annotations
