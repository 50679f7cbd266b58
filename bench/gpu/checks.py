"""What has to hold on a GPU before its times are worth anything: the CPU's bits, memory, streams, no waiting."""

from __future__ import annotations

import importlib.util
import io
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from PIL import Image

import fastaug
import fastaug.transforms as T
from bench.cases import cropped, imagenet_eval, pipeline_p, simclr, trained
from bench.gpu import processes, programs, scenes, streams
from bench.gpu.ahead import Ahead
from bench.gpu.clock import Clock
from bench.gpu.compare import differs, far, needs_gpu, on_host, seeded
from bench.gpu.machine import ROOT, Machine, tool
from bench.gpu.parts import Part, Skipped, so_far
from fastaug import _C

#: A check raises AssertionError, or anything else, or says in a line what it has seen. It stops when the time is over.
Test = Callable[[Machine, Clock], str]


# ---- programs


def each_op(machine: Machine, clock: Clock, count: int = 24) -> str:
    """Every op of the registry by itself, in kernels for it alone."""
    table = programs.op_table()
    missing = {name for name, _ in _C.OPS} - set(table.ROWS)
    assert not missing, f"the tests' op table lacks {sorted(missing)}"
    ops, found = 0, []
    with Ahead(machine) as ahead:
        samples = [programs.of_op(table, name, count) for name in table.ROWS]
        for trial in [programs.Trial(one, machine, _C.EXACT, ahead) for one in samples]:
            found.append(trial.compare(clock))
            ops += found[-1].seen == count
    unfit = [sample for one in found for sample in one.unfit]
    whole = f"{_equal(found)} images"
    if unfit:
        names = sorted({name for sample in unfit for name in sample.name.split()} - {"TO_FLOAT"})
        whole += f"; {len(unfit)} that no device does ({', '.join(names)})"
    return f"{so_far(ops, len(table.ROWS), 'ops')}, {whole}"


def _equal(found: Sequence[programs.Found]) -> int:
    """Count the images that a device did, and assert that all have the bytes that they are to have."""
    done, wrong = sum(one.done for one in found), [line for one in found for line in one.wrong]
    assert not wrong, f"{len(wrong)} of {done} differ:\n" + "\n".join(wrong[:30])
    return done


def random_programs(
    machine: Machine,
    clock: Clock,
    count: int = 3000,
    rewrites: int = _C.EXACT,
    channels: Sequence[int] = (1, 2, 3, 3, 3, 4),
) -> str:
    """Chains over ragged bags, in a few kernels that do everything. Those of fast mode equal the emulation."""
    samples = programs.chains(programs.op_table(), count, channels)
    return together(machine, clock, samples, rewrites)[0]


def together(
    machine: Machine, clock: Clock, samples: Sequence[programs.Sample], rewrites: int, most: int | None = None
) -> tuple[str, int]:
    """Compare samples by kernels that are compiled for all of them at once, `most` at the most.

    Returns:
        What was seen, and how many kernels that needed.
    """
    with Ahead(machine) as ahead:
        trial = programs.Trial(samples, machine, rewrites, ahead, most)
        found = trial.compare(clock, emulate=rewrites != _C.EXACT)
    _equal([found])
    table = programs.op_table()
    stray = [one.name for one in found.unfit if not programs.left_to_the_host(table, one, rewrites)]
    assert not stray, f"no device does {len(stray)}, though any does each op of theirs:\n" + "\n".join(stray[:30])
    note = f"{so_far(found.seen, len(samples), 'programs')}, {len(found.unfit)} of them left to the CPU"
    return note, found.kernels


# ---- batches


def augmented(T: Any) -> Any:
    return trained(T, lambda T: T.RandAugment())


def tensors_only(T: Any) -> Any:
    """For tensors, which ToTensor does not take."""
    return T.Compose(
        [
            T.RandomResizedCrop(64),
            T.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), 5),
            T.RandomHorizontalFlip(),
            T.ColorJitter(0.4, 0.4, 0.4, 0.1),
            T.RandomPerspective(p=0.5),
            T.GaussianBlur(5),
            T.RandomAdjustSharpness(1.7),
            T.RandomAutocontrast(),
            T.RandomEqualize(),
            T.ConvertImageDtype(torch.float32),
            T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
            T.RandomErasing(0.5),
        ]
    )


def after_pil(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A pipeline that takes tensors and does PIL's arithmetic."""
    return lambda T: T.Compose([T.ToPILImage(), *build(T).transforms])


PIPELINES: dict[str, Callable[[Any], Any]] = {
    "P": partial(pipeline_p, size=96, rotation="nearest"),
    "P, bilinear": partial(pipeline_p, size=96, rotation="bilinear"),
    "ImageNet train": after_pil(partial(cropped, size=64)),
    "ImageNet eval": after_pil(imagenet_eval),
    "RandAugment": after_pil(augmented),
    "TrivialAugment": after_pil(lambda T: trained(T, lambda T: T.TrivialAugmentWide(), 0.25)),
    "AutoAugment": after_pil(lambda T: trained(T, lambda T: T.AutoAugment())),
    "AugMix": after_pil(lambda T: trained(T, lambda T: T.AugMix())),
    "SimCLR": after_pil(simclr),
    "tensors": tensors_only,
}


def ragged(count: int = 24) -> list[torch.Tensor]:
    sides = torch.randint(20, 400, (count, 2), generator=torch.Generator().manual_seed(3)).tolist()
    return [scenes.scene(height, width, number) for number, (height, width) in enumerate(sides)]


def same(
    machine: Machine,
    transform: Any,
    images: Sequence[torch.Tensor],
    what: str,
    compare: Callable[[Any, Any], str] = differs,
) -> Iterator[str]:
    """A line for each way to a device whose results are not the CPU's."""
    wanted, state = seeded(lambda: transform.batch(images))
    there = [machine.put(image) for image in images]
    ways: dict[str, Callable[[], Any]] = {
        "images on the device": lambda: transform.batch(there),
        "images on the host": lambda: transform.batch(images, device="cuda"),
        "each by itself": lambda: transform.batch([there[0], images[1], *there[2:]], device="cuda"),
    }
    for way, call in ways.items():
        got, left = seeded(call)
        machine.synchronize()
        if line := compare(on_host(got), wanted):
            yield f"{what}, {way}: {line}"
        if not torch.equal(left, state):
            yield f"{what}, {way}: the generator is left in another state"


def pipelines(machine: Machine, clock: Clock, names: Sequence[str] = tuple(PIPELINES)) -> str:
    wrong, done, images = [], 0, ragged(12 if machine.emulated else 24)
    for name in names:
        if clock.over:
            break
        wrong += same(machine, PIPELINES[name](T), images, name)
        done += 1
    assert not wrong, "\n".join(wrong)
    return f"{so_far(done, len(names), 'pipelines')}, {len(images)} images, 3 ways"


def types(machine: Machine, clock: Clock, names: Sequence[str] = ("P", "ImageNet train", "SimCLR")) -> str:
    """Types and memory formats of results, and fast mode."""
    kinds = (torch.float32, torch.float16, torch.bfloat16)
    formats = (torch.contiguous_format, torch.channels_last)
    combinations = list(itertools.product(names, kinds, formats, ("exact", "fast")))
    wrong, done, images = [], 0, ragged(8)
    for name, dtype, memory_format, mode in combinations:
        if clock.over:
            break
        transform = fastaug.compile(PIPELINES[name](T), mode=mode, dtype=dtype, memory_format=memory_format)
        what = f"{name} {dtype} {memory_format} {mode}"
        wrong += same(machine, transform, images, what, differs if mode == "exact" else far)
        done += 1
    assert not wrong, "\n".join(wrong)
    return so_far(done, len(combinations), "combinations")


def containers(machine: Machine) -> str:
    """Batches in one tensor, channels last, parts of larger images, grey ones, PIL images, arrays and files."""
    wrong = []

    def compare(what: str, transform: Any, host: Any, there: Any) -> None:
        wanted, state = seeded(lambda: transform.batch(host))
        got, left = seeded(lambda: transform.batch(there, device="cuda"))
        line = differs(on_host(got), wanted)
        wrong.extend([f"{what}: {line}"] if line else [])
        wrong.extend([f"{what}: another state"] if not torch.equal(left, state) else [])

    transform = tensors_only(T)
    batch = torch.stack(scenes.tiles(6, 90))
    compare("one tensor", transform, batch, machine.put(batch))
    last = batch.contiguous(memory_format=torch.channels_last)
    compare("channels last", transform, last, machine.put(last))
    whole = [machine.put(image) for image in batch]
    parts = [image[:, 3:80, 5:71] for image in batch]
    compare("parts", transform, parts, [image[:, 3:80, 5:71] for image in whole])
    grey = [image[:1].contiguous() for image in batch]
    simple = T.Compose([T.RandomCrop(70), T.RandomVerticalFlip(), T.ConvertImageDtype(torch.float32)])
    compare("grey", simple, grey, [machine.put(image) for image in grey])
    train = cropped(T, 64)
    pictures = [Image.fromarray(image.permute(1, 2, 0).numpy().copy()) for image in ragged(6)]
    compare("PIL images", train, pictures, pictures)
    compare(
        "arrays", train, [np.asarray(picture) for picture in pictures], [np.asarray(picture) for picture in pictures]
    )
    files = []
    for number, picture in enumerate(pictures):
        with io.BytesIO() as file:
            picture.save(file, ("JPEG", "PNG")[number % 2])
            files.append(file.getvalue())
    compare("JPEG and PNG", train, files, files)
    assert not wrong, "\n".join(wrong)
    return "7 kinds of images"


def into_memory(machine: Machine) -> str:
    """out=, whole and a part of a larger tensor, whose other samples stay as they are."""
    transform, images = PIPELINES["P"](T), ragged(9)
    wanted, _ = seeded(lambda: transform.batch(images))
    there = [machine.put(image) for image in images]
    larger = machine.put(torch.full((11, 3, 96, 96), 7.0))
    got, _ = seeded(lambda: transform.batch(there, out=larger[1:10]))
    machine.synchronize()
    host = larger.cpu()
    assert got.data_ptr() == larger[1:10].data_ptr(), "the result is not out"
    assert not (line := differs(host[1:10], wanted)), line
    assert (host[0] == 7).all() and (host[10] == 7).all(), "wrote beside out"
    one, _ = seeded(lambda: transform(there[0]))
    assert not (line := differs(one.cpu(), seeded(lambda: transform(images[0]))[0])), f"a call: {line}"
    return "a batch and a call"


# ---- processes of their own


def of_the_tests(machine: Machine, clock: Clock) -> str:
    """tests/cuda/test_on_gpu.py, where there is pytest with what the tests need."""
    needs_gpu(machine)
    file = ROOT / "tests" / "cuda" / "test_on_gpu.py"
    lacking = [name for name in ("pytest", "hypothesis") if importlib.util.find_spec(name) is None]
    if lacking or not file.exists():
        raise Skipped(f"{' and '.join(lacking)} not installed" if lacking else f"there is no {file}")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:benchmark", str(file)]
    try:
        run = processes.run(command, clock.left, FASTAUG_REQUIRE_CUDA="1")
    except processes.Late as late:
        raise Skipped(str(late)) from late
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    return run.stdout.strip().splitlines()[-1]


@dataclass
class Sanitizers:
    """compute-sanitizer over short runs, in processes that compile nothing.

    Attributes:
        kernels: how many of exact and of fast mode are on disk for them; None before any were made.
    """

    kernels: tuple[int, int] | None = None

    def short(self, machine: Machine, clock: Clock) -> str:
        """Run every op, chains, both modes, and batches, as far as there are kernels, if any were made."""
        images = ragged(3)
        there = [machine.put(image) for image in images]
        for name, given in (("P", there), ("tensors", there), ("P", images)):
            seeded(partial(PIPELINES[name](T).batch, given, device="cuda"))
        table = programs.op_table()
        alone = [sample for name in table.ROWS for sample in programs.of_op(table, name, 3, 3)]
        most = self.kernels or (None, None)
        exact, first = _some(machine, clock.part(0.6), [*alone, *programs.chains(table, 100, (3,))], _C.EXACT, most[0])
        fast, second = _some(machine, clock, programs.chains(table, 60, (3,)), _C.FAST, most[1])
        machine.synchronize()
        self.kernels = first, second
        return f"{exact}; in fast mode {fast}"

    def run(self, kind: str, machine: Machine, clock: Clock) -> str:
        """Run a tool of compute-sanitizer over `short`, and before the first of them `short` alone for its kernels."""
        needs_gpu(machine)
        path = tool("compute-sanitizer")
        if path is None:
            raise Skipped("compute-sanitizer is not here")
        if self.kernels is None:
            # Kernels in memory that do more than is asked for would be taken instead.
            machine.forget_kernels()
            self.short(machine, clock.part(0.5))
        command = [path, "--tool", kind, "--error-exitcode", "9", sys.executable, "-m", "bench.cuda"]
        # It takes the rest to say what it has seen.
        command += ["--minutes", f"{0.7 * clock.left / 60:.3f}", "--short", *map(str, self.kernels or ())]
        try:
            # Without torch's own blocks, in which what lies beside an image belongs to nobody or to another.
            run = processes.run(command, clock.left, PYTORCH_NO_CUDA_MEMORY_CACHING="1")
        except processes.Late as late:
            raise Skipped(str(late)) from late
        output = run.stdout + run.stderr
        if "Device not supported" in output or "not supported on this" in output:
            raise Skipped("compute-sanitizer does not support this device")
        summary = re.search(r"\w+ SUMMARY: (\d+) .*", output)
        clean = run.returncode == 0 and summary is not None and summary[1] == "0"
        assert clean, f"exit status {run.returncode}:\n{output[-3000:]}"
        seen = re.search(r"^seen: (.*)", output, re.MULTILINE)
        return f"{summary[0] if summary else ''}; {seen[1] if seen else ''}"


def _some(
    machine: Machine, clock: Clock, samples: Sequence[programs.Sample], rewrites: int, most: int | None
) -> tuple[str, int]:
    """Do as `together`, where no sample in the time is as good."""
    try:
        return together(machine, clock, samples, rewrites, most)
    except Skipped as reason:
        return str(reason), 0


# ---- all of them


def smoke(machine: Machine) -> str:
    """Compare a few images of two pipelines, before anything else."""
    images = ragged(6)
    wrong = [line for name in ("P", "ImageNet train") for line in same(machine, PIPELINES[name](T), images, name)]
    assert not wrong, "\n".join(wrong)
    return f"P and ImageNet, {len(images)} images, 3 ways"


def brief(test: Callable[[Machine], str]) -> Test:
    """Make a test of a check that takes a few seconds and looks at no clock."""
    return lambda machine, clock: test(machine)


_SANITIZERS = Sanitizers()
#: The first and the last of the checks.
SMOKE, LAST = "smoke", ("memcheck", "racecheck")
#: Of each the share of the time, in seconds of nine minutes, those that take little first.
TESTS: dict[str, tuple[float, Test]] = {
    SMOKE: (20, brief(smoke)),
    "kinds of images": (5, brief(containers)),
    "out": (5, brief(into_memory)),
    "two streams": (5, brief(streams.two_streams)),
    "images that are still to come": (5, brief(streams.waits_for_its_stream)),
    "memory that is used again": (5, brief(streams.memory_used_again)),
    "images on the host that change": (5, brief(streams.host_images_given_up)),
    "threads": (5, brief(streams.threads)),
    "no waiting": (5, brief(streams.no_waiting)),
    "no leak": (10, brief(streams.no_leak)),
    "capture": (5, brief(streams.refuses_capture)),
    "pipelines": (15, pipelines),
    "types and memory formats": (15, types),
    "tests on the GPU": (40, of_the_tests),
    "each op": (30, each_op),
    "random programs, fast": (40, partial(random_programs, count=1000, rewrites=_C.FAST, channels=(3,))),
    "random programs": (120, random_programs),
    "memcheck": (80, partial(_SANITIZERS.run, "memcheck")),
    "racecheck": (40, partial(_SANITIZERS.run, "racecheck")),
}
#: For an emulated device, which has no times worth anything.
FEW: dict[str, Test] = {
    "each op": partial(each_op, count=2),
    "random programs": partial(random_programs, count=60),
    "random programs, fast": partial(random_programs, count=60, rewrites=_C.FAST),
    "types and memory formats": partial(types, names=["ImageNet train"]),
}


def part(name: str, machine: Machine) -> Part:
    """Make a part of a run of a check on a machine."""
    share, test = TESTS[name]
    test = FEW.get(name, test) if machine.emulated else test

    def work(clock: Clock) -> str:
        note = test(machine, clock)
        machine.synchronize()
        return note

    return Part(name, share, work)
