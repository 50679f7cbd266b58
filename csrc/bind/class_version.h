// The number by which Python tells that a class has changed.
#pragma once

#include <Python.h>

namespace fastaug::bind {

// Python gives a class another version whenever an attribute of it, or of a class that it is derived from, is set. 0 is
// no version: nobody has looked an attribute up since then, or the class has changed too often for Python to count.
inline unsigned version_of(const PyTypeObject* type) {
#if PY_VERSION_HEX < 0x030D0000
  // Before 3.13 a flag says whether the number holds.
  if ((type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) == 0) return 0;
#endif
  return type->tp_version_tag;
}

}  // namespace fastaug::bind
