#pragma once

#include <optional>
#include <string_view>

#include "api/base/json.h"

namespace slipway {

// The texts of openapi.json that no row of an endpoint has. Pure.

/// What a status means.
std::string_view status_text(int status) noexcept;

/// What the endpoints of a group are about; for an unknown group, its name.
std::string_view group_text(std::string_view group) noexcept;

/// A parameter of a path.
struct PathParameterText {
    std::string_view prefix;    ///< the path begins with it
    std::string_view name;
    std::string_view summary;
    std::string_view example;
};

/// The text of the parameter `name` of `path`. One that is in no row is "Identifies the object."
const PathParameterText& path_parameter_text(std::string_view path, std::string_view name) noexcept;

/// A body of the document `name` as somebody would send or get it; none for most answers.
std::optional<Json> document_example(std::string_view name);

}    // namespace slipway
