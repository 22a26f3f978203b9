#include "bench/no_op_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "api/base/id.h"
#include "scheduler/maintenance/loop.h"
#include "scheduler/maintenance/place_jobs.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/queue.h"

namespace slipway {

using store::AttemptKey;
using store::Store;

double seconds_since(Tick begin) {
    return std::chrono::duration<double>(system_clock().tick() - begin).count();
}

std::vector<std::string> register_no_op_hosts(Store& store, int cores) {
    constexpr int cores_of_a_host = 64;    // as many as a host may have
    std::vector<std::string> names;
    for (int left = cores; left > 0; left -= cores_of_a_host) {
        names.push_back(names.empty() ? no_op_host
                                      : fmt::format("{}-{}", no_op_host, names.size() + 1));
        store::register_host(store,
                             {.name = names.back(), .cores = std::min(left, cores_of_a_host)});
    }
    return names;
}

std::string make_ready_dataset(Store& store) {
    const std::string id = new_id("ds");
    store::create_dataset(
        store, {.id = id, .name = "none", .format = "csv", .source = R"({"path": "none"})"});
    const auto check =
        store::claim_dataset_check(store, no_op_host, std::chrono::milliseconds(60'000));
    store::finish_dataset_check(store, id, check.value().fence, {.ready = true, .report = "{}"});
    return id;
}

void submit_no_op_job(Store& store, const std::string& dataset_id) {
    store::NewJob job;
    job.id = new_id("job");
    job.name = "no-op";
    job.spec = R"({"model": {"arch": "mlp"}, "data": {"dataset": "none"}, "train": {"steps": 1}})";
    job.effective = "{}";
    job.created_by = "bench";
    job.dataset_id = dataset_id;
    store::submit_jobs(store, std::span(&job, 1), {},
                       [](std::span<const store::Job>) { return store::StoredResponse{}; });
}

NoOpMover::NoOpMover(Store& store, std::vector<std::string> hosts)
    : store_(store), hosts_(std::move(hosts)) {
    for (int number = 0; number < no_op_threads; ++number)
        threads_.emplace_back([this](const std::stop_token& stop) { end_attempts(stop); });
}

NoOpMover::~NoOpMover() {
    for (std::jthread& thread : threads_)
        thread.request_stop();
}

void NoOpMover::push(AttemptKey key) {
    {
        const std::lock_guard lock(mutex_);
        if (!seen_.insert(key.job_id).second) return;
        keys_.push_back(std::move(key));
    }
    pushed_.notify_one();
}

std::optional<AttemptKey> NoOpMover::pop(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (!pushed_.wait(lock, stop, [this] { return !keys_.empty(); })) return std::nullopt;
    AttemptKey key = std::move(keys_.front());
    keys_.pop_front();
    return key;
}

void NoOpMover::end_attempts(const std::stop_token& stop) {
    while (const auto key = pop(stop)) {
        store::finish_attempt(store_, *key,
                              {.exit_kind = "succeeded", .job_state = JobState::succeeded});
        ++ended_;
        one_ended_.notify_one();
    }
}

/// As maintenance does, every ten seconds.
void NoOpMover::fold() {
    const Tick now = system_clock().tick();
    if (now < fold_at_) return;
    fold_at_ = now + MaintenanceOptions{}.count_every;
    store::fold_job_counts(store_);
    store::fold_project_usage(store_);
}

void NoOpMover::pass() {
    ++passes_;
    fold();
    const PlaceCounts done =
        place_jobs(store_, std::chrono::hours(1), std::chrono::hours(1), {}, &memory_);
    if (done.placed == 0) {
        std::unique_lock lock(mutex_);
        one_ended_.wait_for(lock, std::chrono::milliseconds(1));
        return;
    }
    for (const std::string& host : hosts_)
        for (const store::HostAttempt& live : store::list_live_attempts(store_, host))
            push(live.attempt.key());
}

}    // namespace slipway
