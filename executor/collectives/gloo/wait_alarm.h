#pragma once

#include <gloo/transport/unbound_buffer.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace slipway {

/// Waits for transfers of Gloo, and comes back from time to time although nothing has happened.
///
/// Gloo tells a wait of a broken connection, but for a transfer of which a part was on its way:
/// that wait goes on until its time is up. A wait for one member also hides that another one is
/// lost. And a wait that times out breaks all connections, so waiting for shorter times is no way
/// to look.
///
/// Thread rule: one thread waits.
class WaitAlarm {
public:
    WaitAlarm();
    ~WaitAlarm();
    WaitAlarm(const WaitAlarm&) = delete;
    WaitAlarm& operator=(const WaitAlarm&) = delete;

    /// Until the transfer is done: true; or for some tenths of a second: false, and it goes on.
    /// errors  what Gloo throws: the connection is broken, or `limit` is over
    bool wait(::gloo::transport::UnboundBuffer& port, bool receives,
              std::chrono::milliseconds limit);

private:
    /// At the end of a wait, however it ends.
    struct Unset {
        WaitAlarm& alarm;
        ~Unset();
    };
    void ring();
    void set(::gloo::transport::UnboundBuffer* port, bool receives);

    std::mutex mutex_;
    std::condition_variable stopped_;
    // guarded by mutex_
    ::gloo::transport::UnboundBuffer* port_ = nullptr;    ///< that is waited for
    bool receives_ = false;
    bool is_old_ = false;    ///< it was waited for at the last look, too
    bool is_stopping_ = false;
    std::thread thread_;
};

}    // namespace slipway
