"""Packages whose transforms have readers, and the modules that register these. The package itself fills it."""

from __future__ import annotations

ADAPTERS: dict[str, str] = {}
