"""Transforms that are neither torchvision's nor this package's: what they are made of."""

from __future__ import annotations
