#include "pixel/table.h"

namespace fastaug {
namespace {

template <class Map>
void map_samples(uint8_t* table, Map map) {
  for (int v = 0; v < 256; ++v) table[v] = map(static_cast<uint8_t>(v));
}

void fill(OpTag<OpId::INVERT>, const Op&, uint8_t* table) { map_samples(table, inverted); }

void fill(OpTag<OpId::POSTERIZE>, const Op& op, uint8_t* table) {
  map_samples(table, [mask = posterize_mask(op.i[0])](uint8_t v) { return posterized(v, mask); });
}

void fill(OpTag<OpId::SOLARIZE>, const Op& op, uint8_t* table) {
  map_samples(table, [threshold = solarize_threshold(op.f[0])](uint8_t v) { return solarized(v, threshold); });
}

void fill(OpTag<OpId::GAMMA>, const Op& op, uint8_t* table) { gamma_table(op.f[0], op.f[1], table); }

void fill(OpTag<OpId::TORCH_GAMMA>, const Op& op, uint8_t* table) {
  map_samples(table, [&](uint8_t v) { return TorchPower(op.f[0], v).entry(op.f[1]); });
}

// An op with the trait, but without a table above, does not compile.
template <OpId kId>
bool fill_if_plain(const Op& op, uint8_t* table) {
  constexpr bool kPlain = has(kId, Trait::kTable) && whole_input_of(kId) == WholeInput::kNo;
  if constexpr (kPlain) fill(OpTag<kId>(), op, table);
  return kPlain;
}

}  // namespace

void plain_table(const Op& op, uint8_t* table) {
  switch (op.id) {
#define FASTAUG_OP(name, ...)                         \
  case OpId::name:                                    \
    if (fill_if_plain<OpId::name>(op, table)) return; \
    break;
#include "program/ops.def"
#undef FASTAUG_OP
  }
  fail_on("plain_table", op.id);
}

}  // namespace fastaug
