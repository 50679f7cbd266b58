"""How results are made again from a seed, and told apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from bench.gpu.machine import Machine
from bench.gpu.parts import Skipped


def needs_gpu(machine: Machine) -> None:
    if machine.emulated:
        raise Skipped("needs a GPU")


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
