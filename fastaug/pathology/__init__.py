"""Transforms for tiles of whole-slide images, which torchvision does not have, and measures of tissue.

Use them like those of ``fastaug.transforms``, in the same ``Compose``. Random draws come from torch's generator on
every call, ``get_params`` only draws, and results have the container of the input.

Example:
    >>> import fastaug.transforms as T
    >>> from fastaug import pathology
    >>> from PIL import Image
    >>> transform = T.Compose([pathology.RandomDihedral(), T.RandomCrop(24), T.ToTensor()])
    >>> transform(Image.new("RGB", (80, 60))).shape
    torch.Size([3, 24, 24])
"""

from __future__ import annotations

from fastaug import _names
from fastaug._draft import through
from fastaug.pathology import functional as functional
from fastaug.pathology._normalize import *
from fastaug.pathology._stains import *
from fastaug.pathology._tissue import *
from fastaug.pathology._turns import *

# Record the classes before user code can change them.
for _name in _names.publish(globals(), "functional"):
    if isinstance(globals()[_name], type):
        through.know(globals()[_name])
