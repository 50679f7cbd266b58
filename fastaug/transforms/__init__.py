"""``torchvision.transforms`` with the same names, arguments, random draws and pixels, many times faster.

Example:
    >>> import fastaug.transforms as T
    >>> from PIL import Image
    >>> transform = T.Compose(
    ...     [T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.ToTensor(), T.Normalize([0.5] * 3, [0.25] * 3)]
    ... )
    >>> transform(Image.new("RGB", (80, 60))).shape
    torch.Size([3, 24, 24])
"""

from __future__ import annotations

from fastaug._draft.through import know
from fastaug._names import publish
from fastaug.transforms import autoaugment, functional, transforms
from fastaug.transforms._decode import Decode
from fastaug.transforms.autoaugment import *  # noqa: F403
from fastaug.transforms.transforms import *  # noqa: F403

__all__ = ["Decode", "functional"]
__all__ += autoaugment.__all__
__all__ += transforms.__all__

publish(globals())

# As they are before anybody can change them.
for _name in __all__:
    if isinstance(globals()[_name], type):
        know(globals()[_name])
