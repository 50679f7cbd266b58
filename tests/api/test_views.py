"""fastaug.Views as an object: arguments, what it can be asked, pickles, compile's options, loaders."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image
from torch.utils.data import DataLoader as TorchLoader
from torchvision.datasets import ImageFolder

import fastaug
import fastaug.data
import fastaug.io
import fastaug.transforms as T
from fastaug.transforms import v2
from support.images import PHOTOS, photo
from support.outcomes import seed_all, snapshot

PHOTO = photo(PHOTOS[0], 100, 120)
Value = fastaug.Views.Value


def view(size: int, M: Any = T) -> Any:
    steps = [M.RandomResizedCrop(size), M.RandomHorizontalFlip(), M.ColorJitter(0.4, 0.4), M.ToTensor()]
    return M.Compose(steps)


def jpeg(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "JPEG")
    return file.getvalue()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([], ValueError, "Pass at least one transform: argument transforms is empty"),
        (view(3), TypeError, "Argument transforms should be a sequence of callables, got .*Compose.*pass a list of it"),
        ("ab", TypeError, "Argument transforms should be a sequence of callables, got <class 'str'>"),
        ([view(3), 5], TypeError, "Argument transforms should be callables, got <class 'int'> as number 1"),
        (None, TypeError, "Argument transforms should be a sequence of callables, got <class 'NoneType'>"),
    ],
)
def test_wrong_arguments(given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fastaug.Views(given)


def test_wrong_calls() -> None:
    crop = T.RandomCrop(3)
    for calls, result, error, message in (
        ([(crop, 1, 2)], Value(2), ValueError, "call 0 takes value 1, which nothing has made"),
        ([(crop, 0, 1), (crop, 0, 1)], Value(1), ValueError, "call 1 makes value 1, which has been made"),
        ([(crop, 0, 1)], [Value(2)], ValueError, "the result has value 2, which no call makes"),
        ([(3, 0, 1)], Value(1), TypeError, "the transform of call 0 should be callable, got <class 'int'>"),
    ):
        with pytest.raises(error, match=message):
            fastaug.Views._of_calls(calls, result)


def test_errors_are_those_of_the_transforms() -> None:
    views = fastaug.Views([T.RandomHorizontalFlip(), T.RandomCrop(1000)])
    for call in (views, lambda image: views.batch([image])[0]):
        with pytest.raises(ValueError, match=r"Required crop size \(1000, 1000\) is larger than input image size"):
            call(PHOTO)
    seed_all(5)
    expected = torch.rand(1)
    seed_all(5)
    with pytest.raises(TypeError):
        fastaug.Views([T.ToTensor()])(3)
    assert torch.equal(torch.rand(1), expected)


def test_repr() -> None:
    views = fastaug.Views([T.RandomCrop(3), T.Compose([T.ToTensor()])])
    assert repr(views) == (
        "Views(\n    RandomCrop(size=(3, 3), padding=None)\n    Compose(\n        ToTensor()\n    )\n)"
    )
    chain = fastaug.Views._of_calls([(T.ToTensor(), 0, 2), (T.Normalize(0.5, 0.5), 2, 1)], {"x": Value(1)})
    assert repr(chain) == (
        "Views(\n    Value(2) = ToTensor() of Value(0)\n    Value(1) = Normalize(mean=0.5, std=0.5) of Value(2)\n"
        "    result = {'x': Value(1)}\n)"
    )
    assert views.transforms == tuple(transform for transform, _, _ in views.calls)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_and_copies(protocol: int) -> None:
    crop = view(20)
    views = fastaug.Views._of_calls([(crop, 0, 1), (crop, 0, 2)], {"a": [Value(1), Value(2)], "b": Value(1)})
    pickled = pickle.dumps(views, protocol)
    assert b"_views" not in pickled
    seed_all(1)
    expected = views(PHOTO)
    for other in (pickle.loads(pickled), copy.deepcopy(views), copy.copy(views)):
        seed_all(1)
        got = other(PHOTO)
        assert torch.equal(got["a"][1], expected["a"][1]) and got["b"] is got["a"][0]
        assert other.calls[0][0] is other.calls[1][0]


def test_sample_and_replay() -> None:
    views = fastaug.Views([view(20), v2.Compose([v2.RandomCrop(30), v2.RandomHorizontalFlip()]), T.RandomCrop(9)])
    seed_all(3)
    expected = views(PHOTO)
    after = torch.rand(1)
    seed_all(3)
    params = views.sample(PHOTO)
    assert torch.equal(torch.rand(1), after)
    state = torch.default_generator.get_state()
    assert snapshot(views.replay(PHOTO, params)) == snapshot(expected)
    assert torch.equal(torch.default_generator.get_state(), state)
    assert [[entry["transform"] for entry in own] for own in params] == [
        ["RandomResizedCrop", "RandomHorizontalFlip", "ColorJitter"],
        ["RandomCrop", "RandomHorizontalFlip"],
        ["RandomCrop"],
    ]
    assert len(views.sample((100, 120))) == 3
    with pytest.raises(ValueError, match="params should be those of 3 transforms, got those of 2"):
        views.replay(PHOTO, params[:2])
    with pytest.raises(TypeError, match="params should be a list with the parameters of each view"):
        views.replay(PHOTO, {})
    with pytest.raises(ValueError, match="do not belong to this pipeline"):
        views.replay(PHOTO, [params[0], params[1], []])
    with pytest.raises(ValueError, match="subset is of pipelines of single images"):
        views.replay(PHOTO, params, subset=True)


def test_out_of_a_batch() -> None:
    views = fastaug.Views([view(20), view(30)])
    images = [PHOTO, jpeg(PHOTO), photo(PHOTOS[1], 80, 90)]
    seed_all(2)
    expected = views.batch(images, num_threads=2)
    out = [torch.empty(3, 3, 20, 20), np.empty((3, 3, 30, 30), np.float32)]
    seed_all(2)
    assert views.batch(images, out, num_threads=2) is out
    assert torch.equal(out[0], expected[0]) and torch.equal(torch.from_numpy(out[1]), expected[1])
    state = torch.default_generator.get_state()
    for wrong, error, message in (
        (out[:1], ValueError, "out should be one tensor for each of 2 views, got 1"),
        (out[0], TypeError, "out should be a list of tensors, one for each view, got Tensor"),
        ([out[0], torch.empty(3, 3, 20, 20)], ValueError, r"out\[1\] should hold .*\(3, 20, 20\).*\(3, 30, 30\)"),
        ([out[0], torch.empty(2, 3, 30, 30)], ValueError, r"out should be of shape \(3, ...\)"),
    ):
        with pytest.raises(error, match=message):
            views.batch(images, wrong)
    assert torch.equal(torch.default_generator.get_state(), state)
    seeded = views.batch(images, seeds=[4, 4, 4])
    assert torch.equal(seeded[0][:1], views.batch(images[:1], seeds=[4])[0])


def test_results_that_share_values_share_batches() -> None:
    crop = view(20)
    views = fastaug.Views._of_calls([(crop, 0, 1), (crop, 0, 2)], {"a": [Value(1), Value(2)], "b": Value(1), "c": ()})
    batch = views.batch([PHOTO] * 3)
    assert batch["b"] is batch["a"][0] and batch["b"].shape == (3, 3, 20, 20) and batch["c"] == ()


def test_looking_into_views() -> None:
    views = fastaug.Views([view(20), T.CenterCrop(30)])
    seed_all(1)
    first = views.sample(PHOTO)
    seed_all(1)
    said = views.explain(jpeg(PHOTO))
    assert views.sample(PHOTO) == first  # explain draws as the next call would, and leaves the generators
    text = str(said)
    assert text.startswith(
        "2 views of one image: drawn one after the other, then made by one call of the core\n"
        "the image is decoded once, as far as any of them reads it\n\n"
        "view 1: Compose\nmode exact: JPEG RGB 100x120 -> tensor float32 3x20x20\n"
    )
    assert "\n\nview 2: CenterCrop\n" in text and "decode" in text
    crop = first[0][0]
    assert f"top={crop['top']}, left={crop['left']}, height={crop['height']}" in text
    assert bool(views.check([PHOTO], 2)) and "view 2: CenterCrop" in str(views.check(PHOTO, 1))
    assert len(views.profile(PHOTO, 1).parts) == 2
    sheet = views.show([PHOTO], 3, seed=1)
    assert sheet.height > 3 * 160 and sheet.width > 3 * 160
    for call in (views.explain, views.profile):
        with pytest.raises(ValueError, match="plot is of one view"):
            call(PHOTO, plot="plan.png")
    with pytest.raises(ValueError, match="n should be at least 1"):
        views.show(PHOTO, 0)


def test_values_between_are_explained() -> None:
    views = fastaug.Views._of_calls(
        [(T.Resize(40), 0, 1), (T.RandomCrop(20), 1, 2), (T.RandomCrop(30), 1, 3)], [Value(2), Value(3)]
    )
    text = str(views.explain((100, 120)))
    assert "but for what is made before: value 1" in text.splitlines()[0]
    assert "view 3: RandomCrop of value 1\n" in text


def test_compiled_views() -> None:
    theirs = [view(20, TV), view(30, TV)]
    views = fastaug.Views(theirs)
    generator = torch.Generator()
    options = {"generator": generator, "dtype": torch.float16, "memory_format": torch.channels_last}
    compiled = fastaug.compile(views, **options)
    assert isinstance(compiled, fastaug.Compiled) and isinstance(compiled, fastaug.Views)
    for given in (PHOTO, jpeg(PHOTO)):
        image = PHOTO if given is PHOTO else fastaug.io.lazy(given).load()
        seed_all(4)
        expected = [transform(image).half() for transform in theirs]
        before = torch.default_generator.get_state()
        generator.manual_seed(4)
        got = compiled(given)
        assert all(map(torch.equal, got, expected))
        assert all(one.is_contiguous(memory_format=torch.channels_last) for one in (part[None] for part in got))
        assert torch.equal(generator.get_state(), before)
        generator.manual_seed(4)
        other = pickle.loads(pickle.dumps(compiled))
        assert all(map(torch.equal, other(given), expected))
        generator.manual_seed(4)
        assert all(torch.equal(column[0], one) for column, one in zip(compiled.batch([given, PHOTO]), expected))
    assert repr(compiled).startswith("compile(Views(\n    Compose(")
    # Its parts are read, and so are one program; the original's are torchvision's, and called.
    assert "barrier" not in str(compiled.explain(PHOTO)) and compiled.original is views
    again = fastaug.compile(compiled, mode="fast")
    assert again.original is views and again.mode == "fast" and again.transforms[0].mode == "fast"
    assert fastaug.compile(fastaug.Views([T.RandomRotation(9)]), arithmetic="pil").transforms[0].arithmetic == "pil"
    with pytest.raises(ValueError, match="mode should be"):
        fastaug.compile(views, "slow")


def test_a_warning_is_of_the_whole() -> None:
    def untold(image: Any) -> Any:
        return image

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fastaug.compile(fastaug.Views([TV.RandomCrop(3), untold]))
    with pytest.warns(UserWarning, match="cannot read untold"):
        fastaug.compile(fastaug.Views([untold]))


def test_compiled_values_that_go_on_are_converted_at_the_end() -> None:
    calls = [(T.ToTensor(), 0, 1), (T.Normalize(0.5, 0.5), 1, 2)]
    views = fastaug.Views._of_calls(calls, [Value(1), Value(2)])
    compiled = fastaug.compile(views, dtype=torch.float16)
    expected = views(PHOTO)
    assert all(torch.equal(one, other.half()) for one, other in zip(compiled(PHOTO), expected))
    assert all(torch.equal(one[0], other.half()) for one, other in zip(compiled.batch([PHOTO]), expected))


def test_views_inside_a_compose() -> None:
    views = fastaug.Views([view(20), view(20)])
    pipeline = T.Compose([T.Resize(60), views, T.Lambda(torch.stack)])
    seed_all(3)
    expected = torch.stack(views(T.Resize(60)(PHOTO)))
    for made in (pipeline, fastaug.compile(pipeline), fastaug.Views([views])):
        seed_all(3)
        if isinstance(made, fastaug.Views):
            (inner,) = made(T.Resize(60)(PHOTO))
            assert torch.equal(torch.stack(inner), expected)
        else:
            assert torch.equal(made(PHOTO), expected)


def write_folder(root: Path) -> Path:
    for number in range(10):
        folder = root / f"class{number % 2}"
        folder.mkdir(exist_ok=True)
        photo(PHOTOS[number % 3], 70 + number, 90 - number).save(folder / f"{number}.jpg")
    return root


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("lazily", [False, True])
def test_loaders(tmp_path: Path, workers: int, lazily: bool) -> None:
    views = fastaug.Views([view(20), view(24), view(20)])
    options: dict[str, Any] = {"loader": fastaug.io.lazy} if lazily else {}
    dataset = ImageFolder(str(write_folder(tmp_path)), transform=views, **options)
    theirs = ImageFolder(str(tmp_path), transform=lambda image: [view(size, TV)(image) for size in (20, 24, 20)])
    settings: dict[str, Any] = {"batch_size": 4, "shuffle": True}
    if workers:
        settings |= {"num_workers": workers, "multiprocessing_context": None}
    torch.manual_seed(7)
    expected = [*TorchLoader(theirs, **settings)]
    torch.manual_seed(7)
    got = [*fastaug.data.DataLoader(dataset, **settings)]
    assert len(got) == len(expected) == 3
    for (ours, labels), (others, numbers) in zip(got, expected):
        assert type(ours) is type(others) is list and torch.equal(labels, numbers)
        assert all(map(torch.equal, ours, others))


def test_loaders_go_by_sample(tmp_path: Path) -> None:
    views = fastaug.Views([view(20), view(24)])
    dataset = ImageFolder(str(write_folder(tmp_path)), transform=views, loader=fastaug.io.lazy)
    settings: dict[str, Any] = {"batch_size": 5, "rng": "sample", "seed": 3}
    first = [part for part, _ in fastaug.data.DataLoader(dataset, num_threads=1, **settings)]
    second = [part for part, _ in fastaug.data.DataLoader(dataset, num_threads=3, num_workers=2, **settings)]
    assert all(torch.equal(one, other) for parts in zip(first, second) for one, other in zip(*parts))
