// The private PostgreSQL is a process of its own that outlives a killed slipwayd: the next one
// adopts the running postmaster instead of starting another. One slipwayd at a time has the
// cluster: it holds a lock on a file for as long as it lives. A thread watches the postmaster and
// starts it again when it dies, with pauses that double; meanwhile the service answers 503.
//
// What the functions keep: the constructor returns with a database that answers and has its roles,
// or leaves no process behind; a postmaster is started only when none runs; shutting down is fast
// first (SIGINT) and immediate after a time limit (SIGQUIT), never SIGKILL, which would leave
// shared memory and children behind.

#include "scheduler/store/cluster/cluster.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <libpq-fe.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "api/base/check.h"
#include "api/base/clock.h"
#include "api/base/error.h"
#include "api/base/log.h"
#include "api/base/posix.h"
#include "scheduler/store/cluster/layout.h"
#include "scheduler/store/cluster/log_limit.h"
#include "scheduler/store/cluster/roles.h"

namespace slipway::store {

namespace {

using std::chrono::milliseconds;
namespace fs = std::filesystem;

constexpr milliseconds pause_first{100};
constexpr milliseconds restart_pause_max{5000};
constexpr milliseconds quit_timeout{10000};    ///< of an immediate shutdown
constexpr milliseconds log_look{2000};         ///< how often the log's size is looked at

/// The right to this cluster, for as long as the descriptor is open.
UniqueFd lock_cluster(const ClusterLayout& layout) {
    UniqueFd lock(open(layout.lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        throw Error{ErrorCode::conflict,
                    fmt::format("another slipwayd uses {}: stop it, or choose another --home",
                                layout.folder.string())};
    }
    return lock;
}

bool answers(const ClusterLayout& layout) {
    return PQping(address_of(layout, "slipway").c_str()) == PQPING_OK;
}

/// Waits until it answers; false when it ended before.
bool wait_until_ready(const ClusterLayout& layout, pid_t pid, milliseconds timeout) {
    const Tick deadline = system_clock().tick() + timeout;
    while (!answers(layout)) {
        if (wait_for_end(pid, milliseconds{20})) return false;
        if (system_clock().tick() > deadline) {
            throw Error{ErrorCode::unavailable,
                        fmt::format("PostgreSQL does not answer after {} s: {}",
                                    timeout.count() / 1000, end_of_log(layout))};
        }
    }
    return true;
}

}    // namespace

struct Cluster::State {
    explicit State(ClusterOptions options_)
        : options(std::move(options_)),
          layout(layout_of(options.home)),
          account(postgres_account()),
          tools(find_tools(layout, options.tools)) {}

    /// A running postmaster is adopted, else one is started. Returns when it answers.
    void start() {
        if (const std::optional<pid_t> running = find_postmaster(layout)) {
            log_info("the private PostgreSQL still runs", {{"pid", *running}});
            pid = *running;
            kill(*running, SIGHUP);    // it may have started before write_access()
            if (wait_until_ready(layout, *running, options.start_timeout)) return;
        }
        clear_remains(layout);
        const pid_t started =
            start_process(postmaster_command(layout, tools, account, options.durable));
        pid = started;
        if (!wait_until_ready(layout, started, options.start_timeout)) {
            pid = 0;
            throw Error{ErrorCode::unavailable,
                        fmt::format("PostgreSQL did not start: {}", end_of_log(layout))};
        }
        log_info("the private PostgreSQL runs", {{"pid", started}});
    }

    /// As start(), with its roles.
    void start_with_roles(bool is_new) {
        if (is_new) make_roles(layout, tools, account, options.durable);
        start();
        if (has_roles(layout)) return;
        log_info("the private PostgreSQL gets its roles", {{"pid", pid.load()}});
        shut_down();
        clear_remains(layout);
        make_roles(layout, tools, account, options.durable);
        start();
        if (has_roles(layout)) return;
        throw Error{ErrorCode::unavailable,
                    fmt::format("the private PostgreSQL has no plain role for the service: {}",
                                end_of_log(layout))};
    }

    /// Starts it again whenever it dies, until asked to stop.
    void watch(const std::stop_token& stop) {
        milliseconds pause = pause_first;
        while (!stop.stop_requested()) {
            // Short waits, so that a stop is noticed; the end of the process is noticed at once.
            keep_log_small();
            const pid_t watched = pid;
            if (watched != 0 && !wait_for_end(watched, milliseconds{200})) {
                pause = pause_first;
                continue;
            }
            if (stop.stop_requested()) return;
            pid = 0;
            log_error("the private PostgreSQL has ended; starting it again", {{"pid", watched}});
            try {
                start();
            } catch (const Error& error) {
                // The service answers 503 meanwhile; giving up would not help it.
                log_error("the private PostgreSQL does not start", {{"reason", error.what()}});
                pid = 0;
                std::unique_lock held(mutex);
                waiting.wait_for(held, stop, pause, [] { return false; });
                pause = std::min(pause * 2, restart_pause_max);
            }
        }
    }

    /// Watcher thread only.
    void keep_log_small() {
        if (system_clock().tick() < next_log_look) return;
        next_log_look = system_clock().tick() + log_look;
        try {
            limit_log(layout.log, options.log_limit);
        } catch (const Error& error) {
            if (!log_failed) log_warn("the log of PostgreSQL", {{"reason", error.what()}});
            log_failed = true;
        }
    }

    void end_watch() {
        watcher.request_stop();
        if (watcher.joinable()) watcher.join();
    }

    void shut_down() {
        struct Step {
            int signal;
            milliseconds patience;
        };
        const std::array<Step, 2> steps{{{SIGINT, options.stop_timeout}, {SIGQUIT, quit_timeout}}};
        const pid_t running = pid.exchange(0);
        for (const auto& [signal, patience] : steps) {
            if (running == 0) return;
            kill(running, signal);
            if (wait_for_end(running, patience)) {
                log_info("the private PostgreSQL has stopped");
                return;
            }
            log_warn("the private PostgreSQL does not stop", {{"signal", signal}});
        }
        log_error("the private PostgreSQL is left running", {{"pid", running}});
    }

    const ClusterOptions options;
    const ClusterLayout layout;
    const std::optional<Account> account;
    const fs::path tools;
    UniqueFd lock;
    // watcher thread only
    Tick next_log_look{};
    bool log_failed = false;
    std::atomic<pid_t> pid{0};
    std::mutex mutex;
    std::condition_variable_any waiting;
    std::jthread watcher;
};

Cluster::Cluster(ClusterOptions options) : state_(std::make_unique<State>(std::move(options))) {
    State& state = *state_;
    make_folders(state.layout, state.account);
    state.lock = lock_cluster(state.layout);
    const bool is_new =
        create_cluster(state.layout, state.tools, state.account, state.options.durable);
    write_access(state.layout, state.account);
    try {
        state.start_with_roles(is_new);
    } catch (const Error&) {
        // A cluster that was started but is of no use is not left behind.
        state.shut_down();
        throw;
    }
    state.watcher = std::jthread([&state](const std::stop_token& stop) { state.watch(stop); });
}

Cluster::~Cluster() {
    if (state_) stop();
}

std::string Cluster::database_url() const {
    return address_of(state_->layout, "slipway");
}

int Cluster::pid() const {
    return state_->pid;
}

void Cluster::stop() {
    state_->end_watch();
    state_->shut_down();
}

void Cluster::release() {
    state_->end_watch();
    state_->pid = 0;
    state_->lock.reset();
}

}    // namespace slipway::store
