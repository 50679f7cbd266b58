"""Every tolerance above zero that the suite uses, with its reason. Comparisons without an entry are bit for bit."""

from __future__ import annotations

# Float tensors follow torch's own tensor arithmetic, whose sums are grouped differently in other torch builds and
# instruction sets; for values in [0, 1], and in proportion to the largest value where Normalize or a fill goes beyond.
FLOAT_TENSOR = 1e-5

# Fast mode rounds to bytes once, from sums that an instruction set may group differently: a sample that lies next to a
# half can round the other way. In levels of 0 to 255.
FAST_ISA_LEVELS = 1.0

# Its colour is in 16 bits on vectors and in float32 in plain code. A sample that rounds the other way before a
# contrast, which needs bytes, is a level off there, and the ops behind it can grow that; few do.
FAST_SCALAR_LEVELS = 4.0
FAST_SCALAR_SHARE = 0.01
