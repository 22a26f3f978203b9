#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/placement/machine.h"

namespace slipway {

/// Who gives way so that a job gets its cores of one host.
struct Preemption {
    std::vector<std::string> give_way = {};    ///< to be asked now; empty: those who end are enough
    std::string ending = {};    ///< one of those who are ending already; may be empty
    int cores = 0;              ///< of all who are to be asked
};

/// The fewest jobs of a lower class, all preemptible, whose cores together with the free ones and
/// with those of jobs that are ending are enough for `job`. Of several the lowest class, and in it
/// those that started last. None when that is not possible. Pure.
std::optional<Preemption> choose_preemption(const WaitingJob& job, const HostSlots& slots,
                                            const RunningJobs& running);

}    // namespace slipway
