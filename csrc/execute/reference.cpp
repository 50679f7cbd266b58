#include "execute/reference.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "codec/jpeg_filter.h"
#include "execute/execute.h"
#include "execute/reduction.h"
#include "execute/stages/blur.h"
#include "execute/stages/stages.h"
#include "kernels/kernels.h"
#include "pixel/blur_weights.h"
#include "pixel/box_blur.h"
#include "pixel/index.h"
#include "pixel/index_table.h"
#include "pixel/smooth.h"
#include "pixel/store.h"
#include "pixel/table.h"
#include "pixel/taps.h"
#include "pixel/torch_taps.h"
#include "pixel/weigh.h"

namespace fastaug {
namespace {

// A whole image, one padded buffer per channel.
struct Image {
  Shape shape;
  std::vector<uint8_t> plane[kMaxChannels];

  explicit Image(Shape s) : shape(s) {
    for (auto& samples : plane) samples.assign(area() + kRowPad, 0);
  }
  size_t area() const { return static_cast<size_t>(shape.height) * static_cast<size_t>(shape.width); }
  uint8_t& at(int y, int x, int c) {
    return plane[c][static_cast<size_t>(y) * static_cast<size_t>(shape.width) + static_cast<size_t>(x)];
  }
};

template <class F>  // F(y, x, c) -> sample
Image filled(Shape shape, F sample) {
  Image out(shape);
  for (int c = 0; c < shape.channels; ++c) {
    for (int y = 0; y < shape.height; ++y) {
      for (int x = 0; x < shape.width; ++x) out.at(y, x, c) = sample(y, x, c);
    }
  }
  return out;
}

// Output k of an axis, from its samples.
template <class Sample>
uint8_t filtered(const Taps& taps, int k, Sample sample) {
  return weighted_sum(taps.weights(k), taps.count[k], taps.bits, [&](int t) { return sample(taps.first[k] + t); });
}

Image resize(Image& in, const Op& op) {
  const auto filter = static_cast<Filter>(op.flags & kFilterMask);
  auto width_pass = [&](Image image) {
    if (image.shape.width == op.i[1]) return image;
    const Taps taps = make_taps(filter, image.shape.width, op.i[1], 0, op.i[1]);
    return filled({image.shape.height, op.i[1], image.shape.channels},
                  [&](int y, int x, int c) { return filtered(taps, x, [&](int k) { return image.at(y, k, c); }); });
  };
  auto height_pass = [&](Image image) {
    if (image.shape.height == op.i[0]) return image;
    const Taps taps = make_taps(filter, image.shape.height, op.i[0], 0, op.i[0]);
    return filled({op.i[0], image.shape.width, image.shape.channels},
                  [&](int y, int x, int c) { return filtered(taps, y, [&](int k) { return image.at(k, x, c); }); });
  };
  return filters_height_first(op, in.shape) ? width_pass(height_pass(in)) : height_pass(width_pass(in));
}

// Along all rows into floats, then down all columns.
Image torch_resize(Image& in, const Op& op) {
  const auto filter = static_cast<Filter>(op.flags);
  const FloatTaps across = make_torch_taps(filter, in.shape.width, op.i[1], 0, op.i[1]);
  const FloatTaps down = make_torch_taps(filter, in.shape.height, op.i[0], 0, op.i[0]);
  const auto sum = [](const FloatTaps& taps, int k, auto sample) {
    const int first = taps.first[static_cast<size_t>(k)];
    return torch_sum(
        taps.count[static_cast<size_t>(k)], [&](int t) { return sample(first + t); },
        [&](int t) { return taps.weights(k)[t]; });
  };
  const auto width = static_cast<size_t>(op.i[1]);
  std::vector<float> rows[kMaxChannels];
  for (int c = 0; c < in.shape.channels; ++c) {
    for (int y = 0; y < in.shape.height; ++y) {
      for (int x = 0; x < op.i[1]; ++x) {
        rows[c].push_back(sum(across, x, [&](int k) { return static_cast<float>(in.at(y, k, c)); }));
      }
    }
  }
  return filled({op.i[0], op.i[1], in.shape.channels}, [&](int y, int x, int c) {
    const auto sample = [&](int k) { return rows[c][static_cast<size_t>(k) * width + static_cast<size_t>(x)]; };
    return torch_rounded(sum(down, y, sample));
  });
}

// Channel by channel, whole rows.
Image warp(Image& in, const Op& op) {
  const Kernels& scalar = *kernels("scalar");
  Image out({op.i[0], op.i[1], in.shape.channels});
  std::vector<uint8_t> line(static_cast<size_t>(op.i[1]) + kRowPad);
  std::vector<float> grid(2 * static_cast<size_t>(op.i[1]) + kRowPad);
  for (int c = 0; c < in.shape.channels; ++c) {
    const View plane{in.plane[c].data(), in.shape.height, in.shape.width, 1, in.shape.width, 1, 1};
    WarpRow row = warp_row(op, plane);
    GridRow sampled = grid_row(op, plane);
    MapRow positions{grid_map(op, plane), 0, 0, op.i[1]};
    row.fill[0] = op.fill[c];
    sampled.fill[0] = fill_of(op, c);
    sampled.grid = grid.data();
    uint8_t* planes[kMaxChannels] = {line.data(), line.data(), line.data(), line.data()};
    for (row.y = 0; row.y < op.i[0]; ++row.y) {
      if (samples_grid(op.id)) {
        positions.y = row.y;
        scalar.map_grid(positions, grid.data());
        grid_kernel(op, scalar)(sampled, planes);
      } else {
        warp_kernel(op, scalar)(row, planes);
      }
      std::memcpy(&out.at(row.y, 0, c), line.data(), static_cast<size_t>(op.i[1]));
    }
  }
  return out;
}

// The planes of `in` as one row, which no pointwise op minds.
Image pointwise(Image in, const Op& op) {
  const Kernels& scalar = *kernels("scalar");
  uint8_t* planes[kMaxChannels];
  for (int c = 0; c < kMaxChannels; ++c) planes[c] = in.plane[c].data();
  const Shape flat{1, static_cast<int>(in.area()), in.shape.channels};
  Reduction reduction(op, flat, scalar);
  if (kind_of(op.id) == OpKind::kReduction) reduction.add(planes);
  if (has(op.id, Trait::kTable)) {
    ChannelTables tables;
    if (kind_of(op.id) == OpKind::kReduction) {
      reduction.tables(&tables);
    } else {
      for (auto& table : tables.table) plain_table(op, table);
    }
    for (int c = 0; c < in.shape.channels; ++c) {
      for (uint8_t& sample : in.plane[c]) sample = tables.table[c][sample];
    }
    return in;
  }
  const float mean = whole_input_of(op.id) == WholeInput::kMean ? reduction.mean(false) : 0.0f;
  scalar.pointwise(&op, &mean, 1, in.shape.channels, planes, flat.width);
  in.shape = shape_after(op, in.shape);
  return in;
}

Image sharpen(Image& in, const Op& op) {
  const int colors = colours_of(op, in.shape.channels);
  const SharpenKernel kernel = sharpen_kernel(op, *kernels("scalar"));
  return filled(in.shape, [&](int y, int x, int c) {
    const bool border = y == 0 || x == 0 || y == in.shape.height - 1 || x == in.shape.width - 1;
    const bool torch = op.id == OpId::TORCH_SHARPNESS && torch_sharpens(in.shape.height, in.shape.width);
    if (c >= colors || (border && !torch)) return in.at(y, x, c);
    const uint8_t alone[3] = {in.at(y, x, c), in.at(y, x, c), in.at(y, x, c)};
    const uint8_t* rows[3];
    for (int k = 0; k < 3; ++k) rows[k] = border ? alone + 1 : &in.at(y + k - 1, x, c);
    uint8_t sample = 0;
    kernel(rows[0], rows[1], rows[2], 1, op.f[0], &sample);
    return sample;
  });
}

Image blur(Image& in, const Op& op) {
  const BlurWeights weights(op);
  const BlurKernel& kernel = weights.kernel();
  const Shape shape = in.shape;
  return filled(shape, [&](int y, int x, int c) {
    const int top = y - kernel.height / 2;
    const int left = x - kernel.width / 2;
    const auto load = [&](int i, int j) {
      return static_cast<float>(in.at(reflect(top + i, shape.height), reflect(left + j, shape.width), c));
    };
    return scalar::round_blur(scalar::blur_chain(kernel, load));
  });
}

// Pass by pass, each sample from all that it is the mean of.
Image box_blur(Image image, const Op& op) {
  const Shape shape = image.shape;
  for (int pass = 0; pass < 2 * op.i[0]; ++pass) {
    const bool rows = pass >= op.i[0];
    const BoxBlur blur = box_blur(op, rows);
    image = filled(shape, [&](int y, int x, int c) {
      const int at = rows ? y : x;
      const int last = (rows ? shape.height : shape.width) - 1;
      const auto sample = [&](int k) {
        const int place = std::clamp(k, 0, last);
        return uint32_t{rows ? image.at(place, x, c) : image.at(y, place, c)};
      };
      uint32_t sum = 0;
      const int from = std::max(at - blur.radius, 0);
      const int to = std::min(at + blur.radius, last);
      for (int k = from; k <= to; ++k) sum += sample(k);
      sum += static_cast<uint32_t>(from - (at - blur.radius)) * sample(0);
      sum += static_cast<uint32_t>(at + blur.radius - to) * sample(last);
      return box_mean(blur, sum, sample(at - blur.radius - 1) + sample(at + blur.radius + 1));
    });
  }
  return image;
}

// The whole image through the filter, whose pixels are compared with Pillow's files.
Image through_jpeg(Image& in, const Op& op) {
  struct Rows final : codec::jpeg::PlaneRows {
    explicit Rows(Image& from) : image(from) {}
    void read(int y, uint8_t* const* planes) override {
      for (int c = 0; c < image.shape.channels; ++c) std::copy_n(&image.at(y, 0, c), image.shape.width, planes[c]);
    }
    Image& image;
  };
  Rows rows(in);
  Arena arena;
  const Shape shape = in.shape;
  codec::jpeg::Filter filter(rows, shape, {0, 0, shape.height, shape.width}, shape.width, op.i[0], arena);
  Image out(shape);
  for (int y = 0; y < shape.height; ++y) {
    const uint8_t* pixels = filter.row(y);
    for (int x = 0; x < shape.width; ++x) {
      for (int c = 0; c < shape.channels; ++c) out.at(y, x, c) = *pixels++;
    }
  }
  return out;
}

Image apply(Image in, const Op& op) {
  const Shape out = shape_after(op, in.shape);
  if (kind_of(op.id) == OpKind::kPointwise || kind_of(op.id) == OpKind::kReduction) return pointwise(std::move(in), op);
  switch (op.id) {
    case OpId::WINDOW:
      return filled(out, [&](int y, int x, int c) {
        const int from_y = y + op.i[0];
        const int from_x = x + op.i[1];
        const bool shown = from_y >= 0 && from_x >= 0 && from_y < in.shape.height && from_x < in.shape.width;
        return shown ? in.at(from_y, from_x, c) : op.fill[c];
      });
    case OpId::PAD: {
      const auto rows = pad_index(static_cast<PadMode>(op.flags), in.shape.height, op.i[1], op.i[3]);
      const auto columns = pad_index(static_cast<PadMode>(op.flags), in.shape.width, op.i[0], op.i[2]);
      return filled(out, [&](int y, int x, int c) {
        return in.at(rows[static_cast<size_t>(y)], columns[static_cast<size_t>(x)], c);
      });
    }
    case OpId::NEAREST: {
      const auto rows = nearest_index(static_cast<NearestRule>(op.flags), in.shape.height, op.i[0]);
      const auto columns = nearest_index(static_cast<NearestRule>(op.flags), in.shape.width, op.i[1]);
      return filled(out, [&](int y, int x, int c) {
        return in.at(rows[static_cast<size_t>(y)], columns[static_cast<size_t>(x)], c);
      });
    }
    case OpId::RESIZE:
      return resize(in, op);
    case OpId::TORCH_RESIZE:
      return torch_resize(in, op);
    case OpId::HFLIP:
      return filled(out, [&](int y, int x, int c) { return in.at(y, out.width - 1 - x, c); });
    case OpId::VFLIP:
      return filled(out, [&](int y, int x, int c) { return in.at(out.height - 1 - y, x, c); });
    case OpId::ROT90:
      return filled(out, [&](int y, int x, int c) {
        const Place from = before_turn(op.flags, y, x, in.shape.height, in.shape.width);
        return in.at(from.y, from.x, c);
      });
    case OpId::AFFINE:
    case OpId::PERSPECTIVE:
    case OpId::TORCH_AFFINE:
    case OpId::TORCH_PERSPECTIVE:
      return warp(in, op);
    case OpId::SHARPNESS:
    case OpId::TORCH_SHARPNESS:
    case OpId::V2_SHARPNESS:
      return sharpen(in, op);
    case OpId::BLUR:
      return blur(in, op);
    case OpId::BOX_BLUR:
      return box_blur(std::move(in), op);
    case OpId::JPEG:
      return through_jpeg(in, op);
    default:
      fail_on("execute_reference", op.id);
  }
}

void write(float value, DType dtype, uint8_t* to) {
  if (dtype == DType::kFloat32) {
    std::memcpy(to, &value, sizeof value);
  } else {
    const uint16_t narrow = dtype == DType::kFloat16 ? to_float16(value) : to_bfloat16(value);
    std::memcpy(to, &narrow, sizeof narrow);
  }
}

// A sample of the result, in each of its copies in a patch.
void write_all(float value, const Target& target, uint8_t* to) {
  for (int k = 0; k < target.patches.copies; ++k, to += target.patches.copy_stride) write(value, target.dtype, to);
}

// Where pixel `at` of what comes out of a move is in what went in; false where it is fill.
bool before_move(const Op& op, Shape in, Place* at) {
  switch (op.id) {
    case OpId::WINDOW:
      *at = {at->y + op.i[0], at->x + op.i[1]};
      return at->y >= 0 && at->x >= 0 && at->y < in.height && at->x < in.width;
    case OpId::PAD: {
      const auto mode = static_cast<PadMode>(op.flags);
      *at = {pad_index(mode, in.height, op.i[1], op.i[3])[static_cast<size_t>(at->y)],
             pad_index(mode, in.width, op.i[0], op.i[2])[static_cast<size_t>(at->x)]};
      return true;
    }
    case OpId::NEAREST: {
      const auto rule = static_cast<NearestRule>(op.flags);
      *at = {nearest_index(rule, in.height, op.i[0])[static_cast<size_t>(at->y)],
             nearest_index(rule, in.width, op.i[1])[static_cast<size_t>(at->x)]};
      return true;
    }
    case OpId::HFLIP:
      at->x = in.width - 1 - at->x;
      return true;
    case OpId::VFLIP:
      at->y = in.height - 1 - at->y;
      return true;
    default:
      fail_on("before_move", op.id);
  }
}

// Pixel by pixel, from the last op back to the first.
void reference_of_floats(Program program, const View& source, Shape out, const Target& target) {
  std::vector<Shape> shapes{{source.height, source.width, source.channels}};
  for (const Op& op : program) shapes.push_back(shape_after(op, shapes.back()));
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      Place at{y, x};
      bool shown = true;
      for (size_t k = program.size(); k-- > 0 && shown;) {
        if (kind_of(program[k].id) != OpKind::kStore) shown = before_move(program[k], shapes[k], &at);
      }
      for (int c = 0; c < out.channels; ++c) {
        float value = 0.0f;
        if (shown) std::memcpy(&value, source.at(at.y, at.x, c), sizeof value);
        for (const Op& op : program) {
          if (op.id == OpId::NORMALIZE) {
            value = scalar::Normalize{static_cast<float>(op.f[c]), static_cast<float>(op.f[4 + c])}(value);
          } else if (op.id == OpId::ERASE && erases(op, y, x)) {
            value = static_cast<float>(op.f[c]);
          }
        }
        write_all(value, target, target.at(y, x, c));
      }
    }
  }
}

}  // namespace

void execute_reference(Program program, const View& source, const Target& target) {
  const Shape in{source.height, source.width, source.channels};
  const Shape out = validate(program, in, source.dtype);
  const bool stored = gives_floats(program, source.dtype);
  check_target(target, out, stored);
  if (source.dtype != DType::kUint8) return reference_of_floats(program, source, out, target);
  Image image = filled(in, [&](int y, int x, int c) { return *source.at(y, x, c); });
  const Op* normalize = nullptr;
  const Op* first = nullptr;
  for (const Op& op : program) {
    if (kind_of(op.id) != OpKind::kStore) {
      image = apply(std::move(image), op);
    } else if (op.id == OpId::NORMALIZE) {
      normalize = &op;
    } else if (begins_store(op.id)) {
      first = &op;
    } else if (op.id != OpId::ERASE) {
      fail_on("execute_reference", op.id);
    }
  }
  const bool pillow_la = target.channels == 4 && out.channels == 2;
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      for (int c = 0; c < target.channels; ++c) {
        uint8_t* const to = target.at(y, x, c);
        const uint8_t sample = image.at(y, x, pillow_la ? c / 3 : c);
        if (!stored) {
          *to = sample;
          continue;
        }
        const float mean = normalize == nullptr ? 0.0f : static_cast<float>(normalize->f[c]);
        const float std = normalize == nullptr ? 1.0f : static_cast<float>(normalize->f[4 + c]);
        float value = stored_value(static_cast<float>(sample), normalize != nullptr, mean, std, multiplies(first->id),
                                   unit_of(*first));
        for (const Op& op : program) {
          if (op.id == OpId::ERASE && erases(op, y, x)) value = static_cast<float>(op.f[c]);
        }
        write_all(value, target, to);
      }
    }
  }
}

}  // namespace fastaug
