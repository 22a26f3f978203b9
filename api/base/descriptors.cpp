#include "api/base/descriptors.h"

#include <fcntl.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace slipway {

int inherited_descriptor(const char* variable) {
    const char* const text = std::getenv(variable);
    if (text == nullptr) return -1;
    const std::string_view word(text);
    int descriptor = -1;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), descriptor);
    return read.ptr == word.data() + word.size() && !word.empty() ? descriptor : -1;
}

void close_on_exec(int descriptor) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

}    // namespace slipway
