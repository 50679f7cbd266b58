// Programs that end in ops on samples alone, between images that lie alike, or in luma: samples go straight from the
// source to the target.
#pragma once

#include "execute/stages/stages.h"

namespace fastaug {

// Does the `count` ops from `ops` on; recolours_straight() or grays_straight() holds for them. The other arguments as
// for run_tables().
void recolour(Context& context, const View& source, const Step* ops, const ChannelTables* const* reduced,
              const float* means, int count, bool vflip, const Target& target);

}  // namespace fastaug
