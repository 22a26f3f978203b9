#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace slipway {

/// `name` without blanks around it: names of classes, groups and columns are read like this.
std::string_view without_blanks(std::string_view name);

/// The same text for names that only a close look tells apart: they differ in blanks, case, Unicode
/// form or the spelling of a number ("7" and "07.0"). `name` is UTF-8.
std::string look_of(std::string_view name);

/// Says which of `names` look alike; none where none do. `kind` is what they are: "classes".
std::optional<std::string> look_alikes_message(std::string_view kind,
                                               std::span<const std::string> names);

}    // namespace slipway
