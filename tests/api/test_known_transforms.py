"""What is read without being registered: torchvision's presets, and functions whose code converts."""

from __future__ import annotations

import functools
import importlib
import io
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
from PIL import Image
from torchvision.transforms import _presets

import fastaug
import fastaug.transforms as T
from fastaug._compile import functions, registry
from fastaug.io import LazyImage
from support.differences import each
from support.images import MODES, noise, photo, pil, to_chw
from support.outcomes import assert_same, run

PRESETS: dict[str, Callable[[], Any]] = {
    "classification": lambda: _presets.ImageClassification(crop_size=40, resize_size=48),
    "bicubic": lambda: _presets.ImageClassification(
        crop_size=48, resize_size=48, interpolation=TV.InterpolationMode.BICUBIC, mean=(0.5,) * 3, std=(0.25,) * 3
    ),
    "larger crop": lambda: _presets.ImageClassification(crop_size=60, resize_size=48, antialias=None),
    "no antialias": lambda: _presets.ImageClassification(crop_size=40, resize_size=48, antialias=False),
    "segmentation": lambda: _presets.SemanticSegmentation(resize_size=52),
    "segmentation, own size": lambda: _presets.SemanticSegmentation(resize_size=None),
    "detection": _presets.ObjectDetection,
}


@pytest.fixture(autouse=True)
def readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said once is said in each test."""
    monkeypatch.setattr(registry, "_told", set())


def images() -> Iterator[Any]:
    """PIL images, and tensors of several dtypes and shapes."""
    for mode in MODES:
        yield pil(mode, 61, 83)
    image = photo("chelsea", 90, 64)
    yield image
    yield to_chw(image)
    yield torch.stack([to_chw(image)] * 2)
    yield to_chw(image).permute(1, 2, 0).contiguous().permute(2, 0, 1)
    yield to_chw(image).float() / 255
    yield to_chw(image).double() / 255
    yield to_chw(image).to(torch.int32)
    yield to_chw(image)[:1]


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name: str) -> None:
    preset = PRESETS[name]()
    compiled = fastaug.compile(preset)
    assert all(type(step).__module__.startswith("fastaug.") for step in compiled.transforms)
    for image in images():
        assert_same(run(compiled, image), run(preset, image), identity=False)


def test_preset_of_weights() -> None:
    """Of handles, too, which presets of torchvision do not take."""
    models = pytest.importorskip("torchvision.models")
    preset = models.ResNet50_Weights.IMAGENET1K_V2.transforms()
    compiled = pickle.loads(pickle.dumps(fastaug.compile(preset)))
    image = photo("coffee")
    file = io.BytesIO()
    image.save(file, "JPEG", quality=90)
    expected = preset(Image.open(file).convert("RGB"))
    assert torch.equal(compiled(LazyImage(file.getvalue(), mode="RGB")), expected)
    assert torch.equal(compiled.batch([Image.open(file)] * 2)[1], expected)


def test_preset_is_read_once() -> None:
    """Its attributes count as they are when it is compiled."""
    preset = _presets.ImageClassification(crop_size=40, resize_size=48)
    compiled = fastaug.compile(preset)
    image = photo("astronaut", 70, 90)
    expected = preset(image)
    preset.mean[0], preset.crop_size[0], preset.resize_size[0] = 9.0, 7, 9
    assert torch.equal(compiled(image), expected)


@pytest.mark.parametrize("shape", [(3, 3, 30, 41), (2, 5, 3, 30, 41)], ids=["clip", "batch of clips"])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_video_preset(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    preset = _presets.VideoClassification(crop_size=(16, 18), resize_size=(20, 25))
    compiled = fastaug.compile(preset)
    frames = torch.from_numpy(noise(shape[-2], shape[-1] * 3 * 10))[:, :, 0].flatten()[: torch.Size(shape).numel()]
    clip = frames.reshape(shape).to(dtype)
    clip = clip / 255 if dtype.is_floating_point else clip
    assert_same(run(compiled, clip), run(preset, clip), identity=False)


def test_derived_preset_stays() -> None:
    class Derived(_presets.ObjectDetection):
        def forward(self, img: Any) -> Any:
            return super().forward(img) + 1

    derived = Derived()
    with pytest.warns(UserWarning, match="a subclass of torchvision.transforms._presets.ObjectDetection"):
        compiled = fastaug.compile(TV.Compose([TV.CenterCrop(20), derived]))
    assert compiled.transforms[1] is derived
    image = photo("chelsea", 30, 30)
    assert torch.equal(compiled(image), derived(TV.CenterCrop(20)(image)))


def to_rgb(image: Image.Image) -> Image.Image:
    """As CLIP has it."""
    return image.convert("RGB")


def annotated(x: Any, /) -> Any:
    return x.convert(mode="L")


CONVERTING: list[Any] = [
    to_rgb,
    annotated,
    lambda x: x.convert("RGB"),
    lambda picture: picture.convert("LA"),
    lambda image: image.convert(mode="CMYK"),
    lambda image=None: image.convert("1"),
]


@each("function", CONVERTING)
@each("mode", MODES)
def test_converting_functions(function: Any, mode: str) -> None:
    image = pil(mode, 31, 47)
    for theirs in (function, TV.Lambda(function), TV.Compose([TV.CenterCrop(24), function])):
        compiled = fastaug.compile(theirs)
        assert type(compiled.transforms[-1]) is functions.Convert
        assert_same(run(compiled, image), run(theirs, image))


def test_converting_keeps_one_program() -> None:
    """Where there is nothing to convert, it is no barrier."""
    theirs = TV.Compose([TV.Resize(40), TV.CenterCrop(32), to_rgb, TV.ToTensor()])
    compiled = pickle.loads(pickle.dumps(fastaug.compile(theirs)))
    image = photo("chelsea", 70, 90)
    assert torch.equal(compiled(image), theirs(image))
    assert "program 2" not in str(fastaug.compile(theirs).explain(image))


def of_mode(mode: str) -> Any:
    return lambda image: image.convert(mode)


OTHERS: list[Any] = [
    of_mode("RGB"),
    lambda image: image.convert("RGB").copy(),
    lambda image: image.convert("RGB", None),
    lambda image: image.convert(None),
    lambda image, other=1: image.convert("RGB"),
    lambda *images: images[0].convert("RGB"),
    lambda image: Image.new("RGB", (3, 4)),
    lambda image: (image.convert("RGB"), "RGB")[0],
    functools.partial(to_rgb),
]


@pytest.mark.parametrize("function", OTHERS)
def test_other_functions_stay(function: Any) -> None:
    theirs = TV.Compose([TV.CenterCrop(24), function])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = fastaug.compile(theirs)
    assert compiled.transforms[-1] is function
    assert_same(run(compiled, pil("L", 31, 47)), run(theirs, pil("L", 31, 47)))


def test_converting_what_is_no_image() -> None:
    """Has the error that the function has; and what has such a method of its own is asked."""

    class Own:
        def convert(self, mode: str) -> str:
            return f"as {mode}"

    compiled = fastaug.compile(CONVERTING[2])
    assert_same(run(compiled, torch.zeros(3, 4, 4)), run(CONVERTING[2], torch.zeros(3, 4, 4)), message=True)
    assert compiled(Own()) == "as RGB"


# What the transforms of DINOv2 do.
DINOV2 = """
import torch
from torchvision import transforms

class MaybeToTensor(transforms.ToTensor):
    def __call__(self, pic):
        if isinstance(pic, torch.Tensor):
            return pic
        return super().__call__(pic)

class GaussianBlur(transforms.RandomApply):
    def __init__(self, *, p=0.5):
        super().__init__([transforms.GaussianBlur(9, sigma=(0.1, 2.0))], p=1 - p)
"""


@pytest.fixture
def dinov2(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A package of that name."""
    folder = tmp_path / "dinov2" / "data"
    folder.mkdir(parents=True)
    (folder / "transforms.py").write_text(DINOV2)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_readers", dict(registry._readers))
    monkeypatch.setattr(registry, "ADAPTERS", dict(registry.ADAPTERS))
    yield importlib.import_module("dinov2.data.transforms")
    for name in ("dinov2", "dinov2.data", "dinov2.data.transforms"):
        del sys.modules[name]


def test_dinov2(dinov2: Any) -> None:
    normalize = TV.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    theirs = TV.Compose([TV.RandomResizedCrop(32), dinov2.GaussianBlur(p=0.3), dinov2.MaybeToTensor(), normalize])
    compiled = fastaug.compile(theirs)
    assert [type(step).__module__.partition(".")[0] for step in compiled.transforms] == ["fastaug"] * 4
    for seed in range(12):
        for image in (photo("coffee", 60, 80), to_chw(photo("coffee", 60, 80)).float() / 255):
            assert_same(run(compiled, image, seed), run(theirs, image, seed), identity=False)


def test_unknown_code_stays(dinov2: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that does something else is called as it is."""

    def call(self: Any, pic: Any) -> Any:
        return TV.functional.to_tensor(pic) + 1

    monkeypatch.setattr(dinov2.MaybeToTensor, "__call__", call)
    own = dinov2.MaybeToTensor()
    with pytest.warns(UserWarning, match="its reader does not know it"):
        compiled = fastaug.compile(TV.Compose([TV.CenterCrop(20), own]))
    assert compiled.transforms[1] is own
    image = photo("chelsea", 30, 30)
    assert torch.equal(compiled(image), own(TV.CenterCrop(20)(image)))


def test_own_transforms_in_lambda() -> None:
    """What Lambda holds may be anything that is read."""
    compiled = fastaug.compile(T.Compose([T.Lambda(to_rgb), T.ToTensor()]))
    assert type(compiled.transforms[0]) is functions.Convert
    assert torch.equal(compiled(pil("L", 5, 4)), TV.ToTensor()(pil("L", 5, 4).convert("RGB")))


def test_functions_put_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers' transforms get images then, and go on working."""
    import fastaug.transforms.functional as F

    preset, image = PRESETS["classification"](), photo("coffee", 60, 80)
    compiled, converting = fastaug.compile(preset), fastaug.compile(CONVERTING[3])
    seen: list[Any] = []
    own = F.resize

    def resize(*arguments: Any, **named: Any) -> Any:
        seen.append(arguments)
        return own(*arguments, **named)

    monkeypatch.setattr(F, "resize", resize)
    assert torch.equal(compiled(image), preset(image)) and len(seen) == 1
    assert torch.equal(compiled(to_chw(image)), preset(to_chw(image)))
    assert_same(run(converting, image), run(CONVERTING[3], image))
