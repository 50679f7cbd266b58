"""The functions behind the transforms, as ``torchvision.transforms.functional`` has them.

An image is a PIL image, a uint8 ndarray of shape (height, width) or (height, width, channels), or a tensor of shape
(..., channels, height, width). The result is in the same container, and is torchvision's for it, bit for bit for uint8;
arrays follow PIL images. Inputs are never written to.
"""

from __future__ import annotations

from fastaug import _names
from fastaug._draft import replaced
from fastaug._draft.interpolation import InterpolationMode as InterpolationMode
from fastaug._draft.interpolation import pil_modes_mapping as pil_modes_mapping
from fastaug.transforms._functional_color import *
from fastaug.transforms._functional_convert import *
from fastaug.transforms._functional_geometry import *

_names.publish(globals())
replaced.record(globals(), replaced.functions)
