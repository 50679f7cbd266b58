"""Handles in the place of PIL images: what Pillow's methods and functions make of them, and what decodes nothing."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms.functional as F
from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter, ImageOps, PngImagePlugin
from torch.utils import _pytree
from torchvision.models import ResNet18_Weights

import fastaug
import fastaug.transforms as T
from fastaug._image import decode
from fastaug.io import LazyImage, lazy
from support.differences import each
from support.images import photo

pytestmark = pytest.mark.usefixtures("nothing_kept")


def encoded(format: str, mode: str = "RGB", orientation: int = 1) -> bytes:
    image = photo("chelsea", 41, 56).convert(mode)
    options: dict[str, Any] = {"dpi": (72, 72)} if format in ("JPEG", "PNG") else {}
    if orientation != 1:
        exif = Image.Exif()
        exif[0x0112] = orientation
        options["exif"] = exif
    if format == "PNG":
        options["pnginfo"] = PngImagePlugin.PngInfo()
        options["pnginfo"].add(b"tEXt", b"behind\0the pixels", after_idat=True)
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


FILES = {
    "JPEG": encoded("JPEG"),
    "gray JPEG": encoded("JPEG", "L"),
    "CMYK JPEG": encoded("JPEG", "CMYK"),
    "turned JPEG": encoded("JPEG", orientation=6),
    "PNG": encoded("PNG", "RGBA"),
    "turned PNG": encoded("PNG", orientation=7),
    "palette GIF": encoded("GIF", "P"),
    "TIFF": encoded("TIFF"),
}

METHODS: dict[str, Callable[[Any], Any]] = {
    "crop": lambda image: image.crop((3, 4, 20, 30)),
    "resize": lambda image: image.resize((17, 13), Image.Resampling.BICUBIC, box=(1, 2, 30, 31)),
    "reduce": lambda image: image.reduce(2),
    "rotate": lambda image: image.rotate(30, expand=True),
    "transform": lambda image: image.transform((20, 20), Image.Transform.AFFINE, (1, 0.2, 0, 0.1, 1, 0)),
    "transpose": lambda image: image.transpose(Image.Transpose.ROTATE_90),
    "filter": lambda image: image.filter(ImageFilter.BoxBlur(2)),
    "point": lambda image: image.point(lambda value: 255 - value),
    "quantize": lambda image: image.quantize(8),
    "getchannel": lambda image: image.getchannel(1),
    "convert with a matrix": lambda image: image.convert("L", (0.3, 0.6, 0.1, 0)),
    "convert to a palette": lambda image: image.convert("P", palette=Image.Palette.ADAPTIVE, colors=7),
    "copy": lambda image: image.copy(),
    "fit": lambda image: ImageOps.fit(image, (20, 20)),
    "pad": lambda image: ImageOps.pad(image, (30, 20)),
    "autocontrast": lambda image: ImageOps.autocontrast(image, 3),
    "equalize": lambda image: ImageOps.equalize(image),
    "posterize": lambda image: ImageOps.posterize(image, 3),
    "solarize": lambda image: ImageOps.solarize(image, 90),
    "mirror": lambda image: ImageOps.mirror(image),
    "exif_transpose": lambda image: ImageOps.exif_transpose(image),
    "Color": lambda image: ImageEnhance.Color(image).enhance(0.3),
    "Brightness": lambda image: ImageEnhance.Brightness(image).enhance(1.4),
    "Sharpness": lambda image: ImageEnhance.Sharpness(image).enhance(1.7),
    "Chops": lambda image: ImageChops.invert(image),
    "blend": lambda image: Image.blend(image, image.transpose(Image.Transpose.FLIP_LEFT_RIGHT), 0.3),
    "split": lambda image: list(image.split()),
    "getbands": lambda image: image.getbands(),
    "getpixel": lambda image: image.getpixel((5, 6)),
    "getbbox": lambda image: image.getbbox(),
    "getextrema": lambda image: image.getextrema(),
    "histogram": lambda image: image.histogram(),
    "tobytes": lambda image: image.tobytes(),
    "getexif": lambda image: dict(image.getexif()),
    "info": lambda image: image.info,
    "save": lambda image: saved(image),
    "size": lambda image: (image.size, image.width, image.height, image.mode),
    "has_transparency_data": lambda image: image.has_transparency_data,
}


def saved(image: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, "PPM")
    return file.getvalue()


def described(value: Any) -> Any:
    if isinstance(value, list):
        return [described(one) for one in value]
    if isinstance(value, Image.Image):
        return type(value) is Image.Image, value.mode, value.size, value.tobytes(), described(value.info)
    if isinstance(value, dict):
        return {key: one for key, one in value.items() if key not in ("exif", "Raw profile type exif")}
    return value


def loaded(data: bytes, mode: str = "RGB") -> Image.Image:
    """As torchvision's loader does it."""
    return Image.open(io.BytesIO(data)).convert(mode)


def outcome(work: Callable[[Any], Any], image: Any) -> Any:
    try:
        return described(work(image))
    except (TypeError, ValueError, OSError) as error:
        return type(error)


@each("method", METHODS, whole=True)
def test_methods(method: str) -> None:
    """On the first use, and from pixels that are kept."""
    for name, data in FILES.items():
        for mode in ("RGB", "L"):
            expected = outcome(METHODS[method], loaded(data, mode))
            handle = lazy(data, mode)
            for _ in range(3):
                assert outcome(METHODS[method], handle) == expected, (name, mode)


@pytest.mark.parametrize("name", ["turned JPEG", "turned PNG"])
def test_orientation(name: str) -> None:
    upright = ImageOps.exif_transpose(loaded(FILES[name]))
    assert ImageOps.exif_transpose(lazy(FILES[name])).tobytes() == upright.tobytes() != loaded(FILES[name]).tobytes()
    turned = lazy(FILES[name], exif=True)
    # It is upright by itself, and its metadata do not ask for it once more.
    assert ImageOps.exif_transpose(turned).tobytes() == upright.tobytes()
    assert 0x0112 not in turned.getexif()
    assert turned.crop((2, 3, 9, 8)).tobytes() == upright.crop((2, 3, 9, 8)).tobytes()


def test_conversions_that_stay_lazy() -> None:
    handle = lazy(FILES["JPEG"])
    gray = handle.convert("L")
    assert isinstance(gray, LazyImage)
    assert gray.load().tobytes() == loaded(FILES["JPEG"]).convert("L").tobytes()
    assert isinstance(handle.convert(mode="RGB", colors=256), LazyImage)
    assert isinstance(handle.convert(), Image.Image)
    with pytest.raises(TypeError, match="mode should be a string"):
        handle.convert(3)  # type: ignore[call-overload]


@pytest.fixture
def decodes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The decodings that there were."""
    seen: list[str] = []
    for name in ("load", "read", "stored"):
        before = getattr(decode, name)
        monkeypatch.setattr(decode, name, lambda *args, _do=before, _name=name: [seen.append(_name), _do(*args)][1])
    return seen


def test_what_decodes_nothing(decodes: list[str]) -> None:
    handle = lazy(FILES["JPEG"])
    for name in ("__array_interface__", "__array_struct__", "__dlpack__", "__cuda_array_interface__", "__len__"):
        assert not hasattr(handle, name)
    for name in ("read", "keys", "shape", "dtype", "numpy", "to", "pin_memory", "n_frames", "_im", "_size", "putpixel"):
        assert not hasattr(handle, name)
    for name in ("crop", "resize", "getexif", "copy", "convert", "save", "filter", "info", "getbands"):
        assert hasattr(handle, name)
    copies = [copy.copy(handle), copy.deepcopy(handle), pickle.loads(pickle.dumps(handle))]
    assert all(type(one) is LazyImage and one.size == handle.size for one in copies)
    assert _pytree.tree_leaves([{"image": handle}]) == [handle]
    with pytest.raises(TypeError, match="default_collate"):
        torch.utils.data.default_collate([handle])
    assert dict(handle.getexif()) == {} and handle.info["dpi"] == (72, 72) and handle.getbands() == ("R", "G", "B")
    assert not isinstance(handle, Image.Image)
    assert repr(handle) and handle == handle and handle != copies[0]
    assert decodes == []
    assert np.asarray(handle).shape == (41, 56, 3)
    assert decodes == ["read"]


def test_pixels_are_kept_for_the_next_attribute(decodes: list[str]) -> None:
    handle = lazy(FILES["JPEG"])
    pixels = [handle.getpixel((k, k)) for k in range(20)]
    assert pixels == [loaded(FILES["JPEG"]).getpixel((k, k)) for k in range(20)]
    assert len(decodes) == 2 and handle.keeps
    handle.release()
    assert not handle.keeps


@pytest.mark.parametrize("name", ["paste", "putpixel", "thumbnail", "putalpha", "alpha_composite", "seek", "readonly"])
def test_what_would_change_it(name: str) -> None:
    with pytest.raises(AttributeError, match=f"cannot be changed, and has no '{name}': .*load"):
        getattr(lazy(FILES["JPEG"]), name)


def test_what_asks_for_the_class() -> None:
    """Nothing is lost in silence: drawing on a handle, and pasting one, are errors."""
    handle = lazy(FILES["JPEG"])
    with pytest.raises(AttributeError, match="_ensure_mutable"):
        ImageDraw.Draw(handle)
    with pytest.raises((TypeError, ValueError)):
        Image.new("RGB", (90, 90)).paste(handle, (0, 0))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        ImageEnhance.Contrast(handle)  # type: ignore[arg-type]


def test_errors_of_its_own_attributes() -> None:
    class Broken(LazyImage):
        @property
        def size(self) -> Any:
            raise AttributeError("within")

    with pytest.raises(AttributeError, match="within"):
        _ = Broken(FILES["JPEG"]).size
    with pytest.raises(fastaug.DecodeError):
        lazy(FILES["JPEG"][:30]).crop((0, 0, 1, 1))
    with pytest.raises(AttributeError, match=r"'LazyImage' object has no attribute 'foo'"):
        _ = lazy(FILES["JPEG"]).foo


@pytest.mark.parametrize(
    "work",
    [
        lambda image: F.resize(image, [20]),
        lambda image: F.to_tensor(image),
        lambda image: F.hflip(image),
        TV.Compose([TV.Resize(20), TV.ToTensor()]),
        ResNet18_Weights.DEFAULT.transforms(),
    ],
)
def test_torchvisions_errors_say_what_to_do(work: Any) -> None:
    with pytest.raises(TypeError, match=r"fastaug\.io\.LazyImage.*\.load\(\) gives the PIL image"):
        work(lazy(FILES["JPEG"]))


class Foreign(torch.nn.Module):
    """A transform that fastaug does not read."""

    def forward(self, image: Image.Image) -> torch.Tensor:
        assert type(image) is Image.Image
        return F.to_tensor(F.resize(image, [20]))


@pytest.mark.parametrize(
    "make",
    [
        ResNet18_Weights.DEFAULT.transforms,
        Foreign,
        lambda: TV.Compose([Foreign()]),
        lambda: TV.RandomApply([Foreign()], 1.0),
        lambda: TV.Lambda(Foreign()),
        lambda: TV.Compose([TV.Resize(30), Foreign()]),
        lambda: T.Compose([Foreign()]),
        lambda: T.Compose([T.v2.Identity(), Foreign()]),
        lambda: T.v2.Compose([Foreign()]),
        lambda: T.v2.Compose([T.v2.Resize(30), Foreign()]),
    ],
)
def test_barriers_get_a_pil_image(make: Any) -> None:
    transform = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it does not read them
        ours = transform if type(transform).__module__.startswith("fastaug") else fastaug.compile(transform)
    assert torch.equal(ours(lazy(FILES["JPEG"])), transform(loaded(FILES["JPEG"])))


def test_a_handle_in_a_sample() -> None:
    handle = lazy(FILES["JPEG"])
    for sample in (handle, [handle, 3]):
        got = T.v2.Compose([T.v2.Lambda(lambda image: type(image), Image.Image)])(sample)
        assert got == (Image.Image if sample is handle else [Image.Image, 3])
