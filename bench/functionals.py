"""python -m bench functionals: every function of transforms.functional and v2.functional, on images of 1x1 to 64x64."""

from __future__ import annotations

import argparse
import fnmatch
import gc
import importlib
import inspect
import itertools
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from PIL import Image
from tqdm import tqdm

import fastaug
from bench import report
from fastaug._inspect.info import processor

NOTE = """\
torchvision's time over fastaug's for one call, and fastaug's time in microseconds: processor time, medians of rounds in
which both have their turn at one image. "!": slower, so the 20th to 80th percentile of the ratios lies below 0.98, in
two runs. "~": torchvision's result is another one."""

SIZES = (1, 8, 32, 64)
SLOWER = 0.98


#: The least nanoseconds of a turn.
_TURN = 150_000

_BANDS = {"L": 1, "RGB": 3, "RGBA": 4}

#: Functions of other things than images.
APART = {"is_pure_tensor", "register_kernel", "sanitize_bounding_boxes", "sanitize_keypoints"}
APART |= {"clamp_bounding_boxes", "clamp_keypoints", "convert_bounding_box_format"}

#: How the names of v2's kernels end.
KERNELS = ("_image", "_video", "_mask", "_bounding_boxes", "_keypoints")


def images(size: int) -> dict[str, Any]:
    """An image of each kind."""
    pixels = np.random.default_rng(size).integers(0, 256, (size, size, 4), np.uint8)
    tensor = torch.from_numpy(pixels[:, :, :3]).permute(2, 0, 1).contiguous()
    batch = torch.stack([tensor, 255 - tensor])
    pillow = {m: Image.frombytes(m, (size, size), pixels[:, :, :bands].tobytes()) for m, bands in _BANDS.items()}
    tensors = {"uint8 CHW": tensor, "uint8 NCHW": batch, "float CHW": tensor / 255, "float NCHW": batch / 255}
    return {**pillow, **tensors}


def arguments(size: int) -> dict[str, dict[str, Any]]:
    """What functions are called with beside the image; a function without an entry takes nothing else."""
    half, end = max(size // 2, 1), size - 1
    quarter = size // 4
    box = {"top": quarter, "left": quarter, "height": half, "width": half}
    corners = [[0, 0], [end, 0], [end, end], [0, end]]
    displacement = {"displacement": torch.sin(torch.arange(2.0 * size * size)).view(1, size, size, 2) * 0.02}
    return {
        "adjust_brightness": {"brightness_factor": 1.13},
        "adjust_contrast": {"contrast_factor": 1.13},
        "adjust_gamma": {"gamma": 1.7},
        "adjust_hue": {"hue_factor": 0.05},
        "adjust_saturation": {"saturation_factor": 1.13},
        "adjust_sharpness": {"sharpness_factor": 1.5},
        "affine": {"angle": 15.0, "translate": [1, 2], "scale": 1.1, "shear": [8.0, 0.0]},
        "center_crop": {"output_size": [half, half]},
        "crop": box,
        "elastic": displacement,
        "elastic_transform": displacement,
        "erase": {"i": quarter, "j": quarter, "h": half, "w": half, "v": torch.zeros(3, 1, 1)},
        "five_crop": {"size": [half, half]},
        "gaussian_blur": {"kernel_size": [3, 3]},
        "jpeg": {"quality": 75},
        "normalize": {"mean": [0.4, 0.5, 0.6], "std": [0.2, 0.3, 0.4]},
        "pad": {"padding": [1, 2], "fill": 7},
        "permute_channels": {"permutation": [2, 0, 1]},
        "perspective": {"startpoints": corners, "endpoints": [[0, 0], [end, 1], [end, end], [1, end]]},
        "posterize": {"bits": 3},
        "resize": {"size": [2 * half, half]},
        "resized_crop": {**box, "size": [2 * half, half]},
        "rotate": {"angle": 17.3},
        "solarize": {"threshold": 0.5},
        "ten_crop": {"size": [half, half]},
        "uniform_temporal_subsample": {"num_samples": 1},
    }


def functions(module: Any) -> dict[str, Callable[..., Any]]:
    """The functions of images in a module, without v2's kernels."""
    found = {name: getattr(module, name) for name in module.__all__ if name not in APART}
    return {
        name: function
        for name, function in found.items()
        if inspect.isfunction(function) and not any(name.removesuffix(end) in found for end in KERNELS if end in name)
    }


def calls(ours: Any, theirs: Any, image: Any, given: dict[str, Any]) -> tuple[Any, Any, bool] | None:
    """The two calls of a function, and whether they return the same; None if torchvision refuses the image."""
    pair = []
    results = []
    for function in (ours, theirs):
        call = partial(function, image, **given)
        torch.manual_seed(0)
        try:
            results.append(call())
        except Exception:
            if function is theirs:
                return None
            results.append(None)
        pair.append(call)
    return pair[0], pair[1], same(*results)


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and np.allclose(np.asarray(ours), np.asarray(theirs), 0, 1e-5)


def ratios(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int) -> tuple[list[float], float]:
    """Of each round the time of theirs over that of ours, and the median microseconds of ours."""
    clock = time.process_time_ns

    def turn(call: Callable[[], Any], count: int) -> float:
        start = clock()
        for _ in range(count):
            call()
        return (clock() - start) / count

    count = int(np.clip(_TURN / min(turn(ours, 3), turn(theirs, 3)), 2, 40))
    found, times = [], []
    for number in range(rounds):
        both = (ours, theirs) if number % 2 else (theirs, ours)
        taken = {call: turn(call, count) for call in both}
        found.append(taken[theirs] / taken[ours])
        times.append(taken[ours] / 1e3)
    return found, float(np.median(times))


def is_slower(found: list[float]) -> bool:
    return float(np.percentile(found, 80)) < SLOWER


def cell(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int) -> tuple[str, bool]:
    """What the table has of two calls, and whether ours is slower."""
    found, taken = ratios(ours, theirs, rounds)
    slower = is_slower(found) and is_slower(found := ratios(ours, theirs, 2 * rounds)[0])
    return f"{np.median(found):.2f}{'!' * slower} ({taken:.1f})", slower


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench functionals", description=__doc__)
    parser.add_argument("--only", metavar="PATTERN", default="*", help='rows by shell pattern, such as "v2 crop, L"')
    parser.add_argument("--rounds", type=int, default=15, help="turns of each call")
    parser.add_argument("--slower", action="store_true", help="print only rows in which something is slower")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    table = [["function, image", *map(str, SIZES)]]
    kinds = {size: images(size) for size in SIZES}
    slower = 0
    gc.disable()
    for word, path in (("v1", "transforms.functional"), ("v2", "transforms.v2.functional")):
        ours, theirs = (importlib.import_module(f"{package}.{path}") for package in ("fastaug", "torchvision"))
        for (name, function), kind in tqdm([*itertools.product(functions(ours).items(), kinds[1])], word):
            line = [f"{word} {name}, {kind}"]
            if not fnmatch.fnmatchcase(line[0], options.only):
                continue
            for size in SIZES:
                found = calls(function, getattr(theirs, name), kinds[size][kind], arguments(size).get(name, {}))
                if found is None:
                    line.append("")
                    continue
                text, lost = cell(*found[:2], options.rounds)
                line.append(text + " ~" * (not found[2]))
                slower += lost
            gc.collect()
            if any("!" in text if options.slower else text for text in line[1:]):
                table.append(line)
    print(report.markdown(table), NOTE, f"{slower} cells are slower.", sep="\n\n")
    print(f"\n{processor()}, {fastaug.isa()}")
    return 0
