"""The functions behind the transforms of v2: each dispatches on the type of its input to one of its kernels."""

from __future__ import annotations

from fastaug._draft.interpolation import InterpolationMode
from fastaug._draft.replaced import record, sample_functions
from fastaug._names import publish
from fastaug.transforms.v2.functional import (
    _augment,
    _color,
    _crops,
    _deprecated,
    _geometry,
    _meta,
    _misc,
    _temporal,
    _type_conversion,
    _utils,
    _warps,
)
from fastaug.transforms.v2.functional._augment import *  # noqa: F403
from fastaug.transforms.v2.functional._color import *  # noqa: F403
from fastaug.transforms.v2.functional._crops import *  # noqa: F403
from fastaug.transforms.v2.functional._deprecated import *  # noqa: F403
from fastaug.transforms.v2.functional._geometry import *  # noqa: F403
from fastaug.transforms.v2.functional._meta import *  # noqa: F403
from fastaug.transforms.v2.functional._misc import *  # noqa: F403
from fastaug.transforms.v2.functional._temporal import *  # noqa: F403
from fastaug.transforms.v2.functional._type_conversion import *  # noqa: F403
from fastaug.transforms.v2.functional._utils import *  # noqa: F403
from fastaug.transforms.v2.functional._warps import *  # noqa: F403

__all__: list[str] = [InterpolationMode.__name__]
__all__ += _augment.__all__
__all__ += _color.__all__
__all__ += _crops.__all__
__all__ += _deprecated.__all__
__all__ += _geometry.__all__
__all__ += _meta.__all__
__all__ += _misc.__all__
__all__ += _temporal.__all__
__all__ += _type_conversion.__all__
__all__ += _utils.__all__
__all__ += _warps.__all__

publish(globals())
record(globals(), sample_functions)
