#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/http/metrics.h"
#include "server/http/server.h"

namespace slipway {

/// A service of somebody else on a free port of the loopback.
///
/// POST /hook    keeps the message and answers `status`
/// POST /slow    answers after `release`
/// POST /moved   307 to /hook
/// POST /large   200 and 3 MB
class WebhookReceiver {
public:
    /// port  0: any free one
    explicit WebhookReceiver(std::uint16_t port = 0);
    ~WebhookReceiver();

    std::atomic<int> status{200};
    std::uint16_t port() const { return server_->port(); }
    std::string url(const std::string& path = "/hook") const;
    std::vector<Request> messages() const;
    void release();

private:
    mutable std::mutex mutex_;
    std::condition_variable released_;
    bool is_released_ = false;         // guarded by mutex_
    std::vector<Request> messages_;    // guarded by mutex_
    HttpMetrics metrics_;
    std::unique_ptr<Server> server_;
};

}    // namespace slipway
