#pragma once

#include <optional>

namespace slipway::simulator {

/// A job as it is submitted, and what its executor will do.
struct JobShape {
    int project = 0;
    int class_rank = 2;
    int cores = 1;
    std::optional<int> core_id = {};
    bool preemptible = true;
    int restarts_max = 3;
    int steps = 5;
    int step_s = 10;
    int save_every = 2;    ///< steps
    std::optional<int> max_wall_s = {};
    std::optional<int> start_after_s = {};    ///< from its submission on
    std::optional<int> valid_for_s = {};
    std::optional<int> crash_at = {};    ///< its executor vanishes at this step
    bool always_crashes = false;         ///< in each attempt, not in the first alone
    bool hangs = false;                  ///< at crash_at it goes silent instead of vanishing
    bool fails = false;                  ///< at its last step it reports a user's error
    bool is_deaf = false;                ///< hears neither requests nor SIGTERM
    bool is_background = false;          ///< comes while the others are awaited
};

}    // namespace slipway::simulator
