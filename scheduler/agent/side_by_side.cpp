#include "scheduler/agent/side_by_side.h"

namespace slipway {

SideBySide::SideBySide(int threads) {
    for (int i = 0; i < threads; ++i)
        threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

SideBySide::~SideBySide() {
    for (std::jthread& thread : threads_)
        thread.request_stop();
}

void SideBySide::run(std::span<const std::function<void()>> steps) {
    if (steps.size() == 1) return steps[0]();
    std::unique_lock lock(mutex_);
    steps_ = steps;
    taken_ = 0;
    ended_ = 0;
    added_.notify_all();
    while (take_one(lock)) {
    }
    done_.wait(lock, [this] { return ended_ == steps_.size(); });
}

bool SideBySide::take_one(std::unique_lock<std::mutex>& lock) {
    if (taken_ == steps_.size()) return false;
    const std::function<void()>& step = steps_[taken_++];
    lock.unlock();
    step();
    lock.lock();
    if (++ended_ == steps_.size()) done_.notify_all();
    return true;
}

void SideBySide::work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (added_.wait(lock, stop, [this] { return taken_ < steps_.size(); }))
        take_one(lock);
}

}    // namespace slipway
