# The libraries that decode: libjpeg-turbo, shared unless CMAKE_PREFIX_PATH has a static one; libdeflate, inside the module
# where its static library allows it.

include(CheckCXXSourceCompiles)

# libjpeg-turbo: 2.0 is the first whose cropping of rows and columns is relied upon. The classic libjpeg has none.
set(jpeg_purpose "reading JPEG files, and the parts of them that a pipeline needs")
find_package(JPEG QUIET)
if(NOT JPEG_FOUND)
  fastaug_missing("libjpeg-turbo >= 2.0 (jpeglib.h)" "${jpeg_purpose}" libjpeg62-turbo-dev CMAKE_PREFIX_PATH)
else()
  set(CMAKE_REQUIRED_LIBRARIES JPEG::JPEG)
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles("
    #include <cstddef>
    #include <cstdio>
    #include <jpeglib.h>
    #if !defined(LIBJPEG_TURBO_VERSION_NUMBER) || LIBJPEG_TURBO_VERSION_NUMBER < 2000000
    #error too old
    #endif
    int main() { return jpeg_skip_scanlines(nullptr, 0) != 0; }" FASTAUG_JPEG_IS_TURBO)
  if(NOT FASTAUG_JPEG_IS_TURBO)
    unset(FASTAUG_JPEG_IS_TURBO CACHE)  # asked again after another one was installed
    fastaug_missing("libjpeg-turbo >= 2.0 (${JPEG_INCLUDE_DIRS} holds another libjpeg)" "${jpeg_purpose}"
                    libjpeg62-turbo-dev CMAKE_PREFIX_PATH)
  endif()
endif()

# libdeflate. A static library that was not compiled for shared objects, as some distributions have it, cannot be linked
# into the extension module: the shared one is taken then.
find_path(DEFLATE_INCLUDE_DIR libdeflate.h DOC "Directory that holds libdeflate.h")
find_library(DEFLATE_STATIC_LIBRARY libdeflate.a DOC "libdeflate to be linked in")
find_library(DEFLATE_LIBRARY deflate DOC "libdeflate to be linked to")
mark_as_advanced(DEFLATE_STATIC_LIBRARY DEFLATE_LIBRARY)
if(NOT DEFLATE_INCLUDE_DIR OR NOT (DEFLATE_STATIC_LIBRARY OR DEFLATE_LIBRARY))
  fastaug_missing("libdeflate (libdeflate.h)" "reading PNG files" libdeflate-dev CMAKE_PREFIX_PATH)
endif()
set(deflate_library ${DEFLATE_LIBRARY})
if(DEFLATE_STATIC_LIBRARY)
  set(CMAKE_REQUIRED_INCLUDES ${DEFLATE_INCLUDE_DIR})
  set(CMAKE_REQUIRED_LIBRARIES ${DEFLATE_STATIC_LIBRARY})
  set(CMAKE_REQUIRED_FLAGS -fPIC)
  set(CMAKE_REQUIRED_LINK_OPTIONS -shared LINKER:-z,defs)
  check_cxx_source_compiles("
    #include <libdeflate.h>
    int main() {
      size_t count = 0;
      return libdeflate_zlib_decompress(libdeflate_alloc_decompressor(), nullptr, 0, nullptr, 0, &count);
    }" FASTAUG_DEFLATE_IS_PIC)
  if(FASTAUG_DEFLATE_IS_PIC)
    set(deflate_library ${DEFLATE_STATIC_LIBRARY})
  elseif(NOT DEFLATE_LIBRARY)
    unset(FASTAUG_DEFLATE_IS_PIC CACHE)
    fastaug_missing("libdeflate as a shared library (${DEFLATE_STATIC_LIBRARY} is not compiled for one)"
                    "reading PNG files" libdeflate-dev CMAKE_PREFIX_PATH)
  endif()
endif()
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
unset(CMAKE_REQUIRED_QUIET)

# Once all of it is known to be there.
function(fastaug_add_codecs)
  add_library(fastaug_codecs INTERFACE)
  target_include_directories(fastaug_codecs SYSTEM INTERFACE ${DEFLATE_INCLUDE_DIR})
  target_link_libraries(fastaug_codecs INTERFACE JPEG::JPEG ${deflate_library})
  message(STATUS "Codecs: ${JPEG_LIBRARIES} ${deflate_library}")
endfunction()
