// Threads that stay, since a step is shorter than the start of a thread. One word counts the
// orders and one the times that all have finished; a thread that waits looks at the word for
// some microseconds and then sleeps in the kernel (futex). It looks only where every worker has
// a CPU: else it would keep away whom it waits for. The caller is worker 0. The first error of a
// task is kept and thrown to the caller once all have finished.
#include "executor/runtime/workers.h"

#include <system_error>
#include <utility>

#include "executor/runtime/kept_on.h"
#include "executor/runtime/run_plan.h"

namespace slipway {

namespace {

using namespace std::chrono_literals;

// Longer than workers at work usually differ, and of the order of what a sleep and waking cost: on
// virtual CPUs up to 50 us (docs/decisions/0098).
constexpr std::chrono::nanoseconds awake_max = 50us;

/// Where workers must take turns on CPUs, one that is awake would keep away whom it waits for.
std::chrono::nanoseconds awake_max_of(int workers) {
    return workers <= granted_cpus() ? awake_max : 0ns;
}

std::optional<int> cpu_of(const std::vector<int>& cpus, int worker) {
    if (std::size_t(worker) >= cpus.size()) return std::nullopt;
    return cpus[std::size_t(worker)];
}

}    // namespace

Workers::Workers(int count, const std::vector<int>& cpus)
    : awake_max_(awake_max_of(count)), cpus_(std::size_t(count)), barrier_(count, awake_max_) {
    threads_.reserve(cpus_.size() - 1);
    try {
        for (int worker = 0; worker < count; ++worker) {
            // A new thread inherits the CPU: a confined process may set no thread's but the
            // caller's.
            const KeptOn kept(cpu_of(cpus, worker));
            if (kept.is_kept()) cpus_[std::size_t(worker)] = cpus[std::size_t(worker)];
            if (worker > 0) threads_.emplace_back([this, worker] { live(worker); });
        }
    } catch (const std::system_error&) {
        // The system refuses a thread: those that it gave end before the error leaves.
        stop();
        throw;
    }
}

Workers::~Workers() {
    stop();
}

void Workers::stop() {
    stopping_.store(true, std::memory_order_release);
    order_.fetch_add(1, std::memory_order_release);
    order_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

void Workers::run(const std::function<void(int)>& task) {
    const KeptOn kept(cpus_[0]);
    task_ = &task;
    first_error_ = nullptr;
    failed_.store(false, std::memory_order_relaxed);
    working_.store(std::uint32_t(threads_.size()), std::memory_order_relaxed);
    const std::uint32_t before = finished_.load(std::memory_order_relaxed);
    order_.fetch_add(1, std::memory_order_release);
    order_.notify_all();
    attempt([&] { task(0); });
    if (!threads_.empty()) wait_while_equal(finished_, before, awake_max_);
    const std::lock_guard lock(mutex_);
    if (first_error_) std::rethrow_exception(std::exchange(first_error_, nullptr));
}

void Workers::keep(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!first_error_) first_error_ = std::move(error);
    failed_.store(true, std::memory_order_release);
}

void Workers::live(int worker) {
    for (std::uint32_t seen = 0;; ++seen) {
        wait_while_equal(order_, seen, awake_max_);
        if (stopping_.load(std::memory_order_acquire)) return;
        attempt([&] { (*task_)(worker); });
        if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            finished_.fetch_add(1, std::memory_order_release);
            finished_.notify_all();
        }
    }
}

}    // namespace slipway
