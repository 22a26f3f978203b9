#pragma once

#include <optional>
#include <string>

#include "executor/data/problem.h"

namespace slipway {

/// True for names that end as the images we read do: .jpg, .jpeg, .png in any case.
bool is_image_name(const std::string& name);

/// A problem for names of images that we do not read (.gif, .webp, …): leaving them out silently
/// would train on less than was given.
std::optional<DataProblem> unread_image(const std::string& name);

}    // namespace slipway
