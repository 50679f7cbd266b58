"""A folder of photographs, and what torchvision makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import torchvision.transforms as TV
from PIL import Image

from fastaug.data import sample_seed
from support.images import PHOTOS, photo


def write_photographs(place: Path) -> Path:
    """Makes a folder of that name, with two classes of unlike sizes; and returns the place."""
    for folder in ("bowls", "cups"):
        (place / "photographs" / folder).mkdir(parents=True)
    for number in range(18):
        folder = ("bowls", "cups")[number % 3 == 0]
        image = photo(PHOTOS[number % len(PHOTOS)], 70 + 5 * number, 160 - 3 * number)
        image.save(place / "photographs" / folder / f"{number:02}.jpg")
    return place


class Reference:
    """What torchvision makes of the photographs, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.files = sorted((folder / "photographs").rglob("*.jpg"))
        self.labels = [int(path.parent.name == "cups") for path in self.files]
        self.transform = TV.Compose([TV.RandomResizedCrop(64), TV.RandomHorizontalFlip(), TV.ToTensor()])

    def image(self, path: Path | str) -> torch.Tensor:
        return self.transform(Image.open(path).convert("RGB"))

    def seeded(self, index: int, epoch: int = 3) -> torch.Tensor:
        """The image of that number, with the draws that the page gives it."""
        torch.manual_seed(sample_seed(0, epoch, index))
        return self.image(self.files[index])

    def check(self, batches: list[Any], epoch: int = 3) -> None:
        """That batches of images, labels and numbers are those of all files, each once."""
        seen = []
        for images, labels, indices in batches:
            for image, label, index in zip(images, labels, map(int, indices), strict=True):
                assert torch.equal(image, self.seeded(index, epoch))
                assert label == self.labels[index]
                seen.append(index)
        assert sorted(seen) == list(range(len(self.files)))
