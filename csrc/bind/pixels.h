// Images that go out to Pillow: memory in Pillow's own layout, handed over by the Arrow interface without a copy.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>

#include "core/image.h"

namespace fastaug::bind {

class Pixels {
 public:
  // 1 channel: bytes. 2 (LA), 3 or 4: 4-byte pixels.
  Pixels(int height, int width, int channels);

  int height() const { return height_; }
  int width() const { return width_; }
  int channels() const { return channels_; }
  Target target() const;
  // (schema capsule, array capsule); each array keeps the memory alive on its own.
  pybind11::tuple arrow_c_array() const;

 private:
  int height_;
  int width_;
  int channels_;
  std::shared_ptr<uint8_t> data_;
};

void register_pixels(pybind11::module_& m);

}  // namespace fastaug::bind
