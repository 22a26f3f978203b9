#include "scheduler/maintenance/ready_memory.h"

#include <algorithm>
#include <utility>

namespace slipway {

std::optional<store::ReadyStarts> ReadyMemory::starts(Tick now) const {
    if (now >= whole_again_at_) return std::nullopt;
    return starts_;
}

void ReadyMemory::read_whole(store::ReadyStarts starts, Tick begin, Tick end) {
    starts_ = std::move(starts);
    const Tick::duration took = end - begin;
    whole_again_at_ =
        took <= quick ? end : end + std::min<Tick::duration>(pause_factor * took, pause_max);
}

std::vector<store::QueuedJob> read_ready_jobs(store::Store& store, int of_each_shape,
                                              const store::HeldAttempts& held,
                                              ReadyMemory& memory) {
    const Tick begin = system_clock().tick();
    const std::optional<store::ReadyStarts> starts = memory.starts(begin);
    store::ReadyJobs ready = store::read_ready_jobs(store, of_each_shape, held, starts);
    if (!starts) memory.read_whole(std::move(ready.starts), begin, system_clock().tick());
    return std::move(ready.jobs);
}

}    // namespace slipway
