"""Pipelines on encoded images: torchvision's pixels from Pillow's, and no more decoded than that takes."""

from __future__ import annotations

import copy
import io
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from encoded_images import encode, jpegs, oriented, pillow, pngs
from PIL import Image, ImageFile

import fastaug
import fastaug.transforms as T
from fastaug.io import LazyImage
from support.differences import each, grouped
from support.images import photo
from support.outcomes import run, snapshot

# Pillow's own, of a palette with transparency.
pytestmark = pytest.mark.filterwarnings("ignore:Palette images with Transparency:UserWarning")

PIPELINES: dict[str, Callable[[Any], list[Any]]] = {
    "train": lambda P: [P.RandomResizedCrop(24), P.RandomHorizontalFlip(), P.ToTensor(), P.Normalize([0.5], [0.25])],
    "eval": lambda P: [P.Resize(40), P.CenterCrop(32), P.ToTensor()],
    "patch": lambda P: [P.RandomCrop(17), P.ToTensor()],
    "rotated": lambda P: [
        P.RandomRotation(40, interpolation=P.InterpolationMode.BILINEAR),
        P.CenterCrop(20),
        P.ColorJitter(0.3, 0.3, 0.3),
        P.ToTensor(),
    ],
    "perspective": lambda P: [P.RandomPerspective(0.4, 1.0), P.CenterCrop(11), P.PILToTensor()],
    "blurred": lambda P: [P.GaussianBlur(5), P.CenterCrop(15), P.RandomAdjustSharpness(2, 1.0), P.ToTensor()],
    "equalized": lambda P: [P.RandomEqualize(1.0), P.RandomCrop(9), P.RandomVerticalFlip(1.0)],
    "to PIL": lambda P: [P.RandomCrop(20, padding=4), P.RandomInvert(1.0)],
    "crop to PIL": lambda P: [P.RandomCrop(20)],
    "nothing": lambda P: [],
    "only a tensor": lambda P: [P.ToTensor()],
    "bytes in a tensor": lambda P: [P.PILToTensor()],
    "five crops": lambda P: [P.FiveCrop(12), P.Lambda(list)],
    "a callable first": lambda P: [P.Lambda(lambda image: image.rotate(90)), P.CenterCrop(10), P.ToTensor()],
    "automatic": lambda P: [P.RandAugment(), P.TrivialAugmentWide(), P.ToTensor(), P.RandomErasing(1.0)],
    "mixed": lambda P: [P.AugMix(), P.CenterCrop(8)],
    "elastic": lambda P: [P.ElasticTransform(20.0), P.CenterCrop(30)],
}
FILES = {
    **{f"JPEG {name}": data for name, data in jpegs().items()},
    **{f"PNG {name}": data for name, data in pngs().items()},
    "WebP": encode(photo("coffee", 83, 61), "WEBP"),
    "lossless WebP": encode(photo("coffee", 83, 61).convert("RGBA"), "WEBP", lossless=True),
    "BMP": encode(photo("coffee", 83, 61), "BMP"),
}


def decoded(data: bytes) -> Image.Image:
    """As torchvision's users get it; without metadata, which decoded images of fastaug have not."""
    image = Image.open(io.BytesIO(data)).convert("RGB")
    image.info = {}
    return image


def same_outcome(ours: Any, theirs: Any) -> bool:
    assert type(ours.error) is type(theirs.error), (ours.error, theirs.error)
    same = ours.error is not None or snapshot(ours.value) == snapshot(theirs.value)
    return same and torch.equal(ours.torch_state, theirs.torch_state)


# Every pipeline meets every third file, so that each meets all kinds.
PAIRS = [(file, name) for i, file in enumerate(FILES) for k, name in enumerate(PIPELINES) if (i + k) % 3 == 0]


@grouped(PAIRS, ("file", "name"), lambda pair: pair[1])
def test_equal(file: str, name: str) -> None:
    data, steps = FILES[file], PIPELINES[name]
    for seed in (1, 2):
        theirs = run(TV.Compose(steps(TV)), decoded(data), seed)
        assert same_outcome(run(T.Compose([T.Decode(), *steps(T)]), data, seed), theirs)
        assert same_outcome(run(T.Compose(steps(T)), LazyImage(data), seed), theirs)
        assert same_outcome(run(fastaug.compile(TV.Compose(steps(TV))), LazyImage(data), seed), theirs)


@grouped(FILES, "file")
@each("mode", ["L", "LA", "RGB", "RGBA", "CMYK", "P", "F", None])
def test_modes(file: str, mode: str | None) -> None:
    image = Image.open(io.BytesIO(FILES[file]))
    image = image.convert(mode) if mode else image
    crop = TV.CenterCrop(20)(image)
    ours = T.Compose([T.Decode(mode), T.CenterCrop(20)])(FILES[file])
    assert ours.mode == crop.mode and np.array_equal(np.asarray(ours), np.asarray(crop))
    assert LazyImage(FILES[file], mode).mode == image.mode


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(orientation: int) -> None:
    data = encode(photo("coffee", 83, 61), "JPEG", exif=oriented(orientation))
    upright = Image.fromarray(pillow(data, exif=True))
    for steps in PIPELINES.values():
        theirs = run(TV.Compose(steps(TV)), upright, 3)
        assert same_outcome(run(T.Compose([T.Decode(exif=True), *steps(T)]), data, 3), theirs)
    plan = T.Compose([T.Decode(exif=True), T.CenterCrop(10), T.ToTensor()]).explain(data)
    assert rows_and_columns(str(plan)) is not None


def rows_and_columns(text: str) -> tuple[int, ...] | None:
    found = re.search(r"rows (\d+) to (\d+), columns (\d+) to (\d+) of (\d+)x(\d+)", text)
    return tuple(map(int, found.groups())) if found else None


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP"])
def test_explain_says_what_is_decoded(format: str) -> None:
    data = encode(photo("coffee", 200, 300), format)
    transform = T.Compose([T.Decode(), T.CenterCrop(40), T.ToTensor()])
    plan = transform.explain(data)
    first = plan.passes[0]
    assert first["name"] == "decode" and first["by"] == "fastaug" and first["steps"] == ["1"]
    found = rows_and_columns(first["detail"])
    assert found is not None
    top, bottom, left, right, height, width = found
    assert (height, width) == (200, 300)
    assert bottom == {"PNG": 120, "WEBP": 121}.get(format, bottom)
    assert top <= 80 and bottom >= 120 and left <= 130 and right >= 170
    assert (bottom - top) * (right - left) < height * width
    assert first["bytes_read"] == len(data)
    assert "all of 200x300" in str(T.Compose([T.Decode(), T.ToTensor()]).explain(data))


def test_explain_says_who_decodes_what_the_core_does_not() -> None:
    data = encode(photo("coffee", 20, 30), "BMP")
    plan = T.Compose([T.Decode(), T.CenterCrop(8), T.ToTensor()]).explain(data)
    assert plan.passes[0]["by"] == "Pillow" and plan.passes[0]["name"] == "decode"
    assert "the core does not decode this BMP" in str(plan)


def test_truncated_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The core leaves them to Pillow, whose setting decides."""
    transform = T.Compose([T.Decode(), T.Resize(20), T.ToTensor()])
    for format in ("JPEG", "PNG"):
        data = encode(photo("coffee", 200, 300), format)
        data = data[: len(data) * 2 // 3]
        with pytest.raises(fastaug.DecodeError, match=format):
            transform(data)
        monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
        expected = TV.Compose([TV.Resize(20), TV.ToTensor()])(Image.open(io.BytesIO(data)).convert("RGB"))
        assert torch.equal(transform(data), expected)
        plan = transform.explain(data)
        assert [one["by"] for one in plan.passes if one["name"] == "decode"] == ["Pillow"]
        monkeypatch.undo()


def test_half_precision() -> None:
    data = FILES["JPEG 4:2:0 q75"]
    steps = [T.Decode(), T.CenterCrop(20), T.ToTensor()]
    transform = fastaug.compile(T.Compose(steps), dtype=torch.float16, memory_format=torch.channels_last)
    assert torch.equal(transform(data), T.Compose(steps)(data).half())


def test_fast_mode() -> None:
    data = FILES["JPEG 4:4:4 q96"]
    steps = [T.RandomResizedCrop(24), T.Resize(20), T.ColorJitter(0.2, 0.2, 0.2, 0.1), T.ToTensor()]
    fast = T.Compose([T.Decode(), *steps], mode="fast")
    torch.manual_seed(1)
    one = fast(data)
    torch.manual_seed(1)
    assert torch.equal(one, T.Compose(steps, mode="fast")(decoded(data)))


def test_functions() -> None:
    data = FILES["PNG RGB"]
    image = LazyImage(data)
    assert T.functional.get_image_size(image) == list(image.size) == list(Image.open(io.BytesIO(data)).size)
    assert np.array_equal(np.asarray(T.functional.crop(image, 3, 4, 20, 30)), pillow(data)[3:23, 4:34])
    assert torch.equal(T.functional.to_tensor(image), TV.functional.to_tensor(decoded(data)))


def test_sample_and_replay() -> None:
    data = FILES["JPEG 4:2:0 q75"]
    transform = T.Compose([T.Decode(), T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.ToTensor()])
    params = transform.sample(data)
    assert torch.equal(
        transform.replay(data, params), T.Compose(transform.transforms[1:]).replay(decoded(data), params)
    )
    assert transform.sample((40, 50))[0]["transform"] == "RandomResizedCrop"


def test_check_profile_and_show(tmp_path: Path) -> None:
    path = tmp_path / "photograph.jpg"
    path.write_bytes(FILES["JPEG 4:2:0 q75"])
    transform = T.Compose([T.Decode(), T.RandomResizedCrop(24), T.ToTensor()])
    comparison = transform.check(str(path), 3)
    assert comparison and "torchvision" in comparison.against
    assert T.Compose(transform.transforms[1:]).check([LazyImage(path)], 3)
    profile = transform.profile([path], 1)
    assert profile.total["theirs"] is not None and profile.steps[0]["theirs"] > 0
    assert transform.show(str(path), 2).size[0] > 100


def test_decode_is_a_module() -> None:
    decode = T.Decode("L", exif=True)
    assert repr(decode) == "Decode(mode='L', exif=True)"
    for other in (pickle.loads(pickle.dumps(decode)), copy.deepcopy(decode)):
        assert repr(other) == repr(decode)
        assert other(FILES["PNG RGB"]).mode == "L"
    assert list(decode.state_dict()) == []


@pytest.mark.parametrize("format", ["JPEG", "PNG", "GIF", "WEBP"])
def test_handles_stay_as_they_are(format: str) -> None:
    """Also those that Pillow decodes."""
    data = encode(photo("ihc", 40, 50), format)
    expected = TV.CenterCrop(20)(Image.fromarray(pillow(data)))
    transform = T.Compose([T.Decode(), T.CenterCrop(20)])
    assert snapshot(transform(LazyImage(data))) == snapshot(expected)
    params = T.Compose([T.Decode(), T.RandomCrop(20)]).sample(LazyImage(data))
    assert len(params) == 1
    # What a callable makes of it is no handle any more.
    opened = T.Compose([T.Decode(), T.Lambda(lambda image: image.rotate(1)), T.Decode("L")])
    assert snapshot(opened(LazyImage(data))) == snapshot(Image.fromarray(pillow(data)).rotate(1).convert("L"))


def test_what_decode_takes(tmp_path: Path) -> None:
    data = FILES["PNG RGB"]
    path = tmp_path / "image.png"
    path.write_bytes(data)
    expected = pillow(data)
    array = np.frombuffer(data, np.uint8)
    sources = [str(path), path, data, bytearray(data), memoryview(data), array, torch.tensor(array), LazyImage(data)]
    for source in [*sources, io.BytesIO(data)]:
        assert np.array_equal(np.asarray(T.Decode()(source)), expected), type(source)


@pytest.mark.parametrize(
    "value", [3, None, {}, {"image": b""}, torch.zeros(3, 4, 5), torch.zeros(5), np.zeros((4, 5, 3), np.uint8)]
)
def test_what_it_does_not_take(value: Any) -> None:
    with pytest.raises(TypeError, match="Decode takes"):
        T.Decode()(value)
    with pytest.raises(ValueError, match="mode"):
        T.Decode("no mode")
