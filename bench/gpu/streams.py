"""Checks that need a GPU: its streams, its memory and who waits for it."""

from __future__ import annotations

import gc
import resource
import threading
from functools import partial
from typing import Any

import torch

import fastaug
import fastaug.transforms as T
from bench.cases import pipeline_p
from bench.gpu import scenes
from bench.gpu.compare import differs, needs_gpu, seeded
from bench.gpu.machine import Machine


def _warm(machine: Machine, count: int = 16, side: int = 512) -> tuple[Any, list[torch.Tensor], torch.Tensor]:
    """A pipeline whose kernels are there, images on the device, and what comes of them."""
    needs_gpu(machine)
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
