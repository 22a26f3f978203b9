#include <fmt/format.h>

#include "api/base/version.h"

namespace slipway {

std::string version_text(std::string_view program) {
    return fmt::format("{} {} ({})", program, release_version(), source_commit());
}

}    // namespace slipway
