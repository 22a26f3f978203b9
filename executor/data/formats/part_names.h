#pragma once

#include <optional>
#include <string_view>

namespace slipway {

/// What a part of a dataset is for, in the usual order.
enum class PartKind { train, val, test };

/// What a folder, a file or an array of this name is for: "Training" and "train_1" are for
/// training, "val2017" is for validation, "test_set" for tests. None for other names.
std::optional<PartKind> part_kind(std::string_view name);

/// Whether something of this name is a part of a dataset, not a class.
bool is_usual_part(std::string_view name);

}    // namespace slipway
