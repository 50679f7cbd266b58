// Interleaved samples to planes and back by byte permutations (VBMI): a part of convert.cc, inside its namespace, for
// that one instruction set. No include guard: it is included once.
//
// A block is 64 pixels: a vector of every plane, and as many vectors of pixels as a pixel has bytes.

constexpr int kBlock = 64;

using ByteIndex = std::array<uint8_t, kBlock>;

// An index of a permutation of two vectors: byte j of the result is byte at(j) of the 128.
template <class At>
constexpr ByteIndex index_of(At at) {
  ByteIndex index{};
  for (int j = 0; j < kBlock; ++j) index[j] = static_cast<uint8_t>(at(j));
  return index;
}

HWY_INLINE __m512i chosen(__m512i low, const ByteIndex& index, __m512i high) {
  return _mm512_permutex2var_epi8(low, _mm512_load_si512(index.data()), high);
}

// Which bytes of a vector lie before `left`.
HWY_INLINE __mmask64 bytes_before(ptrdiff_t left) {
  return _bzhi_u64(~uint64_t{0}, static_cast<uint32_t>(std::clamp<ptrdiff_t>(left, 0, kBlock)));
}

// For pixels of two bytes: the samples of channel c in 128 bytes.
template <int c>
alignas(64) constexpr ByteIndex kEverySecond = index_of([](int j) { return 2 * j + c; });

// For pixels of four bytes: those of channel c in 128 bytes, and then those of channel c + 1.
template <int c>
alignas(64) constexpr ByteIndex kTwoOfFour = index_of([](int j) { return 4 * (j % 32) + c + j / 32; });

// For pixels of three bytes: those of channel c in the first 128 bytes, then what is missing from the other 64.
template <int c>
alignas(64) constexpr ByteIndex kThirdBegun = index_of([](int j) { return (3 * j + c) % 128; });
template <int c>
alignas(64) constexpr ByteIndex kThirdEnded = index_of([](int j) { return 3 * j + c < 128 ? j : 3 * j + c - 64; });

template <int kStride>
HWY_INLINE void split_block(const __m512i (&pixels)[kStride], __m512i (&planes)[kStride]) {
  if constexpr (kStride == 2) {
    planes[0] = chosen(pixels[0], kEverySecond<0>, pixels[1]);
    planes[1] = chosen(pixels[0], kEverySecond<1>, pixels[1]);
  }
  if constexpr (kStride == 3) {
    planes[0] = chosen(chosen(pixels[0], kThirdBegun<0>, pixels[1]), kThirdEnded<0>, pixels[2]);
    planes[1] = chosen(chosen(pixels[0], kThirdBegun<1>, pixels[1]), kThirdEnded<1>, pixels[2]);
    planes[2] = chosen(chosen(pixels[0], kThirdBegun<2>, pixels[1]), kThirdEnded<2>, pixels[2]);
  }
  if constexpr (kStride == 4) {
    const __m512i low01 = chosen(pixels[0], kTwoOfFour<0>, pixels[1]);
    const __m512i high01 = chosen(pixels[2], kTwoOfFour<0>, pixels[3]);
    const __m512i low23 = chosen(pixels[0], kTwoOfFour<2>, pixels[1]);
    const __m512i high23 = chosen(pixels[2], kTwoOfFour<2>, pixels[3]);
    planes[0] = _mm512_shuffle_i64x2(low01, high01, 0x44);
    planes[1] = _mm512_shuffle_i64x2(low01, high01, 0xee);
    planes[2] = _mm512_shuffle_i64x2(low23, high23, 0x44);
    planes[3] = _mm512_shuffle_i64x2(low23, high23, 0xee);
  }
}

// The block ends with the first `size` bytes of what would be whole vectors: what follows is not loaded, nor is the
// line in which it lies brought into a cache.
template <int kStride>
HWY_INLINE void split_some(const uint8_t* foreign, ptrdiff_t size, int channels, uint8_t* const* dst, int x) {
  __m512i pixels[kStride], planes[kStride];
  HWY_UNROLL(4)
  for (int k = 0; k < kStride; ++k) {
    const ptrdiff_t left = size - kBlock * k;
    pixels[k] = left > 0 ? _mm512_maskz_loadu_epi8(bytes_before(left), foreign + kBlock * k) : _mm512_setzero_si512();
  }
  split_block<kStride>(pixels, planes);
  HWY_UNROLL(4)
  for (int c = 0; c < kStride; ++c)
    if (c < channels) _mm512_storeu_si512(dst[c] + x, planes[c]);
}

template <int kStride>
void split(const uint8_t* foreign, int channels, int width, uint8_t* const* dst) {
  // The image may end behind the channels of its last pixel.
  const int missing = kStride - channels;
  if (width < kBlock) return split_some<kStride>(foreign, ptrdiff_t{width} * kStride - missing, channels, dst, 0);
  const int whole = missing > 0 ? width - 1 : width;
  int x = 0;
  for (; x + kBlock <= whole; x += kBlock) {
    __m512i pixels[kStride], planes[kStride];
    HWY_UNROLL(4)
    for (int k = 0; k < kStride; ++k) pixels[k] = _mm512_loadu_si512(foreign + ptrdiff_t{x} * kStride + kBlock * k);
    split_block<kStride>(pixels, planes);
    HWY_UNROLL(4)
    for (int c = 0; c < kStride; ++c)
      if (c < channels) _mm512_storeu_si512(dst[c] + x, planes[c]);
  }
  if (x == width) return;
  // The last block overlaps the one before it.
  x = width - kBlock;
  split_some<kStride>(foreign + ptrdiff_t{x} * kStride, kBlock * kStride - missing, channels, dst, x);
}

// Samples of two planes in turn, from 32 * half on.
template <int half>
alignas(64) constexpr ByteIndex kInTurn = index_of([](int j) { return 32 * half + j / 2 + 64 * (j % 2); });

// Pairs of samples of two vectors in turn, from pair 16 * half on.
template <int half>
alignas(64) constexpr ByteIndex kPairsInTurn = index_of([](int j) {
  return 32 * half + j / 4 * 2 + j % 2 + 64 * (j / 2 % 2);
});

// The k-th vector of pixels of three bytes: the samples of two planes, then those of the third between them.
template <int k>
alignas(64) constexpr ByteIndex kTwoOfThree = index_of([](int j) {
  return (64 * k + j) / 3 + 64 * ((64 * k + j) % 3 == 1);
});
template <int k>
alignas(64) constexpr ByteIndex kLastOfThree = index_of([](int j) {
  return (64 * k + j) % 3 == 2 ? 64 + (64 * k + j) / 3 : j;
});

template <int kStride>
HWY_INLINE void join_block(const __m512i (&planes)[kStride], __m512i (&pixels)[kStride]) {
  if constexpr (kStride == 3) {
    pixels[0] = chosen(chosen(planes[0], kTwoOfThree<0>, planes[1]), kLastOfThree<0>, planes[2]);
    pixels[1] = chosen(chosen(planes[0], kTwoOfThree<1>, planes[1]), kLastOfThree<1>, planes[2]);
    pixels[2] = chosen(chosen(planes[0], kTwoOfThree<2>, planes[1]), kLastOfThree<2>, planes[2]);
    return;
  }
  const __m512i low01 = chosen(planes[0], kInTurn<0>, planes[1]);
  const __m512i high01 = chosen(planes[0], kInTurn<1>, planes[1]);
  if constexpr (kStride == 2) {
    pixels[0] = low01;
    pixels[1] = high01;
  }
  if constexpr (kStride == 4) {
    const __m512i low23 = chosen(planes[2], kInTurn<0>, planes[3]);
    const __m512i high23 = chosen(planes[2], kInTurn<1>, planes[3]);
    pixels[0] = chosen(low01, kPairsInTurn<0>, low23);
    pixels[1] = chosen(low01, kPairsInTurn<1>, low23);
    pixels[2] = chosen(high01, kPairsInTurn<0>, high23);
    pixels[3] = chosen(high01, kPairsInTurn<1>, high23);
  }
}

template <int kStride>
void join(const uint8_t* const* src, int channels, int width, uint8_t* foreign) {
  ptrdiff_t left = ptrdiff_t{width} * kStride;
  for (int x = 0; x < width; x += kBlock, foreign += kBlock * kStride, left -= kBlock * kStride) {
    __m512i planes[kStride], pixels[kStride];
    HWY_UNROLL(4)
    for (int c = 0; c < kStride; ++c) planes[c] = c < channels ? _mm512_loadu_si512(src[c] + x) : _mm512_set1_epi8(-1);
    join_block<kStride>(planes, pixels);
    HWY_UNROLL(4)
    for (int k = 0; k < kStride; ++k) {
      uint8_t* to = foreign + kBlock * k;
      if (left >= kBlock * kStride) {
        _mm512_storeu_si512(to, pixels[k]);
      } else {
        _mm512_mask_storeu_epi8(to, bytes_before(left - kBlock * k), pixels[k]);
      }
    }
  }
}

// Blocks of outputs whose samples lie within two vectors, or four. Loads end within kRowPad bytes after the row, since
// two vectors begin at a sample of it, at the latest; and what is written after a block is written again.
void take(const TakeTable& table, const uint8_t* src, uint8_t* dst) {
  static_assert(TakeTable::kPlaces == kBlock && TakeTable::kWindow == 4 * kBlock && kRowPad >= 2 * kBlock);
  if (table.block == 0) return fastaug::kernels("scalar")->take(table, src, dst);
  for (size_t k = 0; k < table.first.size(); ++k, dst += table.block) {
    const uint8_t* from = src + table.first[k];
    const __m512i place = _mm512_loadu_si512(table.place.data() + k * kBlock);
    const auto pair = [&](int at) HWY_ATTR {
      return _mm512_permutex2var_epi8(_mm512_loadu_si512(from + at), place, _mm512_loadu_si512(from + at + kBlock));
    };
    __m512i samples = pair(0);
    if (table.spread[k] >= 2 * kBlock) {
      samples = _mm512_mask_mov_epi8(samples, _mm512_movepi8_mask(place), pair(2 * kBlock));
    }
    _mm512_storeu_si512(dst, samples);
  }
}
