"""What torchvision.transforms.v2's classes draw, from the same seed, with the same state of the generator after it."""

from __future__ import annotations

import itertools
import random
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torchvision import tv_tensors
from torchvision.transforms import v2

from fastaug import _C
from fastaug._draft.draws import DEFAULT, Draws, TorchDraws
from fastaug._tv_tensors.moves import held_boxes
from support.differences import each
from support.scale import cases

#: The core's, and those that torch makes one by one.
BOTH = pytest.mark.parametrize("draws", [DEFAULT, TorchDraws()], ids=["native", "torch"])


class NoDraws:
    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was left to torch")


def drawn(seed: int, draw: Callable[..., Any], *args: Any) -> tuple[Any, bytes]:
    """What is drawn from a seed, or the type of its error, and the state of torch's generator then."""
    torch.manual_seed(seed)
    result: Any
    try:
        result = draw(*args)
    except Exception as error:
        result = type(error)
    DEFAULT.release()
    return result, torch.get_rng_state().numpy().tobytes()


def multinomial(weights: list[float]) -> int:
    return int(torch.multinomial(torch.tensor(weights), 1))


def some_boxes(rng: random.Random, count: int, dtype: torch.dtype, name: str, width: int, height: int) -> torch.Tensor:
    rows = []
    for _ in range(count):
        x, y = rng.uniform(-20, width), rng.uniform(-20, height)
        rows.append([x, y, x + rng.uniform(0, width), y + rng.uniform(0, height)])
    boxes = torch.tensor(rows, dtype=torch.float64).reshape(-1, 4).to(dtype)
    return v2.functional.convert_bounding_box_format(boxes, "XYXY", name)


def iou_crop(transform: v2.RandomIoUCrop, draws: Draws, boxes: tv_tensors.BoundingBoxes, native: bool) -> Any:
    """As make_params gives it."""
    height, width = boxes.canvas_size
    plain = boxes.as_subclass(torch.Tensor)
    given: Any = held_boxes(plain, boxes.format.name, boxes.canvas_size) if native else None
    if given is None:
        given = lambda: v2.functional.convert_bounding_box_format(plain, boxes.format, "XYXY")  # noqa: E731
    scales = (transform.min_scale, transform.max_scale)
    aspects = (transform.min_aspect_ratio, transform.max_aspect_ratio)
    crop = draws.iou_crop(given, height, width, scales, aspects, transform.options, transform.trials)
    if crop is None:
        return {}
    top, left, new_height, new_width, within = crop
    mask = list(map(bool, within))
    return {"top": top, "left": left, "height": new_height, "width": new_width, "is_within_crop_area": mask}


SETTINGS: list[dict[str, Any]] = [
    {},
    {"trials": 3},
    {"min_scale": 0.1, "max_scale": 0.5, "sampler_options": [0.0, 0.05, 0.9, 1.0]},
    {"min_scale": 0.7, "max_scale": 1.5, "min_aspect_ratio": 0.9, "max_aspect_ratio": 1.3},
    {"min_scale": 0, "max_scale": 1, "sampler_options": [0, 2]},
    {"sampler_options": [0.5, float("nan"), 1]},
]


@BOTH
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32], ids=str)
@each("settings", SETTINGS)
def test_iou_crop(dtype: torch.dtype, settings: dict[str, Any], draws: Draws) -> None:
    transform = v2.RandomIoUCrop(**settings)
    rng = random.Random(f"{dtype} {settings}")
    for seed, name in itertools.product(range(cases(6)), ("XYXY", "XYWH", "CXCYWH")):
        height, width = rng.randint(20, 600), rng.randint(20, 600)
        plain = some_boxes(rng, rng.choice([1, 2, 4, 30]), dtype, name, width, height)
        boxes = tv_tensors.BoundingBoxes(plain, format=name, canvas_size=(height, width))  # type: ignore[call-overload]
        image = torch.empty(3, height, width)
        theirs, state = drawn(seed, transform.make_params, [image, boxes])
        if isinstance(theirs, dict) and theirs:
            theirs["is_within_crop_area"] = theirs["is_within_crop_area"].tolist()
        native = dtype is not torch.int32 and draws is DEFAULT
        ours, after = drawn(seed, iou_crop, transform, draws, boxes, native)
        assert ours == theirs
        assert after == state


def test_the_core_draws_crops_that_it_can() -> None:
    draws = _C.Draws(torch.Generator(), NoDraws())
    boxes = held_boxes(torch.tensor([[0, 0, 50, 50]]), "XYXY", (60, 80))
    draws.iou_crop(boxes, 60, 80, (0.3, 1.0), (0.5, 2.0), [0.0, 0.5, 1.0], 40)
    draws.choice([0.5, 0.5])
    draws.zoom_out(60, 80, 1, 4)
    draws.scaled(0.5, 2)
    draws.release()


@BOTH
def test_crops_without_rows_divide_by_zero(draws: Draws) -> None:
    transform = v2.RandomIoUCrop()
    boxes = tv_tensors.BoundingBoxes([[0.0, 0, 3, 3]], format="XYXY", canvas_size=(3, 3))  # type: ignore[call-overload]
    outcomes = set()
    for seed in range(40):
        theirs, state = drawn(seed, transform.make_params, [torch.empty(3, 3, 3), boxes])
        ours, after = drawn(seed, iou_crop, transform, draws, boxes, True)
        assert (ours is ZeroDivisionError) == (theirs is ZeroDivisionError)
        assert after == state
        outcomes.add(str(theirs))
    assert len(outcomes) > 1


def test_a_draw_without_end_is_interrupted() -> None:
    boxes = held_boxes(torch.tensor([[500, 500, 501, 501]]), "XYXY", (60, 80))
    # Another thread goes on meanwhile, and sends the signal.
    timer = threading.Timer(0.2, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        DEFAULT.iou_crop(boxes, 60, 80, (0.3, 1.0), (0.5, 2.0), [0.5], 40)  # type: ignore[arg-type]
    timer.join()
    assert time.monotonic() - begin < 30
    DEFAULT.release()


@BOTH
def test_choices(draws: Draws) -> None:
    rng = random.Random(5)
    lists = [[0.25] * 4, [0.1, 0.2, 0.3, 0.4], [1.0], [0.0, 1.0, 0.0], [5.0, 1e-30, 3e38 / 4]]
    lists += [[rng.random() for _ in range(count)] for count in (2, 3, 7, 8, 9, 16, 17, 33, 100, 1000)]
    for weights, seed in itertools.product(lists, range(20)):
        theirs = drawn(seed, multinomial, weights)
        assert drawn(seed, draws.choice, weights) == theirs
    chosen: list[int] = []
    calls = [lambda x, i=i: chosen.append(i) for i in range(4)]
    transform = v2.RandomChoice(calls, [1, 2, 3, 4])
    for seed in range(100):
        _, state = drawn(seed, transform, torch.zeros(1))
        assert drawn(seed, draws.choice, transform.p) == (chosen[-1], state)


@pytest.mark.parametrize(
    "weights",
    [[], [0.0, 0.0], [-1.0, 2.0], [float("nan")], [float("inf"), 1.0], [1, 2], ["a"], [1e300, 1.0], (0.5, 0.5)],
    ids=str,
)
def test_choices_that_only_torch_explains(weights: Any) -> None:
    theirs = drawn(3, multinomial, weights)
    assert drawn(3, DEFAULT.choice, weights) == theirs


@BOTH
def test_zooming_out_and_scales(draws: Draws) -> None:
    rng = random.Random(6)
    for seed in range(200):
        height, width = rng.randint(1, 3000), rng.randint(1, 3000)
        image = torch.empty(1, height, width)
        low = rng.choice([1.0, 1, rng.uniform(1, 2)])
        high = low + rng.choice([0, 3, rng.uniform(0, 5)])
        zoom = v2.RandomZoomOut(side_range=(low, high), p=1.0)
        theirs, state = drawn(seed, zoom.make_params, [image])
        assert drawn(seed, draws.zoom_out, height, width, low, high) == (tuple(theirs["padding"]), state)
        jitter = v2.ScaleJitter((640, 480), scale_range=(low / 9, high))
        theirs, state = drawn(seed, jitter.make_params, [image])
        scale, after = drawn(seed, draws.scaled, low / 9, high)
        part = min(480 / height, 640 / width) * torch.tensor(scale)
        assert (int(height * part), int(width * part)) == theirs["size"]
        assert after == state
