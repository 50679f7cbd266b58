"""Read the transforms of lightly. Its views, such as SimCLRViewTransform, only call transforms."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastaug import pillow
from fastaug._compile.drawn import Drawn
from fastaug._draft.draws import numpy_random
from fastaug._draft.progress import is_tensor
from fastaug.adapters._known import Known
from fastaug.adapters._steps import Readers, register_all
from fastaug.transforms import functional as F

# Digests of lightly 1.4 to 1.6, printed by tools/digests.py.
_known = Known(
    {
        "GaussianBlur": {"2428a610bb112033", "4ce879e01e87c86d", "74faba83da053074"},
        "RandomRotate": {"225c5e08ff246e54", "77754e2fa15a8742"},
        "RandomSolarization": {"cdbcc3d5f06755f5"},
        "ToTensor": {"4bdd4e6029127b31", "6641097c273c2321"},
    }
)


class Sometimes(Drawn):
    """The base of transforms with a probability."""

    def __init__(self, transform: Any) -> None:
        self.prob = transform.prob

    def draw(self, image: Any) -> Any:
        return bool(numpy_random().random_sample() < self.prob)


class GaussianBlur(Sometimes):
    """A Pillow Gaussian blur with probability ``prob`` and a width drawn from ``sigmas``."""

    def __init__(self, transform: Any) -> None:
        super().__init__(transform)
        self.sigmas = tuple(transform.sigmas)

    def draw(self, image: Any) -> float | None:
        """Return the width, or None for no blur."""
        if not super().draw(image):
            return None
        return float(numpy_random().uniform(self.sigmas[0], self.sigmas[1]))

    def apply(self, image: Any, params: float | None) -> Any:
        # A tensor is converted whether it is blurred or not.
        tensor = is_tensor(image)
        image = F.to_pil_image(image) if tensor else image
        image = image if params is None else pillow.gaussian_blur(image, params)
        return F.to_tensor(image) if tensor else image


class RandomSolarization(Sometimes):
    """A solarization with probability ``prob``."""

    def __init__(self, transform: Any) -> None:
        super().__init__(transform)
        self.threshold = transform.threshold

    def apply(self, image: Any, params: bool) -> Any:
        return pillow.solarize(image, self.threshold) if params else image


class RandomRotate(Sometimes):
    """A rotation by a fixed angle with probability ``prob``."""

    def __init__(self, transform: Any) -> None:
        super().__init__(transform)
        self.angle = transform.angle

    def apply(self, image: Any, params: bool) -> Any:
        return F.rotate(image, self.angle) if params else image


_READERS: Readers = {
    "lightly.transforms.gaussian_blur": {"GaussianBlur": GaussianBlur},
    "lightly.transforms.rotation": {"RandomRotate": RandomRotate},
    "lightly.transforms.solarize": {"RandomSolarization": RandomSolarization},
    # It holds a transform of torchvision's v1 or v2 API, which lightly chose.
    "lightly.transforms.torchvision_v2_compatibility": {"ToTensor": lambda transform: transform.transform},
}

install = partial(register_all, _READERS, _known.made)
