#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <thread>

#include "api/base/id.h"
#include "migrations/migrate.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/cluster/cluster.h"
#include "scheduler/store/deleted_jobs.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/metrics/curve.h"
#include "scheduler/store/pg/connection.h"
#include "scheduler/store/queue.h"
#include "scheduler/store/relay.h"

/// What metrics cost the store: points a second from 8 jobs at once with the events of their
/// frames, bytes a point, and the curve and the deletion of a job with many points. On a PostgreSQL
/// of its own with fsync, in FOLDER, which must be empty; all of it runs on this machine.
///   usage: bench_metric_points FOLDER [MILLIONS]     (20: points of the long curve)
namespace slipway {
namespace {

using store::AttemptKey;
using store::RelayedFrame;
using store::Store;

constexpr int jobs = 8;
constexpr int frames_at_once = 200;
constexpr int names = 10;
constexpr auto writing = std::chrono::seconds(20);

double seconds_since(Tick begin) {
    return std::chrono::duration<double>(system_clock().tick() - begin).count();
}

AttemptKey running_job(Store& store, int core) {
    store::NewJob job;
    job.id = new_id("job");
    job.name = "metrics";
    job.spec = R"({"model": {"arch": "mlp"}})";
    job.created_by = "bench";
    store::submit_jobs(store, std::span(&job, 1), {},
                       [](std::span<const store::Job>) { return store::StoredResponse{}; });
    const store::Placement wanted{
        .job_id = job.id, .members = {{.host = "bench", .cores = {core}}}, .fence = random_hex(16)};
    const AttemptKey key{job.id, store::commit_placements(store, {wanted}).at(0).attempt.value(),
                         wanted.fence};
    RelayedFrame frame{.number = 1, .state = store::RelayedState{JobState::running}};
    store::relay_frames(store, key, {frame});
    return key;
}

/// A step's metrics as an executor reports them: a frame with an event.
RelayedFrame step_frame(std::int64_t number, std::mt19937& random) {
    RelayedFrame frame{.number = number};
    std::string values;
    for (int i = 0; i < names; ++i) {
        const double value = std::uniform_real_distribution<double>()(random);
        frame.metrics.push_back({fmt::format("metric_{}", i), number, number / 1000, value});
        values += fmt::format(R"({}"metric_{}":{})", i > 0 ? "," : "", i, value);
    }
    frame.events.push_back({"metric", fmt::format(R"({{"step":{},"epoch":{},"values":{{{}}}}})",
                                                  number, number / 1000, values)});
    return frame;
}

std::int64_t write_for_a_while(Store& store, const AttemptKey& key, int seed) {
    std::mt19937 random{std::uint32_t(seed)};
    store::MetricSeries series;
    std::int64_t number = 1;
    for (const Tick begin = system_clock().tick(); system_clock().tick() - begin < writing;) {
        std::vector<RelayedFrame> frames;
        for (int i = 0; i < frames_at_once; ++i)
            frames.push_back(step_frame(++number, random));
        store::relay_frames(store, key, frames, series);
    }
    return (number - 1) * names;
}

std::int64_t chunk_bytes(store::Connection& connection) {
    static const store::Query query{"chunk_bytes",
                                    "select pg_total_relation_size('metric_chunk') "
                                    "+ pg_total_relation_size('metric_rollup') as bytes"};
    return connection.run(query)[0].integer("bytes");
}

/// Of the tables of points: with the rows that were written again, and once these are vacuumed
/// away.
std::string bytes_a_point(store::Connection& connection, std::int64_t points) {
    static const store::Query vacuum{"vacuum_chunks", "vacuum full metric_chunk"};
    const double before = double(chunk_bytes(connection)) / double(points);
    connection.run(vacuum);
    return fmt::format("{:.1f} bytes a point, {:.1f} before vacuum",
                       double(chunk_bytes(connection)) / double(points), before);
}

void write_from_many(Store& store, store::Connection& connection) {
    std::vector<AttemptKey> keys;
    for (int core = 1; core <= jobs; ++core)
        keys.push_back(running_job(store, core));
    std::vector<std::int64_t> written(jobs);
    const Tick begin = system_clock().tick();
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < keys.size(); ++i)
            threads.emplace_back(
                [&, i] { written[i] = write_for_a_while(store, keys[i], int(i)); });
    }
    const double took_s = seconds_since(begin);
    std::int64_t points = 0;
    for (const std::int64_t each : written)
        points += each;
    fmt::print("{} jobs: {:.0f} points a second with their events; {}\n", jobs,
               double(points) / took_s, bytes_a_point(connection, points));
    for (const AttemptKey& key : keys)
        store::finish_attempt(store, key,
                              {.exit_kind = "succeeded", .job_state = JobState::succeeded});
}

void write_long_curve(Store& store, store::Connection& connection, const AttemptKey& key,
                      std::int64_t points) {
    const std::int64_t bytes_before = chunk_bytes(connection);
    constexpr std::int64_t at_once = 50'000;
    std::mt19937 random{7};
    store::MetricSeries series;
    const Tick begin = system_clock().tick();
    for (std::int64_t step = 0; step < points; step += at_once) {
        RelayedFrame frame{.number = 2 + step / at_once};
        for (std::int64_t i = step; i < step + at_once; ++i)
            frame.metrics.push_back(
                {"train_loss", i, i / 100'000, std::uniform_real_distribution<double>()(random)});
        store::relay_frames(store, key, {frame}, series);
    }
    fmt::print("{} points of one metric: written in {:.1f} s; {:.1f} bytes a point\n", points,
               seconds_since(begin),
               double(chunk_bytes(connection) - bytes_before) / double(points));
}

void read_long_curve(Store& store, const AttemptKey& key) {
    for (const std::int64_t most : {100, 1000, 10'000}) {
        std::vector<double> took_ms;
        std::size_t buckets = 0;
        for (int i = 0; i < 11; ++i) {
            const Tick begin = system_clock().tick();
            buckets =
                store::read_curve(store, key.job_id, "train_loss", {}, {most, most}).buckets.size();
            took_ms.push_back(1e3 * seconds_since(begin));
        }
        std::ranges::sort(took_ms);
        fmt::print("its curve in {} of at most {} points: {:.1f} ms (median of 11)\n", buckets,
                   most, took_ms[5]);
    }
}

void delete_long_curve(Store& store, const AttemptKey& key) {
    store::finish_attempt(store, key, {.exit_kind = "succeeded", .job_state = JobState::succeeded});
    const Tick begin = system_clock().tick();
    store::delete_job(store, key.job_id);
    const double gone_s = seconds_since(begin);
    store::Clearing clearing;
    while (store::clear_deleted_job(store, clearing, 1000)) {
    }
    fmt::print("deleted in {:.1f} ms, its rows gone after {:.2f} s\n", 1e3 * gone_s,
               seconds_since(begin));
}

int main_of(const std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.size() > 2) {
        fmt::print(stderr, "usage: bench_metric_points FOLDER [MILLIONS]\n");
        return 2;
    }
    const std::int64_t millions = arguments.size() > 1 ? std::stoll(arguments[1]) : 20;
    store::Cluster cluster({.home = arguments[0]});
    migrations::up(cluster.database_url());
    Store store({.database = cluster.database_url(), .connections_max = jobs + 2});
    store::Connection connection(store.options());
    store::register_host(store, {.name = "bench", .cores = jobs});
    write_from_many(store, connection);
    const AttemptKey key = running_job(store, 1);
    write_long_curve(store, connection, key, millions * 1'000'000);
    read_long_curve(store, key);
    delete_long_curve(store, key);
    return 0;
}

}    // namespace
}    // namespace slipway

int main(int count, char** arguments) {
    return slipway::main_of({arguments + 1, arguments + count});
}
