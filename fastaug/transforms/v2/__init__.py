"""``torchvision.transforms.v2`` with the same names, arguments, random draws and results, many times faster.

Example:
    >>> import torch
    >>> from fastaug.transforms import v2
    >>> transform = v2.Compose([v2.RandomResizedCrop(24), v2.ToDtype(torch.float32, scale=True)])
    >>> transform({"image": torch.zeros(3, 60, 80, dtype=torch.uint8), "label": 3})["image"].shape
    torch.Size([3, 24, 24])
"""

from __future__ import annotations

from fastaug._names import publish
from fastaug.transforms import AutoAugmentPolicy, InterpolationMode
from fastaug.transforms.v2 import (
    _augment,
    _auto_augment,
    _color,
    _container,
    _crops,
    _flips,
    _meta,
    _misc,
    _sizes,
    _temporal,
    _transform,
    _type_conversion,
    _utils,
    _warps,
)
from fastaug.transforms.v2 import functional as functional
from fastaug.transforms.v2._augment import *  # noqa: F403
from fastaug.transforms.v2._auto_augment import *  # noqa: F403
from fastaug.transforms.v2._color import *  # noqa: F403
from fastaug.transforms.v2._container import *  # noqa: F403
from fastaug.transforms.v2._crops import *  # noqa: F403
from fastaug.transforms.v2._flips import *  # noqa: F403
from fastaug.transforms.v2._meta import *  # noqa: F403
from fastaug.transforms.v2._misc import *  # noqa: F403
from fastaug.transforms.v2._sizes import *  # noqa: F403
from fastaug.transforms.v2._temporal import *  # noqa: F403
from fastaug.transforms.v2._transform import *  # noqa: F403
from fastaug.transforms.v2._type_conversion import *  # noqa: F403
from fastaug.transforms.v2._utils import *  # noqa: F403
from fastaug.transforms.v2._warps import *  # noqa: F403

__all__ = ["AutoAugmentPolicy", "InterpolationMode"]
__all__ += _augment.__all__
__all__ += _auto_augment.__all__
__all__ += _color.__all__
__all__ += _container.__all__
__all__ += _crops.__all__
__all__ += _flips.__all__
__all__ += _meta.__all__
__all__ += _misc.__all__
__all__ += _sizes.__all__
__all__ += _temporal.__all__
__all__ += _transform.__all__
__all__ += _type_conversion.__all__
__all__ += _utils.__all__
__all__ += _warps.__all__

publish(globals())
