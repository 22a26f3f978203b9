#include "api/base/percent_encode.h"

#include <fmt/format.h>

namespace slipway {

std::string percent_encode(std::string_view text) {
    std::string encoded;
    for (const char c : text) {
        const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
        encoded += kept ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return encoded;
}

}    // namespace slipway
