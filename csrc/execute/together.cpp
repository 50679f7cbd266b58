#include "execute/together.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/clock.h"

namespace fastaug {
namespace {

// Apart from the one of execute(), which every job resets: what a source has made outlives them.
Arena& shared_arena() {
  thread_local Arena arena;
  return arena;
}

// The pixels that a source has made, shared by all jobs that read it.
class Made final : public PixelSource {
 public:
  Made(const PixelSource& source, const View& view) : source_(source), view_(view) {}

  View layout() const override { return source_.layout(); }
  View make(Region, Arena&, int) override { return view_; }
  Region made(Region wanted) const override { return source_.made(wanted); }
  int64_t bytes() const override { return source_.bytes(); }
  const char* name() const override { return source_.name(); }

  void make_all(const Target& target, Arena&) override {
    const auto packed = static_cast<size_t>(target.width) * static_cast<size_t>(target.channels);
    for (int y = 0; y < target.height; ++y) {
      const uint8_t* from = view_.at(y, 0, 0);
      auto* to = static_cast<uint8_t*>(target.data) + y * target.row_stride;
      if (view_.pixel_stride == target.channels && target.pixel_stride == target.channels) {
        std::memcpy(to, from, packed);
        continue;
      }
      for (int x = 0; x < target.width; ++x, from += view_.pixel_stride, to += target.pixel_stride) {
        std::copy_n(from, target.channels, to);
        if (target.pixel_stride > target.channels) to[target.channels] = 255;
      }
    }
  }

 private:
  const PixelSource& source_;
  View view_;
};

// The region that a plan reads of an encoded image; empty where it reads nothing of it.
Region read_by(const Plan& plan) {
  const bool decodes = !plan.passes.empty() && plan.passes.front().kind == PassKind::kDecode;
  return decodes ? plan.passes.front().region : Region{};
}

Region joined(const Region& a, const Region& b) {
  if (a.height == 0 || a.width == 0) return b;
  if (b.height == 0 || b.width == 0) return a;
  const int y = std::min(a.y, b.y);
  const int x = std::min(a.x, b.x);
  return {y, x, std::max(a.y + a.height, b.y + b.height) - y, std::max(a.x + a.width, b.x + b.width) - x};
}

// Jobs of one source, by their numbers.
void execute_group(std::span<const Job> jobs, const std::vector<size_t>& group, const ExecuteOptions& options,
                   std::span<Report> reports) {
  const Kernels& used = options.kernels != nullptr ? *options.kernels : kernels();
  std::vector<Plan> plans;
  plans.reserve(group.size());
  Region region;
  for (const size_t k : group) {
    const Job& job = jobs[k];
    const PlanOptions planning = options_for(used, options.rewrites, job.source.pixels);
    plans.push_back(make_plan(job.program, job.source.view, job.target, planning));
    region = joined(region, read_by(plans.back()));
  }
  PixelSource& source = *jobs[group.front()].source.pixels;
  Arena& arena = shared_arena();
  ArenaReset reset{arena};
  const double start = now();
  const bool reads = region.height > 0 && region.width > 0;
  Made made(source, reads ? source.make(region, arena) : source.layout());
  const double taken = now() - start;
  for (size_t n = 0; n < group.size(); ++n) {
    const Job& job = jobs[group[n]];
    Report* const report = reports.empty() ? nullptr : &reports[group[n]];
    execute(plans[n], {job.source.view, &made}, job.target, used, report != nullptr ? &report->seconds : nullptr);
    if (report == nullptr) continue;
    if (n == 0 && !report->seconds.empty()) report->seconds.front() += taken;
    report->plan = std::move(plans[n]);
  }
}

}  // namespace

void execute_all(std::span<const Job> jobs, const ExecuteOptions& options, std::span<Report> reports) {
  std::vector<bool> done(jobs.size());
  std::vector<size_t> group;
  for (size_t k = 0; k < jobs.size(); ++k) {
    if (done[k]) continue;
    group.assign(1, k);
    const PixelSource* const source = jobs[k].source.pixels;
    const bool shares = source != nullptr && source->rows() == nullptr;
    for (size_t other = k + 1; shares && other < jobs.size(); ++other) {
      if (jobs[other].source.pixels == source) group.push_back(other);
    }
    if (group.size() == 1) {
      execute(jobs[k], options, reports.empty() ? nullptr : &reports[k]);
      continue;
    }
    for (const size_t one : group) done[one] = true;
    execute_group(jobs, group, options, reports);
  }
}

}  // namespace fastaug
