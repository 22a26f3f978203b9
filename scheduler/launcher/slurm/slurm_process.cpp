#include "scheduler/launcher/slurm/slurm_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "api/base/log.h"
#include "api/base/posix.h"
#include "scheduler/launcher/confine/limits.h"

namespace slipway {

namespace {

bool is_killed(int status) {
    return status == 128 + SIGKILL || status == 128 + SIGTERM;
}

}    // namespace

void SlurmOrders::remove() const {
    std::error_code next_time;    // the launcher's remove_left() finds it
    if (rank)
        slice.remove(*rank);
    else
        std::filesystem::remove(file, next_time);
    std::filesystem::path ended = rank ? slice.path() : file;
    if (std::filesystem::exists(ended, next_time)) return;    // of other members
    ended.replace_extension(ended_ending);
    UniqueFd(open(ended.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
}

std::optional<StartOrder> SlurmOrders::read() const {
    if (rank) return slice.read_order(*rank);
    std::ifstream stream(file);
    return read_start_order(std::string{std::istreambuf_iterator<char>(stream), {}});
}

SlurmProcess::SlurmProcess(ProcessId id, SlurmOrders orders, std::shared_ptr<SlurmQueue> queue,
                           std::shared_ptr<SlurmQueue::Watch> watch,
                           std::unique_ptr<SlurmLink> link)
    : id_(id),
      orders_(std::move(orders)),
      queue_(std::move(queue)),
      watch_(std::move(watch)),
      link_(std::move(link)) {}

/// Where the node is to be reached by a link, a socket in the folder is never tried.
std::optional<UniqueFd> SlurmProcess::connect(const std::filesystem::path& run_folder) {
    return link_ ? link_->take() : LaunchedProcess::connect(run_folder);
}

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
    if (!orders_.rank) return facts.gone ? std::nullopt : exit_of_job(facts.line);
    const std::optional<MemberExit> exit = orders_.slice.exit_of(*orders_.rank);
    if (!exit) return std::nullopt;    // it was ended with the job
    return ProcessExit{.status = exit->status,
                       .killed = exit->status == 128 + SIGKILL,
                       .exceeded_cpu = exit->status == 128 + SIGXCPU};
}

EndNote SlurmProcess::end_note() const {
    const SlurmJobFacts facts = watch_->facts();
    const std::string& state = facts.line.state;
    const std::string job = fmt::format("job {} of Slurm", id_.pid);
    const std::string how = facts.has_ended() && !facts.gone ? fmt::format(" ({})", state) : "";
    const auto exit = orders_.rank ? orders_.slice.exit_of(*orders_.rank) : std::nullopt;
    EndNote note;
    if (exit)
        note.where = fmt::format("task {} of {} on node {}", *orders_.rank, job, exit->node);
    else
        note.where = fmt::format("{}{}", job, how);
    // Slurm ends the others with a task that fails, after a while in which they may end themselves.
    if (orders_.rank && (!exit || is_killed(exit->status)) &&
        orders_.slice.first_failed_before(*orders_.rank))
        note.by = EndedBy::others;
    else if (!exit && facts.has_ended() && was_taken_away(state))
        note.by = EndedBy::cluster;
    return note;
}

bool SlurmProcess::is_cleared() {
    // COMPLETING is not an end: until then something of it may be left on its node.
    if (!watch_->facts().has_ended()) return false;
    orders_.remove();
    return true;
}

bool SlurmProcess::has_begun() const {
    const SlurmJobFacts facts = watch_->facts();
    return facts.has_ended() || facts.task_ended ||
           (facts.known && stage_of(facts.line.state) != SlurmStage::waiting);
}

bool SlurmProcess::exceeded_memory() const {
    return watch_->facts().line.state == "OUT_OF_MEMORY";
}

std::int64_t SlurmProcess::uncounted_memory_bytes() const {
    return uncounted_bytes_max;
}

}    // namespace slipway
