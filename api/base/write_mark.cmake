# Writes the source of a function that says the build id of a loaded library: NOTE is the note with it, SOURCE the file to write,
# HEADER declares FUNCTION.
file(READ "${NOTE}" note HEX)
# Three words (length of the owner's name, length of the id, type 3), the name "GNU\0", then the id.
string(SUBSTRING "${note}" 24 8 owner)
string(SUBSTRING "${note}" 32 -1 mark)
if(NOT owner STREQUAL "474e5500" OR mark STREQUAL "")
  message(FATAL_ERROR "${NOTE}: the linker wrote no build id")
endif()
file(CONFIGURE OUTPUT "${SOURCE}" CONTENT
"#include \"${HEADER}\"

std::string_view slipway::${FUNCTION}() {
    return \"${mark}\";
}
")
