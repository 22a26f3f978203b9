#pragma once

#include <string>
#include <vector>

#include "api/client/service.h"

/// How commands show what the service answers.
namespace slipway::client {

/// A table with aligned columns, for people.
void print_table(const std::vector<std::string>& head,
                 const std::vector<std::vector<std::string>>& rows);

/// What `object[name]` says in a table: text without quotes, numbers shortened, elements
/// of a list with commas, "–" for nothing.
/// Nothing that a terminal would act on.
std::string cell(const Json& object, const char* name);
/// `value` of a metric's point: also nan, inf and -inf.
std::string value_cell(const Json& point);

}    // namespace slipway::client
