// The decoder of sequential JPEGs of one scan, a row of MCUs at a time. It makes what libjpeg makes, or nothing.
#pragma once

#include "base/arena.h"
#include "codec/codec.h"
#include "codec/jpeg_rows.h"

namespace fastaug::codec::jpeg {

// False where the file is of another kind or the data before the end of the region leaves any doubt: what was written
// is then to be thrown away, and libjpeg is to be asked. True promises that libjpeg would have made the same of it.
bool run_sequential(Bytes bytes, const Beside& beside, const Part& part, Arena& arena);

}  // namespace fastaug::codec::jpeg
