"""Views are the results of their transforms, called one after the other: pixels, objects, draws and generators."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image
from torchvision import tv_tensors as tvt
from torchvision.transforms import v2 as TV2

import fastaug
import fastaug.io
import fastaug.transforms as T
from fastaug._image import kept
from fastaug.transforms import v2
from support.images import PHOTOS, photo, to_chw
from support.outcomes import numpy_state, seed_all, snapshot

PHOTO = photo(PHOTOS[0], 150, 190)


def encoded(image: Image.Image, name: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, name, **options)
    return file.getvalue()


JPEG, PNG, GIF = encoded(PHOTO, "JPEG"), encoded(PHOTO, "PNG"), encoded(PHOTO, "GIF")


def dino(M: Any) -> list[Any]:
    """The ten views of DINOv2, small."""
    end = [M.ToTensor(), M.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]

    def view(size: int, scale: tuple[float, float], blur: float, *more: Any) -> Any:
        crop = M.RandomResizedCrop(size, scale=scale, interpolation=M.InterpolationMode.BICUBIC)
        colour = [M.RandomApply([M.ColorJitter(0.4, 0.4, 0.2, 0.1)], p=0.8), M.RandomGrayscale(p=0.2)]
        soft = M.RandomApply([M.GaussianBlur(9, (0.1, 2.0))], p=blur)
        return M.Compose([crop, M.RandomHorizontalFlip(), *colour, soft, *more, *end])

    large = view(56, (0.32, 1.0), 1.0), view(56, (0.32, 1.0), 0.1, M.RandomSolarize(128, 0.2))
    return [*large, *[view(24, (0.05, 0.32), 0.5)] * 8]


def pictures(M: Any) -> list[Any]:
    """PIL images, the image itself, and what Pillow does by itself."""
    nothing = M.Compose([])
    return [nothing, M.RandomHorizontalFlip(1.0), M.CenterCrop(30), M.RandomRotation(20), M.RandomPosterize(3, 1.0)]


def drawing(image: Any) -> Any:
    """A callable that draws from all three generators, and writes to what it is given."""
    top = random.randrange(9) + int(torch.randint(0, 9, ())) + np.random.randint(9)  # noqa: NPY002
    if isinstance(image, Image.Image):
        image.paste((top, 1, 2), (0, 0, 20, 30))
    else:
        image[..., :20, :30] = top
    return image


def barriers(M: Any) -> list[Any]:
    between = M.Compose([M.RandomCrop(80), M.Lambda(drawing), M.RandomHorizontalFlip()])
    choice = M.RandomChoice([M.RandomCrop(20), M.RandomVerticalFlip(1.0)])
    return [M.RandomCrop(60), drawing, M.RandomCrop(60), between, choice, M.RandomCrop(50)]


VIEWS: dict[str, Callable[[Any], list[Any]]] = {one.__name__: one for one in (dino, pictures, barriers)}
INPUTS: dict[str, Callable[[], Any]] = {
    "PIL": PHOTO.copy,
    "file": lambda: Image.open(io.BytesIO(JPEG)),
    "tensor": lambda: to_chw(PHOTO),
    "bytes": lambda: JPEG,
    "handle": lambda: fastaug.io.lazy(PNG),
    "handle of GIF": lambda: fastaug.io.lazy(GIF),
}


def states() -> tuple[Any, ...]:
    return torch.default_generator.get_state().tolist(), random.getstate(), numpy_state()


def one_by_one(transforms: list[Any], image: Any, seed: int) -> tuple[Any, Any]:
    seed_all(seed)
    return [snapshot(transform(image)) for transform in transforms], states()


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("name", VIEWS)
def test_views_are_torchvisions(name: str, kind: str) -> None:
    ours, theirs = VIEWS[name](T), VIEWS[name](TV)
    views = fastaug.Views(ours)
    for seed in range(4):
        given = INPUTS[kind]()
        if name == "dino" and kind == "tensor":
            given = TV.functional.to_pil_image(given)
        eager = given
        if isinstance(given, (bytes, fastaug.io.LazyImage)):
            source = JPEG if isinstance(given, bytes) else GIF if "GIF" in kind else PNG
            eager = Image.open(io.BytesIO(source)).convert("RGB")
        elif not isinstance(given, torch.Tensor):
            eager = given.copy()
        else:
            eager = given.clone()
        # Of an encoded image, each view has an image of its own.
        alone = isinstance(given, (bytes, fastaug.io.LazyImage))
        seed_all(seed)
        expected = [transform(eager.copy() if alone else eager) for transform in theirs]
        before = states()
        seed_all(seed)
        got = views(given)
        assert list(map(snapshot, got)) == list(map(snapshot, expected))
        assert states() == before


def test_a_callable_that_writes_to_the_image_comes_in_its_turn() -> None:
    def blacken(image: Image.Image) -> Image.Image:
        image.paste((0, 0, 0), (0, 0, *image.size))
        return image

    views = fastaug.Views([T.RandomHorizontalFlip(1.0), T.Compose([T.Pad(1), T.Pad(1)]), blacken, T.CenterCrop(9)])
    image = PHOTO.copy()
    flipped, padded, black, cropped = views(image)
    assert black is image and not np.asarray(cropped).any()
    assert snapshot(flipped) == snapshot(TV.functional.hflip(PHOTO))
    assert snapshot(padded) == snapshot(TV.functional.pad(PHOTO, 2))
    tensor = to_chw(PHOTO)
    normal, untouched = fastaug.Views([v2.Compose([v2.Pad(1), v2.Pad(1)]), v2.RandomErasing(1.0, inplace=True)])(tensor)
    assert torch.equal(normal, TV2.functional.pad(to_chw(PHOTO), [2]))
    assert untouched.shape == tensor.shape


def test_views_of_v2_take_samples() -> None:
    def views(M: Any) -> list[Any]:
        crop = M.Compose([M.RandomResizedCrop(40), M.RandomHorizontalFlip(), M.ColorJitter(0.4, 0.4)])
        return [crop, M.RandomRotation(20), M.Compose([M.RandomCrop(50), M.SanitizeBoundingBoxes()])]

    boxes = tvt.BoundingBoxes([[10, 20, 60, 90], [70, 20, 150, 140]], format="XYXY", canvas_size=(150, 190))
    sample = {"image": tvt.Image(to_chw(PHOTO)), "boxes": boxes, "labels": torch.tensor([1, 2])}
    for given in ((sample,), (PHOTO, {"boxes": boxes, "labels": torch.tensor([3, 4])})):
        for seed in range(4):
            seed_all(seed)
            expected = [transform(*given) for transform in views(TV2)]
            before = states()
            seed_all(seed)
            got = fastaug.Views(views(v2))(*given)
            assert states() == before
            flat, spec = torch.utils._pytree.tree_flatten(got)
            theirs, same = torch.utils._pytree.tree_flatten(expected)
            assert spec == same and list(map(type, flat)) == list(map(type, theirs))
            assert list(map(snapshot, flat)) == list(map(snapshot, theirs))


def test_views_of_several_kinds() -> None:
    """v1 and v2 side by side, each with its own arithmetic; modes of their own; a function; a module."""
    own = [
        T.Compose([T.RandomRotation(20), T.RandomResizedCrop(32)], mode="fast"),
        v2.Compose([v2.RandomResizedCrop(32), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]),
        torch.nn.Sequential(T.RandomCrop(30), T.RandomHorizontalFlip()),
        T.Compose([T.RandomResizedCrop(32)], arithmetic="pil"),
        fastaug.compile(TV.RandomCrop(20), generator=torch.Generator().manual_seed(3)),
        fastaug.compile(TV.Compose([TV.Resize(32), TV.ToTensor()]), dtype=torch.float16),
        TV.RandomCrop(12),
    ]
    views = fastaug.Views(own)
    for given in (PHOTO, JPEG):
        image = given if isinstance(given, Image.Image) else fastaug.io.lazy(given).load()
        own[4].generator.manual_seed(5)
        expected, before = one_by_one(own, image, 3)
        own[4].generator.manual_seed(5)
        seed_all(3)
        assert [snapshot(view) for view in views(given)] == expected and states() == before


def test_values_that_several_take_are_made_once() -> None:
    seen = []

    def noted(image: Image.Image) -> Image.Image:
        seen.append(image)
        return image

    geometry = T.Compose([T.RandomResizedCrop(48), T.RandomHorizontalFlip()])
    jitter, end = T.ColorJitter(0.4, 0.4), T.ToTensor()
    value = fastaug.Views.Value
    calls = [(geometry, 0, 1), (jitter, 1, 2), (end, 2, 3), (geometry, 0, 4), (noted, 4, 5), (noted, 4, 6), (end, 4, 7)]
    views = fastaug.Views._of_calls(
        calls, {"a": [value(3), value(3)], "b": (value(4), value(7)), "c": (), "d": value(0)}
    )
    for given in (PHOTO, JPEG):
        seen.clear()
        image = given if isinstance(given, Image.Image) else fastaug.io.lazy(given).load()
        seed_all(2)
        first = end(jitter(geometry(image)))
        second = geometry(image)
        before = states()
        seed_all(2)
        result = views(given)
        assert states() == before and list(result) == ["a", "b", "c", "d"]
        assert result["a"][0] is result["a"][1] and torch.equal(result["a"][0], first)
        assert snapshot(result["b"][0]) == snapshot(second) and torch.equal(result["b"][1], end(second))
        assert result["c"] == () and result["d"] is given
        assert len(seen) == 2 and seen[0] is seen[1] is result["b"][0]


def test_calls_that_follow_each_other_are_one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = counted(monkeypatch)
    calls = [(T.RandomResizedCrop(48), 0, 1), (T.ColorJitter(0.4, 0.4), 1, 2), (T.ToTensor(), 2, 3)]
    seed_all(1)
    result = fastaug.Views._of_calls(calls, fastaug.Views.Value(3))(PHOTO)
    seed_all(1)
    assert torch.equal(result, T.Compose([transform for transform, _, _ in calls])(PHOTO))
    assert [len(jobs) for jobs in runs] == [1, 1]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[list[Any]]:
    """The jobs of each call of the core from here on."""
    from fastaug import _C
    from fastaug._draft import call

    runs: list[list[Any]] = []
    run = _C.run

    def counting(jobs: Any, *others: Any) -> None:
        runs.append(list(jobs))
        run(jobs, *others)

    monkeypatch.setattr(_C, "run", counting)
    monkeypatch.setattr(call.PLAIN, "run", counting)
    return runs


@pytest.mark.parametrize("given", [JPEG, PNG], ids=["JPEG", "PNG"])
def test_an_image_is_decoded_once(given: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """One native call, whose jobs are of one source: csrc/tests/execute/test_together.cpp has that make it once."""
    views = fastaug.Views(dino(T))
    runs = counted(monkeypatch)
    seed_all(1)
    handle = fastaug.io.lazy(given)
    views(handle)
    (jobs,) = runs
    assert len(jobs) == 10 and len({id(source) for _, source, _ in jobs}) == 1
    assert not handle.keeps


def test_an_image_in_samples_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    views = fastaug.Views([v2.RandomResizedCrop(30), v2.Compose([v2.RandomCrop(40), v2.ColorJitter(0.3)])])
    mask = tvt.Mask(torch.zeros(150, 190, dtype=torch.uint8))
    seed_all(1)
    expected = views({"image": Image.open(io.BytesIO(JPEG)), "mask": mask})
    runs = counted(monkeypatch)
    seed_all(1)
    got = views({"image": fastaug.io.lazy(JPEG), "mask": mask})
    (jobs,) = runs
    sources = [source for _, source, _ in jobs if source.channels == 3]
    assert len(sources) == 2 and sources[0] is sources[1]
    for one, other in zip(got, expected):
        assert snapshot(one["image"]) == snapshot(other["image"]) and torch.equal(one["mask"], other["mask"])


def test_an_interrupt_leaves_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a thread of a batch has to do after Ctrl-C came in the middle of it."""
    from fastaug import _C

    # Pillow flips top to bottom, and the core makes the others.
    views = fastaug.Views([T.RandomCrop(30), T.RandomVerticalFlip(1.0), T.ToTensor()])
    drawn = views._begin(PHOTO, views._call)
    seed_all(2)
    views._draft_all(drawn)
    run, calls = _C.run, []

    def interrupted(*arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) == 1:
            raise KeyboardInterrupt
        run(*arguments)

    monkeypatch.setattr(_C, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        views._delivered(drawn)
    result = views._delivered(drawn)
    assert len(calls) == 2
    seed_all(2)
    assert snapshot(result) == snapshot(views(PHOTO))


def test_pillow_decodes_once_what_the_core_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    original = Image.open

    def opening(*arguments: Any, **named: Any) -> Image.Image:
        opened.append(1)
        return original(*arguments, **named)

    monkeypatch.setattr(Image, "open", opening)
    views = fastaug.Views(dino(T))
    theirs = dino(TV)
    # Arithmetic coding, or data that ends early, shows while it is decoded.
    cut = JPEG[: len(JPEG) - 40] + b"\xff\xd9"
    for data in (GIF, cut):
        seed_all(4)
        eager = original(io.BytesIO(data)).convert("RGB")
        expected = [snapshot(transform(eager)) for transform in theirs]
        opened.clear()
        seed_all(4)
        handle = fastaug.io.lazy(data)
        _ = handle.size
        opened.clear()
        assert [snapshot(view) for view in views(handle)] == expected
        assert len(opened) <= 1


def test_what_nobody_decodes_is_an_error() -> None:
    views = fastaug.Views(dino(T))
    for data in (b"no image", JPEG[:300], PNG[: len(PNG) // 2]):
        with pytest.raises(fastaug.DecodeError):
            views(data)


def test_a_decode_at_the_head_says_how_bytes_are_opened() -> None:
    views = fastaug.Views([T.Compose([T.Decode("L"), T.CenterCrop(20)]), T.CenterCrop(10), T.Decode("RGBA")])
    grey, colour, transparent = views(JPEG)
    assert (grey.mode, colour.mode, transparent.mode) == ("L", "RGB", "RGBA")
    assert snapshot(grey) == snapshot(T.Compose([T.Decode("L"), T.CenterCrop(20)])(JPEG))
    batch = views.batch([JPEG, PNG])
    assert [[one.mode for one in column] for column in batch] == [["L"] * 2, ["RGB"] * 2, ["RGBA"] * 2]


def test_pixels_that_a_handle_keeps_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_viewed", 0)
    handle = fastaug.io.lazy(JPEG)
    views = fastaug.Views([T.RandomCrop(30), T.RandomCrop(40)])
    views(handle)
    assert not handle.keeps
    views(handle)
    assert handle.keeps
    seed_all(1)
    got = views(handle)
    seed_all(1)
    assert list(map(snapshot, got)) == list(map(snapshot, views(JPEG)))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", VIEWS)
def test_batches_are_collated_calls(name: str, threads: int) -> None:
    views = fastaug.Views(VIEWS[name](T))
    images = [JPEG, fastaug.io.lazy(PNG), photo(PHOTOS[1], 120, 99), GIF, photo(PHOTOS[2], 90, 140)]
    if name == "barriers":
        images = [JPEG, PNG, GIF]  # whose images nobody else sees
    seed_all(6)
    expected = [views(image) for image in images]
    before = states()
    seed_all(6)
    batch = views.batch(images, num_threads=threads)
    assert states() == before
    for number, column in enumerate(batch):
        rows = [row[number] for row in expected]
        if isinstance(column, torch.Tensor):
            assert torch.equal(column, torch.stack(rows))
        else:
            assert list(map(snapshot, column)) == list(map(snapshot, rows))
    assert isinstance(batch[0], torch.Tensor) is (name == "dino")
    seed_all(6)
    mapped = list(views.map(images, num_threads=threads))
    assert states() == before and snapshot(mapped) == snapshot(expected)


def test_batches_of_samples_of_v2() -> None:
    views = fastaug.Views([v2.Compose([v2.RandomResizedCrop(24), v2.ToImage()]), v2.RandomResizedCrop(30)])
    images = [photo(name, 100, 120) for name in PHOTOS[:3]]
    seed_all(1)
    expected = [views(image) for image in images]
    seed_all(1)
    first, second = views.batch(images)
    assert type(first) is tvt.Image or type(first) is torch.Tensor
    assert torch.equal(torch.as_tensor(first), torch.stack([torch.as_tensor(one) for one, _ in expected]))
    assert list(map(snapshot, second)) == [snapshot(other) for _, other in expected]


def test_tracing_sees_each_transform() -> None:
    views = fastaug.Views([T.RandomHorizontalFlip(1.0), T.CenterCrop(20)])
    tensor = to_chw(PHOTO)
    compiled = torch.compile(views, backend="eager")
    assert all(map(torch.equal, compiled(tensor), views(tensor)))
