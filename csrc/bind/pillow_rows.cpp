#include "bind/pillow_rows.h"

#include <array>
#include <cstring>
#include <utility>

#include "bind/errors.h"
#include "bind/images.h"
#include "bind/once.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

using Rows = const uint8_t* const*;

// Fields that follow one another in Pillow's struct ImagingMemoryInstance (src/libImaging/Imaging.h).
struct Fields {
  int width;
  int height;
  const void* palette;
  Rows bytes;   // of pixels of one byte
  Rows pixels;  // of pixels of four
  Rows rows;    // one of the two
  const void* block;
  const void* blocks;
  int pixel_size;
  int row_size;
};

// Where they may begin: behind the mode (a number, or a string of 7), type, depth and bands. What follows them makes
// the struct longer than what is read of it here.
constexpr std::array<size_t, 2> kPlaces = {16, 20};

Rows rows_at(const char* imaging, size_t place, const View& layout) {
  constexpr size_t kInts = 2 * sizeof(int);
  Fields fields{};
  std::memcpy(&fields, imaging + place, kInts);
  constexpr size_t kAlign = alignof(void*);
  const size_t pointers = (place + kInts + kAlign - 1) / kAlign * kAlign;
  std::memcpy(&fields.palette, imaging + pointers, 6 * sizeof(void*) + kInts);
  const bool bytes = layout.pixel_stride == 1;
  const bool sides = fields.width == layout.width && fields.height == layout.height;
  const bool sizes = fields.pixel_size == layout.pixel_stride && fields.row_size == layout.row_stride;
  const bool tables = fields.rows != nullptr && (bytes ? fields.bytes : fields.pixels) == fields.rows &&
                      (bytes ? fields.pixels : fields.bytes) == nullptr;
  return sides && sizes && tables ? fields.rows : nullptr;
}

// Pillow's struct, as a capsule that it hands out for extensions; null if it does not.
const char* imaging_of(const py::object& core) {
  const py::object capsule = py::getattr(core, "ptr", py::none());
  if (!PyCapsule_CheckExact(capsule.ptr())) return nullptr;
  void* const pointer = PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr()));
  if (pointer == nullptr) throw py::error_already_set();
  return static_cast<const char*>(pointer);
}

// Whether images that Pillow exports have their rows where a struct with its fields at this place says.
bool is_proven(size_t place) {
  const py::object make = py::module_::import("PIL.Image").attr("core").attr("new");
  const std::pair<const char*, int> modes[] = {{"L", 1}, {"LA", 2}, {"RGB", 3}, {"RGBA", 4}, {"CMYK", 4}};
  int width = 61;
  for (const auto& [mode, channels] : modes) {
    const int height = 2 * width++ - 85;
    const py::object core = make(mode, py::make_tuple(width, height));
    const View view = from_core(core, channels).view;
    const char* const imaging = imaging_of(core);
    const Rows rows = imaging == nullptr ? nullptr : rows_at(imaging, place, view);
    if (rows == nullptr) return false;
    for (int y = 0; y < height; ++y) {
      if (rows[y] != view.at(y, 0, 0)) return false;
    }
  }
  return true;
}

// Zero if none is proven.
size_t proven_place() {
  for (const size_t place : kPlaces) {
    if (is_proven(place)) return place;
  }
  return 0;
}

}  // namespace

const uint8_t* const* rows_of_pillow(const py::object& core, const View& layout) {
  constinit static Once<size_t> place;
  const size_t known = place.get(proven_place);
  const char* const imaging = known == 0 ? nullptr : imaging_of(core);
  return imaging == nullptr ? nullptr : rows_at(imaging, known, layout);
}

}  // namespace fastaug::bind
