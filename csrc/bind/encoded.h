// Encoded bytes that come in, and the exceptions by which the caller learns that they are not decoded here.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "codec/codec.h"

namespace fastaug::bind {

// Takes "rgb", "ycbcr" or nothing; Error otherwise.
codec::Components components_of(const std::optional<std::string>& colorspace);

// Python's exception of bytes that are not decoded here: Refused, or else Deferred.
pybind11::object exception_of(const codec::Verdict& verdict);

void register_encoded(pybind11::module_& m);

}  // namespace fastaug::bind
