#pragma once

#include <map>
#include <string>
#include <vector>

#include "scheduler/placement/placement.h"
#include "scheduler/store/decisions.h"

namespace slipway {

/// Which waits are worth a stored decision: a reason that has lasted for `lasting`, once. What
/// waits for less is told by its start. Holds the jobs of the last pass only.
class WaitMemory {
public:
    static constexpr std::chrono::seconds lasting{1};
    /// Of one pass; the rest is left to the next ones.
    static constexpr std::size_t at_once = 200;

    std::vector<store::NewDecision> to_record(const std::vector<WaitReason>& waiting, Instant now);

private:
    struct Seen {
        std::string code;
        Instant since{};
        bool recorded = false;
    };
    std::map<std::string, Seen> seen_;    // by job
};

}    // namespace slipway
