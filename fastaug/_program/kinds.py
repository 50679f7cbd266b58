"""Containers of images before and after a program, as numbers, which are fast to compare."""

from __future__ import annotations

#: Every op on OTHER raises torchvision's TypeError. ENCODED is a source only: its pixels are those of a PIL image that
#: has not been made yet.
OTHER, PIL_IMAGE, ARRAY, TENSOR, ENCODED = range(5)
