"""Random chains keep the contract of fast mode, and so do those that once broke it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import fastaug
import fastaug.transforms as T
from pipeline_steps import Step
from random_fast import STEPS, check, draw_case, verdict
from random_pipelines import Case
from support.images import photo, to_chw
from support.scale import cases

CASES = cases(120)
BILINEAR, BOX = T.InterpolationMode.BILINEAR, T.InterpolationMode.BOX


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tensors", [False, True], ids=["images", "tensors"])
def test_random_chains(tensors: bool) -> None:
    found = [text for number in range(CASES) if (text := check(number, tensors))]
    assert not found, "\n".join([f"{len(found)} of {CASES} break it", *found[:3]])


def test_the_cases_are_worth_running() -> None:
    """Every step occurs, and fast mode computes many of them otherwise."""
    text = "\n".join(draw_case(number).pipeline() for number in range(2000))
    assert all(text.count(f"T.{name}(") > 40 for name in STEPS)
    other = 0
    for number in range(60):
        case = draw_case(number)
        results = []
        for mode in ("exact", "fast"):
            pipeline = eval(case.pipeline(), {"T": T})
            pipeline.mode = mode
            torch.manual_seed(case.seed)
            image = photo("astronaut", case.height, case.width).convert(case.mode)
            try:
                results.append(np.asarray(pipeline(image)))
            except (ValueError, RuntimeError):
                break
        other += len(results) == 2 and not np.array_equal(*results)
    assert other > 15


def test_a_break_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The contract is asked for at its full strictness."""
    from fastaug._draft import pipeline
    from fastaug._inspect import contract

    steps = (Step("T.RandomRotation(20, 2)"), Step("T.Resize(60)"), Step("T.ColorJitter(0.4, 0.4, 0.4)"))
    case = Case(steps, "pil", "RGB", "photo", 90, 120, 5)
    assert not verdict(case)
    monkeypatch.setattr(contract.Truth, "distances", lambda *_: (40.0, 40.1))
    assert "BROKEN" in verdict(case)
    monkeypatch.setitem(pipeline._CALLS, ("fast", "container"), pipeline.PLAIN)
    assert not verdict(case)


#: What broke the contract, of each kind: torchvision's errors made up for each other, or fast mode's did not.
TURNED = (
    # What has been cut off is turned round, and cut off again.
    [T.RandomAdjustSharpness(2, 1.0), T.RandomInvert(1.0), T.RandomPerspective(0.2, 1.0, BILINEAR)],
    [T.ColorJitter(brightness=(0.7, 0.7)), T.RandomInvert(1.0), T.RandomRotation((9, 9), BILINEAR)],
    [T.RandomRotation((9, 9), BILINEAR), T.RandomInvert(1.0), T.RandomPerspective(0.2, 1.0, BILINEAR)],
    [T.RandomAdjustSharpness(2, 1.0), T.RandomSolarize(30, 1.0), T.RandomRotation((9, 9), BILINEAR)],
    [T.RandomAutocontrast(1.0), T.RandomInvert(1.0), T.RandomAffine(9, interpolation=BILINEAR), T.Resize(60)],
    # Sums of two bytes are halved, and halves go up.
    [T.ColorJitter(contrast=(0.4, 0.4)), T.Resize((45, 60), BOX)],
    # Few pixels.
    [T.Resize((58, 1)), T.Resize((14, 14)), T.Resize((1, 7)), T.ColorJitter(0.5)],
    # Contrast by the mean of grays that are cut off to bytes, and by much.
    [T.ColorJitter(brightness=(1.3, 1.3)), T.ColorJitter(contrast=(2.6, 2.6))],
    [T.ColorJitter(contrast=(1.9, 1.9)), T.CenterCrop(50)],
    # One resize that enlarges, with bytes between its passes.
    [T.CenterCrop(60), T.Resize((180, 170)), T.CenterCrop(90)],
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("steps", TURNED, ids=lambda steps: "-".join(type(step).__name__ for step in steps))
@pytest.mark.parametrize("container", ["image", "tensor"])
def test_errors_that_make_up_for_each_other(steps: Any, container: str) -> None:
    image: Any = photo("chelsea", 90, 120)
    if container == "tensor":
        image = to_chw(image)
        steps = [step for step in steps if getattr(step, "interpolation", None) is not BOX]
    report = T.Compose(steps, mode="fast").check([image], seeds=range(6))
    assert report or report.errors, str(report)


def test_what_cannot_go_wrong_is_fast_still() -> None:
    """An inversion of bytes before all that rounds, or after it, keeps nothing from fast mode."""
    image = photo("chelsea", 90, 120)
    for steps in (
        [T.RandomInvert(1.0), T.RandomRotation((9, 9), BILINEAR)],
        [T.RandomRotation((9, 9), BILINEAR), T.RandomInvert(1.0)],
        [T.RandomPosterize(4, 1.0), T.RandomRotation((9, 9), BILINEAR)],
        [T.RandomAdjustSharpness(2, 1.0), T.RandomRotation((9, 9), BILINEAR), T.ColorJitter(0.4, 0.4)],
    ):
        fast, exact = T.Compose(steps, mode="fast"), T.Compose(steps)
        results = []
        for pipeline in (fast, exact):
            torch.manual_seed(3)
            results.append(np.asarray(pipeline(image)))
        assert not np.array_equal(*results)
        assert fast.check([image], seeds=3)


def test_models_of_bytes() -> None:
    """Posterize and equalize are exact of bytes, and have no model in float64 of anything else."""
    import torchvision.transforms as TV

    from bench.quality import reference
    from fastaug._inspect.float64 import NoTruthError, planes

    image = photo("chelsea", 40, 50)
    for step in (TV.RandomPosterize(3, 1.0), TV.RandomEqualize(1.0), TV.RandomSolarize(100, 1.0)):
        pipeline = fastaug.compile(step)
        assert np.array_equal(reference(pipeline, image), planes(step(image)))
        tensor = to_chw(image)
        assert np.array_equal(reference(pipeline, tensor), planes(step(tensor)))
    for step in (TV.RandomPosterize(3, 1.0), TV.RandomEqualize(1.0)):
        chain = TV.Compose([TV.ColorJitter((0.7, 0.7)), step])
        for one in (image, to_chw(image)):
            with pytest.raises(NoTruthError, match="of bytes"):
                reference(fastaug.compile(chain), one)


@pytest.mark.parametrize("filter_", [T.InterpolationMode.BOX, T.InterpolationMode.HAMMING])
def test_models_of_filters(filter_: Any) -> None:
    """Within a rounding of each of Pillow's two passes."""
    import torchvision.transforms as TV

    from bench.quality import reference
    from fastaug._inspect.float64 import planes

    mode = TV.InterpolationMode(filter_.value)
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (47, 61, 3), dtype=np.uint8))
    for size in ((20, 61), (47, 30), (33, 17), (90, 100), (24, 30)):
        resize = TV.Resize(size, mode)
        assert np.abs(reference(fastaug.compile(resize), image) - planes(resize(image))).max() <= 1.01
