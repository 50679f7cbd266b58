// NumPy's .npy: the samples lie in the file as they are wanted, and are not copied. Of a file that is mapped into
// memory only the pages that a program looks at are read.
#include "codec/convert.h"
#include "codec/npy_header.h"
#include "codec/table.h"

namespace fastaug::codec::npy {
namespace {

constexpr Verdict kChanged = {Outcome::kDeferred, "not the file of this header", Verdict::kNowhere};

bool same(const Header& a, const Header& b) {
  return a.height == b.height && a.width == b.width && a.channels == b.channels;
}

ptrdiff_t row_size(const Header& header) { return ptrdiff_t{header.width} * header.channels; }

Header read_header(Bytes bytes) { return parse(bytes).header; }

// Pillow does not read such files: there is no fallback.
Verdict afford(Bytes bytes) {
  const Parsed parsed = parse(bytes);
  return parsed.done() ? Verdict() : Verdict{Outcome::kRefused, parsed.reason, Verdict::kNowhere};
}

// parse() declines an incomplete file.
size_t image_end(Bytes bytes) {
  const Parsed parsed = parse(bytes);
  if (!parsed.done()) return kNoEnd;
  return parsed.pixels_from + static_cast<size_t>(row_size(parsed.header) * parsed.header.height);
}

Decoded decode(Bytes bytes, const Header& header, const Wanted& wants, Arena& arena, const Beside&) {
  const Region wanted = wants.region;
  const int channels = wants.channels;
  if (!converts(header, channels)) return {kNoConversion, {}, {}};
  const Parsed parsed = parse(bytes);
  if (!parsed.done() || !same(parsed.header, header)) return {kChanged, {}, {}};
  const ptrdiff_t row = row_size(header);
  const uint8_t* rows = bytes.data + parsed.pixels_from + row * wanted.y;
  if (kept(header, channels)) {
    const ptrdiff_t pixel = header.channels;
    return {{}, view_of(header, rows + wanted.x * pixel, wanted, channels, row, pixel, 1), wanted};
  }
  const ptrdiff_t stride = ptrdiff_t{wanted.width} * channels;
  uint8_t* converted = arena.bytes(static_cast<size_t>(stride) * static_cast<size_t>(wanted.height));
  const Converter converter(header, nullptr, channels, channels, wanted.width, arena);
  for (int y = 0; y < wanted.height; ++y) converter.row(rows + row * y, wanted.x, converted + stride * y);
  return {{}, view_of(header, converted, wanted, channels, stride, channels, 1), wanted};
}

Verdict decode_into(Bytes bytes, const Header& header, const Target& target, Arena& arena, const Beside&) {
  if (!converts(header, target.channels)) return kNoConversion;
  const Parsed parsed = parse(bytes);
  if (!parsed.done() || !same(parsed.header, header)) return kChanged;
  const ptrdiff_t row = row_size(header);
  const uint8_t* pixels = bytes.data + parsed.pixels_from;
  auto* data = static_cast<uint8_t*>(target.data);
  const Converter converter(header, nullptr, target.channels, target.pixel_stride, header.width, arena);
  for (int y = 0; y < header.height; ++y) converter.row(pixels + row * y, 0, data + target.row_stride * y);
  return {};
}

Region decoded_region(const Header&, Region wanted) { return wanted; }

}  // namespace

constinit const Codec kCodec = {
    .format = Format::kNpy,
    .name = "NPY",
    .magic = "\x93NUMPY",
    .read_header = read_header,
    .afford = afford,
    .image_end = image_end,
    .decoded_region = decoded_region,
    .pixel_stride = kept_stride,
    .decode = decode,
    .decode_into = decode_into,
    .decode_16 = nullptr,
};

}  // namespace fastaug::codec::npy
