"""The classes that torchvision has in a file of this name; :mod:`fastaug.transforms` has them all."""

from __future__ import annotations

from fastaug._draft.interpolation import InterpolationMode as InterpolationMode
from fastaug.transforms._blur import *
from fastaug.transforms._color import *
from fastaug.transforms._containers import *
from fastaug.transforms._convert import *
from fastaug.transforms._crops import *
from fastaug.transforms._erasing import *
from fastaug.transforms._geometry import *
from fastaug.transforms._warps import *
