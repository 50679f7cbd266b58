// Encoded images that come in: handles of Python's, and sources that a Decode at the head of a pipeline opens.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "bind/encoded.h"
#include "bind/incoming.h"
#include "codec/source.h"

namespace fastaug::bind {

// Those of a bytes object.
codec::Bytes bytes_of(pybind11::handle bytes);

class Handles {
 public:
  // Of a pipeline of Python's `steps`. Of the `settings`, "lazy" is the class of handles, "orient" has the program of
  // each orientation, and "indexes" finds those that are saved beside files.
  Handles(const pybind11::tuple& steps, const pybind11::dict& settings);

  bool is_handle(pybind11::handle image) const {
    return reinterpret_cast<PyObject*>(Py_TYPE(image.ptr())) == lazy_.ptr();
  }
  // True if `incoming` may find an image, as far as its type says.
  bool takes(pybind11::handle image) const { return is_handle(image) || opens_; }

  // What the header says of an image that the core decodes to the mode that is asked for.
  std::optional<Incoming> incoming(pybind11::handle image) const;

  // The same of encoded bytes in memory, which stays as long as `owner`, with the index of a JPEG if there is one.
  std::optional<Incoming> of_bytes(codec::Bytes data, const codec::Header& header, Mode mode, bool exif,
                                   pybind11::object owner, std::shared_ptr<codec::ScanIndex> index = nullptr) const;

  // Starts the draft of such an image by turning the stored pixels, if that is asked for.
  void begin(Draft& draft, const Incoming& image) const;

  // Runs `work` on its pixels: those that the core decodes, else those of Pillow.
  template <class Work>
  void with_pixels(const Incoming& image, const Work& work) const {
    try {
      work(pixels(image));
    } catch (const codec::NotDecoded& error) {
      work(undecoded(image.encoded, exception_of(error.verdict())));
    }
  }

  Source pixels(const Incoming& image) const;

  int traverse(visitproc visit, void* arg) const;
  void clear() { open_ = pybind11::object(); }

 private:
  std::optional<Incoming> of_handle(pybind11::object handle) const;
  // Those of a file, which is read here and stays as long as its pixels are not made, with the index that is told or
  // else the saved one. Nothing where reading is Python's to do.
  std::optional<Incoming> of_file(pybind11::handle path, Mode mode, bool exif, pybind11::handle owner,
                                  const std::shared_ptr<codec::ScanIndex>* told = nullptr) const;
  // Those of a member of an archive, likewise.
  std::optional<Incoming> of_member(pybind11::handle member, Mode mode, bool exif, pybind11::handle owner,
                                    std::shared_ptr<codec::ScanIndex> index) const;
  // Those of a handle that is seen once.
  std::optional<Incoming> of_view(pybind11::handle handle) const;
  Source undecoded(const pybind11::object& encoded, const pybind11::object& reason) const;

  pybind11::object lazy_, orient_, indexes_, pillow_;
  // Of a Decode that begins the pipeline.
  pybind11::object open_;
  bool opens_ = false, exif_ = false;
  bool reads_bytes_ = false;  // as they are, without tables and colour spaces of other files
  Mode mode_ = Mode::kNone;   // to convert to, or kNone
};

}  // namespace fastaug::bind
