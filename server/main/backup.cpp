// The order makes a backup of a service that works whole: hosts stop removing files, the rows are
// dumped as they are at one moment, and the files that they name are copied afterwards. A file
// without a row wastes space; a row without its file would be a lost checkpoint, so the backup is
// compared with the rows of that moment before it gets its name.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>

#include "api/base/clock.h"
#include "api/base/error.h"
#include "api/base/parsed_json.h"
#include "api/base/posix.h"
#include "api/base/sha256.h"
#include "api/base/version.h"
#include "migrations/dump.h"
#include "migrations/migrate.h"
#include "scheduler/artifacts/artifact_store.h"
#include "scheduler/store/backup.h"
#include "server/main/backup_files.h"
#include "server/main/backup_report.h"
#include "server/main/commands.h"
#include "server/main/copy_progress.h"
#include "server/main/found_database.h"
#include "server/main/home.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view unfinished_ending = ".partial";
constexpr std::size_t named_files_max = 5;    // in one error

/// A folder that is removed unless finish() was called. It is locked while its process lives.
class UnfinishedBackup {
public:
    explicit UnfinishedBackup(const fs::path& name)
        : name_(name), folder_(fs::path(name).concat(unfinished_ending)) {
        if (const int reason = mkdir(folder_.c_str(), 0700) == 0 ? 0 : errno; reason != 0)
            throw Error{
                reason == ENOSPC ? ErrorCode::exhausted : ErrorCode::unavailable,
                fmt::format("{} cannot be made: {}", folder_.string(), std::strerror(reason))};
        lock_ = UniqueFd(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        flock(lock_.get(), LOCK_EX | LOCK_NB);
    }
    ~UnfinishedBackup() {
        std::error_code ignored;    // a folder that stays is removed by the next backup
        if (!folder_.empty()) fs::remove_all(folder_, ignored);
    }
    UnfinishedBackup(const UnfinishedBackup&) = delete;
    UnfinishedBackup& operator=(const UnfinishedBackup&) = delete;

    const fs::path& folder() const { return folder_; }
    void finish() {
        sync_files(folder_);
        fs::rename(folder_, name_);
        folder_.clear();
        sync_files(name_);
    }

private:
    const fs::path name_;
    fs::path folder_;
    UniqueFd lock_;
};

/// Of processes that were killed.
void remove_unfinished(const fs::path& folder) {
    std::error_code problem;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with("slipway-") || !name.ends_with(unfinished_ending)) continue;
        const UniqueFd lock(open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (lock && flock(lock.get(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry, problem);
    }
}

fs::path folder_for_backups(const Options& options) {
    const fs::path folder = fs::weakly_canonical(fs::absolute(options.backup_folder));
    const fs::path store =
        fs::weakly_canonical(ArtifactStore(home_folder(options.home)).shared_folder());
    if (std::ranges::mismatch(store, folder).in1 == store.end())
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("{} is in the store, which is copied: give another folder",
                                folder.string())};
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (problem)
        throw Error{ErrorCode::unavailable,
                    fmt::format("{} cannot be made: {}", folder.string(), problem.message())};
    return folder;
}

int schema_step(const std::string& database) {
    int newest = 0;
    for (const migrations::Status& step : migrations::status(database)) {
        if (!step.problem.empty())
            throw Error{ErrorCode::conflict,
                        fmt::format("step {} of the schema is {}: make the backup with the program "
                                    "that belongs to this database",
                                    step.number, step.problem)};
        if (step.applied_at) newest = std::max(newest, step.number);
    }
    return newest;
}

std::set<std::string> checkpoint_folders(const std::vector<store::NamedFile>& named) {
    std::set<std::string> folders;
    for (const store::NamedFile& one : named)
        if (one.path.starts_with("checkpoints/"))
            folders.insert((fs::path("store") / one.path).parent_path().string());
    return folders;
}

void require_named_files(const std::vector<store::NamedFile>& named, const SavedFiles& saved) {
    std::vector<std::string> missing;
    for (const store::NamedFile& one : named) {
        const auto found = saved.digests.find("store/" + one.path);
        if (found == saved.digests.end() || (!one.sha256.empty() && found->second != one.sha256))
            missing.push_back(one.path);
    }
    if (missing.empty()) return;
    const std::size_t count = missing.size();
    missing.resize(std::min(count, named_files_max));
    throw Error{ErrorCode::data_loss,
                fmt::format("{} of {} files that the database names are missing in the store or "
                            "damaged: {}{}. `slipwayd verify --files` names the jobs; delete these "
                            "checkpoints, splits or datasets, then make the backup",
                            count, named.size(), fmt::join(missing, ", "),
                            count > named_files_max ? " …" : "")};
}

}    // namespace

int backup(const Options& options) {
    const fs::path home = home_folder(options.home);
    const fs::path folder = folder_for_backups(options);
    const FoundDatabase database = find_database(options);
    const Instant now = system_clock().now();
    const int schema = schema_step(database.url);
    store::BackupHold hold(database.url);
    remove_unfinished(folder);
    const fs::path name = folder / ("slipway-" + migrations::to_compact_time(now));
    UnfinishedBackup made(name);

    const std::string snapshot = hold.open_snapshot();
    const fs::path dump = made.folder() / dump_name;
    fmt::print(stderr, "dumping the database\n");
    migrations::write_dump({.database = database.url, .path = dump, .snapshot = snapshot});
    const std::vector<store::NamedFile> named = hold.list_named_files();
    hold.close_snapshot();

    CopyReporter reporter("copied", system_clock());
    const SavedFiles saved =
        save_files(home, made.folder(), checkpoint_folders(named), reporter.progress());
    hold.check_held();
    for (const std::string& path : saved.skipped)
        fmt::print(stderr, "left out {}: it is a link or cannot be read\n", path);
    require_named_files(named, saved);
    write_report(made.folder(), {.format = backup_format,
                                 .version = std::string(release_version()),
                                 .schema = schema,
                                 .at = now,
                                 .counts = saved.counts,
                                 .dump_sha256 = sha256_file(dump),
                                 .list_sha256 = sha256_file(made.folder() / list_name)});
    made.finish();
    reporter.print_sum(saved.counts);
    fmt::print("{}\n", name.string());
    return 0;
}

}    // namespace slipway
