"""The functions behind the transforms of v2: each dispatches on the type of its input to one of its kernels."""

from __future__ import annotations

from fastaug import _names
from fastaug._draft import replaced
from fastaug._draft.interpolation import InterpolationMode as InterpolationMode
from fastaug.transforms.v2.functional._augment import *
from fastaug.transforms.v2.functional._color import *
from fastaug.transforms.v2.functional._crops import *
from fastaug.transforms.v2.functional._deprecated import *
from fastaug.transforms.v2.functional._geometry import *
from fastaug.transforms.v2.functional._meta import *
from fastaug.transforms.v2.functional._misc import *
from fastaug.transforms.v2.functional._temporal import *
from fastaug.transforms.v2.functional._type_conversion import *
from fastaug.transforms.v2.functional._utils import *
from fastaug.transforms.v2.functional._warps import *

_names.publish(globals())
replaced.record(globals(), replaced.sample_functions)
