"""An op that is registered without all of its code does not compile, and never runs as another op or as none.

tests/house/sepia.patch adds an op, the worked example of CONTRIBUTING.md. Where it no longer applies, make it anew with
`git diff -U1`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
PATCH = ROOT / "tests" / "house" / "sepia.patch"
TOUCHED = re.findall(r"^\+\+\+ b/(.+)$", PATCH.read_text(), re.MULTILINE)
GXX = shutil.which("g++") or ""
GIT = shutil.which("git") or ""

pytestmark = [
    pytest.mark.skipif(not GXX, reason="g++ is not installed"),
    pytest.mark.skipif(not GIT, reason="git is not installed"),
]

#: What the executors and an emulated device are made of, without vector kernels, for which Highway would be needed, and
#: without decoders, for which their libraries would be.
CORE = ("program", "pixel", "plan", "kernels/scalar", "execute", "execute/stages", "cuda")
CODEC = ("jpeg_filter", "jpeg_rows")
SEPIA_ROW = "FASTAUG_OP(SEPIA, kPointwise, kColour, plain(), kNo, kNone)"
TONES = (0.393, 0.769, 0.189, 0, 0.349, 0.686, 0.168, 0, 0.272, 0.534, 0.131, 0)

#: Rows without code: columns of an op NEW, a file that does not compile with it, and what the compiler says there.
LACKING = {
    "lane": ("kPointwise, kColour, plain(), kNo, kNone", "kernels/scalar/pointwise.cpp", "pixel/point.h", "body_of"),
    "lane, float form": (
        "kPointwise, kColour, plain(), kNo, kFloatForm",
        "kernels/scalar/float.cpp",
        "pixel/float_colour.h",
        "form_of",
    ),
    "from gray": (
        'kPointwise, kFromGray, integer("channels", 1, 4), kNo, kNone',
        "kernels/scalar/pointwise.cpp",
        "pixel/point.h",
        "an op from gray has no body",
    ),
    "table": (
        "kPointwise, kAny, plain(), kNo, kTable | kPerSample | kChannelwise",
        "pixel/table.cpp",
        "pixel/table.cpp",
        "fill",
    ),
    "inverting table": (
        "kPointwise, kAny, plain(), kNo, kTable | kInverts | kPerSample | kChannelwise",
        "plan/rewrite.cpp",
        "plan/rewrite.cpp",
        "an op that inverts has no threshold",
    ),
    "mean": (
        "kReduction, kAny, factor(), kMean, kPerSample | kAlphaFlag | kChannelwise | kCanVanish",
        "execute/reduction.cpp",
        "execute/reduction.cpp",
        "a reduction has no numbers",
    ),
    "mean, lane": (
        "kReduction, kAny, factor(), kMean, kPerSample | kAlphaFlag | kChannelwise | kCanVanish",
        "kernels/scalar/pointwise.cpp",
        "pixel/point.h",
        "body_of",
    ),
    "histogram": (
        "kReduction, kAny, plain(), kHistogram, kTable | kPerSample | kChannelwise",
        "execute/reduction.cpp",
        "execute/reduction.cpp",
        "a reduction has no numbers",
    ),
    "geometry": (
        "kGeometry, kAny, own(), kNo, kChannelwise",
        "plan/plan.cpp",
        "plan/plan.cpp",
        "an op of geometry, or a filter, has no pass",
    ),
    "filter": (
        "kFilter, kAny, factor(), kNo, kChannelwise | kCanVanish",
        "plan/plan.cpp",
        "plan/plan.cpp",
        "an op of geometry, or a filter, has no pass",
    ),
    "flip": (
        "kGeometry, kAny, plain(), kNo, kMove | kAxisIndex | kFlip | kTurn | kSeparable | kChannelwise",
        "plan/rewrite.cpp",
        "program/traits.h",
        "a flip or a turn is none of those that are known",
    ),
    "warp": (
        "kGeometry, kAny, own(), kAnyOrder, kWarp | kFills | kChannelwise",
        "execute/stages/warp.cpp",
        "execute/stages/warp.cpp",
        "a warp has no kernel",
    ),
    "store": ("kStore, kAny, plain(), kNo, kNone", "execute/reference.cpp", "pixel/store.h", "a store op has no body"),
    "lane, device": ("kPointwise, kColour, plain(), kNo, kNone", "cuda/emulate.cpp", "cuda/tile/colour.h", "body_of"),
    "lane, float form, device": (
        "kPointwise, kColour, plain(), kNo, kFloatForm",
        "cuda/emulate.cpp",
        "pixel/float_colour.h",
        "form_of",
    ),
    "from gray, device": (
        'kPointwise, kFromGray, integer("channels", 1, 4), kNo, kNone',
        "cuda/emulate.cpp",
        "cuda/tile/colour.h",
        "an op from gray has no body",
    ),
    "table, device": (
        "kPointwise, kAny, plain(), kNo, kTable | kPerSample | kChannelwise",
        "cuda/emulate.cpp",
        "cuda/prepare.h",
        "a table op has no entry for a device",
    ),
    "histogram, device": (
        "kReduction, kAny, plain(), kHistogram, kTable | kPerSample | kChannelwise",
        "cuda/lowering.cpp",
        "cuda/lowering.cpp",
        "a reduction has no statistics on a device",
    ),
    "geometry, device": (
        "kGeometry, kAny, own(), kNo, kMove | kAxisIndex | kSeparable | kChannelwise",
        "cuda/lowering.cpp",
        "cuda/lowering.cpp",
        "an op of geometry, or a filter, has no step on a device",
    ),
    "filter, device": (
        "kFilter, kAny, factor(), kNo, kChannelwise | kCanVanish",
        "cuda/lowering.cpp",
        "cuda/lowering.cpp",
        "an op of geometry, or a filter, has no step on a device",
    ),
    "warp, device": (
        "kGeometry, kAny, own(), kAnyOrder, kWarp | kFills | kChannelwise",
        "cuda/lowering.cpp",
        "cuda/lowering.cpp",
        "a warp is no source of a device",
    ),
}

DRIVER = """
#include <cstdio>
#include <cstring>

#include "base/status.h"
#include "cuda/bag.h"
#include "cuda/emulate.h"
#include "execute/execute.h"
#include "execute/reference.h"
#include "kernels/table.h"

namespace fastaug {

const Kernels* kernels(const char*) {
  static const Kernels kTable = [] {
    Kernels table{};
    table.name = "scalar";
#define FILL(family) scalar::fill_##family(&table);
    FASTAUG_FAMILIES(FILL)
    return table;
  }();
  return &kTable;
}

const Kernels& kernels() { return *kernels("scalar"); }

}  // namespace fastaug

using namespace fastaug;

template <class Run>
void show(const char* executor, OpId id, Run run) {
  const uint8_t pixels[12] = {0, 0, 0, 255, 255, 255, 10, 20, 30, 200, 100, 50};
  uint8_t out[12] = {};
  Op op{};
  op.id = id;
  std::printf("%s %s ", executor, name_of(id));
  try {
    run(Program(&op, 1), View{pixels, 1, 4, 3, 12, 3, 1}, Target{out, DType::kUint8, 1, 4, 3, 12, 3, 1});
    for (const uint8_t sample : out) std::printf("%d ", sample);
  } catch (const Error& error) {
    std::printf("Error %s", error.what());
  }
  std::printf("\\n");
}

int main() {
  for (const OpId id : {OpId::SEPIA, OpId::SHIFT, OpId::LOST}) {
    show("plain", id, execute_reference);
    for (const uint32_t rewrites : {uint32_t{0}, uint32_t{kExactRewrites}}) {
      show("streamed", id, [&](Program program, const View& view, const Target& target) {
        execute({program, {view}, target}, {nullptr, rewrites});
      });
    }
    show("device", id, [&](Program program, const View& view, const Target& target) {
      cuda::Bag bag{cuda::BagOptions()};
      bag.add({program, {view}, target});
      bag.finish();
      cuda::emulate(bag, cuda::kForwards);
    });
  }
}
"""


def gxx(csrc: Path, *arguments: str | Path) -> str:
    """What the compiler says."""
    flags = ["-std=c++20", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-ffp-contract=off", "-DFASTAUG_SCALAR_ONLY"]
    done = subprocess.run(
        [GXX, *flags, "-I", csrc, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    assert (done.returncode == 0) == (done.stderr == ""), done.stderr
    return done.stderr


def checked(csrc: Path, file: str) -> str:
    return gxx(csrc, "-fsyntax-only", csrc / file)


def edit(path: Path, change: Callable[[str], str]) -> None:
    text = path.read_text()
    assert change(text) != text
    path.write_text(change(text))


@pytest.fixture
def csrc(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "csrc", tmp_path / "csrc"))


def register(csrc: Path, row: str) -> None:
    edit(csrc / "program" / "ops.def", lambda text: text + row + "\n")


def apply(folder: Path, *only: str) -> None:
    chosen = [f"--include={pattern}" for pattern in only]
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    done = subprocess.run([GIT, "apply", *chosen, PATCH], cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.main
@pytest.mark.parametrize("case", LACKING)
def test_row_without_code_does_not_compile(case: str, csrc: Path) -> None:
    columns, file, place, message = LACKING[case]
    register(csrc, f"FASTAUG_OP(NEW, {columns})")
    errors = [line for line in checked(csrc, file).splitlines() if " error: " in line]
    assert any(place in line and message in line for line in errors), errors


def test_example_applies_and_is_whole(tmp_path: Path) -> None:
    for name in TOUCHED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    apply(tmp_path)
    for name in TOUCHED:
        assert (tmp_path / name).read_bytes() != (ROOT / name).read_bytes(), name
        if name.endswith(".py"):
            compile((tmp_path / name).read_text(), name, "exec")
    assert SEPIA_ROW in (tmp_path / "csrc/program/ops.def").read_text()


def test_contributing_counts_the_files_of_the_example() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text().split("## Add an op")[1].split("\n## ")[0]
    assert f"{len(TOUCHED)} files" in text
    for name in TOUCHED:
        assert f"`{name}`" in text, name


def test_example_needs_its_body(tmp_path: Path, csrc: Path) -> None:
    apply(tmp_path, "csrc/program/*")
    said = checked(csrc, "kernels/scalar/pointwise.cpp")
    assert "pixel/point.h" in said and "body_of" in said
    apply(tmp_path, "csrc/pixel/*")
    assert checked(csrc, "kernels/scalar/pointwise.cpp") == ""


@pytest.mark.main
def test_op_runs_as_itself_or_fails_by_name(tmp_path: Path, csrc: Path) -> None:
    """The example, a geometry op of which nothing but its pass and its step is there, and one without a check."""
    apply(tmp_path, "csrc/*")
    register(csrc, "FASTAUG_OP(SHIFT, kGeometry, kAny, plain(), kNo, kChannelwise)")
    register(csrc, "FASTAUG_OP(LOST, kPointwise, kColour, own(), kNo, kNone)")
    edit(
        csrc / "plan/plan.cpp",
        lambda text: text.replace("    case OpId::PAD:", "    case OpId::SHIFT:\n    case OpId::PAD:", 1),
    )
    edit(
        csrc / "cuda/lowering.cpp",
        lambda text: text.replace("    case OpId::PAD:", "    case OpId::SHIFT:\n    case OpId::PAD:", 1),
    )
    line = "FASTAUG_FN Sepia body_of(OpTag<OpId::{}>, const Op&, float) {{ return {{}}; }}\n"
    edit(
        csrc / "pixel/pointwise.h",
        lambda text: text.replace(line.format("SEPIA"), line.format("SEPIA") + line.format("LOST")),
    )
    driver = tmp_path / "driver.cpp"
    driver.write_text(DRIVER)
    sources = [driver, *(path for room in CORE for path in (csrc / room).glob("*.cpp"))]
    sources += [csrc / "codec" / f"{name}.cpp" for name in CODEC]
    objects = [tmp_path / f"{k}.o" for k in range(len(sources))]
    with ThreadPoolExecutor(2) as workers:
        said = workers.map(lambda pair: gxx(csrc, "-O0", "-c", pair[0], "-o", pair[1]), zip(sources, objects))
        assert "".join(said) == ""
    assert gxx(csrc, *objects, "-o", tmp_path / "driver") == ""
    done = subprocess.run([tmp_path / "driver"], capture_output=True, text=True, check=True)

    image = np.array([[[0, 0, 0], [255, 255, 255], [10, 20, 30], [200, 100, 50]]], np.uint8)
    toned = " ".join(map(str, np.asarray(Image.fromarray(image).convert("RGB", TONES)).flatten()))
    unknown = "op {} is none of those that it knows"
    assert [line.strip() for line in done.stdout.splitlines()] == [
        f"plain SEPIA {toned}",
        *[f"streamed SEPIA {toned}"] * 2,
        f"device SEPIA {toned}",
        "plain SHIFT Error execute_reference: " + unknown.format("SHIFT"),
        *["streamed SHIFT Error source_region: " + unknown.format("SHIFT")] * 2,
        "device SHIFT Error source_region: " + unknown.format("SHIFT"),
        "plain LOST Error shape_after: " + unknown.format("LOST"),
        *["streamed LOST Error shape_after: " + unknown.format("LOST")] * 2,
        "device LOST Error shape_after: " + unknown.format("LOST"),
    ]
