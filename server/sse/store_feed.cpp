#include "server/sse/store_feed.h"

#include <memory>

#include "scheduler/store/access.h"
#include "scheduler/store/pg/listener.h"

namespace slipway {

EventFeed store_feed(store::Store& store, store::Store& of_requests) {
    // Shared by the two functions that use it.
    const auto listener = std::make_shared<store::Listener>(store.options());
    static_assert(store::Listener::missed == "*", "the hub looks at all jobs for this topic");
    return {
        .read =
            [&store](const std::vector<store::EventCursor>& cursors, int limit_per_job) {
                return store::list_events_of_jobs(store, cursors, limit_per_job);
            },
        .head = [&of_requests](const std::string& job_id) -> std::optional<store::EventHead> {
            auto heads = store::find_event_heads(of_requests, {job_id});
            if (heads.empty()) return std::nullopt;
            return std::move(heads.front());
        },
        .wait = [listener](std::chrono::milliseconds timeout) { return listener->wait(timeout); },
        .wake = [listener] { listener->wake(); },
        .lost =
            [&store](const std::vector<std::string>& owners) {
                return store::list_lost_tokens(store, owners);
            },
    };
}

}    // namespace slipway
