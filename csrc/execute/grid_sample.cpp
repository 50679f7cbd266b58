#include "execute/grid_sample.h"

#include <algorithm>

#include "base/status.h"
#include "execute/execute.h"
#include "execute/materialise.h"
#include "execute/stages/stages.h"
#include "execute/store.h"

namespace fastaug {
namespace {

class FieldStage final : public Stage {
 public:
  FieldStage(const View& view, const GridSampling& sampling, const Kernels& kernels)
      : grid_(sampling.grid), kernel_(sampling.nearest ? kernels.grid_nearest : kernels.grid_linear) {
    region = {0, 0, view.height, view.width};
    channels = view.channels;
    row_.source = view;
    row_.width = view.width;
    row_.filled = sampling.filled;
    std::copy_n(sampling.fill, kMaxChannels, row_.fill);
  }

  void row(int y, const Planes& dst) override {
    row_.grid = grid_ + static_cast<ptrdiff_t>(y) * 2 * row_.width;
    kernel_(row_, dst.row);
  }

 private:
  GridRow row_{};
  const float* grid_;
  void (*kernel_)(const GridRow&, uint8_t* const*);
};

}  // namespace

void grid_sample(const View& source, const GridSampling& sampling, const Target& target, const Kernels& kernels) {
  const Shape shape{source.height, source.width, source.channels};
  validate({}, shape);
  check_target(target, shape, false);
  Arena arena;
  Context context{kernels_in_reach(kernels, source), arena};
  View view = source;
  if (!is_warp_source(source)) {
    const Layout layout = source.channels > 1 ? Layout::kInterleaved : Layout::kPlanar;
    view = materialise(context, source_stage(context, source, whole(shape)), layout);
  }
  store_rows(context, arena.make<FieldStage>(view, sampling, context.kernels), target, {});
}

}  // namespace fastaug
