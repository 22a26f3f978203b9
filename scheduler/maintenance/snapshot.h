#pragma once

#include <chrono>

#include "scheduler/maintenance/ready_memory.h"
#include "scheduler/placement/placement.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/queue.h"

namespace slipway {

/// A stored job and a stored core in the words of placement. Pure.
WaitingJob to_waiting_job(const store::QueuedJob& job);
CoreSlot to_core_slot(const store::Core& core);
RunningJob to_running_job(const store::RunningJobRow& job);
ProjectShare to_share(const store::ProjectStanding& standing);

/// The queue and the cores as stored, for the pass that places jobs and for explain alike. Of each
/// shape of jobs no more are read than can start, so that the cost depends on the number of cores,
/// not on the length of the queue. A host that was silent for longer than `host_silence_max` is not
/// alive. `also`: a project that is there even without ready jobs. `memory`: of earlier readings;
/// none: reads the whole queue. errors  throws unavailable
Snapshot read_snapshot(store::Store& store, std::chrono::milliseconds host_silence_max,
                       std::string_view also = {}, ReadyMemory* memory = nullptr);

}    // namespace slipway
