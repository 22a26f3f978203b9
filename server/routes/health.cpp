#include "server/routes/health.h"

#include <chrono>

#include "api/base/error.h"
#include "scheduler/store/jobs.h"

namespace slipway {

namespace {

constexpr std::chrono::seconds ask_every{1};
/// Counting reads more than asking does.
constexpr int asks_per_count = 5;
/// Longer than an answer may take while all is well.
constexpr std::chrono::seconds silence_max{5};

}    // namespace

HealthMonitor::HealthMonitor(store::Store& store, const Clock& clock)
    : store_(store), clock_(clock) {
    refresh(true);
    thread_ = std::thread([this] { run(); });
}

HealthMonitor::~HealthMonitor() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

DatabaseHealth HealthMonitor::latest() const {
    const std::lock_guard lock(mutex_);
    DatabaseHealth health = latest_;
    if (health.answers && clock_.tick() - health.asked_at > silence_max) {
        health.answers = false;
        health.problem = "the database has not answered for 5 s";
    }
    return health;
}

void HealthMonitor::run() {
    for (int round = 1;; ++round) {
        {
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, ask_every, [this] { return stopping_; });
            if (stopping_) return;
        }
        refresh(round % asks_per_count == 0);
    }
}

void HealthMonitor::refresh(bool count) {
    DatabaseHealth health;
    try {
        store_.ping();
        if (count) health.jobs = store::count_jobs(store_);
        health.answers = true;
    } catch (const Error& error) {
        health.problem = error.what();    // said by /readyz; the agent logs it
    }
    health.asked_at = clock_.tick();
    const std::lock_guard lock(mutex_);
    if (!count || !health.answers) health.jobs = std::move(latest_.jobs);
    latest_ = std::move(health);
}

}    // namespace slipway
