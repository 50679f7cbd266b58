// The whole of a chain's rows, in scratch memory: what a barrier of the executor leaves behind.
#pragma once

#include "execute/reduction.h"
#include "execute/stages/stages.h"

namespace fastaug {

// Planes, one after the other within each row; or pixels of four bytes, for ops that walk in any direction.
enum class Layout { kPlanar, kInterleaved };

// Pulls every row of the chain's region and tells `reduction` of it, if there is one. A dry run only lays the view out.
View collect_rows(Context& context, Stage* chain, Layout layout, Reduction* reduction = nullptr, bool dry = false);

// The same, turned by 90 degrees.
View collect_turned(Context& context, Stage* chain, bool counter_clockwise, bool dry);

}  // namespace fastaug
