#include "scheduler/launcher/worker_pool.h"

#include <algorithm>
#include <utility>

#include "api/base/error.h"
#include "api/base/id.h"
#include "api/base/log.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t name_bytes = 8;

/// False: something of it may be left.
bool is_over(Worker& worker) {
    if (!worker.has_ended()) return false;
    try {
        worker.process().collect_exit();
        return worker.process().is_cleared();
    } catch (const Error& error) {
        log_warn("a worker cannot be looked at",
                 {{"worker", worker.folder().string()}, {"reason", error.what()}});
        return false;
    }
}

}    // namespace

std::shared_ptr<Worker> WorkerPool::take(const WorkerKey& key, Tick now) {
    const std::scoped_lock lock(mutex_);
    for (auto each = idle_.rbegin(); each != idle_.rend(); ++each) {
        if ((*each)->key() != key) continue;
        std::shared_ptr<Worker> worker = std::move(*each);
        idle_.erase(std::next(each).base());
        if (worker->has_ended()) {
            end_locked(std::move(worker));
            return nullptr;
        }
        worker->set_idle(false, now);
        return worker;
    }
    return nullptr;
}

void WorkerPool::take_back(const std::vector<fs::path>& paths) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(idle_, [&](std::shared_ptr<Worker>& worker) {
        const auto has = [&](const fs::path& path) { return worker->has_lent(path); };
        return std::ranges::any_of(paths, has) && !take_back_locked(worker);
    });
}

void WorkerPool::take_back_all() {
    const std::scoped_lock lock(mutex_);
    std::erase_if(idle_,
                  [this](std::shared_ptr<Worker>& worker) { return !take_back_locked(worker); });
}

/// False: it is ended.
bool WorkerPool::take_back_locked(std::shared_ptr<Worker>& worker) {
    try {
        worker->take_folders_back();
        return true;
    } catch (const Error& error) {
        log_warn("a worker is not used again",
                 {{"worker", worker->folder().string()}, {"reason", error.what()}});
        end_locked(std::move(worker));
        return false;
    }
}

fs::path WorkerPool::begin() {
    const std::scoped_lock lock(mutex_);
    while (workers_max_ > 0 && !idle_.empty() &&
           folders_.size() - ending_.size() >= std::size_t(workers_max_)) {
        end_locked(std::move(idle_.front()));
        idle_.erase(idle_.begin());
    }
    const fs::path folder = folder_ / ("worker_" + random_hex(name_bytes));
    folders_.insert(folder);
    return folder;
}

void WorkerPool::forget(const fs::path& worker_folder) {
    std::error_code next_time;    // remove_left() of the launcher finds it
    fs::remove_all(worker_folder, next_time);
    const std::scoped_lock lock(mutex_);
    folders_.erase(worker_folder);
}

void WorkerPool::forget_later(const fs::path& worker_folder) {
    const std::scoped_lock lock(mutex_);
    over_.push_back(worker_folder);
}

void WorkerPool::give_back(std::shared_ptr<Worker> worker, Tick now) {
    worker->set_idle(true, now);
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(worker));
}

void WorkerPool::end(std::shared_ptr<Worker> worker) {
    const std::scoped_lock lock(mutex_);
    end_locked(std::move(worker));
}

void WorkerPool::end_locked(std::shared_ptr<Worker> worker) {
    worker->process().kill();
    ending_.push_back(std::move(worker));
}

void WorkerPool::end_idle_since(Tick before) {
    const std::scoped_lock lock(mutex_);
    const auto first_young = std::ranges::find_if(
        idle_, [before](const auto& worker) { return worker->idle_since() > before; });
    for (auto each = idle_.begin(); each != first_young; ++each)
        end_locked(std::move(*each));
    idle_.erase(idle_.begin(), first_young);
}

void WorkerPool::collect_ended() {
    std::vector<fs::path> over;
    {
        const std::scoped_lock lock(mutex_);
        over.swap(over_);
        std::erase_if(ending_, [&over](const std::shared_ptr<Worker>& worker) {
            if (!is_over(*worker)) return false;
            over.push_back(worker->folder());
            return true;
        });
    }
    for (const fs::path& folder : over)
        forget(folder);
}

bool WorkerPool::knows(const fs::path& worker_folder) const {
    const std::scoped_lock lock(mutex_);
    return folders_.contains(worker_folder);
}

std::size_t WorkerPool::idle_count() const {
    const std::scoped_lock lock(mutex_);
    return idle_.size();
}

}    // namespace slipway
