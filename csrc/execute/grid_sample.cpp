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
  FieldStage(Arena& arena, const View& view, const GridSampling& sampling, const Kernels& kernels)
      : columns_(sampling.columns),
        rows_(sampling.rows),
        displacement_(sampling.displacement),
        kernel_(sampling.nearest ? kernels.grid_nearest : kernels.grid_linear),
        grid_(reinterpret_cast<float*>(arena.bytes(2 * static_cast<size_t>(view.width) * sizeof(float)))) {
    region = {0, 0, view.height, view.width};
    channels = view.channels;
    row_.source = view;
    row_.width = view.width;
    row_.filling = sampling.filling;
    std::copy_n(sampling.fill, kMaxChannels, row_.fill);
  }

  void row(int y, const Planes& dst) override {
    const float* by = displacement_ + static_cast<ptrdiff_t>(y) * 2 * row_.width;
    const float down = rows_[y];
    for (int x = 0; x < row_.width; ++x) {
      grid_[2 * x] = columns_[x] + by[2 * x];
      grid_[2 * x + 1] = down + by[2 * x + 1];
    }
    row_.grid = grid_;
    kernel_(row_, dst.row);
  }

 private:
  GridRow row_{};
  const float* columns_;
  const float* rows_;
  const float* displacement_;
  void (*kernel_)(const GridRow&, uint8_t* const*);
  float* grid_;  // of the row
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
  store_rows(context, arena.make<FieldStage>(arena, view, sampling, context.kernels), target, {});
}

}  // namespace fastaug
