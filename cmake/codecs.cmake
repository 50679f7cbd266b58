# The libraries that decode: libjpeg-turbo, shared unless CMAKE_PREFIX_PATH has a static one; libdeflate and libwebp, inside
# the module where their static libraries allow it. A build without libwebp leaves WebP files to Pillow.

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

# Sets `chosen` to a library's static form where that can be linked into the extension module, else to its shared one, which
# may be empty. Some distributions do not compile static ones for shared objects.
function(fastaug_choose chosen include static shared program)
  set(library "${shared}")
  if(static)
    set(CMAKE_REQUIRED_INCLUDES ${include})
    set(CMAKE_REQUIRED_LIBRARIES ${static})
    set(CMAKE_REQUIRED_FLAGS -fPIC)
    set(CMAKE_REQUIRED_LINK_OPTIONS -shared LINKER:-z,defs)
    set(CMAKE_REQUIRED_QUIET ON)
    check_cxx_source_compiles("${program}" FASTAUG_PIC_${chosen})
    if(FASTAUG_PIC_${chosen})
      set(library "${static}")
    else()
      unset(FASTAUG_PIC_${chosen} CACHE)  # asked again after another one was installed
    endif()
  endif()
  set(${chosen} ${library} PARENT_SCOPE)
endfunction()

find_path(DEFLATE_INCLUDE_DIR libdeflate.h DOC "Directory that holds libdeflate.h")
find_library(DEFLATE_STATIC_LIBRARY libdeflate.a DOC "libdeflate to be linked in")
find_library(DEFLATE_LIBRARY deflate DOC "libdeflate to be linked to")
mark_as_advanced(DEFLATE_STATIC_LIBRARY DEFLATE_LIBRARY)
if(NOT DEFLATE_INCLUDE_DIR OR NOT (DEFLATE_STATIC_LIBRARY OR DEFLATE_LIBRARY))
  fastaug_missing("libdeflate (libdeflate.h)" "reading PNG files" libdeflate-dev CMAKE_PREFIX_PATH)
else()
  fastaug_choose(deflate_library "${DEFLATE_INCLUDE_DIR}" "${DEFLATE_STATIC_LIBRARY}" "${DEFLATE_LIBRARY}" "
    #include <libdeflate.h>
    int main() {
      size_t count = 0;
      return libdeflate_zlib_decompress(libdeflate_alloc_decompressor(), nullptr, 0, nullptr, 0, &count);
    }")
  if(NOT deflate_library)
    fastaug_missing("libdeflate as a shared library (${DEFLATE_STATIC_LIBRARY} is not compiled for one)"
                    "reading PNG files" libdeflate-dev CMAKE_PREFIX_PATH)
  endif()
endif()

# libwebp's decoder, which libwebp itself holds too.
set(FASTAUG_WEBP AUTO CACHE STRING "Decode WebP files by libwebp: ON, OFF (Pillow decodes them), or AUTO, ON where it is there")
find_path(WEBP_INCLUDE_DIR webp/decode.h DOC "Directory that holds webp/decode.h")
find_library(WEBP_STATIC_LIBRARY NAMES libwebpdecoder.a libwebp.a DOC "libwebp to be linked in")
find_library(WEBP_LIBRARY NAMES webpdecoder webp DOC "libwebp to be linked to")
mark_as_advanced(WEBP_STATIC_LIBRARY WEBP_LIBRARY)
set(webp_library)
if(FASTAUG_WEBP AND WEBP_INCLUDE_DIR AND (WEBP_STATIC_LIBRARY OR WEBP_LIBRARY))
  fastaug_choose(webp_library "${WEBP_INCLUDE_DIR}" "${WEBP_STATIC_LIBRARY}" "${WEBP_LIBRARY}" "
    #include <webp/decode.h>
    int main() { return WebPDecode(nullptr, 0, nullptr); }")
endif()
if(NOT webp_library AND FASTAUG_WEBP AND NOT FASTAUG_WEBP STREQUAL "AUTO")
  fastaug_missing("libwebp (webp/decode.h)" "reading WebP files" libwebp-dev CMAKE_PREFIX_PATH)
endif()

unset(CMAKE_REQUIRED_LIBRARIES)
unset(CMAKE_REQUIRED_QUIET)

# Once all of it is known to be there.
function(fastaug_add_codecs)
  add_library(fastaug_codecs INTERFACE)
  target_include_directories(fastaug_codecs SYSTEM INTERFACE ${DEFLATE_INCLUDE_DIR})
  target_link_libraries(fastaug_codecs INTERFACE JPEG::JPEG ${deflate_library} ${webp_library})
  if(webp_library)
    target_include_directories(fastaug_codecs SYSTEM INTERFACE ${WEBP_INCLUDE_DIR})
    target_compile_definitions(fastaug_codecs INTERFACE FASTAUG_WEBP)
  else()
    message(STATUS "Without libwebp: Pillow decodes WebP files")
  endif()
  message(STATUS "Codecs: ${JPEG_LIBRARIES} ${deflate_library} ${webp_library}")
endfunction()
