#pragma once

#include <chrono>
#include <optional>

#include "api/base/clock.h"
#include "scheduler/store/queue.h"

namespace slipway {

/// Where the leader's last reading of the whole queue found the first job of each shape. While some
/// transaction is held open, the rows of all jobs that have started since lie in front of these,
/// and reading over them takes 0.3 us for each: after ten minutes at 500 jobs a second 90 ms a
/// pass. So the whole is read again only after 25 times as long as it took, at the latest after ten
/// seconds; what is read between finds what is submitted, but a job that has come back to the queue
/// (resumed, tried again, its start time or its dataset come) waits for the next whole reading. A
/// reading that is quick is always of the whole. Not safe from several threads.
class ReadyMemory {
public:
    static constexpr std::chrono::milliseconds quick{5};
    static constexpr int pause_factor = 25;
    static constexpr std::chrono::seconds pause_max{10};

    /// None: the whole is to be read now.
    std::optional<store::ReadyStarts> starts(Tick now) const;
    /// The whole was read and took that long.
    void read_whole(store::ReadyStarts starts, Tick begin, Tick end);

private:
    store::ReadyStarts starts_;
    Tick whole_again_at_{};
};

/// list_ready_jobs by way of the memory. errors  throws unavailable
std::vector<store::QueuedJob> read_ready_jobs(store::Store& store, int of_each_shape,
                                              const store::HeldAttempts& held, ReadyMemory& memory);

}    // namespace slipway
