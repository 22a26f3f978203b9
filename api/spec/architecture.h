#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "api/spec/table/spelling.h"
#include "api/spec/task_spec.h"

namespace slipway {

/// A network that a job can name: one enumerator per row of architectures.def.
enum class Arch {
#define ARCHITECTURE(name, ...) name,
#include "api/spec/architectures.def"
#undef ARCHITECTURE
};

/// What the API and the planner know of an architecture. Its builder is in
/// executor/train/architectures. Of `layers` the list of layers decides, not its row. What the
/// file of `imported` contains is not known here: it may have batch norms.
struct ArchitectureTraits {
    bool has_batch_norm = false;    ///< samples of one batch change one another's results
    bool has_attention = false;     ///< model.heads
    /// The task of a language model; none for the others.
    std::optional<TaskType> language_task = {};
};

inline constexpr auto architecture_traits = std::to_array<ArchitectureTraits>({
#define ARCHITECTURE(name, ...) {__VA_ARGS__},
#include "api/spec/architectures.def"
#undef ARCHITECTURE
});

template <>
struct Spelling<Arch> {
    static constexpr auto words = std::to_array<std::string_view>({
#define ARCHITECTURE(name, ...) #name,
#include "api/spec/architectures.def"
#undef ARCHITECTURE
    });
};

constexpr const ArchitectureTraits& traits(Arch arch) noexcept {
    return architecture_traits[std::size_t(arch)];
}

/// The words of the architectures with a trait, in the order of the table.
std::vector<std::string_view> architectures_where(bool (*holds)(const ArchitectureTraits&));

}    // namespace slipway
