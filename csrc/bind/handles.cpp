#include "bind/handles.h"

#include <string>
#include <utility>

#include "bind/job.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// The mode that the core decodes a file to: the one that is asked for, or the file's own. kNone where Pillow converts.
Mode decoded_mode(const codec::Header& header, Mode wanted) {
  // The first modes are in the order of their channels.
  if (wanted == Mode::kNone) return static_cast<Mode>(header.channels);
  return wanted <= Mode::kRgba && codec::converts(header, channels_of(wanted)) ? wanted : Mode::kNone;
}

}  // namespace

codec::Bytes bytes_of(py::handle bytes) {
  return {reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(bytes.ptr())),
          static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

Handles::Handles(const py::tuple& steps, const py::dict& settings)
    : lazy_(settings["lazy"]), orient_(settings["orient"]), pillow_(py::module_::import("PIL.Image")) {
  if (steps.empty()) return;
  const auto told = steps[0].cast<py::tuple>();
  const auto name = told[0].cast<std::string>();
  if (name == "Group" && told[1].is_none()) *this = Handles(told[2], settings);
  if (name != "Decode") return;
  opens_ = true;
  if (!told[1].is_none()) mode_ = mode_of(told[1].cast<std::string>());
  exif_ = told[2].cast<bool>();
  reads_bytes_ = told[3].cast<bool>();
  open_ = told[4];
}

std::optional<Incoming> Handles::incoming(py::handle image) const {
  if (is_handle(image)) return of_handle(py::reinterpret_borrow<py::object>(image));
  if (reads_bytes_ && PyBytes_CheckExact(image.ptr())) {
    const codec::Bytes data = bytes_of(image);
    return of_bytes(data, codec::read_header(data), mode_, exif_, py::reinterpret_borrow<py::object>(image));
  }
  return of_handle(open_(image));
}

std::optional<Incoming> Handles::of_bytes(codec::Bytes data, const codec::Header& header, Mode mode, bool exif,
                                          py::object owner, std::shared_ptr<codec::ScanIndex> index) const {
  if (header.native && header.bits == 8) mode = decoded_mode(header, mode);
  if (!header.native || header.bits != 8 || mode == Mode::kNone) return std::nullopt;
  // Pillow warns of images of more pixels than that, or refuses them.
  const py::object limit = pillow_.attr("MAX_IMAGE_PIXELS");
  if (!limit.is_none() && py::int_(int64_t{header.height} * header.width) > limit) return std::nullopt;
  Incoming incoming;
  incoming.encoded = std::move(owner);
  incoming.orientation = exif ? header.orientation : 1;
  incoming.outline.mode = mode;
  incoming.outline.shape = {header.height, header.width, channels_of(mode)};
  if (incoming.orientation > 4) std::swap(incoming.outline.shape.height, incoming.outline.shape.width);
  auto pixels =
      std::make_shared<codec::EncodedSource>(data, header, channels_of(mode), codec::Beside{}, std::move(index));
  incoming.source = {pixels->layout(), incoming.encoded, std::move(pixels)};
  return incoming;
}

std::optional<Incoming> Handles::of_handle(py::object handle) const {
  if (handle.is_none() || handle.attr("native").ptr() != Py_True) return std::nullopt;
  const auto outline = outline_of_pil(handle.attr("mode"), handle.attr("size"));
  if (!outline) return std::nullopt;
  Incoming incoming{*outline, {}};
  if (handle.attr("exif").ptr() == Py_True) incoming.orientation = handle.attr("orientation").cast<int>();
  incoming.encoded = std::move(handle);
  return incoming;
}

void Handles::begin(Draft& draft, const Incoming& image) const {
  draft.source.container = Container::kEncoded;
  if (image.orientation == 1) return;
  const py::object program = orient_[py::int_(image.orientation)];
  for (const Op& op : as_program(program)) draft.append(op);
}

Source Handles::pixels(const Incoming& image) const {
  return image.source.pixels != nullptr ? image.source : image.encoded.attr("source")().cast<Source>();
}

Source Handles::undecoded(const py::object& encoded, const py::object& reason) const {
  const py::object handle = is_handle(encoded) ? encoded : open_(encoded);
  return handle.attr("undecoded")(reason).cast<Source>();
}

int Handles::traverse(visitproc visit, void* arg) const {
  Py_VISIT(open_.ptr());
  return 0;
}

}  // namespace fastaug::bind
