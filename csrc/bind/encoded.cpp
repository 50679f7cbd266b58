#include "bind/encoded.h"

#include <pybind11/stl.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "bind/images.h"
#include "bind/with_pixels.h"
#include "codec/gif.h"
#include "codec/jpeg_encode.h"
#include "codec/jpeg_frame.h"
#include "codec/scan_index.h"
#include "codec/source.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// Set once, when the module is made, and never freed: as an exception of a module has to be.
PyObject* deferred = nullptr;
PyObject* refused = nullptr;

void translate_verdict(std::exception_ptr caught) {
  try {
    if (caught) std::rethrow_exception(caught);
  } catch (const codec::NotDecoded& error) {
    const py::object exception = exception_of(error.verdict());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  }
}

// Bytes of Python's, kept alive and in place.
class Buffer {
 public:
  Buffer(const py::object& object, const char* name) {
    if (object.is_none()) return;
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) {
      PyErr_Clear();
      fail(ErrorCode::kType, std::string(name) + " must be contiguous bytes, got " +
                                 py::str(py::type::handle_of(object)).cast<std::string>());
    }
    held_ = true;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (held_) PyBuffer_Release(&view_);
  }

  codec::Bytes bytes() const {
    if (!held_) return {};
    return {static_cast<const uint8_t*>(view_.buf), static_cast<size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
  bool held_ = false;
};

class Encoded {
 public:
  Encoded(const py::object& data, const py::object& tables, const std::optional<std::string>& colorspace, bool luma)
      : data_(data, "data"),
        tables_(tables, "tables"),
        components_(components_of(colorspace)),
        header_(header_of(data_.bytes(), luma)) {}

  const codec::Header& header() const { return header_; }

  std::unique_ptr<codec::EncodedSource> pixels(int channels, std::shared_ptr<codec::ScanIndex> index) const {
    return std::make_unique<codec::EncodedSource>(data_.bytes(), header_, channels, beside(), std::move(index));
  }

  std::unique_ptr<codec::EncodedSource> stored() const {
    return std::make_unique<codec::EncodedSource>(data_.bytes(), codec::stored_of(header_), 1, beside());
  }

  // A bit for each number of channels that pixels() makes.
  int conversions() const {
    int bits = 0;
    for (int channels = 1; header_.native && channels <= kMaxChannels; ++channels) {
      if (codec::converts(header_, channels)) bits |= 1 << channels;
    }
    return bits;
  }

  // Of all of the scan, as far as it is decoded here: the last pixel has all codes before it.
  std::shared_ptr<codec::ScanIndex> scan_index() const {
    const auto index = std::make_shared<codec::ScanIndex>();
    without_gil([&] {
      Arena arena;
      codec::Beside beside = this->beside();
      beside.index = index.get();
      const Region last = {header_.height - 1, header_.width - 1, 1, 1};
      if (!index->is_of(data_.bytes()) || !header_.native || !codec::takes_index(header_)) return;
      codec::decode(data_.bytes(), header_, {last, header_.channels}, arena, beside);
    });
    return index;
  }

  static codec::Header header_of(codec::Bytes bytes, bool luma) {
    const codec::Header header = codec::read_header(bytes);
    return luma ? codec::luma_of(header) : header;
  }

  void read_16(int top, int left, int height, int width, uintptr_t address) const {
    const bool inside = top >= 0 && left >= 0 && height > 0 && width > 0 && height <= header_.height - top &&
                        width <= header_.width - left;
    if (!inside) fail(ErrorCode::kValue, "the region must lie inside the image");
    if (address == 0) fail(ErrorCode::kValue, "address must not be a null pointer");
    without_gil([&] {
      Arena arena;
      const codec::Decoded decoded = codec::decode_16(data_.bytes(), header_, {top, left, height, width}, arena);
      if (!decoded.verdict.done()) throw codec::NotDecoded(decoded.verdict);
      auto* out = reinterpret_cast<uint8_t*>(address);
      const size_t row = static_cast<size_t>(width) * static_cast<size_t>(header_.channels) * 2;
      for (int y = top; y < top + height; ++y, out += row) std::memcpy(out, decoded.view.at(y, left, 0), row);
    });
  }

 private:
  codec::Beside beside() const { return {tables_.bytes(), components_}; }

  Buffer data_;
  Buffer tables_;
  const codec::Components components_;
  const codec::Header header_;
};

// A GIF file, of which every image is drawn.
class Gif {
 public:
  explicit Gif(const py::object& data) : data_(data, "data"), file_(codec::gif::read_file(data_.bytes())) {
    if (!file_.verdict.done()) throw codec::NotDecoded(file_.verdict);
  }

  int64_t pixels() const { return file_.pixels(); }
  // (images, height, width, channels)
  py::tuple shape() const { return py::make_tuple(file_.frames.size(), file_.height, file_.width, 3); }

  // All images into memory of that shape, without gaps.
  void draw(uintptr_t address) const {
    if (address == 0) fail(ErrorCode::kValue, "address must not be a null pointer");
    without_gil([&] {
      const codec::Verdict verdict = codec::gif::draw(file_, reinterpret_cast<uint8_t*>(address));
      if (!verdict.done()) throw codec::NotDecoded(verdict);
    });
  }

 private:
  const Buffer data_;
  const codec::gif::File file_;
};

Source source_of(const py::object& owner, std::unique_ptr<codec::EncodedSource> pixels) {
  Source source;
  source.pixels = std::move(pixels);
  source.view = source.pixels->layout();
  source.owner = owner;
  return source;
}

void check_quality(int quality) {
  if (quality < 1 || quality > 100) {
    fail(ErrorCode::kValue, "quality must be 1 to 100, got " + std::to_string(quality));
  }
}

py::bytearray jpeg_encode(const Source& source, int quality) {
  const View& view = source.view;
  if (view.dtype != DType::kUint8 || (view.channels != 1 && view.channels != 3)) {
    fail(ErrorCode::kValue, "the image must be of 8 bits and of 1 or 3 channels");
  }
  check_quality(quality);
  codec::jpeg::EncodedFile file;
  without_gil([&] {
    static thread_local Arena arena;
    const ArenaReset reset{arena};
    file = codec::jpeg::encode(all_pixels(source, arena), quality, arena);
  });
  if (file.error != nullptr) fail(ErrorCode::kValue, file.error);
  return {reinterpret_cast<const char*>(file.bytes.get()), file.size};
}

}  // namespace

codec::Components components_of(const std::optional<std::string>& colorspace) {
  if (!colorspace) return codec::Components::kAsMarked;
  if (*colorspace == "rgb") return codec::Components::kRgb;
  if (*colorspace == "ycbcr") return codec::Components::kYcbcr;
  fail(ErrorCode::kValue, "colorspace must be None, 'rgb' or 'ycbcr', got '" + *colorspace + "'");
}

py::object exception_of(const codec::Verdict& verdict) {
  const auto offset =
      verdict.offset == codec::Verdict::kNowhere ? ptrdiff_t{-1} : static_cast<ptrdiff_t>(verdict.offset);
  return py::handle(verdict.outcome == codec::Outcome::kRefused ? refused : deferred)(verdict.reason, offset);
}

void register_encoded(py::module_& m) {
  deferred = PyErr_NewException("fastaug._C.Deferred", nullptr, nullptr);
  refused = PyErr_NewException("fastaug._C.Refused", nullptr, nullptr);
  if (deferred == nullptr || refused == nullptr) throw py::error_already_set();
  m.attr("Deferred") = py::handle(deferred);
  m.attr("Refused") = py::handle(refused);
  py::register_exception_translator(translate_verdict);

  codec::survive_forks();
  m.def("jpeg_decoder", &codec::jpeg_decoder);
  m.def("webp_decoder", &codec::webp_decoder);
  m.def("jpeg_encode", &jpeg_encode, py::arg("source"), py::arg("quality"));
  m.def(
      "afford",
      [](const py::object& data) {
        const Buffer buffer(data, "data");
        const codec::Verdict verdict = codec::afford(buffer.bytes());
        if (!verdict.done()) throw codec::NotDecoded(verdict);
      },
      py::arg("data"));
  m.def(
      "image_end",
      [](const py::object& data) {
        const Buffer buffer(data, "data");
        const size_t end = codec::image_end(buffer.bytes());
        return end == codec::kNoEnd ? std::nullopt : std::optional<size_t>(end);
      },
      py::arg("data"));
  m.def(
      "jpeg_segment",
      [](const py::object& data, int marker) {
        const Buffer buffer(data, "data");
        const codec::Bytes content = codec::jpeg::find_segment(buffer.bytes(), static_cast<uint8_t>(marker));
        return content.data == nullptr
                   ? py::object(py::none())
                   : py::object(py::bytes(reinterpret_cast<const char*>(content.data), content.size));
      },
      py::arg("data"), py::arg("marker"));
  py::class_<Gif>(m, "Gif", py::is_final())
      .def(py::init<const py::object&>(), py::arg("data"))
      .def_property_readonly("shape", &Gif::shape)
      .def_property_readonly("pixels", &Gif::pixels)
      .def("draw", &Gif::draw, py::arg("address"));
  using codec::ScanIndex;
  py::class_<ScanIndex, std::shared_ptr<ScanIndex>>(m, "ScanIndex", py::is_final())
      .def(py::init<>())
      .def_static(
          "load",
          [](const py::object& saved) {
            const Buffer buffer(saved, "saved");
            return ScanIndex::load(buffer.bytes());
          },
          py::arg("saved"))
      .def(
          "is_of",
          [](ScanIndex& index, const py::object& data) {
            const Buffer buffer(data, "data");
            return index.is_of(buffer.bytes());
          },
          py::arg("data"))
      .def("save",
           [](const ScanIndex& index) {
             const std::vector<uint8_t> saved = index.save();
             return py::bytes(reinterpret_cast<const char*>(saved.data()), saved.size());
           })
      .def("__len__", [](const ScanIndex& index) {
        const std::shared_ptr<const codec::ScanPlaces> places = index.places();
        return places == nullptr ? 0 : places->count();
      });
  py::class_<Encoded>(m, "Encoded", py::is_final())
      .def(py::init<const py::object&, const py::object&, const std::optional<std::string>&, bool>(), py::arg("data"),
           py::arg("tables") = py::none(), py::arg("colorspace") = py::none(), py::arg("luma") = false)
      .def_property_readonly("format", [](const Encoded& e) { return codec::name_of(e.header().format); })
      .def_property_readonly("native", [](const Encoded& e) { return e.header().native; })
      .def_property_readonly("height", [](const Encoded& e) { return e.header().height; })
      .def_property_readonly("width", [](const Encoded& e) { return e.header().width; })
      .def_property_readonly("channels", [](const Encoded& e) { return e.header().channels; })
      .def_property_readonly("bits", [](const Encoded& e) { return e.header().bits; })
      .def_property_readonly("mode", [](const Encoded& e) { return codec::mode_of(e.header()); })
      .def_property_readonly("conversions", &Encoded::conversions)
      .def_property_readonly("orientation", [](const Encoded& e) { return e.header().orientation; })
      .def(
          "source",
          [](const py::object& self, int channels, std::optional<std::shared_ptr<codec::ScanIndex>> index) {
            return source_of(self, self.cast<const Encoded&>().pixels(channels, index.value_or(nullptr)));
          },
          py::arg("channels"), py::arg("index") = py::none())
      .def("stored", [](const py::object& self) { return source_of(self, self.cast<const Encoded&>().stored()); })
      .def("scan_index", &Encoded::scan_index)
      .def("read_16", &Encoded::read_16, py::arg("top"), py::arg("left"), py::arg("height"), py::arg("width"),
           py::arg("address"));
}

}  // namespace fastaug::bind
