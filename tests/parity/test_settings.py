"""The same pixels whatever a program or its system has set: threads, deterministic algorithms, denormals, one CPU."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator

import pytest
import torch
import torchvision.transforms as TV

import fastaug
import fastaug.transforms as T
from support.differences import each
from support.images import photo, pil, to_chw
from support.outcomes import assert_same, run
from support.processes import python
from tables.cases import ALL_CASES
from tables.recipes import PIPELINES


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(1)


@contextlib.contextmanager
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


@contextlib.contextmanager
def flushed() -> Iterator[None]:
    if not torch.set_flush_denormal(True):
        pytest.skip("this machine does not flush denormals")
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


@contextlib.contextmanager
def one_cpu() -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


SETTINGS: dict[str, Callable[[], contextlib.AbstractContextManager[None]]] = {
    "2 threads": lambda: threads(2),
    "8 threads": lambda: threads(8),
    "deterministic": deterministic,
    "flushed denormals": flushed,
    "one CPU": one_cpu,
}
every_setting = pytest.mark.parametrize(
    "setting",
    [
        pytest.param(name, marks=[] if name in ("2 threads", "flushed denormals") else pytest.mark.main)
        for name in SETTINGS
    ],
)


@every_setting
@each("name", [name for name in ALL_CASES if "inplace" not in name])
def test_transforms(setting: str, name: str) -> None:
    make = ALL_CASES[name]
    picture = pil("RGB", 61, 83)
    with SETTINGS[setting]():
        for image in (picture, to_chw(picture), to_chw(picture) / 255):
            for seed in range(2):
                assert_same(run(make(T), image, seed), run(make(TV), image, seed))


@every_setting
@each("name", PIPELINES)
def test_pipelines(setting: str, name: str) -> None:
    image = photo("coffee", 275, 300)
    with SETTINGS[setting]():
        for seed in range(2):
            wanted = run(PIPELINES[name](TV), image, seed)
            assert_same(run(PIPELINES[name](T), image, seed), wanted)
            assert_same(run(fastaug.compile(PIPELINES[name](TV)), image, seed), wanted)


RESIZES = """
import itertools, torch
import torchvision.transforms.v2 as V2
import fastaug, fastaug.transforms.v2 as T2
assert torch.backends.cpu.get_cpu_capability() == "DEFAULT"
generator = torch.Generator().manual_seed(0)
modes = [mode for mode in V2.InterpolationMode if mode.value not in ("box", "hamming", "lanczos")]
sizes = [(61, 47), (20, 33), (7, 1)], [(24, 18), (90, 70), (5, 40)]
for (height, width), size, mode in itertools.product(*sizes, modes):
    image = torch.randint(0, 256, (3, height, width), dtype=torch.uint8, generator=generator)

    def cropped(package):
        crop = package.RandomResizedCrop(size, interpolation=mode)
        return package.Compose([crop, package.ToDtype(torch.float32)])

    for make in (lambda package: package.Resize(size, mode), cropped):
        found = []
        for transform in (make(V2), make(T2), fastaug.compile(make(V2))):
            torch.manual_seed(3)
            found.append(transform(image))
        assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2]), (height, width, size, mode)
"""


def test_resizes_of_v2_without_avx2() -> None:
    done = python(["-c", RESIZES], fresh=True, ATEN_CPU_CAPABILITY="default")
    assert done.returncode == 0, done.stderr[-2000:]
