#include "tests/server/sse/fake_feed.h"

#include <algorithm>
#include <utility>

#include "api/base/error.h"

namespace slipway {

EventFeed FakeFeed::feed(bool announces) {
    return {
        .read = [this](const auto& cursors, int limit) { return read(cursors, limit); },
        .head = [this](const std::string& job_id) -> std::optional<store::EventHead> {
            const std::lock_guard lock(mutex_);
            const auto job = jobs_.find(job_id);
            if (job == jobs_.end()) return std::nullopt;
            return store::EventHead{job_id, "default", job->second.last, job->second.ended};
        },
        .wait =
            [this, announces](std::chrono::milliseconds timeout) {
                std::unique_lock lock(mutex_);
                changed_.wait_for(lock, timeout,
                                  [&] { return woken_ || (announces && !heard_.empty()); });
                woken_ = false;
                const auto heard = std::exchange(heard_, {});
                if (!announces) return std::vector<std::string>{};
                return std::vector<std::string>(heard.begin(), heard.end());
            },
        .wake =
            [this] {
                const std::lock_guard lock(mutex_);
                woken_ = true;
                changed_.notify_all();
            },
    };
}

void FakeFeed::append(const std::string& job_id, const std::string& type, const std::string& body) {
    const std::lock_guard lock(mutex_);
    Job& job = jobs_[job_id];
    job.events.push_back({job_id, ++job.last, type, body, {}});
    job.ended = job.ended || type == "end";
    heard_.insert(job_id);
    changed_.notify_all();
}

void FakeFeed::trim(const std::string& job_id, std::int64_t seq) {
    const std::lock_guard lock(mutex_);
    std::erase_if(jobs_[job_id].events, [seq](const auto& event) { return event.seq <= seq; });
}

void FakeFeed::set_down(bool down) {
    const std::lock_guard lock(mutex_);
    down_ = down;
}

int FakeFeed::reads() const {
    const std::lock_guard lock(mutex_);
    return reads_;
}

std::vector<store::Event> FakeFeed::read(const std::vector<store::EventCursor>& cursors,
                                         int limit) {
    const std::lock_guard lock(mutex_);
    ++reads_;
    if (down_) throw Error(ErrorCode::unavailable, "the database is down");
    std::vector<store::Event> found;
    std::set<std::string> named;
    for (const store::EventCursor& cursor : cursors) {
        if (!named.insert(cursor.job_id).second)
            throw Error(ErrorCode::internal, "a job is named twice in one read");
        const auto& events = jobs_[cursor.job_id].events;
        auto next = std::upper_bound(
            events.begin(), events.end(), cursor.after_seq,
            [](std::int64_t after, const store::Event& event) { return after < event.seq; });
        for (int i = 0; i < limit && next != events.end(); ++i)
            found.push_back(*next++);
    }
    return found;
}

}    // namespace slipway
