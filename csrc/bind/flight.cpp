#include "bind/flight.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "bind/encoded.h"
#include "bind/errors.h"
#include "bind/images.h"
#include "bind/incoming.h"
#include "bind/member.h"
#include "bind/random.h"
#include "bind/recipe.h"
#include "bind/stream.h"
#include "bind/works.h"
#include "codec/source.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// One result of an image.
struct OneResult {
  std::optional<Drafted> drafted{};
  Output output{};
};

struct Item {
  explicit Item(size_t count) : views(count) {}

  // Of an encoded image.
  py::object encoded{};  // bytes, a path, a member of an archive, or a handle
  std::string path{};
  const Member* member = nullptr;
  Mode mode = Mode::kNone;  // to convert to, or kNone
  bool exif = false;        // it is turned by its Exif orientation
  FileBytes file{};
  codec::Header header{};
  std::shared_ptr<codec::ScanIndex> index{};
  std::optional<Sample> sample{};  // that it is from, until its draft begins

  std::vector<OneResult> views;
  bool is_own = false;    // not Python's
  bool is_begun = false;  // has a job
  Source source{};
  bool placed = false;
  std::exception_ptr failure{};
  py::object error{};
};

// A recipe, and the transforms that it is of.
struct Route {
  py::object held, transforms;
  Recipe& recipe;
};

struct Slot {
  Target first{};
  ptrdiff_t step = 0;  // bytes from one to the next
};

// The error that Python is in the middle of raising, if it is not one like Ctrl-C, which is thrown.
py::object caught() {
  py::error_already_set error;
  if (!error.matches(PyExc_Exception)) throw error;
  const py::object value = error.value();
  if (error.trace()) PyException_SetTraceback(value.ptr(), error.trace().ptr());
  return value;
}

// Writes numbers as int64 to an address. False if one is not an int of Python's, exactly, of 64 bits.
bool put_integers(const py::list& numbers, uintptr_t address) {
  auto* const out = reinterpret_cast<int64_t*>(address);
  for (size_t k = 0; k < numbers.size(); ++k) {
    const py::object number = numbers[k];
    int overflow = 0;
    if (!PyLong_CheckExact(number.ptr())) return false;
    out[k] = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow != 0) return false;
  }
  return true;
}

class Flight {
 public:
  // Of pairs of a recipe and its transforms, one for each view of an image. `opened` makes the handle of an encoded
  // image. The core opens it by itself, converts it to the `mode`, if that is not None, and turns it by its Exif
  // orientation if `exif`.
  Flight(const py::sequence& recipes, py::object opened, const std::optional<std::string>& mode, bool exif)
      : opened_(std::move(opened)), mode_(mode ? mode_of(*mode) : Mode::kNone), exif_(exif) {
    for (const py::handle one : recipes) {
      const auto pair = one.cast<py::tuple>();
      routes_.push_back({pair[0], pair[1], recipe_of(pair[0])});
    }
  }

  // Borrows the images, and returns the works that read files, with the indexes that are `saved` for them, or None.
  static py::object begin(const py::object& self, const py::sequence& images, const py::object& saved) {
    return self.cast<Flight&>().begun(self, images, saved);
  }

  // Borrows rows of an array [N, H, W, C] of uint8, which are images of Pillow's of that mode.
  void begin_rows(const Array& array, const std::string& mode, const std::vector<py::ssize_t>& rows) {
    const py::buffer_info info = array.request();
    if (info.ndim != 4 || info.format != "B") fail(ErrorCode::kValue, "rows are those of an array of bytes");
    const auto outline = outline_of_pil(py::str(mode), py::make_tuple(info.shape[2], info.shape[1]));
    if (!outline || outline->shape.channels != info.shape[3]) fail(ErrorCode::kValue, "rows are not of this mode");
    const bool own = holds();
    const auto [height, width, channels] = outline->shape;
    for (const py::ssize_t row : rows) {
      if (row < 0 || row >= info.shape[0]) throw py::index_error("there is no such row");
      Item& item = items_.emplace_back(routes_.size());
      const View view{static_cast<const uint8_t*>(info.ptr) + row * info.strides[0],
                      height,
                      width,
                      channels,
                      info.strides[1],
                      info.strides[2],
                      info.strides[3]};
      if (own) begin_views(item, Incoming{*outline, {view, array}}, 0);
    }
  }

  // Draws for the images from that number to before `end`, and returns the number of the first one that is Python's to
  // draw for, or the end. The files have been read. With `seeds`, one for each image, a generator starts from these.
  size_t draw(size_t first, py::handle draws, const std::optional<std::vector<uint64_t>>& seeds, size_t end) {
    end = std::min(end, items_.size());
    if (!std::exchange(files_begun_, true)) {
      for (Item& item : items_) begin_file(item);
    }
    if (first >= end || !items_[first].is_own || !holds()) return first;
    if (seeds) {
      const auto form = Stream::plain_form();
      return form ? drawn_from(*seeds, first, end, *form) : first;
    }
    const bool draws_any = std::ranges::any_of(routes_, [](const Route& route) { return route.recipe.draws_any(); });
    Stream* const stream = draws_any ? stream_of(draws) : nullptr;
    if (stream == nullptr) return draws_any || !Stream::plain() ? first : drawn(first, end, nullptr);
    // Keeps earlier draws.
    stream->release();
    if (!stream->acquire()) return first;
    try {
      const size_t reached = drawn(first, end, stream);
      stream->release();
      return reached;
    } catch (py::error_already_set&) {
      stream->forget();
      throw;
    }
  }

  // The forms of the results of image `k`, which is drawn for: of each (height, width, channels), the number of its
  // dtype, and if it is interleaved. None if one is not a tensor alone.
  py::object forms(size_t k) const {
    py::list all;
    for (size_t v = 0; v < routes_.size(); ++v) {
      const Drafted& drafted = *items_.at(k).views[v].drafted;
      const Draft& draft = drafted.draft;
      if (!draft.is_tensor() || drafted.sample) return py::none();
      all.append(py::make_tuple(py::make_tuple(draft.height(), draft.width(), draft.channels()),
                                static_cast<int>(routes_[v].recipe.dtype_of(draft)),
                                routes_[v].recipe.interleaved(draft)));
    }
    return all;
  }

  // Results of such forms lie at a target of each, and so many bytes after it for each image.
  void place(const py::sequence& slots) {
    slots_.clear();
    for (const py::handle one : slots) {
      const auto pair = one.cast<py::tuple>();
      slots_.push_back({pair[0].cast<const Sink&>().target, pair[1].cast<ptrdiff_t>()});
    }
    held_slots_ = slots;
  }

  // The jobs of images from `first` to `end`, which are drawn for.
  static Works jobs(const py::object& self, size_t first, size_t end) {
    auto& flight = self.cast<Flight&>();
    for (size_t k = first; k < end; ++k) flight.allocate(k);
    return {self, end - first, [&flight, first](size_t number, JobQueue::Seconds& seconds) {
              return flight.run(first + number, seconds);
            }};
  }

  // Does again what failed of the images from `first` to `end`, with Pillow's pixels where the core does not decode, or
  // keeps its error.
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
      if (!items_[k].is_own) numbers.push_back(k);
    }
    return numbers;
  }

  // Of each image that is done here, and whose results are not in their slots, its number with the list of results, or
  // with the error.
  py::list results() {
    py::list all;
    for (size_t k = 0; k < items_.size(); ++k) {
      Item& item = items_[k];
      if (!item.is_begun || (item.placed && !item.error)) continue;
      py::object result = item.error;
      if (!result) {
        py::list several;
        for (size_t v = 0; v < routes_.size(); ++v) {
          several.append(routes_[v].recipe.delivered(*item.views[v].drafted, item.views[v].output));
        }
        result = several;
      }
      all.append(py::make_tuple(k, result));
    }
    return all;
  }

  // Pixels of the largest image that is done here.
  int64_t most_pixels() const {
    int64_t most = 0;
    for (const Item& item : items_) {
      if (!item.is_begun) continue;
      const Shape& shape = item.views[0].drafted->image.outline.shape;
      most = std::max(most, int64_t{shape.height} * shape.width);
    }
    return most;
  }

  double seconds() const { return seconds_; }

 private:
  bool holds() {
    return std::ranges::all_of(routes_, [](Route& route) { return route.recipe.takes(route.transforms); });
  }

  py::object begun(const py::object& self, const py::sequence& images, const py::object& saved) {
    std::vector<Item*> files;
    const bool own = holds();
    for (const py::handle image : images) {
      Item& item = items_.emplace_back(routes_.size());
      if (!own) continue;
      try {
        if (begin_item(item, image, saved)) files.push_back(&item);
      } catch (py::error_already_set& error) {
        // Python comes to the same error.
        if (!error.matches(PyExc_Exception)) throw;
        item.is_own = false;
      }
    }
    if (files.empty()) return py::none();
    return py::cast(Works{self, files.size(), [files](size_t number, JobQueue::Seconds& seconds) {
                            const double start = now();
                            read(*files[number]);
                            seconds.reading += now() - start;
                            return true;
                          }});
  }

  // A file that cannot be read is Python's.
  static void read(Item& item) noexcept {
    try {
      item.file = item.member != nullptr ? item.member->read() : read_file(item.path.c_str(), kAtOnce);
      item.header = codec::read_header({item.file.data.get(), item.file.size});
    } catch (const std::bad_alloc&) {
      item.file = {};
    }
  }

  // Borrows an image that is in memory. True of one whose file is to be read.
  bool begin_item(Item& item, py::handle image, const py::object& saved) {
    const Recipe& recipe = routes_[0].recipe;
    item.mode = mode_;
    item.exif = exif_;
    auto sample = recipe.sample_of(image);
    // The file of a sample's only image is read like that of an image alone. A sample has one view.
    if (sample && routes_.size() == 1 && sample->images() == 1 && recipe.handles().is_handle(sample->image(0))) {
      image = sample->image(0);
      item.sample = std::exchange(sample, std::nullopt);
    }
    py::object source = py::reinterpret_borrow<py::object>(image);
    const bool is_handle = recipe.handles().is_handle(image);
    if (is_handle) {
      const py::object plain = image.attr("plain_source")();
      if (plain.is_none()) return false;
      const py::tuple told = plain;
      source = told[0];
      item.mode = told[1].is_none() ? Mode::kNone : mode_of(told[1].cast<std::string>());
      item.exif = told[2].cast<bool>();
      if (!told[3].is_none()) item.index = told[3].cast<std::shared_ptr<codec::ScanIndex>>();
    }
    if (PyBytes_CheckExact(source.ptr())) {
      const codec::Bytes data = bytes_of(source);
      item.encoded = py::reinterpret_borrow<py::object>(image);
      item.header = codec::read_header(data);
      begin_encoded(item, data);
    } else if (Member::is_one(source)) {
      item.member = source.cast<const Member*>();
      item.encoded = py::reinterpret_borrow<py::object>(image);
      return true;
    } else if (!PyUnicode_CheckExact(source.ptr())) {
      borrow(item, image, std::move(sample));
    } else if (can_read_files()) {
      item.path = owned(PyUnicode_EncodeFSDefault(source.ptr())).cast<std::string>();
      item.encoded = py::reinterpret_borrow<py::object>(image);
      if (!is_handle && has_indexes(item.path, saved)) {
        item.index = saved.attr("saved")(source).cast<std::shared_ptr<codec::ScanIndex>>();
      }
      return item.path.find('\0') == std::string::npos;
    }
    return false;
  }

  // True if there are saved indexes in the folder of a path.
  bool has_indexes(const std::string& path, const py::object& saved) {
    const size_t end = path.rfind('/');
    const auto [found, is_new] = folders_.try_emplace(path.substr(0, end == std::string::npos ? 0 : end), false);
    if (is_new) found->second = saved.attr("is_indexed")(found->first).cast<bool>();
    return found->second;
  }

  void begin_file(Item& item) {
    if (item.file.size == 0) return;
    begin_encoded(item, {item.file.data.get(), item.file.size});
    if (!item.is_own) item.file = {};
  }

  void begin_encoded(Item& item, codec::Bytes data) {
    const auto incoming =
        routes_[0].recipe.handles().of_bytes(data, item.header, item.mode, item.exif, item.encoded, item.index);
    if (incoming) begin_views(item, *incoming, 0);
  }

  void borrow(Item& item, py::handle image, std::optional<Sample> sample) {
    std::optional<Drafted>& first = item.views[0].drafted;
    routes_[0].recipe.borrow(image, std::move(sample), first);
    // A sample has one view.
    if (!first || (first->sample && routes_.size() > 1)) return;
    item.is_own = true;
    if (routes_.size() > 1) begin_views(item, first->image, 1);
  }

  // Begins the drafts of the views from `v` on.
  void begin_views(Item& item, const Incoming& incoming, size_t v) {
    for (; v < routes_.size(); ++v)
      routes_[v].recipe.begin(incoming, std::exchange(item.sample, {}), item.views[v].drafted);
    item.is_own = std::ranges::all_of(item.views, [](const OneResult& view) { return view.drafted.has_value(); });
  }

  size_t drawn(size_t first, size_t end, Stream* stream) {
    const double start = now();
    Random none;
    Random& random = stream == nullptr ? none : stream->random;
    const UniformForm form = stream == nullptr ? UniformForm() : stream->form;
    size_t k = first;
    for (; k < end && items_[k].is_own; ++k) {
      const uint64_t before = random.drawn();
      if (!is_drawn(items_[k], random, form)) {
        rewind(stream, before);
        break;
      }
    }
    seconds_ += now() - start;
    return k;
  }

  size_t drawn_from(const std::vector<uint64_t>& seeds, size_t first, size_t end, UniformForm form) {
    const double start = now();
    GeneratorState states[4];
    size_t k = first, started = first;
    for (; k < end && items_[k].is_own; ++k) {
      if (k == started) {
        const size_t count = std::min(std::size(states), end - k);
        GeneratorState::start({states, count}, &seeds.at(k + count - 1) - (count - 1));
        started += count;
      }
      Random random(&states[(k - first) % std::size(states)]);
      if (!is_drawn(items_[k], random, form)) break;
    }
    seconds_ += now() - start;
    return k;
  }

  // False if the image is Python's after all.
  bool is_drawn(Item& item, Random& random, UniformForm form) {
    try {
      for (size_t v = 0; v < routes_.size(); ++v) {
        Drafted& drafted = *item.views[v].drafted;
        routes_[v].recipe.draw(drafted, random, form);
        if (!routes_[v].recipe.takes(drafted)) return item.is_own = false;
      }
      return true;
    } catch (py::error_already_set& error) {
      // Python comes to the same error, if it is one and not Ctrl-C.
      if (!error.matches(PyExc_Exception)) throw;
      return item.is_own = false;
    }
  }

  // Leaves the generator after that many words since it was acquired.
  static void rewind(Stream* stream, uint64_t words) {
    if (stream == nullptr || stream->random.drawn() == words) return;
    stream->forget();
    if (stream->acquire()) stream->random.skip(words);
  }

  void allocate(size_t k) {
    Item& item = items_[k];
    item.is_begun = true;
    item.placed = slots_.size() == routes_.size();
    for (size_t v = 0; v < routes_.size() && item.placed; ++v) item.placed = fits(v, *item.views[v].drafted);
    for (size_t v = 0; v < routes_.size(); ++v) {
      OneResult& view = item.views[v];
      if (!item.placed) {
        view.output = routes_[v].recipe.output_of(*view.drafted);
        continue;
      }
      Target& target = view.output.result.target = slots_[v].first;
      target.data = static_cast<uint8_t*>(target.data) + static_cast<ptrdiff_t>(k) * slots_[v].step;
    }
    const Incoming& image = item.views[0].drafted->image;
    const bool ready = !image.encoded || image.source.pixels != nullptr;
    item.source = ready ? image.source : routes_[0].recipe.handles().pixels(image);
  }

  bool fits(size_t v, const Drafted& drafted) const {
    const Draft& draft = drafted.draft;
    const Target& slot = slots_[v].first;
    return draft.is_tensor() && !drafted.sample && routes_[v].recipe.dtype_of(draft) == slot.dtype &&
           draft.shape == Shape{slot.height, slot.width, slot.channels};
  }

  bool run(size_t k, JobQueue::Seconds& seconds) {
    Item& item = items_[k];
    const ExecuteOptions options{nullptr, routes_[0].recipe.rewrites()};
    try {
      std::vector<Job> jobs;
      jobs.reserve(item.views.size());
      for (const OneResult& view : item.views)
        jobs.push_back(job_of(view.drafted->draft, item.source, view.output.result.target));
      execute_timed(std::move(jobs), options, seconds);
      item.file = {};
      return true;
    } catch (...) {
      item.failure = std::current_exception();
      return false;
    }
  }

  void run_again(Item& item) {
    Source source = item.source;
    try {
      std::rethrow_exception(item.failure);
    } catch (const codec::NotDecoded& error) {
      const py::object& encoded = item.views[0].drafted->image.encoded;
      const bool is_handle = routes_[0].recipe.handles().is_handle(encoded);
      const py::object handle = is_handle ? encoded : opened_(encoded);
      source = handle.attr("undecoded")(exception_of(error.verdict())).cast<Source>();
    } catch (...) {
      // It comes again if it was no chance.
    }
    for (size_t v = 0; v < routes_.size(); ++v) {
      routes_[v].recipe.execute(item.views[v].drafted->draft, source, item.views[v].output.result.target);
    }
  }

  std::vector<Route> routes_;
  const py::object opened_;
  const Mode mode_;
  const bool exif_;
  std::deque<Item> items_;
  std::vector<Slot> slots_;
  py::object held_slots_{};
  std::unordered_map<std::string, bool> folders_;  // of files, by whether there are indexes in them
  bool files_begun_ = false;
  double seconds_ = 0.0;
};

}  // namespace

void register_flight(py::module_& m) {
  m.def("put_integers", &put_integers, py::arg("numbers"), py::arg("address"));
  py::class_<Flight>(m, "Flight", py::is_final())
      .def(py::init<const py::sequence&, py::object, const std::optional<std::string>&, bool>(), py::arg("recipes"),
           py::arg("opened"), py::arg("mode"), py::arg("exif"))
      .def("begin", &Flight::begin, py::arg("images"), py::arg("saved"))
      .def("begin_rows", &Flight::begin_rows, py::arg("array"), py::arg("mode"), py::arg("rows"))
      .def("draw", &Flight::draw, py::arg("first"), py::arg("draws"), py::arg("seeds") = py::none(),
           py::arg("end") = SIZE_MAX)
      .def("forms", &Flight::forms, py::arg("number"))
      .def("place", &Flight::place, py::arg("slots"))
      .def("jobs", &Flight::jobs, py::arg("first"), py::arg("end"))
      .def("mend", &Flight::mend, py::arg("first"), py::arg("end"))
      .def("others", &Flight::others, py::arg("first"))
      .def("results", &Flight::results)
      .def("most_pixels", &Flight::most_pixels)
      .def("seconds", &Flight::seconds);
}

}  // namespace fastaug::bind
