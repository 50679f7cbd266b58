// Turns the plan of an image into parts of a bag.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/bag.h"
#include "cuda/link.h"
#include "cuda/work.h"

namespace fastaug::cuda {

// An image in memory between two parts.
struct Memory {
  Strided at;
  int height;
  int width;
  int channels;
};

// A table of lookups, and which colour of which link has it.
struct Lookups {
  uint32_t ops;
  int32_t count;
  int32_t channels;
  size_t link;
  size_t colour;
};

// The lowering of one image of a bag.
class Lowering {
 public:
  Lowering(Bag& bag, const Plan& plan, const Job& job);

  void run();

  // True if a device does all of a plan. Ops of kHost are left to the host: each pass of a BOX_BLUR rounds, so a tile
  // would have to be made with all pixels that they reach around it.
  static bool is_fit(const Plan& plan);

 private:
  const fastaug::Step& op_of(const Pass& pass) const { return plan_.ops[static_cast<size_t>(pass.begin)]; }
  Work work() const { return {links_, part_, bag_.options_.shared_bytes}; }

  // The links of a part, and its end: lowering.cpp.
  void take(const Pass& pass);
  void begin(const Pass& pass);
  void warp(const Op& op, Region region);
  // A nearest AFFINE without shear: a table for each axis.
  void scale(const Op& op, Region region);
  // A window of the source takes no step: pixels are counted from its corner.
  void shift(const Op& op, const Pass& pass);
  Link& add_link(const Op& op, StepKind kind, Region region);
  void add_step(const Pass& pass);
  void add_colours(int begin, int end, bool floats);
  void add_lookups(const Pass& pass);
  void keep(const Pass& pass);
  // Scratch for a region of an image. The returned memory stands for the whole image, after `turns`.
  Memory room(Region region, Shape shape, int channels, int turns);
  void store();
  void forms(const FloatStore& store);

  // Parts to the bag: emit.cpp.
  // Emits the part whole; or cut, with an image in memory between two pieces, where its pixels do not fit into shared
  // memory together, or where tiles would compute much of their neighbours.
  void emit();
  // Where not even one step fits behind the colours of the source: puts an image in memory between them.
  void emit_apart();
  // Takes steps [begin, end), and the source if `begin` is the first.
  void take_links(const std::vector<Link>& links, const std::vector<Lookups>& lookups, size_t begin, size_t end);
  void come_from_memory();
  void end_in(const Memory& kept, Region shown);
  void end_as(const Part& all);
  void finish(const Tiling& tiles);
  // Reserves the tables of a step, and adds the tasks that make them.
  void tables(Step* step, int number, std::vector<Task>* tasks);
  Bag::HostTaps host_taps(TapAxis axis, bool down, int begin, int count);

  Bag& bag_;
  const Plan& plan_;
  const Target& target_;
  Memory memory_{};
  Part part_{};
  std::vector<Link> links_;
  std::vector<Lookups> lookups_;
  Shape shape_;  // of what the last link makes
  size_t level_ = 0;
  uint32_t counted_ = kNowhere;
  OpId reduction_{};
  int64_t counted_pixels_ = 0;
};

}  // namespace fastaug::cuda
