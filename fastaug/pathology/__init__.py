"""Transforms for tiles of whole-slide images, which torchvision does not have, and what tells tissue from glass.

They are used as those of ``fastaug.transforms`` are and go with them into one ``Compose``: random draws come from
torch's generator on every call, ``get_params`` draws alone, and containers come out as they went in.

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

# As they are before anybody can change them.
for _name in __all__:
    if isinstance(globals()[_name], type):
        know(globals()[_name])
