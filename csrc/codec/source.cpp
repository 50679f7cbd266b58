#include "codec/source.h"

#include <string>
#include <utility>

namespace fastaug::codec {

EncodedSource::EncodedSource(Bytes bytes, const Header& header, int channels, const Beside& beside,
                             std::shared_ptr<ScanIndex> index)
    : bytes_(bytes), header_(header), channels_(channels), beside_(beside), index_(std::move(index)) {
  if (!header.native) fail(ErrorCode::kValue, "these bytes are not decoded natively");
  if (!converts(header, channels)) {
    std::string allowed;
    for (int one = 1; one <= kMaxChannels; ++one) {
      if (converts(header, one)) allowed += (allowed.empty() ? "" : " or ") + std::to_string(one);
    }
    fail(ErrorCode::kValue, "channels must be " + allowed + ", got " + std::to_string(channels));
  }
}

View EncodedSource::layout() const {
  const ptrdiff_t stride = pixel_stride(header_, channels_);
  return {nullptr, header_.height, header_.width, channels_, stride * header_.width, stride, 1};
}

View EncodedSource::make(Region wanted, Arena& arena, int scale) {
  Beside beside = beside_;
  const bool part = wanted.height < header_.height || wanted.width < header_.width;
  if (index_ != nullptr && part && takes_index(header_) && index_->is_of(bytes_)) beside.index = index_.get();
  const Decoded decoded = decode(bytes_, header_, {wanted, channels_, scale}, arena, beside);
  if (!decoded.verdict.done()) throw NotDecoded(decoded.verdict);
  return decoded.view;
}

void EncodedSource::make_all(const Target& target, Arena& arena) {
  const Verdict verdict = decode_into(bytes_, header_, target, arena, beside_);
  if (!verdict.done()) throw NotDecoded(verdict);
}

}  // namespace fastaug::codec
