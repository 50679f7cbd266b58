#include "bind/libraries.h"

#include <dlfcn.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bind/errors.h"
#include "bind/once.h"
#include "bind/without_gil.h"
#include "draft/gaussian.h"
#include "places/product.h"

namespace py = pybind11;

namespace fastaug::bind {
namespace {

// By name; those that take little time are looked up once.
struct Functions {
  py::dict named;
  py::object real, whole, follows, fuses_products, default_dtype, float32, matmul_precision;
  bool width_first = false;
  py::tuple convolution_settings;  // functions that return numbers
  py::object convolutions, name_of_convolution, convolution;
};

Functions& functions() {
  static auto* const all = new Functions;  // the interpreter may be gone before they are
  return *all;
}

// MKL's exp in torch's own library: many builds of torch have it, and it rounds as no other.
using VmsExp = void (*)(int64_t count, const float* powers, float* results, int64_t mode);

VmsExp vms_exp() {
  constinit static Once<VmsExp> function;
  return function.get([] {
    void* const torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    return torch == nullptr ? nullptr : reinterpret_cast<VmsExp>(dlsym(torch, "vmsExp"));
  });
}

void mkl_exp(std::span<float> powers) {
  // As torch calls it: VML_HA | VML_FTZDAZ_OFF | VML_ERRMODE_IGNORE.
  vms_exp()(static_cast<int64_t>(powers.size()), powers.data(), powers.data(), 0x2 | 0x140000 | 0x100);
}

void weigh_by_torch(std::span<float> exponents, bool v2) {
  functions().named["weights"](
      py::memoryview::from_memory(exponents.data(), static_cast<py::ssize_t>(exponents.size_bytes())), v2);
}

constexpr int kLongestKernel = 2 * kBlurWeights - 1;

// True if the weights of kernels are torch's in all bits, and with them each exp.
bool agrees(bool v2, WeightForm form) {
  constexpr std::pair<float, float> kRanges[] = {{-1, 0}, {-12, 0}, {-100, 0}, {-0.5f, 0.5f}, {-3, 3}, {-30, 0}};
  uint32_t word = 1;
  for (const auto& [low, high] : kRanges) {
    for (int size = 1; size <= kLongestKernel; size += 2) {
      std::vector<float> theirs(static_cast<size_t>(size));
      for (float& exponent : theirs) {
        word = word * 1664525 + 1013904223;
        exponent = low + static_cast<float>(word >> 8) * 0x1p-24f * (high - low);
      }
      std::vector<float> ours = theirs;
      as_weights(ours, v2, form);
      weigh_by_torch(theirs, v2);
      if (ours != theirs) return false;
    }
  }
  return true;
}

// How torch computes weights; nothing where it does so in another way than the core.
std::optional<WeightForm> weight_form(bool v2) {
  constinit static Once<std::optional<WeightForm>> forms[2];
  return forms[v2 ? 1 : 0].get([=]() -> std::optional<WeightForm> {
    for (const Exponential exp : {mkl_exp, sleef_exp}) {
      if (exp == mkl_exp && vms_exp() == nullptr) continue;
      for (const int lanes : {8, 16, 4}) {
        if (agrees(v2, {lanes, exp})) return WeightForm{lanes, exp};
      }
    }
    return std::nullopt;
  });
}

std::vector<float> weights_of(int size, double sigma, bool v2) {
  // torch's positions, by sizes and versions. Each thread asks for itself: a lock might be held while another forks.
  static thread_local std::map<std::pair<int, bool>, std::vector<float>> known;
  auto& positions = known[{size, v2}];
  if (positions.empty()) positions = functions().named["positions"](size, v2).cast<std::vector<float>>();
  std::vector<float> weights = positions;
  as_exponents(weights, static_cast<float>(sigma), v2);
  if (const auto form = weight_form(v2)) {
    as_weights(weights, v2, *form);
  } else {
    weigh_by_torch(weights, v2);
  }
  return weights;
}

// How torch's convolution rounds, once asked for each kernel, shape and setting.
std::optional<bool> fuses_blur(const Kernel& kernel, Shape shape, int64_t images) {
  constexpr size_t kMostSettings = 4, kMostKnown = 4096;
  using Asked = std::array<int64_t, 6 + kMostSettings>;
  static thread_local std::map<Asked, std::optional<bool>> known;
  const Functions& all = functions();
  const auto ask = [&] {
    return all
        .named["fuses"](images, shape.channels, shape.height, shape.width, py::make_tuple(kernel.width, kernel.height))
        .cast<std::optional<bool>>();
  };
  // Another one may be put in the place of torch's.
  if (PyDict_GetItemWithError(all.convolutions.ptr(), all.name_of_convolution.ptr()) != all.convolution.ptr()) {
    return ask();
  }
  Asked asked{images, shape.channels, shape.height, shape.width, kernel.width, kernel.height};
  for (size_t k = 0; k < std::min(all.convolution_settings.size(), kMostSettings); ++k) {
    asked[6 + k] = PyLong_AsLongLong(
        owned(PyObject_CallNoArgs(PyTuple_GET_ITEM(all.convolution_settings.ptr(), static_cast<Py_ssize_t>(k)))).ptr());
  }
  const auto found = known.find(asked);
  if (found != known.end()) return found->second;
  const std::optional<bool> answer = ask();
  if (known.size() >= kMostKnown) known.clear();
  known.emplace(asked, answer);
  return answer;
}

// How torch's product of so many rows of (x, y, 1) and two columns adds; nothing where it does in no known way.
template <class T>
std::optional<ProductForm> ask_product_form(int64_t rows) {
  constexpr int64_t kEnoughRows = 64;
  uint32_t word = 1;
  const auto next = [&word] {
    word = word * 1664525 + 1013904223;
    return (static_cast<T>(word >> 8) + static_cast<T>(1) / static_cast<T>(3)) * static_cast<T>(0x1p-17) - T{64};
  };
  const auto memory = [](auto& values) {
    return py::memoryview::from_memory(values.data(), static_cast<py::ssize_t>(values.size() * sizeof(values[0])));
  };
  std::vector<std::array<T, 3>> points(static_cast<size_t>(rows));
  std::vector<std::array<T, 2>> theirs(points.size());
  std::array<T, 6> map;
  std::vector<ProductForm> forms = product_forms();
  // Sums of a few rows may be the same in several forms.
  for (int64_t compared = 0; compared < kEnoughRows; compared += rows) {
    for (auto& [x, y, one] : points) {
      x = next();
      y = next();
      one = T{1};
    }
    for (T& number : map) number = next();
    functions().named["product"](memory(points), memory(map), memory(theirs), std::is_same_v<T, double>);
    std::erase_if(forms, [&](const ProductForm& form) {
      return !std::ranges::equal(points, theirs, [&](const auto& point, const auto& sums) {
        return form(point, map.data()) == sums[0] && form(point, map.data() + 3) == sums[1];
      });
    });
  }
  if (forms.empty()) return std::nullopt;
  return forms.front();
}

// Asked once for each type and number of rows, of which libraries choose by the smallest ones.
std::optional<ProductForm> known_product_form(bool doubles, int64_t rows) {
  constexpr size_t kMostKnown = 4096;
  if (rows <= 0) return ProductForm{};
  static thread_local std::map<std::tuple<std::string, bool, int64_t>, std::optional<ProductForm>> known;
  std::tuple asked{owned(PyObject_CallNoArgs(functions().matmul_precision.ptr())).cast<std::string>(), doubles, rows};
  if (const auto found = known.find(asked); found != known.end()) return found->second;
  const auto form = doubles ? ask_product_form<double>(rows) : ask_product_form<float>(rows);
  if (known.size() >= kMostKnown) known.clear();
  known.emplace(std::move(asked), form);
  return form;
}

// A function that takes draws of this thread back, once it has drawn; a reference.
constinit thread_local PyObject* take_back = nullptr;

// Before a draw.
void be_able_to_take_back() {
  if (take_back == nullptr) take_back = functions().named["python_draws"]().release().ptr();
}

class ByPython final : public Torch {
 public:
  double exp(float power) const override {
    const auto form = weight_form(false);
    if (!form) return functions().named["exp"](power).cast<double>();
    form->exp({&power, 1});
    return power;
  }

  std::optional<Op> blur(const Kernel& kernel, Shape shape, int64_t images, bool v2) const override {
    // The exponents of a narrower kernel overflow, and so do wider ones in float32.
    const auto taken = [](double sigma) { return 1e-12 <= sigma && sigma <= 1e18; };
    const auto& [width, height, sigma] = kernel;
    if (!taken(sigma.x) || !taken(sigma.y) || std::max(width, height) > kLongestKernel) return std::nullopt;
    const auto fuses = fuses_blur(kernel, shape, images);
    if (!fuses) return std::nullopt;
    const auto across = weights_of(width, sigma.x, v2);
    const bool square = width == height && sigma.x == sigma.y;
    return blur_by(across, square ? across : weights_of(height, sigma.y, v2), *fuses);
  }

  Coefficients perspective(const Corners& starts, const Corners& ends) const override {
    const auto sure = sure_perspective(starts, ends);
    return sure ? *sure : functions().named["perspective"](starts, ends).cast<Coefficients>();
  }

  PlaneSize size_around(const AffineMatrix& map, PlaneSize image, bool v2) const override {
    py::list numbers;
    for (const double number : map.numbers) numbers.append(number);
    const py::tuple size = functions().named["size_around"](numbers, image.height, image.width, v2);
    return {size[0].cast<int64_t>(), size[1].cast<int64_t>()};
  }

  bool follows(Rounding rounding) const override {
    static constexpr const char* kNames[] = {"blends",   "colours", "warps", "warps of tensors",
                                             "bilinear", "bicubic", "bytes", "JPEG files"};
    return functions().follows(kNames[static_cast<size_t>(rounding)]).cast<bool>();
  }

  bool fuses_products() const override { return functions().fuses_products().cast<bool>(); }

  void check_signals() const override {
    without_gil([] {});
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }

  bool width_first() const override { return functions().width_first; }

  bool is_single() const override {
    return owned(PyObject_CallNoArgs(functions().default_dtype.ptr())).is(functions().float32);
  }

  int64_t chosen(int64_t count, const std::vector<double>& weights) const override {
    be_able_to_take_back();
    const py::object given = weights.empty() ? py::none() : py::object(py::cast(weights));
    return functions().named["chosen"](count, given).cast<int64_t>();
  }

  std::vector<int64_t> shuffled(int64_t count) const override {
    be_able_to_take_back();
    return functions().named["shuffled"](count).cast<std::vector<int64_t>>();
  }
};

}  // namespace

PythonDraws::PythonDraws() { Py_CLEAR(take_back); }

PythonDraws::~PythonDraws() {
  if (take_back == nullptr) return;
  const auto function = py::reinterpret_steal<py::object>(std::exchange(take_back, nullptr));
  if (kept_) return;
  const py::error_scope raised;  // an error that is on its way
  if (PyObject* const none = PyObject_CallNoArgs(function.ptr())) {
    Py_DECREF(none);
  } else {
    PyErr_WriteUnraisable(function.ptr());
  }
}

const Torch& libraries() {
  static const ByPython all;
  return all;
}

double real_of(py::handle value) { return functions().real(value).cast<double>(); }

void warn_of_files(int64_t count) {
  if (count > 0) functions().named["warn_of_files"](count);
}

py::object info_of_jpegs() { return functions().named["jpeg_info"](); }

py::object whole_of(py::handle value) { return functions().whole(value); }

void register_libraries(py::module_& m) {
  set_product_forms(known_product_form);
  m.def("sure_perspective", &sure_perspective, py::arg("starts"), py::arg("ends"));
  m.def(
      "help_drafts",
      [](const py::dict& named) {
        functions() = {named,
                       named["real"],
                       named["whole"],
                       named["follows"],
                       named["fuses_products"],
                       named["default_dtype"],
                       named["float32"],
                       named["matmul_precision"],
                       named["width_first"].cast<bool>(),
                       named["convolution_settings"],
                       named["convolutions"],
                       owned(PyUnicode_InternFromString("conv2d")),
                       named["convolutions"]["conv2d"]};
      },
      py::arg("named"));
}

}  // namespace fastaug::bind
