// A run needs two folders and three files before its executor begins: of the few milliseconds that
// a start takes, most. On ext4 a new file costs 0.1 ms, and 1 ms and more where many were removed
// in the last minute, since their inodes are looked at and passed over; another name costs 0.03 ms.
// So they are made ahead, after the end of another run. A spare is a folder of a job with one run
// folder in it; names are given when it is taken. Files are empty and nobody has opened them, so a
// spare says nothing of the job that it will be of, and a run folder that was made the other way
// differs from it in nothing that counts: an executor that has said nothing has an empty
// frames.ndjson or none (has_frames).
#include "scheduler/agent/spare_run_folders.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "api/base/error.h"
#include "api/base/log.h"
#include "api/base/posix.h"
#include "scheduler/agent/run_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr const char* first_run = "1";
constexpr int failures_max = 3;

void make_empty_file(const fs::path& path) {
    if (!UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)))
        throw Error{ErrorCode::unavailable, fmt::format("cannot make {}", path.string())};
}

}    // namespace

SpareRunFolders::SpareRunFolders(fs::path folder, std::size_t count_max)
    : folder_(std::move(folder)), count_max_(count_max) {
    std::error_code next_time;
    fs::remove_all(folder_, next_time);
}

bool SpareRunFolders::take(const fs::path& run_folder) {
    if (run_folder.filename() != first_run) return false;
    const fs::path job = run_folder.parent_path();
    std::error_code problem;
    if (fs::exists(job, problem) || !fs::exists(job.parent_path(), problem)) return false;
    const std::scoped_lock lock(mutex_);
    if (spares_.empty()) return false;
    const fs::path spare = std::move(spares_.back());
    spares_.pop_back();
    if (renameat2(AT_FDCWD, spare.c_str(), AT_FDCWD, job.c_str(), RENAME_NOREPLACE) == 0)
        return true;
    log_warn("a spare run folder is not used",
             {{"reason", std::error_code(errno, std::generic_category()).message()}});
    ++failures_;
    return false;
}

void SpareRunFolders::refill() {
    const std::scoped_lock one_at_a_time(refilling_);
    try {
        while (failures_ < failures_max && count() < count_max_)
            make_one();
    } catch (const Error& error) {
        log_warn("no spare run folder can be made", {{"reason", error.what()}});
    }
}

void SpareRunFolders::make_one() {
    const fs::path made = folder_ / fmt::to_string(next_++);
    const fs::path run = made / first_run;
    make_run_folder(run);
    for (const char* name : run_folder_files)
        make_empty_file(run / name);
    const std::scoped_lock lock(mutex_);
    spares_.push_back(made);
}

std::size_t SpareRunFolders::count() const {
    const std::scoped_lock lock(mutex_);
    return spares_.size();
}

}    // namespace slipway
