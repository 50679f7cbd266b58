"""Transforms of geometry, together as they are in torchvision."""

from __future__ import annotations

from fastaug.transforms.v2._crops import *  # noqa: F403
from fastaug.transforms.v2._flips import *  # noqa: F403
from fastaug.transforms.v2._sizes import *  # noqa: F403
from fastaug.transforms.v2._warps import *  # noqa: F403
