#pragma once

#include <string_view>

#include "api/spec/table/collections.h"
#include "api/spec/table/object.h"

namespace slipway {

// What the tables of answers share.

/// Always there.
inline const RowOptions known{.required = true};
/// Always there; null while it is not known.
inline const RowOptions or_null{.required = true, .nullable = true};
/// There only sometimes.
inline const RowOptions maybe{};

inline constexpr Text any_text{.min = 0, .max = 1000000};
inline constexpr Integer count{};

/// The page of a list: {"items": […], "next_cursor": "…" or null}. `item` lives for ever.
inline Object<Answer> page_of(std::string_view name, const Object<Answer>& item) {
    return Object<Answer>(name, "A page of a list.")
        .open()
        .field("items", "Items, in the order of the list.", List<Nested<Answer>>{{&item}}, known)
        .field("next_cursor", "Cursor of the next page; null: this is the last page.", any_text,
               or_null);
}

}    // namespace slipway
