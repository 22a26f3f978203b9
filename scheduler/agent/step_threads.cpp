#include "scheduler/agent/step_threads.h"

#include <utility>

namespace slipway {

StepThreads::StepThreads(int threads) {
    for (int i = 0; i < threads; ++i)
        threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

StepThreads::~StepThreads() {
    for (std::jthread& thread : threads_)
        thread.request_stop();
}

void StepThreads::add(std::function<void()> step) {
    {
        const std::scoped_lock lock(mutex_);
        steps_.push_back(std::move(step));
        ++unfinished_;
    }
    added_.notify_one();
}

void StepThreads::wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return unfinished_ == 0; });
}

void StepThreads::work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (added_.wait(lock, stop, [this] { return !steps_.empty(); }) && !stop.stop_requested()) {
        const std::function<void()> step = std::move(steps_.front());
        steps_.pop_front();
        lock.unlock();
        step();
        lock.lock();
        if (--unfinished_ == 0) done_.notify_all();
    }
}

}    // namespace slipway
