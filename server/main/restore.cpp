// Nothing may act on a database that is half restored: the leader would start jobs whose files are
// not there yet, and the agent would end attempts that it does not find. So the home is locked as
// by a slipwayd, no scheduler runs, the files come first, and the database appears in one
// transaction, which is tried last because it is what a slipwayd would begin with.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "api/base/clock.h"
#include "api/base/error.h"
#include "migrations/dump.h"
#include "migrations/migrate.h"
#include "scheduler/store/cluster/cluster.h"
#include "server/main/backup_files.h"
#include "server/main/backup_report.h"
#include "server/main/commands.h"
#include "server/main/copy_progress.h"
#include "server/main/home.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

// Of the package and of earlier runs; none of them is data.
constexpr std::array ignored_names{"slipwayd.lock", "slipwayd.log", "slipwayd.out", "backups"};

bool is_ignored(const fs::path& path) {
    return std::ranges::find(ignored_names, path.filename().string()) != ignored_names.end();
}

void require_empty(const fs::path& home) {
    if (is_home_in_use(home))
        throw Error{ErrorCode::conflict,
                    fmt::format("the home folder {} is in use by a slipwayd: stop it, or give "
                                "another --home",
                                home.string())};
    std::error_code absent;
    for (const fs::directory_entry& entry : fs::directory_iterator(home, absent)) {
        if (is_ignored(entry.path())) continue;
        throw Error{
            ErrorCode::conflict,
            fmt::format("the home folder {} is not empty, it has {}: move its content away, "
                        "or give another --home",
                        home.string(), entry.path().filename().string())};
    }
}

/// Removes what was restored unless keep() was called, so that the command can be tried again.
class RestoredHome {
public:
    explicit RestoredHome(fs::path home) : home_(std::move(home)) {}
    ~RestoredHome() {
        if (kept_) return;
        std::error_code ignored;    // the next try names what stays
        for (const fs::directory_entry& entry : fs::directory_iterator(home_, ignored))
            if (!is_ignored(entry.path())) fs::remove_all(entry.path(), ignored);
    }
    RestoredHome(const RestoredHome&) = delete;
    RestoredHome& operator=(const RestoredHome&) = delete;
    void keep() { kept_ = true; }

private:
    const fs::path home_;
    bool kept_ = false;
};

}    // namespace

int restore(const Options& options) {
    const fs::path backup = fs::absolute(options.backup_folder).lexically_normal();
    const fs::path folder = home_folder(options.home);
    fmt::print(stderr, "checking the backup\n");
    const BackupReport report = read_report(backup);
    require_empty(folder);
    const Home home(folder);
    RestoredHome restored(folder);
    CopyReporter reporter("restored", system_clock());
    const CopyCounts counts = restore_files(backup, folder, reporter.progress());
    reporter.print_sum(counts);

    std::unique_ptr<store::Cluster> cluster;
    std::string url = options.database;
    if (url.empty()) {
        cluster =
            std::make_unique<store::Cluster>(store::ClusterOptions{.home = folder, .tools = {}});
        url = cluster->database_url();
    }
    fmt::print(stderr, "restoring the database\n");
    migrations::restore_dump(
        {.database = url, .path = backup / dump_name, .messages = folder / "slipwayd.restore.log"});
    for (const int number : migrations::up(url))
        fmt::print(stderr, "applied {:04}\n", number);
    sync_files(folder);
    restored.keep();
    Options checked = options;
    checked.verify_files = true;
    const bool kept = verify_database(url, checked);
    fmt::print("{} has the service as it was at {}\n", folder.string(), to_rfc3339(report.at));
    return kept ? 0 : 1;
}

}    // namespace slipway
