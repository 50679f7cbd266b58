# The native tests, run once per instruction set, and the proof that every op body compiles for a GPU.

find_path(DOCTEST_INCLUDE_DIR doctest/doctest.h DOC "Directory that holds doctest/doctest.h")
if(NOT DOCTEST_INCLUDE_DIR)
  fastaug_missing("doctest (doctest/doctest.h)" "its native tests" doctest-dev DOCTEST_INCLUDE_DIR)
endif()

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
  set(isas scalar avx2 avx512)  # four times as slow; what sse4 does is the same source once more
else()
  set(isas scalar sse4 avx2 avx512)
endif()
foreach(isa IN LISTS isas)
  add_test(NAME native.${isa} COMMAND fastaug_tests)
  set_tests_properties(native.${isa} PROPERTIES
    ENVIRONMENT "FASTAUG_ISA=${isa}" SKIP_RETURN_CODE ${skip_code} TIMEOUT 600)
endforeach()

if(FASTAUG_SANITIZE)
  return()  # the sanitizers do not reach device code
endif()
find_program(NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin
             DOC "CUDA compiler, optional: checks that the op bodies compile for a GPU")
if(NVCC)
  file(GLOB cuda_sources CONFIGURE_DEPENDS csrc/cuda/*.cu)
  set(cuda_objects)
  foreach(source IN LISTS cuda_sources)
    cmake_path(GET source STEM stem)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/cuda/${stem}.o)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/cuda
      COMMAND ${NVCC} -std=c++20 --fmad=false -Werror all-warnings -I ${CMAKE_CURRENT_SOURCE_DIR}/csrc
              -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source}
      DEPFILE ${object}.d
      COMMENT "Compiling ${stem}.cu for the GPU"
      VERBATIM)
    list(APPEND cuda_objects ${object})
  endforeach()
  add_custom_target(fastaug_device_bodies ALL DEPENDS ${cuda_objects})
  # Compiles what the build did not; after it, says that nothing is left to do.
  add_test(NAME device_bodies COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target fastaug_device_bodies)
else()
  message(STATUS "nvcc not found: the op bodies are not compiled for a GPU")
  add_test(NAME device_bodies
    COMMAND sh -c "echo 'skipped: nvcc not found, so the op bodies were not compiled for a GPU'; exit ${skip_code}")
endif()
set_tests_properties(device_bodies PROPERTIES SKIP_RETURN_CODE ${skip_code} TIMEOUT 600)
