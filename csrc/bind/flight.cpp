#include "bind/flight.h"

#include <pybind11/stl.h>

#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "bind/encoded.h"
#include "bind/errors.h"
#include "bind/random.h"
#include "bind/recipe.h"
#include "bind/stream.h"
#include "bind/works.h"
#include "codec/source.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// Larger files are read only up to the end of their image, which is Python's to do.
constexpr uint64_t kAtOnce = 16 << 20;

struct Item {
  // Of an image that is not in memory.
  py::object encoded{};  // bytes, or a path
  std::string path{};
  FileBytes file{};
  codec::Header header{};
  std::shared_ptr<codec::ScanIndex> index{};

  std::optional<Drafted> drafted{};  // nothing where the image is Python's
  Source source{};
  Output output{};
  bool placed = false;
  std::exception_ptr failure{};
  py::object error{};
};

// The error that Python is in the middle of raising, if it is not one like Ctrl-C, which is thrown.
py::object caught() {
  py::error_already_set error;
  if (!error.matches(PyExc_Exception)) throw error;
  const py::object value = error.value();
  if (error.trace()) PyException_SetTraceback(value.ptr(), error.trace().ptr());
  return value;
}

class Flight {
 public:
  // `opened` makes the handle of an encoded image. The core opens it by itself, converts it to the `mode`, if that is
  // not None, and turns it by its Exif orientation if `exif`; unless it is no `native` of these handles.
  Flight(py::object recipe, py::object transforms, py::object opened, const std::optional<std::string>& mode, bool exif)
      : held_(std::move(recipe)),
        recipe_(recipe_of(held_)),
        transforms_(std::move(transforms)),
        opened_(std::move(opened)),
        mode_(mode ? mode_of(*mode) : Mode::kNone),
        exif_(exif) {}

  // Borrows the images, and notes the files that are to be read first, with the indexes that are saved for them.
  static py::object begin(const py::object& self, const py::sequence& images, const py::object& saved) {
    return self.cast<Flight&>().begun(self, images, saved);
  }

  // Draws for the images from that number on, and returns the number of the first one that is Python's to draw for, or
  // how many there are. The files have been read. With `seeds`, one for each image, a generator starts from these.
  size_t draw(size_t first, py::handle draws, const std::optional<std::vector<uint64_t>>& seeds) {
    if (!std::exchange(files_begun_, true)) {
      for (Item& item : items_) begin_file(item);
    }
    if (first == items_.size() || !items_[first].drafted || !recipe_.takes(transforms_)) return first;
    if (seeds) {
      const auto form = Stream::plain_form();
      return form ? drawn_from(*seeds, first, *form) : first;
    }
    Stream* const stream = recipe_.draws_any() ? stream_of(draws) : nullptr;
    if (stream == nullptr) return recipe_.draws_any() || !Stream::plain() ? first : drawn(first, nullptr);
    // Keeps earlier draws.
    stream->release();
    if (!stream->acquire()) return first;
    try {
      const size_t end = drawn(first, stream);
      stream->release();
      return end;
    } catch (py::error_already_set&) {
      stream->forget();
      throw;
    }
  }

  // The form of result number `k`, which is drawn for: (height, width, channels), the number of its dtype, and if it is
  // interleaved. None if it is not a tensor alone.
  py::object form(size_t k) const {
    const Drafted& drafted = *items_.at(k).drafted;
    if (!drafted.draft.is_tensor() || drafted.sample) return py::none();
    const Draft& draft = drafted.draft;
    return py::make_tuple(py::make_tuple(draft.height(), draft.width(), draft.channels()),
                          static_cast<int>(recipe_.dtype_of(draft)), recipe_.interleaved(draft));
  }

  // Results of that form lie at a target and so many bytes after it for each image.
  void place(py::object slot, ptrdiff_t step) {
    slot_ = slot.cast<const Sink&>().target;
    step_ = step;
    held_slot_ = std::move(slot);
  }

  // The jobs of images from `first` to `end`, which are drawn for.
  static Works jobs(const py::object& self, size_t first, size_t end) {
    auto& flight = self.cast<Flight&>();
    for (size_t k = first; k < end; ++k) flight.allocate(k);
    return {self, end - first,
            [&flight, first](size_t number, JobQueue::Seconds& seconds) { return flight.run(first + number, seconds); }};
  }

  // Does again what failed of the images from `first` to `end`, with Pillow's pixels where the core does not decode, or keeps its error.
  void mend(size_t first, size_t end) {
    for (size_t k = first; k < end; ++k) {
      Item& item = items_.at(k);
      if (!item.failure) continue;
      PyObject* const result = guarded([&] {
        run_again(item);
        return py::none();
      });
      if (result == nullptr) item.error = caught();
      Py_XDECREF(result);
      item.failure = nullptr;
    }
  }

  // The numbers of the images from one on that are Python's, as far as that is known.
  std::vector<size_t> others(size_t first) const {
    std::vector<size_t> numbers;
    for (size_t k = first; k < items_.size(); ++k) {
      if (!items_[k].drafted) numbers.push_back(k);
    }
    return numbers;
  }

  // Of each image that is done here, its number with the result, the error, or None where the result is in its slot.
  // Frees all memory.
  py::list results() {
    py::list all;
    for (size_t k = 0; k < items_.size(); ++k) {
      Item& item = items_[k];
      if (!item.drafted) continue;
      py::object result = py::none();
      if (item.error) {
        result = item.error;
      } else if (!item.placed) {
        result = recipe_.delivered(*item.drafted, item.output);
      }
      all.append(py::make_tuple(k, result));
    }
    items_.clear();
    return all;
  }

  double seconds() const { return seconds_; }

 private:
  py::object begun(const py::object& self, const py::sequence& images, const py::object& saved) {
    std::vector<Item*> files;
    std::string folder;
    bool is_indexed = false;
    const bool reads = recipe_.takes(transforms_);
    for (const py::handle image : images) {
      Item& item = items_.emplace_back();
      if (!reads) continue;
      try {
        if (PyUnicode_CheckExact(image.ptr())) {
          if (!can_read_files()) continue;
          item.path = image.cast<std::string>();
          if (item.path.find('\0') != std::string::npos) continue;
          item.encoded = py::reinterpret_borrow<py::object>(image);
          const size_t end = item.path.rfind('/');
          const std::string own = item.path.substr(0, end == std::string::npos ? 0 : end);
          if (files.empty() || own != folder) {
            folder = own;
            is_indexed = saved.attr("is_indexed")(folder).cast<bool>();
          }
          if (is_indexed) item.index = saved.attr("saved")(image).cast<std::shared_ptr<codec::ScanIndex>>();
          files.push_back(&item);
        } else if (PyBytes_CheckExact(image.ptr())) {
          item.encoded = py::reinterpret_borrow<py::object>(image);
          const codec::Bytes data = bytes_of(image);
          item.header = codec::read_header(data);
          begin_encoded(item, data);
        } else {
          recipe_.borrow(image, item.drafted);
        }
      } catch (py::error_already_set& error) {
        // Python comes to the same error.
        if (!error.matches(PyExc_Exception)) throw;
        item.drafted.reset();
      }
    }
    if (files.empty()) return py::none();
    return py::cast(Works{self, files.size(), [files](size_t number, JobQueue::Seconds&) {
                            Item& item = *files[number];
                            item.file = read_file(item.path.c_str(), kAtOnce);
                            item.header = codec::read_header({item.file.data.get(), item.file.size});
                            return true;
                          }});
  }

  void begin_file(Item& item) {
    if (item.file.size == 0) return;
    begin_encoded(item, {item.file.data.get(), item.file.size});
    if (!item.drafted) item.file = {};
  }

  void begin_encoded(Item& item, codec::Bytes data) {
    auto incoming = recipe_.handles().of_bytes(data, item.header, mode_, exif_, item.encoded, item.index);
    if (incoming) recipe_.begin_encoded(std::move(*incoming), item.drafted);
  }

  size_t drawn(size_t first, Stream* stream) {
    const double start = now();
    Random none;
    Random& random = stream == nullptr ? none : stream->random;
    const UniformForm form = stream == nullptr ? UniformForm() : stream->form;
    size_t k = first;
    for (; k < items_.size() && items_[k].drafted; ++k) {
      const uint64_t before = random.drawn();
      if (!is_drawn(items_[k], random, form)) {
        rewind(stream, before);
        break;
      }
    }
    seconds_ += now() - start;
    return k;
  }

  size_t drawn_from(const std::vector<uint64_t>& seeds, size_t first, UniformForm form) {
    const double start = now();
    GeneratorState state;
    size_t k = first;
    for (; k < items_.size() && items_[k].drafted; ++k) {
      state.start(seeds.at(k));
      Random random(&state);
      if (!is_drawn(items_[k], random, form)) break;
    }
    seconds_ += now() - start;
    return k;
  }

  // False, and no draft any more, if the image is Python's after all.
  bool is_drawn(Item& item, Random& random, UniformForm form) {
    Drafted& drafted = *item.drafted;
    try {
      recipe_.draw(drafted, random, form);
      if (recipe_.takes(drafted)) return true;
    } catch (py::error_already_set& error) {
      // Python comes to the same error, if it is one and not Ctrl-C.
      if (!error.matches(PyExc_Exception)) throw;
    }
    item.drafted.reset();
    return false;
  }

  // Leaves the generator after that many words since it was acquired.
  static void rewind(Stream* stream, uint64_t words) {
    if (stream == nullptr || stream->random.drawn() == words) return;
    stream->forget();
    if (stream->acquire()) stream->random.skip(words);
  }

  void allocate(size_t k) {
    Item& item = items_[k];
    const Drafted& drafted = *item.drafted;
    const Draft& draft = drafted.draft;
    const bool fits = held_slot_ && draft.is_tensor() && !drafted.sample && recipe_.dtype_of(draft) == slot_.dtype &&
                      draft.shape == Shape{slot_.height, slot_.width, slot_.channels};
    if (fits) {
      item.placed = true;
      item.output.target = slot_;
      item.output.target.data = static_cast<uint8_t*>(slot_.data) + static_cast<ptrdiff_t>(k) * step_;
    } else {
      item.output = recipe_.output_of(drafted);
    }
    const bool ready = !drafted.image.encoded || drafted.image.source.pixels != nullptr;
    item.source = ready ? drafted.image.source : recipe_.handles().pixels(drafted.image);
  }

  bool run(size_t k, JobQueue::Seconds& seconds) {
    Item& item = items_[k];
    try {
      execute_timed(job_of(*item.drafted, item.source, item.output.target), {nullptr, recipe_.rewrites()}, seconds);
      item.file = {};
      return true;
    } catch (...) {
      item.failure = std::current_exception();
      return false;
    }
  }

  void run_again(Item& item) {
    const Drafted& drafted = *item.drafted;
    if (!item.encoded) {
      recipe_.execute(drafted, item.output.target);
      return;
    }
    try {
      std::rethrow_exception(item.failure);
    } catch (const codec::NotDecoded& error) {
      const auto source = opened_(item.encoded).attr("undecoded")(exception_of(error.verdict())).cast<Source>();
      recipe_.execute(drafted, source, item.output.target);
    }
  }

  const py::object held_;
  Recipe& recipe_;
  const py::object transforms_, opened_;
  const Mode mode_;
  const bool exif_;
  std::deque<Item> items_;
  Target slot_{};
  ptrdiff_t step_ = 0;
  py::object held_slot_{};
  bool files_begun_ = false;
  double seconds_ = 0.0;
};

}  // namespace

void register_flight(py::module_& m) {
  py::class_<Works>(m, "Works", py::is_final()).def("__len__", [](const Works& works) { return works.count; });
  py::class_<Flight>(m, "Flight", py::is_final())
      .def(py::init<py::object, py::object, py::object, const std::optional<std::string>&, bool>(), py::arg("recipe"),
           py::arg("transforms"), py::arg("opened"), py::arg("mode"), py::arg("exif"))
      .def("begin", &Flight::begin, py::arg("images"), py::arg("saved"))
      .def("draw", &Flight::draw, py::arg("first"), py::arg("draws"), py::arg("seeds") = py::none())
      .def("form", &Flight::form, py::arg("number"))
      .def("place", &Flight::place, py::arg("slot"), py::arg("step"))
      .def("jobs", &Flight::jobs, py::arg("first"), py::arg("end"))
      .def("mend", &Flight::mend, py::arg("first"), py::arg("end"))
      .def("others", &Flight::others, py::arg("first"))
      .def("results", &Flight::results)
      .def("seconds", &Flight::seconds);
}

}  // namespace fastaug::bind
