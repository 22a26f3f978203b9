# Writes OUT, a C++ file with the bytes of FOLDER's ASSETS: cmake -DOUT=… -DFOLDER=… -DASSETS=a;b -P embed.cmake
set(constants)
set(rows)
set(number 0)
foreach(asset IN LISTS ASSETS)
  file(READ ${FOLDER}/${asset} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR bytes "${digits} / 2")
  # 40 bytes a line: compilers read long lines slowly.
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" escaped "${hex}")
  string(REPEAT "." 160 line)
  string(REGEX REPLACE "(${line})" "\\1\"\n    \"" escaped "${escaped}")
  string(APPEND constants "const char file_${number}[] =\n    \"${escaped}\";\n")
  string(APPEND rows "    Asset{\"/${asset}\", {file_${number}, ${bytes}}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT}.new
  "#include \"web/assets.h\"\n\n#include <array>\n\nnamespace slipway {\nnamespace {\n\n${constants}\n"
  "const std::array files{\n${rows}};\n\n}    // namespace\n\n"
  "std::span<const Asset> web_assets() { return files; }\n\n}    // namespace slipway\n")
file(RENAME ${OUT}.new ${OUT})
