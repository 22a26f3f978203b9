#pragma once

#include <cstddef>
#include <vector>

#include "executor/data/formats/image.h"

namespace slipway {

/// The image as a baseline JPEG file, gray or RGB without subsampling; quality 1 to 100. The same
/// pixels give the same bytes. Safe from every thread.
std::vector<std::byte> encode_jpeg(const Image& image, int quality);

}    // namespace slipway
