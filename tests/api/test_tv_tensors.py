"""fastaug.tv_tensors: our own classes beside torchvision's, and which of them a process has."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import itertools
import json
import random
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import PIL.Image
import pytest
import torch
from torch.utils._pytree import tree_flatten, tree_map
from torch.utils.data import DataLoader, default_collate
from torchvision import tv_tensors as theirs

import fastaug.transforms as T
import fastaug.transforms.functional as F
from fastaug import tv_tensors
from fastaug._tv_tensors import choice
from fastaug._tv_tensors import own as ours
from support.differences import each
from support.images import pil
from support.processes import TESTS, python
from support.scale import cases, share

BOTH = (ours, theirs)
CLASSES = ("TVTensor", "Image", "Video", "Mask", "BoundingBoxes", "KeyPoints")


@functools.cache
def derived(module: ModuleType) -> dict[str, type]:
    """Classes as users write them."""

    class Picture(module.Image):  # type: ignore[name-defined, misc]
        pass

    class Texts(module.BoundingBoxes):  # type: ignore[name-defined, misc]
        pass

    class Depth(module.TVTensor):  # type: ignore[name-defined, misc]
        @classmethod
        def wrap(cls, tensor: Any, like: Any, *, unit: str | None = None) -> Any:
            result = tensor.as_subclass(cls)
            result.unit = unit or like.unit
            return result

        @classmethod
        def _wrap_output(cls, output: Any, args: Any = (), kwargs: Any = None) -> Any:
            output = super()._wrap_output(output, args, kwargs)
            leaves, _ = tree_flatten((args, kwargs))
            if isinstance(output, cls):
                output.unit = next(leaf.unit for leaf in leaves if isinstance(leaf, cls))
            return output

    return {"Picture": Picture, "Texts": Texts, "Depth": Depth}


def makers(module: ModuleType) -> list[Callable[[], torch.Tensor]]:
    """What makes an object of every class, and plain tensors."""
    classes = derived(module)

    def depth() -> torch.Tensor:
        one = torch.arange(4.0).view(2, 2).as_subclass(classes["Depth"])
        one.unit = "m"  # type: ignore[attr-defined]
        return one

    boxes, points = module.BoundingBoxes, module.KeyPoints
    return [
        lambda: module.Image(torch.arange(12.0).view(3, 2, 2)),
        lambda: module.Image(torch.arange(4, dtype=torch.uint8).view(1, 2, 2)),
        lambda: module.Video(torch.arange(24.0).view(2, 3, 2, 2)),
        lambda: module.Mask(torch.tensor([[0, 1], [2, 0]])),
        lambda: module.Mask(torch.eye(2, dtype=torch.bool)),
        lambda: boxes([[1.0, 2, 3, 4], [5, 6, 7, 8]], format="XYXY", canvas_size=(9, 10), clamping_mode=None),
        lambda: boxes(torch.ones(1, 5), format="cxcywhr", canvas_size=(9, 10), requires_grad=True),
        lambda: points(torch.arange(8.0).view(2, 2, 2), canvas_size=(5, 6)),
        lambda: torch.arange(6).as_subclass(module.TVTensor),
        lambda: classes["Picture"](torch.ones(1, 2, 2)),
        lambda: classes["Texts"](torch.ones(2, 4), format="XYWH", canvas_size=(3, 3)),
        depth,
        lambda: torch.ones(2, 2),
        lambda: torch.tensor([1, 0]),
    ]


def made(module: ModuleType) -> list[torch.Tensor]:
    return [make() for make in makers(module)]


def described(value: Any) -> Any:
    """All that can be seen of a result, but for the module of its class."""
    if isinstance(value, torch.Tensor):
        with torch._C.DisableTorchFunctionSubclass():
            plain = value.detach()
            layout = tuple(plain.shape), plain.stride(), plain.dtype, str(plain.device)
            bits = plain.contiguous().numpy().tobytes()
        attributes = {name: described(one) for name, one in vars(value).items()}
        # Boxes without a format have no text, and a view of what was written to may have lost its graph.
        seen = [outcome(look) for look in (lambda: repr(value), lambda: (value.requires_grad, value.is_leaf))]
        return type(value).__name__, layout, bits, attributes, seen
    if isinstance(value, dict):
        return {key: described(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [described(one) for one in value]
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    if isinstance(value, PIL.Image.Image):
        return value.mode, value.size, value.tobytes()
    return type(value).__name__, str(value)


def outcome(function: Callable[[], Any]) -> Any:
    try:
        return described(function())
    except Exception as error:
        return type(error)


def both(function: Callable[[Any], Any]) -> Any:
    """What a function of the module makes, which is the same of ours and of torchvision's."""
    mine, reference = (outcome(lambda: function(module)) for module in BOTH)  # noqa: B023
    assert mine == reference
    return mine


@pytest.fixture(autouse=True)
def _return_type() -> Iterator[None]:
    yield
    for module in BOTH:
        assert type(module.Mask([1]) + 1) is torch.Tensor, "the test has left another return type"


# ---- names and signatures


def test_names() -> None:
    public = {name for name in vars(theirs) if not name.startswith("_")} - {"torch"}
    assert set(tv_tensors.__all__) == set(ours.__all__) == public
    assert public <= set(dir(tv_tensors))
    with pytest.raises(AttributeError, match="Pictures"):
        tv_tensors.Pictures  # noqa: B018


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    return [(one.name, one.kind, one.default) for one in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name: str) -> None:
    mine, reference = getattr(ours, name), getattr(theirs, name)
    assert [base.__name__ for base in mine.__mro__] == [base.__name__ for base in reference.__mro__]
    own = [one for one, value in vars(reference).items() if inspect.isroutine(value)]
    for method in [*own, "__new__", "wrap", "_wrap_output", "_to_tensor", "_make_repr", "__deepcopy__"]:
        if method != "__new__" or name != "TVTensor":
            assert parameters(getattr(mine, method)) == parameters(getattr(reference, method)), method
    assert mine.__annotations__.keys() == reference.__annotations__.keys()
    assert repr(mine) == f"<class 'fastaug.tv_tensors.{name}'>"


def test_functions() -> None:
    for name in ("wrap", "set_return_type", "is_rotated_bounding_format"):
        assert parameters(getattr(ours, name)) == parameters(getattr(theirs, name))
    assert [(one.name, one.value) for one in ours.BoundingBoxFormat] == [
        (one.name, one.value) for one in theirs.BoundingBoxFormat
    ]


# ---- constructors

ARRAY = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
DATA: dict[str, Callable[[Any], Any]] = {
    "number": lambda m: 3,
    "list": lambda m: [1.0, 2.0],
    "rows": lambda m: [[1, 2], [3, 4]],
    "nested": lambda m: [[[[1.0, 2.0]]]],
    "ragged": lambda m: [[1], [2, 3]],
    "string": lambda m: "abc",
    "None": lambda m: None,
    "array": lambda m: ARRAY,
    "array of points": lambda m: ARRAY[..., :2],
    "scalar": lambda m: torch.tensor(1),
    "vector": lambda m: torch.arange(4.0),
    "empty": lambda m: torch.zeros(0, 4),
    "boxes": lambda m: torch.ones(2, 4),
    "integer boxes": lambda m: torch.ones(2, 8, dtype=torch.int64),
    "points": lambda m: torch.ones(3, 2, 2),
    "plane": lambda m: torch.ones(2, 3),
    "batch": lambda m: torch.zeros(2, 3, 4, 5),
    "strided": lambda m: torch.arange(24).view(2, 3, 4).transpose(0, 2)[::2],
    "with gradient": lambda m: torch.ones(2, 2, requires_grad=True),
    "with graph": lambda m: torch.ones(2, 2, requires_grad=True) * 2,
    "Image": lambda m: m.Image(torch.ones(1, 2, 2)),
    "BoundingBoxes": lambda m: m.BoundingBoxes(torch.ones(1, 4), format="XYWH", canvas_size=(1, 2)),
    "KeyPoints": lambda m: m.KeyPoints(torch.ones(1, 2), canvas_size=(1, 2)),
    **{f"PIL {mode}": lambda m, mode=mode: pil(mode, 4, 3) for mode in ("1", "L", "RGB", "RGBA", "CMYK")},
    **{f"PIL {mode}": lambda m, mode=mode: pil("L", 4, 3).convert(mode) for mode in ("P", "LA", "I", "F", "YCbCr")},
    "PIL I;16": lambda m: PIL.Image.fromarray(np.arange(6, dtype=np.uint16).reshape(2, 3)),
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"dtype": torch.float64},
    {"dtype": torch.uint8, "device": "cpu"},
    {"requires_grad": True},
    {"requires_grad": False},
    {"device": "never"},
    {"dtype": "float32"},
]


@pytest.mark.parametrize("data", DATA)
def test_constructors(data: str) -> None:
    for options in OPTIONS:
        for name in ("Image", "Video", "Mask"):
            both(lambda m: getattr(m, name)(DATA[data](m), **options))  # noqa: B023
        both(lambda m: m.KeyPoints(DATA[data](m), canvas_size=(3, 4), **options))  # noqa: B023
        for format in ("XYXY", "xywhr"):
            both(lambda m: m.BoundingBoxes(DATA[data](m), format=format, canvas_size=(3, 4), **options))  # noqa: B023


@pytest.mark.parametrize("name", CLASSES[1:4])
def test_memory_is_shared(name: str) -> None:
    for data in (torch.zeros(2, 3, 4, 5), np.zeros((2, 3, 4, 5))):
        for module in BOTH:
            assert getattr(module, name)(data).data_ptr() == torch.as_tensor(data).data_ptr()


FORMATS: list[Callable[[Any], Any]] = [
    *(lambda m, one=one: m.BoundingBoxFormat[one] for one in ours.BoundingBoxFormat.__members__),
    *(lambda m, one=one: one for one in ("XYXY", "xyXYxyxy", "CXCYWHR", "cxcywhr", "ABCD", "", None, 3, ["XYXY"])),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_formats(dtype: torch.dtype) -> None:
    found = set()
    for format in FORMATS:
        found.add(str(both(lambda m: m.is_rotated_bounding_format(format(m)))))  # noqa: B023
        for mode in ("soft", "hard", None, "Soft", 3):
            made = both(
                lambda m: m.BoundingBoxes(
                    torch.ones(2, 5, dtype=dtype),
                    format=format(m),  # noqa: B023
                    canvas_size=(3, 4),
                    clamping_mode=mode,  # noqa: B023
                )
            )
            found.add(made if isinstance(made, type) else "boxes")
    assert {"('bool', 'True')", "('bool', 'False')", str(ValueError), "boxes", KeyError, ValueError} <= found


ERRORS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "image": (lambda m: m.Image([1]), ValueError, "2D or higher, got 1D"),
    "boxes": (
        lambda m: m.BoundingBoxes(torch.zeros(1, 2, 3), format="XYXY", canvas_size=(1, 1)),
        ValueError,
        "1D or 2D tensor, got 3D",
    ),
    "rotated": (
        lambda m: m.BoundingBoxes([[1, 2, 3, 4, 5]], format="XYWHR", canvas_size=(1, 1)),
        ValueError,
        "floating point tensors, got torch.int64",
    ),
    "clamping": (
        lambda m: m.BoundingBoxes([1.0] * 4, format="XYXY", canvas_size=(1, 1), clamping_mode="no"),
        ValueError,
        "clamping_mode must be None, hard or soft, got no",
    ),
    "format": (lambda m: m.BoundingBoxes([1.0] * 4, format="abc", canvas_size=(1, 1)), KeyError, "(?i)abc"),
    "no format": (lambda m: m.BoundingBoxes([1.0] * 4, canvas_size=(1, 1)), TypeError, "'format'"),
    "points": (lambda m: m.KeyPoints(torch.zeros(2, 3), canvas_size=(1, 1)), ValueError, r"\(\.\.\., 2\)"),
    "no canvas": (lambda m: m.KeyPoints([1, 2]), TypeError, "'canvas_size'"),
    "positional": (lambda m: m.Image([[1]], torch.uint8), TypeError, "positional"),
    "return type": (lambda m: m.set_return_type("Image"), ValueError, "return_type must be .* got .?Image"),
    "rotated format": (lambda m: m.is_rotated_bounding_format(3), ValueError, "format should be .* got .*int"),
    "wrap": (lambda m: m.wrap(torch.zeros(1)), TypeError, "'like'"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    call, error, text = ERRORS[name]
    for module in BOTH:
        with pytest.raises(error, match=text):
            call(module)


def test_errors_of_ours_say_more() -> None:
    with pytest.raises(ValueError, match=r"4D or higher.*got 3D"):
        ours.Video(torch.zeros(1, 2, 3))
    with pytest.raises(KeyError, match=r"one of XYXY, .*, XYXYXYXY, got 'abc'"):
        ours.BoundingBoxes([1.0] * 4, format="abc", canvas_size=(1, 1))


# ---- functions of torch

OF_ONE: dict[str, Callable[[Any, Any], Any]] = {
    "x + 1": lambda m, x: x + 1,
    "1 - x": lambda m, x: 1 - x,
    "add_": lambda m, x: x.add_(1),
    "+=": lambda m, x: x.__iadd__(2),
    "out": lambda m, x: torch.add(x, x, out=x),
    "clamp_": lambda m, x: x.clamp_(0, 5),
    "set item": lambda m, x: x.__setitem__(0, 1),
    "clone": lambda m, x: x.clone(),
    "torch.clone": lambda m, x: torch.clone(x),
    "detach": lambda m, x: x.detach(),
    "detach_": lambda m, x: x.detach_(),
    "requires_grad_": lambda m, x: x.requires_grad_(),
    "no gradient": lambda m, x: x.requires_grad_(False),
    "to": lambda m, x: x.to(torch.float64),
    "to the same": lambda m, x: x.to(x.dtype),
    "to device": lambda m, x: x.to("cpu", copy=True),
    "float": lambda m, x: x.float(),
    "cpu": lambda m, x: x.cpu(),
    "type": lambda m, x: x.type(torch.int32),
    "contiguous": lambda m, x: x.contiguous(),
    "item": lambda m, x: x[0],
    "slice": lambda m, x: x[..., :1],
    "by mask": lambda m, x: x[x > 1],
    "by index": lambda m, x: x[torch.tensor([0])],
    "transposed": lambda m, x: x.transpose(0, -1),
    "reshape": lambda m, x: x.reshape(-1),
    "view": lambda m, x: x.view(-1),
    "view as": lambda m, x: x.view_as(x),
    "unsqueeze": lambda m, x: x.unsqueeze(0),
    "expand": lambda m, x: x.expand(2, *x.shape),
    "flip": lambda m, x: x.flip(-1),
    "sum": lambda m, x: x.sum(),
    "max": lambda m, x: x.max(0),
    "sort": lambda m, x: x.sort(),
    "unique": lambda m, x: torch.unique(x, return_counts=True),
    "chunk": lambda m, x: x.chunk(2),
    "unbind": lambda m, x: x.unbind(),
    "split": lambda m, x: torch.split(x, 1),
    "iterated": lambda m, x: list(x),
    "stack": lambda m, x: torch.stack((x, x)),
    "zeros_like": lambda m, x: torch.zeros_like(x),
    "new_zeros": lambda m, x: x.new_zeros(2),
    "interpolate": lambda m, x: torch.nn.functional.interpolate(x[None], scale_factor=2),
    "gradient": lambda m, x: torch.autograd.grad((x * x).sum(), x),
    "data": lambda m, x: x.data,
    "numpy": lambda m, x: x.numpy(),
    "asarray": lambda m, x: np.asarray(x),
    "tolist": lambda m, x: x.tolist(),
    "size": lambda m, x: x.size(),
    "size of one": lambda m, x: x.size(0),
    "properties": lambda m, x: (x.shape, x.ndim, x.dtype, x.device, x.is_leaf, x.requires_grad, len(x)),
    "numbers": lambda m, x: (x.numel(), x.dim(), x.stride(), x.is_floating_point()),
    "truth": lambda m, x: bool(x.sum() > 1),
    "format": lambda m, x: f"{x}",
    "string": lambda m, x: str(x),
    "is_tensor": lambda m, x: (torch.is_tensor(x), isinstance(x, torch.Tensor), isinstance(x, m.TVTensor)),
    "copy": lambda m, x: copy.copy(x),
    "deepcopy": lambda m, x: copy.deepcopy(x),
    "collated": lambda m, x: default_collate([{"a": x, "b": 1}, {"a": x, "b": 2}]),
    "parameter": lambda m, x: torch.nn.Parameter(x, requires_grad=False),
    "as plain": lambda m, x: x.as_subclass(torch.Tensor),
    "wrap plain": lambda m, x: m.wrap(x + 1, like=x),
    "Image": lambda m, x: m.Image(x),
    "Video": lambda m, x: m.Video(x),
    "Mask": lambda m, x: m.Mask(x, dtype=torch.int32),
    "BoundingBoxes": lambda m, x: m.BoundingBoxes(x, format="xywh", canvas_size=(2, 2)),
    "KeyPoints": lambda m, x: m.KeyPoints(x, canvas_size=(2, 2)),
}
OF_TWO: dict[str, Callable[[Any, Any, Any], Any]] = {
    "x * y": lambda m, x, y: x * y,
    "x == y": lambda m, x, y: x == y,
    "x @ y": lambda m, x, y: x @ y,
    "add_ tensor": lambda m, x, y: x.add_(y),
    "copy_": lambda m, x, y: x.copy_(y),
    "to other": lambda m, x, y: x.to(y),
    "by other": lambda m, x, y: x[y],
    "broadcast": lambda m, x, y: torch.broadcast_tensors(x, y),
    "cat": lambda m, x, y: torch.cat([x, y]),
    "cat by name": lambda m, x, y: torch.cat(tensors=[y, x], dim=0),
    "where": lambda m, x, y: torch.where(x > 0, x, y),
    "allclose": lambda m, x, y: torch.allclose(x, y),
    "parts": lambda m, x, y: copy.deepcopy({"a": [x, y], "b": x})["a"],
    "tree": lambda m, x, y: tree_map(lambda one: one * 2, {"a": [x, (y, 3)]}),
    "tree of": lambda m, x, y: len(tree_flatten([x, y])[0]),
    "as other": lambda m, x, y: x.as_subclass(type(y)),
    "wrap": lambda m, x, y: m.wrap(x, like=y),
    "wrap canvas": lambda m, x, y: m.wrap(x, like=y, canvas_size=(1, 2), clamping_mode="hard", other=3),
    "wrap format": lambda m, x, y: m.wrap(x, like=y, format="cxcywh"),
    "wrap unit": lambda m, x, y: m.wrap(x, like=y, unit="mm"),
}


@pytest.mark.parametrize("name", [*OF_ONE, *OF_TWO])
@each("kept", ["Tensor", "TVTensor"])
def test_functions_of_torch(name: str, kept: str) -> None:
    """Every function on every object, with every other; what is written to included."""

    def results(m: Any) -> list[Any]:
        found = []
        makes = makers(m)
        for indices in share(itertools.product(range(len(makes)), repeat=1 if name in OF_ONE else 2), name, 40):
            objects = [makes[index]() for index in indices]
            function = OF_ONE[name] if name in OF_ONE else OF_TWO[name]
            with m.set_return_type(kept):
                result = outcome(lambda: function(m, *objects))  # noqa: B023
                found.append((indices, result, [described(one) for one in objects]))
        return found

    mine = results(ours)
    assert mine == results(theirs)
    assert any(not isinstance(result, type) for _, result, _ in mine), "it is an error for all of them"


@pytest.mark.parametrize("seed", range(cases(40)))
def test_sequences(seed: int) -> None:
    """What functions make of results of functions; return types change on the way."""

    def results(m: Any) -> list[Any]:
        draws = random.Random(seed)
        pool, found = made(m), []
        for _ in range(60):
            name = draws.choice([*OF_ONE, *OF_TWO])
            x, y = draws.choice(pool), draws.choice(pool)
            with m.set_return_type(draws.choice(["Tensor", "tvtensor"])):
                try:
                    result = OF_ONE[name](m, x) if name in OF_ONE else OF_TWO[name](m, x, y)
                except Exception as error:
                    result = type(error)
                found.append((name, described(result), described(x), described(y)))
            for one in result if isinstance(result, (tuple, list)) else [result]:
                if isinstance(one, torch.Tensor) and one.numel() < 200:
                    pool.append(one)
        return found

    mine = results(ours)
    assert mine == results(theirs)
    assert sum(not isinstance(result, type) for _, result, _, _ in mine) > 10


def test_return_types() -> None:
    """The call sets it; leaving a `with` restores what was before the call, however they are nested."""

    def history(m: Any) -> list[str]:
        image, seen = m.Image(torch.ones(1, 2, 2)), []

        def look() -> None:
            seen.append(type(image + 1).__name__)

        outer = m.set_return_type("TVTENSOR")
        look()
        with outer as entered:
            seen.append(str(entered is outer))
            with m.set_return_type("tensor"):
                look()
                with contextlib.suppress(RuntimeError), m.set_return_type("TVTensor"):
                    look()
                    raise RuntimeError("inside")
                look()
            look()
        look()
        inner = m.set_return_type("TVTensor")
        with pytest.raises(ValueError):
            m.set_return_type("none")
        look()
        with pytest.raises(AttributeError):
            m.set_return_type(None)
        with inner:
            m.set_return_type("Tensor")
            look()
            m.set_return_type("TVTensor")
        look()
        return seen

    assert history(ours) == history(theirs)
    assert history(ours)[:6] == ["Image", "True", "Tensor", "Image", "Tensor", "Image"]


def test_classes_of_users() -> None:
    for module in BOTH:
        classes = derived(module)
        assert issubclass(classes["Picture"], (module.Image, module.TVTensor))
        assert not issubclass(classes["Picture"], module.Mask)
        objects = [type(one).__name__ for one in made(module) if isinstance(one, module.BoundingBoxes)]
        assert objects == ["BoundingBoxes", "BoundingBoxes", "Texts"]


def test_copies_are_leaves() -> None:
    """And have gradients and memory of their own."""
    for module in BOTH:
        image = module.Image(torch.ones(1, 2, 2, requires_grad=True) * 2)
        again = copy.deepcopy(image)
        assert not image.is_leaf
        assert again.is_leaf
        (again * 3).sum().backward()
        assert again.grad.unique().tolist() == [3]
        assert again.data_ptr() != image.data_ptr()


def test_compiled() -> None:
    """torch.compile leaves `wrap` as it is."""

    def compiled(m: Any, fullgraph: bool) -> Any:
        torch._dynamo.reset()
        like = m.KeyPoints([[1.0, 2.0]], canvas_size=(3, 4))
        function = torch.compile(lambda x: m.wrap(x * 2, like=like) + 1, backend="eager", fullgraph=fullgraph)
        return function(torch.ones(1, 2))

    assert both(lambda m: compiled(m, False))[0] == "Tensor"
    assert both(lambda m: compiled(m, True)) is torch._dynamo.exc.Unsupported


class Samples:
    """A data set of dictionaries with every class."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> dict[str, Any]:
        m = self.module
        return {
            "image": m.Image(torch.full((3, 2, 2), index)),
            "mask": m.Mask(torch.full((2, 2), index)),
            "boxes": m.BoundingBoxes([[index, 1.0, 2.0, 3.0]], format="XYXY", canvas_size=(2, 2)),
            "points": m.KeyPoints([[index, 1.0]], canvas_size=(2, 2)),
            "label": index,
        }


def as_it_is(samples: list[Any]) -> list[Any]:
    return samples


@pytest.mark.parametrize("workers", [0, 1])
def test_batches(workers: int) -> None:
    def batches(m: Any) -> Any:
        return list(DataLoader(Samples(m), batch_size=2, num_workers=workers, multiprocessing_context=context))  # type: ignore[arg-type]

    context = "fork" if workers else None
    assert both(batches)[1][0]["image"][0] == "Tensor"


def test_samples() -> None:
    kept = both(lambda m: list(DataLoader(Samples(m), batch_size=2, collate_fn=as_it_is)))  # type: ignore[arg-type]
    assert kept[1][0][1][0]["boxes"][0] == "BoundingBoxes"


def test_transforms_of_v1() -> None:
    """They do to our classes what they do to torchvision's."""
    steps: list[Callable[[Any], Any]] = [
        lambda x: F.resize(x, [3, 5]),
        F.hflip,
        lambda x: F.pad(x, 2),
        lambda x: F.adjust_hue(x, 0.2),
        lambda x: F.rotate(x, 20.0),
        lambda x: F.convert_image_dtype(x, torch.float32),
        T.Compose([T.CenterCrop(6), T.ConvertImageDtype(torch.float32), T.Normalize([0.5], [0.25])]),
        T.ToPILImage(),
    ]
    pixels = torch.randint(0, 256, (3, 8, 9), dtype=torch.uint8)
    for step in steps:
        made = both(lambda m: step(m.Image(pixels.clone())))  # noqa: B023
        assert not isinstance(made, type)
        # Not left to torch for being of another class.
        assert both(lambda m: step(m.Mask(pixels.clone()))) != ()  # noqa: B023


# ---- pickles


def pickles(task: str, folder: Path, torchvision: str) -> str:
    script = str(TESTS / "support" / "tv_tensors_in_pickles.py")
    result = python(["-W", "error", script, task, str(folder), torchvision], lean=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("written", ["with", pytest.param("without", marks=pytest.mark.main)])
def test_pickles(written: str, tmp_path: Path) -> None:
    """They are read where torchvision is installed and where it is not, whichever wrote them, and torch.save's too."""
    pickles("write", tmp_path, written)
    assert (b"torchvision" in (tmp_path / "4.pickle").read_bytes()) == (written == "with")
    assert (b"fastaug.tv_tensors" in (tmp_path / "4.pickle").read_bytes()) == (written == "without")
    read = {installed: json.loads(pickles("read", tmp_path, installed)) for installed in ("with", "without")}
    assert read["with"]["found"] == read["without"]["found"]
    assert read["with"]["module"].startswith("torchvision.")
    assert read["without"]["module"] == "fastaug.tv_tensors"
    assert all(one["refused"] and not one["import_before"] for one in read.values())
    for found in read["without"]["found"].values():
        assert found["boxes"][0] == "BoundingBoxes"
        attributes = [["canvas_size", "(6, 7)"], ["clamping_mode", "hard"], ["format", "BoundingBoxFormat.XYWHR"]]
        assert found["boxes"][-1] == attributes
        assert found["classes"] == [*CLASSES, "BoundingBoxFormat"]
        assert found["functions"][1] == ["partial", "set_return_type", ["Tensor"]]


# ---- which classes a process has


def output(code: str, folder: Path | None = None, *, fresh: bool = False) -> str:
    result = python(["-W", "error", "-c", textwrap.dedent(code)], folder=folder, lean=True, fresh=fresh)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_torchvisions_own() -> None:
    for name in tv_tensors.__all__:
        assert getattr(tv_tensors, name) is getattr(theirs, name)
    assert choice.chosen() is theirs
    assert choice.loaded() is theirs


def test_torchvision_is_imported_when_it_is_asked_for() -> None:
    code = """
        import sys
        import fastaug, fastaug.tv_tensors
        assert "torch" not in sys.modules
        from fastaug import tv_tensors
        from fastaug._tv_tensors.choice import loaded
        import fastaug.transforms
        assert tv_tensors is fastaug.tv_tensors
        assert "Image" in dir(tv_tensors) and "Image" in tv_tensors.__all__ and not hasattr(tv_tensors, "Never")
        assert loaded() is None
        assert "torchvision" not in sys.modules
        mask = tv_tensors.Mask([[1]])
        assert type(mask) is sys.modules["torchvision"].tv_tensors.Mask
        assert loaded() is sys.modules["torchvision.tv_tensors"]
        assert "fastaug._tv_tensors.own" not in sys.modules
    """
    output(code, fresh=True)


def test_classes_that_others_have_imported() -> None:
    code = """
        import sys
        from fastaug._tv_tensors.choice import loaded
        import torchvision.tv_tensors
        assert loaded() is torchvision.tv_tensors
        from fastaug.tv_tensors import *
        assert Image is torchvision.tv_tensors.Image
    """
    output(code)


NONE = "import sys; sys.modules['torchvision'] = None"
BLOCKED = "from support import without_torchvision"


@pytest.mark.parametrize("absent", [NONE, BLOCKED])
def test_ours_where_it_is_not_installed(absent: str) -> None:
    code = f"""
        {absent}
        import inspect, pickle, sys, typing
        from concurrent.futures import ThreadPoolExecutor
        from fastaug import tv_tensors
        from fastaug._tv_tensors.choice import loaded
        import fastaug.transforms, torch
        assert loaded() is None
        from fastaug.tv_tensors import *
        from fastaug._tv_tensors import own
        assert loaded() is own
        assert {{name: globals()[name] for name in tv_tensors.__all__}} == {{n: getattr(own, n) for n in own.__all__}}
        class Mine(tv_tensors.Image):
            pass
        mine = Mine(torch.zeros(3, 4, 5))
        assert isinstance(mine, (Image,)) and isinstance(mine, TVTensor) and issubclass(Mine, Image)
        assert type(mine.clone()) is Mine and type(mine + 1) is torch.Tensor
        assert typing.get_type_hints(BoundingBoxes)["format"] is BoundingBoxFormat
        assert "torch._dynamo" not in sys.modules
        if "torchvision" not in sys.modules:
            pickled = b"ctorchvision.tv_tensors._image\\nImage\\n."
            with ThreadPoolExecutor(4) as pool:
                assert set(pool.map(lambda _: pickle.loads(pickled), range(2000))) == {{Image}}
            try:
                pickle.loads(pickled.replace(b"Image", b"Never"))
            except AttributeError as error:
                assert "Never" in str(error)
            inspect.getmodule(Image), [hasattr(module, "__file__") for module in list(sys.modules.values())]
            assert "torchvision" not in sys.modules
        for statement in (
            "import torchvision",
            "import torchvision.tv_tensors",
            "from torchvision import tv_tensors",
            "from torchvision.tv_tensors import Image",
        ):
            try:
                exec(statement)
            except ImportError:
                continue
            raise AssertionError(statement)
    """
    output(code)


def test_workers_without_torchvision(tmp_path: Path) -> None:
    """Spawned ones, that have not imported anything of ours before they are handed samples."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
            from support import without_torchvision

            if __name__ == "__main__":
                import torch
                from torch.utils.data import DataLoader
                from fastaug import tv_tensors

                image = tv_tensors.Image(torch.arange(12).view(3, 2, 2))
                boxes = tv_tensors.BoundingBoxes([[1.0, 2, 3, 4]], format="XYWH", canvas_size=(5, 6))
                samples = [{"image": image + 0 if i else image, "boxes": boxes} for i in range(2)]
                loader = DataLoader(samples, batch_size=None, num_workers=1, multiprocessing_context="spawn")
                first, second = loader
                assert type(first["image"]) is tv_tensors.Image and type(second["image"]) is torch.Tensor
                assert type(first["boxes"]) is tv_tensors.BoundingBoxes
                assert repr(first["boxes"]) == repr(boxes)
                assert torch.equal(first["image"], image)
                print("done")
        """)
    )
    result = python(["-W", "error", str(script)], lean=True)
    assert (result.returncode, result.stdout.strip()) == (0, "done"), result.stderr


@pytest.mark.parametrize("asked", [True, False], ids=["asked for before", "not asked for"])
def test_torchvision_installed_later(asked: bool) -> None:
    """What stood in for its modules steps aside; the choice that was made stays."""
    code = f"""
        from support import without_torchvision
        import pickle, sys
        from fastaug import tv_tensors
        names = [name for name in sys.modules if name.startswith("torchvision")]
        assert len(names) == 7, names
        if {asked}:
            mask = pickle.loads(b"ctorchvision.tv_tensors._mask\\nMask\\n.")
            assert mask is tv_tensors.Mask and mask.__module__ == "fastaug.tv_tensors"
        without_torchvision.install_torchvision()
        if {asked}:
            import torchvision.transforms.v2
            import torchvision.tv_tensors
            assert tv_tensors.Mask is mask
        else:
            assert tv_tensors.Mask.__module__ == "torchvision.tv_tensors._mask"
            import torchvision.transforms.v2
        for name in names:
            assert sys.modules[name].__file__, name
        from torchvision.datasets import wrap_dataset_for_transforms_v2
        from torchvision.tv_tensors import Image
        from torchvision.tv_tensors._image import Image as again
        assert Image is again is torchvision.tv_tensors.Image and Image.__module__ == "torchvision.tv_tensors._image"
    """
    output(code)


def torchvision_of(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / "torchvision" / f"{name.replace('__in__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_an_older_torchvision(tmp_path: Path) -> None:
    """One without tv_tensors has no classes that ours could be mixed up with; one with fewer has those it has."""
    old = torchvision_of(tmp_path / "old", __init__="")
    assert output("import fastaug; print(fastaug.tv_tensors.Image)", old) == "<class 'fastaug.tv_tensors.Image'>"
    fewer = torchvision_of(tmp_path / "fewer", __init__="", tv_tensors="Image = wrap = 3")
    code = """
        from fastaug import tv_tensors
        print(tv_tensors.Image, hasattr(tv_tensors, "KeyPoints"))
        tv_tensors.KeyPoints
    """
    result = python(["-c", textwrap.dedent(code)], folder=fewer, lean=True)
    assert result.stdout.strip() == "3 False"
    message = "AttributeError: the torchvision that is installed has no torchvision.tv_tensors.KeyPoints: it is too old"
    assert result.stderr.strip().splitlines()[-1] == message


@pytest.mark.parametrize(
    ("files", "error"),
    [
        ({"__init__": "raise RuntimeError('operator torchvision::nms does not exist')"}, "RuntimeError: operator"),
        ({"__init__": "import never_installed"}, "ModuleNotFoundError: No module named 'never_installed'"),
        ({"__init__": "", "tv_tensors": "from torch import never"}, "ImportError: cannot import name 'never'"),
    ],
)
def test_a_broken_torchvision(files: dict[str, str], error: str, tmp_path: Path) -> None:
    """It is not passed over: the process has classes of it, or will, when it is mended."""
    folder = torchvision_of(tmp_path, **files)
    result = python(["-c", "import fastaug; fastaug.tv_tensors.Image"], folder=folder, lean=True)
    assert result.returncode == 1
    assert result.stderr.strip().splitlines()[-1].startswith(error)
