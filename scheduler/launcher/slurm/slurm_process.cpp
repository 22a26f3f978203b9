#include "scheduler/launcher/slurm/slurm_process.h"

#include <system_error>
#include <utility>

#include "api/base/log.h"
#include "scheduler/launcher/confine/limits.h"

namespace slipway {

SlurmProcess::SlurmProcess(ProcessId id, std::filesystem::path order,
                           std::shared_ptr<SlurmQueue> queue,
                           std::shared_ptr<SlurmQueue::Watch> watch)
    : id_(id), order_(std::move(order)), queue_(std::move(queue)), watch_(std::move(watch)) {}

void SlurmProcess::terminate() {
    if (has_begun())
        queue_->signal(id_.pid, "TERM");
    else
        queue_->cancel(id_.pid);    // there is nobody to be asked
}

void SlurmProcess::kill() {
    // The signal alone leaves a job that waits; cancelling alone gives a job that runs time to end.
    queue_->signal(id_.pid, "KILL");
    queue_->cancel(id_.pid);
}

std::optional<ProcessExit> SlurmProcess::collect_exit() {
    const SlurmJobFacts facts = watch_->facts();
    log_info("a job of Slurm has ended",
             {{"slurm_job", id_.pid},
              {"name", watch_->name()},
              {"slurm_state", facts.known ? facts.line.state : std::string("unknown")},
              {"slurm_reason", facts.line.reason},
              {"node", facts.line.node}});
    return facts.gone ? std::nullopt : exit_of_job(facts.line);
}

bool SlurmProcess::is_cleared() {
    // COMPLETING is not an end: until then something of it may be left on its node.
    if (!watch_->facts().has_ended()) return false;
    std::error_code next_time;    // the launcher's remove_left() finds it
    std::filesystem::remove(order_, next_time);
    return true;
}

bool SlurmProcess::has_begun() const {
    const SlurmJobFacts facts = watch_->facts();
    return facts.has_ended() || (facts.known && stage_of(facts.line.state) != SlurmStage::waiting);
}

bool SlurmProcess::exceeded_memory() const {
    return watch_->facts().line.state == "OUT_OF_MEMORY";
}

std::int64_t SlurmProcess::uncounted_memory_bytes() const {
    return uncounted_bytes_max;
}

}    // namespace slipway
