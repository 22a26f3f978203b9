#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api/base/json.h"

namespace slipway {

/// The value of a metric in JSON, which has no NaN and no infinities: such a value is null, and
/// `nonfinite` beside it says which it was: "nan", "inf" or "-inf". The same in frames, events and
/// answers.
std::string_view nonfinite_word(double value) noexcept;    ///< empty: it is a number

/// Sets `value` of an object and, when it is no number, `nonfinite`.
void put_value(Json& object, double value);
/// Adds `value` to `values` under its name, and its word to `nonfinite` when it is no number.
/// `values` and `nonfinite` are objects; an empty `nonfinite` is left out by whoever sends it.
void put_named_value(Json& values, Json& nonfinite, const std::string& name, double value);
/// Sets `values` of an object, by name, and `nonfinite` when one of them is no number.
void put_named_values(Json& object, std::span<const std::pair<std::string, double>> values);

/// What put_value wrote. Null without a word (of an older version) is NaN.
/// errors  throws Json's type_error for anything but a number or null
double read_value(const Json& object);
/// What put_named_value wrote; `nonfinite` may be null.
double read_named_value(const Json& value, const Json& nonfinite, const std::string& name);

}    // namespace slipway
