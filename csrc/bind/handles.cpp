#include "bind/handles.h"

#include <string>
#include <utility>

#include "base/file.h"
#include "bind/errors.h"
#include "bind/job.h"
#include "bind/member.h"
#include "bind/without_gil.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// The mode that the core decodes a file to: the one that is asked for, or the file's own. kNone where Pillow converts.
Mode decoded_mode(const codec::Header& header, Mode wanted) {
  if (wanted == Mode::kNone) wanted = mode_of(codec::mode_of(header));
  return wanted <= Mode::kRgba && codec::converts(header, channels_of(wanted)) ? wanted : Mode::kNone;
}

// The path of a file as a string of exactly Python's; null for what is no path, or is one in bytes.
py::object path_of(py::handle image) {
  if (PyUnicode_CheckExact(image.ptr())) return py::reinterpret_borrow<py::object>(image);
  if (!py::hasattr(py::type::handle_of(image), "__fspath__")) return {};
  py::object path = owned(PyOS_FSPath(image.ptr()));
  return PyUnicode_CheckExact(path.ptr()) ? path : py::object();
}

// Keeps the bytes that pixels are made of.
void keep(std::shared_ptr<PixelSource>& pixels, FileBytes file) {
  struct Kept {
    FileBytes file;
    std::shared_ptr<PixelSource> pixels;
  };
  auto kept = std::make_shared<Kept>(std::move(file), std::move(pixels));
  PixelSource* const made = kept->pixels.get();
  pixels = {std::move(kept), made};
}

struct Opened {
  FileBytes file{};
  codec::Header header{};
};

// What `read` reads without Python's lock, and its header.
template <class Read>
Opened read_here(const Read& read) {
  return without_gil([&] {
    Opened opened;
    opened.file = read();
    if (opened.file.size > 0) opened.header = codec::read_header({opened.file.data.get(), opened.file.size});
    return opened;
  });
}

}  // namespace

codec::Bytes bytes_of(py::handle bytes) {
  return {reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(bytes.ptr())),
          static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

Handles::Handles(const py::tuple& steps, const py::dict& settings)
    : lazy_(settings["lazy"]),
      orient_(settings["orient"]),
      indexes_(settings["indexes"]),
      pillow_(py::module_::import("PIL.Image")) {
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
  if (is_handle(image)) {
    auto incoming = of_view(image);
    return incoming ? std::move(incoming) : of_handle(py::reinterpret_borrow<py::object>(image));
  }
  if (reads_bytes_ && PyBytes_CheckExact(image.ptr())) {
    const codec::Bytes data = bytes_of(image);
    return of_bytes(data, codec::read_header(data), mode_, exif_, py::reinterpret_borrow<py::object>(image));
  }
  if (const py::object path = reads_bytes_ ? path_of(image) : py::object()) {
    if (auto incoming = of_file(path, mode_, exif_, image)) return incoming;
  }
  return of_handle(open_(image));
}

std::optional<Incoming> Handles::of_view(py::handle handle) const {
  const py::object view = handle.attr("one_view")();
  if (view.is_none()) return std::nullopt;
  const py::tuple told = view;
  const Mode mode = told[1].is_none() ? Mode::kNone : mode_of(told[1].cast<std::string>());
  const bool exif = told[2].cast<bool>();
  std::shared_ptr<codec::ScanIndex> index;
  if (!told[3].is_none()) index = told[3].cast<std::shared_ptr<codec::ScanIndex>>();
  std::optional<Incoming> incoming;
  const py::object source = told[0];
  if (PyBytes_CheckExact(source.ptr())) {
    const codec::Bytes data = bytes_of(source);
    incoming = of_bytes(data, codec::read_header(data), mode, exif, py::reinterpret_borrow<py::object>(handle), index);
  } else if (Member::is_one(source)) {
    incoming = of_member(source, mode, exif, handle, index);
  } else {
    incoming = of_file(source, mode, exif, handle, &index);
  }
  if (incoming) handle.attr("viewed")();
  return incoming;
}

std::optional<Incoming> Handles::of_file(py::handle path, Mode mode, bool exif, py::handle owner,
                                         const std::shared_ptr<codec::ScanIndex>* told) const {
  if (!can_read_files()) return std::nullopt;
  const auto name = owned(PyUnicode_EncodeFSDefault(path.ptr())).cast<std::string>();
  // Of arrays a part is mapped.
  if (name.find('\0') != std::string::npos || name.ends_with(".npy")) return std::nullopt;
  auto [file, header] = read_here([&] { return read_file(name.c_str(), kAtOnce); });
  if (!header.native) return std::nullopt;
  std::shared_ptr<codec::ScanIndex> index;
  if (told != nullptr) {
    index = *told;
  } else if (codec::takes_index(header)) {
    const py::object saved = indexes_.attr("saved")(path);
    if (!saved.is_none()) index = saved.cast<std::shared_ptr<codec::ScanIndex>>();
  }
  auto incoming = of_bytes({file.data.get(), file.size}, header, mode, exif, py::reinterpret_borrow<py::object>(owner),
                           std::move(index));
  if (incoming) keep(incoming->source.pixels, std::move(file));
  return incoming;
}

std::optional<Incoming> Handles::of_member(py::handle member, Mode mode, bool exif, py::handle owner,
                                           std::shared_ptr<codec::ScanIndex> index) const {
  const auto& told = member.cast<const Member&>();
  auto [file, header] = read_here([&] { return told.read(); });
  if (!header.native) return std::nullopt;
  auto incoming = of_bytes({file.data.get(), file.size}, header, mode, exif, py::reinterpret_borrow<py::object>(owner),
                           std::move(index));
  if (incoming) keep(incoming->source.pixels, std::move(file));
  return incoming;
}

std::optional<Incoming> Handles::of_bytes(codec::Bytes data, const codec::Header& header, Mode mode, bool exif,
                                          py::object owner, std::shared_ptr<codec::ScanIndex> index) const {
  if (!header.native) return std::nullopt;
  mode = decoded_mode(header, mode);
  if (mode == Mode::kNone) return std::nullopt;
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
