#include "bind/tiles.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/status.h"
#include "bind/encoded.h"
#include "bind/images.h"
#include "bind/without_gil.h"
#include "codec/source.h"
#include "codec/tiles.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// The binding of tiles: several regions share it.
struct PyTiles {
  std::shared_ptr<const codec::Tiles> tiles;
};

std::vector<uint64_t> numbers(const char* name, const py::bytes& bytes) {
  const std::string_view text = bytes;
  if (text.size() % sizeof(uint64_t) != 0) fail(ErrorCode::kValue, std::string(name) + " must hold uint64");
  std::vector<uint64_t> made(text.size() / sizeof(uint64_t));
  text.copy(reinterpret_cast<char*>(made.data()), text.size());
  return made;
}

PyTiles make_tiles(std::shared_ptr<File> file, int height, int width, int tile_height, int tile_width,
                   const py::bytes& offsets, const py::bytes& sizes, const std::optional<py::bytes>& tables,
                   const std::optional<std::string>& colorspace) {
  auto tiles = std::make_shared<codec::Tiles>();
  tiles->file = std::move(file);
  tiles->height = height;
  tiles->width = width;
  tiles->tile_height = tile_height;
  tiles->tile_width = tile_width;
  tiles->offsets = numbers("offsets", offsets);
  tiles->sizes = numbers("sizes", sizes);
  if (tables) {
    const std::string_view text = *tables;
    tiles->tables.assign(text.begin(), text.end());
  }
  tiles->components = components_of(colorspace);
  tiles->check();
  return {std::move(tiles)};
}

Source region(const PyTiles& self, int64_t y, int64_t x, int height, int width, int channels) {
  Source source;
  source.pixels = std::make_shared<codec::TiledSource>(self.tiles, y, x, height, width, channels);
  source.view = source.pixels->layout();
  source.owner = py::none();
  return source;
}

py::bytes tile_bytes(const PyTiles& self, int64_t index) {
  const codec::Tiles& tiles = *self.tiles;
  if (index < 0 || index >= tiles.columns() * tiles.rows()) {
    fail(ErrorCode::kValue, "there is no tile of the number " + std::to_string(index));
  }
  Arena arena;
  codec::Bytes bytes;
  const codec::Verdict verdict = without_gil([&] { return tiles.read(static_cast<size_t>(index), arena, &bytes); });
  if (!verdict.done()) throw codec::NotDecoded(verdict);
  return {reinterpret_cast<const char*>(bytes.data), bytes.size};
}

}  // namespace

void register_tiles(py::module_& m) {
  py::class_<File, std::shared_ptr<File>>(m, "File", py::is_final()).def(py::init<int>(), py::arg("descriptor"));
  py::class_<PyTiles>(m, "Tiles", py::is_final())
      .def(py::init(&make_tiles), py::arg("file"), py::arg("height"), py::arg("width"), py::arg("tile_height"),
           py::arg("tile_width"), py::arg("offsets"), py::arg("sizes"), py::arg("tables") = py::none(),
           py::arg("colorspace") = py::none())
      .def("source", &region, py::arg("y"), py::arg("x"), py::arg("height"), py::arg("width"), py::arg("channels"))
      .def("read", &tile_bytes, py::arg("index"));
}

}  // namespace fastaug::bind
