"""What a user writes, for type checkers: they read it, and nothing runs it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from PIL import Image
from typing_extensions import assert_type

import fastaug
import fastaug.transforms as T
import fastaug.transforms.functional as F
from fastaug import io, tv_tensors
from fastaug.transforms import v2
from fastaug.transforms.v2 import functional as F2

Array = np.ndarray[Any, Any]


def functions(image: Image.Image, tensor: torch.Tensor, array: Array, either: Image.Image | torch.Tensor) -> None:
    assert_type(F.resize(image, 20), Image.Image)
    assert_type(F.resize(img=tensor, size=[20, 30]), torch.Tensor)
    assert_type(F.hflip(array), Array)
    assert_type(F.rotate(either, 10), "Image.Image | torch.Tensor")
    assert_type(F.adjust_gamma(Image.open("photograph.jpg"), 2.0), Image.Image)
    assert_type(F.five_crop(tensor, 20)[4], torch.Tensor)
    assert_type(F.to_tensor(image), torch.Tensor)
    assert_type(F.to_pil_image(tensor), Image.Image)
    assert_type(F.get_dimensions(image), "list[int]")
    F.vflip("photograph.jpg")  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]


def transforms(image: Image.Image, tensor: torch.Tensor, array: Array, either: Image.Image | torch.Tensor) -> None:
    assert_type(T.Resize(20)(image), Image.Image)
    assert_type(T.RandomHorizontalFlip()(tensor), torch.Tensor)
    assert_type(T.ColorJitter(0.1)(array), Array)
    assert_type(T.Pad(2)(either), "Image.Image | torch.Tensor")
    assert_type(T.CenterCrop(2)(io.lazy("photograph.jpg")), Image.Image)
    assert_type(T.ToTensor()(image), torch.Tensor)
    assert_type(T.ToPILImage()(array), Image.Image)
    assert_type(T.TenCrop(20)(image)[0], Image.Image)
    assert_type(T.Decode()("photograph.jpg"), Image.Image)
    T.Resize(20)("photograph.jpg")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]


def samples(image: Image.Image, boxes: tv_tensors.BoundingBoxes, labels: dict[str, torch.Tensor]) -> None:
    assert_type(v2.Resize(20)(image), Image.Image)
    assert_type(v2.RandomCrop(20)(boxes), tv_tensors.BoundingBoxes)
    assert_type(v2.RandomVerticalFlip()(labels), "dict[str, torch.Tensor]")
    assert_type(v2.RandomVerticalFlip()((image, labels)), "tuple[Image.Image, dict[str, torch.Tensor]]")
    assert_type(F2.horizontal_flip(boxes), tv_tensors.BoundingBoxes)
    assert_type(F2.resize(image, [20, 20]), Image.Image)
    v2.RandomVerticalFlip()(image, boxes)


def pipelines(image: Image.Image) -> Image.Image:
    transform = T.Compose([T.RandomResizedCrop(224), T.ToTensor()], mode="fast")
    T.Compose([T.Resize(20)], mode="faster")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    fastaug.compile(transform, "slow")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    transform(image, 3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    compiled = fastaug.compile(transform, mode="exact", arithmetic="pil")
    tensor: torch.Tensor = torch.nn.Sequential(compiled.eval())(image)
    assert_type(fastaug.to_torchvision(transform), Any)
    print(tensor.shape, fastaug.explain(transform, image), compiled.explain((30, 40)).notes, fastaug.isa())
    if not transform.check(image):
        raise ValueError(transform.profile([image]).verdict())
    assert_type(transform.explain(image).figure(), Image.Image)
    return transform.show(image)
