// The tables that tests/tables/native.py writes: random operands of every op, and what Pillow, torchvision and numpy
// make of small images. Both are read once. A table that is missing, malformed or without an op of the registry ends
// the process, with a word on how to write it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.h"

namespace fastaug::test {

// Rows of an op, in no order that means anything; never none. shape_after() says which of them fit an image.
std::span<const Op> operands_of(OpId id);

// Sides that the rows were drawn for, so that images that have them meet rows of their own size.
std::span<const int> usual_sides();

// Interleaved uint8 samples.
struct Picture {
  Shape shape;
  std::vector<uint8_t> samples;
};

struct Answer {
  const Picture* picture;
  std::vector<Op> program;
  Shape shape;
  std::vector<uint8_t> bytes;  // interleaved; float32 in the machine's order where the program ends in a store op
};

std::span<const Answer> answers();

}  // namespace fastaug::test
