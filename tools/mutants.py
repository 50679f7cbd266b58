#!/usr/bin/env python3
"""Changes a formula, builds, and wants the native answers (csrc/tests/program/test_answers.cpp) to fail; for each of a
fixed set of formulas. `make mutants` runs it.

A mutant is caught by an answer of the op that its name begins with. One that survives, or whose text the sources no
longer hold exactly once, makes the run fail by name. The sources are a copy in build/mutants, without the vector
kernels: the native tests hold those against the scalar ones.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutants"
COPY = WORK / "source"
BUILD = WORK / "build"
#: What the copy needs of the checkout.
PARTS = ("CMakeLists.txt", "cmake", "csrc", "tests/tables")


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    old: str
    new: str


POINTWISE = "csrc/pixel/pointwise.h"
TABLE = "csrc/pixel/table.h"

MUTANTS = (
    Mutant("SATURATION: luma of red alone", POINTWISE, "const V luma = Luma()(r, g, b);", "const V luma = r;"),
    Mutant(
        "SATURATION, CONTRAST, SHARPNESS: a blend that rounds",
        POINTWISE,
        "return clipped(add(degenerate, mul(factor, sub(value, degenerate))));",
        "return clipped(add(add(degenerate, mul(factor, sub(value, degenerate))), set<V>(0.5f)));",
    ),
    Mutant(
        "BRIGHTNESS: rounded",
        POINTWISE,
        "return clipped(mul(v, set<V>(factor)));",
        "return clipped(add(mul(v, set<V>(factor)), set<V>(0.5f)));",
    ),
    Mutant(
        "CONTRAST: the mean truncated",
        "csrc/pixel/statistics.h",
        "static_cast<double>(sum) / static_cast<double>(pixels) + 0.5)",
        "static_cast<double>(sum) / static_cast<double>(pixels))",
    ),
    Mutant(
        "TORCH_AUTOCONTRAST: divided once",
        TABLE,
        "1.0f / static_cast<float>(high - low) * 255.0f",
        "255.0f / static_cast<float>(high - low)",
    ),
    Mutant(
        "NEAREST: Pillow's start",
        "csrc/pixel/index.h",
        "return 0.5 * nearest_scale(in, out);",
        "return 0.25 * nearest_scale(in, out);",
    ),
    Mutant(
        "AFFINE: bilinear, a quarter of a pixel off",
        "csrc/pixel/warp.h",
        "return m[0] * (x + 0.5) + m[1] * (y + 0.5) + m[2];",
        "return m[0] * (x + 0.25) + m[1] * (y + 0.5) + m[2];",
    ),
    Mutant(
        "HUE: the plateau of green",
        POINTWISE,
        "mul_sub_exact(h8, six, set<V>(510.0f))",
        "mul_sub_exact(h8, six, set<V>(511.0f))",
    ),
    Mutant("LUMA: the weight of green", POINTWISE, "set<V>(38470.0f)", "set<V>(38400.0f)"),
    Mutant(
        "UNPREMULTIPLY: 254 for 255",
        POINTWISE,
        "floor(div(mul(color, set<V>(255.0f)), max(alpha",
        "floor(div(mul(color, set<V>(254.0f)), max(alpha",
    ),
    Mutant("GAMMA: 256 for 255.999", TABLE, "(255 + 1 - 1e-3) * gain", "(255 + 1) * gain"),
    Mutant("EQUALIZE: the step", TABLE, "(total - last) / 255;", "total / 255;"),
    Mutant(
        "PAD: the period of a reflection",
        "csrc/pixel/index.h",
        "2 * size - 2 :",
        "2 * size - 1 :",
    ),
    Mutant("RESIZE: bicubic's a", "csrc/pixel/tap.h", "constexpr double a = -0.5;", "constexpr double a = -0.75;"),
    Mutant(
        "TORCH_RESIZE: sums that are fused",
        "csrc/pixel/torch_tap.h",
        "return (count - 1) / 4 * 4;",
        "return 0 * count;",
    ),
    Mutant(
        "TORCH_RESIZE: sums that are not fused",
        "csrc/pixel/torch_tap.h",
        "return (count - 1) / 4 * 4;",
        "return count - 1;",
    ),
    Mutant(
        "TORCH_RESIZE: bicubic's a",
        "csrc/pixel/torch_tap.h",
        "constexpr float a = -0.5f;",
        "constexpr float a = -0.75f;",
    ),
    Mutant(
        "BLUR: which steps are fused",
        "csrc/pixel/blur.h",
        "return fused ? fmaf(weight, sample, sum) : sum + weight * sample;",
        "return fused ? sum + weight * sample : fmaf(weight, sample, sum);",
    ),
    Mutant(
        "RESIZE: bits of short weights",
        "csrc/pixel/taps.cpp",
        "constexpr int kTooMuch = 1 << 15;",
        "constexpr int kTooMuch = 1 << 14;",
    ),
    Mutant(
        "RESIZE: which axis goes first",
        "csrc/pixel/weigh.h",
        "lost_height > 2 * lost_width;",
        "lost_height > 3 * lost_width;",
    ),
)


def run(command: Sequence[object], what: str) -> None:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{what} failed")


def copy_sources() -> None:
    """Only what changed is written, so that a second run compiles little."""
    for part in PARTS:
        for path in [ROOT / part] if (ROOT / part).is_file() else sorted((ROOT / part).rglob("*")):
            target = COPY / path.relative_to(ROOT)
            if path.is_file() and not (target.is_file() and target.read_bytes() == path.read_bytes()):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    for path in COPY.rglob("*"):
        if path.is_file() and not (ROOT / path.relative_to(COPY)).is_file():
            path.unlink()


def built(jobs: int) -> str:
    """Empty, or what the compiler said."""
    command = ["cmake", "--build", BUILD, "-j", jobs, "--target", "fastaug_answers"]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode != 0 else ""


def broken_answers() -> str:
    """Empty, or what the tests said."""
    done = subprocess.run([str(BUILD / "fastaug_answers")], capture_output=True, text=True, timeout=300)
    return done.stdout + done.stderr if done.returncode != 0 else ""


def verdict(mutant: Mutant, jobs: int) -> str:
    """What became of it; "caught" is what is wanted."""
    path = COPY / mutant.file
    text = path.read_text() if path.is_file() else ""
    if text.count(mutant.old) != 1:
        return f"NOT FOUND: {mutant.file} holds its text {text.count(mutant.old)} times"
    path.write_text(text.replace(mutant.old, mutant.new))
    try:
        if said := built(jobs):
            return f"DOES NOT COMPILE:\n{said}"
        said = broken_answers()
        op = re.match(r"\w+", mutant.name)
        assert op is not None
        if re.search(rf"\b{op[0]}\b", said):
            return "caught"
        return f"FAILS OTHERWISE:\n{said}" if said else "SURVIVES"
    finally:
        path.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("-k", "--only", default="", help="mutants whose name holds this")
    arguments = parser.parse_args()
    copy_sources()
    settings = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_FLAGS_RELEASE": "-O1",
        "FASTAUG_PYTHON": "OFF",
        "FASTAUG_TESTS": "ON",
        "FASTAUG_SIMD": "OFF",
        # A mutant may leave something unused.
        "FASTAUG_WERROR": "OFF",
    }
    defines = [f"-D{name}={value}" for name, value in settings.items()]
    run(["cmake", "-S", COPY, "-B", BUILD, "-G", "Ninja", *defines], "cmake")
    if said := built(arguments.jobs):
        sys.exit(f"{said}\nthe unchanged sources do not compile")
    if said := broken_answers():
        sys.exit(f"{said}\nthe unchanged sources do not give the answers")
    chosen = [mutant for mutant in MUTANTS if arguments.only in mutant.name]
    missed = []
    for k, mutant in enumerate(chosen, 1):
        begin = time.monotonic()
        became = verdict(mutant, arguments.jobs)
        print(f"[{k:2}/{len(chosen)}] {mutant.name}: {became} ({time.monotonic() - begin:.0f} s)", flush=True)
        if became != "caught":
            missed.append(mutant.name)
    if missed:
        sys.exit(f"{len(missed)} of {len(chosen)} mutants not caught: {'; '.join(missed)}")
    print(f"all {len(chosen)} mutants caught")


if __name__ == "__main__":
    main()
