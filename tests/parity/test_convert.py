"""To and from tensors: every mode, dtype and channel count, errors included."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms.functional as TVF
import torchvision.transforms.v2 as TV2

import fastaug.transforms as T
import fastaug.transforms.functional as F
import fastaug.transforms.v2 as v2
from support.differences import each
from support.images import MODES, noise, photo, pil
from support.outcomes import assert_parity, assert_same, run
from support.versions import UINT16

NUMPY_TYPES = ("uint8", "int8", "uint16", "int16", "int32", "int64", "float16", "float32", "float64", "bool")
TORCH_TYPES = (
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "bool",
    *(["uint16"] if UINT16 else []),
)
PIL_MODES = (None, "1", "L", "LA", "P", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr", "HSV", "LAB", "I", "I;16", "F", "bogus")


def laid_out(layout: str, height: int, width: int, channels: int) -> torch.Tensor:
    """A CHW tensor of bytes, with or without gaps between its pixels, rows and planes."""
    pixels = torch.from_numpy(noise(2 * height + 3, 2 * width + 2, channels, 3))
    whole = pixels[:height, :width].contiguous().permute(2, 0, 1)
    return {
        "pixels": lambda: whole,
        "planes": whole.contiguous,
        "part of pixels": lambda: pixels[1 : height + 1, 2 : width + 2].permute(2, 0, 1),
        "part of planes": lambda: pixels.permute(2, 0, 1).contiguous()[:, 1 : height + 1, 2 : width + 2],
        "rows of planes": lambda: pixels[:, :width].permute(2, 0, 1).contiguous()[:, 2 : height + 2],
        "every other row": lambda: pixels[: 2 * height : 2, :width].permute(2, 0, 1),
        "turned": lambda: whole.contiguous().transpose(1, 2),
    }[layout]()


LAYOUTS = ("pixels", "planes", "part of pixels", "part of planes", "rows of planes", "every other row", "turned")


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@each("layout", LAYOUTS)
@each("channels", [1, 2, 3, 4])
def test_floats_of_every_layout(layout: str, channels: int, dtype: str) -> None:
    """Samples without gaps are stored in rows of any length; flips, crops and what is normalised are not."""
    made = getattr(torch, dtype)
    mean = [0.1, 0.2, 0.3, 0.4][:channels]
    for height, width in ((1, 1), (1, 5000), (7, 33), (60, 224), (224, 224), (301, 2)):
        image = laid_out(layout, height, width, channels)
        for steps in (
            lambda package: [package.ToDtype(made, scale=True)],
            lambda package: [package.ToDtype(made)],
            lambda package: [package.RandomVerticalFlip(1), package.ToDtype(made, scale=True)],
            lambda package: [package.RandomHorizontalFlip(1), package.ToDtype(made, scale=True)],
            lambda package: [package.CenterCrop((1, 2)), package.ToDtype(made, scale=True)],
            lambda package: [package.ToDtype(made, scale=True), package.Normalize(mean, mean)],
        ):
            ours, theirs = (package.Compose(steps(package))(image) for package in (v2, TV2))
            assert ours.dtype is theirs.dtype and torch.equal(ours, theirs), (height, width)


@pytest.mark.parametrize("name", ["ToTensor", "PILToTensor"])
@each("mode", MODES)
def test_to_tensor_of_pil(name: str, mode: str) -> None:
    for seed, (height, width) in enumerate([(1, 1), (5, 7), (33, 1), (1, 65), (40, 40)]):
        assert_parity(lambda package: getattr(package, name)(), T, TV, pil(mode, height, width, seed))


@pytest.mark.parametrize("dtype", NUMPY_TYPES)
def test_to_tensor_of_array(dtype: str) -> None:
    for shape in [(4, 5), (4, 5, 1), (4, 5, 2), (4, 5, 3), (4, 5, 4), (4, 5, 9), (0, 5, 3), (4,), (2, 3, 4, 5)]:
        array = np.random.default_rng(1).integers(0, 256, shape).astype(dtype)
        assert_parity(lambda package: package.ToTensor(), T, TV, array, message=True, identity=False)


def test_to_tensor_covers_every_byte() -> None:
    array = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    assert torch.equal(T.ToTensor()(array).flatten(), torch.arange(256).float() / 255)


@pytest.mark.parametrize("default", [torch.float64, torch.float16, torch.float32])
def test_to_tensor_follows_the_default_dtype(default: torch.dtype) -> None:
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(default)
        for make in (lambda p: p.ToTensor(), lambda p: p.Compose([p.Resize(20), p.ToTensor()])):
            assert_parity(make, T, TV, pil("RGB", 30, 31))
    finally:
        torch.set_default_dtype(before)


def test_to_tensor_is_contiguous_and_owns_its_memory() -> None:
    image = photo("coffee", 20, 30)
    for make in (T.ToTensor, T.PILToTensor):
        tensor = make()(image)
        before = tensor.clone()
        image.paste(0, (0, 0, *image.size))
        assert torch.equal(tensor, before)
    assert T.ToTensor()(image).is_contiguous()


@pytest.mark.parametrize("name", ["ToTensor", "PILToTensor"])
@each("value", [3, None, "image.png", [1, 2], torch.zeros(3, 4, 4)])
def test_to_tensor_of_something_else(name: str, value: object) -> None:
    assert_parity(lambda package: getattr(package, name)(), T, TV, value, message=True)


@pytest.mark.parametrize("mode", PIL_MODES)
def test_to_pil_image(mode: str | None) -> None:
    for channels in (1, 2, 3, 4, 5):
        for dtype in NUMPY_TYPES:
            array = noise(6, 9, channels).astype(dtype)
            if dtype.startswith("float"):
                array = array / np.array(255, dtype)
            assert_parity(lambda package: package.ToPILImage(mode), T, TV, array)
        for dtype in TORCH_TYPES:
            tensor = torch.from_numpy(noise(6, 9, channels)).permute(2, 0, 1).to(getattr(torch, dtype))
            assert_parity(lambda package: package.ToPILImage(mode), T, TV, tensor)


@pytest.mark.parametrize("value", [3, None, torch.zeros(3), torch.zeros(1, 3, 4, 4), np.zeros(3), pil("RGB", 3, 3)])
def test_to_pil_image_of_something_else(value: object) -> None:
    assert_parity(lambda package: package.ToPILImage(), T, TV, value, message=True)


def test_to_pil_image_of_planes_and_strides() -> None:
    array = noise(12, 15)
    for given in (
        array[:, :, 0],
        array[::-1],
        array[:, ::-2],
        array[..., ::-1],
        torch.from_numpy(array).permute(2, 0, 1),
    ):
        assert_parity(lambda package: package.ToPILImage(), T, TV, given)
    assert_parity(lambda package: package.ToPILImage(), T, TV, torch.from_numpy(array[:, :, 1].copy()))


def test_to_pil_image_is_a_copy_that_users_can_write() -> None:
    array = noise(12, 15)
    image = T.ToPILImage()(array)
    image.putpixel((0, 0), (1, 2, 3))
    assert tuple(array[0, 0]) != (1, 2, 3)


@pytest.mark.parametrize("target", TORCH_TYPES)
def test_convert_image_dtype(target: str) -> None:
    dtype = getattr(torch, target)
    for name in TORCH_TYPES:
        source = getattr(torch, name)
        if source.is_floating_point:
            tensor = torch.rand(3, 5, 6, generator=torch.Generator().manual_seed(3)).to(source)
        else:
            tensor = torch.randint(0, 2 if name == "bool" else 128, (3, 5, 6)).to(source)
        assert_parity(lambda package: package.ConvertImageDtype(dtype), T, TV, tensor, identity=False)
        assert_same(
            run(lambda x: F.convert_image_dtype(x, dtype), tensor),
            run(lambda x: TVF.convert_image_dtype(x, dtype), tensor),
            identity=False,
        )


@pytest.mark.parametrize("value", [3, None, noise(3, 3), pil("RGB", 3, 3)])
def test_convert_image_dtype_of_something_else(value: object) -> None:
    assert_parity(lambda package: package.ConvertImageDtype(torch.float32), T, TV, value, message=True)


NORMALIZE = {
    "three": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "one": ([0.5], [0.25]),
    "tensors": (torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0.9, 0.8, 0.7])),
    "arrays": (np.array([0.1, 0.2, 0.3]), np.array([0.9, 0.8, 0.7])),
    "zero std": ([0.5, 0.5, 0.5], [1.0, 0.0, 1.0]),
    "tiny std": ([0.5, 0.5, 0.5], [1e-12, 1e-30, 1.0]),
    "two": ([0.5, 0.5], [1.0, 1.0]),
    "negative": ([-3.0, 7.0, 1e8], [-1.0, 2.0, 1e-3]),
    "mean and std differ in length": ([0.5], [1.0, 2.0, 3.0]),
    "integers": ([0, 1, 0], [1, 2, 3]),
}


@pytest.mark.parametrize("name", NORMALIZE)
def test_normalize(name: str) -> None:
    mean, std = NORMALIZE[name]
    inputs = [
        torch.rand(3, 7, 9),
        torch.rand(2, 3, 7, 9).double(),
        torch.rand(3, 7, 9).half(),
        torch.rand(1, 7, 9),
        torch.rand(7, 9),
        torch.randint(0, 256, (3, 7, 9), dtype=torch.uint8),
        pil("RGB", 7, 9),
        noise(7, 9),
        torch.rand(7, 9, 3).permute(2, 0, 1),
    ]
    for value in inputs:
        assert_parity(lambda package: package.Normalize(mean, std), T, TV, value)


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA"])
@each("name", NORMALIZE)
def test_to_tensor_then_normalize(name: str, mode: str) -> None:
    """The pair that runs as one pass."""
    mean, std = NORMALIZE[name]
    for convert in (
        [lambda p: p.ToTensor()],
        [lambda p: p.PILToTensor(), lambda p: p.ConvertImageDtype(torch.float32)],
    ):
        for height, width in ((1, 1), (3, 67), (40, 33)):
            assert_parity(
                lambda p, convert=convert: p.Compose([*(make(p) for make in convert), p.Normalize(mean, std)]),
                T,
                TV,
                pil(mode, height, width),
            )


def test_to_tensor_then_normalize_covers_every_byte() -> None:
    array = np.arange(256, dtype=np.uint8).repeat(3).reshape(16, 16, 3)
    rng = np.random.default_rng(0)
    for _ in range(50):
        mean, std = rng.uniform(-1, 2, 3).tolist(), rng.uniform(0.001, 3, 3).tolist()
        assert_parity(lambda p: p.Compose([p.ToTensor(), p.Normalize(mean, std)]), T, TV, array)  # noqa: B023


def test_normalize_inplace() -> None:
    for package in (T, TV):
        tensor = torch.rand(3, 4, 5)
        assert package.Normalize([0.5] * 3, [0.5] * 3, inplace=True)(tensor) is tensor
    ours, theirs = torch.full((3, 2, 2), 0.7), torch.full((3, 2, 2), 0.7)
    T.Normalize([0.1, 0.2, 0.3], [0.4, 0.5, 0.6], True)(ours)
    TV.Normalize([0.1, 0.2, 0.3], [0.4, 0.5, 0.6], True)(theirs)
    assert torch.equal(ours, theirs)


def test_functional_to_tensor_and_normalize() -> None:
    image = photo("ihc", 20, 30)
    ours = F.normalize(F.to_tensor(image), [0.5] * 3, [0.2] * 3)
    assert torch.equal(ours, TVF.normalize(TVF.to_tensor(image), [0.5] * 3, [0.2] * 3))
    assert torch.equal(F.pil_to_tensor(image), TVF.pil_to_tensor(image))
    assert F.to_pil_image(noise(4, 5), "YCbCr").tobytes() == TVF.to_pil_image(noise(4, 5), "YCbCr").tobytes()
