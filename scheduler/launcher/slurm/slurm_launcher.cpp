#include "scheduler/launcher/slurm/slurm_launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "api/base/error.h"
#include "api/base/id.h"
#include "api/base/log.h"
#include "scheduler/launcher/confine/limits.h"
#include "scheduler/launcher/private_folder.h"
#include "scheduler/launcher/process.h"
#include "scheduler/launcher/slurm/slurm_process.h"
#include "scheduler/launcher/slurm/start_order.h"

// prepare -> write the order -> submit, held -> keep who it is -> release. A job that is not
// released never runs, so a service that is killed at any moment leaves no program running that the
// next one does not know: what it left held is released by who adopts it, or cancelled when it has
// been held for a minute. What is to run stands in a file that only the service's user can read,
// and the script names that file alone: scripts and comments are shown to others.
namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t host_letters_max = 64;
constexpr const char* order_ending = ".order";
constexpr const char* slice_ending = ".slice";
constexpr std::chrono::hours keep_orders{1};    // of which no job is known
constexpr std::chrono::seconds ended_for{15};
constexpr std::chrono::seconds held_max{60};
constexpr std::chrono::seconds sweep_gap_min{20};

/// Of a descriptor, where it is now; empty: of none.
fs::path path_of(int descriptor) {
    if (descriptor < 0) return {};
    std::error_code unknown;
    return fs::read_symlink(fmt::format("/proc/self/fd/{}", descriptor), unknown);
}

const SlurmJobLine* find_job(const std::vector<SlurmJobLine>& jobs, std::int64_t number,
                             const std::string& comment) {
    const auto found = std::ranges::find_if(jobs, [&](const SlurmJobLine& job) {
        return job.number == number && job.comment == comment;
    });
    return found == jobs.end() ? nullptr : &*found;
}

/// Of comment_of(); none: it is no job of ours.
std::optional<std::string> mark_in(std::string_view comment) {
    constexpr std::string_view begin = "slipway ";
    if (!comment.starts_with(begin)) return std::nullopt;
    comment.remove_prefix(begin.size());
    return std::string(comment.substr(0, comment.find(' ')));
}

std::optional<Instant> written_at(const fs::path& path) {
    struct stat facts {};
    if (stat(path.c_str(), &facts) != 0) return std::nullopt;
    return Instant{std::chrono::seconds(facts.st_mtim.tv_sec)};
}

}    // namespace

SlurmLauncher::SlurmLauncher(LauncherOptions local, SlurmOptions options, const Clock& clock)
    : local_(std::move(local)),
      options_(std::move(options)),
      links_(options_.listen, options_.folder, clock),
      clock_(clock),
      queue_(std::make_shared<SlurmQueue>(options_.queue, clock)),
      faults_(std::make_shared<NodeFaults>(clock)) {}

std::int64_t SlurmLauncher::memory_of(const LaunchRequest& request) {
    return request.memory_bytes > 0 ? request.memory_bytes + uncounted_bytes_max : 0;
}

std::string SlurmLauncher::comment_of(std::int64_t mark) const {
    return fmt::format("slipway {:x} {}", mark, options_.host.substr(0, host_letters_max));
}

SlurmOrders SlurmLauncher::orders_of(const ProcessId& id) const {
    if (const auto member = member_of(id))
        return {.file = {}, .slice = folder_of_slice(member->mark), .rank = member->rank};
    return {.file = options_.folder / fmt::format("{:x}{}", mark_of(id), order_ending)};
}

SliceFolder SlurmLauncher::folder_of_slice(std::int64_t mark) const {
    return SliceFolder(options_.folder / fmt::format("{:x}{}", mark, slice_ending));
}

std::unique_ptr<LaunchedProcess> SlurmLauncher::launch(const LaunchRequest& request) const {
    if (request.cores == 0) return local_.launch(request);
    if (request.member) return launch_member(request);
    const ProcessId id = submit(request);
    try {
        auto process = watch(request.name, id);
        if (request.process.before_start) request.process.before_start(id);
        queue_->release(id.pid);
        return process;
    } catch (const std::exception&) {
        queue_->cancel(id.pid);
        orders_of(id).remove();
        throw;
    }
}

std::string SlurmLauncher::order_text(const LaunchRequest& request) const {
    const std::optional<Confinement> confinement = local_.confine(request);
    const ProgramStart& process = request.process;
    return to_text({.program = confinement ? confinement->confiner : process.program,
                    .arguments = confinement ? confine_arguments(*confinement, process.program,
                                                                 process.arguments)
                                             : process.arguments,
                    .environment = program_environment(),
                    .folder = process.folder,
                    .output = process.output,
                    .result = process.result,
                    .lock = path_of(process.lock_fd),
                    .members = request.member ? request.member->count : 1,
                    .link = links_.make()});
}

/// Not to nodes that could not start the last ones, unless no other nodes are left.
std::int64_t SlurmLauncher::submit_batch(BatchRequest request) const {
    request.excluded = faults_->excluded();
    if (request.excluded.empty()) return queue_->submit(request);
    try {
        return queue_->submit(request);
    } catch (const Error& error) {
        log_info("a job is submitted without --exclude", {{"reason", error.what()}});
        request.excluded.clear();
        return queue_->submit(request);
    }
}

/// Held: nothing of it runs yet.
ProcessId SlurmLauncher::submit(const LaunchRequest& request) const {
    ProcessId id = id_of(0, random_mark());
    const SlurmOrders orders = orders_of(id);
    make_private_folder(options_.folder);
    write_file_aside(orders.file, order_text(request));
    try {
        id.pid = pid_t(submit_batch({.name = request.name,
                                     .comment = comment_of(mark_of(id)),
                                     .cores = request.cores,
                                     .memory_bytes = memory_of(request),
                                     .starter = options_.starter,
                                     .order = orders.file}));
        return id;
    } catch (const Error&) {
        orders.remove();
        throw;
    }
}

/// Before it is released: its node is let in from then on.
std::unique_ptr<SlurmProcess> SlurmLauncher::watch(const std::string& name,
                                                   const ProcessId& id) const {
    SlurmOrders orders = orders_of(id);
    std::function<bool()> has_ended;
    if (orders.rank)
        has_ended = [slice = orders.slice, rank = *orders.rank] {
            return slice.exit_of(rank).has_value();
        };
    auto watch = queue_->watch(name, id.pid, comment_of(mark_of(id)), std::move(has_ended));
    auto link = links_ ? links_.expect(orders.read(), name) : nullptr;
    return std::make_unique<SlurmProcess>(id, std::move(orders), queue_, std::move(watch),
                                          std::move(link), faults_, clock_);
}

std::unique_ptr<LaunchedProcess> SlurmLauncher::adopt(const std::string& name,
                                                      const ProcessId& id) const {
    if (!is_job(id)) return local_.adopt(name, id);
    const std::optional<MarkedMember> member = member_of(id);
    std::unique_lock one_by_one(slices_, std::defer_lock);
    if (member) one_by_one.lock();    // what is seen is not older than what another member does
    const std::vector<SlurmJobLine> jobs = queue_->look();
    const SlurmJobLine* job = find_job(jobs, id.pid, comment_of(mark_of(id)));
    if (job == nullptr) return nullptr;
    auto process = watch(name, id);
    if (stage_of(job->state) == SlurmStage::running) process->take_as_begun();
    // The service before us ended when it had kept who the job is and had not released it.
    if (is_held(*job)) {
        if (!member)
            queue_->release(id.pid);
        else if (!let_held_member_go(id.pid, *member))
            return nullptr;
    }
    return process;
}

bool SlurmLauncher::end_left(const ProcessId& id) const {
    if (!is_job(id)) return local_.end_left(id);
    const std::vector<SlurmJobLine> jobs = queue_->look();
    const SlurmJobLine* job = find_job(jobs, id.pid, comment_of(mark_of(id)));
    if (job == nullptr || stage_of(job->state) == SlurmStage::ended) {
        orders_of(id).remove();
        return true;
    }
    queue_->signal(id.pid, "KILL");
    queue_->cancel(id.pid);
    return false;
}

/// The boot of this machine, for the processes on it. A job says by its mark whether it is the one.
std::string SlurmLauncher::id_scope() const {
    return local_.id_scope();
}

std::string SlurmLauncher::explain_wait(const std::string& job_id) const {
    for (const auto& watch : queue_->find(job_id + "/")) {
        const SlurmJobFacts facts = watch->facts();
        if (facts.has_ended() || (facts.known && stage_of(facts.line.state) != SlurmStage::waiting))
            continue;
        const std::string trouble = queue_->trouble();
        if (!trouble.empty())
            return fmt::format("job {} of Slurm waits, and Slurm does not answer: {}",
                               watch->number(), trouble);
        if (!facts.known) return fmt::format("job {} of Slurm was submitted", watch->number());
        const std::vector<std::string> excluded = faults_->excluded();
        return fmt::format(
            "job {} of Slurm is {}: {}{}", watch->number(), facts.line.state, facts.line.reason,
            excluded.empty() ? ""
                             : fmt::format("; it does not go to {}, where the last three "
                                           "starts failed",
                                           fmt::join(excluded, ", ")));
    }
    return {};
}

void SlurmLauncher::remove_left(Instant now) const {
    local_.remove_left(now);
    if (!begin_sweep(now)) return;
    try {
        const std::vector<SlurmJobLine> jobs = queue_->look();
        end_held(jobs, now);
        end_revived(jobs, now);
        remove_old_orders(jobs, now);
    } catch (const Error& error) {
        log_info("what Slurm has left is looked for later", {{"reason", error.what()}});
    }
}

/// The agents of all hosts of the service have this launcher, and each asks for sweeps.
bool SlurmLauncher::begin_sweep(Instant now) const {
    const std::scoped_lock lock(mutex_);
    if (swept_at_ && now - *swept_at_ < sweep_gap_min) return false;
    swept_at_ = now;
    return true;
}

/// A launch takes seconds: what is held for longer belongs to a service that was killed.
void SlurmLauncher::end_held(const std::vector<SlurmJobLine>& jobs, Instant now) const {
    const std::string ours = " " + options_.host.substr(0, host_letters_max);
    const std::scoped_lock lock(mutex_);
    std::map<std::int64_t, Instant> held;
    for (const SlurmJobLine& job : jobs) {
        if (!is_held(job) || !job.comment.starts_with("slipway ") || !job.comment.ends_with(ours))
            continue;
        const auto known = held_since_.find(job.number);
        const Instant since = known == held_since_.end() ? now : known->second;
        held.emplace(job.number, since);
        if (now - since < held_max) continue;
        log_warn("a job that was never released is cancelled",
                 {{"slurm_job", job.number},
                  {"held_s", std::chrono::duration<double>(now - since).count()}});
        queue_->cancel(job.number);
    }
    held_since_ = std::move(held);
}

/// slurmctld saves its state up to five seconds late: killed in this time, it reads that a job
/// which has ended still runs, does not ask the job's nodes, and keeps them for it.
void SlurmLauncher::end_revived(const std::vector<SlurmJobLine>& jobs, Instant now) const {
    for (const SlurmJobLine& job : jobs) {
        const auto mark = mark_in(job.comment);
        if (!mark || stage_of(job.state) == SlurmStage::ended) continue;
        const auto ended_at = written_at(options_.folder / (*mark + ended_ending));
        if (!ended_at || now - *ended_at < ended_for) continue;
        log_warn("a job that has ended is cancelled, Slurm took it for running",
                 {{"slurm_job", job.number}});
        queue_->cancel(job.number);
    }
}

void SlurmLauncher::remove_old_orders(const std::vector<SlurmJobLine>& jobs, Instant now) const {
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(options_.folder, absent)) {
        const fs::path ending = entry.path().extension();
        if (ending != order_ending && ending != slice_ending && ending != ended_ending &&
            ending != begun_ending)
            continue;
        const auto written = written_at(entry.path());
        if (!written) continue;
        const std::string mark = entry.path().stem().string();
        const auto is_its = [&](const SlurmJobLine& job) { return mark_in(job.comment) == mark; };
        if (now - *written > keep_orders && std::ranges::none_of(jobs, is_its))
            fs::remove_all(entry.path(), absent);
    }
}

}    // namespace slipway
