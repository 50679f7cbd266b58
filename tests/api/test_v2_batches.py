"""batch() and map() of pipelines of transforms.v2: torchvision's results one after the other, and its draws."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils._pytree import tree_flatten
from torchvision import tv_tensors as tvt
from torchvision.transforms import v2 as TV

import fastaug
import fastaug.io
from fastaug._image import kept
from fastaug.io import LazyImage
from fastaug.transforms import v2 as T
from support.differences import each
from support.images import PHOTOS, photo, to_chw
from support.random_samples import boxes, mask

NORMAL = [0.5, 0.4, 0.6], [0.2, 0.3, 0.25]
IMAGES = [photo(PHOTOS[number % 4], 60 + 5 * number, 75 - 3 * number) for number in range(7)]


def to_float(v2: Any) -> list[Any]:
    return [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(*NORMAL)]


def classification(v2: Any) -> Any:
    steps = [v2.RandomResizedCrop(32), v2.RandomHorizontalFlip(), v2.ColorJitter(0.4, 0.4, 0.4, 0.1)]
    return v2.Compose([*steps, *to_float(v2)])


def tensors(v2: Any) -> Any:
    steps = [v2.ToImage(), v2.RandomResizedCrop(32), v2.TrivialAugmentWide(), v2.RandomHorizontalFlip()]
    return v2.Compose([*steps, *to_float(v2), v2.ToPureTensor()])


def bytes_(v2: Any) -> Any:
    return v2.Compose([v2.ToImage(), v2.RandomRotation(20), v2.Resize((30, 30)), v2.RandomErasing(1.0)])


def pictures(v2: Any) -> Any:
    return v2.Compose([v2.RandomRotation(20), v2.RandomCrop(30), v2.RandomAutocontrast()])


def detection(v2: Any) -> Any:
    fill = {tvt.Mask: 0, "others": [1.0, 2.0, 3.0]}
    crop = [v2.RandomPhotometricDistort(), v2.RandomZoomOut(fill=fill), v2.RandomIoUCrop(), v2.RandomHorizontalFlip()]
    return v2.Compose([*crop, v2.SanitizeBoundingBoxes(), *to_float(v2), v2.ToPureTensor()])


PIPELINES = {make.__name__: make for make in (classification, tensors, bytes_, pictures)}
CONTAINERS: dict[str, Callable[[Image.Image], Any]] = {
    "PIL": lambda image: image,
    "tensors": to_chw,
    "Images": lambda image: tvt.Image(to_chw(image)),
    "arrays": np.array,
}


def samples(of: str = "PIL") -> list[Any]:
    made = []
    for number, image in enumerate(IMAGES):
        canvas = (image.height, image.width)
        target = {"boxes": boxes("XYXY", 4, canvas, "float32", "soft", number), "labels": torch.arange(4)}
        made.append((CONTAINERS[of](image), {**target, "masks": mask("uint8", number, 4, *canvas), "number": number}))
    return made


def one_by_one(transform: Any, images: list[Any], seed: int = 5) -> list[Any]:
    torch.manual_seed(seed)
    return [transform(image) for image in images]


def assert_equal(ours: Any, theirs: Any) -> None:
    (one, shape), (other, structure) = tree_flatten(ours), tree_flatten(theirs)
    assert shape == structure
    for leaf, reference in zip(one, other, strict=True):
        assert type(leaf) is type(reference)
        if isinstance(reference, torch.Tensor):
            assert leaf.dtype == reference.dtype
            assert torch.equal(leaf.as_subclass(torch.Tensor), reference.as_subclass(torch.Tensor))
        elif isinstance(reference, Image.Image):  # whose info a handle does not have
            assert (leaf.mode, leaf.size, leaf.tobytes()) == (reference.mode, reference.size, reference.tobytes())
        else:
            assert leaf == reference


def stacked(results: list[Any]) -> torch.Tensor:
    return torch.stack([result.as_subclass(torch.Tensor) for result in results])


@pytest.mark.parametrize("name", PIPELINES)
@each("of", CONTAINERS)
@each("compiled", [False, True])
def test_images(name: str, of: str, compiled: bool) -> None:
    if of == "arrays" and name in ("classification", "pictures"):
        pytest.skip("v2 takes arrays for images in ToImage alone")
    make, images = PIPELINES[name], [CONTAINERS[of](image) for image in IMAGES]
    expected = one_by_one(make(TV), images)
    after = torch.get_rng_state()
    pipeline = fastaug.compile(make(TV)) if compiled else make(T)
    whole = expected if name == "pictures" and of == "PIL" else stacked(expected) if name != "pictures" else None
    for threads in (1, 3):
        torch.manual_seed(5)
        result = pipeline.batch(images, num_threads=threads)
        assert torch.equal(torch.get_rng_state(), after)
        assert_equal(result, stacked(expected) if whole is None else whole)
        torch.manual_seed(5)
        assert_equal(list(pipeline.map(iter(images), num_threads=threads)), expected)
        assert torch.equal(torch.get_rng_state(), after)


@pytest.mark.parametrize("of", ["PIL", "tensors", "Images"])
def test_whole_samples(of: str) -> None:
    expected = one_by_one(detection(TV), samples(of))
    for pipeline in (detection(T), fastaug.compile(detection(TV))):
        torch.manual_seed(5)
        assert_equal(pipeline.batch(samples(of)), expected)
        torch.manual_seed(5)
        assert_equal(list(pipeline.map(samples(of), num_threads=2)), expected)
        torch.manual_seed(5)
        found = dict(pipeline.map(samples(of), ordered=False, num_threads=3))
        assert_equal([found[number] for number in range(len(expected))], expected)


def test_dictionaries() -> None:
    made = [{"image": image, **target} for image, target in samples()]
    expected = one_by_one(detection(TV), made)
    torch.manual_seed(5)
    assert_equal(detection(T).batch(made), expected)


@pytest.mark.parametrize("of", ["tensors", "arrays"])
def test_one_tensor_or_array_of_images(of: str) -> None:
    images = [CONTAINERS[of](image.crop((3, 4, 40, 50))) for image in IMAGES]
    expected = stacked(one_by_one(tensors(TV), images))
    torch.manual_seed(5)
    assert_equal(tensors(T).batch(torch.stack(images) if of == "tensors" else np.stack(images)), expected)


def test_seeds_and_memory_of_the_users() -> None:
    seeds = [31, 4, 1, 5, 9, 2, 6]
    expected = torch.stack([one_by_one(tensors(TV), [image], seed)[0] for image, seed in zip(IMAGES, seeds)])
    layouts = (torch.contiguous_format, torch.channels_last)
    for out in (
        *(torch.empty(7, 3, 32, 32).contiguous(memory_format=one) for one in layouts),
        torch.empty(9, 3, 32, 32)[1:8],
    ):
        assert tensors(T).batch(IMAGES, out=out, seeds=seeds) is out
        assert torch.equal(out, expected)
    array = np.empty((7, 3, 32, 32), np.float32)
    tensors(T).batch(IMAGES, out=array, seeds=seeds)
    assert torch.equal(torch.from_numpy(array), expected)
    own = fastaug.compile(tensors(TV), generator=torch.Generator())
    assert torch.equal(own.batch(IMAGES, seeds=seeds), expected)
    with pytest.raises(ValueError, match="out should"):
        tensors(T).batch(IMAGES, out=torch.empty(7, 3, 31, 32))


def test_errors_have_the_number_of_the_image() -> None:
    images = [*IMAGES[:3], Image.new("RGB", (8, 8)), *IMAGES[3:]]
    with pytest.raises(ValueError, match="larger") as caught:
        T.Compose([T.RandomCrop(20), T.ToImage()]).batch(images, num_threads=2)
    assert caught.value.index == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize("of", ["PIL", "tensors", "Images"])
@each("layout", [torch.channels_last, torch.contiguous_format, None])
@each("dtype", [torch.float16, torch.bfloat16, None])
def test_compiled_formats(dtype: Any, layout: Any, of: str) -> None:
    images = [CONTAINERS[of](image) for image in IMAGES]
    generator = torch.Generator().manual_seed(5)
    pipeline = fastaug.compile(tensors(TV), generator=generator, dtype=dtype, memory_format=layout)
    before = torch.get_rng_state()
    results = [pipeline(image) for image in images]
    generator.manual_seed(5)
    whole = pipeline.batch(images)
    assert torch.equal(torch.get_rng_state(), before)
    expected = stacked(one_by_one(tensors(TV), images)).to(dtype)
    assert_equal(stacked(results), expected)
    assert_equal(whole, expected)
    if layout is not None:
        assert whole.is_contiguous(memory_format=layout)
        assert all(one[None].is_contiguous() == (layout is torch.contiguous_format) for one in results)


def test_compiled_formats_of_samples() -> None:
    generator = torch.Generator().manual_seed(5)
    options = {"generator": generator, "dtype": torch.float16, "memory_format": torch.channels_last}
    results = fastaug.compile(detection(TV), **options).batch(samples())  # type: ignore[arg-type]
    for (image, target), (reference, other) in zip(results, one_by_one(detection(TV), samples()), strict=True):
        assert_equal((image, target), (reference.half(), other))
        assert image.stride(0) == 1


# ---- handles, paths and encoded bytes


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    found = [tmp_path / f"{number}.{'jpg' if number % 2 else 'png'}" for number in range(len(IMAGES))]
    for path, image in zip(found, IMAGES):
        image.save(path)
    return found


@pytest.mark.parametrize("name", PIPELINES)
def test_encoded_images(name: str, paths: list[Path]) -> None:
    make = PIPELINES[name]
    opened = [Image.open(path).convert("RGB") for path in paths]
    expected = one_by_one(make(TV), opened)
    whole = expected if name == "pictures" else stacked(expected)
    for pipeline in (make(T), fastaug.compile(make(TV)), T.Compose([fastaug.transforms.Decode(), *make(T).transforms])):
        for sources in (paths, [path.read_bytes() for path in paths], [fastaug.io.lazy(path) for path in paths]):
            torch.manual_seed(5)
            assert_equal(pipeline.batch(sources, num_threads=2), whole)
            torch.manual_seed(5)
            assert_equal(list(pipeline.map(iter(sources))), expected)
    assert_equal(one_by_one(make(T), [fastaug.io.lazy(path) for path in paths]), expected)
    decoding = T.Compose([fastaug.transforms.Decode(), *make(T).transforms])
    assert_equal(one_by_one(decoding, [path.read_bytes() for path in paths]), expected)


def test_handles_in_samples(paths: list[Path]) -> None:
    opened = [Image.open(path).convert("RGB") for path in paths]
    targets = [target for _, target in samples()]
    expected = one_by_one(detection(TV), list(zip(opened, targets)))
    handles = [fastaug.io.lazy(path) for path in paths]
    assert_equal(one_by_one(detection(T), list(zip(handles, targets))), expected)
    torch.manual_seed(5)
    assert_equal(detection(T).batch(list(zip(handles, targets))), expected)
    torch.manual_seed(5)
    assert_equal([detection(T)(handle, target) for handle, target in zip(handles, targets)], expected)


@each("as_bytes", [False, True])
def test_broken_files_in_samples(as_bytes: bool, paths: list[Path]) -> None:
    paths[2].write_bytes(paths[2].read_bytes()[:-200])
    handles = [LazyImage(path.read_bytes() if as_bytes else path) for path in paths]
    batch = [(handle, target) for handle, (_, target) in zip(handles, samples())]
    pipeline = detection(T)
    pipeline.batch(batch[:2])  # and from here on by the core
    with pytest.raises(OSError, match="truncated") as one:
        pipeline(batch[2])
    with pytest.raises(type(one.value), match="truncated") as several:
        pipeline.batch(batch)
    assert several.value.index == 2  # type: ignore[attr-defined]


def test_functions_take_handles(paths: list[Path]) -> None:
    opened, handle = Image.open(paths[0]), fastaug.io.lazy(paths[0])
    for call in (
        *(lambda F, image: F.resize(image, [20]), lambda F, image: F.resized_crop(image, 3, 4, 20, 30, [15, 16])),
        *(lambda F, image: F.pil_to_tensor(image), lambda F, image: F.adjust_hue(image, 0.1)),
        *(lambda F, image: F.get_dimensions(image), lambda F, image: F.get_size(image)),
        *(lambda F, image: list(F.five_crop(image, 10)), lambda F, image: F.to_image(image)),
    ):
        assert_equal(call(T.functional, handle), call(TV.functional, opened))


def test_handles_of_files_that_the_core_does_not_decode(tmp_path: Path) -> None:
    """And of images that it does not hold, of one bit or with a palette."""
    for mode in ("1", "P", "LA"):
        IMAGES[0].convert(mode).save(tmp_path / "image.png")
        handle, opened = fastaug.io.lazy(tmp_path / "image.png", mode=None), Image.open(tmp_path / "image.png")
        for make in (lambda v2: v2.CenterCrop(100), lambda v2: v2.Compose([v2.Identity(), v2.ToImage()])):
            assert_equal(make(T)({"image": handle, "label": 3}), make(TV)({"image": opened, "label": 3}))


@pytest.mark.parametrize("alone", [True, False])
def test_only_what_is_used_of_a_file_is_decoded(alone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_viewed", 0)  # no handle was used for several views of late
    photo("coffee", 300, 200).save(tmp_path / "image.png")
    transform = T.Compose([T.ToImage(), T.CenterCrop(40)])
    handle, found = fastaug.io.lazy(tmp_path / "image.png"), boxes("XYXY", 2, (300, 200), "float32", "soft", 0)
    plan = transform.explain(handle if alone else (handle, found))
    (detail,) = [one["detail"] for one in plan.passes if one["name"] == "decode"]
    assert detail == "PNG, rows 0 to 170, columns 0 to 200 of 300x200"
    result = transform(handle if alone else (handle, found))
    assert_equal(result if alone else result[0], transform(Image.open(tmp_path / "image.png")))
