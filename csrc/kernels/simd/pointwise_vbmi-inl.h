// Ops of pointwise that need no floats with VBMI and VNNI, on 64 samples at once. For pointwise.cc alone, inside its
// namespace.

constexpr int kVector = 64;

// Luma of 64 pixels: its weights in two digits to base 256, green's halved and counted twice, so that all are signed
// bytes.
HWY_INLINE __m512i luma_of(__m512i r, __m512i g, __m512i b) {
  const __m512i high = _mm512_set1_epi32(0x4b1d4b4d);  // 77, 75, 29, 75
  const __m512i low = _mm512_set1_epi32(0x232f238b);   // -117, 35, 47, 35
  const auto sum = [&](__m512i pixels) HWY_ATTR {
    const __m512i digits = _mm512_dpbusd_epi32(_mm512_set1_epi32(0x80), pixels, high);
    const __m512i luma = _mm512_dpbusd_epi32(_mm512_slli_epi32(digits, 8), pixels, low);
    return hn::Vec512<int32_t>{_mm512_srli_epi32(luma, 16)};
  };
  const __m512i rg_low = _mm512_unpacklo_epi8(r, g);
  const __m512i rg_high = _mm512_unpackhi_epi8(r, g);
  const __m512i bg_low = _mm512_unpacklo_epi8(b, g);
  const __m512i bg_high = _mm512_unpackhi_epi8(b, g);
  // Within blocks of 16 bytes, and so undone by narrow().
  const auto first = sum(_mm512_unpacklo_epi16(rg_low, bg_low));
  const auto second = sum(_mm512_unpackhi_epi16(rg_low, bg_low));
  const auto third = sum(_mm512_unpacklo_epi16(rg_high, bg_high));
  const auto fourth = sum(_mm512_unpackhi_epi16(rg_high, bg_high));
  return narrow(first, second, third, fourth).raw;
}

HWY_INLINE __m512i luma_at(const uint8_t* const* planes, int x) {
  return luma_of(_mm512_loadu_si512(planes[0] + x), _mm512_loadu_si512(planes[1] + x),
                 _mm512_loadu_si512(planes[2] + x));
}

// Blends of samples with degenerate ones by one factor: what is added to a sample, or taken from it, is a function of
// how far it is above the degenerate one, or below. A sample moves up on one side and down on the other.
struct BlendTables {
  float factor = 1.0f;
  bool exact = true;  // whether this is what blend() gives
  alignas(64) uint8_t up[256] = {};
  alignas(64) uint8_t down[256] = {};

  void set(float wanted) {
    factor = wanted;
    exact = true;
    for (int distance = 0; distance < 256; ++distance) {
      for (const int sign : {1, -1}) {
        const double product = static_cast<double>(factor * static_cast<float>(sign * distance));
        const double whole = std::floor(product);
        // The sum with the degenerate sample is rounded, too: by 2^-17 at most, as far as it is not clipped.
        exact = exact && product - whole < 1.0 - 0x1p-16;
        const double moved = std::clamp(whole - sign * distance, -255.0, 255.0);
        (goes_up(sign < 0) ? up : down)[distance] = static_cast<uint8_t>(std::fabs(moved));
      }
    }
  }

  // True if samples below, or above, the degenerate ones are moved up.
  bool goes_up(bool below) const { return below == (factor < 1.0f); }
};

// Rows of an image come one after the other, with the same factors: those of a few ops are kept. The reference holds
// until the next call.
const BlendTables& blend_tables(float factor) {
  constexpr int kKept = 4;
  thread_local BlendTables tables[kKept];
  thread_local int last = 0;
  for (int k = 0; k < kKept; ++k, last = (last + 1) % kKept) {
    if (tables[last].factor == factor) return tables[last];
  }
  last = (last + 1) % kKept;
  tables[last].set(factor);
  return tables[last];
}

void saturate(const BlendTables& tables, uint8_t* const* planes, int width) {
  const Table up(tables.up);
  const Table down(tables.down);
  const __mmask64 turned = tables.goes_up(true) ? ~uint64_t{0} : 0;
  for (int x = 0; x < width; x += kVector) {
    const __m512i luma = luma_at(planes, x);
    for (int c = 0; c < 3; ++c) {
      const __m512i v = _mm512_loadu_si512(planes[c] + x);
      const __m512i above = _mm512_subs_epu8(v, luma);
      const __m512i below = _mm512_subs_epu8(luma, v);
      const __m512i distance = _mm512_or_si512(above, below);
      const __mmask64 falls = _mm512_test_epi8_mask(below, below) ^ turned;
      const __m512i risen = _mm512_adds_epu8(v, up.of(distance));
      _mm512_storeu_si512(planes[c] + x, _mm512_mask_subs_epu8(risen, falls, v, down.of(distance)));
    }
  }
}

// True if an op needs no floats. Where blends come close to the next integer they do.
bool goes_in_bytes(const Op& op) {
  if (op.id == OpId::SATURATION) return blend_tables(static_cast<float>(op.f[0])).exact;
  return op.id == OpId::LUMA || op.id == OpId::REPLICATE;
}

void in_bytes(const Op& op, uint8_t* const* planes, int width) {
  if (op.id == OpId::SATURATION) {
    saturate(blend_tables(static_cast<float>(op.f[0])), planes, width);
  } else if (op.id == OpId::LUMA) {
    for (int x = 0; x < width; x += kVector) _mm512_storeu_si512(planes[0] + x, luma_at(planes, x));
  } else {
    for (int c = 1; c < op.i[0]; ++c) std::memcpy(planes[c], planes[0], static_cast<size_t>(width));
  }
}

void pointwise(const Op* ops, const float* means, int count, int channels, uint8_t* const* planes, int width) {
  for (int begin = 0, end = 0; begin < count; begin = ++end) {
    while (end < count && !goes_in_bytes(ops[end])) ++end;
    through_floats(ops + begin, means + begin, end - begin, channels, planes, width);
    if (end < count) in_bytes(ops[end], planes, width);
    for (; begin < count && begin <= end; ++begin) channels = channels_after(ops[begin], channels);
  }
}

uint64_t luma_sum(const uint8_t* const* planes, int channels, int width) {
  __m512i sum = _mm512_setzero_si512();
  for (int x = 0; x < width; x += kVector) {
    const __m512i v = channels < 3 ? _mm512_loadu_si512(planes[0] + x) : luma_at(planes, x);
    const __mmask64 wanted = width - x < kVector ? (uint64_t{1} << (width - x)) - 1 : ~uint64_t{0};
    sum = _mm512_add_epi64(sum, _mm512_sad_epu8(_mm512_maskz_mov_epi8(wanted, v), _mm512_setzero_si512()));
  }
  return static_cast<uint64_t>(_mm512_reduce_add_epi64(sum));
}
