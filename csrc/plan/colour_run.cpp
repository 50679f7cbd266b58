#include "plan/colour_run.h"

#include <algorithm>

namespace fastaug {
namespace {

bool is_table(const Op& op) { return has(op.id, Trait::kTable); }
bool is_per_sample(const Op& op) { return has(op.id, Trait::kPerSample); }
bool is_cheap(const Op& op) { return has(op.id, Trait::kCheap); }

// The cost of ops[0] to ops[count - 1], all is_per_sample(), as single stages. `left` and `right`: pointwise ops
// that are not surround them, which convert samples anyway.
int cost_of_stages(const Step* ops, int count, bool left, bool right, const ColourCosts& costs) {
  int cost = 0;
  for (int begin = 0, end = 0; begin < count; begin = end) {
    const bool tables = is_table(ops[begin]);
    while (end < count && is_table(ops[end]) == tables) ++end;
    if (!tables) {
      const bool converted = (begin == 0 && left) || (end == count && right);
      cost += (end - begin) * costs.floats + (converted ? 0 : costs.conversion);
    } else {
      cost += goes_one_by_one(ops + begin, end - begin, costs) ? (end - begin) * costs.cheap : costs.lookup;
    }
  }
  return cost;
}

// How many ops from ops[0] on, with float ops among them, should be one table; 0 if none.
int composable(const Step* ops, int count, int64_t samples, bool left, const ColourCosts& costs) {
  const auto end = std::find_if_not(ops, ops + count, is_per_sample);
  const int size = static_cast<int>(end - ops);
  const auto is_float = [](const Op& op) { return !is_table(op); };
  const auto floats = std::count_if(ops, end, is_float);
  if (floats == 0) return 0;
  const bool right = size < count;
  // A table in the middle of a run of float ops makes two runs of it.
  const int split = left && right && floats == size ? costs.conversion : 0;
  const int64_t table = (costs.lookup + split) * samples + int64_t{costs.lookup} * 256 * size;
  return table < cost_of_stages(ops, size, left, right, costs) * samples ? size : 0;
}

}  // namespace

bool goes_one_by_one(const Step* ops, int count, const ColourCosts& costs) {
  return count * costs.cheap < costs.lookup && std::all_of(ops, ops + count, is_cheap);
}

bool recolours_straight(const Step* ops, int count, const View& source, uint32_t rewrites, const ColourCosts& costs) {
  if (!std::all_of(ops, ops + count, is_per_sample)) return false;
  const bool composes = (rewrites & kComposeTables) != 0 && (rewrites & kFloatColour) == 0;
  if (!composes && !std::all_of(ops, ops + count, is_table)) return false;
  if (source.pixel_stride == 1 || costs.apart) return true;
  // One by one, cheap ops are quicker than the one table that all of them are.
  if (count > 1 && goes_one_by_one(ops, count, costs)) return false;
  const auto differs = [](const Op& op) {
    const WholeInput numbers = whole_input_of(op.id);
    return numbers == WholeInput::kExtremes || numbers == WholeInput::kHistogram;
  };
  const auto spares_alpha = [](const Op& op) { return (op.flags & kHasAlpha) != 0 && has(op.id, Trait::kAlphaFlag); };
  const auto sparing = std::count_if(ops, ops + count, spares_alpha);
  return std::none_of(ops, ops + count, differs) && (sparing == 0 || sparing == count);
}

bool grays_straight(const Step* ops, int count, const View& source, const Target& target) {
  if (ops[0].id != OpId::LUMA || source.pixel_stride != 4 || source.channel_stride != 1) return false;
  if (count == 1) return target.pixel_stride == 1;
  const bool thrice = count == 2 && ops[1].id == OpId::REPLICATE && target.channels == 3;
  return thrice && target.pixel_stride == 4 && target.channel_stride == 1 && target.fill_gaps;
}

ColourRun colour_run(const Step* ops, int count, int64_t samples, uint32_t rewrites, const ColourCosts& costs) {
  int end = 1;
  while (end < count && kind_of(ops[end].id) == OpKind::kPointwise) ++end;
  const bool floats = (rewrites & kFloatColour) != 0;
  const bool compose = (rewrites & kComposeTables) != 0 && !floats;
  if (compose) {
    const int composed = composable(ops, end, samples, false, costs);
    if (composed != 0) return {composed, true};
  }
  const bool tables = is_table(ops[0]);
  int last = 1;
  for (; last < end && is_table(ops[last]) == tables; ++last) {
    if (floats && has(ops[last].id, Trait::kFloatForm) != has(ops[0].id, Trait::kFloatForm)) break;
    const bool enters = is_per_sample(ops[last]) && !is_per_sample(ops[last - 1]);
    if (compose && enters && composable(ops + last, end - last, samples, true, costs) != 0) break;
  }
  return {last, tables};
}

}  // namespace fastaug
