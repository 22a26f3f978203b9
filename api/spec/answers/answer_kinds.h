#pragma once

#include <array>
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

/// What an estimate of a start was computed from.
inline constexpr auto estimate_words =
    std::to_array<std::string_view>({"known", "progress", "typical", "limit", "assumed"});
inline constexpr std::string_view estimate_summary =
    "The least certain time that the estimate is based on. known: no estimate; progress: the "
    "remaining time that running jobs report; typical: the recent run times of jobs of the "
    "project; limit: time limits; assumed: 10 minutes each.";

/// Of a trial or a fold that failed.
inline constexpr std::string_view failure_code_summary =
    "Reason code of its job, or the state of the job if it has no reason; not_made: it has no job; "
    "job_deleted: its job was deleted; no_result: its job succeeded without the required result.";

/// One of the `warnings` in the answer to a request. The request is as it was meant, perhaps.
inline const Object<Answer>& spec_warning_table() {
    static const auto table =
        Object<Answer>("SpecWarning", "What a request probably does not mean.")
            .open()
            .field("pointer", "JSON pointer to the field.", any_text, known)
            .field("message", "What may happen, and how to avoid it.", any_text, known);
    return table;
}
inline constexpr std::string_view warnings_summary =
    "What the request probably does not mean. Only in the answer to the request.";

/// The page of a list: {"items": […], "next_cursor": "…" or null}. `item` lives for ever.
inline Object<Answer> page_of(std::string_view name, const Object<Answer>& item) {
    return Object<Answer>(name, "A page of a list.")
        .open()
        .field("items", "Items, in the order of the list.", List<Nested<Answer>>{{&item}}, known)
        .field("next_cursor", "Cursor of the next page; null: this is the last page.", any_text,
               or_null);
}

}    // namespace slipway
