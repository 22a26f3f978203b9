#include "scheduler/maintenance/loop.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "api/base/log.h"
#include "scheduler/maintenance/drain_cores.h"
#include "scheduler/maintenance/place_jobs.h"
#include "scheduler/maintenance/rescue_attempts.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/groups.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/pg/leader.h"
#include "scheduler/store/prune.h"
#include "scheduler/store/queue.h"

// One thread, one table of tasks: each row has a name, an interval and a function that does a
// bounded amount of work and says whether more can be done at once. What a task does is a file of
// its own: here when it decides (place_jobs, rescue_attempts), else a function of the store. A task
// keeps no state between two passes: each looks at the whole state again, so that a lost wake-up, a
// failed pass and a change of the leader cost time and nothing else.
namespace slipway {

namespace {

/// On every database; processes of older versions ask for it by this name, too.
constexpr const char* leader_name = "slipway.upkeep";

}    // namespace

struct MaintenanceLoop::Parts {
    Parts(store::Store& store_, MaintenanceOptions options_, const Clock& clock_)
        : store(store_),
          options(std::move(options_)),
          clock(clock_),
          leader(store.options(), leader_name) {}

    store::Store& store;
    const MaintenanceOptions options;
    const Clock& clock;

    mutable std::mutex mutex;
    std::condition_variable notified;
    bool stopping = false;          // guarded by mutex
    bool wake_requested = true;     // guarded by mutex
    MaintenanceCounts published;    // guarded by mutex

    // The thread's own.
    store::Leader leader;
    store::LeaderTerm term;    // of this pass
    MaintenanceCounts counts;
    PlaceMemory place_memory;
    LeaseMemory lease_memory;
    Tick began{};     // the last pass
    Tick led_at{};    // the lease was renewed

    std::thread thread;

    /// One row per task: how often, and what it does; true: more can be done at once.
    struct Task {
        const char* name;
        std::chrono::milliseconds every;
        bool (Parts::*run_once)();
        Tick next{};
        bool failing = false;
    };
    std::array<Task, 15> tasks{{{"schedule", options.tick, &Parts::place},
                                {"rescue", options.rescue_every, &Parts::rescue},
                                {"drain_cores", options.rescue_every, &Parts::drain_cores},
                                {"follow", options.follow_every, &Parts::follow},
                                {"expire", options.expire_every, &Parts::expire},
                                {"count", options.count_every, &Parts::count},
                                {"prune_keys", options.prune_every, &Parts::prune_keys},
                                {"prune_surplus_keys", options.prune_every, &Parts::prune_surplus},
                                {"prune_audit", options.prune_every, &Parts::prune_audit},
                                {"prune_tickets", options.prune_every, &Parts::prune_tickets},
                                {"prune_sessions", options.prune_every, &Parts::prune_sessions},
                                {"prune_decisions", options.prune_every, &Parts::prune_decisions},
                                {"prune_groups", options.prune_every, &Parts::prune_groups},
                                {"prune_uploads", options.prune_every, &Parts::prune_uploads},
                                {"retention", options.prune_every, &Parts::retain}}};

    void work() {
        while (wait()) {
            began = clock.tick();
            if (lead()) {
                for (Task& task : tasks)
                    run(task);
                ++counts.ticks;
                counts.last_tick_s = std::chrono::duration<double>(clock.tick() - began).count();
            }
            const std::scoped_lock lock(mutex);
            published = counts;
        }
        leader.resign();
    }

    /// What a pass writes checks the term in any case.
    bool lead() {
        if (counts.leads && began - led_at < store::lead_again) return true;
        led_at = began;
        const std::optional<store::LeaderTerm> led = leader.lead();
        if (led && led->number != term.number)
            log_info("this process is the leader now", {{"term", led->number}});
        counts.leads = led.has_value();
        if (led) term = *led;
        return counts.leads;
    }

    void wake() {
        {
            const std::scoped_lock lock(mutex);
            wake_requested = true;
        }
        notified.notify_all();
    }

    /// False: the loop ends.
    bool wait() {
        std::unique_lock lock(mutex);
        notified.wait_for(lock, options.tick, [this] { return stopping || wake_requested; });
        // A pass for each of 1,000 submissions a second would take half a core of the database.
        const auto pause = began + options.wake_pause - clock.tick();
        if (began != Tick{} && pause > pause.zero())
            notified.wait_for(lock, pause, [this] { return stopping; });
        if (std::exchange(wake_requested, false)) tasks[0].next = {};
        return !stopping;
    }

    void run(Task& task) {
        const Tick now = clock.tick();
        if (now < task.next) return;
        try {
            const bool more = (this->*task.run_once)();
            task.failing = false;
            task.next = more ? now : now + task.every;
            if (more) wake();
        } catch (const std::exception& error) {
            // Its next pass checks everything again; one line per task and outage is enough.
            if (!task.failing) {
                log_warn("a maintenance task failed",
                         {{"task", task.name}, {"reason", error.what()}});
            }
            task.failing = true;
            task.next = now + task.every;
            ++counts.failed_ticks;
        }
    }

    bool place() {
        const PlaceCounts done =
            place_jobs(store, options.lease, options.host_silence_max, term, &place_memory);
        counts.placed += done.placed;
        counts.lost_races += done.lost_races;
        counts.preempted += done.preempted;
        if (done.placed + done.preempted > 0 && options.on_placed) options.on_placed();
        return done.more_are_due;
    }

    bool rescue() {
        counts.rescued +=
            rescue_attempts(store, options.host, options.lease, lease_memory, clock.tick(), term);
        return false;
    }

    bool drain_cores() {
        counts.drained_cores += drain_failing_cores(store, term);
        return false;
    }

    bool follow() { return store::follow_checked_datasets(store, term); }

    bool expire() {
        counts.expired += std::int64_t(store::expire_queued_jobs(store, term).size());
        return false;
    }

    bool count() {
        const bool more = store::fold_job_counts(store, term);
        store::fold_project_usage(store, term);
        return more;
    }

    bool prune_keys() { return pruned(store::prune_idempotency_keys(store, term)); }
    bool prune_surplus() {
        return pruned(store::prune_surplus_keys(store, options.keys_of_token_max, term));
    }
    bool prune_audit() { return pruned(store::prune_audit(store, options.audit_keep, term)); }
    bool prune_tickets() { return pruned(store::prune_login_tickets(store, term)); }
    bool prune_sessions() { return pruned(store::prune_sessions(store, term)); }
    bool prune_decisions() {
        return pruned(
            store::prune_decisions(store, options.decision_keep, options.decisions_max, term));
    }
    bool prune_groups() { return pruned(store::prune_groups(store, options.group_keep, term)); }
    bool prune_uploads() { return pruned(store::prune_uploads(store, term)); }

    /// A batch of each kind, so that no kind waits for another.
    bool retain() {
        bool more = false;
        for (std::size_t number = 0; number < store::retained_kinds; ++number) {
            const auto kind = static_cast<store::RetainedKind>(number);
            const std::optional<int> days = options.retention.of(kind);
            if (!days) continue;
            const store::RetentionBatch batch = store::apply_retention(store, kind, *days, term);
            counts.pruned += batch.removed;
            more = more || batch.more;
        }
        return more;
    }

    bool pruned(std::int64_t rows) {
        counts.pruned += rows;
        return rows == store::pruned_at_once;
    }
};

MaintenanceLoop::MaintenanceLoop(store::Store& store, MaintenanceOptions options,
                                 const Clock& clock)
    : parts_(std::make_unique<Parts>(store, std::move(options), clock)) {
    parts_->thread = std::thread([this] { parts_->work(); });
}

MaintenanceLoop::~MaintenanceLoop() {
    {
        const std::scoped_lock lock(parts_->mutex);
        parts_->stopping = true;
    }
    parts_->notified.notify_all();
    parts_->thread.join();
}

void MaintenanceLoop::wake() {
    parts_->wake();
}

MaintenanceCounts MaintenanceLoop::counts() const {
    const std::scoped_lock lock(parts_->mutex);
    return parts_->published;
}

}    // namespace slipway
