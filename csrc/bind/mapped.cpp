#include "bind/mapped.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// Read-only, and as long as the file is now. Unlike Python's mmap it holds no descriptor, so that any number of handles
// may have one. Of a file that is cut short later, as of any mapped one, the pages that are no more raise SIGBUS.
class Mapped {
 public:
  explicit Mapped(int descriptor) {
    struct stat status{};
    if (fstat(descriptor, &status) != 0) raise();
    size_ = static_cast<size_t>(status.st_size);
    data_ = mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
    if (data_ == MAP_FAILED) raise();
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { munmap(data_, size_); }

  py::buffer_info buffer() const {
    return {static_cast<const uint8_t*>(data_), static_cast<py::ssize_t>(size_), /*readonly=*/true};
  }

 private:
  [[noreturn]] static void raise() {
    PyErr_SetFromErrno(PyExc_OSError);
    throw py::error_already_set();
  }

  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

void register_mapped(py::module_& m) {
  py::class_<Mapped>(m, "Mapped", py::buffer_protocol(), py::is_final())
      .def(py::init<int>(), py::arg("descriptor"))
      .def_buffer(&Mapped::buffer);
}

}  // namespace fastaug::bind
