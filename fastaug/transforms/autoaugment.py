"""The classes that torchvision has in a file of this name; :mod:`fastaug.transforms` has them too."""

from __future__ import annotations

from fastaug.transforms._augmix import *
from fastaug.transforms._auto_augment import *
from fastaug.transforms._auto_augment_policies import *
