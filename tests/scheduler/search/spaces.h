#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "api/base/parsed_json.h"
#include "scheduler/search/space.h"

namespace slipway::search {

/// The decoded space of a text that is right: {"space": {…}, "constraints": […]}.
inline SearchSpace decoded_space(std::string_view text) {
    Decoded<SearchSpace> decoded = decode_search_space(Json::parse(text));
    EXPECT_EQ(joined_messages(decoded.problems), "");
    return decoded.value;
}

inline Space compiled_space(std::string_view text) {
    std::vector<Problem> problems;
    std::optional<Space> space = Space::compile(decoded_space(text), problems);
    EXPECT_EQ(joined_messages(problems), "");
    return *space;
}

}    // namespace slipway::search
