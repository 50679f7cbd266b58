"""What has to hold on a GPU before its times are worth anything: the CPU's bits, memory, streams, no waiting."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from PIL import Image

import fastaug
import fastaug.transforms as T
from bench.cases import cropped, imagenet_eval, pipeline_p, simclr, trained
from bench.gpu import programs, scenes, streams
from bench.gpu.compare import Skipped, differs, far, needs_gpu, on_host, seeded
from bench.gpu.machine import ROOT, Machine, tool
from bench.gpu.report import Check
from fastaug import _C
from fastaug._cuda.kernels import Family

#: A check raises AssertionError, or anything else, or says in a line what it has seen.
Test = Callable[[Machine], str]


def check(name: str, test: Test, machine: Machine) -> Check:
    """Runs one check, and prints what became of it."""
    print(f"  {name} ...", end=" ", flush=True)
    start = time.perf_counter()
    try:
        outcome, note = "passed", test(machine)
        machine.synchronize()
    except Skipped as reason:
        outcome, note = "skipped", str(reason)
    except Exception as error:
        note = "".join(traceback.format_exception(error)[-4:]) if not isinstance(error, AssertionError) else str(error)
        outcome, note = "failed", note.strip() or repr(error)
    done = Check(name, outcome, time.perf_counter() - start, note)
    print(f"{outcome} ({done.seconds:.1f} s)" + (f": {note}" if note else ""), flush=True)
    return done


# ---- programs


def each_op(machine: Machine, count: int = 24) -> str:
    """Every op of the registry by itself, in a kernel for it alone."""
    table, wrong, done, unfit = programs.op_table(), [], 0, []
    missing = {name for name, _ in _C.OPS} - set(table.ROWS)
    assert not missing, f"the tests' op table lacks {sorted(missing)}"
    for name in table.ROWS:
        samples = programs.of_op(table, name, count)
        fit, differing = programs.Pair(samples, machine).compare(_C.EXACT, Family())
        done += fit
        unfit += [name] * (len(samples) - fit)
        wrong += differing
    assert not wrong, f"{len(wrong)} of {done} differ:\n" + "\n".join(wrong[:30])
    return f"{len(table.ROWS)} ops, {done} images; {len(unfit)} that no device does ({', '.join(sorted(set(unfit)))})"


def random_programs(
    machine: Machine, count: int = 3000, rewrites: int = _C.EXACT, channels: Sequence[int] = (1, 2, 3, 3, 3, 4)
) -> str:
    """Chains over ragged bags, in a few kernels that do everything. Those of fast mode equal the emulation."""
    table = programs.op_table()
    return _together(machine, programs.chains(table, count, channels), rewrites)


def _together(machine: Machine, samples: Sequence[programs.Sample], rewrites: int) -> str:
    """Samples by kernels that are compiled for all of them at once."""
    family = Family()
    pairs = [programs.Pair(part, machine) for part in programs.batches(samples, 64)]
    for pair in pairs:
        pair.ask(rewrites, family)
    found = [pair.compare(rewrites, family, emulate=rewrites != _C.EXACT) for pair in pairs]
    done, wrong = sum(fit for fit, _ in found), [line for _, lines in found for line in lines]
    assert not wrong, f"{len(wrong)} of {done} differ:\n" + "\n".join(wrong[:30])
    assert done > 0.9 * len(samples), f"a device does only {done} of {len(samples)}"
    return f"{done} of {len(samples)} programs"


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


def pipelines(machine: Machine) -> str:
    wrong, images = [], ragged(12 if machine.emulated else 24)
    for name, build in PIPELINES.items():
        wrong += same(machine, build(T), images, name)
    assert not wrong, "\n".join(wrong)
    return f"{len(PIPELINES)} pipelines, {len(images)} images, 3 ways"


def types(machine: Machine, names: Sequence[str] = ("P", "ImageNet train", "SimCLR")) -> str:
    """Types and memory formats of results, and fast mode."""
    wrong, count, images = [], 0, ragged(8)
    for name in names:
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            for memory_format in (torch.contiguous_format, torch.channels_last):
                for mode in ("exact", "fast"):
                    transform = fastaug.compile(PIPELINES[name](T), mode=mode, dtype=dtype, memory_format=memory_format)
                    what = f"{name} {dtype} {memory_format} {mode}"
                    wrong += same(machine, transform, images, what, differs if mode == "exact" else far)
                    count += 1
    assert not wrong, "\n".join(wrong)
    return f"{count} combinations"


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


def of_the_tests(machine: Machine, seconds: float = 120) -> str:
    """tests/cuda/test_on_gpu.py, where there is pytest with what the tests need."""
    needs_gpu(machine)
    file = ROOT / "tests" / "cuda" / "test_on_gpu.py"
    lacking = [name for name in ("pytest", "hypothesis") if importlib.util.find_spec(name) is None]
    if lacking or not file.exists():
        raise Skipped(f"{' and '.join(lacking)} not installed" if lacking else f"there is no {file}")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:benchmark", str(file)]
    env = os.environ | {"FASTAUG_REQUIRE_CUDA": "1"}
    try:
        run = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        raise Skipped(f"not done after {seconds:.0f} s") from late
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    return run.stdout.strip().splitlines()[-1]


def sanitizer(kind: str, machine: Machine, seconds: float = 150) -> str:
    """compute-sanitizer over short runs in a process of its own."""
    needs_gpu(machine)
    path = tool("compute-sanitizer")
    if path is None:
        raise Skipped("compute-sanitizer is not here")
    command = [path, "--tool", kind, "--error-exitcode", "9", sys.executable, "-m", "bench.cuda", "--short"]
    try:
        # Without torch's own blocks, in which what lies beside an image belongs to nobody or to another.
        env = os.environ | {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
        run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        raise Skipped(f"not done after {seconds:.0f} s") from late
    output = run.stdout + run.stderr
    if "Device not supported" in output or "not supported on this" in output:
        raise Skipped("compute-sanitizer does not support this device")
    summary = re.search(r"\w+ SUMMARY: (\d+) .*", output)
    clean = run.returncode == 0 and summary is not None and summary[1] == "0"
    assert clean, f"exit status {run.returncode}:\n{output[-3000:]}"
    return summary[0] if summary else ""


def short(machine: Machine) -> None:
    """What compute-sanitizer looks at: every op, chains, both modes, and batches."""
    table = programs.op_table()
    alone = [sample for name in table.ROWS for sample in programs.of_op(table, name, 3, 3)]
    _together(machine, [*alone, *programs.chains(table, 100, (3,))], _C.EXACT)
    _together(machine, programs.chains(table, 60, (3,)), _C.FAST)
    images = [machine.put(image) for image in ragged(3)]
    for name in ("P", "tensors"):
        PIPELINES[name](T).batch(images)
    PIPELINES["P"](T).batch(ragged(3), device="cuda")
    machine.synchronize()


TESTS: dict[str, Test] = {
    "each op": each_op,
    "random programs": random_programs,
    "random programs, fast": partial(random_programs, count=1000, rewrites=_C.FAST, channels=(3,)),
    "pipelines": pipelines,
    "types and memory formats": types,
    "kinds of images": containers,
    "out": into_memory,
    "two streams": streams.two_streams,
    "images that are still to come": streams.waits_for_its_stream,
    "memory that is used again": streams.memory_used_again,
    "images on the host that change": streams.host_images_given_up,
    "threads": streams.threads,
    "no waiting": streams.no_waiting,
    "no leak": streams.no_leak,
    "capture": streams.refuses_capture,
    "tests on the GPU": of_the_tests,
    "memcheck": partial(sanitizer, "memcheck"),
    "racecheck": partial(sanitizer, "racecheck"),
}
