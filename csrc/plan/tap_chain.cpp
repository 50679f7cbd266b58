#include "plan/tap_chain.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "pixel/index_table.h"

namespace fastaug {
namespace {

// A step of a run on one axis. Steps that leave the axis alone are left out.
struct AxisStep {
  enum Kind : int { kFilter, kNearest, kPad, kShift, kReverse };
  Kind kind;
  int in;
  int out;
  int what;    // the filter, the rule, the mode
  int offset;  // kShift: of output 0 in the input; kPad: samples before it
};

AxisStep axis_step(const Op& op, bool row, Shape in) {
  const Shape after = shape_after(op, in);
  const int k = row ? 1 : 0;
  AxisStep step{AxisStep::kFilter, row ? in.width : in.height, row ? after.width : after.height, 0, 0};
  switch (op.id) {
    case OpId::RESIZE:
    case OpId::TORCH_RESIZE:
      step.what = op.flags & kFilterMask;
      break;
    case OpId::NEAREST:
      step.kind = AxisStep::kNearest;
      step.what = op.flags;
      break;
    case OpId::PAD:
      step.kind = AxisStep::kPad;
      step.what = op.flags;
      step.offset = op.i[row ? 0 : 1];
      break;
    case OpId::WINDOW:
      step.kind = AxisStep::kShift;
      step.offset = op.i[k];
      break;
    case OpId::HFLIP:
    case OpId::VFLIP:
      step.kind = (op.id == OpId::HFLIP) == row ? AxisStep::kReverse : AxisStep::kShift;
      break;
    default:
      fail_on("axis_step", op.id);
  }
  return step;
}

bool is_identity(const AxisStep& step) {
  return step.in == step.out && step.kind != AxisStep::kReverse && step.offset == 0;
}

std::vector<AxisStep> axis_steps(std::span<const Step> ops, bool row, Shape in) {
  std::vector<AxisStep> steps;
  for (const Op& op : ops) {
    const AxisStep step = axis_step(op, row, in);
    if (!is_identity(step)) steps.push_back(step);
    in = shape_after(op, in);
  }
  return steps;
}

// A sparse matrix: row k has `count` weights from column `first`, at weight[at].
struct Matrix {
  struct Row {
    int first;
    int count;
    size_t at;
  };
  std::vector<Row> rows;
  std::vector<double> weight;
};

Matrix identity(int begin, int out) {
  Matrix matrix;
  matrix.rows.resize(static_cast<size_t>(out));
  for (int k = 0; k < out; ++k) matrix.rows[static_cast<size_t>(k)] = {begin + k, 1, static_cast<size_t>(k)};
  matrix.weight.assign(static_cast<size_t>(out), 1.0);
  return matrix;
}

// The taps as a matrix.
Matrix of_taps(const Taps& taps) {
  const double unit = 1.0 / (1 << taps.bits);
  Matrix matrix;
  matrix.rows.reserve(static_cast<size_t>(taps.out));
  matrix.weight.resize(taps.weight.size());
  for (size_t k = 0; k < taps.weight.size(); ++k) matrix.weight[k] = unit * taps.weight[k];
  for (int k = 0; k < taps.out; ++k) {
    matrix.rows.push_back({taps.first[static_cast<size_t>(k)], taps.count[static_cast<size_t>(k)],
                           static_cast<size_t>(k) * static_cast<size_t>(taps.stride)});
  }
  return matrix;
}

// matrix * taps, where taps are of outputs from `low` of the step.
Matrix times_taps(const Matrix& matrix, const Taps& taps, int low) {
  const double unit = 1.0 / (1 << taps.bits);
  Matrix product;
  product.rows.reserve(matrix.rows.size());
  size_t size = 0;
  for (const Matrix::Row& row : matrix.rows) {
    int first = taps.first[static_cast<size_t>(row.first - low)];
    int end = 0;
    for (int j = row.first - low; j < row.first - low + row.count; ++j) {
      first = std::min(first, taps.first[static_cast<size_t>(j)]);
      end = std::max(end, taps.first[static_cast<size_t>(j)] + taps.count[static_cast<size_t>(j)]);
    }
    product.rows.push_back({first, end - first, size});
    size += static_cast<size_t>(end - first);
  }
  product.weight.resize(size);
  const Matrix::Row* to_row = product.rows.data();
  for (const Matrix::Row& row : matrix.rows) {
    double* to = product.weight.data() + to_row->at;
    const double* factor = matrix.weight.data() + row.at;
    for (int j = 0; j < row.count; ++j) {
      const int k = row.first - low + j;
      const double weight = factor[j] * unit;
      double* out = to + (taps.first[static_cast<size_t>(k)] - to_row->first);
      const int32_t* from = taps.weights(k);
      const int count = taps.count[static_cast<size_t>(k)];
      for (int t = 0; t < count; ++t) out[t] += weight * from[t];
    }
    ++to_row;
  }
  return product;
}

Matrix times_filter(const Matrix& matrix, const AxisStep& step) {
  int low = step.out;
  int high = 0;
  for (const Matrix::Row& row : matrix.rows) {
    low = std::min(low, row.first);
    high = std::max(high, row.first + row.count);
  }
  return times_taps(matrix, make_taps(static_cast<Filter>(step.what), step.in, step.out, low, high - low), low);
}

// A step that moves all samples by the same distance, none of them out of the input: false where that is not so.
bool shift_inside(Matrix* matrix, const AxisStep& step) {
  for (const Matrix::Row& row : matrix->rows) {
    if (row.first + step.offset < 0 || row.first + row.count + step.offset > step.in) return false;
  }
  for (Matrix::Row& row : matrix->rows) row.first += step.offset;
  return true;
}

// matrix * a step that only chooses samples: index(k) is the input sample of output k. One outside the input is
// zero.
template <class Index>
Matrix times_choice(const Matrix& matrix, int in, const Index& index) {
  Matrix product;
  product.rows.reserve(matrix.rows.size());
  product.weight.reserve(matrix.weight.size());
  for (const Matrix::Row& row : matrix.rows) {
    int first = in;
    int end = 0;
    for (int k = row.first; k < row.first + row.count; ++k) {
      const int from = index(k);
      if (from < 0 || from >= in) continue;
      first = std::min(first, from);
      end = std::max(end, from + 1);
    }
    const size_t at = product.weight.size();
    if (first >= end) {
      first = std::clamp(index(row.first), 0, in - 1);
      end = first + 1;
    }
    product.weight.resize(at + static_cast<size_t>(end - first));
    product.rows.push_back({first, end - first, at});
    for (int j = 0; j < row.count; ++j) {
      const int from = index(row.first + j);
      if (from < 0 || from >= in) continue;
      product.weight[at + static_cast<size_t>(from - first)] += matrix.weight[row.at + static_cast<size_t>(j)];
    }
  }
  return product;
}

Matrix times_index(const Matrix& matrix, int in, const std::vector<int32_t>& index) {
  return times_choice(matrix, in, [&](int k) { return index[static_cast<size_t>(k)]; });
}

Matrix times(Matrix matrix, const AxisStep& step) {
  if (step.kind == AxisStep::kShift && shift_inside(&matrix, step)) return matrix;
  switch (step.kind) {
    case AxisStep::kFilter:
      return times_filter(matrix, step);
    case AxisStep::kReverse:
      return times_choice(matrix, step.in, [&](int k) { return step.in - 1 - k; });
    case AxisStep::kShift:
      return times_choice(matrix, step.in, [&](int k) { return k + step.offset; });
    case AxisStep::kPad:
      return times_index(
          matrix, step.in,
          pad_index(static_cast<PadMode>(step.what), step.in, step.offset, step.out - step.in - step.offset));
    case AxisStep::kNearest:
      return times_index(matrix, step.in, nearest_index(static_cast<NearestRule>(step.what), step.in, step.out));
  }
  return matrix;
}

// The most that each end of a row of the matrix loses to the next weight: it moves a result by less
// than 255 * 2^-16 = 0.004 at both ends together.
constexpr double kTrim = 0x1p-17;

void trim(Matrix* matrix) {
  for (Matrix::Row& row : matrix->rows) {
    double* weight = matrix->weight.data() + row.at;
    double dropped = 0.0;
    for (double size = 0.0; row.count > 1 && (size += std::fabs(weight[row.count - 1])) <= kTrim; --row.count) {
      dropped += weight[row.count - 1];
    }
    weight[row.count - 1] += dropped;
    dropped = 0.0;
    int lead = 0;
    for (double size = 0.0; lead + 1 < row.count && (size += std::fabs(weight[lead])) <= kTrim; ++lead) {
      dropped += weight[lead];
    }
    weight[lead] += dropped;
    row = {row.first + lead, row.count - lead, row.at + static_cast<size_t>(lead)};
  }
}

// Weights as short integers, as fine as the largest allows. What rounding takes from one weight the next one gets, so
// that sums are kept, and the error of n taps is at most (n - 1) / 2 units times the contrast: of a triangle of n taps,
// whose peak is 2 / n, less than 255 * 2^-14 = 0.016. Sums of 255 times weights stay below 2^31.
Taps round(const Matrix& matrix) {
  constexpr int kMostBits = 20;
  constexpr int64_t kAbove = int64_t{1} << 30;
  Taps taps;
  taps.out = static_cast<int>(matrix.rows.size());
  double largest = 0.0;
  for (const Matrix::Row& row : matrix.rows) {
    taps.stride = std::max(taps.stride, row.count);
    for (int t = 0; t < row.count; ++t) {
      largest = std::max(largest, std::fabs(matrix.weight[row.at + static_cast<size_t>(t)]));
    }
  }
  taps.bits = kMostBits;
  while (std::ldexp(largest, taps.bits) > 32766.0) --taps.bits;
  taps.first.reserve(matrix.rows.size());
  taps.count.reserve(matrix.rows.size());
  taps.weight.resize(matrix.rows.size() * static_cast<size_t>(taps.stride));
  const double unit = std::ldexp(1.0, taps.bits);
  int32_t* to = taps.weight.data();
  for (const Matrix::Row& row : matrix.rows) {
    taps.first.push_back(row.first);
    taps.count.push_back(row.count);
    double wanted = 0.0;
    int32_t given = 0;
    for (int t = 0; t < row.count; ++t) {
      wanted += matrix.weight[row.at + static_cast<size_t>(t)] * unit;
      // Rounded down after half a unit: a conversion truncates, and this makes it positive.
      const auto upto = static_cast<int32_t>(static_cast<int64_t>(wanted + (kAbove + 0.5)) - kAbove);
      to[t] = upto - given;
      given = upto;
    }
    to += taps.stride;
  }
  return taps;
}

// An axis of a run so far: how many samples of its input reach one output, and lie between two of them.
struct Reach {
  double in;  // size of the run's input
  double taps = 1.0;
  double step = 1.0;

  void add(const AxisStep& next) {
    const double scale = static_cast<double>(next.in) / next.out;
    if (next.kind == AxisStep::kFilter) taps += (filter_taps(next) - 1.0) * step;
    if (next.kind == AxisStep::kFilter || next.kind == AxisStep::kNearest) step *= scale;
    taps = std::min(taps, in);
  }
  static double filter_taps(const AxisStep& step) {
    if (is_identity(step)) return 1.0;
    const double shrinks = std::max(static_cast<double>(step.in) / step.out, 1.0);
    return std::min(2.0 * filter_radius(step.what) * shrinks, 1.0 * step.in);
  }
};

// Cost of the two passes, in multiplications: a sample of a column costs as much as a tap and a half beside its taps,
// one of a row as three.
double column_cost(double taps) { return taps + 1.5; }
double row_cost(double taps) { return taps + 3.0; }
double height_first_cost(double rows, double columns, double in_columns, double v_taps, double h_taps) {
  return rows * in_columns * column_cost(v_taps) + rows * columns * row_cost(h_taps);
}
double width_first_cost(double rows, double columns, double in_rows, double v_taps, double h_taps) {
  return in_rows * columns * row_cost(h_taps) + rows * columns * column_cost(v_taps);
}

}  // namespace

bool is_separable(const Op& op, Shape in) {
  if (!has(op.id, Trait::kSeparable)) return false;
  if (op.id == OpId::RESIZE || op.id == OpId::TORCH_RESIZE) {
    // Products do not commute with clipping: where weights are negative, sums leave the range of bytes, and Pillow
    // clips them after each pass.
    if (filter_radius(op.flags & kFilterMask) > 1.0) return false;
    // torch has floats between its passes, and composed ones bytes, whose rounding shows where nothing averages it.
    return op.id == OpId::RESIZE || (op.i[0] <= in.height && op.i[1] <= in.width);
  }
  if (op.id != OpId::WINDOW || is_window_inside(op, in)) return true;
  return std::all_of(op.fill, op.fill + kMaxChannels, [](int v) { return v == 0; });
}

size_t separable_end(const OpList& ops, size_t begin, Shape in) {
  // Rows upside down cost nothing at the start of a part, but would make a composed filter keep all of its input.
  if (begin >= ops.size() || ops[begin].id == OpId::VFLIP) return begin;
  size_t best = begin;
  bool resizes = false;
  double apart = 0.0;
  Reach down{1.0 * in.height};
  Reach across{1.0 * in.width};
  for (size_t k = begin; k < ops.size() && is_separable(ops[k], in); ++k) {
    const Shape out = shape_after(ops[k], in);
    const AxisStep vertical = axis_step(ops[k], false, in);
    const AxisStep horizontal = axis_step(ops[k], true, in);
    down.add(vertical);
    across.add(horizontal);
    if (ops[k].id == OpId::RESIZE || ops[k].id == OpId::TORCH_RESIZE) {
      resizes = true;
      // Weights of Pillow and torch's floats cost twice as much, and a step cannot choose its order.
      const double rows = Reach::filter_taps(vertical);
      const double columns = Reach::filter_taps(horizontal);
      const double each = has_short_weights(ops[k].flags & kFilterMask) ? 1.0 : 2.0;
      apart += each * std::min(width_first_cost(out.height, out.width, in.height, rows, columns),
                               height_first_cost(out.height, out.width, in.width, rows, columns));
    } else if (ops[k].id == OpId::NEAREST || ops[k].id == OpId::PAD) {
      apart += 2.0 * out.height * out.width;
    }
    const double in_rows = std::min(down.in, out.height * down.step + down.taps);
    const double in_columns = std::min(across.in, out.width * across.step + across.taps);
    const double together = std::min(width_first_cost(out.height, out.width, in_rows, down.taps, across.taps),
                                     height_first_cost(out.height, out.width, in_columns, down.taps, across.taps));
    if (resizes && k > begin && together <= apart) best = k + 1;
    in = out;
  }
  return best;
}

std::shared_ptr<const AxisTable> composed_axis_table(const Kernels& kernels, bool row, std::span<const Step> ops,
                                                     Shape in, int begin, int out) {
  thread_local TableCache<std::vector<int>> cache;
  const std::vector<AxisStep> steps = axis_steps(ops, row, in);
  std::vector<int> key = {row ? 1 : 0, begin, out};
  for (const AxisStep& step : steps) key.insert(key.end(), {step.kind, step.in, step.out, step.what, step.offset});
  return cache.get(kernels, key, [&] {
    size_t k = steps.size();
    const bool filtered = k > 0 && steps[k - 1].kind == AxisStep::kFilter;
    if (filtered) --k;
    Matrix matrix = filtered
                        ? of_taps(make_taps(static_cast<Filter>(steps[k].what), steps[k].in, steps[k].out, begin, out))
                        : identity(begin, out);
    while (k-- > 0) matrix = times(std::move(matrix), steps[k]);
    trim(&matrix);
    return make_axis_table(kernels, row, round(matrix));
  });
}

bool composed_height_first(const AxisTable& vertical, const AxisTable& horizontal) {
  const double rows = vertical.taps.out;
  const double columns = horizontal.taps.out;
  const double v_taps = vertical.taps.stride;
  const double h_taps = horizontal.taps.stride;
  return height_first_cost(rows, columns, horizontal.source_end - horizontal.source_begin, v_taps, h_taps) <=
         width_first_cost(rows, columns, vertical.source_end - vertical.source_begin, v_taps, h_taps);
}

}  // namespace fastaug
