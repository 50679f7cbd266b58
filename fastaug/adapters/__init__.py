"""Adapters for other packages, one module each, imported on demand."""

from __future__ import annotations
