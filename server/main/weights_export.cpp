#include "server/main/weights_export.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include <cerrno>

#include "api/base/clock.h"
#include "api/base/id.h"
#include "api/base/log.h"
#include "scheduler/agent/memory_guard.h"
#include "scheduler/agent/run_folder.h"
#include "scheduler/store/hosts.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes export_max{10};
constexpr std::size_t said_bytes_max = 400;
constexpr int kill_max_ms = 5000;    // until a killed process is gone
constexpr int end_tries_max = 250, end_pause_ms = 20;
constexpr const char* weights_name = "weights";
constexpr const char* output_name = "output.log";

enum class Wait { ended, too_long, stopped, too_large };

Wait wait_for_end(const LaunchedProcess& process, MemoryGuard& memory,
                  const std::atomic<bool>& stop) {
    const Tick end = system_clock().tick() + export_max;
    pollfd watched{process.end_fd(), POLLIN, 0};
    while (!stop && system_clock().tick() < end) {
        const int found = poll(&watched, 1, 100);
        if (found > 0) return Wait::ended;
        if (found < 0 && errno != EINTR)
            throw Error{ErrorCode::unavailable, "the export cannot be watched"};
        if (memory.reads() && memory.is_exceeded()) return Wait::too_large;
    }
    return stop ? Wait::stopped : Wait::too_long;
}

/// Ends the process with all that it started, at the latest with the scope.
class Ending {
public:
    Ending(ProcessRecords& records, const std::string& name, LaunchedProcess& process)
        : records_(records), name_(name), process_(process) {}
    ~Ending() { end(); }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;

    /// How it ended; none when it is not known.
    std::optional<ProcessExit> finish() {
        end();
        return exit_;
    }

private:
    void end() {
        if (ended_) return;
        ended_ = true;
        process_.kill();
        pollfd watched{process_.end_fd(), POLLIN, 0};
        poll(&watched, 1, kill_max_ms);
        exit_ = process_.collect_exit();
        clear();
        records_.forget(name_);
    }

    void clear() {
        try {
            for (int tries = 0; !process_.is_cleared() && tries < end_tries_max; ++tries)
                poll(nullptr, 0, end_pause_ms);
        } catch (const Error& error) {
            log_error("an export cannot be looked at", {{"reason", error.what()}});
        }
    }

    ProcessRecords& records_;
    const std::string& name_;
    LaunchedProcess& process_;
    bool ended_ = false;
    std::optional<ProcessExit> exit_;
};

/// What another process wrote may be anything: a link would have a client read whatever it names.
void keep_plain_file(const fs::path& written, const fs::path& file) {
    fs::rename(written, file);    // where nobody but the service writes
    struct stat found {};
    if (lstat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink == 1) return;
    std::error_code problem;    // a folder with something in it stays until the next start
    fs::remove(file, problem);
    throw Error{ErrorCode::unavailable, "the export did not write a plain file"};
}

/// What a killed service left running writes into a folder that is used again.
void end_earlier(const Launcher& launcher, ProcessRecords& records) {
    std::vector<std::string> names;
    for (const auto& each : records.all())
        names.push_back(each.first);
    for (const std::string& name : names) {
        const ProcessRecord record = *records.find(name);
        for (int tries = 0; !launcher.end_left(record.id) && tries < end_tries_max; ++tries)
            poll(nullptr, 0, end_pause_ms);
        records.forget(name);
    }
}

/// The executor's own folder goes with the scope.
struct OwnFolder {
    fs::path path;
    ~OwnFolder() {
        std::error_code ignored;    // a leftover in a folder that starts empty
        fs::remove_all(path, ignored);
    }
};

}    // namespace

WeightsExporter::WeightsExporter(store::Store& store, const AgentOptions& options, fs::path folder)
    : store_(store),
      options_(options),
      launcher_(*options_.launcher),
      folder_(std::move(folder)),
      records_(options.home / "processes" / "exports", launcher_.id_scope()) {
    end_earlier(launcher_, records_);
    fs::remove_all(folder_);    // what a killed service left
    make_private_folder(folder_);
    fs::permissions(folder_, fs::perms(0711));    // executors pass through to what is theirs
}

std::unique_ptr<LaunchedProcess> WeightsExporter::start(const std::string& name,
                                                        const WeightsExport& wanted,
                                                        const fs::path& own) {
    const auto number = store::executor_number(store_, wanted.project);
    if (!number) throw Error{ErrorCode::exhausted, "no user id is left for the executors"};
    return launcher_.launch(
        {.name = name,
         .process = {.program = options_.executor,
                     .arguments = {"export", wanted.checkpoint.string(), "--out",
                                   (own / weights_name).string(), "--dtype", wanted.dtype,
                                   "--weights", wanted.weights},
                     .folder = own,
                     .output = own / output_name,
                     .result = {},
                     .before_start = keep_record(records_, name)},
         .project_number = *number,
         .shared = {wanted.checkpoint},
         .writable = {own},
         .memory_bytes = options_.check_memory_bytes,
         .cpu_seconds = options_.check_cpu_max.count()});
}

void WeightsExporter::run(const WeightsExport& wanted, const fs::path& file,
                          const std::atomic<bool>& stop) {
    const OwnFolder own{folder_ / (file.filename().string() + ".own")};
    make_private_folder(own.path);
    const std::string name = "export_" + file.stem().string();
    const std::unique_ptr<LaunchedProcess> process = start(name, wanted, own.path);
    MemoryGuard memory(*process, options_.check_memory_bytes);
    Ending ending(records_, name, *process);
    const Wait wait = wait_for_end(*process, memory, stop);
    if (wait == Wait::stopped) throw Error{ErrorCode::unavailable, "the service stops"};
    if (wait == Wait::too_long)
        throw Error{ErrorCode::unavailable, "the weights could not be written in ten minutes"};
    const auto killed =
        memory.end(wait == Wait::too_large ? EndCause::memory : EndCause::none, false);
    if (killed) throw Error{ErrorCode::unavailable, "the export: " + describe(*killed)};
    if (ending.finish().value_or(ProcessExit{}).status == 0) {
        keep_plain_file(own.path / weights_name, file);
        return;
    }
    log_warn("weights could not be exported",
             {{"checkpoint", wanted.checkpoint.string()},
              {"output", read_tail(own.path / output_name, said_bytes_max)}});
    throw Error{ErrorCode::unavailable,
                fmt::format("the weights of checkpoint {} could not be written: its files are "
                            "damaged, or the disk is full",
                            wanted.checkpoint.filename().string())};
}

}    // namespace slipway
