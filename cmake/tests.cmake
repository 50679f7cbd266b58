# The native tests, run once per instruction set.

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS csrc/tests/*.cpp)
add_executable(fastaug_tests ${test_sources})
# The answers alone, which compile in seconds: what tools/mutants.py runs against changed formulas.
file(GLOB answer_sources CONFIGURE_DEPENDS csrc/tests/program/test_answers.cpp csrc/tests/support/*.cpp)
add_executable(fastaug_answers EXCLUDE_FROM_ALL csrc/tests/main.cpp ${answer_sources})

# The tests that start threads, without the others: what the preset tsan compiles and runs.
add_executable(fastaug_threads EXCLUDE_FROM_ALL csrc/tests/main.cpp csrc/tests/execute/test_concurrent.cpp
  csrc/tests/execute/test_job_queue.cpp csrc/tests/support/tables.cpp)

# csrc/tests/main.cpp exits with this code when the machine lacks the instruction set that FASTAUG_ISA names.
set(skip_code 77)
foreach(target fastaug_tests fastaug_answers fastaug_threads)
  target_include_directories(${target} SYSTEM PRIVATE ${DOCTEST_INCLUDE_DIR})
  # Files of the codecs' formats are made by the codecs' libraries.
  target_link_libraries(${target} PRIVATE fastaug_core fastaug_codecs)
  target_compile_definitions(${target} PRIVATE
    FASTAUG_SKIP_CODE=${skip_code}
    # Where the tables of operands and answers are.
    FASTAUG_TABLES="${CMAKE_CURRENT_SOURCE_DIR}/tests/tables")
endforeach()

if(FASTAUG_SANITIZE STREQUAL thread)
  add_test(NAME native.threads COMMAND fastaug_threads)
  set_tests_properties(native.threads PROPERTIES TIMEOUT 600)
  return()
endif()
if(NOT FASTAUG_SIMD)
  set(isas scalar)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(isas scalar neon)
elseif(FASTAUG_SANITIZE)
  set(isas scalar avx2 avx512vbmi)  # four times as slow; what sse4 does is the same source once more
else()
  set(isas scalar sse4 avx2 avx512 avx512vbmi)
endif()
# Tests of kernels go through all instruction sets by themselves.
add_test(NAME native.kernels COMMAND fastaug_tests --source-file=*tests/kernels/*)
set_tests_properties(native.kernels PROPERTIES TIMEOUT 1800 LABELS "fast;all")
foreach(isa IN LISTS isas)
  add_test(NAME native.${isa} COMMAND fastaug_tests --source-file-exclude=*tests/kernels/*)
  set_tests_properties(native.${isa} PROPERTIES
    ENVIRONMENT "FASTAUG_ISA=${isa}" SKIP_RETURN_CODE ${skip_code} TIMEOUT 1800 LABELS all)
endforeach()
# `make test` runs two: the scalar kernels, and the best of this machine under its own name.
set_tests_properties(native.scalar PROPERTIES LABELS "fast;all")
add_test(NAME native.best COMMAND fastaug_tests --source-file-exclude=*tests/kernels/*)
set_tests_properties(native.best PROPERTIES TIMEOUT 1800 LABELS fast)
