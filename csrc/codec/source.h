// Encoded bytes as a source of a program: only what the program needs of them is decoded.
#pragma once

#include <memory>

#include "base/pixel_source.h"
#include "base/status.h"
#include "codec/codec.h"
#include "codec/scan_index.h"

namespace fastaug::codec {

// A verdict other than kDone.
class NotDecoded final : public Error {
 public:
  explicit NotDecoded(const Verdict& verdict) : Error(ErrorCode::kRuntime, verdict.reason), verdict_(verdict) {}
  const Verdict& verdict() const { return verdict_; }

 private:
  Verdict verdict_;
};

class EncodedSource final : public PixelSource {
 public:
  // The bytes stay the caller's, and must stay. Throws Error when the header is not native or the channels cannot be
  // had. The index may be null, or of other bytes.
  EncodedSource(Bytes bytes, const Header& header, int channels, const Beside& beside,
                std::shared_ptr<ScanIndex> index = nullptr);

  View layout() const override;
  View make(Region wanted, Arena& arena, int scale = 1) override;
  void make_all(const Target& target, Arena& arena) override;
  Region made(Region wanted) const override { return decoded_region(header_, wanted); }
  int64_t bytes() const override { return static_cast<int64_t>(bytes_.size); }
  const char* name() const override { return name_of(header_.format); }

 private:
  Bytes bytes_;
  Header header_;
  int channels_;
  Beside beside_;
  std::shared_ptr<ScanIndex> index_;
};

}  // namespace fastaug::codec
