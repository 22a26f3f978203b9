#pragma once

#include <cstddef>
#include <span>

namespace slipway {

/// Whether all that libjpeg warns of while it decodes the file leaves every pixel as it was meant:
/// bytes between the image and a marker, an unknown version of JFIF or colour transform of Adobe, a
/// bad colour profile. False as well for what it cannot decode.
bool has_only_harmless_warnings(std::span<const std::byte> jpeg);

}    // namespace slipway
