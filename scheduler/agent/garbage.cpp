#include "scheduler/agent/garbage.h"

#include <filesystem>
#include <optional>
#include <vector>

#include "api/base/log.h"
#include "scheduler/agent/remove_some.h"
#include "scheduler/agent/run_folder.h"
#include "scheduler/store/hosts.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t rows_per_turn = 20;
constexpr std::size_t entries_per_turn = 2000;    // of one path; the rest next time
constexpr std::size_t old_folders_per_turn = 50;

/// Nobody lives in it, and nothing of it was written for so long.
bool is_old(const fs::path& folder, const AgentOptions& options, const Clock& clock) {
    std::error_code problem;
    const auto written = fs::last_write_time(folder, problem);
    if (problem) return false;
    const auto wall = std::chrono::file_clock::to_sys(written);
    if (clock.now() - wall < options.keep_run_folders) return false;
    // Anything else than a file holds no lock; an executor may have put it there.
    const fs::file_status lock = fs::symlink_status(folder / "lock", problem);
    return !fs::is_regular_file(lock) || lock_run_folder(folder).has_value();
}

/// One folder that cannot be looked at keeps no other one from its removal.
bool may_go(const fs::path& folder, const AgentOptions& options, const Clock& clock) {
    try {
        return is_old(folder, options, clock);
    } catch (const Error& error) {
        log_warn("an old run folder stays", {{"path", folder.string()}, {"reason", error.what()}});
        return false;
    }
}

Removal remove_once(const AgentOptions& options, const store::Garbage& garbage) {
    const auto path = options.artifacts().locate_garbage(garbage.path);
    if (!path) {
        log_error("a path of garbage is not one of ours", {{"path", garbage.path}});
        return Removal::done;
    }
    std::error_code absent;
    // Another host's, and not on this disk: its own agent may come back for it.
    if (!garbage.own && !fs::exists(fs::symlink_status(*path, absent))) return Removal::stuck;
    const Removal removal = remove_some(*path, entries_per_turn);
    if (removal == Removal::stuck && garbage.tries == 0)
        log_warn("garbage cannot be removed and stays; it is tried again, later each time",
                 {{"path", path->string()}});
    return removal;
}

}    // namespace

bool remove_garbage(store::Store& store, const AgentOptions& options) {
    std::vector<std::int64_t> gone;
    std::vector<std::int64_t> stuck;
    const auto listed = store::list_garbage(store, options.host, int(rows_per_turn));
    for (const store::Garbage& garbage : listed) {
        const Removal removal = remove_once(options, garbage);
        if (removal == Removal::done) gone.push_back(garbage.id);
        if (removal == Removal::stuck) stuck.push_back(garbage.id);
    }
    if (!gone.empty()) store::forget_garbage(store, gone);
    if (!stuck.empty()) store::postpone_garbage(store, stuck);
    return listed.size() == rows_per_turn || gone.size() + stuck.size() < listed.size();
}

std::size_t remove_old_run_folders(const AgentOptions& options, const Clock& clock) {
    std::error_code problem;
    std::vector<fs::path> old;
    for (const auto& job :
         fs::directory_iterator(options.artifacts().folder(Artifact::run), problem)) {
        std::error_code unreadable;
        for (const auto& attempt : fs::directory_iterator(job.path(), unreadable)) {
            if (may_go(attempt.path(), options, clock)) old.push_back(attempt.path());
        }
    }
    std::size_t gone = 0;
    for (const fs::path& folder : old) {
        if (gone == old_folders_per_turn) break;
        if (remove_some(folder, entries_per_turn) != Removal::stuck) ++gone;
        fs::remove(folder.parent_path(), problem);    // when it was the job's last one
    }
    return gone;
}

}    // namespace slipway
