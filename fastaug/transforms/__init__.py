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

from fastaug import _names
from fastaug._draft import through
from fastaug.transforms import functional as functional
from fastaug.transforms._decode import *
from fastaug.transforms.autoaugment import *
from fastaug.transforms.transforms import *

# As they are before anybody can change them.
for _name in _names.publish(globals(), "functional"):
    if isinstance(globals()[_name], type):
        through.know(globals()[_name])
