"""Boxes and key points come out of the kernels of `_tv_tensors` as out of torchvision.transforms.v2's, bit for bit."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torchvision.transforms.v2.functional as F
from torchvision import tv_tensors

from fastaug import _C
from fastaug._draft import libraries
from fastaug._tv_tensors import kernels, meta
from fastaug._tv_tensors.boxes import BoxesDraft
from fastaug._tv_tensors.formats import PLAIN, ROTATED
from fastaug._tv_tensors.points import PointsDraft
from fastaug.transforms.v2 import functional
from support.differences import each, grouped
from support.scale import cases, share

FLOATS = (torch.float32, torch.float64)
#: Formats with the dtypes that boxes of them have: those that the core moves, and some that are left to torch.
BOXES = [(name, dtype) for name in PLAIN for dtype in (*FLOATS, torch.int64, torch.int32, torch.float16)]
BOXES += [(name, dtype) for name in ROTATED for dtype in FLOATS]
POINTS = (*FLOATS, torch.int64, torch.int32)
MODES = ("soft", "hard", None)
HEIGHT, WIDTH = 61, 83

Op = tuple[str, dict[str, Any]]


def made_boxes(name: str, dtype: torch.dtype, count: int, rng: random.Random) -> torch.Tensor:
    """Boxes of all kinds: inside, across the edges, outside; some without a width, some exactly on the edges."""
    rows = []
    for _ in range(count):
        x, y = rng.uniform(-40, WIDTH + 9), rng.uniform(-40, HEIGHT + 9)
        w, h = rng.choice([rng.uniform(0.5, 60), 0.0, 1.0]), rng.choice([rng.uniform(0.5, 60), 2.0])
        if rng.random() < 0.2:
            x, y, w, h = 0.0, 0.0, float(WIDTH), float(HEIGHT)
        angle = rng.choice([0.0, 90.0, -90.0, 45.0, 180.0, *[rng.uniform(-200, 200)] * 6])
        rows.append([x, y, w + 0.01 * (name in ROTATED), h, angle])
    full = torch.tensor(rows, dtype=torch.float64).reshape(-1, 5)
    if name in ROTATED:
        return F.convert_bounding_box_format(full, "XYWHR", name).to(dtype)
    return F.convert_bounding_box_format(full[:, :4], "XYWH", name).to(dtype)


def made_points(shape: tuple[int, ...], dtype: torch.dtype, rng: random.Random) -> torch.Tensor:
    values = [rng.choice([rng.uniform(-30, 110), rng.uniform(0, 60), 0.0]) for _ in range(torch.Size(shape).numel())]
    return torch.tensor(values, dtype=torch.float64).reshape(shape).to(dtype)


def displacement(seed: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand((1, HEIGHT, WIDTH, 2), generator=generator, dtype=dtype).sub_(0.5).mul_(0.5)


def corners(rng: random.Random) -> list[list[int]]:
    at = [(0, 0), (WIDTH - 1, 0), (WIDTH - 1, HEIGHT - 1), (0, HEIGHT - 1)]
    return [[x + rng.randint(-15, 15), y + rng.randint(-15, 15)] for x, y in at]


def geometry(rng: random.Random) -> Iterator[Op]:
    """Every op with random arguments, in some of the forms that arguments may have."""
    side = lambda: rng.randint(9, 200)  # noqa: E731
    yield "horizontal_flip", {}
    yield "vertical_flip", {}
    sizes = [([side(), side()], None), (side(), None), ([50], 60), (None, 100), ([HEIGHT, WIDTH], None), (40, 300)]
    for size, max_size in sizes:
        yield "resize", {"size": size, "max_size": max_size}
    box = {"top": rng.randint(-20, 40), "left": rng.randint(-20, 40), "height": side() // 3, "width": side() // 3}
    yield "crop", box
    yield "resized_crop", {**box, "size": [side(), side()]}
    yield "resized_crop", {**box, "size": [box["height"], box["width"]]}
    for padding in (7, [5], [3, 9], [rng.randint(-9, 30) for _ in range(4)]):
        yield "pad", {"padding": padding}
    for output in (side() // 2, [30], [31, 90], (side(), side())):
        yield "center_crop", {"output_size": output}
    for expand, center in itertools.product((False, True), (None, [10.5, 20.25])):
        yield "rotate", {"angle": rng.choice([90, 180.0, rng.uniform(-400, 400)]), "expand": expand, "center": center}
    for shear, center in (([rng.uniform(-30, 30), 5.0], None), (7, (11, 30)), ([6.5], None)):
        turned = {
            "angle": rng.uniform(-180, 180),
            "translate": [rng.randint(-20, 20), 5.0],
            "scale": rng.uniform(0.3, 2),
        }
        yield "affine", {**turned, "shear": shear, "center": center}
    yield "perspective", {"startpoints": corners(rng), "endpoints": corners(rng)}
    eight = F._geometry._get_perspective_coeffs(corners(rng), corners(rng))
    yield "perspective", {"startpoints": None, "endpoints": None, "coefficients": eight}
    yield "elastic", {"displacement": displacement(rng.randrange(99), rng.choice(FLOATS))}


#: What is not a size of the canvas in the signature of a kernel.
WITHOUT_CANVAS = ("crop", "resized_crop")
WITHOUT_CLAMPING = ("horizontal_flip", "vertical_flip")


def same(ours: Any, theirs: Any) -> bool:
    """The same types, dtypes, shapes and bits; NaN equals NaN."""
    if isinstance(theirs, tuple):
        return type(ours) is tuple and len(ours) == len(theirs) and all(map(same, ours, theirs))
    if not isinstance(theirs, torch.Tensor):
        return bool(ours == theirs)
    if type(ours) is not type(theirs) or ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    attributes = ("format", "canvas_size", "clamping_mode")
    if any(getattr(ours, name, None) != getattr(theirs, name, None) for name in attributes):
        return False
    ours, theirs = ours.as_subclass(torch.Tensor), theirs.as_subclass(torch.Tensor)
    return torch.allclose(ours, theirs, rtol=0, atol=0, equal_nan=True)


def outcome(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return type(error)


@grouped(BOXES, ("name", "dtype"), lambda case: case[0])
@each("count", [0, 1, 23])
def test_kernels_of_boxes(name: str, dtype: torch.dtype, count: int) -> None:
    rng = random.Random(f"{name} {dtype} {count}")
    format = tv_tensors.BoundingBoxFormat[name]
    for mode in MODES:
        boxes = made_boxes(name, dtype, count, rng)
        kept = boxes.clone()
        for op, arguments in share(geometry(rng), f"{name} {dtype} {count} {mode}"):
            kernel = f"{op}_bounding_boxes"
            also: dict[str, Any] = {"format": format}
            also |= {} if op in WITHOUT_CANVAS else {"canvas_size": (HEIGHT, WIDTH)}
            also |= {} if op in WITHOUT_CLAMPING else {"clamping_mode": mode}
            ours = outcome(getattr(kernels, kernel), boxes, **arguments, **also)
            theirs = outcome(getattr(F, kernel), kept.clone(), **arguments, **also)
            assert same(ours, theirs), (op, arguments, mode, ours, theirs)
            assert same(boxes, kept), op


@pytest.mark.parametrize("dtype", POINTS, ids=str)
@each("shape", [(0, 2), (1, 2), (29, 2), (5, 7, 2), (3, 2, 2, 2), (4, 0, 2)])
def test_kernels_of_points(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    rng = random.Random(f"{dtype} {shape}")
    for _ in range(3):
        points = made_points(shape, dtype, rng)
        kept = points.clone()
        for op, arguments in geometry(rng):
            kernel = f"{op}_keypoints"
            also = {} if op in WITHOUT_CANVAS else {"canvas_size": (HEIGHT, WIDTH)}
            ours = outcome(getattr(kernels, kernel), points, **arguments, **also)
            theirs = outcome(getattr(F, kernel), kept.clone(), **arguments, **also)
            assert same(ours, theirs), (op, arguments, ours, theirs)
            assert same(points, kept), op


@grouped(BOXES, ("name", "dtype"), lambda case: case[0])
@each("count", [0, 1, 23])
def test_formats_limits_and_what_is_kept(name: str, dtype: torch.dtype, count: int) -> None:
    rng = random.Random(f"{name} {dtype} {count}")
    wrap = {"format": name, "canvas_size": (HEIGHT, WIDTH)}
    for mode, _ in itertools.product(MODES, range(cases(2))):
        plain = made_boxes(name, dtype, count, rng)
        boxes = tv_tensors.BoundingBoxes(plain.clone(), clamping_mode=mode, **wrap)  # type: ignore[call-overload]
        format = rng.choice([name, name.lower(), tv_tensors.BoundingBoxFormat[name]])
        for new in (*PLAIN, *ROTATED):
            for one in (new, new.lower(), tv_tensors.BoundingBoxFormat[new]):
                both = [outcome(m.convert_bounding_box_format, boxes, new_format=one) for m in (meta, F)]
                assert same(*both), (new, both)
            both = [outcome(m.convert_bounding_box_format, plain, format, new) for m in (meta, F)]
            assert same(*both), (new, both)
            copies = plain.clone(), plain.clone()
            both = [outcome(m.convert_bounding_box_format, x, format, new, True) for m, x in zip((meta, F), copies)]
            assert same(*both), (new, both)
            if not isinstance(both[0], type) and both[0].shape == plain.shape and name != "XYXYXYXY":
                assert same(copies[0], both[0]), new
        for given in ("auto", *MODES):
            assert same(
                meta.clamp_bounding_boxes(boxes, clamping_mode=given),
                F.clamp_bounding_boxes(boxes, clamping_mode=given),
            )
        assert same(
            meta.clamp_bounding_boxes(plain, name, (50, 40), mode), F.clamp_bounding_boxes(plain, name, (50, 40), mode)
        )
        for least in ({}, {"min_size": 3, "min_area": 20}, {"min_size": 0.1, "min_area": 33.3}, {"min_size": 0}):
            assert same(meta.sanitize_bounding_boxes(boxes, **least), F.sanitize_bounding_boxes(boxes, **least))
            assert same(
                meta.sanitize_bounding_boxes(plain, format, (50, 40), **least),
                F.sanitize_bounding_boxes(plain, format, (50, 40), **least),
            )
    assert functional.get_size_bounding_boxes(boxes) == [HEIGHT, WIDTH]


@pytest.mark.parametrize("dtype", POINTS, ids=str)
@each("shape", [(2,), (0, 2), (29, 2), (5, 7, 2), (3, 2, 2, 2), (4, 0, 2)])
def test_limits_of_points(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    rng = random.Random(f"{dtype} {shape}")
    for _ in range(3):
        plain = made_points(shape, dtype, rng)
        points = tv_tensors.KeyPoints(plain.clone(), canvas_size=(HEIGHT, WIDTH))
        for given, also in ((points, {}), (plain, {"canvas_size": (80, 100)})):
            for name in ("clamp_keypoints", "sanitize_keypoints"):
                both = [outcome(getattr(m, name), given, **also) for m in (meta, F)]
                assert same(*both), (name, both)
    assert functional.get_size_keypoints(points) == [HEIGHT, WIDTH]


def test_layouts_and_batches() -> None:
    rng = random.Random(0)
    wide = made_boxes("XYXY", torch.float32, 24, rng)
    for boxes in (wide[::2], wide.t().contiguous().t(), wide[:, [3, 2, 1, 0]].flip(1), wide.reshape(2, 3, 4, 4)):
        for name, _ in itertools.product(PLAIN, range(3)):
            for op, arguments in geometry(rng):
                kernel = f"{op}_bounding_boxes"
                also: dict[str, Any] = {"format": tv_tensors.BoundingBoxFormat[name]}
                also |= {} if op in WITHOUT_CANVAS else {"canvas_size": (HEIGHT, WIDTH)}
                ours = outcome(getattr(kernels, kernel), boxes, **arguments, **also)
                theirs = outcome(getattr(F, kernel), boxes.clone(), **arguments, **also)
                assert same(ours, theirs), (op, arguments, ours, theirs)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@each("value", [float("nan"), float("inf"), -float("inf"), 1e30, -0.0])
def test_values_that_are_no_coordinates(value: float, dtype: torch.dtype) -> None:
    rng = random.Random(1)
    for name, mode, at in itertools.product(PLAIN, MODES, range(4)):
        boxes = made_boxes(name, dtype, 6, rng)
        boxes[::2, at] = value
        for op, arguments in share(geometry(rng), f"{name} {mode} {at}"):
            kernel = f"{op}_bounding_boxes"
            also: dict[str, Any] = {"format": tv_tensors.BoundingBoxFormat[name]}
            also |= {} if op in WITHOUT_CANVAS else {"canvas_size": (HEIGHT, WIDTH)}
            also |= {} if op in WITHOUT_CLAMPING else {"clamping_mode": mode}
            ours = outcome(getattr(kernels, kernel), boxes, **arguments, **also)
            theirs = outcome(getattr(F, kernel), boxes.clone(), **arguments, **also)
            assert same(ours, theirs), (op, arguments, ours, theirs)
        assert same(
            meta.sanitize_bounding_boxes(boxes, name, (50, 40)), F.sanitize_bounding_boxes(boxes, name, (50, 40))
        )


BAD: list[tuple[str, dict[str, Any]]] = [
    ("pad", {"padding": [1, 2, 3]}),
    ("pad", {"padding": "no"}),
    ("pad", {"padding": 1, "padding_mode": "edge"}),
    ("resize", {"size": None}),
    ("resize", {"size": [40], "max_size": 40}),
    ("resize", {"size": [40, 50], "max_size": 60}),
    ("rotate", {"angle": "no"}),
    ("affine", {"angle": "no", "translate": [1, 2], "scale": 1.0, "shear": [0.0, 0.0]}),
    ("affine", {"angle": 1, "translate": 3, "scale": 1.0, "shear": [0.0, 0.0]}),
    ("affine", {"angle": 1, "translate": [3], "scale": 1.0, "shear": [0.0, 0.0]}),
    ("affine", {"angle": 1, "translate": [3, 4], "scale": 0.0, "shear": [0.0, 0.0]}),
    ("affine", {"angle": 1, "translate": [3, 4], "scale": 1.0, "shear": "no"}),
    ("affine", {"angle": 1, "translate": [3, 4], "scale": 1.0, "shear": [1, 2, 3]}),
    ("affine", {"angle": 1, "translate": [3, 4], "scale": 1.0, "shear": [1, 2], "center": 5}),
    ("perspective", {"startpoints": None, "endpoints": None}),
    ("perspective", {"startpoints": [[0, 0]] * 4, "endpoints": [[0, 0]] * 4, "coefficients": [0.0] * 8}),
    ("perspective", {"startpoints": None, "endpoints": None, "coefficients": [1.0] * 7}),
    ("perspective", {"startpoints": None, "endpoints": None, "coefficients": [0.0] * 8}),
    ("elastic", {"displacement": [1]}),
    ("elastic", {"displacement": torch.zeros(1, 3, 3, 2)}),
]


@grouped(BAD, ("op", "arguments"), lambda case: case[0])
def test_errors_have_torchvisions_types(op: str, arguments: dict[str, Any]) -> None:
    boxes, points = torch.tensor([[1.0, 2, 30, 40]]), torch.tensor([[1.0, 2]])
    also: dict[str, Any] = {"canvas_size": (HEIGHT, WIDTH)}
    for kernel, module, tensor, more in (
        (f"{op}_bounding_boxes", kernels, boxes, {"format": tv_tensors.BoundingBoxFormat.XYXY}),
        (f"{op}_keypoints", kernels, points, {}),
    ):
        theirs = outcome(getattr(F, kernel), tensor, **arguments, **also, **more)
        assert isinstance(theirs, type)
        assert outcome(getattr(module, kernel), tensor, **arguments, **also, **more) is theirs


def test_errors_of_the_functions_for_all_tensors() -> None:
    plain = torch.tensor([[1.0, 2, 30, 40]])
    boxes = tv_tensors.BoundingBoxes(plain, format="XYXY", canvas_size=(9, 9))
    points = tv_tensors.KeyPoints(plain[:, :2], canvas_size=(9, 9))
    mask, size = tv_tensors.Mask(torch.zeros(3, 4)), (9, 9)
    calls: list[tuple[str, tuple[Any, ...]]] = [
        *[("convert_bounding_box_format", a) for a in ((plain, "XYXY"), (plain, None, "XYXY"), (mask, None, "XYXY"))],
        *[("convert_bounding_box_format", a) for a in ((boxes, "XYXY", "XYXY"), (plain, "XYXY", "AB"), ([1], "XYXY"))],
        ("convert_bounding_box_format", (plain, "XYXY", "XYWHR")),
        *[("clamp_bounding_boxes", a) for a in ((plain,), (plain, "XYXY", size), (boxes, "XYXY"), (mask,), ([1],))],
        ("clamp_bounding_boxes", (boxes, None, None, "no")),
        *[("clamp_keypoints", a) for a in ((plain,), (points, size), (mask,), ([1],))],
        *[("sanitize_bounding_boxes", a) for a in ((plain,), (plain, "XYXY"), (boxes, "XYXY"), (mask,), ([1],))],
        *[("sanitize_keypoints", a) for a in ((plain,), (points, size), (mask,), ([1],))],
    ]
    for name, arguments in calls:
        theirs = outcome(getattr(F, name), *arguments)
        assert isinstance(theirs, type), (name, arguments)
        assert outcome(getattr(meta, name), *arguments) is theirs, (name, arguments)


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64], ids=str)
@pytest.mark.parametrize("name", PLAIN)
def test_the_core_takes_plain_boxes_and_points(name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the arguments are: no kernel computes anything by torch."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("left to torch")

    boxes, points = made_boxes(name, dtype, 5, random.Random(0)), made_points((5, 2), dtype, random.Random(0))
    ops = list(geometry(random.Random(1)))

    def move() -> None:
        for op, arguments in ops:
            also = {} if op in WITHOUT_CANVAS else {"canvas_size": (HEIGHT, WIDTH)}
            getattr(kernels, f"{op}_keypoints")(points, **arguments, **also)
            getattr(kernels, f"{op}_bounding_boxes")(boxes, **arguments, **also, format=name)

    move()  # torch is asked once how it adds
    for function in ("clamp", "clone", "mul", "sub_", "neg_", "to", "__add__", "__sub__", "float"):
        monkeypatch.setattr(torch.Tensor, function, refuse)
    monkeypatch.setattr(torch, "matmul", refuse)
    move()
    meta.clamp_keypoints(points, (50, 40))
    meta.clamp_bounding_boxes(boxes, name, (50, 40), "soft")
    meta.sanitize_bounding_boxes(boxes, name, (50, 40), 1.0, 1.0)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_products_of_all_heights(dtype: torch.dtype) -> None:
    """Libraries add in other orders, and fuse, by the number of rows."""
    rng = random.Random(0)
    arguments: dict[str, Any] = {"translate": [1.5, -2.25], "scale": 1.1, "shear": [3.0, 7.0]}
    for rows in [*range(1, 40), 64, 65, 100, 1000]:
        for _ in range(max(1, 20 // rows)):
            points, angle = made_points((rows, 2), dtype, rng), rng.uniform(-180, 180)
            ours = kernels.affine_keypoints(points, (HEIGHT, WIDTH), angle, **arguments)
            assert same(ours, F.affine_keypoints(points, (HEIGHT, WIDTH), angle, **arguments)), rows


def test_another_product_is_left_to_torch() -> None:
    asked = []

    def product(points: memoryview, columns: memoryview, result: memoryview, doubles: bool) -> None:
        asked.append(len(points))
        torch.frombuffer(result, dtype=torch.float64 if doubles else torch.float32).fill_(1)

    def moved() -> None:
        points, boxes = made_points((37, 2), torch.float32, rng), made_boxes("XYWH", torch.float32, 9, rng)
        for op, arguments in geometry(random.Random(1)):
            if op in ("affine", "perspective", "rotate"):
                of_points, of_boxes = f"{op}_keypoints", f"{op}_bounding_boxes"
                size = {"canvas_size": (HEIGHT, WIDTH)}
                ours = getattr(kernels, of_points)(points, **arguments, **size)
                results.append(same(ours, getattr(F, of_points)(points, **arguments, **size)))
                ours = getattr(kernels, of_boxes)(boxes, **arguments, **size, format="XYWH")
                results.append(same(ours, getattr(F, of_boxes)(boxes, **arguments, **size, format="XYWH")))

    rng, results = random.Random(0), []
    _C.help_drafts({**libraries.FUNCTIONS, "product": product})
    try:
        thread = threading.Thread(target=moved)  # which has asked nothing yet
        thread.start()
        thread.join()
    finally:
        _C.help_drafts(libraries.FUNCTIONS)
    assert asked and results and all(results)


def test_torch_sees_its_ops_where_it_watches() -> None:
    boxes = torch.tensor([[1.0, 2, 30, 40]], requires_grad=True)
    moved, _ = kernels.crop_bounding_boxes(boxes, "XYXY", 1, 2, 20, 30)
    moved.sum().backward()
    assert boxes.grad is not None and boxes.grad.tolist() == [[0.0, 1.0, 1.0, 0.0]]
    points = torch.tensor([[1.0, 2]], requires_grad=True)
    kernels.resize_keypoints(points, [20, 20], (10, 10))[0].sum().backward()
    assert points.grad is not None and points.grad.tolist() == [[2.0, 2.0]]
    batch = torch.tensor([[[1.0, 2, 3, 4]], [[5.0, 6, 7, 8]]])
    flipped = torch.vmap(lambda one: kernels.horizontal_flip_keypoints(one, (9, 9)))(batch.reshape(2, 2, 2))
    assert flipped.tolist() == [[[7.0, 2.0], [5.0, 4.0]], [[3.0, 6.0], [1.0, 8.0]]]
    torch.set_default_dtype(torch.float64)
    try:
        boxes = torch.tensor([[1.0, 2, 31, 41]], dtype=torch.float32)
        ours = kernels.resize_bounding_boxes(boxes, (61, 83), [10, 11])
        assert same(ours, F.resize_bounding_boxes(boxes, (61, 83), [10, 11]))
    finally:
        torch.set_default_dtype(torch.float32)


class Labelled(tv_tensors.BoundingBoxes):
    """A user's boxes, which carry something."""

    @classmethod
    def wrap(cls, tensor: torch.Tensor, like: Any, **kwargs: Any) -> Any:
        boxes = super().wrap(tensor, like, **kwargs)
        boxes.label = like.label
        return boxes


def chain(rng: random.Random) -> Iterator[Op]:
    for _ in range(rng.randint(1, 5)):
        op, arguments = rng.choice(list(geometry(rng)))
        if op != "elastic":  # of a canvas of its own
            yield op, arguments


def both_ways(draft: Any, leaf: Any, op: str, arguments: dict[str, Any]) -> tuple[Any, Any]:
    """What an op raises, from the draft and in torchvision; or None, and the new leaf."""
    theirs = outcome(getattr(F, op), leaf, **arguments)
    ours = outcome(getattr(draft, op), **arguments)
    return ours, theirs


@grouped(BOXES, ("name", "dtype"), lambda case: case[0])
@each("mode", MODES)
def test_drafts_of_boxes(name: str, dtype: torch.dtype, mode: str | None) -> None:
    rng = random.Random(f"{name} {dtype} {mode}")
    for _ in range(cases(8)):
        plain = made_boxes(name, dtype, rng.choice([0, 1, 9]), rng)
        boxes = Labelled(plain, format=name, canvas_size=(HEIGHT, WIDTH), clamping_mode=mode)  # type: ignore[call-overload]
        boxes.label = "cat"
        leaf, kept = boxes, plain.clone()
        draft = BoxesDraft(boxes)
        assert draft.finish() is boxes
        for op, arguments in chain(rng):
            before = draft.copy()
            ours, theirs = both_ways(draft, leaf, op, arguments)
            if isinstance(theirs, type):
                assert ours is theirs, (op, arguments)
                draft = before
                continue
            assert ours is None, (op, arguments, ours)
            assert same(before.finish(), leaf)
            leaf = theirs
            assert same(draft.finish(), leaf), (op, arguments, draft.finish(), leaf)
            assert draft.finish().label == "cat"
            assert (draft.height, draft.width) == tuple(leaf.canvas_size)
            if rng.random() < 0.3:
                new = rng.choice(ROTATED if name in ROTATED else PLAIN)
                leaf = F.convert_bounding_box_format(leaf, new_format=new)
                draft.convert_bounding_box_format(new)
                assert draft.format is leaf.format
            if rng.random() < 0.3:
                given = rng.choice(["auto", *MODES])
                leaf = F.clamp_bounding_boxes(leaf, clamping_mode=given)
                draft.clamp(given)
            assert same(draft.finish(), leaf)
            least = rng.choice([{}, {"min_size": 3, "min_area": 20.5}])
            kept_boxes, valid = F.sanitize_bounding_boxes(leaf, **least)
            assert same(draft.sanitize(**least), valid)
            if rng.random() < 0.5:
                leaf = kept_boxes
                draft.keep(valid)
                assert same(draft.finish(), leaf)
            elif rng.random() < 0.5:
                cleared = leaf.as_subclass(torch.Tensor).clone()
                cleared[~valid] = 0
                leaf = tv_tensors.wrap(cleared, like=leaf)
                draft.clear_but(valid)
                assert same(draft.finish(), leaf)
        assert same(boxes.as_subclass(torch.Tensor), kept)


@pytest.mark.parametrize("dtype", POINTS, ids=str)
@each("shape", [(0, 2), (9, 2), (5, 7, 2), (4, 0, 2)])
def test_drafts_of_points(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    rng = random.Random(f"{dtype} {shape}")
    for _ in range(8):
        plain = made_points(shape, dtype, rng)
        leaf = points = tv_tensors.KeyPoints(plain, canvas_size=(HEIGHT, WIDTH))
        kept, draft = plain.clone(), PointsDraft(points)
        assert draft.finish() is points
        for op, arguments in chain(rng):
            before = draft.copy()
            ours, theirs = both_ways(draft, leaf, op, arguments)
            if isinstance(theirs, type):
                assert ours is theirs, (op, arguments)
                draft = before
                continue
            assert ours is None, (op, arguments, ours)
            leaf = theirs
            if rng.random() < 0.3:
                leaf = F.clamp_keypoints(leaf)
                draft.clamp()
            assert same(draft.finish(), leaf), (op, arguments)
            inside, valid = F.sanitize_keypoints(leaf)
            assert same(draft.sanitize(), valid)
            if rng.random() < 0.4:
                leaf = inside
                draft.keep(valid)
                assert same(draft.finish(), leaf)
        assert same(points.as_subclass(torch.Tensor), kept)


def test_drafts_that_nothing_changes_share_the_memory() -> None:
    plain = torch.tensor([[1.0, 2, 30, 40]])
    boxes = tv_tensors.BoundingBoxes(plain, format="XYXY", canvas_size=(HEIGHT, WIDTH))  # type: ignore[call-overload]
    draft = BoxesDraft(boxes)
    draft.resize([HEIGHT, WIDTH])
    draft.convert_bounding_box_format("xyxy")
    assert not draft.sanitize(min_size=100).any()
    result = draft.finish()
    assert result is not boxes
    assert same(result, boxes)
    assert result.data_ptr() == plain.data_ptr()
    draft.clamping_mode = "hard"
    assert draft.finish().clamping_mode == "hard"
    assert boxes.clamping_mode == "soft"


@grouped(BAD, ("op", "arguments"), lambda case: case[0])
def test_errors_of_drafts(op: str, arguments: dict[str, Any]) -> None:
    boxes = tv_tensors.BoundingBoxes(torch.ones(1, 4), format="XYXY", canvas_size=(9, 9))  # type: ignore[call-overload]
    points = tv_tensors.KeyPoints(torch.ones(1, 2), canvas_size=(9, 9))
    for draft, leaf in ((BoxesDraft(boxes), boxes), (PointsDraft(points), points)):
        ours, theirs = both_ways(draft, leaf, op, arguments)
        assert isinstance(theirs, type)
        assert ours is theirs
        assert draft.finish() is leaf
