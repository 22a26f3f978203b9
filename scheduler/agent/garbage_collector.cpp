#include "scheduler/agent/garbage_collector.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "api/base/log.h"
#include "scheduler/agent/garbage.h"
#include "scheduler/store/deleted_datasets.h"
#include "scheduler/store/deleted_jobs.h"

namespace slipway {

namespace {

using namespace std::chrono_literals;

constexpr int rows_at_once_max = 5000;
constexpr int rows_at_once_min = 100;
constexpr int jobs_at_once_max = 1000;    // a job's row is in every index of its table
constexpr auto pause_max = 1000ms;        // between two steps

}    // namespace

struct GarbageCollector::Parts {
    Parts(store::Store& store_, const AgentOptions& options_, const Clock& clock_)
        : store(store_), options(options_), clock(clock_) {}

    store::Store& store;
    const AgentOptions& options;
    const Clock& clock;

    /// One row per kind: how often it is looked for, and one step of its removal, which says
    /// whether more can be done at once.
    struct Task {
        const char* name;
        std::chrono::milliseconds every;
        bool (Parts::*step)();
        bool of_home = false;    // done once for all hosts of a machine
        Tick next{};
        bool failing = false;
    };
    std::array<Task, 5> tasks{{{"garbage", 10s, &Parts::remove_paths},
                               {"old_run_folders", 10min, &Parts::remove_run_folders, true},
                               {"old_copies", 10s, &Parts::remove_copies, true},
                               {"deleted_jobs", 2s, &Parts::clear_jobs},
                               {"deleted_datasets", 2s, &Parts::clear_datasets}}};
    store::Clearing clearing;
    store::DatasetClearing dataset_clearing;
    int rows_at_once = rows_at_once_max;
    int jobs_at_once = jobs_at_once_max;

    std::mutex mutex;
    bool wake_requested = false;    // guarded by mutex
    std::condition_variable_any ended;
    std::jthread thread{[this](const std::stop_token& stop) { work(stop); }};

    void work(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            const Tick began = clock.tick();
            for (Task& task : tasks)
                if (!stop.stop_requested()) run(task);
            const Tick now = clock.tick();
            const Tick next = std::ranges::min_element(tasks, {}, &Task::next)->next;
            // As long as the steps took, so that the disk and the database serve others as well.
            wait(stop, std::max(next, now + std::min<Tick::duration>(now - began, pause_max)));
        }
    }

    void wait(const std::stop_token& stop, Tick until) {
        std::unique_lock lock(mutex);
        ended.wait_until(lock, stop, until, [this] { return wake_requested; });
        if (std::exchange(wake_requested, false)) tasks[0].next = {};
    }

    void run(Task& task) {
        const Tick now = clock.tick();
        if (now < task.next) return;
        if (task.of_home && options.machine_host != 1) {
            task.next = now + task.every;
            return;
        }
        bool more = false;
        try {
            more = (this->*task.step)();
            task.failing = false;
        } catch (const std::exception& error) {
            if (!task.failing)
                log_warn("garbage waits", {{"task", task.name}, {"reason", error.what()}});
            task.failing = true;
        }
        task.next = more ? now : now + task.every;
    }

    void wake() {
        const std::scoped_lock lock(mutex);
        wake_requested = true;
        ended.notify_all();
    }

    bool remove_paths() { return remove_garbage(store, options); }

    bool remove_run_folders() { return remove_old_run_folders(options, clock) > 0; }

    bool remove_copies() {
        remove_old_copies(options, clock);
        return false;
    }

    bool clear_jobs() {
        return in_batches(rows_at_once, rows_at_once_max, [this] {
            return store::clear_deleted_job(store, clearing, rows_at_once);
        });
    }

    bool clear_datasets() {
        return in_batches(jobs_at_once, jobs_at_once_max, [this] {
            return store::clear_deleted_dataset(store, dataset_clearing, jobs_at_once);
        });
    }

    template <class Batch>
    static bool in_batches(int& at_once, int at_once_max, const Batch& batch) {
        try {
            const bool cleared = batch();
            at_once = std::min(at_once_max, at_once * 2);
            return cleared;
        } catch (const Error&) {
            // A batch that took longer than a statement may is smaller the next time.
            at_once = std::max(rows_at_once_min, at_once / 2);
            throw;
        }
    }
};

GarbageCollector::GarbageCollector(store::Store& store, const AgentOptions& options,
                                   const Clock& clock)
    : parts_(std::make_unique<Parts>(store, options, clock)) {}

GarbageCollector::~GarbageCollector() = default;

void GarbageCollector::wake() {
    parts_->wake();
}

}    // namespace slipway
