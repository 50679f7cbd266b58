"""While torch traces, transforms are torch's own ops: every graph has all of them, and gives what torchvision's gives.

What is traced on one image is run on another one, so that pixels which are in no graph, or are constants of it, show.
torchvision runs the same, on the same seed. Where it raises, so do we, unless it is in the list of what works here.
"""

from __future__ import annotations

import io
import logging
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as V
from PIL import Image
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_map
from torchvision import tv_tensors
from torchvision.transforms import v2 as V2

import fastaug
import fastaug.transforms as T
from fastaug._program.eager import traced
from fastaug.io import decode_image
from fastaug.transforms import v2 as V2_OURS
from support.differences import each, grouped
from tests.tables.tolerances import FLOAT_TENSOR

HEIGHT, WIDTH = 12, 16

#: From a package of transforms, what is called with a tensor.
Make = Callable[[Any], Callable[[torch.Tensor], Any]]


def function(name: str, *arguments: Any, **options: Any) -> Make:
    return lambda package: lambda image: getattr(package.functional, name)(image, *arguments, **options)


def transform(name: str, *arguments: Any, **options: Any) -> Make:
    return lambda package: getattr(package, name)(*arguments, **options)


def with_mode(mode: str, name: str, *arguments: Any, **options: Any) -> Make:
    """As `function`, with an interpolation."""
    return lambda package: (
        lambda image: getattr(package.functional, name)(
            image, *arguments, interpolation=getattr(package.InterpolationMode, mode), **options
        )
    )


CORNERS = [[0, 0], [15, 0], [15, 11], [0, 11]]
MOVED = [[1, 1], [14, 0], [15, 10], [0, 11]]

FUNCTIONS: dict[str, Make] = {
    "resize": function("resize", [7, 9]),
    "resize short side": function("resize", 7),
    "resize to the same": function("resize", [HEIGHT, WIDTH]),
    "resize nearest": with_mode("NEAREST", "resize", [7, 9]),
    "resize nearest-exact": with_mode("NEAREST_EXACT", "resize", [7, 9]),
    "resize bicubic": with_mode("BICUBIC", "resize", [7, 9]),
    "resize, no antialias": function("resize", [7, 9], antialias=False),
    "pad": function("pad", [1, 2, 3, 4], 7),
    "pad edge": function("pad", 2, padding_mode="edge"),
    "pad reflect": function("pad", 2, padding_mode="reflect"),
    "pad symmetric": function("pad", 2, padding_mode="symmetric"),
    "crop": function("crop", 1, 2, 5, 6),
    "crop beyond": function("crop", -1, -2, 20, 20),
    "center_crop": function("center_crop", [6, 6]),
    "center_crop beyond": function("center_crop", [20, 6]),
    "resized_crop": function("resized_crop", 1, 2, 6, 7, [5, 5]),
    "hflip": function("hflip"),
    "vflip": function("vflip"),
    "rotate": function("rotate", 30),
    "rotate with fill": with_mode("BILINEAR", "rotate", 30, fill=[3.0]),
    "rotate, expand": function("rotate", 30, expand=True),
    "affine": with_mode("BILINEAR", "affine", 10, [1, 2], 1.1, [3.0, 4.0]),
    "affine shift": function("affine", 0, [1, 2], 1.0, 0.0),
    "perspective": function("perspective", CORNERS, MOVED, fill=[1.0]),
    "gaussian_blur": function("gaussian_blur", [3, 5], [0.8, 1.1]),
    "elastic_transform": lambda package: (
        lambda image: package.functional.elastic_transform(image, torch.full((1, HEIGHT, WIDTH, 2), 0.1))
    ),
    "five_crop": function("five_crop", [5, 5]),
    "ten_crop": function("ten_crop", [5, 5]),
    "adjust_brightness": function("adjust_brightness", 1.3),
    "adjust_contrast": function("adjust_contrast", 1.3),
    "adjust_saturation": function("adjust_saturation", 1.3),
    "adjust_hue": function("adjust_hue", 0.2),
    "adjust_gamma": function("adjust_gamma", 0.7),
    "adjust_sharpness": function("adjust_sharpness", 1.7),
    "rgb_to_grayscale": function("rgb_to_grayscale"),
    "rgb_to_grayscale of 3": function("rgb_to_grayscale", 3),
    "invert": function("invert"),
    "posterize": function("posterize", 3),
    "solarize": function("solarize", 100),
    "autocontrast": function("autocontrast"),
    "equalize": function("equalize"),
    "erase": lambda package: lambda image: package.functional.erase(image, 1, 2, 3, 4, torch.tensor(0)),
    "convert_image_dtype": function("convert_image_dtype", torch.float32),
    "normalize": lambda package: lambda image: package.functional.normalize(image / 255, [0.5] * 3, [0.2] * 3),
    "get_dimensions": lambda package: lambda image: image * package.functional.get_dimensions(image)[0],
}

TRANSFORMS: dict[str, Make] = {
    "RandomCrop": transform("RandomCrop", 6, padding=2),
    "RandomCrop to the same": transform("RandomCrop", (HEIGHT, WIDTH)),
    "RandomHorizontalFlip": transform("RandomHorizontalFlip"),
    "RandomResizedCrop": transform("RandomResizedCrop", 5),
    "ColorJitter": transform("ColorJitter", 0.5, 0.5, 0.5, 0.2),
    "RandomRotation": transform("RandomRotation", 30),
    "RandomAffine": transform("RandomAffine", 30, (0.1, 0.1), (0.8, 1.2), 5),
    "RandomGrayscale": transform("RandomGrayscale", 0.9),
    "RandomPerspective": transform("RandomPerspective", p=1.0),
    "RandomErasing": transform("RandomErasing", 1.0),
    "RandomErasing with noise": transform("RandomErasing", 1.0, value="random"),
    "GaussianBlur": transform("GaussianBlur", 3),
    "RandomPosterize": transform("RandomPosterize", 3, 0.9),
    "RandomEqualize": transform("RandomEqualize", 0.9),
    "ElasticTransform": transform("ElasticTransform", 5.0, 2.0),
    "AutoAugment": transform("AutoAugment"),
    "RandAugment": transform("RandAugment"),
    "TrivialAugmentWide": transform("TrivialAugmentWide"),
    "AugMix": transform("AugMix"),
    "LinearTransformation": lambda package: (
        lambda image: package.LinearTransformation(torch.eye(576), torch.ones(576))(image.float())
    ),
    "RandomApply": lambda package: package.RandomApply([package.Pad(1)], p=1.0),
    "RandomOrder": lambda package: package.RandomOrder([package.Pad(1), package.Resize([9, 9])]),
    "RandomChoice": lambda package: package.RandomChoice([package.Pad(1), package.Resize([9, 9])]),
    "Compose": lambda package: package.Compose(
        [
            package.Resize([8, 9]),
            package.Pad(1),
            lambda image: image + 1,
            package.Compose([package.RandomHorizontalFlip(1.0)]),
            package.ConvertImageDtype(torch.float32),
        ]
    ),
    "Sequential": lambda package: torch.nn.Sequential(package.Resize([8, 8]), package.Grayscale(3)),
}

CASES = {**FUNCTIONS, **TRANSFORMS}


def run_traced(call: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
    return torch.jit.trace(lambda image: call(image), first, check_trace=False)(second)  # a function has a name


def run_on_another_size(call: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
    return run_traced(call, first, second[:, :10, :14].contiguous())


def run_fx(call: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
    return make_fx(call)(first)(second)


def run_symbolic(call: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
    return make_fx(call, tracing_mode="symbolic")(first)(second)


def run_vmap(call: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
    return torch.vmap(call)(torch.stack([first, second]))


def run_vmap_same(call: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
    return torch.vmap(call, randomness="same")(torch.stack([first, second]))


def run_functionalized(call: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
    return torch.func.functionalize(call)(second)


def run_fake(call: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
    with FakeTensorMode() as mode:
        return without_pixels(call(mode.from_tensor(second)))


def run_fake_without_mode(call: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
    return without_pixels(call(FakeTensorMode().from_tensor(second)))


def run_meta(call: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
    return without_pixels(call(second.to("meta")))


def without_pixels(result: Any) -> Any:
    """All that there is of tensors that have none."""
    return tree_map(lambda image: (type(image), image.shape, image.dtype, image.device), result)


class Module(torch.nn.Module):
    """What torch.export takes."""

    def __init__(self, call: Any) -> None:
        super().__init__()
        self.call = call

    def forward(self, image: torch.Tensor) -> Any:
        return self.call(image)


def run_exported(call: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
    return torch.export.export(Module(call), (first,), strict=False).module()(second)


def run_compiled(call: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
    torch._dynamo.reset()
    compiled = torch.compile(call, fullgraph=True, backend="eager")
    compiled(first)
    return compiled(second)


def run_compiled_in_parts(call: Any, first: torch.Tensor, second: torch.Tensor) -> Any:
    """Graphs as far as they go, and Python between them."""
    torch._dynamo.reset()
    compiled = torch.compile(call, backend="eager")
    compiled(first)
    return compiled(second)


Run = Callable[[Any, torch.Tensor, torch.Tensor], Any]
RUNS: tuple[Run, ...] = (
    run_traced,
    run_on_another_size,
    run_fx,
    run_vmap,
    run_vmap_same,
    run_functionalized,
    run_fake,
    run_fake_without_mode,
    run_meta,
)

#: What takes long, for some of all cases.
SLOW: dict[Run, tuple[str, ...]] = {
    run_symbolic: ("resize", "center_crop", "adjust_contrast", "RandomCrop", "RandAugment"),
    run_exported: ("resize", "pad symmetric", "gaussian_blur", "RandomHorizontalFlip", "ElasticTransform", "Compose"),
    run_compiled: (
        "resize",
        "affine",
        "gaussian_blur",
        "adjust_hue",
        "equalize",
        "RandomCrop to the same",
        "RandomHorizontalFlip",
        "ColorJitter",
        "Compose",
        "Sequential",
    ),
    run_compiled_in_parts: ("resize", "RandomHorizontalFlip"),
}

#: What torch does not let torchvision do. Its warps with a fill write through a mask, where ours choose by one; its hue
#: makes a tensor of constants; it finds the size around a rotation by tensors; Dynamo does not follow how it makes one
#: of its errors; and vmap wants to be told how random numbers are meant, where ours for a PIL image are no business of
#: its.
WORKS_HERE = {
    (run_vmap_same, "RandomRotation"),
    (run_vmap_same, "RandomAffine"),
    (run_meta, "RandomRotation"),
    (run_meta, "RandomAffine"),
    (run_fake_without_mode, "adjust_hue"),
    (run_fake_without_mode, "ColorJitter"),
    (run_fx, "rotate, expand"),
    (run_fake, "rotate, expand"),
    (run_compiled, "affine"),
    (run_vmap, "pipeline"),
    (run_vmap, "erasing"),
}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """torch warns of most that is done here, and logs graphs that it cannot make."""
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logging.disable(logging.NOTSET)


def pixels(seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (3, HEIGHT, WIDTH), generator=generator, dtype=torch.uint8)


def outcome(run: Run, package: Any, make: Make, image: Callable[[int], torch.Tensor] = pixels) -> tuple[Any, Any, Any]:
    """(result, type of the error, state of torch's generator)."""
    torch.manual_seed(3)
    random.seed(3)
    result, error = None, None
    try:
        result = run(make(package), image(1), image(2))
    except Exception as raised:
        error = type(raised)
        if issubclass(error, torch._dynamo.exc.TorchDynamoException):
            error = torch._dynamo.exc.TorchDynamoException  # which of them says where it gave up
    return result, error, torch.get_rng_state()


def compare(run: Run, name: str, make: Make, image: Callable[[int], torch.Tensor] = pixels) -> None:
    theirs, their_error, their_state = outcome(run, V, make, image)
    ours, error, state = outcome(run, T, make, image)
    if their_error is not None:
        assert error is their_error or (error is None and (run, name) in WORKS_HERE), (their_error, error)
        return
    assert error is None
    assert torch.equal(state, their_state)
    same(ours, theirs)


def same(ours: Any, theirs: Any) -> None:
    assert type(ours) is type(theirs)
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            same(one, other)
    elif isinstance(theirs, torch.Tensor):
        tolerance = FLOAT_TENSOR if theirs.is_floating_point() else 0
        torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance)
    else:
        assert ours == theirs


@grouped(CASES)
@each("run", RUNS)
def test_same_as_torchvision(name: str, run: Run) -> None:
    compare(run, name, CASES[name])


@pytest.mark.main
@pytest.mark.parametrize(("name", "run"), [(name, run) for run, names in SLOW.items() for name in names])
def test_same_as_torchvision_in_larger_graphs(name: str, run: Run) -> None:
    compare(run, name, CASES[name])


@pytest.mark.parametrize("name", ["gaussian_blur", "elastic_transform", "resize", "ElasticTransform", "GaussianBlur"])
@each("run", [run_traced, run_fx, run_vmap, run_fake, run_meta])
def test_floats(name: str, run: Run) -> None:
    """The core has kernels for these, too."""
    compare(run, name, CASES[name], lambda seed: pixels(seed) / 255)


# PIL images and arrays become tensors inside.

PICTURE = Image.fromarray(np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8))

BECOME_TENSORS: dict[str, Make] = {
    "to_tensor": lambda package: lambda image: image + package.functional.to_tensor(PICTURE),
    "to_tensor of an array": lambda package: lambda image: image + package.functional.to_tensor(np.asarray(PICTURE)),
    "PILToTensor": lambda package: lambda image: image + package.PILToTensor()(PICTURE),
    "pipeline": lambda package: (
        lambda image: (
            image[:, :6, :6]
            + package.Compose([package.RandomCrop(6), package.ToTensor(), package.Normalize([0.5] * 3, [0.2] * 3)])(
                PICTURE
            )
        )
    ),
    "erasing": lambda package: (
        lambda image: (
            image
            + package.Compose([package.RandomHorizontalFlip(), package.ToTensor(), package.RandomErasing(1.0)])(PICTURE)
        )
    ),
    "blur": lambda package: (
        lambda image: image + package.functional.pil_to_tensor(package.functional.gaussian_blur(PICTURE, 3))
    ),
}


@pytest.mark.parametrize("name", BECOME_TENSORS)
@each("run", [run_traced, run_fx, run_vmap, run_vmap_same, run_fake])
def test_pictures_become_tensors(name: str, run: Run) -> None:
    compare(run, name, BECOME_TENSORS[name])


@pytest.mark.parametrize("run", [run_compiled, run_compiled_in_parts])
def test_pictures_become_tensors_in_compiled_code(run: Run) -> None:
    compare(run, "to_tensor", BECOME_TENSORS["to_tensor"])


def test_a_compiled_pipeline_is_traced() -> None:
    """fastaug.compile's result, with settings that take other ways through the core."""
    original = V.Compose([V.Resize([8, 9]), V.Pad(1), V.ConvertImageDtype(torch.float32)])
    expected = run_traced(original, pixels(1), pixels(2))
    compiled = fastaug.compile(original)
    for run in (run_traced, run_fx, run_exported, run_compiled):
        same(run(compiled, pixels(1), pixels(2)), expected)
    half = fastaug.compile(original, dtype=torch.float16)
    same(run_traced(half, pixels(1), pixels(2)), expected.half())


def test_a_generator_of_its_own_is_drawn_from_in_a_graph() -> None:
    generator = torch.Generator().manual_seed(5)
    pipeline = fastaug.compile(T.Compose([T.RandomCrop(6), T.RandomHorizontalFlip()]), generator=generator)
    torch.manual_seed(5)
    expected = run_traced(V.Compose([V.RandomCrop(6), V.RandomHorizontalFlip()]), pixels(1), pixels(2))
    before = torch.get_rng_state()
    same(run_traced(pipeline, pixels(1), pixels(2)), expected)
    assert torch.equal(torch.get_rng_state(), before)


# Tensors whose samples are not what lies at their data_ptr, without any mode.


class Wrapped(torch.Tensor):
    """A tensor that holds another one, and no memory."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Wrapped:
        made: Wrapped = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = tree_map(
            lambda value: value.inner if isinstance(value, Wrapped) else value, (args, kwargs or {})
        )
        return tree_map(
            lambda value: Wrapped(value) if isinstance(value, torch.Tensor) else value, func(*args, **kwargs)
        )


@pytest.mark.parametrize("name", ["resize", "hflip", "rotate", "gaussian_blur", "adjust_hue", "invert", "Compose"])
def test_tensors_that_hold_others(name: str) -> None:
    theirs, ours = (CASES[name](package)(Wrapped(pixels(2))) for package in (V, T))
    assert type(ours) is type(theirs) is Wrapped
    same(ours.inner, theirs.inner)


def test_negative_views() -> None:
    """The same as a copy."""
    view = torch._neg_view(pixels(2) / 255)
    assert view.is_neg()
    same(T.functional.gaussian_blur(view, 3), T.functional.gaussian_blur(view.clone(), 3))


@pytest.mark.parametrize("name", ["resize", "adjust_brightness", "posterize", "equalize", "gaussian_blur"])
def test_sparse_tensors(name: str) -> None:
    errors = []
    for package in (V, T):
        with pytest.raises(Exception) as raised:
            CASES[name](package)(pixels(2).to_sparse())
        errors.append(raised.type)
    assert errors[0] is errors[1]


def test_encoded_images_are_no_constants_of_a_graph() -> None:
    """Their pixels would be the same in every run."""
    file = io.BytesIO()
    PICTURE.save(file, "PNG")
    png = torch.frombuffer(bytearray(file.getvalue()), dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="while torch traces"):
        torch.jit.trace(decode_image, png)
    with pytest.raises(RuntimeError, match="while torch traces"):
        make_fx(T.Compose([T.Decode(), T.ToTensor()]))(png)


def test_nothing_is_traced_otherwise() -> None:
    """Nor with a default device, in inference, or without gradients, where pixels stay the core's."""
    assert not traced()
    expected = T.functional.adjust_hue(pixels(2), 0.2)
    for context in (torch.inference_mode(), torch.no_grad(), torch.autocast("cpu"), torch.device("cpu")):
        with context:
            assert not traced()
            assert torch.equal(T.functional.adjust_hue(pixels(2), 0.2), expected)


# ---- transforms.v2


def v2_pipeline(package: Any) -> Any:
    steps = [package.Resize((9, 10)), package.RandomHorizontalFlip(1.0), package.ColorJitter((0.7, 0.7))]
    return package.Compose(
        [*steps, package.ToDtype(torch.float32, scale=True), package.Normalize([0.5] * 3, [0.2] * 3)]
    )


@pytest.mark.parametrize("backend", ["eager", pytest.param("aot_eager", marks=pytest.mark.main)])
def test_samples_in_compiled_code(backend: str) -> None:
    """Whatever of them Dynamo takes into graphs, and whatever it leaves to Python."""
    image = torch.randint(0, 256, (3, HEIGHT, WIDTH), dtype=torch.uint8, generator=torch.Generator().manual_seed(3))
    expected = v2_pipeline(V2)(image)
    compiled = torch.compile(v2_pipeline(V2_OURS), backend=backend)
    for _ in range(2):
        assert torch.allclose(compiled(image), expected, rtol=0, atol=FLOAT_TENSOR)
    found, label = compiled(tv_tensors.Image(image), 3)
    assert isinstance(found, tv_tensors.Image) and label == 3
    assert torch.allclose(found.as_subclass(torch.Tensor), expected, rtol=0, atol=FLOAT_TENSOR)
    boxes = tv_tensors.BoundingBoxes([[1, 2, 9, 10]], format="XYXY", canvas_size=(HEIGHT, WIDTH))
    moved = compiled({"boxes": boxes})["boxes"]
    assert torch.equal(moved.as_subclass(torch.Tensor), v2_pipeline(V2)(boxes).as_subclass(torch.Tensor))


def test_samples_are_traced() -> None:
    image, other = (torch.full((3, HEIGHT, WIDTH), value, dtype=torch.uint8) for value in (7, 90))
    traced_ = torch.jit.trace(v2_pipeline(V2_OURS), image, check_trace=False)
    assert torch.allclose(traced_(other), v2_pipeline(V2)(other), rtol=0, atol=FLOAT_TENSOR)
    assert v2_pipeline(V2_OURS)(image.to("meta")).shape == (3, 9, 10)
