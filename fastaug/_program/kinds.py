"""What holds an image before and after a program, as numbers: every call compares them many times."""

from __future__ import annotations

#: OTHER is anything else; every op on it raises torchvision's TypeError. ENCODED is a source only: its pixels are those
#: of a PIL image that nobody has made yet.
OTHER, PIL_IMAGE, ARRAY, TENSOR, ENCODED = range(5)
