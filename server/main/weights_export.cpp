#include "server/main/weights_export.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <cerrno>

#include "api/base/clock.h"
#include "api/base/id.h"
#include "api/base/log.h"
#include "scheduler/agent/run_folder.h"
#include "scheduler/store/hosts.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes export_max{10};
constexpr std::size_t said_bytes_max = 400;

/// False when it still runs after the time limit, or when `stop` is set before.
bool wait_for_end(const RunningProcess& process, const std::atomic<bool>& stop) {
    const Tick end = system_clock().tick() + export_max;
    pollfd watched{process.pidfd.get(), POLLIN, 0};
    while (!stop && system_clock().tick() < end) {
        const int found = poll(&watched, 1, 100);
        if (found > 0) return true;
        if (found < 0 && errno != EINTR)
            throw Error{ErrorCode::unavailable, "the export cannot be watched"};
    }
    return false;
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
    : store_(store), options_(options), launcher_(options.launcher), folder_(std::move(folder)) {
    fs::remove_all(folder_);    // what a killed service left
    make_private_folder(folder_);
    fs::permissions(folder_, fs::perms(0711));    // executors pass through to what is theirs
}

void WeightsExporter::run(const WeightsExport& wanted, const fs::path& file,
                          const std::atomic<bool>& stop) const {
    const OwnFolder own{folder_ / (file.filename().string() + ".own")};
    const fs::path written = own.path / "weights";
    const fs::path said = own.path / "output.log";
    make_private_folder(own.path);
    const auto number = store::executor_number(store_, wanted.project);
    if (!number) throw Error{ErrorCode::exhausted, "no user is left for the executors"};
    const RunningProcess process = launcher_.launch(
        {.name = "export_" + file.filename().string(),
         .process = {.program = options_.executor,
                     .arguments = {"export", wanted.checkpoint.string(), "--out", written.string(),
                                   "--dtype", wanted.dtype, "--weights", wanted.weights},
                     .folder = own.path,
                     .output = said,
                     .result = {}},
         .project_number = *number,
         .readable = {wanted.checkpoint},
         .owned = {wanted.checkpoint.parent_path()},
         .writable = {own.path},
         .memory_bytes = options_.check_memory_bytes,
         .cpu_seconds = options_.check_cpu_max.count()});
    if (!wait_for_end(process, stop)) {
        signal_group(process, SIGKILL);
        poll(nullptr, 0, 100);    // so that there is something to reap
        reap(process);
        throw Error{ErrorCode::unavailable,
                    stop ? "the service stops" : "the weights could not be written in ten minutes"};
    }
    if (reap(process).value_or(0) == 0) {
        fs::rename(written, file);
        return;
    }
    log_warn("weights could not be exported", {{"checkpoint", wanted.checkpoint.string()},
                                               {"output", read_tail(said, said_bytes_max)}});
    throw Error{ErrorCode::unavailable,
                fmt::format("the weights of checkpoint {} could not be written: its files are "
                            "damaged, or the disk is full",
                            wanted.checkpoint.filename().string())};
}

}    // namespace slipway
