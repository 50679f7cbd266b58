// The whole of a chain's rows, in scratch memory: what lies between two parts of a plan.
#pragma once

#include "execute/reduction.h"
#include "execute/stages/stages.h"

namespace fastaug {

// Planes, one after the other within each row; or pixels of four bytes, for ops that walk in any direction.
enum class Layout { kPlanar, kInterleaved };

// Pulls every row of the chain's region and adds it to `reduction`, if there is one.
View materialise(Context& context, Stage* chain, Layout layout, Reduction* reduction = nullptr);

// The same, turned by 90 degrees, as planes.
View materialise_turned(Context& context, Stage* chain, bool counter_clockwise);

}  // namespace fastaug
