"""The work of fastaug.compile: read transforms, and make its own from them."""

from __future__ import annotations
