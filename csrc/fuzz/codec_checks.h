// The promises of codec/codec.h, checked on one file.
#pragma once

#include "codec/codec.h"

namespace fastaug::fuzz {

// Header, whole image, a region and decode_into agree, write where they may and hold no more memory than the file
// announces and could fill. What is not decoded natively passes.
void check_file(codec::Bytes file, codec::Format format, codec::Bytes tables = {});

// Only what can be said of a header.
void check_header(const codec::Header& header);

}  // namespace fastaug::fuzz
