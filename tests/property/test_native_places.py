"""What the native core does to boxes, points, labels and masks of samples is what Python does."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch

from fastaug import tv_tensors
from fastaug.transforms import v2
from support.differences import each
from support.native_calls import Random, compared
from support.native_samples import (
    REFUSING,
    STEPS,
    canvas_of,
    floats,
    image_of,
    mask,
    other_leaf,
    places,
    several,
)
from support.scale import cases


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", STEPS)
@each("kind", ["RGB", "tagged"])
def test_each_step_moves_places_in_every_setting(step: str, kind: str) -> None:
    who: Counter[str] = Counter()
    for case in range(cases(60)):
        r = Random(f"{step} {kind} {case} places")
        image = image_of(r, kind)
        canvas = canvas_of(image)
        sample = image, {"boxes": places(r, canvas), "labels": torch.ones(3), "points": places(r, canvas)}
        end = [v2.ToImage(), floats(r), *r.choice([[], [v2.ToPureTensor()]])]
        who[compared(v2.Compose([STEPS[step](r), *end]), sample, case)] += 1
    assert who["native"] > 0 or cases(60) < 60 or step in REFUSING, who


def iou_crop(r: Random) -> Any:
    options = r.choice([None, None, [0.0, 1.0], [1.0], (0.1, 0.5, 2)])
    scales, ratios = r.choice([(0.3, 1.0), (0.01, 1.0), (0.9, 2)]), r.choice([(0.5, 2.0), (0, 9)])
    return v2.RandomIoUCrop(*scales, *ratios, options, r.choice([40, 3]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["RGB", "tagged", "tensor", "video"])
def test_crops_by_boxes_are_the_same(kind: str) -> None:
    who: Counter[str] = Counter()
    for case in range(cases(300)):
        r = Random(f"{kind} {case} boxes")
        image = image_of(r, kind)
        canvas = canvas_of(image)
        corners = [[r.randint(0, side - 1) for side in (canvas[1], canvas[0])] for _ in range(r.randint(1, 4))]
        boxes = torch.tensor([[x, y, r.randint(x, canvas[1]), r.randint(y, canvas[0])] for x, y in corners])
        dtype, clamping = r.choice([torch.float32, torch.int64, torch.float64]), r.choice(["soft", "hard", None])
        places: Any = tv_tensors.BoundingBoxes(  # type: ignore[call-overload]
            boxes.to(dtype), format="XYXY", canvas_size=canvas, clamping_mode=clamping
        )
        sample = image, {"boxes": places, "labels": torch.ones(len(boxes)), "others": other_leaf(r, canvas)}
        steps = [*several(r), v2.ConvertBoundingBoxFormat("XYWH")][: r.randint(0, 1)]
        ends = [[], [v2.ToPureTensor()], [v2.SanitizeBoundingBoxes(labels_getter=None)]]
        steps += [iou_crop(r), *several(r)[: r.randint(0, 2)], v2.ToImage(), floats(r), *r.choice(ends)]
        who[compared(v2.Compose(steps), sample, case)] += 1
    assert who["native"] > 25 or kind == "video" or cases(300) < 300, who


def labelled(r: Random, rows: int) -> dict[str, Any]:
    """Labels for so many boxes, where v2 finds them by itself, and mostly such as the core takes."""
    labels: list[Any] = [torch.arange(rows), torch.arange(rows), torch.rand(rows, 2), torch.zeros(rows, 0)]
    labels += [torch.arange(rows + 1), torch.tensor(3), [1] * rows, None, (torch.arange(rows), torch.ones(rows))]
    label = r.choice(labels)
    names = r.choice([["labels"], ["labels"], ["Label", "LABELS"], ["is_label"], ["other"]])
    return {name: label if r.random() < 0.7 else r.choice(labels) for name in names}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(4)))
def test_boxes_are_removed_with_their_labels_and_masks(part: int) -> None:
    who: Counter[str] = Counter()
    for case in range(300):
        r = Random(f"sanitize {part} {case}")
        image = image_of(r, r.choice(["RGB", "tagged", "tensor", "video"]))
        canvas = canvas_of(image)
        count = r.choice([0, 1, 3, 5])
        corners = torch.tensor([[r.uniform(-5, 50) for _ in range(4)] for _ in range(count)]).reshape(count, 4)
        boxes = tv_tensors.BoundingBoxes(  # type: ignore[call-overload]
            corners.to(r.choice([torch.float32, torch.int64])), format=r.choice(["XYXY", "XYWH"]), canvas_size=canvas
        )
        masks = [torch.zeros((*r.choice([[], [count], [2]]), *canvas), dtype=r.choice([torch.uint8, torch.int64]))]
        target = {
            "boxes": boxes,
            **labelled(r, count),
            **{f"mask {k}": tv_tensors.Mask(m) for k, m in enumerate(masks)},
        }
        sample: Any = r.choice([(image, target), {"image": image, **target}, [image, target, 3], (target, image)])
        getter = r.choice(["default", "default", None])
        sanitize = v2.SanitizeBoundingBoxes(r.choice([1, 4.5]), r.choice([1, 20]), labels_getter=getter)
        steps = [*several(r)[: r.randint(0, 2)], v2.ToImage(), floats(r), sanitize]
        steps += r.choice([[], [v2.RandomHorizontalFlip()], [v2.ToPureTensor()], [sanitize], [v2.ClampBoundingBoxes()]])
        who[compared(v2.Compose(steps), sample, case)] += 1
    assert who["native"] > 15, who


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(cases(4)))
def test_points_are_removed_with_their_labels(part: int) -> None:
    who: Counter[str] = Counter()
    for case in range(200):
        r = Random(f"sanitize points {part} {case}")
        image = image_of(r, r.choice(["RGB", "tagged", "tensor", "video", "encoded"]))
        canvas = canvas_of(image)
        count, group = r.choice([0, 1, 3, 5]), r.choice([(), (), (2,)])
        values = torch.tensor([r.uniform(-5, 50) for _ in range(count * 2 * (group or (1,))[0])])
        points = tv_tensors.KeyPoints(
            values.reshape(count, *group, 2).to(r.choice([torch.float32, torch.int64])), canvas_size=canvas
        )
        target = {"points": points, "mask": mask(r, canvas), "boxes": places(r, canvas), **labelled(r, count)}
        for name in r.sample(["mask", "boxes"], r.randint(0, 2)):
            del target[name]
        sample: Any = r.choice([(image, target), {"image": image, **target}])
        sanitize = v2.SanitizeKeyPoints(r.choice(["default", None]))
        steps = [*several(r)[: r.randint(0, 2)], v2.ToImage(), floats(r), sanitize]
        steps += r.choice([[], [v2.RandomHorizontalFlip()], [v2.ToPureTensor()], [v2.ClampKeyPoints()]])
        who[compared(v2.Compose(steps), sample, case)] += 1
    assert who["native"] > 15, who
