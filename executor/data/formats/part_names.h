#pragma once

#include <cstddef>
#include <string_view>

namespace slipway {

/// Whether a folder, a file or an array of this name is a part of a dataset, not a class: "train",
/// "Training", "val2017", "test_set".
bool is_usual_part(std::string_view name);

/// Its place in the usual order (training, validation, test), from 0; of another name behind all.
std::size_t usual_part_place(std::string_view name);

}    // namespace slipway
