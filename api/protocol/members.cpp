#include "api/protocol/members.h"

namespace slipway {

bool is_whole(const Json& value) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= std::uint64_t(whole_max);
    if (!value.is_number_integer()) return false;
    const auto number = value.get<std::int64_t>();
    return number >= 0 && number <= whole_max;
}

// Json's own conversion is undefined for 1e300, and sizes near 2^63 have no sum.
std::int64_t whole_member(const Json& object, const char* name) {
    const auto value = member<Json>(object, name);
    if (!is_whole(value)) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("\"{}\" must be a whole number from 0 to 2^53", name)};
    }
    return value.get<std::int64_t>();
}

}    // namespace slipway
