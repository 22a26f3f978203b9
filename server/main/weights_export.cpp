#include "server/main/weights_export.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>

#include <cerrno>

#include "api/base/clock.h"
#include "api/base/id.h"
#include "api/base/log.h"
#include "scheduler/agent/process.h"
#include "scheduler/agent/run_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes export_max{10};
constexpr std::size_t said_bytes_max = 400;

/// False when it still runs after the time limit.
bool wait_for_end(const RunningProcess& process) {
    const Tick end = system_clock().tick() + export_max;
    pollfd watched{process.pidfd.get(), POLLIN, 0};
    while (true) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - system_clock().tick());
        if (left.count() <= 0) return false;
        const int found = poll(&watched, 1, int(left.count()));
        if (found > 0) return true;
        if (found < 0 && errno != EINTR)
            throw Error{ErrorCode::unavailable, "the export cannot be watched"};
    }
}

/// What the executor said goes with the scope.
struct SaidFile {
    fs::path path;
    ~SaidFile() {
        std::error_code ignored;    // a leftover of some bytes in a folder that starts empty
        fs::remove(path, ignored);
    }
};

}    // namespace

WeightsExporter::WeightsExporter(fs::path executor, fs::path folder)
    : executor_(std::move(executor)), folder_(std::move(folder)) {
    fs::remove_all(folder_);    // what a killed service left
    fs::create_directories(folder_);
}

void WeightsExporter::run(const WeightsExport& wanted) {
    const std::lock_guard lock(one_at_a_time_);
    const SaidFile said{folder_ / (wanted.file.filename().string() + ".log")};
    const RunningProcess process =
        spawn({.program = executor_,
               .arguments = {"export", wanted.checkpoint.string(), "--out", wanted.file.string(),
                             "--dtype", wanted.dtype, "--weights", wanted.weights},
               .folder = folder_,
               .output = said.path,
               .result = {}});
    if (!wait_for_end(process)) {
        signal_group(process, SIGKILL);
        poll(nullptr, 0, 100);    // so that there is something to reap
        reap(process);
        throw Error{ErrorCode::unavailable, "the weights could not be written in ten minutes"};
    }
    if (reap(process).value_or(0) == 0) return;
    log_warn("weights could not be exported", {{"checkpoint", wanted.checkpoint.string()},
                                               {"output", read_tail(said.path, said_bytes_max)}});
    throw Error{ErrorCode::unavailable,
                fmt::format("the weights of checkpoint {} could not be written: its files are "
                            "damaged, or the disk is full",
                            wanted.checkpoint.filename().string())};
}

}    // namespace slipway
