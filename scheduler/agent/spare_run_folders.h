#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <vector>

namespace slipway {

/// Folders that become those of jobs' first runs, with the files that each run needs, made when
/// nobody waits for them. Safe from every thread.
class SpareRunFolders {
public:
    /// folder     of the spares, on the file system of the run folders; what is there is removed
    /// count_max  0: there are none
    SpareRunFolders(std::filesystem::path folder, std::size_t count_max);

    /// Puts a spare in the place of this run folder and of the job's folder above it, which must
    /// not be there. False when it is, or no spare is left: then nothing has changed.
    bool take(const std::filesystem::path& run_folder);
    /// Makes spares until there are enough. One that cannot be made is left for the next time;
    /// after a few that could not be moved (`folder` is on another file system) no more are made.
    void refill();

private:
    void make_one();
    std::size_t count() const;

    const std::filesystem::path folder_;
    const std::size_t count_max_;
    mutable std::mutex mutex_;
    std::vector<std::filesystem::path> spares_;    // guarded by mutex_
    std::atomic<int> failures_ = 0;
    std::mutex refilling_;
    std::size_t next_ = 0;    // guarded by refilling_
};

}    // namespace slipway
