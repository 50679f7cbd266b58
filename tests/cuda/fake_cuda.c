// A CUDA driver without a GPU, for tests: libcuda.so.1 with the functions that fastaug calls. It writes down every
// call, fails when it is told to, counts what is alive, and hands launches to a function of the test's.
//
// Signatures and numbers are those of CUDA's driver API (cuda.h).

#define _GNU_SOURCE
#include <elf.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  LAUNCH_FAILED = 719,
  CAPTURE_IMPLICIT = 906,
};

enum { DEVICES = 4, ATTRIBUTES = 256, NAMES = 64, DEPTH = 16, STREAMS = 16 };

// Handles point to these; the first member tells what they are, so that a wrong handle is seen.
enum { CONTEXT = 0x5C04, MODULE = 0x30D1, FUNCTION = 0xF04C };

typedef struct {
  int kind, device, retained;
} Context;

typedef struct {
  int kind;
  char* image;
  size_t size;
} Module;

typedef struct Function {
  int kind;
  Module* module;
  char name[NAMES];
  int dynamic;  // bytes of shared memory that a launch may ask for
} Function;

typedef int (*Launched)(const char* name, const unsigned* grid, const unsigned* block, unsigned shared, void* stream,
                        void** params, void** extra);

static struct {
  pthread_mutex_t lock;
  int initialised, devices, modules, functions;
  int attributes[DEVICES][ATTRIBUTES];
  Context contexts[DEVICES];
  // Which call of which function fails, and how; counted from one.
  struct {
    char name[NAMES];
    int left, code;
  } failures[NAMES];
  char hidden[NAMES][NAMES];
  struct {
    void* stream;
    int status;
  } capturing[STREAMS];
  int fixed;  // bytes of shared memory that every function has of its own
  Launched launched;
  char* log;
  size_t length, room;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .devices = 1};

static __thread Context* stack[DEPTH];
static __thread int depth;

// Writes a line, and gives what the call is to fail with.
static int enter(const char* name, const char* format, ...) {
  char line[512];
  int length = snprintf(line, sizeof line, "%s", name);
  va_list arguments;
  va_start(arguments, format);
  length += vsnprintf(line + length, sizeof line - length, format, arguments);
  va_end(arguments);
  line[length++] = '\n';
  pthread_mutex_lock(&state.lock);
  if (state.length + length + 1 > state.room) {
    state.room = 2 * (state.length + length + 1);
    state.log = realloc(state.log, state.room);
  }
  memcpy(state.log + state.length, line, length);
  state.length += length;
  state.log[state.length] = 0;
  int code = SUCCESS;
  for (int k = 0; k < NAMES; ++k) {
    if (state.failures[k].left > 0 && strcmp(state.failures[k].name, name) == 0 && --state.failures[k].left == 0) {
      code = state.failures[k].code;
    }
  }
  if (code == SUCCESS && !state.initialised && strcmp(name, "cuInit") != 0) code = NOT_INITIALIZED;
  pthread_mutex_unlock(&state.lock);
  return code;
}

#define ENTER(...)                           \
  int failed = enter(__func__, __VA_ARGS__); \
  if (failed != SUCCESS) return failed

static int is(const void* handle, int kind) { return handle && *(const int*)handle == kind; }

static Context* context(void) { return depth ? stack[depth - 1] : NULL; }

// What the test calls.

const char* fake_log(void) { return state.log ? state.log : ""; }

void fake_reset(void) {
  pthread_mutex_lock(&state.lock);
  free(state.log);
  state.log = NULL;
  state.length = state.room = 0;
  state.initialised = 0;
  state.devices = 1;
  state.fixed = 0;
  state.launched = NULL;
  memset(state.attributes, 0, sizeof state.attributes);
  memset(state.contexts, 0, sizeof state.contexts);
  memset(state.failures, 0, sizeof state.failures);
  memset(state.hidden, 0, sizeof state.hidden);
  memset(state.capturing, 0, sizeof state.capturing);
  state.modules = state.functions = 0;
  depth = 0;
  pthread_mutex_unlock(&state.lock);
}

// The call number `n` from now of a function fails with a CUresult.
void fake_fail(const char* name, int n, int code) {
  for (int k = 0; k < NAMES; ++k) {
    if (state.failures[k].left == 0) {
      snprintf(state.failures[k].name, NAMES, "%s", name);
      state.failures[k].left = n;
      state.failures[k].code = code;
      return;
    }
  }
  abort();
}

// cuGetProcAddress no longer finds a function.
void fake_hide(const char* name) {
  for (int k = 0; k < NAMES; ++k) {
    if (!state.hidden[k][0]) {
      snprintf(state.hidden[k], NAMES, "%s", name);
      return;
    }
  }
  abort();
}

void fake_devices(int count) { state.devices = count; }

void fake_attribute(int device, int attribute, int value) { state.attributes[device][attribute] = value; }

// The status that cuStreamIsCapturing gives for a stream; one below zero is the CUresult it fails with.
void fake_capture(void* stream, int status) {
  for (int k = 0; k < STREAMS; ++k) {
    if (state.capturing[k].stream == stream || state.capturing[k].status == 0) {
      state.capturing[k].stream = stream;
      state.capturing[k].status = status;
      return;
    }
  }
  abort();
}

void fake_shared(int bytes) { state.fixed = bytes; }

void fake_on_launch(Launched launched) { state.launched = launched; }

int fake_modules(void) { return state.modules; }

int fake_retained(int device) { return state.contexts[device].retained; }

// Contexts that this thread has pushed and not popped.
int fake_depth(void) { return depth; }

// The driver.

int cuInit(unsigned flags) {
  ENTER(" %u", flags);
  if (state.devices == 0) return NO_DEVICE;
  state.initialised = 1;
  return SUCCESS;
}

int cuDriverGetVersion(int* version) {
  *version = 13000;
  return SUCCESS;
}

int cuGetErrorName(int code, const char** name) {
  static const struct {
    int code;
    const char* name;
  } names[] = {{SUCCESS, "CUDA_SUCCESS"},
               {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
               {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
               {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
               {NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
               {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
               {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
               {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
               {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
               {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
               {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
               {CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"}};
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
    if (names[k].code == code) {
      *name = names[k].name;
      return SUCCESS;
    }
  }
  *name = NULL;
  return INVALID_VALUE;
}

int cuGetErrorString(int code, const char** text) {
  const char* name;
  int result = cuGetErrorName(code, &name);
  *text = result == SUCCESS ? "what the fake driver says of it" : NULL;
  return result;
}

// NVRTC looks for libcuda.so.1 too when it compiles, calls cuInit and this, and does without what it does not get.
int cuGetExportTable(const void** table, const void* id) {
  (void)id;
  *table = NULL;
  return NOT_FOUND;
}

int cuDeviceGetCount(int* count) {
  ENTER("");
  *count = state.devices;
  return SUCCESS;
}

int cuDeviceGet(int* device, int ordinal) {
  ENTER(" %d", ordinal);
  if (ordinal < 0 || ordinal >= state.devices) return INVALID_DEVICE;
  *device = ordinal;
  return SUCCESS;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  ENTER(" %d %d", attribute, device);
  if (device < 0 || device >= state.devices) return INVALID_DEVICE;
  if (attribute < 0 || attribute >= ATTRIBUTES) return INVALID_VALUE;
  *value = state.attributes[device][attribute];
  return SUCCESS;
}

int cuDevicePrimaryCtxRetain(Context** result, int device) {
  ENTER(" %d", device);
  if (device < 0 || device >= state.devices) return INVALID_DEVICE;
  *result = &state.contexts[device];
  (*result)->kind = CONTEXT;
  (*result)->device = device;
  ++(*result)->retained;
  return SUCCESS;
}

int cuCtxPushCurrent_v2(Context* one) {
  int failed = enter("cuCtxPushCurrent", is(one, CONTEXT) ? " %d" : " ?", is(one, CONTEXT) ? one->device : 0);
  if (failed != SUCCESS) return failed;
  if (!is(one, CONTEXT) || depth == DEPTH) return INVALID_CONTEXT;
  stack[depth++] = one;
  return SUCCESS;
}

int cuCtxPopCurrent_v2(Context** one) {
  int failed = enter("cuCtxPopCurrent", "");
  if (failed != SUCCESS) return failed;
  if (!depth) return INVALID_CONTEXT;
  *one = stack[--depth];
  return SUCCESS;
}

// Bytes of a cubin, which is an ELF file that ends with one of its two tables; of PTX, with its NUL; 0 of anything
// else.
static size_t image_size(const char* image) {
  if (memcmp(image, ELFMAG, SELFMAG) != 0) return strstr(image, ".version") ? strlen(image) + 1 : 0;
  const Elf64_Ehdr* header = (const Elf64_Ehdr*)image;
  size_t sections = header->e_shoff + (size_t)header->e_shentsize * header->e_shnum;
  size_t segments = header->e_phoff + (size_t)header->e_phentsize * header->e_phnum;
  return sections > segments ? sections : segments;
}

int cuModuleLoadData(Module** result, const void* image) {
  size_t size = image_size(image);
  ENTER(" %s %zu", memcmp(image, ELFMAG, SELFMAG) == 0 ? "cubin" : "ptx", size);
  if (!context()) return INVALID_CONTEXT;
  if (!size) return INVALID_IMAGE;
  Module* module = calloc(1, sizeof *module);
  module->kind = MODULE;
  module->image = malloc(size);
  module->size = size;
  memcpy(module->image, image, size);
  pthread_mutex_lock(&state.lock);
  ++state.modules;
  pthread_mutex_unlock(&state.lock);
  *result = module;
  return SUCCESS;
}

int cuModuleUnload(Module* module) {
  ENTER("");
  if (!context()) return INVALID_CONTEXT;
  if (!is(module, MODULE)) return INVALID_HANDLE;
  // Not freed, so that whoever uses it again gets an error and no crash.
  module->kind = 0;
  pthread_mutex_lock(&state.lock);
  --state.modules;
  pthread_mutex_unlock(&state.lock);
  return SUCCESS;
}

int cuModuleGetFunction(Function** result, Module* module, const char* name) {
  ENTER(" %s", name);
  if (!is(module, MODULE)) return INVALID_HANDLE;
  char entry[2 * NAMES];
  int length = snprintf(entry, sizeof entry, memcmp(module->image, ELFMAG, SELFMAG) ? ".entry %s" : ".text.%s", name);
  if (!memmem(module->image, module->size, entry, length)) return NOT_FOUND;
  Function* function = calloc(1, sizeof *function);
  function->kind = FUNCTION;
  function->module = module;
  snprintf(function->name, NAMES, "%s", name);
  function->dynamic = 48 << 10;
  *result = function;
  return SUCCESS;
}

enum { SHARED_SIZE_BYTES = 1, MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };

int cuFuncGetAttribute(int* value, int attribute, Function* function) {
  ENTER(" %d", attribute);
  if (!is(function, FUNCTION) || !is(function->module, MODULE)) return INVALID_HANDLE;
  if (attribute != SHARED_SIZE_BYTES) return INVALID_VALUE;
  *value = state.fixed;
  return SUCCESS;
}

int cuFuncSetAttribute(Function* function, int attribute, int value) {
  ENTER(" %d %d", attribute, value);
  if (!is(function, FUNCTION) || !is(function->module, MODULE)) return INVALID_HANDLE;
  if (attribute != MAX_DYNAMIC_SHARED_SIZE_BYTES) return INVALID_VALUE;
  function->dynamic = value;
  return SUCCESS;
}

int cuStreamIsCapturing(void* stream, int* status) {
  ENTER(" %p", stream);
  if (!context()) return INVALID_CONTEXT;
  *status = 0;
  for (int k = 0; k < STREAMS; ++k) {
    if (state.capturing[k].status != 0 && state.capturing[k].stream == stream) *status = state.capturing[k].status;
  }
  return *status < 0 ? -*status : SUCCESS;
}

int cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void* stream, void** params, void** extra) {
  ENTER(" %s %u,%u,%u %u,%u,%u %u %p", is(function, FUNCTION) ? function->name : "?", gx, gy, gz, bx, by, bz, shared,
        stream);
  if (!context()) return INVALID_CONTEXT;
  if (!is(function, FUNCTION) || !is(function->module, MODULE)) return INVALID_HANDLE;
  if (!gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024) return INVALID_VALUE;
  if (shared > (unsigned)function->dynamic) return INVALID_VALUE;
  unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
  return state.launched ? state.launched(function->name, grid, block, shared, stream, params, extra) : SUCCESS;
}

int cuGetProcAddress_v2(const char* name, void** address, int version, uint64_t flags, int* status);

int cuGetProcAddress(const char* name, void** address, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, address, version, flags, NULL);
}

int cuGetProcAddress_v2(const char* name, void** address, int version, uint64_t flags, int* status) {
#define AS(name)       \
  {                    \
    #name, (void*)name \
  }
  static const struct {
    const char* name;
    void* address;
  } functions[] = {AS(cuInit),
                   AS(cuDriverGetVersion),
                   AS(cuGetErrorName),
                   AS(cuGetErrorString),
                   AS(cuDeviceGetCount),
                   AS(cuDeviceGet),
                   AS(cuDeviceGetAttribute),
                   AS(cuDevicePrimaryCtxRetain),
                   {"cuCtxPushCurrent", (void*)cuCtxPushCurrent_v2},
                   {"cuCtxPopCurrent", (void*)cuCtxPopCurrent_v2},
                   AS(cuModuleLoadData),
                   AS(cuModuleUnload),
                   AS(cuModuleGetFunction),
                   AS(cuFuncGetAttribute),
                   AS(cuFuncSetAttribute),
                   AS(cuStreamIsCapturing),
                   AS(cuLaunchKernel),
                   {"cuGetProcAddress", (void*)cuGetProcAddress_v2}};
  *address = NULL;
  for (size_t k = 0; k < sizeof functions / sizeof *functions; ++k) {
    if (strcmp(functions[k].name, name) == 0) *address = functions[k].address;
  }
  for (int k = 0; k < NAMES; ++k) {
    if (strcmp(state.hidden[k], name) == 0) *address = NULL;
  }
  int failed = SUCCESS;
  // The bindings ask after all there is; only what is found is of interest. They do so before cuInit.
  if (*address) failed = enter("cuGetProcAddress", " %s %d %llu", name, version, (unsigned long long)flags);
  if (failed != SUCCESS && failed != NOT_INITIALIZED) *address = NULL;
  if (status) *status = *address ? 0 : 1;
  if (!*address && failed == SUCCESS) failed = NOT_FOUND;
  return *address ? SUCCESS : failed;
}
