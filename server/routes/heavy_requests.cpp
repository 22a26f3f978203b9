#include "server/routes/heavy_requests.h"

#include <fmt/format.h>
#include <malloc.h>

#include "api/base/error.h"

namespace slipway {

namespace {

constexpr double ask_again_after_s = 0.05;

}    // namespace

HeavyRequests::Permit::Permit(HeavyRequests& requests, std::string token)
    : requests_(requests), token_(std::move(token)) {}

HeavyRequests::Permit::~Permit() {
    // Freed blocks between those in use would stay with the process.
    malloc_trim(0);
    requests_.leave(token_);
}

Response HeavyRequests::run(const Request& request, const std::string& token,
                            const std::function<Response()>& handle) {
    require_client(request);
    if (enter(token)) {
        const Permit permit(*this, token);
        return handle();
    }
    if (request.waited_s < limits_.patience_s) return Response{.again_after_s = ask_again_after_s};
    throw Error{ErrorCode::exhausted,
                fmt::format("other requests that read whole sweeps or check large ones are in "
                            "progress; at most {} of a token and {} in all run at a time. Try "
                            "again in a moment",
                            limits_.of_token, limits_.in_all)};
}

bool HeavyRequests::enter(const std::string& token) {
    const std::lock_guard lock(mutex_);
    if (running_in_all_ >= limits_.in_all) return false;
    std::size_t& of_token = running_[token];
    if (of_token >= limits_.of_token) return false;
    ++of_token;
    ++running_in_all_;
    return true;
}

void HeavyRequests::leave(const std::string& token) {
    const std::lock_guard lock(mutex_);
    --running_in_all_;
    const auto found = running_.find(token);
    if (--found->second == 0) running_.erase(found);
}

void require_client(const Request& request) {
    if (request.client_has_left && request.client_has_left())
        throw Error{ErrorCode::exhausted, "the client has closed the connection"};
}

}    // namespace slipway
