#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "server/http/message.h"

namespace slipway {

/// Limits requests that take long by what they process: whole sweeps that are read from their logs,
/// large specs that are checked. They run on the workers that answer everything else, so only a few
/// may at a time. Safe from every thread.
class HeavyRequests {
public:
    struct Limits {
        std::size_t of_token = 1;
        std::size_t in_all = 2;
        double patience_s = 2;    ///< how long a request waits for others, without a worker
    };

    HeavyRequests() : HeavyRequests(Limits{}) {}
    explicit HeavyRequests(Limits limits) : limits_(limits) {}

    /// One such request while it runs. Its memory goes back to the system afterwards.
    class Permit {
    public:
        Permit(HeavyRequests& requests, std::string token);
        ~Permit();
        Permit(const Permit&) = delete;
        Permit& operator=(const Permit&) = delete;

    private:
        HeavyRequests& requests_;
        const std::string token_;
    };

    /// Runs `handle` with a permit. Without one the answer is to be called again in a moment, and
    /// after `patience_s` the request is refused.
    /// errors  throws exhausted (429) then, and when the client has gone meanwhile
    Response run(const Request& request, const std::string& token,
                 const std::function<Response()>& handle);

private:
    bool enter(const std::string& token);
    void leave(const std::string& token);

    const Limits limits_;
    std::mutex mutex_;
    // guarded by mutex_
    std::map<std::string, std::size_t> running_;    // by token
    std::size_t running_in_all_ = 0;
};

/// errors  throws exhausted when the client of the request has closed its connection: for work
///         that takes long, between its parts
void require_client(const Request& request);

}    // namespace slipway
