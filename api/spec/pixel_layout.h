#pragma once

#include <array>
#include <string_view>

#include "api/spec/spelling.h"

namespace slipway {

/// How the bytes of an image that is not compressed follow one another. interleaved: all channels
/// of a pixel, row after row; planar: one channel's rows after another's.
enum class PixelLayout { interleaved, planar };

template <>
struct Spelling<PixelLayout> {
    static constexpr std::array<std::string_view, 2> words{"interleaved", "planar"};
};

}    // namespace slipway
