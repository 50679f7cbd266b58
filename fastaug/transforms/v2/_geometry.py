"""Transforms of geometry, together as they are in torchvision."""

from __future__ import annotations

from fastaug.transforms.v2._crops import *
from fastaug.transforms.v2._flips import *
from fastaug.transforms.v2._sizes import *
from fastaug.transforms.v2._warps import *
