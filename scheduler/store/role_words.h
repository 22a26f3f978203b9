#pragma once

#include <string_view>

#include "api/base/check.h"
#include "api/spec/requests.h"
#include "api/spec/spelling.h"

namespace slipway::store {

/// A role as the database spells it. Another word is a bug: the schema has the same set.
inline TokenRole role_of_word(std::string_view word) {
    const auto role = parse_word<TokenRole>(word);
    check(role.has_value(), "a stored role is one of the set");
    return *role;
}

}    // namespace slipway::store
