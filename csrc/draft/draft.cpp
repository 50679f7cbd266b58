#include "draft/draft.h"

#include <algorithm>

namespace fastaug {
namespace {

struct NamedMode {
  const char* name;
  int channels;
};

// In the order of Mode.
constexpr std::array<NamedMode, 9> kModes{
    {{"", 0}, {"L", 1}, {"LA", 2}, {"RGB", 3}, {"RGBA", 4}, {"CMYK", 4}, {"YCbCr", 3}, {"HSV", 3}, {"", 0}}};

}  // namespace

const char* name_of(Mode mode) { return kModes[static_cast<size_t>(mode)].name; }

int channels_of(Mode mode) { return kModes[static_cast<size_t>(mode)].channels; }

Mode mode_of(std::string_view name) {
  const auto found =
      std::ranges::find_if(kModes, [=](const NamedMode& known) { return known.channels > 0 && known.name == name; });
  return found == kModes.end() ? Mode::kOther : static_cast<Mode>(found - kModes.begin());
}

void Draft::begin(const Outline& outline) {
  static_cast<DraftState&>(*this) = DraftState{};
  source = outline;
  container = outline.container;
  mode = outline.mode;
  shape = outline.shape;
  bands = outline.shape.channels;
  leading = outline.leading;
  images = outline.images;
  native = outline.native;
  floats = outline.floats;
  flat = outline.flat;
  channel_last = outline.channel_last;
  tagged = outline.tagged;
  if (outline.v2 && outline.gaps && channel_last && images == 1) gaps = 0;
  declined_ = Reason::kNone;
  stored_ = erases_ = 0;
  ops_.clear();
  grouped_.clear();
}

Ending Draft::ending() const {
  const int ops = pixel_ops();
  if (container == source.container) {
    if (gives_floats()) return Ending::kJob;
    if (ops == 0) return Ending::kUntouched;
    if (first != First::kNone && ops == (first == First::kCrop ? views : 1)) return Ending::kLibrary;
    const OpId last = ops_[static_cast<size_t>(ops - 1)].id;
    const bool flips = last == OpId::HFLIP || last == OpId::VFLIP;
    return floats && ops == views + 1 && flips ? Ending::kFlip : Ending::kJob;
  }
  // Pillow can lay images of these channels over foreign memory.
  const bool mapped = bands == 1 || bands == 4;
  return is_pil() && mapped && ops == views && !copied ? Ending::kMapped : Ending::kJob;
}

void Draft::insert(int at, const Op& op, std::vector<Op> others) {
  if (length() == kMaxOps) {
    decline(Reason::kFull);
    return;
  }
  // Would leave behind what follows.
  if (follower_ != nullptr && kind_of(op.id) == OpKind::kGeometry) decline(Reason::kNumber);
  ops_.insert(ops_.begin() + at, op);
  for (Grouped& grouped : grouped_) grouped.number += grouped.number >= at ? 1 : 0;
  if (!others.empty()) grouped_.push_back({at, std::move(others)});
}

void Draft::append(const Op& op) { insert(pixel_ops(), op, {}); }

void Draft::append(const std::vector<Op>& op) { insert(pixel_ops(), op.front(), {op.begin() + 1, op.end()}); }

void Draft::append_named(const Op& op) {
  name();
  append(op);
}

void Draft::append_store(const std::vector<Op>& op) {
  insert(pixel_ops() + stored_, op.front(), {op.begin() + 1, op.end()});
  stored_ += declined() ? 0 : 1;
}

void Draft::append_float(const Op& op) {
  append_store({op});
  // Floats plane by plane take less time to write, and the input does not ask for others.
  planar = source.container != Container::kTensor;
  native = false;
  mode = Mode::kNone;
  info = Info::kNone;
}

std::vector<Op> Draft::program_of(int group) const {
  std::vector<Op> all = ops_;
  if (group == 0) return all;
  for (const Grouped& grouped : grouped_) {
    all[static_cast<size_t>(grouped.number)] = grouped.others[static_cast<size_t>(group - 1)];
  }
  return all;
}

std::vector<Op> Draft::op(int k) const {
  std::vector<Op> all{ops_[static_cast<size_t>(k)]};
  const auto found = std::ranges::find(grouped_, k, &Grouped::number);
  if (found != grouped_.end()) all.insert(all.end(), found->others.begin(), found->others.end());
  return all;
}

void Draft::forget() {
  const int forgotten = pixel_ops();
  ops_.erase(ops_.begin(), ops_.begin() + forgotten);
  std::erase_if(grouped_, [=](const Grouped& grouped) { return grouped.number < forgotten; });
  for (Grouped& grouped : grouped_) grouped.number -= forgotten;
  unview();
}

void Draft::keep_channels(int count) {
  bands = shape.channels = count;
  for (Grouped& grouped : grouped_) grouped.others.resize(std::min(grouped.others.size(), size_t(groups() - 1)));
  std::erase_if(grouped_, [](const Grouped& grouped) { return grouped.others.empty(); });
}

void Draft::padded_by_torch() {
  const bool keeps = source.v2 ? images > 1 || shape.height * int64_t{shape.width} <= 1 : leading == 1;
  channel_last = channel_last && keeps;
}

Reason Draft::to_float(const Torch& torch) {
  if (is_tensor() || container == Container::kOther || !native || source.traced || !torch.is_single()) {
    return decline(Reason::kSamples);
  }
  container = Container::kTensor;
  append_float(OpId::TO_FLOAT);
  flat = false;
  return Reason::kNone;
}

Reason Draft::to_uint8_tensor() {
  if (!is_pil() || !native || source.traced) return decline(Reason::kSamples);
  container = Container::kTensor;
  channel_last = copied = true;
  mode = Mode::kNone;
  info = Info::kNone;
  return Reason::kNone;
}

Reason Draft::to_image() {
  if (!is_tensor() && to_uint8_tensor() != Reason::kNone) return declined_;
  tagged = true;
  return Reason::kNone;
}

Reason Draft::to_pil(std::optional<Mode> as) {
  if (!native || is_pil() || container == Container::kOther || leading > 0) return decline(Reason::kSamples);
  // The first of each row is the default.
  static constexpr std::array<std::array<Mode, 3>, kMaxChannels> kAccepted{
      {{Mode::kL}, {Mode::kLa}, {Mode::kRgb, Mode::kYcbcr, Mode::kHsv}, {Mode::kRgba, Mode::kCmyk}}};
  if (channels() < 1 || channels() > kMaxChannels) return decline(Reason::kChannels);
  const auto& accepted = kAccepted[static_cast<size_t>(channels() - 1)];
  if (as && (*as == Mode::kNone || std::ranges::find(accepted, *as) == accepted.end())) return decline(Reason::kMode);
  container = Container::kPil;
  mode = as.value_or(accepted[0]);
  flat = channel_last = false;
  return Reason::kNone;
}

Reason Draft::convert(bool to_floats, OpId id) {
  if (!is_tensor()) return decline(Reason::kSamples);
  if (native) {
    if (to_floats) append_float(id);
    return Reason::kNone;
  }
  return to_floats && (stored_ > 0 || floats) ? Reason::kNone : decline(Reason::kSamples);
}

Reason Draft::normalize(const std::vector<Op>& op, bool inplace) {
  // Straight after a conversion to float, or on floats that nobody else has where they are to be written to.
  const bool made = pixel_ops() > views || stored_ > 0;
  if (!is_tensor() || stored_ != (floats ? 0 : 1) || erases_ > 0 || (floats && inplace && !made)) {
    return decline(Reason::kSamples);
  }
  if (flat) return decline(Reason::kShape);
  append_store(op);
  return Reason::kNone;
}

Reason Draft::erase(int top, int left, int height, int width, const double* values, int count) {
  if (stored_ == 0) return decline(Reason::kSamples);
  if (follower_ != nullptr) return decline(Reason::kNumber);  // torchvision warns of it
  if (flat || leading > 0) return decline(Reason::kShape);
  if (bands > kMaxChannels || (count != 1 && count != channels())) return decline(Reason::kChannels);
  Op op = plain(OpId::ERASE);
  const int box[] = {top, left, height, width};
  std::ranges::copy(box, op.i);
  for (int c = 0; c < channels(); ++c) op.f[c] = values[count == 1 ? 0 : c];
  insert(length(), op, {});
  erases_ += declined() ? 0 : 1;
  return declined_;
}

}  // namespace fastaug
