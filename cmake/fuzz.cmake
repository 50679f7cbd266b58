# Fuzz targets, fuzz_NAME each. With clang they are libFuzzer's, and everything is compiled so that it sees which code
# an input reaches; elsewhere csrc/fuzz/main.cpp runs them over files and simple mutations of them.

if(NOT FASTAUG_SANITIZE)
  message(FATAL_ERROR "FASTAUG_FUZZ needs FASTAUG_SANITIZE=ON: without sanitizers a fuzzer sees little.")
endif()
set(fuzz_common csrc/fuzz/memory.cpp csrc/fuzz/codec_checks.cpp)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Kernels are called through tables of functions whose types clang tells apart by the target they are compiled for.
  target_compile_options(fastaug_options INTERFACE -fsanitize=fuzzer-no-link -fno-sanitize=function)
  # Highway's checks under sanitizers call its library, of which only the headers are used.
  target_compile_definitions(fastaug_options INTERFACE HWY_IS_DEBUG_BUILD=0)
  set(fuzz_main -fsanitize=fuzzer)
else()
  list(APPEND fuzz_common csrc/fuzz/main.cpp)
  set(fuzz_main)
endif()
add_library(fastaug_fuzz OBJECT ${fuzz_common})
target_link_libraries(fastaug_fuzz PUBLIC fastaug_core)

# Programs have the operands of the native tests' table, which is read once.
set(fuzz_program_sources csrc/tests/support/tables.cpp)
foreach(target jpeg png webp gif sniff program)
  add_executable(fuzz_${target} csrc/fuzz/${target}.cpp ${fuzz_${target}_sources})
  target_link_libraries(fuzz_${target} PRIVATE fastaug_fuzz fastaug_codecs)
  target_compile_definitions(fuzz_${target} PRIVATE FASTAUG_TABLES="${CMAKE_CURRENT_SOURCE_DIR}/tests/tables")
  target_link_options(fuzz_${target} PRIVATE ${fuzz_main})
endforeach()
