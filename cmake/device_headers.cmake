# Writes OUTPUT, which defines fastaug::cuda::headers(): the text of the files HEADERS, a list separated by commas, that
# lie in SOURCE. Run with cmake -P.
string(REPLACE "," ";" headers "${HEADERS}")
set(text "#include \"cuda/headers.h\"\n\nnamespace fastaug::cuda {\nnamespace {\n\nconstexpr Header kHeaders[] = {\n")
foreach(header IN LISTS headers)
  file(READ "${SOURCE}/${header}" content)
  string(APPEND text "{\"${header}\", R\"~~~(${content})~~~\"},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace\n\nstd::span<const Header> headers() { return kHeaders; }\n\n}  // namespace fastaug::cuda\n")
file(WRITE "${OUTPUT}" "${text}")
