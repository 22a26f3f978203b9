#pragma once

#include <array>
#include <string_view>

#include "api/spec/spelling.h"

namespace slipway {

/// Where a sweep stands. Spelled as on the wire and in SQL.
enum class SweepState {
    running,
    paused,      ///< by a user: it starts nothing, and its jobs are paused
    stopping,    ///< it ends when its jobs have ended
    finished,    ///< end: nothing is left to try, or a limit was reached
    stopped,     ///< end: by a user
    failed       ///< end: see the reason
};

template <>
struct Spelling<SweepState> {
    static constexpr std::array<std::string_view, 6> words{"running",  "paused",  "stopping",
                                                           "finished", "stopped", "failed"};
};

constexpr bool is_final(SweepState state) noexcept {
    return state == SweepState::finished || state == SweepState::stopped ||
           state == SweepState::failed;
}

}    // namespace slipway
