"""What tests of many images at once are made with."""

from __future__ import annotations

import io
import threading
from typing import Any

from PIL import Image

from support.images import PHOTOS, photo

THREADS = (1, 3)


def photographs(count: int = 6) -> list[Image.Image]:
    sizes = ((375, 500), (400, 300), (256, 256), (150, 201))
    return [photo(PHOTOS[k % 4], *sizes[k % 3]) for k in range(count)]


def train(package: Any, *before: Any) -> Any:
    return package.Compose([*before, package.RandomResizedCrop(48), package.RandomHorizontalFlip(), package.ToTensor()])


def one_by_one(transform: Any, images: Any) -> list[Any]:
    return [transform(image) for image in images]


def encoded(image: Image.Image, format: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def names_of_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("fastaug")]
