#include "execute/execute.h"

#include <algorithm>
#include <optional>

#include "base/arena.h"
#include "base/clock.h"
#include "base/status.h"
#include "execute/blit.h"
#include "execute/materialise.h"
#include "execute/recolour.h"
#include "execute/reduction.h"
#include "execute/stages/blur.h"
#include "execute/stages/stages.h"
#include "execute/store.h"

namespace fastaug {
namespace {

Arena& thread_arena() {
  thread_local Arena arena;
  return arena;
}

// Adds up the seconds that its input takes.
class TimedStage final : public Stage {
 public:
  TimedStage(Stage* input, double* seconds) : input_(input), seconds_(seconds) {
    region = input->region;
    channels = input->channels;
    in_order = input->in_order;
    pixel_stride = input->pixel_stride;
  }

  void row(int y, const Planes& dst) override {
    const double start = now();
    input_->row(y, dst);
    *seconds_ += now() - start;
  }

  const uint8_t* pixels(int y) override { return input_->pixels(y); }

 private:
  Stage* input_;
  double* seconds_;
};

// The part of an image that begins at (crop.y, crop.x), as an image.
View cropped(const View& image, Region crop) {
  View view = image;
  view.data = image.at(crop.y, crop.x, 0);
  view.height = crop.height;
  view.width = crop.width;
  return view;
}

// One run of a plan: the image in memory, and the chain of stages that its passes are.
class Run {
 public:
  Run(Context& context, const Plan& plan, const Input& source, const Target& target, std::vector<double>* seconds)
      : context_(context), plan_(plan), source_(source), target_(target), seconds_(seconds), memory_(source.view) {
    means_ = reinterpret_cast<float*>(context.arena.bytes(plan.ops.size() * sizeof(float)));
    const size_t tables = plan.ops.size() * sizeof(ChannelTables*);
    reduced_ = reinterpret_cast<const ChannelTables**>(context.arena.bytes(tables));
    std::fill_n(means_, plan.ops.size(), 0.0f);
    std::fill_n(reduced_, plan.ops.size(), nullptr);
    if (seconds != nullptr) seconds->assign(plan.passes.size(), 0.0);
  }

  void run() {
    for (size_t k = 0; k < plan_.passes.size(); ++k) {
      const Pass& pass = plan_.passes[k];
      if (pass.kind > PassKind::kRecolour && pass.kind < PassKind::kKeep) {
        chain_ = stage(pass);
        if (seconds_ != nullptr) chain_ = context_.arena.make<TimedStage>(chain_, &(*seconds_)[k]);
      } else {
        const double start = seconds_ != nullptr ? now() : 0.0;
        finish(pass);
        if (seconds_ != nullptr) (*seconds_)[k] = now() - start;
      }
    }
    if (seconds_ != nullptr) subtract_inputs();
  }

 private:
  // Seconds so far are with those of the passes that a pass pulls its rows from.
  void subtract_inputs() {
    for (size_t k = plan_.passes.size(); k-- > 1;) {
      const PassKind kind = plan_.passes[k].kind;
      const bool first = kind <= PassKind::kRecolour || kind == PassKind::kRead || kind == PassKind::kWarp;
      if (!first) (*seconds_)[k] -= (*seconds_)[k - 1];
    }
  }

  const Step& op_of(const Pass& pass) const { return plan_.ops[static_cast<size_t>(pass.begin)]; }
  Shape shape_of(const Pass& pass) const { return plan_.shapes[static_cast<size_t>(pass.begin)]; }

  // The stage that yields the rows of a pass.
  Stage* stage(const Pass& pass) {
    const int count = pass.end - pass.begin;
    switch (pass.kind) {
      case PassKind::kRead:
        if (rows_ != nullptr)
          return source_stage(context_, cropped_layout(pass.crop), pass.read, cropped_rows(pass.crop));
        return source_stage(context_, cropped(memory_, pass.crop), pass.read);
      case PassKind::kWarp:
        gather();
        return warp_stage(context_, cropped(memory_, pass.crop), op_of(pass), pass.region, pass.read, plan_.rounded);
      case PassKind::kWindow:
        return window_stage(context_, chain_, op_of(pass), shape_of(pass), pass.region);
      case PassKind::kIndex:
        return index_stage(context_, chain_, pass.rows, pass.columns, pass.region);
      case PassKind::kFilter:
        return pass.vertical ? resample_column_stage(context_, chain_, pass.taps, pass.region)
                             : resample_row_stage(context_, chain_, pass.taps, pass.region);
      case PassKind::kTorchFilter:
        return torch_resize_stage(context_, chain_, pass.down, pass.across, pass.region);
      case PassKind::kSharpen:
        return sharpen_stage(context_, chain_, op_of(pass), shape_of(pass), pass.region);
      case PassKind::kBlur:
        return blur_stage(context_, chain_, op_of(pass), shape_of(pass), pass.region);
      case PassKind::kBoxBlur:
        return box_blur_stage(context_, chain_, op_of(pass), pass.region);
      case PassKind::kJpeg:
        return jpeg_stage(context_, chain_, op_of(pass), shape_of(pass), pass.region);
      case PassKind::kTables:
        return table_stage(context_, chain_, &op_of(pass), reduced_ + pass.begin, count, means_ + pass.begin);
      case PassKind::kColour:
        return pointwise_stage(context_, chain_, &op_of(pass), means_ + pass.begin, count, pass.channels, pass.floats);
      case PassKind::kDecode:
      case PassKind::kMove:
      case PassKind::kMoveWarped:
      case PassKind::kRecolour:
      case PassKind::kKeep:
      case PassKind::kTurn:
      case PassKind::kStatistics:
      case PassKind::kStore:
        break;
    }
    fail(ErrorCode::kRuntime, std::string("the pass ") + name_of(pass.kind) + " yields no rows");
  }

  // The passes that leave an image in memory.
  void finish(const Pass& pass) {
    switch (pass.kind) {
      case PassKind::kDecode:
        return decode(pass);
      case PassKind::kMove:
        gather();
        return blit(plan_.blit, plan_.ops, memory_, target_, context_.kernels);
      case PassKind::kMoveWarped:
        gather();
        return blit_warped(op_of(pass), memory_, target_, context_.kernels);
      case PassKind::kRecolour:
        gather();
        return recolour(context_, cropped(memory_, pass.crop), &op_of(pass), reduced_ + pass.begin, means_ + pass.begin,
                        pass.end - pass.begin, plan_.store.vflip, target_);
      case PassKind::kKeep:
        return keep(pass);
      case PassKind::kTurn:
        memory_ = materialise_turned(context_, chain_, op_of(pass).flags == 1);
        rows_ = nullptr;
        return;
      case PassKind::kStatistics: {
        Reduction reduction(op_of(pass), shape_of(pass), context_.kernels);
        const Planes planes = make_planes(context_.arena, pass.region.width);
        for (int y = 0; y < pass.region.height; ++y) {
          chain_->row(y, planes);
          reduction.add(planes.row);
        }
        return use(reduction, pass);
      }
      case PassKind::kStore: {
        if (plan_.from_floats) return store_floats(context_, memory_, plan_.blit, target_, plan_.store);
        if (const auto one = flat()) {
          return store_rows(context_, source_stage(context_, one->view, one->region), one->target, plan_.store, {});
        }
        const int begin = plan_.store.fused_begin;
        const int count = plan_.store.fused_end - begin;
        const FusedOps fused{bare_ops(context_.arena, plan_.ops.data() + begin, count), means_ + begin, count};
        return store_rows(context_, chain_, target_, plan_.store, fused);
      }
      case PassKind::kRead:
      case PassKind::kWarp:
      case PassKind::kWindow:
      case PassKind::kIndex:
      case PassKind::kFilter:
      case PassKind::kTorchFilter:
      case PassKind::kSharpen:
      case PassKind::kBlur:
      case PassKind::kBoxBlur:
      case PassKind::kJpeg:
      case PassKind::kTables:
      case PassKind::kColour:
        break;
    }
    fail(ErrorCode::kRuntime, std::string("the pass ") + name_of(pass.kind) + " leaves no image");
  }

  // An image of one channel from the samples of another, and where it goes.
  struct Flat {
    View view;
    Target target;
    Region region;
  };

  // The same samples in fewer and longer rows, if these follow one another on both sides: each takes a few calls.
  static void lengthen(Flat& flat) {
    constexpr int kLong = 4096;
    const int width = flat.view.width, height = flat.view.height;
    const bool whole = flat.region == Region{0, 0, height, width};
    if (!whole || flat.view.row_stride != width || flat.target.row_stride != width * flat.target.pixel_stride) return;
    int rows = std::max(kLong / width, 1);
    while (height % rows != 0) --rows;
    for (int* across : {&flat.view.width, &flat.target.width, &flat.region.width}) *across *= rows;
    for (int* down : {&flat.view.height, &flat.target.height, &flat.region.height}) *down /= rows;
    flat.view.row_stride *= rows;
    flat.target.row_stride *= rows;
  }

  // One channel for all, where each sample of an image in memory is stored alike, and lies there as it does here. Then
  // pixels need not become planes, and pixels again.
  std::optional<Flat> flat() const {
    const StorePlan& store = plan_.store;
    const Pass& read = plan_.passes[0];
    const int channels = memory_.channels, height = memory_.height;
    const ptrdiff_t size = size_of(target_.dtype);
    const bool alike = plan_.passes.size() == 2 && read.kind == PassKind::kRead && !store.hflip &&
                       !store.normalize.normalize && store.erases.empty() && store.fused_begin == store.fused_end &&
                       memory_.dtype == DType::kUint8 && target_.dtype != DType::kUint8 && target_.patches.side == 0 &&
                       target_.channels == channels;
    if (!alike) return {};
    Flat flat = {cropped(memory_, read.crop), target_, read.read};
    flat.view.channels = flat.target.channels = 1;
    const bool pixels = memory_.channel_stride == 1 && memory_.pixel_stride == channels &&
                        target_.channel_stride == size && target_.pixel_stride == channels * size;
    const bool planes = memory_.pixel_stride == 1 && target_.pixel_stride == size && flat.view.height == height &&
                        target_.height == height && memory_.channel_stride == height * memory_.row_stride &&
                        target_.channel_stride == height * target_.row_stride && !store.vflip;
    if (pixels) {
      flat.view.pixel_stride = 1;
      flat.target.pixel_stride = size;
      for (int* across : {&flat.view.width, &flat.target.width, &flat.region.x, &flat.region.width})
        *across *= channels;
    } else if (planes) {
      for (int* down : {&flat.view.height, &flat.target.height, &flat.region.height}) *down *= channels;
    } else {
      return {};
    }
    if (!store.vflip) lengthen(flat);
    return flat;
  }

  void decode(const Pass& pass) {
    PixelSource& pixels = *source_.pixels;
    if (plan_.in_place) return pixels.make_all(target_, context_.arena);
    rows_ = pixels.rows();
    if (rows_ == nullptr) make(pixels, pass.region);
  }

  // Passes that do not go row by row need pixels in one block.
  void gather() {
    if (rows_ != nullptr) make(*source_.pixels, plan_.passes.front().region);
    rows_ = nullptr;
  }

  View cropped_layout(Region crop) const {
    View view = source_.view;
    view.height = crop.height;
    view.width = crop.width;
    return view;
  }

  const uint8_t* const* cropped_rows(Region crop) {
    const auto count = static_cast<size_t>(crop.height);
    auto** const rows = reinterpret_cast<const uint8_t**>(context_.arena.bytes(count * sizeof(uint8_t*)));
    for (size_t y = 0; y < count; ++y) {
      rows[y] = rows_[static_cast<size_t>(crop.y) + y] + crop.x * source_.view.pixel_stride;
    }
    return rows;
  }

  void make(PixelSource& pixels, Region wanted) {
    memory_ = pixels.make(wanted, context_.arena);
    // The plan is for the layout that was announced.
    const View& announced = source_.view;
    if (memory_.pixel_stride != announced.pixel_stride || memory_.channel_stride != announced.channel_stride) {
      fail(ErrorCode::kRuntime, std::string(pixels.name()) + " is not laid out as announced");
    }
  }

  // The view stands for the whole image, of which only the chain's region is there.
  void keep(const Pass& pass) {
    const Layout layout = pass.interleaved ? Layout::kInterleaved : Layout::kPlanar;
    if (pass.statistics) {
      Reduction reduction(op_of(pass), shape_of(pass), context_.kernels);
      memory_ = materialise(context_, chain_, layout, &reduction);
      use(reduction, pass);
    } else {
      memory_ = materialise(context_, chain_, layout, nullptr);
    }
    rows_ = nullptr;
    memory_.data -= pass.region.y * memory_.row_stride + pass.region.x * memory_.pixel_stride;
  }

  void use(const Reduction& reduction, const Pass& pass) {
    if (pass.reason == WholeInput::kMean) {
      means_[pass.begin] = reduction.mean(plan_.unrounded);
    } else {
      ChannelTables* tables = context_.arena.make<ChannelTables>();
      reduction.tables(tables);
      reduced_[pass.begin] = tables;
    }
  }

  Context& context_;
  const Plan& plan_;
  const Input& source_;
  const Target& target_;
  std::vector<double>* seconds_;
  View memory_;
  const uint8_t* const* rows_ = nullptr;  // of the image, if its memory is not one block
  Stage* chain_ = nullptr;
  float* means_;                   // of each op, for reductions that need one
  const ChannelTables** reduced_;  // of each op, for reductions that become tables
};

}  // namespace

void execute(const Plan& plan, const Input& source, const Target& target, const Kernels& kernels,
             std::vector<double>* seconds) {
  Arena& arena = thread_arena();
  ArenaReset reset{arena};
  Context context{kernels, arena};
  Run(context, plan, source, target, seconds).run();
}

void execute(const Job& job, const ExecuteOptions& options, Report* report) {
  const Kernels& used = options.kernels != nullptr ? *options.kernels : kernels();
  const PlanOptions planning = options_for(used, options.rewrites, job.source.pixels);
  Plan plan = make_plan(job.program, job.source.view, job.target, planning);
  execute(plan, job.source, job.target, used, report != nullptr ? &report->seconds : nullptr);
  if (report != nullptr) report->plan = std::move(plan);
}

}  // namespace fastaug
