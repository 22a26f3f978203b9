#pragma once

#include <string_view>

namespace slipway {

/// The linker's mark (GNU build id, in hexadecimal) of the compiler's library that this program was
/// built with. The build writes its source.
std::string_view compiler_mark();

}    // namespace slipway
