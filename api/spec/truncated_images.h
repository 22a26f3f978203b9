#pragma once

#include <array>
#include <string_view>

#include "api/spec/spelling.h"

namespace slipway {

/// What a damaged image does. fail: the job ends and names it; skip: it is left out of its part;
/// accept: what can be decoded of it is used, the rest is gray.
enum class TruncatedImages { fail, skip, accept };

template <>
struct Spelling<TruncatedImages> {
    static constexpr std::array<std::string_view, 3> words{"fail", "skip", "accept"};
};

}    // namespace slipway
