#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipway {

/// Why a classification cannot learn from a dataset whose samples are all of the class `name`, and
/// what is probably wrong with it. `format`: as in the dataset's JSON.
std::string one_class_message(std::string_view name, std::string_view format);

/// Height and width in pixels.
struct PixelSize {
    std::int64_t height = 0, width = 0;
    bool operator==(const PixelSize&) const = default;
};

/// Why a network cannot be fed images of sizes from `least` to `most`, and what brings them to one.
std::string mixed_sizes_message(const PixelSize& least, const PixelSize& most);

}    // namespace slipway
