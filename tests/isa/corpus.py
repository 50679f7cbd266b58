"""A fixed corpus of images and pipelines, and a digest of each result.

As a script it prints the digests that fastaug gives under the present FASTAUG_ISA, one JSON object on one line.
"""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_flatten

from support.images import noise, photo, pil, to_chw
from support.outcomes import run, seed_all, snapshot
from support.programs import execute, random_program, reference
from tables.calls import FUNCTIONAL
from tables.cases import PIL_CASES
from tables.recipes import PIPELINES, pathology
from tables.v2_recipes import PIPELINES as V2_PIPELINES

SHAPES = {"L": (61, 83), "RGB": (67, 75), "RGBA": (33, 49), "LA": (20, 91)}
PROGRAMS = 250


def digest(value: Any) -> str:
    return hashlib.sha256(repr(snapshot(value)).encode()).hexdigest()[:16]


def outcome(transform: Any, value: Any, seed: int) -> str:
    result = run(transform, value, seed)
    if result.error is not None:
        return type(result.error).__name__
    return digest((result.value, result.torch_state))


def transforms(package: Any, functional: Any) -> dict[str, str]:
    """Digests of every case in four modes, of all pipelines on photographs, and of P on a tile."""
    digests = {}
    for mode, (height, width) in SHAPES.items():
        image = pil(mode, height, width, 7)
        for name, make in PIL_CASES.items():
            digests[f"{name}, {mode}"] = outcome(make(package), image, 7)
        for name, call in FUNCTIONAL.items():
            digests[f"{name}, {mode}"] = outcome(lambda x: call(functional, x), image, 7)  # noqa: B023
    for name, make in PIPELINES.items():
        digests[name] = outcome(make(package), photo("coffee", 375, 500), 8)
    tile = to_chw(photo("ihc", 300, 310))
    for interpolation in ("NEAREST", "BILINEAR"):
        for resolution in (224, 97):
            transform = pathology(package, resolution, interpolation, crop=256)
            for seed in range(3):
                digests[f"P {interpolation} {resolution} {seed}"] = outcome(transform, tile, seed)
    return digests


def samples(v2: Any) -> dict[str, str]:
    """Digests of the pipelines of v2 whose results are torchvision's bit for bit, on a few samples each."""
    digests = {}
    for name, (make, draw, exact) in V2_PIPELINES.items():
        transform = make(v2)
        for seed in range(4 if exact else 0):
            seed_all(seed)
            leaves, structure = tree_flatten(transform(*draw(seed)))
            plain = [leaf.as_subclass(torch.Tensor) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
            kinds = [(type(leaf).__name__, getattr(leaf, "canvas_size", None)) for leaf in leaves]
            digests[f"v2 {name} {seed}"] = digest((plain, kinds, str(structure), torch.get_rng_state()))
    return digests


def programs(run_program: Any) -> dict[str, str]:
    """Digests of random native programs; `run_program` takes the ops and the image."""
    digests = {}
    for seed in range(PROGRAMS):
        rng = random.Random(60_000 + seed)
        image = noise(rng.randint(1, 80), rng.randint(1, 80), rng.choice([1, 2, 3, 4]), seed)
        ops = random_program(rng, image)
        digests[f"program {seed}"] = digest(np.ascontiguousarray(run_program(ops, image)))
    return digests


def main() -> None:
    import fastaug
    import fastaug.transforms as T
    from fastaug.transforms import v2

    torch.set_num_threads(1)
    digests = {**transforms(T, T.functional), **samples(v2), **programs(execute)}
    print(json.dumps({"isa": fastaug.isa(), **digests}))


def expected() -> dict[str, str]:
    """What torchvision, Pillow and numpy give."""
    import torchvision.transforms as TV
    from torchvision.transforms import v2

    return {**transforms(TV, TV.functional), **samples(v2), **programs(reference)}


if __name__ == "__main__":
    main()
