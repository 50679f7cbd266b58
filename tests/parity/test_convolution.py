"""Blurs follow torch's convolution, whatever order it adds up in: here it is put in the place of torch's own."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torchvision.transforms as TV
import torchvision.transforms._functional_tensor as tensors_of_v1
import torchvision.transforms.v2 as V2
import torchvision.transforms.v2.functional._misc as filters_of_v2
from torch import Tensor
from torch.nn import functional as nnf

import fastaug
import fastaug.transforms as T
import fastaug.transforms.v2 as T2
from fastaug import _C
from fastaug._program import convolution, fields
from support.images import pil
from support.outcomes import assert_same, run
from support.processes import python
from support.scale import share

TORCHS = nnf.conv2d


def products(padded: Tensor, weight: Tensor) -> list[Tensor]:
    """Of each weight with the samples under it."""
    kernel = weight[0, 0]
    down, across = kernel.shape
    height, width = padded.shape[-2] - down + 1, padded.shape[-1] - across + 1
    places = itertools.product(range(down), range(across))
    return [kernel[y, x] * padded[..., y : y + height, x : x + width] for y, x in places]


def added(values: list[Tensor]) -> Tensor:
    total = torch.zeros_like(values[0])
    for value in values:
        total = total + value
    return total


def fused(padded: Tensor, weight: Tensor) -> Tensor:
    half_down, half_across = (size // 2 for size in weight.shape[-2:])
    height, width = padded.shape[-2] - 2 * half_down, padded.shape[-1] - 2 * half_across
    image = padded[..., half_down : half_down + height, half_across : half_across + width].contiguous()
    return fields.blurred(image, weight[0, 0], True)


#: What a library may do: one rounding or two, from the last weight on, and halves of halves.
ORDERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "fused": fused,
    "unfused": lambda padded, weight: added(products(padded, weight)),
    "reversed": lambda padded, weight: added(products(padded, weight)[::-1]),
    "even and odd": lambda padded, weight: added(products(padded, weight)[::2]) + added(products(padded, weight)[1::2]),
}
#: What there is of the core's own.
OWN = {"fused": True, "unfused": False}


#: Of which the fast tier has one that the core has too, and one that it has not.
FAST = ("fused", "reversed")


@pytest.fixture(params=[pytest.param(name, marks=[] if name in FAST else pytest.mark.main) for name in ORDERS])
def order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the order that takes the place of torch's for float32."""
    way = ORDERS[request.param]

    def conv2d(padded: Tensor, weight: Tensor, **options: Any) -> Tensor:
        if padded.dtype is not torch.float32:
            return TORCHS(padded, weight, **options)
        assert options == {"groups": padded.shape[-3]}
        return way(padded, weight)

    for module in (nnf, tensors_of_v1, filters_of_v2):
        monkeypatch.setattr(module, "conv2d", conv2d)
    return str(request.param)


SIZES = [(24, 17), (17, 24), (5, 4), (64, 61), (190, 170)]


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_the_way_is_found(order: str, channels: int) -> None:
    for (height, width), size in itertools.product(SIZES, [(3, 3), (5, 3), (1, 3), (5, 5)]):
        assert convolution.fuses(1, channels, height, width, size) is OWN.get(order), (height, width, size)


KERNELS = [3, (3, 5), (5, 1), 7]


def check_blurs(size: Any) -> None:
    """Of tensors of bytes and of floats, and of PIL images."""
    generator = torch.Generator().manual_seed(1)
    for (height, width), channels in share(itertools.product(SIZES, (1, 3, 4)), f"{size}", least=5):
        if max(size if isinstance(size, tuple) else (size,)) // 2 >= min(height, width):
            continue
        plain = torch.randint(0, 256, (channels, height, width), dtype=torch.uint8, generator=generator)
        images = [plain, plain[None], plain[None].repeat(2, 1, 1, 1), plain / 255, plain.double()]
        images += [plain[None].contiguous(memory_format=torch.channels_last)] if channels > 1 else []
        calls = itertools.product(images, ((TV, T), (V2, T2)), (0.3, 0.8, 2.0))
        for image, (theirs, ours), sigma in share(calls, f"{height} {channels} {size}"):
            wanted = theirs.functional.gaussian_blur(image, size, sigma)
            assert torch.equal(ours.functional.gaussian_blur(image, size, sigma), wanted), (image.shape, sigma)
    for mode in ("RGB", "L", "RGBA"):
        picture = pil(mode, 33, 26)
        for theirs, ours in ((TV, T), (V2, T2)):
            wanted = theirs.functional.gaussian_blur(picture, size, 1.1)
            assert ours.functional.gaussian_blur(picture, size, 1.1).tobytes() == wanted.tobytes(), mode


def check_elastic(sigma: float) -> None:
    for theirs, ours in ((TV, T), (V2, T2)):
        for image in (pil("RGB", 40, 44), torch.randint(0, 256, (1, 41, 50), dtype=torch.uint8)):
            wanted = run(theirs.ElasticTransform(sigma=sigma), image, 3)
            assert_same(run(ours.ElasticTransform(sigma=sigma), image, 3), wanted)
    moved, generators = [], []
    for package in (T, TV):
        torch.manual_seed(4)
        moved.append(package.ElasticTransform.get_params([50.0, 50.0], [sigma, sigma], [33, 57]))
        generators.append(torch.get_rng_state())
    assert torch.equal(*moved) and torch.equal(*generators)


@pytest.mark.parametrize("size", KERNELS, ids=str)
def test_blurs(order: str, size: Any) -> None:
    check_blurs(size)


@pytest.mark.parametrize("sigma", [0.2, 0.4, 3.0])
def test_elastic_fields(order: str, sigma: float) -> None:
    check_elastic(sigma)


def test_pipelines(order: str) -> None:
    """Compiled, and of one native call where the core adds up in that order."""
    steps = [TV.RandomCrop(33, pad_if_needed=True), TV.GaussianBlur(3), TV.RandomHorizontalFlip(), TV.ToTensor()]
    for mode, seed in itertools.product(("L", "RGB"), range(4)):
        image = pil(mode, 50, 40)
        assert_same(run(fastaug.compile(TV.Compose(steps)), image, seed), run(TV.Compose(steps), image, seed))
        torch.manual_seed(seed)
        batch = fastaug.compile(TV.Compose(steps)).batch([image] * 3)
        torch.manual_seed(seed)
        assert torch.equal(batch, torch.stack([TV.Compose(steps)(image) for _ in range(3)]))


def check_all() -> None:
    for size in KERNELS:
        check_blurs(size)
    for sigma in (0.2, 3.0):
        check_elastic(sigma)


@pytest.mark.parametrize("threads", [1, *(pytest.param(count, marks=pytest.mark.main) for count in (2, 8))])
def test_by_torchs_own(threads: int) -> None:
    torch.set_num_threads(threads)
    try:
        check_all()
    finally:
        torch.set_num_threads(1)


@pytest.mark.main
@pytest.mark.filterwarnings("ignore:TF32 acceleration:UserWarning")
def test_without_onednn() -> None:
    with torch.backends.mkldnn.flags(enabled=False):
        check_all()


#: What has torch's libraries take other kernels. MKL minds its own on Intel's processors alone.
SETTINGS = {
    "ONEDNN_MAX_CPU_ISA": ["SSE41", "AVX"],
    "ATEN_CPU_CAPABILITY": ["default", "avx2", *(["avx512"] if "avx512" in _C.isas() else [])],
    "MKL_CBWR": ["COMPATIBLE", "AVX2"],
    "MKL_ENABLE_INSTRUCTIONS": ["SSE4_2", "AVX2"],
}


@pytest.mark.main
@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in SETTINGS.items() for value in values])
def test_settings_of_the_libraries(name: str, value: str) -> None:
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "torchs_own and not 8"]
    done = python(command, fresh=True, **{name: value})
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.filterwarnings("ignore:TF32 acceleration:UserWarning")
def test_asking_moves_no_generator_and_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def conv2d(padded: Tensor, weight: Tensor, **options: Any) -> Tensor:
        asked.append(tuple(padded.shape))
        return TORCHS(padded, weight, **options)

    monkeypatch.setattr(nnf, "conv2d", conv2d)
    before = torch.get_rng_state()
    first = convolution.fuses(1, 1, 21, 20, (3, 3))
    assert asked and torch.equal(torch.get_rng_state(), before)
    count = len(asked)
    assert convolution.fuses(1, 1, 21, 20, (3, 3)) is first
    assert len(asked) == count
    convolution.fuses(1, 1, 20, 21, (3, 3))
    assert len(asked) > count
    with torch.backends.mkldnn.flags(enabled=False):
        count = len(asked)
        convolution.fuses(1, 1, 21, 20, (3, 3))
        assert len(asked) > count


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_planes_without_channels_are_refused(dtype: torch.dtype) -> None:
    plane = torch.ones((9, 13), dtype=dtype)
    for library in (T, TV):
        with pytest.raises(IndexError):
            library.GaussianBlur(3)(plane)
        with pytest.raises(IndexError):
            library.functional.gaussian_blur(plane, [1, 7])
