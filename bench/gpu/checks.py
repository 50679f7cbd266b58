"""What has to hold on a GPU before its times are worth anything: the CPU's bits, memory, streams, no waiting."""

from __future__ import annotations

import gc
import importlib.util
import io
import math
import os
import re
import resource
import subprocess
import sys
import threading
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
from bench.gpu import programs, scenes
from bench.gpu.machine import ROOT, Machine, tool
from bench.gpu.report import Check
from fastaug import _C
from fastaug._cuda.kernels import Family

#: A check raises AssertionError, or anything else, or says in a line what it has seen.
Test = Callable[[Machine], str]


class Skipped(Exception):
    """What a check needs is not here."""


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


def seeded(call: Callable[[], Any], seed: int = 7) -> tuple[Any, torch.Tensor]:
    """What a call gives, and the state that it leaves torch's generator in."""
    torch.manual_seed(seed)
    result = call()
    return result, torch.get_rng_state()


def on_host(result: Any) -> Any:
    return [one.cpu() for one in result] if isinstance(result, list) else result.cpu()


def differs(got: Any, wanted: Any) -> str:
    """What is different of two results on the host; "" if every bit is the same."""
    if isinstance(wanted, list):
        if not isinstance(got, list) or len(got) != len(wanted):
            return f"{type(got).__name__} in place of {len(wanted)} results"
        found = [
            f"image {k}: {line}" for k, (one, other) in enumerate(zip(got, wanted)) if (line := differs(one, other))
        ]
        return "; ".join(found[:5])
    if type(got) is not type(wanted) or got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{tuple(got.shape)} {got.dtype} in place of {tuple(wanted.shape)} {wanted.dtype}"
    if got.stride() != wanted.stride():
        return f"strides {got.stride()} in place of {wanted.stride()}"
    if torch.equal(bits(got), bits(wanted)):
        return ""
    return f"{int((bits(got) != bits(wanted)).sum())} of {got.numel()} samples differ"


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """Samples as integers, of which a NaN equals itself."""
    return tensor.contiguous().view({1: torch.uint8, 2: torch.int16, 4: torch.int32}[tensor.itemsize])


#: Fast mode is 54 dB or more from what torchvision gives, so two ways of it are within 6 dB less of each other.
NEAR = 48.0


def far(got: torch.Tensor, wanted: torch.Tensor) -> str:
    """Which image is further away from the other than fast mode's two ways may be; "" if none is."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype or got.stride() != wanted.stride():
        return differs(got, wanted)
    least = float("inf")
    for one, other in zip(got.double(), wanted.double()):
        error = float(((one - other) ** 2).mean()) / float(wanted.max() - wanted.min()) ** 2
        least = min(least, -10 * math.log10(error) if error > 0 else least)
    return "" if least >= NEAR else f"{least:.1f} dB, at least {NEAR:g} are asked for"


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


# ---- streams and memory, on a GPU alone


def _needs_gpu(machine: Machine) -> None:
    if machine.emulated:
        raise Skipped("needs a GPU")


def _warm(machine: Machine, count: int = 16, side: int = 512) -> tuple[Any, list[torch.Tensor], torch.Tensor]:
    """A pipeline whose kernels are there, images on the device, and what comes of them."""
    _needs_gpu(machine)
    transform = pipeline_p(T, 128, "nearest")
    host = scenes.tiles(count, side)
    images = [machine.put(image) for image in host]
    # What random pipelines ask for settles slowly; after that nothing is compiled, and no memory is new.
    for seed in (*range(12), 7):
        seeded(lambda: transform.batch(images), seed)
        seeded(lambda: transform.batch(host, device="cuda"), seed)
    wanted, _ = seeded(lambda: transform.batch(host))
    machine.synchronize()
    return transform, images, wanted


def two_streams(machine: Machine) -> str:
    transform, images, wanted = _warm(machine)
    streams = [torch.cuda.Stream() for _ in range(2)]
    results: list[torch.Tensor] = []
    machine.synchronize()
    for turn in range(20):
        with torch.cuda.stream(streams[turn % 2]):
            results.append(seeded(lambda: transform.batch(images))[0])
    machine.synchronize()
    for turn, result in enumerate(results):
        assert not (line := differs(result.cpu(), wanted)), f"batch {turn}: {line}"
    return "20 batches on 2 streams"


def waits_for_its_stream(machine: Machine) -> str:
    """Images that are not there yet when batch() is called, on a stream of the user's."""
    transform, images, wanted = _warm(machine)
    side = torch.cuda.Stream()
    later = [torch.zeros_like(image) for image in images]
    machine.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(200_000_000)
        for empty, image in zip(later, images):
            empty.copy_(image)
        result, _ = seeded(lambda: transform.batch(later))
        early = not side.query()
    torch.cuda.current_stream().wait_stream(side)
    assert not (line := differs(result.cpu(), wanted)), line
    assert early, "batch() returned only when its stream was done: something waits"
    return "batch() returned before its images were there"


def memory_used_again(machine: Machine) -> str:
    """Images and results that are given up while kernels still use them."""
    transform, images, wanted = _warm(machine)
    side, results = torch.cuda.Stream(), []
    for turn in range(30):
        copies = [image.clone() for image in images]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            torch.cuda._sleep(2_000_000)
            results.append(seeded(partial(transform.batch, copies))[0])
        del copies
        # Memory of the images, if the allocator gives it away too early.
        for image in images:
            torch.full_like(image, turn % 256)
        if turn % 3 == 2:
            machine.synchronize()
            for result in results:
                assert not (line := differs(result.cpu(), wanted)), f"turn {turn}: {line}"
            results.clear()
    return "30 batches whose images were given up at once"


def host_images_given_up(machine: Machine) -> str:
    """Images on the host that are changed as soon as batch() is back."""
    transform, images, wanted = _warm(machine)
    host = [image.cpu() for image in images]
    for turn in range(20):
        for pinned in (False, True):
            given = [image.pin_memory() if pinned else image.clone() for image in host]
            result, _ = seeded(partial(transform.batch, given, device="cuda"))
            for image in given:
                image.fill_(turn)
            assert not (line := differs(result.cpu(), wanted)), f"turn {turn}, pinned {pinned}: {line}"
    return "40 batches"


def no_leak(machine: Machine, count: int = 1000) -> str:
    transform, images, _ = _warm(machine, 8, 128)
    gc.collect()
    before: list[tuple[int, int, int]] = []
    for turn in range(count):
        transform.batch(images)
        if turn % 10 == 0:
            transform.batch([image.cpu() for image in images[:2]], device="cuda")
        if turn % (count // 4) == count // 8:
            machine.synchronize()
            gc.collect()
            resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            before.append((torch.cuda.memory_allocated(), torch.cuda.memory_reserved(), resident))
    allocated = [one[0] for one in before]
    assert max(allocated[1:]) <= allocated[1], f"allocated bytes over time: {allocated}"
    assert before[-1][1] <= before[1][1] * 1.05, f"reserved bytes over time: {[one[1] for one in before]}"
    grown = before[-1][2] - before[1][2]
    assert grown < 64 << 10, f"the process grew by {grown >> 10} MiB"
    return f"{count} batches, {allocated[-1]} bytes allocated throughout"


def no_waiting(machine: Machine) -> str:
    """torch sees no call that waits, in a warm batch of images on the device."""
    transform, images, wanted = _warm(machine)
    machine.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        result, _ = seeded(lambda: transform.batch(images))
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert not (line := differs(result.cpu(), wanted)), line
    return "torch.cuda.set_sync_debug_mode"


def threads(machine: Machine) -> str:
    """Several threads at once, each with a generator of its own."""
    _, images, _ = _warm(machine)
    build, host = partial(pipeline_p, size=128, rotation="nearest"), [image.cpu() for image in images]

    def made() -> list[Any]:
        generators = [torch.Generator().manual_seed(k) for k in range(4)]
        return [fastaug.compile(build(T), generator=generator) for generator in generators]

    wanted = [transform.batch(host) for transform in made()]
    results: list[Any] = [None] * 4

    def work(k: int, transform: Any) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            results[k] = transform.batch(images)
            torch.cuda.current_stream().synchronize()

    started = [threading.Thread(target=work, args=(k, transform)) for k, transform in enumerate(made())]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    for k, (got, expected) in enumerate(zip(results, wanted)):
        assert got is not None, f"thread {k} raised"
        assert not (line := differs(got.cpu(), expected)), f"thread {k}: {line}"
    return "4 threads"


def refuses_capture(machine: Machine) -> str:
    transform, images, _ = _warm(machine, 2, 64)
    graph, said = torch.cuda.CUDAGraph(), ""
    x = torch.zeros(4, device="cuda")
    machine.synchronize()
    with torch.cuda.graph(graph):
        x += 1
        try:
            transform.batch(images)
        except RuntimeError as error:
            said = str(error)
    assert "graph" in said, f"batch() in a capture: {said or 'no error'}"
    graph.replay()
    machine.synchronize()
    assert float(x[0]) == 1, "the capture was broken"
    return said


# ---- processes of their own


def of_the_tests(machine: Machine, seconds: float = 120) -> str:
    """tests/cuda/test_on_gpu.py, where there is pytest with what the tests need."""
    _needs_gpu(machine)
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
    _needs_gpu(machine)
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
    "two streams": two_streams,
    "images that are still to come": waits_for_its_stream,
    "memory that is used again": memory_used_again,
    "images on the host that change": host_images_given_up,
    "threads": threads,
    "no waiting": no_waiting,
    "no leak": no_leak,
    "capture": refuses_capture,
    "tests on the GPU": of_the_tests,
    "memcheck": partial(sanitizer, "memcheck"),
    "racecheck": partial(sanitizer, "racecheck"),
}
