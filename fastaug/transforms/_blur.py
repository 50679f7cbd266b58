"""Blur."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from fastaug._draft import recipe
from fastaug._draft.draft import Draft
from fastaug._draft.draws import TorchDraws
from fastaug.transforms._base import Transform, setup_size

__all__ = ["GaussianBlur"]

_TORCH = TorchDraws()


def checked_kernel(kernel_size: Any) -> Any:
    """Return the two sides of a kernel, which are odd."""
    sides = setup_size(kernel_size, "Kernel size should be a tuple/list of two integers")
    if any(size <= 0 or size % 2 == 0 for size in sides):
        raise ValueError(f"Kernel size value should be an odd and positive number. Got {kernel_size}")
    return sides


class GaussianBlur(Transform):
    """The image blurred by a Gaussian of random width.

    Draws one standard deviation for both axes. Every container is blurred as torchvision blurs tensors. The border is
    mirrored, so the image must be larger than half the kernel.

    Args:
        kernel_size: (width, height) of the kernel in pixels, both odd; or a number or sequence of one for both.
        sigma: (low, high) of the standard deviation in pixels, or a number.

    Raises:
        ValueError: a size that is even or not positive, a ``sigma`` that is not positive, or wrong lengths.

    Example:
        >>> import fastaug.transforms as T
        >>> from PIL import Image
        >>> T.GaussianBlur(5, sigma=(0.1, 2.0))(Image.new("RGB", (40, 30))).size
        (40, 30)
    """

    _drawn = ("sigma",)
    _shown = ("kernel_size", "sigma")

    def __init__(self, kernel_size: int | Sequence[int], sigma: float | Sequence[float] = (0.1, 2.0)) -> None:
        super().__init__()
        self.kernel_size = checked_kernel(kernel_size)
        pair: Any = sigma
        if isinstance(sigma, numbers.Number):
            if pair <= 0:
                raise ValueError(f"If sigma is a single number, it must be positive. Got {sigma}")
            pair = (sigma, sigma)
        elif not isinstance(sigma, Sequence) or len(sigma) != 2:
            raise ValueError(f"sigma should be a single number or a list/tuple with length 2. Got {sigma!r}")
        elif not 0.0 < sigma[0] <= sigma[1]:
            raise ValueError(f"sigma values should be positive and of the form (min, max). Got {sigma}")
        self.sigma = pair

    @staticmethod
    def get_params(sigma_min: float, sigma_max: float) -> float:
        """Draws a standard deviation.

        Example:
            >>> import fastaug.transforms as T
            >>> T.GaussianBlur.get_params(1.5, 1.5)
            1.5
        """
        return _TORCH.uniform(sigma_min, sigma_max)

    def _sample(self, draft: Draft) -> float:
        drawn: float = self._drawn_by(lambda draws, *ends: draws.uniform(*ends), draft, self.sigma[0], self.sigma[1])
        return drawn

    def _draft(self, draft: Draft, params: float) -> None:
        draft.gaussian_blur(self.kernel_size, [params, params])

    def _packed(self) -> recipe.Packed:
        width, height = recipe.lengths(self.kernel_size)
        if width % 2 == 0 or height % 2 == 0:
            raise recipe.NoRecipe
        return "GaussianBlur", width, height, recipe.interval(self.sigma)
