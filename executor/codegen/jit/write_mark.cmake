# Writes the source of compiler_mark(): NOTE is the note with the build id of the compiler's library, SOURCE the file to write.
file(READ "${NOTE}" note HEX)
# Three words (length of the owner's name, length of the id, type 3), the name "GNU\0", then the id.
string(SUBSTRING "${note}" 24 8 owner)
string(SUBSTRING "${note}" 32 -1 mark)
if(NOT owner STREQUAL "474e5500" OR mark STREQUAL "")
  message(FATAL_ERROR "${NOTE}: the linker wrote no build id")
endif()
file(CONFIGURE OUTPUT "${SOURCE}" CONTENT
"#include \"executor/codegen/jit/compiler_mark.h\"

std::string_view slipway::compiler_mark() {
    return \"${mark}\";
}
")
