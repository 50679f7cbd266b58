"""What random_aliasing runs: images in every container, transforms and functions."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from PIL import Image
from torchvision import tv_tensors

HEIGHT, WIDTH = 12, 10


class Marked(torch.Tensor):
    """A subclass such as users define."""


class Noted(torch.Tensor):
    """A subclass that has a say in what torch's functions give."""

    note = ""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = super().__torch_function__(func, types, args, kwargs or {})
        if isinstance(result, Noted):
            result.note = "kept"
        return result


@cache
def _noise(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng([*shape]).integers(0, 256, shape, dtype=np.uint8)


def noise(*shape: int) -> np.ndarray:
    """Bytes, the same on each call, in memory of their own."""
    return _noise(shape).copy()


def bytes_of(*shape: int) -> torch.Tensor:
    return torch.from_numpy(noise(*shape))


def floats_of(*shape: int) -> torch.Tensor:
    return bytes_of(*shape) / 255


def pil(mode: str) -> Image.Image:
    """An image of that mode, whose metadata say something."""
    rgb = Image.fromarray(noise(HEIGHT, WIDTH, 3))
    image = Image.fromarray(noise(HEIGHT, WIDTH).astype(np.uint16) * 257) if mode == "I;16" else rgb.convert(mode)
    image.info["note"] = "kept"
    return image


def opened() -> Image.Image:
    """A file that Pillow has not read yet."""
    file = io.BytesIO()
    pil("RGB").save(file, "PNG", compress_level=1)
    return Image.open(file)


def read_only() -> np.ndarray:
    array = noise(HEIGHT, WIDTH, 3)
    array.flags.writeable = False
    return array


#: Each makes an image anew, the same one on each call.
CONTAINERS: dict[str, Callable[[], Any]] = {
    **{f"PIL {mode}": lambda mode=mode: pil(mode) for mode in ("1", "L", "P", "RGB", "CMYK", "YCbCr", "I;16", "F")},
    **{f"PIL {mode}": lambda mode=mode: pil(mode) for mode in ("LA", "RGBA", "HSV", "I")},
    "PIL file": opened,
    "uint8 HW": lambda: bytes_of(HEIGHT, WIDTH),
    **{f"uint8 {count}HW": lambda count=count: bytes_of(count, HEIGHT, WIDTH) for count in (1, 2, 3, 4)},
    "uint8 of 2 columns": lambda: bytes_of(3, HEIGHT, 2),
    "uint8 HWC memory": lambda: bytes_of(HEIGHT, WIDTH, 3).permute(2, 0, 1),
    "uint8 slice": lambda: bytes_of(4, HEIGHT + 3, WIDTH + 4)[1:, 2:-1, 1:-3],
    "uint8 every other": lambda: bytes_of(3, 2 * HEIGHT, 2 * WIDTH)[:, ::2, 1::2],
    "uint8 expanded": lambda: bytes_of(1, HEIGHT, WIDTH).expand(3, -1, -1),
    "uint8 batch": lambda: bytes_of(2, 3, HEIGHT, WIDTH),
    "uint8 gray batch": lambda: bytes_of(2, 1, HEIGHT, WIDTH),
    "uint8 batch of one": lambda: bytes_of(1, 3, HEIGHT, WIDTH),
    "uint8 batch of batches": lambda: bytes_of(2, 2, 3, HEIGHT, WIDTH),
    "uint8 channels_last": lambda: bytes_of(2, 3, HEIGHT, WIDTH).contiguous(memory_format=torch.channels_last),
    "uint8 tv_tensors.Image": lambda: tv_tensors.Image(bytes_of(3, HEIGHT, WIDTH)),
    "uint8 subclass": lambda: bytes_of(3, HEIGHT, WIDTH).as_subclass(Marked),
    "uint8 channels_last subclass": lambda: (
        bytes_of(2, 3, HEIGHT, WIDTH).contiguous(memory_format=torch.channels_last).as_subclass(Marked)
    ),
    "uint8 subclass with a say": lambda: bytes_of(3, HEIGHT, WIDTH).as_subclass(Noted),
    "uint8 Parameter": lambda: torch.nn.Parameter(bytes_of(3, HEIGHT, WIDTH), requires_grad=False),
    **{
        f"{name} CHW": lambda name=name: floats_of(3, HEIGHT, WIDTH).to(getattr(torch, name))
        for name in ("float32", "float64", "float16")
    },
    **{
        f"{name} CHW": lambda name=name: bytes_of(3, HEIGHT, WIDTH).to(getattr(torch, name))
        for name in ("bool", "int16", "int32", "int64")
    },
    "float32 1HW": lambda: floats_of(1, HEIGHT, WIDTH),
    "float32 HWC memory": lambda: floats_of(HEIGHT, WIDTH, 3).permute(2, 0, 1),
    "float32 slice": lambda: floats_of(3, HEIGHT + 3, WIDTH + 4)[:, 2:-1, 1:-3],
    "float32 channels_last": lambda: floats_of(2, 3, HEIGHT, WIDTH).contiguous(memory_format=torch.channels_last),
    "float32 with gradient": lambda: floats_of(3, HEIGHT, WIDTH).requires_grad_(),
    "float32 tv_tensors.Image": lambda: tv_tensors.Image(floats_of(3, HEIGHT, WIDTH)),
    "float32 subclass": lambda: floats_of(3, HEIGHT, WIDTH).as_subclass(Marked),
    "float32 Parameter": lambda: torch.nn.Parameter(floats_of(3, HEIGHT, WIDTH)),
    "array HW": lambda: noise(HEIGHT, WIDTH),
    **{f"array HW{count}": lambda count=count: noise(HEIGHT, WIDTH, count) for count in (1, 3, 4)},
    "array read-only": read_only,
    "array mirrored": lambda: noise(HEIGHT, WIDTH, 3)[:, ::-1],
    "array of planes": lambda: noise(3, HEIGHT, WIDTH).transpose(1, 2, 0),
    "array float32 HW1": lambda: noise(HEIGHT, WIDTH, 1).astype(np.float32),
    "array float32 HW": lambda: noise(HEIGHT, WIDTH).astype(np.float32),
    "array int32 HW": lambda: noise(HEIGHT, WIDTH).astype(np.int32),
    "array int16 HW": lambda: noise(HEIGHT, WIDTH).astype(np.int16),
}

#: Those of one channel.
GRAY = (*(f"PIL {mode}" for mode in ("1", "L", "P", "I;16", "F", "I")), "uint8 1HW", "uint8 gray batch", "float32 1HW")

#: As source: T is a package of transforms, F its functional.
TRANSFORMS: tuple[str, ...] = (
    "T.Resize(7)",
    f"T.Resize(({HEIGHT}, {WIDTH}))",
    "T.Resize((7, 9), T.InterpolationMode.NEAREST)",
    "T.Resize((20, 16), T.InterpolationMode.BICUBIC)",
    "T.CenterCrop(6)",
    f"T.CenterCrop(({HEIGHT}, {WIDTH}))",
    "T.CenterCrop((8, 15))",
    "T.CenterCrop((14, 20))",
    "T.RandomCrop(6)",
    f"T.RandomCrop(({HEIGHT}, {WIDTH}))",
    f"T.RandomCrop(({HEIGHT}, {WIDTH}), padding=1)",
    f"T.RandomCrop(({HEIGHT}, {WIDTH}), padding=0)",
    "T.RandomCrop(6, padding=2, padding_mode='reflect')",
    "T.RandomCrop(14, pad_if_needed=True)",
    "T.RandomResizedCrop(6)",
    f"T.RandomResizedCrop(({HEIGHT}, {WIDTH}), (1, 1), ({WIDTH / HEIGHT}, {WIDTH / HEIGHT}))",
    "T.Pad(2)",
    "T.Pad(0)",
    "T.Pad((-1, 0, -2, -1))",
    "T.Pad((0, 1), padding_mode='edge')",
    "T.Pad(0, padding_mode='edge')",
    "T.Pad(0, padding_mode='symmetric')",
    "T.Pad((-1, 0, 0, -1), padding_mode='symmetric')",
    "T.RandomHorizontalFlip(1.0)",
    "T.RandomHorizontalFlip(0.0)",
    "T.RandomVerticalFlip(1.0)",
    "T.RandomRotation(30)",
    "T.RandomRotation((0, 0))",
    "T.RandomRotation((90, 90), expand=True)",
    "T.RandomRotation((180, 180))",
    "T.RandomAffine(20, shear=5)",
    "T.RandomAffine(0)",
    "T.RandomAffine(0, translate=(0.1, 0.1))",
    "T.RandomPerspective(p=1.0)",
    "T.RandomPerspective(p=0.0)",
    "T.RandomPerspective(0.0, 1.0)",
    "T.ElasticTransform(sigma=1.0)",
    "T.GaussianBlur(3)",
    "T.ColorJitter()",
    "T.ColorJitter(0.4, 0.4, 0.4, 0.1)",
    "T.ColorJitter(brightness=(1, 1))",
    "T.ColorJitter(contrast=(1.0, 1.0001))",
    "T.ColorJitter(saturation=(1.0, 1.0001))",
    "T.ColorJitter(hue=(0.0, 0.0001))",
    "T.Grayscale()",
    "T.Grayscale(3)",
    "T.RandomGrayscale(1.0)",
    "T.RandomGrayscale(0.0)",
    "T.RandomInvert(1.0)",
    "T.RandomInvert(0.0)",
    "T.RandomPosterize(4, 1.0)",
    "T.RandomPosterize(8, 1.0)",
    "T.RandomSolarize(0.5, 1.0)",
    "T.RandomAdjustSharpness(1.5, 1.0)",
    "T.RandomAdjustSharpness(1, 1.0)",
    "T.RandomAutocontrast(1.0)",
    "T.RandomEqualize(1.0)",
    "T.AutoAugment()",
    "T.RandAugment()",
    "T.RandAugment(0)",
    "T.TrivialAugmentWide()",
    "T.AugMix()",
    "T.FiveCrop(6)",
    f"T.FiveCrop(({HEIGHT}, {WIDTH}))",
    "T.TenCrop(6)",
    "T.ToTensor()",
    "T.PILToTensor()",
    "T.ToPILImage()",
    "T.ConvertImageDtype(torch.float32)",
    "T.ConvertImageDtype(torch.uint8)",
    "T.Normalize([0.5], [0.25])",
    "T.Normalize([0.5], [0.25], inplace=True)",
    "T.RandomErasing(1.0)",
    "T.RandomErasing(0.0)",
    "T.RandomErasing(1.0, value='random')",
    "T.RandomErasing(1.0, inplace=True)",
    "T.RandomErasing(1.0, (1.0, 1.0), (1.0, 1.0))",
    f"T.LinearTransformation(torch.eye({3 * HEIGHT * WIDTH}), torch.zeros({3 * HEIGHT * WIDTH}))",
    "T.Lambda(lambda image: image)",
    "T.RandomApply([T.RandomHorizontalFlip(0.0)], p=1.0)",
    "T.RandomApply([T.CenterCrop(6)], p=0.0)",
    "T.RandomChoice([T.Pad(0), T.CenterCrop(6)])",
    "T.RandomOrder([T.CenterCrop(8), T.RandomHorizontalFlip(1.0)])",
    "T.Compose([])",
    "torch.nn.Sequential(T.Resize(7), T.CenterCrop(5))",
    "torch.nn.Sequential()",
)

#: As source: an expression of an image x.
FUNCTIONS: tuple[str, ...] = (
    f"F.resize(x, [{HEIGHT}, {WIDTH}])",
    "F.resize(x, [7, 7])",
    "F.pad(x, 0)",
    "F.pad(x, [1, -1])",
    "F.crop(x, 1, 2, 5, 6)",
    f"F.crop(x, 0, 0, {HEIGHT}, {WIDTH})",
    "F.crop(x, -1, 2, 5, 6)",
    "F.center_crop(x, [6, 6])",
    f"F.center_crop(x, [{HEIGHT}, {WIDTH}])",
    "F.resized_crop(x, 1, 2, 5, 6, [5, 6])",
    "F.resized_crop(x, 1, 2, 5, 6, [3, 4])",
    "F.hflip(x)",
    "F.vflip(x)",
    "F.rotate(x, 0)",
    "F.rotate(x, 90)",
    "F.affine(x, 0, [0, 0], 1.0, 0)",
    "F.affine(x, 0, [1, 2], 1.0, 0)",
    "F.perspective(x, [[0, 0], [9, 0], [9, 9], [0, 9]], [[0, 0], [9, 0], [9, 9], [0, 9]])",
    "F.gaussian_blur(x, 3)",
    "F.five_crop(x, 5)",
    "F.ten_crop(x, 5)",
    "F.adjust_brightness(x, 1)",
    "F.adjust_contrast(x, 1.0)",
    "F.adjust_saturation(x, 1)",
    "F.adjust_saturation(x, 0.5)",
    "F.adjust_hue(x, 0)",
    "F.adjust_gamma(x, 1)",
    "F.adjust_sharpness(x, 1)",
    "F.adjust_sharpness(x, 2)",
    "F.rgb_to_grayscale(x)",
    "F.rgb_to_grayscale(x, 3)",
    "F.to_grayscale(x)",
    "F.invert(x)",
    "F.posterize(x, 8)",
    "F.posterize(x, 3)",
    "F.solarize(x, 1)",
    "F.autocontrast(x)",
    "F.equalize(x)",
    "F.to_tensor(x)",
    "F.pil_to_tensor(x)",
    "F.to_pil_image(x)",
    "F.convert_image_dtype(x, torch.float32)",
    "F.convert_image_dtype(x, torch.uint8)",
    "F.normalize(x, [0.5], [0.5])",
    "F.normalize(x, [0.5], [0.5], inplace=True)",
    "F.erase(x, 1, 2, 3, 4, torch.tensor(0))",
    "F.erase(x, 1, 2, 3, 4, torch.tensor(0), inplace=True)",
)
