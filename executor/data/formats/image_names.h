#pragma once

#include <optional>
#include <string>

#include "executor/data/problem.h"

namespace slipway {

/// A problem for names of images that we do not read (.gif, .webp, …): leaving them out silently
/// would train on less than was given.
std::optional<DataProblem> unread_image(const std::string& name);

}    // namespace slipway
