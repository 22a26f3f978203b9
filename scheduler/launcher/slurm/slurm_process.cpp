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

/// A node that has not begun by then is given up as one that has begun and says nothing.
constexpr std::chrono::minutes begin_max{10};
constexpr int exit_of_start_min = exit_no_order;
constexpr int exit_of_start_max = exit_not_started;

bool is_killed(int status) {
    return status == 128 + SIGKILL || status == 128 + SIGTERM;
}

bool is_exit_of_start(int status) {
    return status >= exit_of_start_min && status <= exit_of_start_max;
}

int status_of(const SlurmJobLine& line) {
    const auto exit = exit_of_job(line);
    return exit ? exit->status : 0;
}

/// The job ended by itself and was not cancelled.
bool was_run(const SlurmJobLine& line) {
    return line.state == "FAILED" || line.state == "COMPLETED";
}

/// Of its slice; 1: it has none.
int members_of(const SlurmOrders& orders) {
    if (!orders.rank) return 1;
    const auto order = orders.read();
    return order ? order->members : 1;
}

std::filesystem::path folder_of(const SlurmOrders& orders) {
    return (orders.rank ? orders.slice.path() : orders.file).parent_path();
}

}    // namespace

std::optional<std::string> SlurmOrders::begun_on() const {
    if (rank) return slice.begun_on(*rank);
    std::ifstream stream(begun_file(file));
    if (!stream) return std::nullopt;
    return std::string{std::istreambuf_iterator<char>(stream), {}};
}

void SlurmOrders::remove() const {
    std::error_code next_time;    // the launcher's remove_left() finds it
    if (rank)
        slice.remove(*rank);
    else {
        std::filesystem::remove(begun_file(file), next_time);
        std::filesystem::remove(file, next_time);
    }
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
                           std::unique_ptr<SlurmLink> link, std::shared_ptr<NodeFaults> faults,
                           const Clock& clock)
    : id_(id),
      orders_(std::move(orders)),
      queue_(std::move(queue)),
      watch_(std::move(watch)),
      link_(std::move(link)),
      faults_(std::move(faults)),
      clock_(clock),
      members_(members_of(orders_)) {}

/// Where the node is to be reached by a link, a socket in the folder is never tried.
std::optional<UniqueFd> SlurmProcess::connect(const std::filesystem::path& run_folder) {
    return link_ ? link_->take() : LaunchedProcess::connect(run_folder);
}

void SlurmProcess::terminate() {
    if (runs())
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
    const auto exit = orders_.rank ? orders_.slice.exit_of(*orders_.rank) : std::nullopt;
    const std::string node = node_of(facts);
    const bool is_failed_start = has_failed_start(facts, exit);
    if (!node.empty() && is_failed_start)
        faults_->add(node);
    else if (orders_.begun_on())
        faults_->clear(node);
    if (!orders_.rank) return facts.gone ? std::nullopt : exit_of_job(facts.line);
    if (!exit && is_failed_start) return ProcessExit{.status = exit_no_order};
    if (!exit) return std::nullopt;    // it was ended with the job
    return ProcessExit{.status = exit->status,
                       .killed = exit->status == 128 + SIGKILL,
                       .exceeded_cpu = exit->status == 128 + SIGXCPU};
}

/// The order was not read, or the program did not become what it says.
bool SlurmProcess::has_failed_start(const SlurmJobFacts& facts,
                                    const std::optional<MemberExit>& exit) const {
    if (facts.gone || was_taken_away(facts.line.state)) return false;
    if (exit) return is_exit_of_start(exit->status);
    if (orders_.begun_on()) return !orders_.rank && is_exit_of_start(status_of(facts.line));
    // Without this member's sign: the others were ended for it, or none could begin.
    if (orders_.rank) return facts.has_ended() && !facts.line.node.empty() && was_run(facts.line);
    return is_exit_of_start(status_of(facts.line));
}

/// Of members that have left no sign, the node is one of those that no other member has named.
std::string SlurmProcess::node_of(const SlurmJobFacts& facts) const {
    if (auto begun = orders_.begun_on()) return *std::move(begun);
    if (!orders_.rank) return facts.line.node;
    std::vector<std::string> nodes = expand_nodes(facts.line.nodes);
    std::size_t before = 0;    // members without a sign, of lower rank
    for (int rank = 0; rank < members_; ++rank) {
        if (const auto begun = orders_.slice.begun_on(rank))
            std::erase(nodes, *begun);
        else if (rank < *orders_.rank)
            ++before;
    }
    return before < nodes.size() ? nodes[before] : std::string();
}

bool SlurmProcess::has_member_without_start() const {
    for (int rank = 0; rank < members_; ++rank)
        if (rank != *orders_.rank && !orders_.slice.begun_on(rank)) return true;
    return false;
}

EndNote SlurmProcess::end_note() const {
    const SlurmJobFacts facts = watch_->facts();
    const std::string& state = facts.line.state;
    const std::string job = fmt::format("job {} of Slurm", id_.pid);
    const std::string how = facts.has_ended() && !facts.gone ? fmt::format(" ({})", state) : "";
    const auto exit = orders_.rank ? orders_.slice.exit_of(*orders_.rank) : std::nullopt;
    const bool is_failed_start = has_failed_start(facts, exit);
    EndNote note{.by = EndedBy::itself, .where = job, .node = node_of(facts)};
    if (orders_.rank && (exit || is_failed_start))
        note.where = fmt::format("task {} of {}", *orders_.rank, job);
    else
        note.where += how;
    if (!note.node.empty()) note.where += " on node " + note.node;
    if (is_failed_start && !orders_.begun_on())
        note.where += fmt::format(
            ", which cannot run slipway-slurm-start or read its order in {}: "
            "the node must have the home folder and the programs",
            folder_of(orders_).string());
    // Slurm ends the others with a task that fails, after a while in which they may end themselves.
    if (orders_.rank && !is_failed_start && (!exit || is_killed(exit->status)) &&
        (orders_.slice.first_failed_before(*orders_.rank) || has_member_without_start()))
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
    if (has_begun_) return true;
    const SlurmJobFacts facts = watch_->facts();
    has_begun_ = facts.has_ended() || facts.task_ended || orders_.begun_on() ||
                 (facts.runs_since && clock_.tick() - *facts.runs_since >= begin_max);
    return has_begun_;
}

bool SlurmProcess::runs() const {
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
