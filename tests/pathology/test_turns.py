"""Quarter turns and mirrors: NumPy's of arrays, Pillow's of PIL images and torch's of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import fastaug
import fastaug.transforms as T
from fastaug import pathology
from fastaug.pathology import functional as F
from support.images import noise
from support.outcomes import snapshot

SIZES = [(1, 1), (1, 7), (9, 1), (15, 17), (16, 16), (33, 64), (129, 140)]


def moved(array: np.ndarray, element: int) -> np.ndarray:
    """Of rows and columns first."""
    turned = np.rot90(array, element & 3)
    return np.ascontiguousarray(turned[:, ::-1] if element & 4 else turned)


def containers(array: np.ndarray) -> dict[str, Any]:
    """An RGB image in all containers: PIL, arrays, and tensors of several dtypes and orders in memory."""
    planes = torch.from_numpy(array.transpose(2, 0, 1).copy())
    return {
        "PIL": Image.fromarray(array),
        "gray PIL": Image.fromarray(array[:, :, 0].copy()),
        "array": array,
        "gray array": array[:, :, 0].copy(),
        "tensor": planes,
        "tensor of HWC memory": torch.from_numpy(array).permute(2, 0, 1),
        "batch": torch.stack([planes, planes.flip(0)]),
        "floats": planes / 255,
        "int64": planes.long(),
        "five channels": planes[[0, 1, 2, 0, 1]],
        "bilevel": Image.fromarray(array[:, :, 0].copy()).convert("1"),
        "integers": Image.fromarray(array[:, :, 0].astype(np.int32)),
    }


def expected(image: Any, element: int) -> Any:
    if isinstance(image, torch.Tensor):
        turned = torch.rot90(image, element & 3, (-2, -1))
        return turned.flip(-1) if element & 4 else turned
    if isinstance(image, np.ndarray):
        return moved(image, element)
    turned = image.rotate(90 * (element & 3), expand=True)
    return turned.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if element & 4 else turned


@pytest.mark.parametrize("size", SIZES)
def test_dihedral(size: tuple[int, int]) -> None:
    for name, image in containers(noise(*size)).items():
        before = snapshot(image)
        for element in range(8):
            assert snapshot(F.dihedral(image, element)) == snapshot(expected(image, element)), (name, element)
            if element < 4:
                assert snapshot(F.quarter_turn(image, element)) == snapshot(expected(image, element)), (name, element)
        assert snapshot(image) == before
        assert F.dihedral(image, 0) is image


def test_elements_are_a_group() -> None:
    """Eight different images, and any two elements after one another are one of them."""
    image = noise(5, 5)
    images = {moved(image, element).tobytes() for element in range(8)}
    assert len(images) == 8
    assert {F.dihedral(F.dihedral(image, a), b).tobytes() for a in range(8) for b in range(8)} == images


@pytest.mark.parametrize(("make", "count"), [(pathology.RandomDihedral, 8), (pathology.RandomQuarterTurn, 4)])
def test_draws(make: Any, count: int) -> None:
    """One randint on every call, and all that can be drawn is."""
    image, transform, seen = noise(20, 30), make(), set()
    for seed in range(64):
        torch.manual_seed(seed)
        drawn = int(torch.randint(0, count, (1,)))
        state = torch.get_rng_state()
        torch.manual_seed(seed)
        assert snapshot(transform(image)) == snapshot(moved(image, drawn))
        assert torch.equal(torch.get_rng_state(), state)
        torch.manual_seed(seed)
        assert make.get_params() == drawn
        assert torch.equal(torch.get_rng_state(), state)
        seen.add(drawn)
    assert seen == set(range(count))


@pytest.mark.parametrize("name", ["RandomDihedral", "RandomQuarterTurn"])
def test_in_a_pipeline(name: str) -> None:
    """A Compose, its batch, sample and replay, and what compile makes of it do what calls one by one do."""
    steps = [getattr(pathology, name)(), T.RandomCrop(16), getattr(pathology, name)(), T.ToTensor()]
    pipeline = T.Compose(steps)
    assert repr(steps[0]) == f"{name}()"
    bag = [Image.fromarray(noise(24, 31, seed=seed)) for seed in range(6)]
    for seed in range(12):
        torch.manual_seed(seed)
        one_by_one = []
        for image in bag:
            for step in steps:
                image = step(image)
            one_by_one.append(image)
        torch.manual_seed(seed)
        assert torch.equal(torch.stack([pipeline(image) for image in bag]), torch.stack(one_by_one))
        torch.manual_seed(seed)
        assert torch.equal(pipeline.batch(bag), torch.stack(one_by_one))
        torch.manual_seed(seed)
        assert torch.equal(torch.stack([fastaug.compile(pipeline)(image) for image in bag]), torch.stack(one_by_one))
        torch.manual_seed(seed)
        params = pipeline.sample(bag[0])
        assert torch.equal(pipeline.replay(bag[0], params), one_by_one[0])
    assert name in str(pipeline.explain(bag[0]))


def test_turns_are_merged() -> None:
    """What cancels out is done by no pass."""

    class Turned(pathology.RandomDihedral):
        @staticmethod
        def get_params() -> int:
            return 7

    steps = T.Compose([Turned(), Turned()]).explain((20, 30)).passes
    assert "turn" not in str(steps)
    image = noise(20, 30)
    assert snapshot(T.Compose([Turned(), Turned()])(image)) == snapshot(moved(moved(image, 7), 7))
    assert snapshot(T.Compose([Turned(), Turned()])(image)) == snapshot(image)


@pytest.mark.parametrize("transform", [pathology.RandomDihedral(), pathology.RandomQuarterTurn()])
def test_errors_before_drawing(transform: Any) -> None:
    for image in ("tile", None, np.zeros((4, 4, 3)), [1, 2]):
        state = torch.get_rng_state()
        with pytest.raises(TypeError):
            transform(image)
        assert torch.equal(torch.get_rng_state(), state)


def test_errors_of_functions() -> None:
    image = noise(4, 5)
    for function, name, count in ((F.dihedral, "element", 8), (F.quarter_turn, "turns", 4)):
        for number in (-1, count):
            with pytest.raises(ValueError, match=f"{name} should be from 0 to {count - 1}, got {number}"):
                function(image, number)
        with pytest.raises(TypeError, match=f"{name} should be an integer, got 1.5"):
            function(image, 1.5)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            function("tile", 0)
