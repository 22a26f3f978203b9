#include <fmt/core.h>

#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/no_op_jobs.h"
#include "migrations/migrate.h"
#include "scheduler/store/cluster/cluster.h"
#include "scheduler/store/invariants.h"

/// What moving a job costs the store: jobs submitted one by one by 16 threads, then claimed by the
/// planner and ended, without executors (no_op_jobs.h). On a PostgreSQL of its own with fsync, in
/// FOLDER, which must be empty, or in the empty database of a URL.
///   usage: bench_store_moves FOLDER|URL [JOBS] [CORES]     (20000, 64; a host has at most 64)
namespace slipway {
namespace {

using store::Store;

void submit(Store& store, const std::string& dataset_id, int jobs) {
    const Tick begin = system_clock().tick();
    std::vector<std::jthread> threads;
    for (int number = 0; number < no_op_threads; ++number)
        threads.emplace_back([&, number] {
            for (int i = number; i < jobs; i += no_op_threads)
                submit_no_op_job(store, dataset_id);
        });
    threads.clear();
    fmt::print("submitted one by one from {} threads: {:.0f} a second\n", no_op_threads,
               jobs / seconds_since(begin));
}

void move_all(Store& store, std::vector<std::string> hosts, int jobs) {
    const Tick begin = system_clock().tick();
    NoOpMover mover(store, std::move(hosts));
    while (mover.ended() < jobs)
        mover.pass();
    fmt::print("claimed and ended: {:.0f} jobs a second, in {} passes\n",
               jobs / seconds_since(begin), mover.passes());
}

int main_of(const std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.size() > 3) {
        fmt::print(stderr, "usage: bench_store_moves FOLDER|URL [JOBS] [CORES]\n");
        return 2;
    }
    const int jobs = arguments.size() > 1 ? std::stoi(arguments[1]) : 20000;
    const int cores = arguments.size() > 2 ? std::stoi(arguments[2]) : 64;
    std::optional<store::Cluster> cluster;
    if (!arguments[0].starts_with("postgresql:"))
        cluster.emplace(store::ClusterOptions{.home = arguments[0]});
    const std::string url = cluster ? cluster->database_url() : arguments[0];
    migrations::up(url);
    Store store({.database = url, .connections_max = no_op_threads + 4});
    std::vector<std::string> hosts = register_no_op_hosts(store, cores);
    submit(store, make_ready_dataset(store), jobs);
    move_all(store, std::move(hosts), jobs);
    std::size_t violations = 0;
    for (const store::Invariant& invariant : store::invariants())
        violations += store::find_violations(store, invariant, 10).size();
    fmt::print("violations of the store's promises: {}\n", violations);
    return violations == 0 ? 0 : 1;
}

}    // namespace
}    // namespace slipway

int main(int count, char** arguments) {
    try {
        return slipway::main_of({arguments + 1, arguments + count});
    } catch (const std::exception& error) {    // uncaught, it would leave a PostgreSQL behind
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
