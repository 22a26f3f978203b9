#pragma once

#include <string_view>

namespace slipway {

/// What a checkpoint may be called, by the constraints of the tables that name its folder: a folder
/// name that leads nowhere else.
bool is_checkpoint_name(std::string_view name) noexcept;

}    // namespace slipway
