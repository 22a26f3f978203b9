#include "scheduler/cross_validation/loop.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "api/base/log.h"
#include "scheduler/cross_validation/lost_owners.h"
#include "scheduler/store/pg/leader.h"

namespace slipway {

namespace {

/// A change that the progress of a cross-validation does not show costs at most this.
constexpr std::chrono::seconds forget_every{30};

/// Who has lost the right to submit jobs keeps none running for longer than this.
constexpr std::chrono::seconds owners_every{5};

constexpr const char* coordinator_name = "slipway.cross_validations";

}    // namespace

struct CrossValidationLoop::Parts {
    Parts(store::Store& store, CoordinatorOptions given, const Clock& clock_)
        : options(std::move(given)),
          clock(clock_),
          queued(store, clock_),
          coordinator{.store = store,
                      .queued = queued,
                      .artifacts = ArtifactStore(options.home),
                      .host = options.host,
                      .queued_jobs_max = options.queued_jobs_max},
          leader(store.options(), coordinator_name) {}

    const CoordinatorOptions options;
    const Clock& clock;

    std::mutex mutex;
    std::condition_variable notified;
    bool stopping = false;         // guarded by mutex
    bool wake_requested = true;    // guarded by mutex

    // The thread's own.
    submission::QueuedJobs queued;
    CoordinatorParts coordinator;
    store::Leader leader;
    Tick led_at{};
    SettledMemory settled;
    Tick forgot_at{};
    Tick owners_at{};
    std::optional<store::LeaderTerm> term;
    bool failing = false;

    std::thread thread;

    void work() {
        while (wait())
            pass();
        leader.resign();
    }

    bool wait() {
        std::unique_lock lock(mutex);
        notified.wait_for(lock, options.tick, [this] { return stopping || wake_requested; });
        wake_requested = false;
        return !stopping;
    }

    /// The lease is renewed now and then, not by each pass.
    void lead() {
        const Tick now = clock.tick();
        if (term && now - led_at < store::lead_again) return;
        led_at = now;
        term = leader.lead();
    }

    void forget_now_and_then() {
        if (clock.tick() - forgot_at < forget_every) return;
        forgot_at = clock.tick();
        settled.clear();
    }

    std::int64_t look_at_owners_now_and_then() {
        if (clock.tick() - owners_at < owners_every) return 0;
        owners_at = clock.tick();
        return cancel_those_without_owner(coordinator.store);
    }

    void pass() {
        try {
            lead();
            if (!term) return;
            forget_now_and_then();
            const std::int64_t cancelled = look_at_owners_now_and_then();
            if (advance_cross_validations(coordinator, *term, &settled) + cancelled > 0) {
                if (options.on_changed) options.on_changed();
                wake();    // the next step may be possible at once
            }
            failing = false;
        } catch (const std::exception& error) {
            // The next pass looks at everything again; one line per outage is enough.
            if (!failing) log_warn("cross-validations wait", {{"reason", error.what()}});
            failing = true;
            term.reset();
        }
    }

    void wake() {
        {
            const std::scoped_lock lock(mutex);
            wake_requested = true;
        }
        notified.notify_all();
    }
};

CrossValidationLoop::CrossValidationLoop(store::Store& store, CoordinatorOptions options,
                                         const Clock& clock)
    : parts_(std::make_unique<Parts>(store, std::move(options), clock)) {
    parts_->thread = std::thread([this] { parts_->work(); });
}

CrossValidationLoop::~CrossValidationLoop() {
    {
        const std::scoped_lock lock(parts_->mutex);
        parts_->stopping = true;
    }
    parts_->notified.notify_all();
    parts_->thread.join();
}

void CrossValidationLoop::wake() {
    parts_->wake();
}

}    // namespace slipway
