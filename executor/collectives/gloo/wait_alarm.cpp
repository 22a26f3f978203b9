// A thread looks every so often whether a wait has lasted since its last look, and calls it off. So
// a wait that is short, which nearly all are, costs two locks that nobody else wants.
#include "executor/collectives/gloo/wait_alarm.h"

namespace slipway {

namespace {

constexpr std::chrono::milliseconds look_every{100};

}    // namespace

WaitAlarm::WaitAlarm() : thread_([this] { ring(); }) {}

WaitAlarm::~WaitAlarm() {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    stopped_.notify_all();
    thread_.join();
}

bool WaitAlarm::wait(::gloo::transport::UnboundBuffer& port, bool receives,
                     std::chrono::milliseconds limit) {
    set(&port, receives);
    const Unset unset{*this};
    return receives ? port.waitRecv(limit) : port.waitSend(limit);
}

WaitAlarm::Unset::~Unset() {
    alarm.set(nullptr, false);
}

void WaitAlarm::set(::gloo::transport::UnboundBuffer* port, bool receives) {
    const std::lock_guard lock(mutex_);
    port_ = port;
    receives_ = receives;
    is_old_ = false;
}

void WaitAlarm::ring() {
    std::unique_lock lock(mutex_);
    while (!stopped_.wait_for(lock, look_every, [&] { return is_stopping_; })) {
        if (port_ == nullptr) continue;
        if (is_old_) receives_ ? port_->abortWaitRecv() : port_->abortWaitSend();
        is_old_ = true;
    }
}

}    // namespace slipway
