// Affine maps, one output row at a time.
#include "simd/table.h"

namespace fastaug {

void set_affine(Isa, Kernels* table) { scalar::fill_affine(table); }

}  // namespace fastaug
