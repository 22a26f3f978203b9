#include <fmt/core.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/no_op_jobs.h"
#include "migrations/migrate.h"
#include "scheduler/store/cluster/cluster.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/pg/connection.h"

/// What a transaction that somebody holds open, as a backup does, costs the queue: nothing that
/// dies after its snapshot can be cleaned away. Jobs without work (no_op_jobs.h) are submitted at a
/// fixed rate and moved to their end, first without, then with such a transaction; each 30 s one
/// line says how many have ended a second, how many wait, and how long a pass of the planner takes.
/// Before and after, 4,000 jobs at once show how many a second the store could move. On a
/// PostgreSQL of its own with fsync, in FOLDER, which must be empty.
///   usage: bench_held_transaction FOLDER [SECONDS] [JOBS_A_SECOND]     (600, 500)
namespace slipway {
namespace {

using std::chrono::seconds;
using store::Store;

constexpr int burst_jobs = 4000;
constexpr seconds line_every{30};
constexpr seconds undisturbed{60};

/// The rate at which a burst of jobs is moved.
double burst(Store& store, NoOpMover& mover, const std::string& dataset) {
    const int already = mover.ended();
    std::vector<std::jthread> threads;
    for (int number = 0; number < no_op_threads; ++number)
        threads.emplace_back([&, number] {
            for (int i = number; i < burst_jobs; i += no_op_threads)
                submit_no_op_job(store, dataset);
        });
    threads.clear();
    const Tick begin = system_clock().tick();
    while (mover.ended() < already + burst_jobs)
        mover.pass();
    return burst_jobs / seconds_since(begin);
}

/// Submits at the rate, whether or not the queue keeps up, on threads of its own.
class Submitters {
public:
    Submitters(Store& store, std::string dataset, int jobs_a_second)
        : store_(store), dataset_(std::move(dataset)), rate_(jobs_a_second) {
        for (int number = 0; number < threads_count; ++number)
            threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
    }
    int submitted() const { return submitted_; }

private:
    static constexpr int threads_count = 4;
    void run(const std::stop_token& stop) {
        const Tick begin = system_clock().tick();
        for (int own = 0; !stop.stop_requested();) {
            const int due = int(seconds_since(begin) * rate_ / threads_count);
            if (own < due) {
                submit_no_op_job(store_, dataset_);
                ++own;
                ++submitted_;
            } else {
                std::unique_lock lock(mutex_);
                asleep_.wait_for(lock, stop, std::chrono::milliseconds(1), [] { return false; });
            }
        }
    }
    Store& store_;
    std::string dataset_;
    int rate_;
    std::atomic<int> submitted_ = 0;
    std::mutex mutex_;
    std::condition_variable_any asleep_;
    std::vector<std::jthread> threads_;
};

/// Jobs ended a second in the last line's time.
double at_rate(Store& store, NoOpMover& mover, const std::string& dataset, int rate,
               seconds duration) {
    Submitters submitters(store, dataset, rate);
    const Tick begin = system_clock().tick();
    double last_rate = 0;
    const int before = mover.ended();
    while (system_clock().tick() - begin < duration) {
        const Tick line_begin = system_clock().tick();
        const int ended = mover.ended();
        const int passes = mover.passes();
        while (system_clock().tick() - line_begin < line_every)
            mover.pass();
        last_rate = (mover.ended() - ended) / seconds_since(line_begin);
        fmt::print("  {:4.0f} s: {:.0f} jobs ended a second, {} wait, {:.1f} ms a pass\n",
                   seconds_since(begin), last_rate,
                   submitters.submitted() - (mover.ended() - before),
                   1000 * seconds_since(line_begin) / (mover.passes() - passes));
        std::fflush(stdout);
    }
    return last_rate;
}

int main_of(const std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.size() > 3) {
        fmt::print(stderr, "usage: bench_held_transaction FOLDER [SECONDS] [JOBS_A_SECOND]\n");
        return 2;
    }
    const seconds held(arguments.size() > 1 ? std::stoi(arguments[1]) : 600);
    const int rate = arguments.size() > 2 ? std::stoi(arguments[2]) : 500;
    store::Cluster cluster({.home = arguments[0]});
    migrations::up(cluster.database_url());
    Store store({.database = cluster.database_url(), .connections_max = no_op_threads + 12});
    store::register_host(store, {.name = no_op_host, .cores = 64});
    const std::string dataset = make_ready_dataset(store);
    NoOpMover mover(store, {no_op_host});
    fmt::print("{:.0f} jobs a second could be moved\nwithout a transaction:\n",
               burst(store, mover, dataset));
    const double without = at_rate(store, mover, dataset, rate, undisturbed);
    fmt::print("a transaction is open:\n");
    store::Connection holder(
        {.database = cluster.database_url(), .idle_in_transaction_timeout = held + seconds(600)});
    holder.execute("begin isolation level repeatable read; select count(*) from job");
    const double with = at_rate(store, mover, dataset, rate, held);
    fmt::print("{:.0f} jobs a second could be moved\n", burst(store, mover, dataset));
    fmt::print("loss: {:.1f} %\n", 100 * (1 - with / without));
    return 0;
}

}    // namespace
}    // namespace slipway

int main(int count, char** arguments) {
    return slipway::main_of({arguments + 1, arguments + count});
}
