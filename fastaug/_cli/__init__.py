"""The commands of python -m fastaug."""

from __future__ import annotations
