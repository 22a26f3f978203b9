#include "tests/server/webhooks/receiver.h"

#include <fmt/format.h>

namespace slipway {

WebhookReceiver::WebhookReceiver(std::uint16_t port) {
    const auto post = [](const std::string& path, Handler handler) {
        return json_route(Method::POST, path, std::move(handler));
    };
    std::vector<Route> routes{
        post("/hook",
             [this](const Request& request) {
                 const std::lock_guard lock(mutex_);
                 messages_.push_back(request);
                 return Response{.status = status.load(), .body = "{}"};
             }),
        post("/slow",
             [this](const Request&) {
                 std::unique_lock lock(mutex_);
                 released_.wait_for(lock, std::chrono::seconds(20), [&] { return is_released_; });
                 return Response{.body = "{}"};
             }),
        post("/moved",
             [](const Request&) { return Response{.status = 307}.with("Location", "/hook"); }),
        post("/large",
             [](const Request&) { return Response{.body = std::string(3'000'000, 'x')}; }),
    };
    ServerOptions options;
    options.port = port;
    server_ = std::make_unique<Server>(std::move(options), Router(std::move(routes)), metrics_);
    server_->start();
}

WebhookReceiver::~WebhookReceiver() {
    release();
}

std::string WebhookReceiver::url(const std::string& path) const {
    return fmt::format("http://127.0.0.1:{}{}", port(), path);
}

std::vector<Request> WebhookReceiver::messages() const {
    const std::lock_guard lock(mutex_);
    return messages_;
}

void WebhookReceiver::release() {
    {
        const std::lock_guard lock(mutex_);
        is_released_ = true;
    }
    released_.notify_all();
}

}    // namespace slipway
