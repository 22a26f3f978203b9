#include "api/spec/checkpoint_name.h"

namespace slipway {

bool is_checkpoint_name(std::string_view name) noexcept {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    return !name.empty() && name.size() <= 120 && name[0] != '.' &&
           name.find_first_not_of(letters) == std::string_view::npos &&
           name.find("..") == std::string_view::npos;
}

}    // namespace slipway
