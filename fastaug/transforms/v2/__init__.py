"""``torchvision.transforms.v2`` with the same names, arguments, random draws and results, many times faster.

Example:
    >>> import torch
    >>> from fastaug.transforms import v2
    >>> transform = v2.Compose([v2.RandomResizedCrop(24), v2.ToDtype(torch.float32, scale=True)])
    >>> transform({"image": torch.zeros(3, 60, 80, dtype=torch.uint8), "label": 3})["image"].shape
    torch.Size([3, 24, 24])
"""

from __future__ import annotations

from fastaug import _names
from fastaug.transforms import AutoAugmentPolicy as AutoAugmentPolicy
from fastaug.transforms import InterpolationMode as InterpolationMode
from fastaug.transforms.v2 import functional as functional
from fastaug.transforms.v2._augment import *
from fastaug.transforms.v2._auto_augment import *
from fastaug.transforms.v2._color import *
from fastaug.transforms.v2._container import *
from fastaug.transforms.v2._crops import *
from fastaug.transforms.v2._flips import *
from fastaug.transforms.v2._meta import *
from fastaug.transforms.v2._misc import *
from fastaug.transforms.v2._sizes import *
from fastaug.transforms.v2._temporal import *
from fastaug.transforms.v2._transform import *
from fastaug.transforms.v2._type_conversion import *
from fastaug.transforms.v2._utils import *
from fastaug.transforms.v2._warps import *

_names.publish(globals())
