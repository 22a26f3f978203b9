#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "scheduler/placement/snapshot.h"

namespace slipway {

/// Jobs that the database has refused to place again and again: each pass would choose the same
/// cores for them, and those behind them would wait for ever. Not safe from several threads.
class RefusedMemory {
public:
    /// One or two are lost races.
    static constexpr int refusals_max = 3;
    static constexpr std::chrono::seconds passed_over_for{30};

    /// True: it has been refused so often that it is passed over from now on.
    bool refused(const std::string& job_id, Instant now);
    void placed(const std::string& job_id) { refused_.erase(job_id); }
    /// Takes the jobs out that are passed over now.
    void filter(std::vector<WaitingJob>& queue, Instant now);

private:
    struct Refused {
        int count = 0;
        Instant last{};
    };
    std::map<std::string, Refused> refused_;
};

}    // namespace slipway
