// A worker begins as the program of its first run would. The rules of Landlock, which cannot be
// changed later, go with a folder and not with its name: before the next run the folders that it
// may write are taken from the first one, whose files get folders of another make, and are put in
// the place of those of the next run. (Folders of its own for the first run, too, would have had to
// wait until slipway-confine has made its rules.) So a worker can write what its present run may
// write, and until the next one begins or it ends, what its last run could; nothing else, in this
// respect as one that is started for each run. Everything else that confines a run is the same for
// all that a worker takes: the key says so. Giving workers the folders of all jobs of a project was
// the first idea, and would have let a hostile dataset change the checkpoints of other jobs.
#include "scheduler/launcher/warm_launcher.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/base/error.h"
#include "api/base/json.h"
#include "api/base/log.h"
#include "scheduler/launcher/process.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

/// A run in a worker. It has ended when the worker says so, or when the worker has.
class WorkerRun final : public LaunchedProcess {
public:
    WorkerRun(std::shared_ptr<Worker> worker, std::shared_ptr<WorkerPool> pool, const Clock& clock,
              bool confined, bool had_waited)
        : worker_(std::move(worker)),
          pool_(std::move(pool)),
          clock_(clock),
          confined_(confined),
          had_waited_(had_waited) {}

    ProcessId id() const override { return process().id(); }
    int end_fd() const override { return worker_->event_fd(); }
    void stand_back() override {
        if (!answered_) process().stand_back();
    }
    void terminate() override {
        if (!answered_) process().terminate();
    }
    void kill() override {
        if (!answered_) process().kill();
    }
    std::optional<ProcessExit> collect_exit() override {
        const std::optional<WorkerAnswer> answer = worker_->take_answer();
        if (!answer) {
            std::optional<ProcessExit> exit = process().collect_exit();
            if (exit) exit->had_waited = had_waited_;
            return exit;
        }
        answered_ = true;
        // What is not confined may have left processes behind, which must go with it.
        if (confined_)
            pool_->give_back(worker_, clock_.tick());
        else
            left_ = true;
        return ProcessExit{.status = answer->exit_code};
    }
    bool is_cleared() override {
        if (answered_ && !left_) return true;
        if (left_) return give_back_alone();
        if (!process().is_cleared()) return false;
        pool_->forget_later(worker_->folder());
        return true;
    }
    bool keeps_memory_limit() const override { return process().keeps_memory_limit(); }
    std::int64_t read_memory_bytes() const override { return process().read_memory_bytes(); }
    bool exceeded_memory() const override { return process().exceeded_memory(); }
    std::int64_t uncounted_memory_bytes() const override {
        return process().uncounted_memory_bytes();
    }
    std::int64_t count_host_memory_kills() const override {
        return process().count_host_memory_kills();
    }

private:
    LaunchedProcess& process() const { return worker_->process(); }

    /// Without a filter of system calls it may have children: then it is not used again.
    bool give_back_alone() {
        left_ = false;
        if (session_members(pid_t(id().pid)).size() <= 1) {
            pool_->give_back(worker_, clock_.tick());
            return true;
        }
        answered_ = false;
        process().kill();
        return false;
    }

    const std::shared_ptr<Worker> worker_;
    const std::shared_ptr<WorkerPool> pool_;
    const Clock& clock_;
    const bool confined_;
    const bool had_waited_;
    bool answered_ = false;    // and may be somebody else's by now
    bool left_ = false;        // answered, and still ours
};

Worker::Sockets make_sockets() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        throw Error{ErrorCode::exhausted,
                    fmt::format("cannot make a socket: {}", std::strerror(errno))};
    }
    return {.ours = UniqueFd(ends[0]), .theirs = UniqueFd(ends[1])};
}

/// The folders that stand in for those of a run when they are taken from the worker again.
LaunchRequest stand_ins(const LaunchRequest& request, const fs::path& folder) {
    LaunchRequest made;
    made.project_number = request.project_number;
    for (std::size_t i = 0; i < request.stay->own.size(); ++i)
        made.writable.push_back(folder / fmt::to_string(i));
    return made;
}

LaunchRequest worker_request(const LaunchRequest& request, const fs::path& folder, int socket) {
    LaunchRequest made = request;
    made.name = folder.filename();
    made.process.arguments.emplace_back("--stay");
    made.process.lock_fd = socket;
    made.stay.reset();
    return made;
}

/// Of a folder, or of the one that it would be made in.
std::optional<dev_t> device_of(const fs::path& folder) {
    struct stat facts {};
    if (stat(folder.c_str(), &facts) == 0) return facts.st_dev;
    if (!folder.has_relative_path()) return std::nullopt;
    return device_of(folder.parent_path());
}

/// Folders change places within one file system alone.
bool can_lend(const std::vector<fs::path>& own, const fs::path& workers) {
    std::error_code there;
    fs::create_directories(workers, there);
    const auto ours = device_of(workers);
    return std::ranges::all_of(
        own, [&ours](const fs::path& folder) { return ours && device_of(folder) == ours; });
}

/// What must be there before a worker is given the run. Its own folders need not: those of the
/// worker take their names.
LaunchRequest to_prepare(const LaunchRequest& request) {
    LaunchRequest made;
    made.project_number = request.project_number;
    made.orders = request.orders;
    std::error_code absent;
    std::ranges::copy_if(
        request.stay->own, std::back_inserter(made.writable), [&absent](const fs::path& folder) {
            return fs::exists(folder, absent) || !fs::exists(folder.parent_path(), absent);
        });
    return made;
}

struct WorkerRecord {
    ProcessId id;
    std::string scope;
};

void write_record(const fs::path& folder, const WorkerRecord& record) {
    write_file_aside(folder / worker_record_file, Json{{"pid", record.id.pid},
                                                       {"start_ticks", record.id.start_ticks},
                                                       {"scope", record.scope}}
                                                      .dump());
}

/// A worker's record is in a folder that it cannot write.
std::optional<WorkerRecord> read_record(const fs::path& folder) {
    std::ifstream file(folder / worker_record_file);
    const Json stored = Json::parse(file, nullptr, false);
    if (!stored.is_object() || !stored.contains("start_ticks")) return std::nullopt;
    return WorkerRecord{.id = {.pid = stored.value("pid", pid_t{0}),
                               .start_ticks = stored.value("start_ticks", std::int64_t{0})},
                        .scope = stored.value("scope", "")};
}

}    // namespace

WarmLauncher::WarmLauncher(LauncherOptions local, WarmOptions options, const Clock& clock)
    : local_(std::move(local)),
      options_(std::move(options)),
      clock_(clock),
      pool_(std::make_shared<WorkerPool>(options_.folder, options_.workers_max)) {}

std::unique_ptr<LaunchedProcess> WarmLauncher::launch(const LaunchRequest& request) const {
    pool_->take_back(request.shared);
    if (!request.stay) return local_.launch(request);
    if (!can_lend(request.stay->own, options_.folder)) return local_.launch(request);
    local_.prepare(to_prepare(request));
    std::shared_ptr<Worker> worker = take(request);
    const bool had_waited = worker != nullptr;
    if (!worker) worker = start(request);
    return std::make_unique<WorkerRun>(std::move(worker), pool_, clock_, local_.confines(),
                                       had_waited);
}

/// A worker that has the run already; null when there is none that can.
std::shared_ptr<Worker> WarmLauncher::take(const LaunchRequest& request) const {
    std::shared_ptr<Worker> worker = pool_->take(key_of(request), clock_.tick());
    if (!worker) return nullptr;
    try {
        if (request.process.before_start) request.process.before_start(worker->process().id());
        // It needs a few milliseconds for its first step, for which others would let it wait ten
        // times as long. A program that has to be started first needs more, and stands back.
        worker->process().go_ahead();
        worker->give(*request.stay, request.process.lock_fd);
        return worker;
    } catch (const Error& error) {
        // A folder that it had is gone, it has ended at this moment, or it made too many files.
        log_warn("a worker is not used again",
                 {{"worker", worker->folder().string()}, {"reason", error.what()}});
        pool_->end(std::move(worker));
        return nullptr;
    }
}

std::shared_ptr<Worker> WarmLauncher::start(const LaunchRequest& request) const {
    const fs::path folder = pool_->begin();
    std::shared_ptr<Worker> worker;
    try {
        local_.prepare(stand_ins(request, folder));
        Worker::Sockets sockets = make_sockets();
        LaunchRequest made = worker_request(request, folder, sockets.theirs.get());
        made.process.before_start = [&](const ProcessId& id) {
            write_record(folder, {.id = id, .scope = id_scope()});
            if (request.process.before_start) request.process.before_start(id);
        };
        // Before the launch: were the program replaced between the two, a worker of the old build
        // would have the key of the new one, and be used for it.
        WorkerKey key = key_of(request);
        std::unique_ptr<LaunchedProcess> process = local_.launch(made);
        worker = std::make_shared<Worker>(std::move(key), folder, *request.stay, std::move(process),
                                          std::move(sockets));
    } catch (const Error&) {
        pool_->forget(folder);
        throw;
    }
    try {
        worker->begin(*request.stay, request.process.lock_fd);
    } catch (const Error&) {
        pool_->end(std::move(worker));
        throw;
    }
    return worker;
}

std::unique_ptr<LaunchedProcess> WarmLauncher::adopt(const std::string& name,
                                                     const ProcessId& id) const {
    // Its socket ended with the agent before us: it takes no other run and ends with this one.
    return local_.adopt(name, id);
}

bool WarmLauncher::end_left(const ProcessId& id) const {
    return local_.end_left(id);
}

std::string WarmLauncher::id_scope() const {
    return local_.id_scope();
}

void WarmLauncher::remove_left(Instant now) const {
    local_.remove_left(now);
    remove_left_workers();
}

/// Workers of a service before this one.
void WarmLauncher::remove_left_workers() const {
    ends_left_ = false;
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(options_.folder, absent)) {
        if (pool_->knows(entry.path())) continue;
        const auto record = read_record(entry.path());
        if (record && record->scope == id_scope()) {
            const bool idle = fs::exists(entry.path() / worker_idle_file, absent);
            const bool lives = process_start_ticks(record->id.pid) == record->id.start_ticks;
            // One that still runs an attempt has been adopted, or is ended by who looks for it.
            if (lives && !idle) continue;
            if (lives && !end_left(record->id)) {
                ends_left_ = true;
                continue;
            }
        }
        std::error_code next_time;
        fs::remove_all(entry.path(), next_time);
    }
}

void WarmLauncher::end_idle(Tick now) const {
    pool_->end_idle_since(now - options_.idle_max);
    pool_->collect_ended();
    if (ends_left_) remove_left_workers();
}

}    // namespace slipway
