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

from fastaug._draft.through import know
from fastaug._names import publish
from fastaug.pathology import functional
from fastaug.pathology._normalize import StainNormalize, stain_matrix
from fastaug.pathology._stains import HEDJitter, StainJitter
from fastaug.pathology._tissue import otsu, tissue_stats
from fastaug.pathology._turns import RandomDihedral, RandomQuarterTurn

__all__ = [
    "HEDJitter",
    "RandomDihedral",
    "RandomQuarterTurn",
    "StainJitter",
    "StainNormalize",
    "functional",
    "otsu",
    "stain_matrix",
    "tissue_stats",
]

publish(globals())

# Record the classes before user code can change them.
for _name in __all__:
    if isinstance(globals()[_name], type):
        know(globals()[_name])
