"""What fastaug.compile does: reads transforms, and makes new ones that it keeps for itself."""

from __future__ import annotations
