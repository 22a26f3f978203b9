#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipway {

/// What is wrong with one place of a document: one entry of `errors` in a problem body. Codes:
///   missing_field        a required field is absent
///   unknown_field        no such field; the message names the nearest one
///   duplicate_key        given more than once
///   wrong_type           a text where a number belongs, and the like
///   out_of_bounds        right type, outside of its bounds
///   not_allowed          not one of the allowed values
///   bad_format           a text of the wrong form
///   not_available_yet    documented for later; `allowed` lists what exists
///   not_in_this_variant  a field that another optimizer, schedule, … has
///   conflicting_fields   fields that exclude each other
///   inconsistent         each field is fine, together they are not
struct Problem {
    std::string pointer;    ///< RFC 6901 from the document's root: "/train/optimizer/lr"
    std::string code;
    std::string message;                      ///< one sentence for a person: field, value, fix
    std::vector<std::string> allowed = {};    ///< what could stand there, when that is a list
    bool operator==(const Problem&) const = default;
};

/// Sorts by pointer, token by token, numbers as numbers; stable.
void sort_problems(std::vector<Problem>& problems);

/// "model.hidden[2]" for "/model/hidden/2": how messages call a place.
std::string dotted_path(std::string_view pointer);

}    // namespace slipway
