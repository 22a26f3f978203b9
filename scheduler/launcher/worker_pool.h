#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "scheduler/launcher/worker.h"

namespace slipway {

/// The workers of this host that do nothing, and those that are ending. Safe from every thread.
class WorkerPool {
public:
    /// folder       gets one folder for each worker
    /// workers_max  that run or wait; 0: no limit
    WorkerPool(std::filesystem::path folder, int workers_max)
        : folder_(std::move(folder)), workers_max_(workers_max) {}

    /// An idle worker with this key, which is busy from then on; null when there is none.
    std::shared_ptr<Worker> take(const WorkerKey& key, Tick now);
    /// Idle workers give back what they have of these paths. Who is confined to a path keeps the
    /// folder that stood there when it started, and could not read the one that takes its place
    /// later.
    void take_back(const std::vector<std::filesystem::path>& paths);
    /// Idle workers give back all that they have: the next run of each need not wait for it.
    void take_back_all();
    /// Makes room for another worker and names its folder, which is not there yet.
    std::filesystem::path begin();
    /// A worker that was begun never ran, or has ended with nothing left of it.
    void forget(const std::filesystem::path& worker_folder);
    /// The same without a wait for the disk: collect_ended() removes its folder.
    void forget_later(const std::filesystem::path& worker_folder);
    /// It has ended its run well.
    void give_back(std::shared_ptr<Worker> worker, Tick now);
    /// Ends a worker.
    void end(std::shared_ptr<Worker> worker);
    void end_idle_since(Tick before);
    /// Looks after those that are ending. From time to time.
    void collect_ended();

    bool knows(const std::filesystem::path& worker_folder) const;
    const std::filesystem::path& folder() const { return folder_; }
    std::size_t idle_count() const;

private:
    void end_locked(std::shared_ptr<Worker> worker);
    bool take_back_locked(std::shared_ptr<Worker>& worker);

    const std::filesystem::path folder_;
    const int workers_max_;

    mutable std::mutex mutex_;
    // Guarded by mutex_.
    std::vector<std::shared_ptr<Worker>> idle_;    // the longest idle first
    std::vector<std::shared_ptr<Worker>> ending_;
    std::vector<std::filesystem::path> over_;    // forgotten later
    std::set<std::filesystem::path> folders_;    // of all workers that may live
};

}    // namespace slipway
