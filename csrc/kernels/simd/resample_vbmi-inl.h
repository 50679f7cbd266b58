// Resampling by byte permutations (VBMI) and dot products of bytes and of 16-bit numbers (VNNI): a part of resample.cc,
// inside its namespace, for that one instruction set. No include guard: it is included once.

// ---- Rows ----

enum class Wide { kTwo, kThreeDigits, kTwoDigits };

// Four vectors of int32 to samples. The blocks of 4 of vectors that share a window come out in a row, those of others
// in the order of `order`.
template <bool kShared>
HWY_INLINE __m512i packed(const __m512i* sums) {
  const __m512i samples = narrow(Sum{sums[0]}, Sum{sums[1]}, Sum{sums[2]}, Sum{sums[3]}).raw;
  if constexpr (kShared) return samples;
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(order, samples);
}

// The sum that digits make, shifted; the lowest has half a unit of the result.
template <int kDigits>
HWY_INLINE __m512i joined(const __m512i* digit, __m128i bits) {
  __m512i high = digit[1];
  if constexpr (kDigits == 3) high = _mm512_add_epi32(high, _mm512_slli_epi32(digit[2], 8));
  return _mm512_sra_epi32(_mm512_add_epi32(digit[0], _mm512_slli_epi32(high, 8)), bits);
}

template <Wide kHow, bool kLong, bool kShared, int kChannels>
void wide_row(const RowTable& table, const uint8_t* data, const uint8_t* const* src, uint8_t* const* dst) {
  constexpr int kDigits = kHow == Wide::kThreeDigits ? 3 : 2;
  const int groups = kHow == Wide::kTwo ? 1 : table.groups;
  const int32_t* base = table.base.data();
  const __m512i half = _mm512_set1_epi32(1 << (table.bits - 1));
  const __m512i zero = _mm512_setzero_si512();
  const __m512i four = _mm512_set1_epi8(4);
  const __m128i bits = _mm_cvtsi32_si128(table.bits);
  for (int x = 0; x < table.out; x += 64, base += 4) {
    __m512i sum[kChannels][4];
    __m512i first[kChannels], second[kChannels];
    HWY_UNROLL(4)
    for (int v = 0; v < 4; ++v) {
      if (!kShared || v == 0) {
        for (int c = 0; c < kChannels; ++c) {
          first[c] = _mm512_loadu_si512(src[c] + base[v]);
          if constexpr (kLong) second[c] = _mm512_loadu_si512(src[c] + base[v] + 64);
        }
      }
      __m512i lookup = _mm512_loadu_si512(data);
      data += 64;
      const auto fetch = [&](int c) HWY_ATTR {
        if constexpr (kLong) return _mm512_permutex2var_epi8(first[c], lookup, second[c]);
        return _mm512_permutexvar_epi8(lookup, first[c]);
      };
      if constexpr (kHow == Wide::kTwo) {
        const __m512i high_weights = _mm512_loadu_si512(data);
        const __m512i low_weights = _mm512_loadu_si512(data + 64);
        data += 128;
        for (int c = 0; c < kChannels; ++c) {
          // The odd bytes hold some sample, where the upper half of a 16-bit number has to be zero.
          const __m512i taps = _mm512_maskz_mov_epi8(0x5555555555555555, fetch(c));
          const __m512i high = _mm512_dpwssd_epi32(zero, taps, high_weights);
          const __m512i low = _mm512_dpwssd_epi32(half, taps, low_weights);
          sum[c][v] = _mm512_srli_epi32(_mm512_add_epi32(_mm512_slli_epi32(high, kLowBits), low), kWeightBits);
        }
      } else {
        __m512i digit[kChannels][3];
        for (int c = 0; c < kChannels; ++c) {
          digit[c][0] = half;
          digit[c][1] = digit[c][2] = zero;
        }
        for (int g = 0; g < groups; ++g, data += 64 * kDigits) {
          for (int c = 0; c < kChannels; ++c) {
            const __m512i taps = fetch(c);
            for (int d = 0; d < kDigits; ++d)
              digit[c][d] = _mm512_dpbusd_epi32(digit[c][d], taps, _mm512_loadu_si512(data + 64 * d));
          }
          lookup = _mm512_add_epi8(lookup, four);
        }
        for (int c = 0; c < kChannels; ++c) sum[c][v] = joined<kDigits>(digit[c], bits);
      }
    }
    for (int c = 0; c < kChannels; ++c) _mm512_storeu_si512(dst[c] + x, packed<kShared>(sum[c]));
  }
}

template <Wide kHow, int kChannels>
void wide_row_of(const RowTable& table, const Layout& layout, const uint8_t* const* src, uint8_t* const* dst) {
  const uint8_t* data = table.data.data() + layout.offset;
  switch (layout.pairs) {
    case 0:
      return wide_row<kHow, false, false, kChannels>(table, data, src, dst);
    case Layout::kLong:
      return wide_row<kHow, true, false, kChannels>(table, data, src, dst);
    case Layout::kShared:
      return wide_row<kHow, false, true, kChannels>(table, data, src, dst);
    default:
      return wide_row<kHow, true, true, kChannels>(table, data, src, dst);
  }
}

template <Wide kHow>
void wide_rows(const RowTable& table, const Layout& layout, const uint8_t* const* src, uint8_t* const* dst,
               int channels) {
  // Planes side by side share what is loaded of the table.
  if (channels == 4) return wide_row_of<kHow, 4>(table, layout, src, dst);
  if (channels == 3) return wide_row_of<kHow, 3>(table, layout, src, dst);
  for (int c = 0; c < channels; ++c) wide_row_of<kHow, 1>(table, layout, src + c, dst + c);
}

// ---- Columns ----

// Two rows whose weights add up to one. False where it is not that, or a tie may come about in a difference that is
// below zero.
//
// The result is a + floor((w * (b - a) + half) / one), w the weight of b: a sample and a function of the difference, of
// which there are 256 values. It is odd where w * |b - a| is never an odd multiple of half: that has 21 trailing zeros,
// of which the difference has 7 at most. For w = half it is the mean, rounded up.
bool mix_two(const uint8_t* const* rows, const int32_t* weights, int taps, int bits, int width, uint8_t* dst) {
  if (taps != 2 || bits != kWeightBits || weights[0] < 0 || weights[1] < 0) return false;
  if (weights[0] + weights[1] != 1 << kWeightBits) return false;
  const uint8_t* a = rows[0];
  const uint8_t* b = rows[1];
  const int32_t weight = weights[1];
  if (weight == kHalf) {
    for (int x = 0; x < width; x += 64) {
      const __m512i mean = _mm512_avg_epu8(_mm512_loadu_si512(a + x), _mm512_loadu_si512(b + x));
      _mm512_storeu_si512(dst + x, mean);
    }
    return true;
  }
  if (weight % (1 << 14) == 0) return false;
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512i step = _mm512_set1_epi32(16 * weight);
  __m512i product = _mm512_add_epi32(_mm512_mullo_epi32(lane, _mm512_set1_epi32(weight)), _mm512_set1_epi32(kHalf));
  __m512i moves[4];
  HWY_UNROLL(4)
  for (__m512i& part : moves) {
    __m512i quarter[4];
    HWY_UNROLL(4)
    for (__m512i& some : quarter) {
      some = _mm512_srli_epi32(product, kWeightBits);
      product = _mm512_add_epi32(product, step);
    }
    part = packed<false>(quarter);
  }
  for (int x = 0; x < width; x += 64) {
    const __m512i from = _mm512_loadu_si512(a + x);
    const __m512i to = _mm512_loadu_si512(b + x);
    const __m512i most = _mm512_max_epu8(from, to);
    const __m512i difference = _mm512_sub_epi8(most, _mm512_min_epu8(from, to));
    const __m512i move = looked_up(moves, difference);
    const __m512i up = _mm512_add_epi8(from, move);
    const __mmask64 down = _mm512_cmpneq_epi8_mask(most, to);
    _mm512_storeu_si512(dst + x, _mm512_mask_sub_epi8(up, down, from, move));
  }
  return true;
}

template <int kDigits>
void digit_columns(const uint8_t* const* rows, const __m512i (*weights)[3], int groups, int bits, int width,
                   uint8_t* dst) {
  const __m512i half = _mm512_set1_epi32(1 << (bits - 1));
  const __m512i zero = _mm512_setzero_si512();
  const __m128i shift = _mm_cvtsi32_si128(bits);
  for (int x = 0; x < width; x += 64) {
    __m512i digit[4][3];
    HWY_UNROLL(4)
    for (auto& part : digit) {
      part[0] = half;
      part[1] = part[2] = zero;
    }
    for (int g = 0; g < groups; ++g) {
      const __m512i r0 = _mm512_loadu_si512(rows[4 * g] + x);
      const __m512i r1 = _mm512_loadu_si512(rows[4 * g + 1] + x);
      const __m512i r2 = _mm512_loadu_si512(rows[4 * g + 2] + x);
      const __m512i r3 = _mm512_loadu_si512(rows[4 * g + 3] + x);
      const __m512i low01 = _mm512_unpacklo_epi8(r0, r1), high01 = _mm512_unpackhi_epi8(r0, r1);
      const __m512i low23 = _mm512_unpacklo_epi8(r2, r3), high23 = _mm512_unpackhi_epi8(r2, r3);
      const __m512i taps[4] = {_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
                               _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)};
      HWY_UNROLL(4)
      for (int k = 0; k < 4; ++k)
        for (int d = 0; d < kDigits; ++d) digit[k][d] = _mm512_dpbusd_epi32(digit[k][d], taps[k], weights[g][d]);
    }
    __m512i sums[4];
    HWY_UNROLL(4)
    for (int k = 0; k < 4; ++k) sums[k] = joined<kDigits>(digit[k], shift);
    _mm512_storeu_si512(dst + x, packed<true>(sums));
  }
}

// False for taps that are too many, or weights that are no digits.
bool digit_column(const uint8_t* const* rows, const int32_t* weights, int taps, int bits, int width, uint8_t* dst) {
  constexpr int kGroups = 16;
  const int digits = Digits::count(bits);
  if (taps > 4 * kGroups) return false;
  __m512i spread[kGroups][3];
  const uint8_t* grouped[4 * kGroups];
  const int groups = (taps + 3) / 4;
  for (int g = 0; g < groups; ++g) {
    alignas(4) int8_t word[3][4] = {};
    for (int t = 0; t < 4; ++t) {
      const int tap = std::min(4 * g + t, taps - 1);
      grouped[4 * g + t] = rows[tap];
      if (4 * g + t >= taps) continue;
      if (!Digits::fit(weights[tap], digits)) return false;
      const Digits split(weights[tap]);
      for (int d = 0; d < digits; ++d) word[d][t] = split.digits[d];
    }
    for (int d = 0; d < digits; ++d) {
      int32_t whole;
      std::memcpy(&whole, word[d], 4);
      spread[g][d] = _mm512_set1_epi32(whole);
    }
  }
  if (digits == 2) digit_columns<2>(grouped, spread, groups, bits, width, dst);
  if (digits == 3) digit_columns<3>(grouped, spread, groups, bits, width, dst);
  return true;
}
