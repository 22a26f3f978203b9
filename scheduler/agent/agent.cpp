// A turn of the thread that talks to the database, in order of urgency: the leases, then new
// attempts, which take a moment and run from then on, then what processes reported, then what has
// ended, then other new work. Whatever fails ends the turn and is
// done again in the next one, after a pause that grows: nothing is lost by that, since what is
// not stored is still in the run folders. Events of the supervisor are taken before the turn and
// never depend on the database. The host's row has an owner: an agent that finds another one
// there does nothing until that one is gone.
#include "scheduler/agent/agent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "api/base/check.h"
#include "api/base/id.h"
#include "api/base/log.h"
#include "api/base/posix.h"
#include "scheduler/agent/attempt_reconciler.h"
#include "scheduler/agent/dataset_checker.h"
#include "scheduler/agent/garbage_collector.h"
#include "scheduler/agent/run_folder.h"
#include "scheduler/agent/shared_store.h"
#include "scheduler/agent/split_maker.h"
#include "scheduler/agent/supervisor.h"
#include "scheduler/agent/this_host.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/shared_store.h"

namespace slipway {

namespace {

constexpr std::chrono::milliseconds pause_min{100};    // after a failed turn
constexpr std::chrono::milliseconds pause_max{2000};

constexpr std::size_t spare_records = 16;

constexpr std::chrono::milliseconds sweep_every{60000};    // of cgroups

constexpr std::size_t id_bytes = 16;

std::filesystem::path records_folder(const AgentOptions& options) {
    const std::filesystem::path first = options.home / "processes";
    return options.machine_host == 1 ? first : first / fmt::format("host-{}", options.machine_host);
}

/// Something that is due every so often.
struct Due {
    std::chrono::milliseconds every;
    Tick next{};

    bool take(Tick now) {
        if (now < next) return false;
        next = now + every;
        return true;
    }
};

}    // namespace

struct Agent::Parts {
    Parts(store::Store& store_, AgentOptions options_, const Clock& clock_)
        : store(store_),
          options(std::move(options_)),
          clock(clock_),
          renew{options.renew_every},
          reconcile{options.poll_every},
          claim{options.poll_every},
          sweep{sweep_every},
          supervisor(
              options.heartbeat_every, [this] { notify(false, false); }, clock),
          launcher(*options.launcher),
          projects(store),
          records(records_folder(options), launcher.id_scope(), spare_records),
          reconciler(parts(), clock, counts, [this] { notify(false, false); }),
          checker(parts()),
          splitter(parts()),
          collector(store, options, clock),
          answered(clock.tick()) {}

    store::Store& store;
    const AgentOptions options;
    const Clock& clock;

    std::mutex mutex;
    std::condition_variable notified;
    bool stopping = false;           // guarded by mutex
    bool has_events = false;         // guarded by mutex
    bool wake_requested = false;     // guarded by mutex
    bool claim_requested = false;    // guarded by mutex
    AgentCounts published;           // guarded by mutex
    Tick published_answer{};         // guarded by mutex

    // The database thread's own from here on.
    Due renew;
    Due reconcile;
    Due claim;
    Due sweep;
    AgentCounts counts;
    Supervisor supervisor;
    const Launcher& launcher;
    ProjectNumbers projects;
    ProcessRecords records;
    AttemptReconciler reconciler;
    DatasetChecker checker;
    SplitMaker splitter;
    GarbageCollector collector;    // has a thread of its own
    const std::string instance = random_hex(id_bytes);
    bool registered = false;
    bool leftovers_ended = false;      // checks and splits of an agent before this one
    bool reconciled = false;           // since the last failure
    std::optional<Tick> relay_next;    // there are frames to store then
    std::chrono::milliseconds pause{0};
    Tick answered;

    std::thread thread;

    AgentParts parts() { return {store, options, launcher, projects, supervisor, records}; }

    void notify(bool reconcile_now, bool claim_now) {
        const std::scoped_lock lock(mutex);
        has_events = true;
        wake_requested = wake_requested || reconcile_now;
        claim_requested = claim_requested || claim_now;
        notified.notify_all();
    }

    void work() {
        while (wait()) {
            drain_events();
            try {
                turn();
                pause = {};
                answered = clock.tick();
            } catch (const std::exception& error) {
                // What was not stored is still in the run folders: the next turn takes it up.
                if (pause.count() == 0) tell(error);
                pause = std::clamp(pause * 2, pause_min, pause_max);
                ++counts.failed_calls;
                reconcile.next = {};
                reconciled = false;
            }
            publish();
        }
    }

    void drain_events() {
        SupervisorEvents events = supervisor.take_events();
        reconciler.drain_events(events);
        checker.drain_events(events);
        splitter.drain_events(events);
    }

    /// Another start waits no longer for a first step that is there than the step for the start.
    /// After an outage nothing is stored before the look has ended.
    void after_start() {
        if (!reconciled) return;
        drain_events();
        reconciler.relay();
    }

    static void tell(const std::exception& error) {
        const auto* known = dynamic_cast<const Error*>(&error);
        if (known != nullptr && known->code() == ErrorCode::conflict) {
            log_error("this host runs no jobs", {{"reason", error.what()}});
        } else {
            log_warn("the agent waits for the database", {{"reason", error.what()}});
        }
    }

    /// False: the agent ends.
    bool wait() {
        std::unique_lock lock(mutex);
        const auto until =
            pause.count() > 0
                ? clock.tick() + pause
                : std::min({reconcile.next, renew.next, relay_next.value_or(Tick::max())});
        notified.wait_until(lock, until,
                            [this] { return stopping || (has_events && pause.count() == 0); });
        has_events = false;
        if (std::exchange(wake_requested, false)) reconcile.next = {};
        if (std::exchange(claim_requested, false)) claim.next = {};
        return !stopping;
    }

    void turn() {
        // After an outage the database may remember less than it confirmed: a look before a word.
        reconciled ? reconciler.collect() : reconciler.collect_all();
        const Tick now = clock.tick();
        if (!registered) {
            const std::string mark = write_store_mark(options.artifacts(), options.host);
            store::register_host(store, this_host(options, instance), host_silence_max,
                                 options.join_token);
            if (!mark.empty()) store::keep_store_mark(store, {options.host, mark});
            registered = true;
        }
        // Only the owner of the host name may: another slipwayd's processes are none of ours.
        if (!leftovers_ended) leftovers_ended = end_leftovers();
        // The lease first: it is the only thing here that cannot wait.
        if (renew.next <= now) {
            if (!store::record_heartbeat(store, options.host, instance)) {
                registered = false;
                throw Error{ErrorCode::conflict,
                            fmt::format("another slipwayd has registered the host name \"{}\"",
                                        options.host)};
            }
            reconciler.renew();
            checker.renew();
            splitter.renew();
            renew.take(now);
        }
        const bool looks = reconcile.next <= now || !reconciled;
        if (looks) reconciler.reconcile([this] { after_start(); });
        reconciled = true;
        relay_next = reconciler.relay();
        if (reconciler.take_garbage()) collector.wake();
        reconciler.finish();
        checker.finish();
        checker.clean();
        splitter.finish();
        if (looks) reconcile.take(now);
        if (leftovers_ended && claim.take(now)) {
            checker.claim_work();
            splitter.claim_work();
        }
        launcher.end_idle(now);
        if (sweep.take(now)) launcher.remove_left(clock.now());
    }

    /// Nobody reads what they find: their claims lapse, and they are done again. False: some are
    /// not gone yet. Attempts are taken over by the reconciler.
    bool end_leftovers() {
        std::vector<std::string> gone;
        std::size_t left = 0;
        for (const auto& [name, record] : records.all()) {
            if (AttemptReconciler::is_name(name)) continue;
            launcher.end_left(record.id) ? gone.push_back(name) : void(++left);
        }
        for (const std::string& name : gone)
            records.forget(name);
        return left == 0;
    }

    void publish() {
        counts.running = supervisor.watched_count();
        counts.checks_running = std::int64_t(checker.running_count());
        const std::scoped_lock lock(mutex);
        published = counts;
        published_answer = answered;
    }
};

AgentCounts sum_of(const AgentCounts& a, const AgentCounts& b) {
    return {.running = a.running + b.running,
            .started = a.started + b.started,
            .adopted = a.adopted + b.adopted,
            .finished = a.finished + b.finished,
            .crashed = a.crashed + b.crashed,
            .unresponsive = a.unresponsive + b.unresponsive,
            .frames_relayed = a.frames_relayed + b.frames_relayed,
            .metric_points_skipped = a.metric_points_skipped + b.metric_points_skipped,
            .failed_calls = a.failed_calls + b.failed_calls,
            .checks_running = a.checks_running + b.checks_running,
            .database_lag_s = std::max(a.database_lag_s, b.database_lag_s)};
}

Agent::Agent(store::Store& store, AgentOptions options, const Clock& clock) {
    if (access(options.executor.c_str(), X_OK) != 0) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("the executor {} is not a program that can be run",
                                options.executor.string())};
    }
    check(options.launcher != nullptr, "an agent has a launcher");
    parts_ = std::make_unique<Parts>(store, std::move(options), clock);
    parts_->thread = std::thread([this] { parts_->work(); });
}

Agent::~Agent() {
    {
        const std::scoped_lock lock(parts_->mutex);
        parts_->stopping = true;
    }
    parts_->notified.notify_all();
    parts_->thread.join();
}

void Agent::wake() {
    parts_->notify(true, true);
}

void Agent::wake_for_attempts() {
    parts_->notify(true, false);
}

AgentCounts Agent::counts() const {
    const std::scoped_lock lock(parts_->mutex);
    AgentCounts counts = parts_->published;
    counts.database_lag_s =
        std::chrono::duration<double>(parts_->clock.tick() - parts_->published_answer).count();
    return counts;
}

}    // namespace slipway
