#include "server/sse/store_feed.h"

#include <algorithm>
#include <memory>

#include "scheduler/store/pg/listener.h"
#include "scheduler/store/rights.h"
#include "scheduler/store/watched.h"

namespace slipway {

namespace {

/// To name more would cost more than to store what they report.
constexpr std::size_t subjects_max = 100;

/// None: all.
void watch(store::Store& store, const std::vector<std::string>& subjects) {
    const bool all = subjects.empty() || subjects.size() > subjects_max;
    store::keep_watched(store, all ? std::vector<std::string>{store::watch_all} : subjects);
}

}    // namespace

EventFeed store_feed(store::Store& store, store::Store& of_requests,
                     std::function<void(const std::string& topic)> hear) {
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
        .wait =
            [listener, hear = std::move(hear)](std::chrono::milliseconds timeout) {
                std::vector<std::string> topics = listener->wait(timeout);
                if (hear) std::ranges::for_each(topics, hear);
                return topics;
            },
        .wake = [listener] { listener->wake(); },
        .lost =
            [&store](const std::vector<store::Right>& rights) {
                return store::list_lost_rights(store, rights);
            },
        .watch = [&store](const std::vector<std::string>& job_ids) { watch(store, job_ids); },
    };
}

ProjectFeed project_feed(store::Store& store, store::Store& of_requests) {
    return {
        .now = [&of_requests] { return store::database_time(of_requests); },
        .read =
            [&store](const auto& cursors, Instant since, const auto& types) {
                return store::list_changes_of_jobs(store, cursors, since, types);
            },
        .changed = [&store](std::chrono::milliseconds window,
                            int limit) { return store::list_changed_jobs(store, window, limit); },
        .projects_of =
            [&store](const auto& token_ids) {
                return store::list_token_projects(store, token_ids);
            },
        .watch =
            [&store](const std::vector<std::string>& projects) {
                std::vector<std::string> subjects;
                for (const std::string& project : projects)
                    subjects.push_back(store::watched_project(project));
                watch(store, subjects);
            },
    };
}

}    // namespace slipway
