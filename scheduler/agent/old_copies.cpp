#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "api/base/log.h"
#include "scheduler/agent/garbage.h"
#include "scheduler/agent/remove_some.h"

// Executors make copies, each in the folder of its project and dataset, and see no others: what all
// of them have together is the agent's to bound. When a copy was last used is the time of its file,
// which who opens it sets. An executor can write anything there; so every entry counts, whatever it
// is, and links are not followed. The folders stay: an attempt may be about to get one.
namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t entries_of_one_max = 10'000;

struct Copy {
    fs::path path;
    std::int64_t bytes = 0;    // on the disk
    Instant used;
};

template <class Work>
void for_each_below(const fs::path& folder, const Work& work) {
    std::error_code problem;
    // A link that stands for a folder leads out of the store.
    if (!fs::is_directory(fs::symlink_status(folder, problem))) return;
    for (const auto& entry : fs::directory_iterator(folder, problem))
        work(entry.path());
}

std::vector<Copy> list_copies(const fs::path& all) {
    std::vector<Copy> copies;
    for_each_below(all, [&](const fs::path& project) {
        for_each_below(project, [&](const fs::path& dataset) {
            for_each_below(dataset, [&](const fs::path& path) {
                struct stat facts {};
                if (lstat(path.c_str(), &facts) != 0) return;
                const auto used = std::chrono::seconds(facts.st_mtim.tv_sec);
                copies.push_back({path, std::int64_t(facts.st_blocks) * 512, Instant(used)});
            });
        });
    });
    return copies;
}

}    // namespace

std::size_t remove_old_copies(const AgentOptions& options, const Clock& clock) {
    std::vector<Copy> copies = list_copies(options.artifacts().folder(Artifact::decoded_data));
    std::ranges::sort(copies, {}, &Copy::used);
    std::int64_t total = 0;
    for (const Copy& copy : copies)
        total += copy.bytes;
    const Instant unused_since = clock.now() - options.keep_unused_copies;
    std::size_t gone = 0;
    for (const Copy& copy : copies) {
        if (copy.used >= unused_since && total <= options.decoded_bytes_max) break;
        if (remove_some(copy.path, entries_of_one_max) == Removal::stuck) {
            log_warn("a copy of a dataset cannot be removed", {{"path", copy.path.string()}});
            continue;
        }
        total -= copy.bytes;
        ++gone;
    }
    return gone;
}

}    // namespace slipway
