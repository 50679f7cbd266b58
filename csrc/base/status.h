// The one exception of the core. The binding turns its code into the Python exception of the same name.
#pragma once

#include <stdexcept>
#include <string>

namespace fastaug {

enum class ErrorCode { kValue, kType, kMemory, kRuntime };

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

[[noreturn]] inline void fail(ErrorCode code, const std::string& message) { throw Error(code, message); }

}  // namespace fastaug
