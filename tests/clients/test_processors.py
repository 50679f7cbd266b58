"""Every image processor of transformers, and the drop-in that takes its place: the same results, bit for bit."""

from __future__ import annotations

import copy
import importlib
import pickle
import pkgutil
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from bench.clients import load
from fastaug.adapters.transformers import installed, pipeline_of, processor
from fastaug.io import lazy
from support.images import PHOTOS, photo
from support.scale import cases

try:
    from transformers.image_processing_backends import PilBackend, TorchvisionBackend
except ImportError:  # before 5.3
    from transformers.image_processing_utils_fast import BaseImageProcessorFast as TorchvisionBackend

    PilBackend = None

BACKENDS = tuple(backend for backend in (TorchvisionBackend, PilBackend) if backend is not None)


def fast(name: str) -> Any:
    """Return the image processor of a model with torchvision's backend."""
    return getattr(transformers, f"{name}ImageProcessor{'' if PilBackend else 'Fast'}")


CLIPImageProcessor, DetrImageProcessor, LlavaNextImageProcessor = map(fast, ("CLIP", "Detr", "LlavaNext"))
Qwen2VLImageProcessor, Siglip2ImageProcessor, ViTImageProcessor = map(fast, ("Qwen2VL", "Siglip2", "ViT"))
#: These and that of Pillow's backend, where releases have it.
VITS = [ViTImageProcessor, *([transformers.ViTImageProcessorPil] if PilBackend else [])]

#: What these take is not images alone, or they need what is not installed.
ELSEWHERE = {f"LayoutLMv{n}ImageProcessor{kind}" for n in (2, 3) for kind in ("", "Fast")}


def classes() -> Iterator[Any]:
    """Return the image processors of all models."""
    for module in pkgutil.iter_modules(transformers.models.__path__):
        folder = Path(transformers.models.__path__[0]) / module.name
        for file in sorted(folder.glob("image_processing*.py")):
            name = f"transformers.models.{module.name}.{file.stem}"
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = vars(importlib.import_module(name))
            except ImportError:
                continue
            for cls in found.values():
                backend = isinstance(cls, type) and issubclass(cls, BACKENDS)
                if backend and cls.__module__ == name and cls.__name__ not in ELSEWHERE:
                    yield cls


CLASSES = sorted(classes(), key=lambda cls: (cls.__name__, cls.__module__))

#: Ways to call one; the first that a class takes is compared.
CALLS: list[dict[str, Any]] = [{}, {"boxes": [[[5, 6, 70, 80], [10, 5, 60, 77]]]}]


def made(cls: Any) -> Any:
    try:
        return cls()
    except Exception:  # a size that has no default
        return cls(size={"height": 224, "width": 224})


def differences(theirs: Any, ours: Any, at: str = "") -> Iterator[str]:
    """Yield where two results differ: in types, keys, shapes, dtypes or bits."""
    if type(theirs) is not type(ours):
        yield f"{at}: {type(theirs)} and {type(ours)}"
    elif isinstance(theirs, torch.Tensor):
        same = theirs.dtype is ours.dtype and theirs.shape == ours.shape
        if not same or not torch.equal(theirs.nan_to_num(), ours.nan_to_num()):
            yield f"{at}: {theirs.dtype} {tuple(theirs.shape)} and {ours.dtype} {tuple(ours.shape)}"
    elif isinstance(theirs, np.ndarray) and theirs.dtype == object:
        yield from differences(list(theirs), list(ours), at)
    elif isinstance(theirs, np.ndarray):
        if theirs.dtype != ours.dtype or not np.array_equal(theirs, ours):
            yield f"{at}: {theirs.dtype} {theirs.shape} and {ours.dtype} {ours.shape}"
    elif hasattr(theirs, "items"):
        if list(theirs) != list(ours):
            yield f"{at}: {list(theirs)} and {list(ours)}"
        else:
            for key in theirs:
                yield from differences(theirs[key], ours[key], f"{at}.{key}")
    elif isinstance(theirs, (list, tuple)):
        if len(theirs) != len(ours):
            yield f"{at}: {len(theirs)} and {len(ours)}"
        else:
            for number, (one, other) in enumerate(zip(theirs, ours)):
                yield from differences(one, other, f"{at}[{number}]")
    elif theirs != ours and not (theirs != theirs and ours != ours):
        yield f"{at}: {theirs} and {ours}"


def outcome(p: Any, images: Any, options: dict[str, Any]) -> Any:
    """Return the result of a call, or its error."""
    try:
        return p(images, **options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def image(rng: random.Random) -> Any:
    """Return a photograph of a random size, kind and mode."""
    height, width = rng.choice([(91, 130), (130, 91), (224, 224), (60, 200), (333, 250), (47, 33)])
    found = photo(rng.choice(PHOTOS), height, width)
    kind = rng.choice(["pil"] * 5 + ["mode"] * 2 + ["tensor", "array", "planes"])
    if kind == "mode":
        return found.convert(rng.choice(["L", "RGBA", "P", "CMYK", "LA"]))
    array = np.array(found)
    if kind == "array":
        return array
    if kind == "planes":
        return np.ascontiguousarray(array.transpose(2, 0, 1))
    return torch.from_numpy(array).permute(2, 0, 1).contiguous() if kind == "tensor" else found


def options(rng: random.Random, p: Any) -> dict[str, Any]:
    """Return random options that processors have in common."""
    drawn: dict[str, Any] = {"return_tensors": rng.choice(["pt"] * 4 + ["np", None])}
    choices: dict[str, list[Any]] = {
        "do_resize": [True, True, False],
        "do_rescale": [True, True, False],
        "do_normalize": [True, True, False],
        "do_center_crop": [True, False],
        "do_pad": [True, False],
        "do_convert_rgb": [True, True, False],
        "resample": [0, 1, 2, 3],
        "image_mean": [[0.1, 0.6, 0.35], 0.5],
        "image_std": [[0.21, 0.9, 0.33], 0.25],
        "rescale_factor": [1 / 127.5, 1 / 255, 1],
        "disable_grouping": [True, False],
    }
    names = [name for name in choices if name in p._valid_kwargs_names and getattr(p, name, None) is not None]
    names += ["disable_grouping"] * ("disable_grouping" in p._valid_kwargs_names)
    for name in rng.sample(names, min(len(names), rng.choice([0, 0, 1, 2]))):
        drawn[name] = rng.choice(choices[name])
    return drawn


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_equal(cls: Any) -> None:
    theirs = made(cls)
    ours = processor(theirs)
    rng = random.Random(cls.__name__)
    done = 0
    for number in range(cases(30)):
        images = image(rng) if rng.random() < 0.5 else [image(rng) for _ in range(rng.choice([1, 2, 3]))]
        given = options(rng, theirs) if number else {"return_tensors": "pt"}
        for call in CALLS:
            if not call or number == 0:
                expected = outcome(theirs, images, {**given, **call})
                found = outcome(ours, images, {**given, **call})
                assert not list(differences(expected, found)), (number, given, call)
                done += not isinstance(expected, str)
    # Calls that come again need not run the model's code, but have other samples.
    pictures = [photo("coffee", 130, 200), photo("chelsea", 91, 130)]
    for turn in range(4):
        images = [one.transpose(Image.Transpose(turn % 2)) for one in pictures]
        expected, found = (outcome(p, images, {"return_tensors": "pt"}) for p in (theirs, ours))
        assert not list(differences(expected, found)), turn
        done += not isinstance(expected, str)
    if not done:
        pytest.skip("takes no image alone")


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_pipeline(cls: Any) -> None:
    """A pipeline of a processor has its results at every size, or there is none."""
    theirs = made(cls)
    try:
        ours = pipeline_of(theirs)
    except ValueError as error:
        pytest.skip(str(error))
    copied = pickle.loads(pickle.dumps(ours))
    for height, width in ((91, 130), (130, 91), (224, 224), (60, 200), (333, 250), (47, 33)):
        picture = photo("chelsea", height, width)
        expected = theirs(picture, return_tensors="pt")["pixel_values"]
        for pipeline in (ours, copied):
            assert torch.equal(pipeline(picture)[None], expected), (height, width)


def test_pipelines_are_many() -> None:
    """Overrides that only call what they override are no reason to refuse."""
    for name in ("ViT", "CLIP", "Siglip", "Beit", "DPT", "ConvNext", "Segformer", "DeiT"):
        pipeline_of(made(fast(name)))


def test_it_stays_what_it_was(tmp_path: Path) -> None:
    for cls in (ViTImageProcessor, Qwen2VLImageProcessor):
        theirs = cls()
        ours = processor(theirs)
        assert isinstance(ours, cls) and type(ours).__name__ == cls.__name__
        assert ours.to_dict() == theirs.to_dict() and repr(ours) == repr(theirs)
        ours.save_pretrained(tmp_path)
        assert cls.from_pretrained(tmp_path).to_dict() == theirs.to_dict()
        ours.image_mean = [0.1, 0.2, 0.3]
        assert theirs.image_mean != ours.image_mean
        picture = photo("chelsea", 91, 120)
        for other in (copy.copy(ours), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours)), processor(ours)):
            assert type(other) is type(ours) and other.image_mean == [0.1, 0.2, 0.3]
            assert not list(differences(ours(picture, return_tensors="pt"), other(picture, return_tensors="pt")))


@pytest.mark.parametrize(
    "cls", [ViTImageProcessor, CLIPImageProcessor, DetrImageProcessor, LlavaNextImageProcessor, Qwen2VLImageProcessor]
)
def test_files(cls: Any, files: list[Path]) -> None:
    theirs, ours = cls(), processor(cls())
    expected = theirs([load(path) for path in files], return_tensors="pt")
    for images in (files, [path.read_bytes() for path in files], [lazy(path) for path in files]):
        assert not list(differences(expected, ours(images, return_tensors="pt")))
    theirs, ours = (p(image, return_tensors="pt") for p, image in ((theirs, load(files[0])), (ours, files[0])))
    assert not list(differences(theirs, ours))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("cls", [ViTImageProcessor, LlavaNextImageProcessor, Qwen2VLImageProcessor, DetrImageProcessor])
def test_options(cls: Any, dtype: torch.dtype) -> None:
    pictures = [photo("chelsea", 91, 150), photo("coffee", 130, 99), photo("chelsea", 60, 60)]
    expected = cls()(pictures, return_tensors="pt").to(dtype)
    ours = processor(cls(), dtype=dtype, recycle=True, num_threads=3)
    kept = ours(pictures, return_tensors="pt")
    other = ours(pictures[::-1], return_tensors="pt")
    assert not list(differences(expected, kept))
    again = ours(pictures, return_tensors="pt")
    assert not list(differences(expected, again))
    assert again["pixel_values"].data_ptr() == kept["pixel_values"].data_ptr() != other["pixel_values"].data_ptr()


def test_each_result_is_written_once() -> None:
    """The model's own code touches no samples, and one tensor is made."""
    picture = photo("coffee", 300, 400)
    for cls in (ViTImageProcessor, CLIPImageProcessor, DetrImageProcessor, LlavaNextImageProcessor) + (
        Qwen2VLImageProcessor,
        Siglip2ImageProcessor,
    ):
        report = processor(cls()).explain([picture, picture.resize((200, 300))], return_tensors="pt")
        assert not report.own and len(report.native) == 1, (cls, str(report))
    assert "patches" in str(processor(Qwen2VLImageProcessor()).explain(picture))


@pytest.mark.skipif(not PilBackend, reason="older releases do other things to samples")
def test_tiles_that_are_unfolded() -> None:
    """They are parts of one resize, and made in the model's own tensor."""
    report = processor(fast("Idefics3")()).explain(photo("coffee", 300, 400), return_tensors="pt")
    assert not report.own and all("in the model's own tensor: resize" in one for one in report.native)


def test_calls_that_come_again() -> None:
    """The model's own code does not run for them, unless something that it depends on has changed."""
    kinds = (lambda found: found, lambda found: torch.from_numpy(np.array(found)).permute(2, 0, 1).contiguous())
    others = fast("Beit"), fast("Mask2Former")  # which have code of their own where images come in
    for cls in (*VITS, DetrImageProcessor, LlavaNextImageProcessor, Qwen2VLImageProcessor, *others):
        for kind in kinds[: 1 if cls in VITS[1:] else 2]:
            theirs = cls()
            ours = processor(theirs)
            plans = ours._fastaug.plans._plans
            pictures = [
                photo(name, height, width) for name, height, width in (("chelsea", 91, 150), ("coffee", 60, 60))
            ]
            for turn in range(4):
                images = [kind(one.rotate(90 * turn % 180, expand=False)) for one in pictures]
                expected = theirs(images, return_tensors="pt")
                assert not list(differences(expected, ours(images, return_tensors="pt")))
                assert len(plans) == (turn > 0)
            ours.image_mean = theirs.image_mean = [0.1, 0.2, 0.3]
            expected = theirs(images, return_tensors="pt")
            assert not list(differences(expected, ours(images, return_tensors="pt")))
            expected = theirs(images, do_normalize=False, return_tensors="pt")
            assert not list(differences(expected, ours(images, do_normalize=False, return_tensors="pt")))


class Looks(ViTImageProcessor):  # type: ignore[misc]
    """Looks at samples of images before they are pending."""

    def preprocess(self, images: Any, **kwargs: Any) -> Any:
        bright = float(np.mean([np.asarray(one).mean() for one in images]))
        return super().preprocess(images, **{**kwargs, "image_mean": [bright / 1000] * 3})


class LooksNot(ViTImageProcessor):  # type: ignore[misc]
    """Looks at all but samples."""

    def preprocess(self, images: Any, **kwargs: Any) -> Any:
        wide = max(one.width if isinstance(one, Image.Image) else one.shape[-1] for one in images)
        return super().preprocess(images, **{**kwargs, "image_mean": [wide / 1000] * 3})


def test_code_that_gets_images() -> None:
    for cls, plans in ((Looks, 0), (LooksNot, 1)):
        theirs, ours = cls(), processor(cls())
        for turn in range(4):
            picture = photo("chelsea", 91, 150).rotate(180 * turn)
            images = [picture, picture.transpose(Image.Transpose(turn % 2))]
            tensors = [torch.from_numpy(np.array(one)).permute(2, 0, 1).contiguous() for one in images]
            for given in (images, tensors):
                expected, found = (outcome(p, given, {"return_tensors": "pt"}) for p in (theirs, ours))
                assert not isinstance(expected, str) and not list(differences(expected, found))
        assert len(ours._fastaug.plans._plans) == 2 * plans


def test_patched_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, picture = processor(ViTImageProcessor()), photo("chelsea", 91, 150)
    for _ in range(3):
        ours(picture, return_tensors="pt")
    monkeypatch.setattr(TorchvisionBackend, "resize", lambda self, image, **options: image)
    assert ours(picture, return_tensors="pt")["pixel_values"].shape == (1, 3, 91, 150)


class Writes(ViTImageProcessor):  # type: ignore[misc]
    """Writes into an image, whose part it has taken before."""

    def resize(self, image: Any, *args: Any, **kwargs: Any) -> Any:
        part = image[..., :5, :5]
        image[..., 0, 0] = 7
        return super().resize(image + part.sum(dtype=torch.uint8), *args, **kwargs)


class Fails(ViTImageProcessor):  # type: ignore[misc]
    def rescale_and_normalize(self, images: Any, *args: Any, **kwargs: Any) -> Any:
        raise KeyError(tuple(images.shape))


def test_what_is_not_known() -> None:
    picture = photo("chelsea", 91, 120)
    assert not list(
        differences(Writes()(picture, return_tensors="pt"), processor(Writes())(picture, return_tensors="pt"))
    )
    assert "UnsureError" in str(processor(Writes()).explain(picture))
    assert outcome(Fails(), picture, {}) == outcome(processor(Fails()), picture, {})
    assert outcome(ViTImageProcessor(), 7, {}) == outcome(processor(ViTImageProcessor()), 7, {})
    nothing = torch.nn.Identity()
    assert processor(nothing) is nothing
    for options, message in (({"dtype": torch.int8}, "dtype should be"), ({"num_threads": 0}, "num_threads should be")):
        with pytest.raises(ValueError, match=message):
            processor(ViTImageProcessor(), **options)


class Whole:
    """As an AutoProcessor."""

    def __init__(self, image_processor: Any) -> None:
        self.image_processor = image_processor


def test_processors_of_several_kinds() -> None:
    whole = Whole(ViTImageProcessor())
    ours = processor(whole)
    assert type(ours) is Whole and ours is not whole and type(whole.image_processor) is ViTImageProcessor
    assert hasattr(ours.image_processor, "explain")


def test_installed(tmp_path: Path) -> None:
    theirs = CLIPImageProcessor()
    theirs.save_pretrained(tmp_path)
    with installed():
        ours = CLIPImageProcessor.from_pretrained(tmp_path)
        automatic = transformers.AutoImageProcessor.from_pretrained(tmp_path)
        _, unused = CLIPImageProcessor.from_pretrained(tmp_path, return_unused_kwargs=True, other=3)
    assert hasattr(ours, "explain") and hasattr(automatic, "explain") and unused == {"other": 3}
    assert not hasattr(CLIPImageProcessor.from_pretrained(tmp_path), "explain")
    picture = Image.new("RGB", (90, 80), "teal")
    expected = theirs(picture, return_tensors="pt")
    assert not list(differences(expected, ours(picture, return_tensors="pt")))
    assert not list(differences(expected, automatic(picture, return_tensors="pt")))
