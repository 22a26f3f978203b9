#include "scheduler/store/store.h"

#include <fmt/core.h>

#include <chrono>
#include <set>
#include <thread>

#include "scheduler/store/end_group.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/shared_reads.h"
#include "scheduler/store/submission_group.h"

namespace slipway::store {

namespace {

/// Beyond this many, one topic that means "everything" is cheaper for all.
constexpr std::size_t topics_max = 1000;
constexpr std::string_view object_prefix = "object ";
constexpr std::string_view job_prefix = "job_";
constexpr std::chrono::milliseconds job_pause{25};

}    // namespace

/// Sends topics from a thread of its own; those that come while it sends go together next time, and
/// those of jobs alone wait for each other: each time, all who listen are woken.
struct Store::Announcer {
    explicit Announcer(Pool& pool_) : pool(pool_) {}
    ~Announcer() {
        thread.request_stop();
        changed.notify_all();
    }

    void run(const std::stop_token& stop) {
        std::unique_lock lock(mutex);
        while (changed.wait(lock, stop, [this] { return !topics.empty(); })) {
            changed.wait_for(lock, stop, job_pause, [this] { return is_urgent; });
            is_urgent = false;
            const std::vector<std::string> batch(topics.begin(), topics.end());
            topics.clear();
            lock.unlock();
            try {
                write(pool, queries::announce, {batch});
            } catch (const Error&) {
                // Lost: the database is down, and everyone who listens polls as well.
            }
            lock.lock();
        }
    }

    Pool& pool;    // the Store's, which outlives its announcer
    std::mutex mutex;
    std::condition_variable_any changed;
    std::set<std::string, std::less<>> topics;    // guarded by mutex
    bool is_urgent = false;                       // likewise; one is of no job
    std::jthread thread{[this](const std::stop_token& stop) { run(stop); }};
};

Store::Store(StoreOptions options)
    : options_(std::move(options)),
      pool_(std::make_unique<Pool>(options_)),
      announcer_(std::make_unique<Announcer>(*pool_)),
      submissions_(make_submission_group(*pool_)),
      ends_(make_end_group(*pool_)),
      shared_reads_(std::make_unique<SharedReads>()) {}

Store::~Store() = default;

void Store::ping() {
    read(*pool_, queries::ping);
}

std::optional<std::chrono::milliseconds> Store::connected_for() const {
    return pool_->connected_for();
}

void Store::announce(std::string_view topic) {
    const std::lock_guard lock(announcer_->mutex);
    if (announcer_->topics.size() >= topics_max) {
        announcer_->topics = {"*"};
    } else {
        announcer_->topics.emplace(topic);
    }
    announcer_->is_urgent = announcer_->is_urgent || !topic.starts_with(job_prefix);
    announcer_->changed.notify_one();
}

void Store::announce(const ObjectChange& change) {
    // The project is last: its name may hold spaces.
    announce(fmt::format("{}{} {} {}", object_prefix, change.id, change.state, change.project));
}

std::optional<ObjectChange> parse_object_change(std::string_view topic) {
    if (!topic.starts_with(object_prefix)) return std::nullopt;
    topic.remove_prefix(object_prefix.size());
    const std::size_t id_end = topic.find(' ');
    const std::size_t state_end = topic.find(' ', id_end + 1);
    if (id_end == std::string_view::npos || state_end == std::string_view::npos)
        return std::nullopt;
    return ObjectChange{.id = std::string(topic.substr(0, id_end)),
                        .project = std::string(topic.substr(state_end + 1)),
                        .state = std::string(topic.substr(id_end + 1, state_end - id_end - 1))};
}

Fenced::Fenced(const AttemptKey& key)
    : Error(ErrorCode::conflict,
            fmt::format("attempt {} of {} has ended or was replaced", key.attempt, key.job_id)) {}

LeaderReplaced::LeaderReplaced(const std::string& message)
    : Error(ErrorCode::conflict, "another process leads now: " + message) {}

ClassNotAllowed::ClassNotAllowed(const std::string& message, std::string wanted,
                                 std::string allowed)
    : Error(ErrorCode::invalid_argument, message),
      wanted_(std::move(wanted)),
      allowed_(std::move(allowed)) {}

LastAdmin::LastAdmin(std::string_view project, std::string_view member)
    : Error(ErrorCode::conflict,
            fmt::format("{} is the last admin of project {}: make another member admin first, or "
                        "ask an admin of the service",
                        member, project)) {}

IllegalTransition::IllegalTransition(std::string from, std::string to)
    : Error(ErrorCode::conflict,
            fmt::format("a job that is {} cannot become {}", from.empty() ? "new" : from, to)),
      from_(std::move(from)),
      to_(std::move(to)) {}

}    // namespace slipway::store
