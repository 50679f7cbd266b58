// Resampling by byte permutations (VBMI) and dot products of bytes and of 16-bit numbers (VNNI): a part of resample.cc,
// inside its namespace, for that one instruction set. No include guard: it is included once.

// ---- Rows ----

enum class Wide { kThreeDigits, kTwoDigits };

// The blocks of 4 of four vectors that share a window come out in a row, those of others as narrow() gives them.
template <bool kShared>
HWY_INLINE __m512i ordered(__m512i samples) {
  return kShared ? samples : in_row(hn::Vec512<uint8_t>{samples}).raw;
}

// Four vectors of int32 to samples.
template <bool kShared>
HWY_INLINE __m512i packed(const __m512i* sums) {
  return ordered<kShared>(narrow(Sum{sums[0]}, Sum{sums[1]}, Sum{sums[2]}, Sum{sums[3]}).raw);
}

// The same of sums that are still to be shifted by `bits` - 16: they fit 16 bits unless the sample is clipped, and the
// high half of a product shifts where no shift has to wait for another.
template <bool kShared>
HWY_INLINE __m512i packed_high(const __m512i* sums, __m512i power) {
  const __m512i low = _mm512_mulhi_epi16(_mm512_packs_epi32(sums[0], sums[1]), power);
  const __m512i high = _mm512_mulhi_epi16(_mm512_packs_epi32(sums[2], sums[3]), power);
  return ordered<kShared>(_mm512_packus_epi16(low, high));
}

// A sum of products is taken digit by digit, from the lowest on: what it has above the lowest digit is exactly the sum
// shifted by 8, rounded down, and the products with the next digit are added to that.
HWY_INLINE __m512i above(__m512i sum) { return _mm512_srai_epi32(sum, 8); }

// The rests of the sums of several groups of taps, one for each digit.
template <int kDigits>
HWY_INLINE __m512i joined(const __m512i* digit) {
  __m512i all = _mm512_add_epi32(above(digit[0]), digit[1]);
  if constexpr (kDigits == 3) all = _mm512_add_epi32(above(all), digit[2]);
  return all;
}

// The samples of four vectors of such sums.
template <int kDigits, bool kShared>
HWY_INLINE __m512i rounded_down(const __m512i* sums, __m128i bits, __m512i power) {
  if constexpr (kDigits == 3) return packed_high<kShared>(sums, power);
  __m512i shifted[4];
  HWY_UNROLL(4)
  for (int v = 0; v < 4; ++v) shifted[v] = _mm512_sra_epi32(sums[v], bits);
  return packed<kShared>(shifted);
}

// Three digits are those of weights of kWeightBits.
constexpr int kAboveDigits = kWeightBits - 16;

// The first kGroups groups of taps, or with 0 as many as there are: the loop over those costs about as much as the
// products.
template <Wide kHow, int kGroups, int kWindow, int kChannels>
void wide_row(const RowTable& table, const uint8_t* data, const uint8_t* const* src, uint8_t* const* dst) {
  constexpr int kDigits = kHow == Wide::kThreeDigits ? 3 : 2;
  constexpr bool kShared = (kWindow & Layout::kShared) != 0;
  constexpr bool kLong = (kWindow & Layout::kLong) != 0;
  const int32_t* base = table.base.data();
  const __m512i half = _mm512_set1_epi32(1 << (table.bits - 1));
  const __m512i power = _mm512_set1_epi16(1 << (16 - kAboveDigits));
  const __m128i bits = _mm_cvtsi32_si128(table.bits - 8 * (kDigits - 1));
  const __m512i four = _mm512_set1_epi8(4);
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
      const auto fetch = [&](int c, __m512i at) HWY_ATTR {
        if constexpr (kLong) return _mm512_permutex2var_epi8(first[c], at, second[c]);
        return _mm512_permutexvar_epi8(at, first[c]);
      };
      if constexpr (kGroups > 0) {
        __m512i lookups[kGroups];
        HWY_UNROLL(3)
        for (__m512i& one : lookups) {
          one = lookup;
          lookup = _mm512_add_epi8(lookup, four);
        }
        // Each is loaded once: as operands in memory, of which a compiler thinks well, they would be loaded for every
        // plane, and the loads would take longer than the products.
        __m512i weights[kGroups][kDigits];
        HWY_UNROLL(3)
        for (auto& group : weights) {
          HWY_UNROLL(3)
          for (__m512i& digit : group) {
            digit = _mm512_loadu_si512(data);
            asm("" : "+v"(digit));
            data += 64;
          }
        }
        __m512i taps[kGroups][kChannels];
        for (int g = 0; g < kGroups; ++g)
          for (int c = 0; c < kChannels; ++c) taps[g][c] = fetch(c, lookups[g]);
        for (int c = 0; c < kChannels; ++c) sum[c][v] = half;
        // The planes in turn: a processor does not look far ahead for what need not wait for the product before.
        for (int d = 0; d < kDigits; ++d) {
          for (int c = 0; d > 0 && c < kChannels; ++c) sum[c][v] = above(sum[c][v]);
          for (int g = 0; g < kGroups; ++g)
            for (int c = 0; c < kChannels; ++c) sum[c][v] = _mm512_dpbusd_epi32(sum[c][v], taps[g][c], weights[g][d]);
        }
      } else {
        __m512i digit[kChannels][3];
        for (int c = 0; c < kChannels; ++c) {
          digit[c][0] = half;
          digit[c][1] = digit[c][2] = _mm512_setzero_si512();
        }
        for (int g = 0; g < table.groups; ++g, data += 64 * kDigits) {
          for (int c = 0; c < kChannels; ++c) {
            const __m512i taps = fetch(c, lookup);
            for (int d = 0; d < kDigits; ++d)
              digit[c][d] = _mm512_dpbusd_epi32(digit[c][d], taps, _mm512_loadu_si512(data + 64 * d));
          }
          lookup = _mm512_add_epi8(lookup, four);
        }
        for (int c = 0; c < kChannels; ++c) sum[c][v] = joined<kDigits>(digit[c]);
      }
    }
    for (int c = 0; c < kChannels; ++c) {
      _mm512_storeu_si512(dst[c] + x, rounded_down<kDigits, kShared>(sum[c], bits, power));
    }
  }
}

template <Wide kHow, int kChannels>
void wide_row_of(const RowTable& table, const Layout& layout, const uint8_t* const* src, uint8_t* const* dst) {
  const uint8_t* data = table.data.data() + layout.offset;
  constexpr int kShared = Layout::kShared, kLong = Layout::kLong;
  if (layout.pairs == kShared) return wide_row<kHow, 1, kShared, kChannels>(table, data, src, dst);
  if (layout.pairs == (kShared | kLong)) return wide_row<kHow, 1, kShared | kLong, kChannels>(table, data, src, dst);
  if (table.groups == 1) return wide_row<kHow, 1, kLong, kChannels>(table, data, src, dst);
  if (table.groups == 2) return wide_row<kHow, 2, kLong, kChannels>(table, data, src, dst);
  if (table.groups == 3) return wide_row<kHow, 3, kLong, kChannels>(table, data, src, dst);
  wide_row<kHow, 0, kLong, kChannels>(table, data, src, dst);
}

template <Wide kHow>
void wide_rows(const RowTable& table, const Layout& layout, const uint8_t* const* src, uint8_t* const* dst,
               int channels) {
  // Planes side by side share what is loaded of the table.
  if (channels == 4) return wide_row_of<kHow, 4>(table, layout, src, dst);
  if (channels == 3) return wide_row_of<kHow, 3>(table, layout, src, dst);
  for (int c = 0; c < channels; ++c) wide_row_of<kHow, 1>(table, layout, src + c, dst + c);
}

// The sums of the 16 outputs of 8 vectors, in their order.
HWY_INLINE __m512i sums_of(const __m512i* vectors) {
  __m512i lanes[2];  // four outputs in each block, and the rest of their sums in the block after or before it
  HWY_UNROLL(2)
  for (int k = 0; k < 2; ++k) {
    const auto added = [](__m512i a, __m512i b) HWY_ATTR {
      return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    };
    const __m512i* v = vectors + 4 * k;
    lanes[k] = added(added(v[0], v[2]), added(v[1], v[3]));
  }
  return _mm512_add_epi32(_mm512_shuffle_i32x4(lanes[0], lanes[1], 0x88),
                          _mm512_shuffle_i32x4(lanes[0], lanes[1], 0xdd));
}

// kGroups of 32 taps, or with 0 as many as there are.
template <int kDigits, int kGroups>
void digit_dots(const RowTable& table, const Layout& layout, const uint8_t* const* src, uint8_t* const* dst,
                int channels) {
  const int groups = kGroups > 0 ? kGroups : table.groups;
  const ptrdiff_t stride = ptrdiff_t{64} * kDigits * groups;
  const uint8_t* data = table.data.data() + layout.offset;
  const int32_t* base = table.base.data();
  const __m512i half = _mm512_set1_epi32(1 << (table.bits - 1));
  const __m128i bits = _mm_cvtsi32_si128(table.bits);
  for (int x = 0; x < table.out; x += 16, base += 16, data += 8 * stride) {
    for (int c = 0; c < channels; ++c) {
      __m512i vectors[8];
      HWY_UNROLL(8)
      for (int k = 0; k < 8; ++k) {
        const uint8_t* low = src[c] + base[2 * k];
        const uint8_t* high = src[c] + base[2 * k + 1];
        const uint8_t* weights = data + k * stride;
        __m512i digit[3] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
        for (int g = 0; g < groups; ++g, low += 32, high += 32) {
          const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(low));
          const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(high));
          const __m512i samples = _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
          HWY_UNROLL(3)
          for (int d = 0; d < kDigits; ++d, weights += 64) {
            digit[d] = _mm512_dpbusd_epi32(digit[d], samples, _mm512_loadu_si512(weights));
          }
        }
        __m512i all = _mm512_add_epi32(digit[0], _mm512_slli_epi32(digit[1], 8));
        if constexpr (kDigits == 3) all = _mm512_add_epi32(all, _mm512_slli_epi32(digit[2], 16));
        vectors[k] = all;
      }
      const __m512i sums = _mm512_sra_epi32(_mm512_add_epi32(sums_of(vectors), half), bits);
      const __m128i samples = _mm512_cvtusepi32_epi8(_mm512_max_epi32(sums, _mm512_setzero_si512()));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(dst[c] + x), samples);
    }
  }
}

template <int kDigits>
void digit_dots_of(const RowTable& table, const Layout& layout, const uint8_t* const* src, uint8_t* const* dst,
                   int channels) {
  if (table.groups == 1) return digit_dots<kDigits, 1>(table, layout, src, dst, channels);
  digit_dots<kDigits, 0>(table, layout, src, dst, channels);
}

// ---- Columns ----

// Four taps of 64 columns, as dot products take them.
HWY_INLINE void zip_taps(const uint8_t* const* rows, int x, __m512i (&taps)[4]) {
  const __m512i r0 = _mm512_loadu_si512(rows[0] + x);
  const __m512i r1 = _mm512_loadu_si512(rows[1] + x);
  const __m512i r2 = _mm512_loadu_si512(rows[2] + x);
  const __m512i r3 = _mm512_loadu_si512(rows[3] + x);
  const __m512i low01 = _mm512_unpacklo_epi8(r0, r1), high01 = _mm512_unpackhi_epi8(r0, r1);
  const __m512i low23 = _mm512_unpacklo_epi8(r2, r3), high23 = _mm512_unpackhi_epi8(r2, r3);
  taps[0] = _mm512_unpacklo_epi16(low01, low23);
  taps[1] = _mm512_unpackhi_epi16(low01, low23);
  taps[2] = _mm512_unpacklo_epi16(high01, high23);
  taps[3] = _mm512_unpackhi_epi16(high01, high23);
}

// kGroups as of wide_row.
template <int kDigits, int kGroups>
void digit_columns(const uint8_t* const* rows, const __m512i (*weights)[3], int groups, int bits, int width,
                   uint8_t* dst) {
  const __m512i half = _mm512_set1_epi32(1 << (bits - 1));
  const __m512i power = _mm512_set1_epi16(1 << (16 - kAboveDigits));
  const __m128i shift = _mm_cvtsi32_si128(bits - 8 * (kDigits - 1));
  for (int x = 0; x < width; x += 64) {
    __m512i sums[4];
    if constexpr (kGroups > 0) {
      __m512i taps[kGroups][4];
      HWY_UNROLL(3)
      for (int g = 0; g < kGroups; ++g) zip_taps(rows + 4 * g, x, taps[g]);
      HWY_UNROLL(4)
      for (int k = 0; k < 4; ++k) {
        sums[k] = half;
        HWY_UNROLL(3)
        for (int d = 0; d < kDigits; ++d) {
          if (d > 0) sums[k] = above(sums[k]);
          HWY_UNROLL(3)
          for (int g = 0; g < kGroups; ++g) sums[k] = _mm512_dpbusd_epi32(sums[k], taps[g][k], weights[g][d]);
        }
      }
    } else {
      __m512i digit[4][3];
      HWY_UNROLL(4)
      for (auto& part : digit) {
        part[0] = half;
        part[1] = part[2] = _mm512_setzero_si512();
      }
      for (int g = 0; g < groups; ++g) {
        __m512i taps[4];
        zip_taps(rows + 4 * g, x, taps);
        HWY_UNROLL(4)
        for (int k = 0; k < 4; ++k)
          for (int d = 0; d < kDigits; ++d) digit[k][d] = _mm512_dpbusd_epi32(digit[k][d], taps[k], weights[g][d]);
      }
      HWY_UNROLL(4)
      for (int k = 0; k < 4; ++k) sums[k] = joined<kDigits>(digit[k]);
    }
    _mm512_storeu_si512(dst + x, rounded_down<kDigits, true>(sums, shift, power));
  }
}

template <int kDigits>
void digit_columns_of(const uint8_t* const* rows, const __m512i (*weights)[3], int groups, int bits, int width,
                      uint8_t* dst) {
  if (groups == 1) return digit_columns<kDigits, 1>(rows, weights, groups, bits, width, dst);
  if (groups == 2) return digit_columns<kDigits, 2>(rows, weights, groups, bits, width, dst);
  if (groups == 3) return digit_columns<kDigits, 3>(rows, weights, groups, bits, width, dst);
  digit_columns<kDigits, 0>(rows, weights, groups, bits, width, dst);
}

// False for taps that are too many, or weights that are no digits.
bool digit_column(const uint8_t* const* rows, const int32_t* weights, int taps, int bits, int width, uint8_t* dst) {
  constexpr int kGroups = 16;
  const int digits = Digits::count(bits);
  if (taps > 4 * kGroups) return false;
  __m512i spread[kGroups][3];
  const uint8_t* grouped[4 * kGroups];
  const int groups = (taps + 3) / 4;
  const __m128i round = _mm_set1_epi32(128);
  for (int g = 0; g < groups; ++g) {
    const int left = taps - 4 * g;
    for (int t = 0; t < 4; ++t) grouped[4 * g + t] = rows[4 * g + std::min(t, left - 1)];
    __m128i rest = _mm_maskz_loadu_epi32(static_cast<__mmask8>(_bzhi_u32(15, left)), weights + 4 * g);
    // The lowest byte, with its sign, is a digit.
    for (int d = 0; d < digits; ++d) {
      spread[g][d] = _mm512_broadcastd_epi32(_mm_cvtepi32_epi8(rest));
      rest = _mm_srai_epi32(_mm_add_epi32(rest, round), 8);
    }
    if (!_mm_testz_si128(rest, rest)) return false;
  }
  if (digits == 2) digit_columns_of<2>(grouped, spread, groups, bits, width, dst);
  if (digits == 3) digit_columns_of<3>(grouped, spread, groups, bits, width, dst);
  return true;
}
