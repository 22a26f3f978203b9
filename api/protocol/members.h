#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "api/base/error.h"
#include "api/base/json.h"

namespace slipway {

/// A member of an object, of the C++ type `T`.
/// errors  throws invalid_argument when it is missing or of another type, naming it
template <class T>
T member(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end())
        throw Error{ErrorCode::invalid_argument, fmt::format("\"{}\" is missing", name)};
    try {
        return found->template get<T>();
    } catch (const Json::exception&) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("\"{}\" is of another type: {}", name, found->type_name())};
    }
}

/// The most that a count or a size may be: to there a double counts, so what is stored and drawn is
/// exact.
inline constexpr std::int64_t whole_max = std::int64_t{1} << 53;

bool is_whole(const Json& value);

/// A member that is a whole number from 0 to whole_max.
/// errors  throws invalid_argument naming it
std::int64_t whole_member(const Json& object, const char* name);

}    // namespace slipway
