#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "api/base/clock.h"
#include "server/http/message.h"

namespace slipway {

/// Remembers, between the calls of one long-polled request, what its object looked like at first.
/// Bounded; safe from every thread.
class LongPolls {
public:
    explicit LongPolls(const Clock& clock) : clock_(clock) {}

    /// How to go on with a GET that may have `Prefer: wait=N`: an answer that asks to be called
    /// again while `present` (the object's state) is what it was at first and time is left; none
    /// when the present object is to be answered now. `settled`: it will no longer change.
    std::optional<Response> wait(const Request& request, const std::string& present, bool settled);

private:
    struct First {
        std::string seen;
        Tick at;
    };
    const Clock& clock_;
    std::mutex mutex_;
    std::unordered_map<std::string, First> first_;    // guarded by mutex_; by request
};

}    // namespace slipway
