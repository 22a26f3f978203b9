#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <boost/asio.hpp>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "api/base/id.h"
#include "bench/no_op_jobs.h"
#include "migrations/migrate.h"
#include "scheduler/store/cluster/cluster.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/queue.h"
#include "scheduler/store/relay.h"

/// How long a metric takes from an executor to those who watch. Jobs report at a fixed rate, as
/// their agent stores them: a batch of each job every 100 ms, larger when the store was late. Each
/// point carries the time at which it was due, so what waits anywhere counts. A slipwayd on the
/// same database serves one event stream for each job to a client that reads all of it. Lags are
/// from then to the client's having read the event. On a PostgreSQL of its own with fsync, in
/// FOLDER, which must be empty; all of it runs on this machine. Prints one line of JSON.
///   usage: bench_stream_lag FOLDER --slipwayd FILE [--points 100000] [--seconds 20]
namespace slipway {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using asio::ip::tcp;
using store::AttemptKey;
using store::RelayedFrame;
using store::Store;

constexpr const char* bench_host = "bench";
constexpr const char* service_host = "service";
constexpr int jobs = 8;
constexpr int names = 10;
constexpr std::chrono::milliseconds batch_every{100};
constexpr std::chrono::seconds lease{60};
constexpr std::chrono::seconds late_max{30};    // for the last events

struct LagOptions {
    fs::path folder{};
    fs::path slipwayd{};
    double points_a_second = 100'000;
    double seconds = 20;
};

/// Until then, or until it is asked to stop.
void wait_until(Tick when, const std::stop_token& stop = {}) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_until(lock, stop, when, [] { return false; });
}

void wait_for(Tick::duration pause, const std::stop_token& stop = {}) {
    wait_until(system_clock().tick() + pause, stop);
}

double ms_between(Tick begin, Tick end) {
    return std::chrono::duration<double, std::milli>(end - begin).count();
}

/// slipwayd on the bench's database, ended with this object.
class ServiceProcess {
public:
    ServiceProcess(const LagOptions& options, const std::string& database)
        : home_(options.folder / "service") {
        fs::create_directories(home_);
        const std::string ready = home_ / "ready";
        std::vector<std::string> words{options.slipwayd.string(),
                                       "serve",
                                       "--home",
                                       home_.string(),
                                       "--database",
                                       database,
                                       "--port",
                                       "0",
                                       "--cores",
                                       "1",
                                       "--host-name",
                                       service_host,
                                       "--ready-file",
                                       ready};
        std::vector<char*> arguments;
        for (std::string& word : words)
            arguments.push_back(word.data());
        arguments.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        const std::string log = home_ / "out.log";
        posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT, 0600);
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
        const int failure = posix_spawn(&process_, options.slipwayd.c_str(), &actions, nullptr,
                                        arguments.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        if (failure != 0) throw Error{ErrorCode::unavailable, "slipwayd could not be started"};
        wait_until_ready(ready, log);
    }
    ~ServiceProcess() {
        kill(process_, SIGTERM);
        waitpid(process_, nullptr, 0);
    }
    ServiceProcess(const ServiceProcess&) = delete;
    ServiceProcess& operator=(const ServiceProcess&) = delete;

    unsigned short port() const { return port_; }
    std::string token() const {
        std::string token;
        std::ifstream(home_ / "admin-token") >> token;
        return token;
    }

private:
    void wait_until_ready(const std::string& ready, const std::string& log) {
        for (int tries = 0; tries < 600; ++tries) {
            std::string address;
            if (std::ifstream(ready) >> address && address.rfind(':') != std::string::npos) {
                port_ =
                    static_cast<unsigned short>(std::stoi(address.substr(address.rfind(':') + 1)));
                return;
            }
            if (waitpid(process_, nullptr, WNOHANG) == process_) break;
            wait_for(std::chrono::milliseconds{100});
        }
        throw Error{ErrorCode::unavailable, fmt::format("slipwayd is not ready: see {}", log)};
    }

    fs::path home_;
    pid_t process_ = 0;
    unsigned short port_ = 0;
};

AttemptKey running_job(Store& store, int core) {
    store::NewJob job;
    job.id = new_id("job");
    job.name = "metrics";
    job.spec = R"({"model": {"arch": "mlp"}})";
    job.created_by = "bench";
    store::submit_jobs(store, std::span(&job, 1), {},
                       [](std::span<const store::Job>) { return store::StoredResponse{}; });
    const store::Placement wanted{.job_id = job.id,
                                  .members = {{.host = bench_host, .cores = {core}}},
                                  .fence = random_hex(16)};
    const AttemptKey key{job.id, store::commit_placements(store, {wanted}).at(0).attempt.value(),
                         wanted.fence};
    store::relay_frames(store, key,
                        {{.number = 1, .state = store::RelayedState{JobState::running}}});
    return key;
}

/// Keeps the leases of the attempts, as their agent would.
class Heart {
public:
    Heart(Store& store, std::vector<AttemptKey> keys)
        : thread_([&store, keys = std::move(keys)](const std::stop_token& stop) {
              while (!stop.stop_requested()) {
                  store::renew_leases(store, bench_host, keys, lease);
                  wait_for(std::chrono::milliseconds{500}, stop);
              }
          }) {}

private:
    std::jthread thread_;
};

/// Reads the stream of a job until it has seen `wanted` steps or the time is over.
class Follower {
public:
    Follower(const ServiceProcess& service, const AttemptKey& key, Tick begin)
        : socket_(io_), begin_(begin) {
        socket_.connect({asio::ip::make_address("127.0.0.1"), service.port()});
        // HTTP/1.0: the answer is not chunked.
        const std::string request = fmt::format(
            "GET /v1/jobs/{}/events HTTP/1.0\r\nHost: 127.0.0.1:{}\r\nAccept: text/event-stream\r\n"
            "Authorization: Bearer {}\r\n\r\n",
            key.job_id, service.port(), service.token());
        asio::write(socket_, asio::buffer(request));
        const std::string status = next_line();
        if (status.find(" 200 ") == std::string::npos)
            throw Error{ErrorCode::unavailable, "the stream was answered with " + status};
        thread_ = std::jthread([this] { read(); });
    }

    /// The lags in ms, in the order of the steps. Waits for the last ones.
    std::vector<double> lags_ms(std::int64_t wanted) {
        for (const Tick begin = system_clock().tick();
             seen_ < wanted && system_clock().tick() - begin < late_max;)
            wait_for(std::chrono::milliseconds{10});
        socket_.shutdown(tcp::socket::shutdown_both);
        thread_.join();
        return std::move(lags_ms_);
    }

private:
    std::string next_line() {
        const std::size_t size = asio::read_until(socket_, buffer_, '\n');
        const auto* bytes = static_cast<const char*>(buffer_.data().data());
        std::string line(bytes, size);
        buffer_.consume(size);
        return line;
    }

    void read() {
        constexpr std::string_view mark = R"("due_us":)";
        try {
            while (true) {
                const std::string line = next_line();
                const std::size_t place = line.find(mark);
                if (place == std::string::npos) continue;
                std::int64_t due_us = 0;
                std::from_chars(line.data() + place + mark.size(), line.data() + line.size(),
                                due_us);
                lags_ms_.push_back(
                    ms_between(begin_ + std::chrono::microseconds(due_us), system_clock().tick()));
                ++seen_;
            }
        } catch (const boost::system::system_error&) {
            // The end of the stream: we shut it down, or what is missing is counted.
        }
    }

    asio::io_context io_;
    tcp::socket socket_;
    asio::streambuf buffer_;
    const Tick begin_;
    std::atomic<std::int64_t> seen_ = 0;
    std::vector<double> lags_ms_;    // the thread's until it has ended
    std::jthread thread_;
};

RelayedFrame step_frame(std::int64_t number, Tick begin, Tick due, std::mt19937& random) {
    RelayedFrame frame{.number = number};
    std::string values;
    for (int i = 0; i < names; ++i) {
        const double value = std::uniform_real_distribution<double>()(random);
        frame.metrics.push_back({fmt::format("metric_{}", i), number, number / 1000, value});
        values += fmt::format(R"({}"metric_{}":{})", i > 0 ? "," : "", i, value);
    }
    const auto due_us = std::chrono::duration_cast<std::chrono::microseconds>(due - begin).count();
    frame.events.push_back(
        {"metric", fmt::format(R"({{"step":{},"epoch":{},"due_us":{},"values":{{{}}}}})", number,
                               number / 1000, due_us, values)});
    return frame;
}

/// Steps of one job at their times. Returns how many.
std::int64_t report(Store& store, const AttemptKey& key, const LagOptions& options, Tick begin,
                    int seed) {
    std::mt19937 random{std::uint32_t(seed)};
    store::MetricSeries series;
    const std::chrono::duration<double> gap{names * jobs / options.points_a_second};
    const auto due_at = [&](std::int64_t step) {
        return begin + std::chrono::duration_cast<Tick::duration>(gap * double(step));
    };
    const auto steps = std::int64_t(options.seconds / gap.count());
    std::int64_t step = 0;
    Tick next_batch = begin + batch_every * seed / jobs;    // not all at once
    while (step < steps) {
        wait_until(next_batch);
        std::vector<RelayedFrame> frames;
        for (const Tick now = system_clock().tick(); step < steps && due_at(step) <= now; ++step)
            frames.push_back(step_frame(step + 2, begin, due_at(step), random));
        if (!frames.empty()) store::relay_frames(store, key, frames, series);
        next_batch = std::max(next_batch + batch_every, system_clock().tick());
    }
    return steps;
}

double percentile(const std::vector<double>& sorted, double share) {
    if (sorted.empty()) return 0;
    return sorted[std::min(sorted.size() - 1, std::size_t(share * double(sorted.size())))];
}

nlohmann::json measure(Store& store, const ServiceProcess& service, const LagOptions& options) {
    std::vector<AttemptKey> keys;
    for (int core = 1; core <= jobs; ++core)
        keys.push_back(running_job(store, core));
    const Tick begin = system_clock().tick();
    std::vector<std::unique_ptr<Follower>> followers;
    for (const AttemptKey& key : keys)
        followers.push_back(std::make_unique<Follower>(service, key, begin));
    const Heart heart(store, keys);
    std::vector<std::future<std::int64_t>> reports;
    for (int i = 0; i < jobs; ++i)
        reports.push_back(std::async(std::launch::async, [&, i] {
            return report(store, keys[std::size_t(i)], options, begin, i);
        }));
    std::vector<std::int64_t> reported;
    for (auto& each : reports)
        reported.push_back(each.get());
    const double wrote_s = seconds_since(begin);
    std::vector<double> lags;
    std::int64_t missing = 0;
    for (std::size_t i = 0; i < jobs; ++i) {
        const std::vector<double> seen = followers[i]->lags_ms(reported[i]);
        missing += reported[i] - std::ssize(seen);
        lags.insert(lags.end(), seen.begin(), seen.end());
    }
    std::ranges::sort(lags);
    const auto points = double(names) * double(lags.size());
    return {{"points_a_second_wanted", options.points_a_second},
            {"points_a_second", std::round(points / wrote_s)},
            {"events", lags.size()},
            {"events_missing", missing},
            {"lag_p50_ms", percentile(lags, 0.5)},
            {"lag_p99_ms", percentile(lags, 0.99)},
            {"lag_max_ms", percentile(lags, 1)}};
}

int run(int argc, char** argv) {
    LagOptions options;
    CLI::App app{"Measures how long metrics take from the store to event streams."};
    app.add_option("folder", options.folder, "Empty folder for the database.")->required();
    app.add_option("--slipwayd", options.slipwayd, "Program of the service.")
        ->required()
        ->check(CLI::ExistingFile);
    app.add_option("--points", options.points_a_second, "Metric points a second, of all jobs.")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--seconds", options.seconds, "How long the jobs report.")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    store::Cluster cluster({.home = options.folder});
    migrations::up(cluster.database_url());
    Store store({.database = cluster.database_url(), .connections_max = jobs + 2});
    const ServiceProcess service(options, cluster.database_url());
    store::drain_host(store, service_host, "it only serves", "bench");
    store::register_host(store, {.name = bench_host, .cores = jobs, .instance = bench_host});
    const nlohmann::json figures = measure(store, service, options);
    fmt::print("{}\n", figures.dump());
    return figures["events_missing"] == 0 ? 0 : 1;
}

}    // namespace
}    // namespace slipway

int main(int argc, char** argv) {
    try {
        return slipway::run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_stream_lag: {}\n", error.what());
        return 2;
    }
}
