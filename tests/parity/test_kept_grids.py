"""Grids that are kept between warps of floats give torch's results wherever they were made."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import torch
import torchvision.transforms.functional as TVF
import torchvision.transforms.v2.functional as TVF2
from torch._subclasses.fake_tensor import FakeTensorMode

from fastaug._program.eager import kept
from fastaug.transforms import functional as F
from fastaug.transforms.v2 import functional as F2
from support.defaults import default_dtype

CORNERS = [[0, 0], [6, 0], [6, 4], [0, 4]]
FIELD = torch.sin(torch.arange(70.0)).view(1, 5, 7, 2) * 0.1
WARPS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "rotate": ("rotate", "rotate", {"angle": 17.3}),
    "affine": ("affine", "affine", {"angle": 15.0, "translate": [1, 2], "scale": 1.1, "shear": [8.0, 0.0]}),
    "perspective": (*["perspective"] * 2, {"startpoints": CORNERS, "endpoints": [[0, 0], [6, 1], [5, 4], [1, 3]]}),
    "elastic": ("elastic_transform", "elastic", {"displacement": FIELD}),
}


PLACES: list[Callable[[], AbstractContextManager[Any]]] = [
    torch.inference_mode, nullcontext, default_dtype, torch.no_grad, lambda: torch.device("meta"),
]  # fmt: skip


def outcome(function: Any, image: torch.Tensor, given: dict[str, Any], place: Any) -> Any:
    """Its dtype, samples and gradients; None for an error."""
    image = image.clone().requires_grad_()
    try:
        with place():
            result = function(image, **given)
    except NotImplementedError:
        return None
    if result.requires_grad:
        result.sum().backward()
    return result.dtype, result.detach().tolist(), None if image.grad is None else image.grad.tolist()


@pytest.mark.parametrize("name", WARPS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_warps_in_places(name: str, dtype: torch.dtype) -> None:
    v1, v2, given = WARPS[name]
    image = torch.rand(2, 3, 5, 7, generator=torch.Generator().manual_seed(1)).to(dtype)
    for place in PLACES * 2:
        for ours, theirs in ((getattr(F, v1), getattr(TVF, v1)), (getattr(F2, v2), getattr(TVF2, v2))):
            expected = outcome(theirs, image, given, place)
            # torch solves no equations on the device "meta", and these need none.
            assert expected is None or outcome(ours, image, given, place) == expected
    for ours, theirs in ((getattr(F, v1), getattr(TVF, v1)), (getattr(F2, v2), getattr(TVF2, v2))):
        mapped = torch.func.vmap(lambda one, call=ours: call(one, **given))(image)
        assert torch.equal(mapped, torch.func.vmap(lambda one, call=theirs: call(one, **given))(image))


def test_what_is_kept() -> None:
    asked: list[int] = []

    @kept
    def made(height: int, width: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        asked.append(height)
        return torch.zeros(height, width, dtype=dtype, device=device)

    cpu, meta = torch.device("cpu"), torch.device("meta")
    with torch.inference_mode():
        first = made(3, 4, torch.float32, cpu)
    assert made(3, 4, torch.float32, cpu) is first
    assert not first.is_inference()
    assert made(3, 4, torch.float64, cpu).dtype is torch.float64
    assert asked == [3, 3]
    for _ in range(2):
        assert made(5, 4, torch.float32, meta).is_meta
        made(1000, 1000, torch.float32, cpu)
        with FakeTensorMode():
            assert type(made(6, 4, torch.float32, cpu)) is not torch.Tensor
    assert asked == [3, 3, *[5, 1000, 6] * 2]
