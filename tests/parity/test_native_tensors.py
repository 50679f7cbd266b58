"""What recipes make of tensors of every layout is torchvision's result, with its draws."""

from __future__ import annotations

import random
from collections import Counter
from types import ModuleType
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms.v2 as TV2

import fastaug.transforms as T
from fastaug import tv_tensors
from fastaug.transforms import v2
from support.native_calls import Random, mode, random_tensor
from support.native_steps import Steps
from support.scale import cases


def their_mode(r: Random) -> Any:
    return TV.InterpolationMode[mode(r).name]


OURS = {"v1": Steps(T, mode, 0, 0), "v2": Steps(v2, mode, None, 1)}
THEIRS = {"v1": Steps(TV, their_mode, 0, 0), "v2": Steps(TV2, their_mode, None, 1)}


def drawn(r: Random, steps: Steps, module: ModuleType) -> tuple[torch.Tensor, Any]:
    """A tensor and a pipeline: the same for each module in the same state of `r`."""
    image, of = random_tensor(r), module
    if "v2" in module.__name__ and r.random() < 0.5:
        image = (tv_tensors.Video if image.ndim > 3 and r.random() < 0.5 else tv_tensors.Image)(image)
    several = [steps.by_name[r.choice(list(steps.by_name))](r) for _ in range(r.randint(1, 2))]
    if r.random() < 0.5:
        several.append(of.ConvertImageDtype(torch.float32))
    return image, of.Compose(several)


def outcome(call: Any, image: Any, seed: int) -> tuple[Any, torch.Tensor, Any]:
    """The result or the type of the error, and the states of the generators after it."""
    torch.manual_seed(seed)
    random.seed(seed)
    try:
        result = call(image)
    except Exception as error:
        result = type(error)
    return result, torch.get_rng_state(), random.getstate()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("part", range(cases(4)))
def test_native_results_are_torchvision_s(version: str, part: int) -> None:
    who: Counter[str] = Counter()
    for case in range(300):
        seed = f"{version} {part} {case}"
        image, ours = drawn(Random(seed), OURS[version], T if version == "v1" else v2)
        same, theirs = drawn(Random(seed), THEIRS[version], TV if version == "v1" else TV2)
        recipe = ours._recipe()
        if recipe is None:
            continue
        found, *states = outcome(lambda given: recipe.call(given, ours.transforms), image, case)  # noqa: B023
        if found is NotImplemented:
            who["declined"] += 1
            continue
        who["native"] += 1
        expected, *after = outcome(theirs, same, case)
        assert type(found) is type(expected), (theirs, found, expected)
        assert torch.equal(states[0], after[0]) and states[1] == after[1]
        assert found.dtype == expected.dtype and found.shape == expected.shape
        if expected.dtype is torch.uint8:
            assert torch.equal(found, expected), theirs
        else:
            torch.testing.assert_close(found, expected, rtol=0, atol=1e-5, msg=str(theirs))
    assert who["native"] > 30, who
