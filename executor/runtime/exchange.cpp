// One thread sends the parts in the order of the plan, which is the same in every process, however
// the workers of each are timed. A worker that fails gives up for its process: what it would send
// after that is not what the others wait for. They learn of it when the process ends.
#include "executor/runtime/exchange.h"

#include <utility>

#include "api/base/clock.h"
#include "executor/runtime/flush_denormals.h"

namespace slipway {

Exchange::Exchange(Collectives& collectives)
    : collectives_(collectives), thread_([this] { live(); }) {}

Exchange::~Exchange() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Exchange::begin(std::vector<std::vector<ProcessValues>> parts, int workers) {
    {
        const std::lock_guard lock(mutex_);
        parts_ = std::move(parts);
        arrived_.assign(parts_.size(), 0);
        workers_ = workers;
        come_ = 0;
        gave_up_ = false;
        error_ = nullptr;
        is_running_ = true;
    }
    changed_.notify_all();
}

void Exchange::arrive(std::size_t part) {
    {
        const std::lock_guard lock(mutex_);
        if (++arrived_[part] < workers_) return;
    }
    changed_.notify_all();
}

void Exchange::wait_for(std::uint32_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return come_ >= count || error_ || gave_up_; });
    if (error_) std::rethrow_exception(error_);
}

void Exchange::give_up() {
    {
        const std::lock_guard lock(mutex_);
        gave_up_ = true;
    }
    changed_.notify_all();
}

void Exchange::finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !is_running_; });
}

void Exchange::live() {
    const FlushDenormals flush;    // as workers do: it adds what they would
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return is_running_ || is_ending_; });
        if (is_ending_) return;
        spans_.clear();
        combine_parts(lock);
        is_running_ = false;
        changed_.notify_all();
    }
}

void Exchange::combine_parts(std::unique_lock<std::mutex>& lock) {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        changed_.wait(lock, [&] { return arrived_[part] == workers_ || gave_up_; });
        if (gave_up_) return;
        lock.unlock();
        std::exception_ptr error;
        const Tick begin = system_clock().tick();
        try {
            combine_processes(collectives_, parts_[part], packed_);
        } catch (...) {    // a worker that waits throws it again
            error = std::current_exception();
        }
        spans_.push_back({begin, system_clock().tick()});
        lock.lock();
        error_ = error;
        if (error_) return;
        ++come_;
        changed_.notify_all();
    }
}

}    // namespace slipway
