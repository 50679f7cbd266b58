"""Float tensors behind a callable of the user's: values, order in memory and draws are torchvision's."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV

import fastaug
import fastaug.transforms as T
from fastaug.transforms import functional as F
from support.differences import each
from support.processes import OTHER_ISAS, python
from support.scale import blocks, cases
from tables.op_table import Op

SIDES = (1, 2, 3, 5, 8, 13, 16, 17, 33, 40)
SPECIAL = (0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-45, 3e38)
MEAN, STD = (0.485, 0.456, 0.406, 0.5), (0.229, 0.224, 0.225, 0.25)


class Foreign:
    """Somebody's ToTensor: a tensor is what it is called with, and copied, so that nobody's is written to."""

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return image.clone()


def floats(channels: int, height: int, width: int, seed: int, *, interleaved: bool = False) -> torch.Tensor:
    rng = np.random.default_rng([seed, channels, height, width])
    samples = rng.standard_normal((height, width, channels)).astype(np.float32)
    at = rng.random(samples.shape) < 0.1
    samples[at] = rng.choice(np.array(SPECIAL, np.float32), samples.shape)[at]
    image = torch.from_numpy(samples).permute(2, 0, 1)
    return image if interleaved else image.contiguous()


Step = tuple[str, Callable[[Any, int], Any]]
STEPS: list[Step] = [
    ("padded crop", lambda P, _: P.RandomCrop(8, padding=2)),
    ("crop", lambda P, _: P.RandomCrop(5, pad_if_needed=True)),
    ("centre", lambda P, _: P.CenterCrop((9, 7))),
    ("hflip", lambda P, _: P.RandomHorizontalFlip(0.7)),
    ("vflip", lambda P, _: P.RandomVerticalFlip(0.7)),
    ("pad", lambda P, _: P.Pad((1, 2, 0, 3))),
    ("pad with", lambda P, _: P.Pad(1, fill=3)),
    ("reflect", lambda P, _: P.Pad(1, padding_mode="edge")),
    ("normalise", lambda P, c: P.Normalize(MEAN[:c], STD[:c])),
    ("normalise there", lambda P, c: P.Normalize(list(MEAN[:c]), list(STD[:c]), inplace=True)),
    ("normalise by one", lambda P, _: P.Normalize((0.5,), (0.25,))),
    ("erase", lambda P, _: P.RandomErasing(0.8, value=0)),
    ("erase there", lambda P, c: P.RandomErasing(0.8, value=[0.5, -1.0, 2.0, 0.0][:c], inplace=True)),
    ("noise", lambda P, _: P.RandomErasing(0.8, value="random")),
    ("dtype", lambda P, _: P.ConvertImageDtype(torch.float32)),
    ("lambda", lambda P, _: P.Lambda(lambda image: image * 2)),
]


def bits(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.dtype, tuple(tensor.shape), tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes()


def order(tensor: torch.Tensor) -> tuple[int, ...]:
    """The strides of a copy without gaps: torchvision's result may be part of a larger tensor that was made for it."""
    copy = tensor.clone()
    return tuple(stride if size > 1 else 0 for stride, size in zip(copy.stride(), copy.shape))


def outcome(call: Callable[[torch.Tensor], Any], image: torch.Tensor, seed: int) -> tuple[Any, torch.Tensor | None]:
    torch.manual_seed(seed)
    try:
        result = call(image.clone())
    except (TypeError, ValueError, RuntimeError) as error:
        return type(error), None
    return (bits(result), order(result), bits(torch.get_rng_state())), result


def drawn(seed: int) -> tuple[torch.Tensor, list[Step], str]:
    rng = random.Random(seed)
    channels, height, width = rng.choice((1, 2, 3, 3, 4)), rng.choice(SIDES), rng.choice(SIDES)
    image = floats(channels, height, width, seed, interleaved=rng.random() < 0.4)
    return image, [rng.choice(STEPS) for _ in range(rng.randint(0, 5))], rng.choice(("compose", "compiled", "read"))


def difference(seed: int) -> str:
    """What is not as torchvision has it; "" if nothing is."""
    image, steps, way = drawn(seed)
    channels = image.shape[0]
    theirs = TV.Compose([Foreign(), *(make(TV, channels) for _, make in steps)])
    ours: Any = T.Compose([Foreign(), *(make(T, channels) for _, make in steps)])
    if way != "compose":
        ours = fastaug.compile(theirs if way == "read" else ours)
    got, wanted = outcome(ours, image, seed), outcome(theirs, image, seed)
    if got[0] == wanted[0]:
        return ""
    return f"seed {seed}, {tuple(image.shape)} of {image.stride()}, {way}: {[name for name, _ in steps]}"


@pytest.mark.parametrize("first", blocks(600, 100))
def test_random_pipelines(first: int) -> None:
    found = [text for seed in range(first, first + 100) if (text := difference(seed))]
    assert not found, "\n".join([f"{len(found)} differ", *found[:5]])


@pytest.mark.parametrize("isa", OTHER_ISAS)
def test_every_instruction_set(isa: str) -> None:
    seeds = range(5000, 5000 + cases(80))
    code = f"from test_float_sources import difference; print([t for s in {seeds} if (t := difference(s))])"
    result = python(["-c", code], isa=isa, folder=Path(__file__).parent)
    assert result.returncode == 0, result.stderr[-2000:]
    assert result.stdout.strip() == "[]"


def core_passes(pipeline: Any, image: torch.Tensor) -> list[str]:
    return [one["name"] for one in pipeline.explain(image, seed=1).passes if one["by"] == "fastaug"]


@pytest.mark.parametrize("interleaved", [False, True])
def test_crop_flip_normalise_and_erase_are_one_pass(interleaved: bool) -> None:
    image = floats(3, 40, 36, 0, interleaved=interleaved)
    steps = [Foreign(), T.RandomCrop(24), T.RandomHorizontalFlip(1.0), T.Normalize(MEAN[:3], STD[:3])]
    pipeline = T.Compose([*steps, T.RandomErasing(1.0, value=0.5)])
    assert core_passes(pipeline, image) == ["store"]
    text = str(pipeline.explain(image, seed=1))
    assert "float32, normalised, window, hflip, erased" in text
    assert "Foreign" in text


@pytest.mark.parametrize(
    "steps",
    [
        [T.CenterCrop(20)],
        [T.RandomHorizontalFlip(1.0)],
        [T.CenterCrop(20), T.RandomVerticalFlip(1.0)],
        [T.RandomErasing(1.0)],
        [T.Normalize(MEAN[:3], STD[:3], inplace=True)],
        [T.Resize(20)],
    ],
    ids=["crop", "flip", "crop and flip", "erase", "normalise there", "resize"],
)
def test_what_is_torchs_stays_torchs(steps: list[Any]) -> None:
    assert core_passes(T.Compose([Foreign(), *steps]), floats(3, 40, 36, 0)) == []


OTHERS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "float64": lambda image: image.double(),
    "float16": lambda image: image.half(),
    "bfloat16": lambda image: image.bfloat16(),
    "part of a larger one": lambda image: image[:, 1:-1, 2:],
    "every other row": lambda image: image[:, ::2],
    "turned": lambda image: image.transpose(1, 2),
    "batch": lambda image: torch.stack([image, image]),
    "five channels": lambda image: torch.cat([image, image[:2]]),
    "requires grad": lambda image: image.clone().requires_grad_(),
    "negated": lambda image: torch._neg_view(image.clone()),
    "expanded": lambda image: image[:1].expand(3, -1, -1),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_tensors_are_left_to_torch(name: str) -> None:
    image = OTHERS[name](floats(3, 40, 36, 0))
    channels = image.shape[-3]
    mean, std = [0.4] * channels, [0.3] * channels
    ours = T.Compose([T.RandomHorizontalFlip(1.0), T.Normalize(mean, std), T.CenterCrop(20)])
    theirs = TV.Compose([TV.RandomHorizontalFlip(1.0), TV.Normalize(mean, std), TV.CenterCrop(20)])
    got, wanted = ours(image), theirs(image)
    assert bits(got.detach()) == bits(wanted.detach())
    assert order(got) == order(wanted)
    assert got.requires_grad == wanted.requires_grad
    assert core_passes(T.Compose([T.Normalize(mean, std)]), image) == []


class Marked(torch.Tensor):
    """A subclass that does nothing of its own."""


def test_subclasses_keep_their_class() -> None:
    image = floats(3, 20, 20, 0).as_subclass(Marked)
    result = T.Normalize(MEAN[:3], STD[:3])(image)
    assert type(result) is type(TV.Normalize(MEAN[:3], STD[:3])(image)) is Marked


@pytest.mark.filterwarnings("ignore:.*torch.jit:FutureWarning", "ignore:.*torch.jit:DeprecationWarning")
def test_forward_differentiation_keeps_its_tangents() -> None:
    import torch.autograd.forward_ad as forward

    image = torch.rand(3, 12, 12)
    with forward.dual_level():
        dual = forward.make_dual(image, torch.ones_like(image))
        tangent = forward.unpack_dual(F.normalize(dual, MEAN[:3], STD[:3])).tangent
    assert torch.allclose(tangent[:, 0, 0], 1 / torch.tensor(STD[:3]))


def test_floats_at_odd_addresses() -> None:
    memory = bytearray(1 + 4 * 3 * 8 * 8)
    image = torch.frombuffer(memory, dtype=torch.float32, offset=1).view(3, 8, 8)
    image.copy_(floats(3, 8, 8, 1))
    assert bits(F.normalize(image, MEAN[:3], STD[:3])) == bits(TV.functional.normalize(image, MEAN[:3], STD[:3]))


@each("interleaved", [False, True])
@each("dtype", [None, torch.float32, torch.float16, torch.bfloat16])
@each("memory_format", [None, torch.channels_last, torch.contiguous_format])
@pytest.mark.parametrize("many", [0, 1, 3])
def test_delivered_in_other_dtypes_and_orders(
    many: int, memory_format: torch.memory_format | None, dtype: torch.dtype | None, interleaved: bool
) -> None:
    image = torch.nan_to_num(floats(3, 33, 35, 3, interleaved=interleaved), 0.5, 2.0, -2.0)
    steps = [TV.RandomHorizontalFlip(1.0), TV.Normalize(MEAN[:3], STD[:3]), TV.CenterCrop(20)][:many]
    compiled = fastaug.compile(TV.Compose([Foreign(), *steps]), dtype=dtype, memory_format=memory_format)
    plain = TV.Compose([Foreign(), *steps])(image)
    wanted = plain if dtype is None else plain.to(dtype)
    if memory_format is torch.channels_last:
        wanted = wanted.movedim(-3, -1).contiguous().movedim(-1, -3)
    elif memory_format is torch.contiguous_format:
        wanted = wanted.contiguous()
    got = compiled(image)
    assert bits(got) == bits(wanted)
    assert order(got) == order(wanted)


def test_batches_of_floats_are_the_same_images() -> None:
    images = [torch.nan_to_num(floats(3, 30 + k, 41 - k, k), 0.5, 2.0, -2.0) for k in range(5)]
    steps = [Foreign(), T.RandomCrop(24), T.RandomHorizontalFlip(), T.Normalize(MEAN[:3], STD[:3])]
    pipeline = T.Compose([*steps, T.RandomErasing()])
    torch.manual_seed(5)
    batch = pipeline.batch(images, num_threads=2)
    torch.manual_seed(5)
    for image, result in zip(images, batch):
        assert torch.equal(pipeline(image), result)


def test_normalising_in_place_writes_to_the_tensor_that_is_given() -> None:
    image = torch.rand(3, 20, 20)
    before = image.clone()
    result = T.Compose([T.CenterCrop(12), T.Normalize(MEAN[:3], STD[:3], inplace=True)])(image)
    assert result.data_ptr() == image[:, 4:, 4:].data_ptr()
    assert torch.equal(image[:, 4:16, 4:16], result)
    assert torch.equal(image[:, :4], before[:, :4])


@pytest.mark.parametrize("steps", [["flip"], ["normalise"], ["crop", "normalise"], ["normalise", "erase"], ["pad"]])
def test_what_is_made_anew_is_nobody_elses(steps: list[str]) -> None:
    ways = {
        "flip": T.RandomHorizontalFlip(1.0),
        "normalise": T.Normalize(MEAN[:3], STD[:3]),
        "crop": T.CenterCrop(12),
        "erase": T.RandomErasing(1.0),
        "pad": T.Pad(2),
    }
    image = torch.rand(3, 20, 20)
    before = image.clone()
    T.Compose([ways[name] for name in steps])(image).zero_()
    assert torch.equal(image, before)


def test_a_lone_crop_is_a_view() -> None:
    image = torch.rand(3, 20, 20)
    part = T.Compose([T.CenterCrop(16), T.CenterCrop(12)])(image)
    assert part.data_ptr() == image[:, 4:, 4:].data_ptr()
    assert part.stride() == (400, 20, 1)


def test_the_oracle_gives_the_same_bits() -> None:
    from fastaug import _C
    from fastaug._program import ops
    from fastaug._program.borrow import borrow_tensor

    for interleaved in (False, True):
        image = floats(3, 20, 21, 2, interleaved=interleaved)
        program = ops.window(-2, 3, 22, 17) + ops.HFLIP + ops.normalize(MEAN[:3], STD[:3])
        program += Op("ERASE", (3, 4, 5, 6), (1.0, 2.0, 3.0)).pack()
        results = []
        for reference in (False, True):
            result = torch.empty(3, 22, 17)
            strides = (4 * 17, 4, 4 * 17 * 22)
            target = _C.into_pointer(result.data_ptr(), _C.DTYPES["float32"], 22, 17, 3, *strides, result)
            _C.run([(program, borrow_tensor(image), target)], reference=reference)
            results.append(bits(result))
        assert results[0] == results[1]


def test_what_the_core_refuses_of_floats() -> None:
    from fastaug import _C
    from fastaug._program import ops

    image = torch.rand(3, 4, 4)
    with pytest.raises(ValueError, match=r"dtype must be 0 .* or 1 .*, got 2"):
        _C.from_pointer(image.data_ptr(), 4, 4, 3, 16, 4, 64, image, 2)
    with pytest.raises(ValueError, match="multiples of four"):
        _C.from_pointer(image.data_ptr() + 2, 4, 4, 3, 16, 4, 64, image, 1)
    with pytest.raises(ValueError, match="TO_FLOAT: is not done to float32"):
        _C.shape(ops.plain("TO_FLOAT"), 4, 4, 3, True)
