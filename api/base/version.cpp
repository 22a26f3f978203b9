#include "api/base/version.h"

namespace slipway {

std::string_view release_version() {
    return SLIPWAY_VERSION;
}

}    // namespace slipway
