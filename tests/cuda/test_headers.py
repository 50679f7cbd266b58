"""What devices share with the CPU compiles at run time, where there is no standard library."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import re
from pathlib import Path

import pytest

CSRC = Path(__file__).parents[2] / "csrc"

#: What device code includes; what these include comes along.
ROOTS = [
    "base/image.h",
    "program/op.h",
    "pixel/lane.h",
    "pixel/blur.h",
    "pixel/extent.h",
    "pixel/float_colour.h",
    "pixel/fma.h",
    "pixel/grid.h",
    "pixel/index.h",
    "pixel/point.h",
    "pixel/pointwise.h",
    "pixel/smooth.h",
    "pixel/statistics.h",
    "pixel/store.h",
    "pixel/table.h",
    "pixel/tap.h",
    "pixel/warp.h",
    "pixel/weigh.h",
]

#: Types alone: the functions of these headers that device code calls are known to the compiler.
SHIMS = {
    "cstdint": """#pragma once
        typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
        typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
        typedef unsigned long uint64_t;
        """,
    "cstddef": "#pragma once\ntypedef decltype(sizeof(0)) size_t; typedef long ptrdiff_t;\n",
    "cmath": "#pragma once\n",
    "cstring": "#pragma once\n",
}

OPTIONS = ["--gpu-architecture=sm_90", "--std=c++20", "-default-device", "--fmad=false"]

#: Calls what the headers define as templates, and what only a call shows to be missing.
KERNEL = """
namespace fastaug {

struct Pixel {
  float* v;

  template <class Body> void each(Body body, int colours, int) const {
    for (int c = 0; c < colours; ++c) v[c] = body(v[c]);
  }
  template <class Body> void together(Body body, int) const { body(v[0], v[1], v[2]); }
  template <class Body> void opaque(Body body, int) const { body(v[0], v[1], v[2]); }
  template <class Body> void reduce(Body body) const { v[0] = body(v[0], v[1], v[2]); }
  void replicate(int copies) const { for (int c = 1; c < copies; ++c) v[c] = v[0]; }
  template <class Body> void with_alpha(Body body, int channels) const { v[0] = body(v[0], v[channels - 1]); }
  void permute(const int32_t* from, int) const { v[0] = v[from[0]]; }
};

template <int kChannels>
void warps(WarpSource s, Position at, const uint8_t* fill, const GridMap& map, uint8_t* out) {
  const float shade[kMaxChannels] = {map.theta[0]};
  const GridFill outside = {Filling::kV2, shade};
  const GridPoint point = grid_point(map, s.width, s.height);
  grid_nearest_pixel<kChannels>(s, point.x, point.y, outside, out);
  grid_linear_pixel<kChannels>(s, point.x, point.y, outside, out);
  perspective_nearest_pixel<kChannels>(s, at, fill, out);
  perspective_linear_pixel<kChannels>(s, at, fill, out);
  perspective_cubic_pixel<kChannels>(s, at, fill, out);
  rounded_linear_pixel<kChannels>(s, fixed_position(at), out);
  rounded_cubic_pixel<kChannels>(s, fixed_position(at), out);
}

extern "C" __global__ void all(const Op* ops, float* v, uint8_t* bytes, int32_t* numbers, BlurKernel kernel,
                               WarpSource source, StoreForm form, uint64_t sum, GridMap map) {
  const Op& op = ops[threadIdx.x];
  const int k = numbers[0];
  const float mean = mean_of(op.id, sum, k, k % 2 == 0);
  scalar::visit(op, mean, k, Pixel{v});
  const scalar::FloatOp number = scalar::float_op(op, mean, k);
  scalar::visit_float(number, scalar::FloatPixel<float>{v, number.channels});
  const int channels = channels_after(op, k) + static_cast<int>(kind_of(op.id)) + has(op.id, Trait::kTable);
  const Extent extent = source_extent(op, true, {k, channels}, k, numbers[1]);
  numbers[0] = extent_bound(op, false, extent.end - extent.begin, numbers[2], numbers[1]);
  const TapAxis axis = {numbers[3], numbers[1], numbers[2]};
  if (has_plain_taps(axis.filter)) numbers[4] = taps_of(axis, k, numbers + 8).first + tap_stride(axis);
  bytes[0] = weighted_sum(numbers + 8, k, kWeightBits, [=](int t) { return bytes[t]; });
  v[4] = stored(form, v[0]) + fill_of(op, k);
  bytes[1] = scalar::round_blur(scalar::blur_chain(kernel, [=](int i, int j) { return v[reflect(i + j, k)]; }));
  bytes[2] = autocontrast_entry(k, channels, bytes[0]) + torch_autocontrast_entry(k, channels, bytes[0]) +
             equalize_entry(equalize_step(sum, k), k, bytes[0]) + smooth_of(smooth_sum(bytes, bytes, bytes, k));
  const FixedMap fixed = make_fixed(op.f);
  const Position at = perspective_at(op.f, fixed.x_at(k, k), static_cast<int>(nearest_route(op.f, k, k)));
  warps<1>(source, at, op.fill, map, bytes + 4);
  warps<4>(source, at, op.fill, map, bytes + 4);
  numbers[5] = to_float16(v[0]) + to_bfloat16(v[1]) + filters_height_first(op, {k, k, 3}) + erases(op, k, k);
  numbers[6] = nearest_position(NearestRule::kTorch, k, channels, k) + before_turn(1, k, k, k, k).x +
               nearest_clamped(nearest_first(k, channels), k);
}

}  // namespace fastaug
"""


def headers() -> dict[str, str]:
    """The text of every header that is reached from ROOTS, by the name that it is included by."""
    texts: dict[str, str] = {}
    names = list(ROOTS)
    while names:
        name = names.pop()
        if name not in texts:
            texts[name] = SHIMS[name] if name in SHIMS else (CSRC / name).read_text()
            names += re.findall(r'^\s*#\s*include ["<](.+?)[">]', texts[name], re.MULTILINE)
    return texts


@functools.cache
def compiler() -> ctypes.CDLL:
    """NVRTC as torch's wheels for CUDA bring it."""
    spec = importlib.util.find_spec("nvidia")
    places = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    found = sorted(path for place in places for path in place.glob("*/lib/libnvrtc.so.*"))
    if not found:
        pytest.skip("libnvrtc, which torch's wheels for CUDA bring, is not installed")
    # The compiler opens this one by its name, and finds it where it is loaded already.
    for builtins in found[-1].parent.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(found[-1]))


def strings(texts: list[str]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(texts))(*[text.encode() for text in texts])


def messages(program: str, included: dict[str, str]) -> str:
    """What the compiler says of a program; nothing when it compiles down to machine code without a warning."""
    nvrtc = compiler()
    handle = ctypes.c_void_p()
    created = nvrtc.nvrtcCreateProgram(
        ctypes.byref(handle),
        program.encode(),
        b"program.cu",
        len(included),
        strings(list(included.values())),
        strings(list(included)),
    )
    assert created == 0
    code = nvrtc.nvrtcCompileProgram(handle, len(OPTIONS), strings(OPTIONS))
    size = ctypes.c_size_t()
    assert nvrtc.nvrtcGetProgramLogSize(handle, ctypes.byref(size)) == 0
    log = ctypes.create_string_buffer(size.value)
    assert nvrtc.nvrtcGetProgramLog(handle, log) == 0
    assert nvrtc.nvrtcDestroyProgram(ctypes.byref(handle)) == 0
    said = log.value.decode()
    assert (code == 0) == ("error" not in said), said
    return said


def including(names: list[str]) -> str:
    return "".join(f'#include "{name}"\n' for name in names)


@pytest.mark.parametrize("root", ROOTS)
def test_a_header_is_read_alone(root: str) -> None:
    # But for bodies of lanes, which want to know which lanes.
    assert messages(including(["pixel/lane.h", root]), headers()) == ""


def test_everything_is_called() -> None:
    assert messages(including(ROOTS) + KERNEL, headers()) == ""


def test_a_wrong_call_is_seen() -> None:
    assert "error" in messages(including(ROOTS) + KERNEL.replace("smooth_of(", "smooth_of(op, "), headers())
    assert "error" in messages("#include <vector>\n", headers())
