#include "api/protocol/run_position.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace slipway {

static_assert(std::is_trivially_copyable_v<RunPosition> && sizeof(RunPosition) == 48);

void set_phase(RunPosition& position, std::string_view phase) noexcept {
    const std::size_t length = std::min(phase.size(), position.phase.size() - 1);
    std::memcpy(position.phase.data(), phase.data(), length);
    position.phase[length] = '\0';
}

std::string phase_of(const RunPosition& position) {
    return {position.phase.data(), strnlen(position.phase.data(), position.phase.size())};
}

std::optional<RunPosition> read_run_position(std::string_view bytes) {
    if (bytes.size() != sizeof(RunPosition)) return std::nullopt;
    RunPosition position;
    std::memcpy(&position, bytes.data(), sizeof(position));
    const std::string phase = phase_of(position);
    const bool is_word = !phase.empty() && std::ranges::all_of(phase, [](char c) {
        return (c >= 'a' && c <= 'z') || c == '_';
    });
    if (!is_word || position.phase.back() != '\0' || position.step < 0 || position.epoch < 0 ||
        position.batch < 0)
        return std::nullopt;
    return position;
}

std::string describe(const RunPosition& position) {
    if (position.step == 0)
        return fmt::format("before the first step, phase {}", phase_of(position));
    return fmt::format("in step {}, phase {}", position.step, phase_of(position));
}

}    // namespace slipway
