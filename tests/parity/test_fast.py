"""The contract of fast mode (docs/notes/design/fast-mode.md), on the chains whose quality bench/quality.py prints.

Pictures and sizes are a quarter of the benchmark's.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchvision.transforms as TV
from PIL import Image

import fastaug
import fastaug.transforms as T
from bench.chains import CHAINS, Chain
from bench.quality import LEAST_PSNR, compare, levels
from fastaug._inspect.float64 import planes
from fastaug.transforms import v2
from support.differences import each
from support.images import to_chw
from support.outcomes import run
from support.processes import OTHER_ISAS, python
from tables import fast_results
from tables.fast_results import SCALE, given, results
from tables.tolerances import FAST_ISA_LEVELS, FAST_SCALAR_LEVELS, FAST_SCALAR_SHARE

SEEDS = range(2)

every_chain = pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.name)


@functools.cache
def compiled(chain: Chain, mode: str) -> Any:
    return fastaug.compile(chain.transform(SCALE), mode=mode)


def seeded(transform: Any, image: Any, seed: int) -> tuple[Any, torch.Tensor]:
    """The result and the state in which the generator is left."""
    torch.manual_seed(seed)
    return transform(image), torch.get_rng_state()


@every_chain
def test_contract(chain: Chain) -> None:
    transform = chain.transform(SCALE)
    for index, image in enumerate(given(chain)):
        for seed in SEEDS:
            draw = compare(transform, image, 100 * index + seed, compiled(chain, "fast"))
            assert draw.margin >= 0, (
                f"picture {index}, seed {100 * index + seed}: {draw.fast_to_torchvision.psnr:.1f} dB from torchvision "
                f"(at least {LEAST_PSNR:g}), {draw.fast_to_reference.psnr:.1f} dB from the reference, torchvision "
                f"{draw.torchvision_to_reference.psnr:.1f}"
            )


def on_tensors(chain: Chain) -> Any:
    """The same steps for uint8 tensors, which are converted where images become tensors."""
    steps = chain.transform(SCALE).transforms
    inside = steps[1:] if isinstance(steps[0], TV.ToPILImage) else steps
    return TV.Compose([TV.ConvertImageDtype(torch.float32) if isinstance(s, TV.ToTensor) else s for s in inside])


@every_chain
def test_contract_on_tensors(chain: Chain) -> None:
    """There the answer to be near is the one that torchvision gives on tensors."""
    transform = on_tensors(chain)
    fast = fastaug.compile(transform, mode="fast")
    for index, image in enumerate(given(chain)):
        tensor = to_chw(image if isinstance(image, Image.Image) else Image.fromarray(image))
        for seed in range(100 * index, 100 * index + 2):
            theirs = run(transform, tensor, seed)
            if theirs.error is not None:  # filters and fills that torchvision's functions on tensors do not take
                assert type(run(fast, tensor, seed).error) is type(theirs.error)
                continue
            draw = compare(transform, tensor, seed, fast)
            assert draw.margin >= 0, (
                f"picture {index}, seed {seed}: {draw.fast_to_torchvision.psnr:.1f} dB from torchvision "
                f"(at least {LEAST_PSNR:g}), {draw.fast_to_reference.psnr:.1f} dB from the reference, torchvision "
                f"{draw.torchvision_to_reference.psnr:.1f}"
            )


@each("chain", CHAINS)
def test_same_draws_same_form(chain: Chain) -> None:
    """Parameters, generator state, type, shape and dtype are those of torchvision and of exact mode."""
    fast, exact = compiled(chain, "fast"), compiled(chain, "exact")
    for seed, image in enumerate(given(chain)):
        theirs, state = seeded(chain.transform(SCALE), image, seed)
        ours, our_state = seeded(fast, image, seed)
        assert torch.equal(state, our_state)
        assert type(ours) is type(theirs)
        if isinstance(ours, torch.Tensor):
            assert (ours.shape, ours.dtype, ours.stride()) == (theirs.shape, theirs.dtype, theirs.stride())
        else:
            assert (ours.size, ours.mode) == (theirs.size, theirs.mode)
        torch.manual_seed(seed)
        sampled = fast.sample(image)
        torch.manual_seed(seed)
        assert sampled == exact.sample(image)


@each("chain", CHAINS)
def test_deterministic(chain: Chain) -> None:
    image = given(chain)[0]
    first, second = (planes(seeded(compiled(chain, "fast"), image, 5)[0]) for _ in range(2))
    assert np.array_equal(first, second)


@every_chain
def test_containers_agree_bit_for_bit(chain: Chain) -> None:
    """A PIL image, an array, a tensor by Pillow's rules and a batch of them hold, and give, the same samples."""
    pixels = np.asarray(given(chain)[0])
    image = Image.fromarray(pixels)
    steps = chain.transform(SCALE).transforms
    inside = steps[1:] if isinstance(steps[0], TV.ToPILImage) else steps
    on_images = fastaug.compile(TV.Compose(inside), mode="fast")
    fast_on_tensors = fastaug.compile(on_tensors(chain), mode="fast", arithmetic="pil")
    for seed in range(2):
        expected = planes(seeded(on_images, image, seed)[0])
        assert np.array_equal(planes(seeded(on_images, pixels, seed)[0]), expected)
        theirs = run(on_tensors(chain), to_chw(image), seed)
        if theirs.error is not None:  # there are filters and fills that torchvision's functions on tensors do not take
            continue
        tensor = seeded(fast_on_tensors, to_chw(image), seed)[0]
        assert np.array_equal(planes(tensor), expected)
        batch = seeded(fast_on_tensors, to_chw(image).repeat(2, 1, 1, 1), seed)[0]
        assert torch.equal(batch, tensor.repeat(2, 1, 1, 1))


def test_compose_has_the_mode_too() -> None:
    image = given(CHAINS[-1])[0]
    steps = [T.RandomRotation(20, T.InterpolationMode.BILINEAR), T.Resize(50), T.ColorJitter(0.4, 0.4, 0.4, 0.1)]
    one = seeded(T.Compose([*steps, T.ToTensor()], mode="fast"), image, 1)[0]
    other = seeded(fastaug.compile(T.Compose([*steps, T.ToTensor()]), mode="fast"), image, 1)[0]
    assert torch.equal(one, other)


#: What makes much of a difference of one level.
MAGNIFYING = (
    TV.RandomEqualize(1.0),
    TV.RandomSolarize(128, 1.0),
    TV.RandomPosterize(3, 1.0),
    TV.RandomAutocontrast(1.0),
    TV.RandomAdjustSharpness(2.0, 1.0),
    TV.AugMix(),
)


@pytest.mark.parametrize("step", MAGNIFYING, ids=lambda step: type(step).__name__)
@pytest.mark.parametrize("container", ["image", "tensor"])
def test_what_magnifies_differences_is_given_torchvision_s_samples(step: Any, container: str) -> None:
    before = [TV.RandomResizedCrop(80), TV.Resize(50), TV.RandomRotation(30, TV.InterpolationMode.BILINEAR)]
    image: Any = given(CHAINS[-1])[0]
    image = to_chw(image) if container == "tensor" else image
    first, last = (
        [fastaug.compile(TV.Compose(steps), mode=mode) for mode in ("fast", "exact")]
        for steps in ([step, *before], [*before, step])
    )
    one, other = (planes(seeded(transform, image, 3)[0]) for transform in last)
    assert np.array_equal(one, other)
    one, other = (planes(seeded(transform, image, 3)[0]) for transform in first)
    assert (container == "tensor") or not np.array_equal(one, other)


def test_augmix_of_samples_is_given_torchvision_s_samples() -> None:
    image = given(CHAINS[-1])[0]
    steps = [v2.RandomResizedCrop(80), v2.Resize(50), v2.RandomRotation(30, "bilinear"), v2.AugMix()]
    one, other = (planes(seeded(v2.Compose(steps, mode=mode), image, 3)[0]) for mode in ("fast", "exact"))
    assert np.array_equal(one, other)


#: A chain for which each rewrite of fast mode has work, alone.
WORK = {
    "compose_taps": "resize down, down, bilinear",
    "round_warps": "rotate, bilinear",
    "float_colour": "jitter, strong",
}


@pytest.mark.parametrize("name", WORK)
def test_each_rewrite_alone_is_nearer_to_the_truth(name: str) -> None:
    """On its own, a rewrite of fast mode brings a chain nearer to the float64 reference than torchvision is."""
    from fastaug._draft.call import Call

    assert {name for name, bit in fastaug._C.REWRITES.items() if not bit & fastaug._C.EXACT} == set(WORK)
    chain = next(chain for chain in CHAINS if chain.name == WORK[name])
    transform, ours = chain.transform(SCALE), compiled(chain, "fast")
    call = Call(rewrites=fastaug._C.EXACT | fastaug._C.REWRITES[name])
    for seed, image in enumerate(given(chain)[:2]):
        draw = compare(transform, image, seed, lambda x: ours._run(x, call))
        assert draw.fast_to_reference.psnr > draw.torchvision_to_reference.psnr + 0.5


@pytest.mark.parametrize("name", ["P, 512, rotation bilinear", "P, 224, rotation nearest"])
def test_the_reference_pipeline_is_much_nearer_to_the_truth(name: str) -> None:
    chain = next(chain for chain in CHAINS if chain.name == name)
    transform = chain.transform(SCALE)
    for seed, image in enumerate(given(chain)[:2]):
        draw = compare(transform, image, seed, compiled(chain, "fast"))
        assert draw.fast_to_reference.psnr > draw.torchvision_to_reference.psnr + 3


@pytest.mark.parametrize("isa", OTHER_ISAS)
def test_instruction_sets_agree(isa: str, tmp_path: Path) -> None:
    """Within FAST_ISA_LEVELS of what this process gives, where neither is plain code."""
    plain = (isa == "scalar") != (fastaug.isa() == "scalar")
    path = tmp_path / "results.npz"
    finished = python([str(Path(fast_results.__file__)), str(path)], isa=isa, folder=Path(__file__).parents[2])
    assert finished.returncode == 0, finished.stderr[-4000:]
    with np.load(path) as theirs:
        for (name, seed), (transform, value) in results().items():
            ours, other = (levels(samples, transform) for samples in (planes(value), theirs[f"{name} {seed}"]))
            apart = np.abs(ours - other)
            assert apart.max() <= (FAST_SCALAR_LEVELS if plain else FAST_ISA_LEVELS), (name, seed)
            assert np.mean(apart > 0.1) <= FAST_SCALAR_SHARE or not plain, (name, seed)
