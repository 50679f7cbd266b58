"""The packages whose transforms have readers, and the modules that register these; the package itself fills it."""

from __future__ import annotations

ADAPTERS: dict[str, str] = {}
