#include <fmt/core.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "api/base/id.h"
#include "migrations/migrate.h"
#include "scheduler/maintenance/place_jobs.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/cluster/cluster.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/invariants.h"
#include "scheduler/store/queue.h"

/// What moving a job costs the store: jobs submitted one by one by 16 threads, then claimed by the
/// planner and ended, without executors: as many as there are cores are live at a time, each is
/// read as its agent reads it and ended by one of 16 threads. Histories, fences, leases and usage
/// are written as always. On a PostgreSQL of its own with fsync, in FOLDER, which must be empty.
///   usage: bench_store_moves FOLDER [JOBS] [CORES]     (20000, 64)
namespace slipway {
namespace {

using store::AttemptKey;
using store::Store;

constexpr int threads_count = 16;
constexpr const char* host_name = "bench";

double seconds_since(Tick begin) {
    return std::chrono::duration<double>(system_clock().tick() - begin).count();
}

store::NewJob no_op_job() {
    store::NewJob job;
    job.id = new_id("job");
    job.name = "no-op";
    job.spec = R"({"model": {"arch": "mlp"}, "data": {"dataset": "none"}, "train": {"steps": 1}})";
    job.effective = "{}";
    job.created_by = "bench";
    return job;
}

template <class Work>
void on_threads(const Work& work) {
    std::vector<std::jthread> threads;
    for (int number = 0; number < threads_count; ++number)
        threads.emplace_back([&, number] { work(number); });
}

void submit(Store& store, const std::string& dataset_id, int jobs) {
    const Tick begin = system_clock().tick();
    on_threads([&](int number) {
        for (int i = number; i < jobs; i += threads_count) {
            store::NewJob job = no_op_job();
            job.dataset_id = dataset_id;
            store::submit_jobs(store, std::span(&job, 1), {},
                               [](std::span<const store::Job>) { return store::StoredResponse{}; });
        }
    });
    fmt::print("submitted one by one from {} threads: {:.0f} a second\n", threads_count,
               jobs / seconds_since(begin));
}

/// Live attempts on their way to those who end them.
class Handed {
public:
    void push(AttemptKey key) {
        {
            const std::lock_guard lock(mutex_);
            if (!seen_.insert(key.job_id).second) return;
            keys_.push_back(std::move(key));
        }
        changed_.notify_one();
    }
    /// None when all have been ended.
    std::optional<AttemptKey> pop(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return !keys_.empty(); })) return std::nullopt;
        AttemptKey key = std::move(keys_.front());
        keys_.pop_front();
        return key;
    }

private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<AttemptKey> keys_;    // guarded by mutex_
    std::set<std::string> seen_;     // guarded by mutex_
};

void move_all(Store& store, int jobs) {
    Handed handed;
    std::atomic<int> ended = 0;
    std::mutex mutex;
    std::condition_variable one_ended;
    const Tick begin = system_clock().tick();
    std::vector<std::jthread> threads;
    for (int number = 0; number < threads_count; ++number)
        threads.emplace_back([&](const std::stop_token& stop) {
            while (const auto key = handed.pop(stop)) {
                store::finish_attempt(store, *key,
                                      {.exit_kind = "succeeded", .job_state = JobState::succeeded});
                ++ended;
                one_ended.notify_one();
            }
        });
    int passes = 0;
    for (; ended < jobs; ++passes) {
        const PlaceCounts done = place_jobs(store, std::chrono::hours(1), std::chrono::hours(1));
        if (done.placed == 0) {
            std::unique_lock lock(mutex);
            one_ended.wait_for(lock, std::chrono::milliseconds(1));
            continue;
        }
        for (const store::HostAttempt& live : store::list_live_attempts(store, host_name))
            handed.push(live.attempt.key());
    }
    fmt::print("claimed and ended: {:.0f} jobs a second, in {} passes\n",
               jobs / seconds_since(begin), passes);
    for (std::jthread& thread : threads)
        thread.request_stop();
}

std::string ready_dataset(Store& store) {
    const std::string id = new_id("ds");
    store::create_dataset(
        store, {.id = id, .name = "none", .format = "csv", .source = R"({"path": "none"})"});
    const auto check =
        store::claim_dataset_check(store, host_name, std::chrono::milliseconds(60'000));
    store::finish_dataset_check(store, id, check.value().fence, {.ready = true, .report = "{}"});
    return id;
}

int main_of(const std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.size() > 3) {
        fmt::print(stderr, "usage: bench_store_moves FOLDER [JOBS] [CORES]\n");
        return 2;
    }
    const int jobs = arguments.size() > 1 ? std::stoi(arguments[1]) : 20000;
    const int cores = arguments.size() > 2 ? std::stoi(arguments[2]) : 64;
    store::Cluster cluster({.home = arguments[0]});
    migrations::up(cluster.database_url());
    Store store({.database = cluster.database_url(), .connections_max = threads_count + 4});
    store::register_host(store, {.name = host_name, .cores = cores});
    submit(store, ready_dataset(store), jobs);
    move_all(store, jobs);
    std::size_t violations = 0;
    for (const store::Invariant& invariant : store::invariants())
        violations += store::find_violations(store, invariant, 10).size();
    fmt::print("violations of the store's promises: {}\n", violations);
    return violations == 0 ? 0 : 1;
}

}    // namespace
}    // namespace slipway

int main(int count, char** arguments) {
    return slipway::main_of({arguments + 1, arguments + count});
}
