#include "cuda/bag.h"

#include <algorithm>

#include "base/status.h"
#include "cuda/lowering.h"

namespace fastaug::cuda {

uint32_t Bag::reserve(int64_t bytes) {
  const int64_t offset = scratch_;
  scratch_bytes_ = std::max(scratch_bytes_, offset + bytes);
  scratch_ += aligned(bytes, kAlignment);
  if (offset >= kNowhere) fail(ErrorCode::kValue, "an image needs more than 4 GB of memory between its parts");
  return static_cast<uint32_t>(offset);
}

Bag::Level& Bag::level(size_t number) {
  if (levels_.size() <= number) levels_.resize(number + 1);
  used_levels_ = std::max(used_levels_, number + 1);
  return levels_[number];
}

int Bag::kernel_of(const Features& wanted) {
  for (size_t k = 0; k < features_.size(); ++k) {
    Features& f = features_[k];
    if (f.source != wanted.source || f.channels != wanted.channels || f.dtype != wanted.dtype) continue;
    f.steps |= wanted.steps;
    f.ends |= wanted.ends;
    f.ops |= wanted.ops;
    f.flags |= wanted.flags;
    return static_cast<int>(k);
  }
  features_.push_back(wanted);
  return static_cast<int>(features_.size()) - 1;
}

void Bag::end_wave() {
  for (size_t number = 0; number < used_levels_; ++number) {
    Level& level = levels_[number];
    if (!level.tasks.empty()) {
      const auto count = static_cast<int32_t>(level.tasks.size());
      launches_.push_back({-1, put(std::span<const Task>(level.tasks)), count, count, 0});
      level.tasks.clear();
    }
    for (size_t k = 0; k < level.groups.size(); ++k) {
      Group& group = level.groups[k];
      if (group.entries.empty()) continue;
      const uint32_t offset = put(std::span<const Entry>(group.entries));
      const auto count = static_cast<int32_t>(group.entries.size());
      launches_.push_back({static_cast<int32_t>(k), offset, count, group.blocks, group.shared});
      group = {};
    }
  }
  if (used_levels_ != 0) ++waves_;
  used_levels_ = 0;
  scratch_ = 0;
}

void Bag::finish() { end_wave(); }

namespace {

Plan device_plan(Program program, const View& source, const Target& target, uint32_t rewrites) {
  const Kernels& plain = *kernels("scalar");  // whose layout of taps is never used
  return make_plan(program, source, target, {plain, rewrites, false, true});
}

}  // namespace

Region needed_region(Program program, Shape in, uint32_t rewrites) {
  const View view{nullptr, in.height, in.width, in.channels, int64_t{in.width} * in.channels, in.channels, 1};
  const Plan plan = device_plan(program, view, usual_target(program, in), rewrites);
  Region all{};
  for (const Pass& pass : plan.passes) {
    if (pass.kind == PassKind::kRead || pass.kind == PassKind::kWarp) {
      const Region r = {pass.crop.y + pass.read.y, pass.crop.x + pass.read.x, pass.read.height, pass.read.width};
      if (all.height == 0) {
        all = r;
      } else {
        const int y = std::min(all.y, r.y);
        const int x = std::min(all.x, r.x);
        all = {y, x, std::max(all.y + all.height, r.y + r.height) - y, std::max(all.x + all.width, r.x + r.width) - x};
      }
    } else if (pass.kind == PassKind::kKeep || pass.kind == PassKind::kTurn) {
      break;  // what follows reads what is kept
    }
  }
  return all;
}

bool Bag::add(const Job& job) {
  if (job.source.pixels != nullptr || job.source.view.dtype != DType::kUint8 || job.target.fill_gaps) return false;
  const Plan plan = device_plan(job.program, job.source.view, job.target, options_.rewrites);
  if (plan.out.channels != job.target.channels || !Lowering::is_fit(plan)) return false;
  if (scratch_ >= options_.wave_bytes) end_wave();
  Lowering(*this, plan, job).run();
  return true;
}

}  // namespace fastaug::cuda
