"""How each library is asked to do a case. Imported by the worker processes only."""

from __future__ import annotations

import importlib
import importlib.metadata
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bench.case import Case, Transform
from bench.cases import BY_NAME as BY_NAME


class Library:
    """torchvision.transforms on PIL images: the reference. Others change what differs."""

    #: Same parameters from the same seed as torchvision, so results can be compared.
    same_draws = True
    distributions: tuple[str, ...] = ("torchvision",)

    def __init__(self) -> None:
        self.module = self.load()

    def load(self) -> Any:
        return importlib.import_module("torchvision.transforms")

    def versions(self) -> dict[str, str]:
        return {name: importlib.metadata.version(name) for name in self.distributions}

    def transform(self, case: Case) -> Transform | None:
        """The callable that is timed, or None where the library lacks the operation."""
        return case.build(self.module)

    def image(self, case: Case, pixels: NDArray[np.uint8]) -> Any:
        """The input of a case in the container that the library takes; copied, so that no two libraries share it."""
        if case.container == "tensor":
            return as_tensor(pixels).div(255)
        if case.mode == "RGBA":
            alpha = np.broadcast_to(np.linspace(0, 255, pixels.shape[1]).astype(np.uint8), pixels.shape[:2])
            pixels = np.dstack([pixels, alpha])
        return pixels.copy() if case.container == "array" else Image.fromarray(pixels)

    def images(self, case: Case, bag: Path) -> list[Any]:
        return [self.image(case, pixels) for pixels in np.load(bag, mmap_mode="r")]

    def seed(self, number: int) -> None:
        import torch

        torch.manual_seed(number)


class Fastaug(Library):
    distributions = ("fastaug",)

    def load(self) -> Any:
        return importlib.import_module("fastaug.transforms")

    def versions(self) -> dict[str, str]:
        import fastaug

        return {"fastaug": fastaug.__version__, "isa": fastaug.isa()}


class FastaugFast(Fastaug):
    """Fast mode: other pixels within its contract, so timed on whole pipelines alone."""

    def transform(self, case: Case) -> Transform | None:
        import fastaug

        return fastaug.compile(super().transform(case), mode="fast") if case.pipeline else None


def as_tensor(pixels: NDArray[np.uint8]) -> Any:
    """A contiguous CHW tensor."""
    import torch

    return torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)))


class TensorNames:
    """torchvision's names with the steps between PIL and tensor replaced by what tensors need."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)

    def ToPILImage(self) -> Any:
        return self.module.Lambda(lambda image: image)

    PILToTensor = ToPILImage

    def ToTensor(self) -> Any:
        import torch

        if hasattr(self.module, "ToDtype"):
            return self.module.ToDtype(torch.float32, scale=True)
        return self.module.ConvertImageDtype(torch.float32)


class Tensors(Library):
    """A module with torchvision's names, on uint8 CHW tensors."""

    def __init__(self, module: str, distribution: str) -> None:
        self.distributions = (distribution,)
        self.module = TensorNames(importlib.import_module(module))

    def transform(self, case: Case) -> Transform | None:
        return None if case.name in ("ToPILImage()", "PILToTensor()") else case.build(self.module)

    def image(self, case: Case, pixels: NDArray[np.uint8]) -> Any:
        if case.container == "tensor":
            return super().image(case, pixels)
        return as_tensor(np.asarray(super().image(case, pixels)))


class Peer(Library):
    """A library with names and random numbers of its own: bench.peers.<module> maps case names to builders."""

    same_draws = False

    def __init__(self, module: str, distributions: tuple[str, ...]) -> None:
        self.table: dict[str, Callable[[], Transform]] = importlib.import_module(f"bench.peers.{module}").TABLE
        self.distributions = distributions

    def transform(self, case: Case) -> Transform | None:
        build = self.table.get(case.name)
        return build() if build else None

    def seed(self, number: int) -> None:
        random.seed(number)


class ArrayPeer(Peer):
    """A peer that takes HWC arrays."""

    def image(self, case: Case, pixels: NDArray[np.uint8]) -> Any:
        return np.array(super().image(case, pixels))


LIBRARIES: dict[str, Callable[[], Library]] = {
    "torchvision": Library,
    "fastaug": Fastaug,
    "fastaug fast": FastaugFast,
    "torchvision tensors": lambda: Tensors("torchvision.transforms", "torchvision"),
    "torchvision v2 tensors": lambda: Tensors("torchvision.transforms.v2", "torchvision"),
    "Pillow": lambda: Peer("pillow", ("pillow",)),
    "Pillow-SIMD": type("PillowSIMD", (Library,), {"distributions": ("pillow-simd",)}),
    "OpenCV": lambda: ArrayPeer("opencv", ("opencv-python-headless",)),
    "Albumentations": lambda: ArrayPeer("albumentations", ("albumentations",)),
    "kornia-rs": lambda: ArrayPeer("kornia", ("kornia-rs",)),
}


def as_array(result: Any) -> NDArray[Any]:
    """A result for comparison: floats CHW as they are, uint8 as HWC (HW where there is one channel)."""
    if isinstance(result, tuple):
        return np.stack([as_array(part) for part in result])
    if isinstance(result, (Image.Image, np.ndarray)):
        return np.array(result)
    array: NDArray[Any] = result.numpy().copy()
    if array.dtype == np.uint8:
        array = array.transpose(1, 2, 0)
        return array[..., 0] if array.shape[2] == 1 else array
    return array
