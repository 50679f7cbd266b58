// The table of codecs: every row is whole, and bytes go to the row whose magic they begin with, or to nobody.
#include <doctest/doctest.h>

#include <string>

#include "codec/source.h"
#include "codec/table.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/npy_file.h"
#include "tests/support/png_file.h"
#include "tests/support/webp_file.h"

namespace fastaug::codec {
namespace {

Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

bool begins(std::string_view text, std::string_view magic) { return text.substr(0, magic.size()) == magic; }

}  // namespace

TEST_CASE("codec table: every row is whole") {
  int format = 0;
  for (const Codec* codec : codecs()) {
    REQUIRE(codec != nullptr);
    CHECK(static_cast<int>(codec->format) == ++format);
    CHECK(codec_of(codec->format) == codec);
    CHECK(codec->name != nullptr);
    CHECK(std::string(name_of(codec->format)) == codec->name);
    CHECK_FALSE(codec->magic.empty());
    CHECK((codec->read_header != nullptr));
    CHECK((codec->decoded_region != nullptr));
    CHECK((codec->decode != nullptr));
    CHECK((codec->decode_into != nullptr));
  }
  CHECK(codec_of(Format::kOther) == nullptr);
  CHECK(std::string(name_of(Format::kOther)) == "image");
}

TEST_CASE("codec table: a magic is one row's alone") {
  for (const Codec* codec : codecs()) {
    CAPTURE(codec->name);
    CHECK(sniff(bytes_of(codec->magic)) == codec->format);
    CHECK(read_header(bytes_of(codec->magic)).format == codec->format);
    CHECK_FALSE(read_header(bytes_of(codec->magic)).native);
    CHECK(sniff(bytes_of(codec->magic.substr(0, codec->magic.size() - 1))) == Format::kOther);
    for (const Codec* other : codecs()) CHECK(begins(codec->magic, other->magic) == (codec == other));
  }
}

TEST_CASE("codec table: unknown bytes are nobody's") {
  for (const std::string_view text : {std::string_view(), std::string_view("GIF89a"), std::string_view("RIFF0000WAVE"),
                                      std::string_view("\0\0\0\0", 4), std::string_view("\xff\xd8")}) {
    const Header header = read_header(bytes_of(text));
    CHECK(header.format == Format::kOther);
    CHECK_FALSE(header.native);
    CHECK(afford(bytes_of(text)).done());
    Arena arena;
    CHECK(decode(bytes_of(text), header, {{0, 0, 1, 1}, 3}, arena).verdict.outcome == Outcome::kDeferred);
    CHECK(decode_into(bytes_of(text), header, Target(), arena).outcome == Outcome::kDeferred);
    CHECK(decode_16(bytes_of(text), header, {0, 0, 1, 1}, arena).verdict.outcome == Outcome::kDeferred);
  }
  // A header that nobody's bytes have is not taken for one of some format.
  Header odd;
  odd.native = true;
  odd.height = odd.width = 9;
  odd.channels = 3;
  Arena arena;
  CHECK(decode({}, odd, {{0, 0, 1, 1}, 3}, arena).verdict.outcome == Outcome::kDeferred);
  CHECK(decoded_region(odd, {1, 2, 3, 4}) == Region{0, 0, 9, 9});
}

TEST_CASE("codec table: what a format cannot do is refused by name") {
  const std::vector<uint8_t> jpeg = test::write_jpeg(20, 30, test::JpegOptions());
  test::Random random(1);
  const std::string png = test::PngFile(20, 30, 3, 8, random).bytes();
  const std::string npy = test::npy_file({20, 30, 3}, random);
  const std::string webp = test::LosslessWebp(20, 30, false, random).bytes();
  const Bytes files[] = {{jpeg.data(), jpeg.size()}, bytes_of(png), bytes_of(npy), bytes_of(webp)};
  for (const Bytes bytes : files) {
    const Header header = read_header(bytes);
    if (header.format == Format::kWebp && std::string(webp_decoder()) == "Pillow") continue;
    REQUIRE(header.native);
    CAPTURE(name_of(header.format));
    Arena arena;
    CHECK(decode(bytes, header, {{0, 0, 20, 30}, 3}, arena).verdict.done());
    const Decoded scaled = decode(bytes, header, {{0, 0, 10, 15}, 3, 2}, arena);
    CHECK(scaled.verdict.outcome == Outcome::kDeferred);
    CHECK(std::string(scaled.verdict.reason).find("scale") != std::string::npos);
    EncodedSource source(bytes, header, 3, {});
    CHECK_THROWS_AS(source.make({0, 0, 10, 15}, arena, 2), NotDecoded);
    Header deep = header;
    deep.bits = 16;
    if (codec_of(header.format)->decode_16 == nullptr) {
      const Verdict verdict = decode_16(bytes, deep, {0, 0, 20, 30}, arena).verdict;
      CHECK(verdict.outcome == Outcome::kDeferred);
      CHECK(std::string(verdict.reason).find("16 bits") != std::string::npos);
    }
  }
}

}  // namespace fastaug::codec
