// One thread reads what happened (project_reader.h) into the ring and wakes the streams that want
// some of it. 5,000 idle dashboards cost 5,000 numbers and their connections; an event is read and
// turned into text once.
//
// A stream that begins is complete from its call on: the first one has the time asked before it is
// answered, and later ones find a reader that reads since before they came. While nobody listens
// nothing is read; what is heard then is thrown away, and the ring is broken off when reading
// begins again, so that a stream that comes back to before gets a gap. Owners are checked before
// anything is read: who lost the right reads nothing more. Locks: hub, then ring, then stream;
// streams are woken with only their own.

#include "server/sse/project_hub.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "api/base/id.h"
#include "api/base/log.h"
#include "scheduler/store/watched.h"
#include "server/http/problem.h"
#include "server/sse/event_text.h"
#include "server/sse/project_reader.h"

namespace slipway {
namespace {

/// Events of the last moment before reading began may be committed after it.
constexpr std::chrono::seconds begin_before{1};
constexpr std::string_view missed_topic = "*";
/// What somebody looks at as it comes. States are stored at once in any case, and progress, which
/// the default of a stream has, is said twice a second only.
constexpr ProjectEventTypes followed_types =
    bit_of(ProjectEventType::metric) | bit_of(ProjectEventType::log);

}    // namespace

struct ProjectHub::State {
    State(ProjectFeed feed_, ProjectHubOptions options_, const Clock& clock_)
        : feed(std::move(feed_)),
          options(std::move(options_)),
          clock(clock_),
          ring(options.name, options.ring) {}

    // constant after construction
    const ProjectFeed feed;
    const ProjectHubOptions options;
    const Clock& clock;

    mutable std::mutex mutex;
    std::condition_variable changed;
    // guarded by mutex
    std::map<Stream*, std::weak_ptr<Stream>> streams;
    std::map<std::string, std::size_t> per_owner;
    ChangedTopics topics;
    std::optional<Instant> reading_since;    // none: nobody listens, nothing is read
    Tick unused_since{};                     // of reading, when there are no streams
    ProjectEventTypes types = 0;             // that anybody has wanted since reading began
    std::array<std::int64_t, Spelling<ProjectEventType>::words.size()> wanted_from{};
    bool stopping = false;
    bool recheck_wanted = false;
    bool has_new_stream = false;

    std::mutex ring_mutex;
    EventRing ring;    // guarded by ring_mutex

    // reader thread only
    std::optional<ProjectReader> reader;
    Instant reader_since{};
    Tick looked_at_all{};
    Tick next_recheck{};
    Tick next_watch{};
    Tick next_forget{};
    bool failing = false;

    std::thread thread;

    void run();
    bool wait_for_work();
    std::unique_lock<std::mutex> lock_while_reading();
    void want(ProjectEventTypes more);
    std::int64_t place_of(const Subscription& subscription);
    struct Work {
        ChangedTopics topics{};
        ProjectEventTypes types = 0;
        std::chrono::milliseconds behind{};
        bool looks_at_all = false;
        Tick began_at{};
    };
    bool take_work(Work& work);
    void read();
    void put_back(ChangedTopics rest);
    void publish(const ProjectEvents& found, ProjectEventTypes read_types);
    void recheck();
    void keep_watched();
    std::vector<std::shared_ptr<Stream>> live_streams() const;
    void remove(Stream* stream, const std::string& owner);
};

/// One client's stream: a place in the ring.
class ProjectHub::Stream final : public EventSource {
public:
    Stream(std::shared_ptr<State> hub, Subscription subscription, std::int64_t after)
        : hub_(std::move(hub)),
          owner_(std::move(subscription.owner)),
          owner_projects_(std::move(subscription.owner_projects)),
          filter_{.projects = subscription.project.empty()
                                  ? owner_projects_
                                  : std::vector<std::string>{subscription.project},
                  .types = subscription.types},
          after_(after) {}

    void start(std::function<void()> wake) override {
        const std::lock_guard lock(mutex_);
        wake_ = std::move(wake);
    }

    bool take(std::string& bytes) override {
        const std::lock_guard ring_lock(hub_->ring_mutex);
        const std::lock_guard lock(mutex_);
        if (!std::exchange(begun_, true)) bytes += stream_preamble;
        if (ended_) return false;
        const EventRing::Read read =
            hub_->ring.read(after_, filter_, bytes.size() + hub_->options.take_bytes, bytes);
        if (read.lost)
            bytes += "id: " + hub_->ring.id_of(read.read_to) +
                     "\nevent: gap\ndata: {\"message\":\"events are missing: read the state of "
                     "your objects again\"}\n\n";
        after_ = read.read_to;
        return true;
    }

    std::string_view heartbeat() const override { return stream_heartbeat; }

    void close() override {
        {
            const std::lock_guard lock(mutex_);
            if (closed_) return;
            closed_ = true;
            wake_ = {};
        }
        hub_->remove(this, owner_);
    }

    const std::string& owner() const { return owner_; }
    const std::vector<std::string>& owner_projects() const { return owner_projects_; }
    const RingFilter& filter() const { return filter_; }

    bool wants(const std::map<std::string, ProjectEventTypes>& appended) const {
        return std::ranges::any_of(appended, [&](const auto& one) {
            return (one.second & filter_.types) != 0 && is_of(filter_.projects, one.first);
        });
    }

    void wake() {
        // Under the lock: close() promises that no call comes after it.
        const std::lock_guard lock(mutex_);
        if (wake_) wake_();
    }

    /// Its owner's rights have changed: it ends. Who may still read comes back.
    void cut() {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        if (wake_) wake_();
    }

private:
    const std::shared_ptr<State> hub_;    // shared: see ProjectHub
    const std::string owner_;
    const std::vector<std::string> owner_projects_;
    const RingFilter filter_;
    std::mutex mutex_;
    // guarded by mutex_
    std::function<void()> wake_;
    std::int64_t after_;
    bool begun_ = false;
    bool ended_ = false;
    bool closed_ = false;
};

std::vector<std::shared_ptr<ProjectHub::Stream>> ProjectHub::State::live_streams() const {
    const std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<Stream>> live;
    for (const auto& [key, weak] : streams)
        if (auto stream = weak.lock()) live.push_back(std::move(stream));
    return live;
}

void ProjectHub::State::remove(Stream* stream, const std::string& owner) {
    const std::lock_guard lock(mutex);
    if (streams.erase(stream) == 0) return;
    if (streams.empty()) unused_since = clock.tick();
    if (const auto count = per_owner.find(owner); --count->second == 0) per_owner.erase(count);
}

/// Asks the database: the caller is a request.
/// returns  the mutex, held, with reading begun
std::unique_lock<std::mutex> ProjectHub::State::lock_while_reading() {
    if (std::unique_lock lock(mutex); reading_since) return lock;
    const Instant since = feed.now() - begin_before;
    std::unique_lock lock(mutex);
    if (reading_since) return lock;
    topics = {};
    types = 0;
    wanted_from = {};
    reading_since = since;
    unused_since = clock.tick();
    const std::lock_guard ring_lock(ring_mutex);
    ring.break_off();
    return lock;
}

/// With the mutex. What nobody wanted was not read: a stream cannot come back to it.
void ProjectHub::State::want(ProjectEventTypes more) {
    if ((more & ~types) == 0) return;
    const std::lock_guard lock(ring_mutex);
    for (std::size_t type = 0; type < wanted_from.size(); ++type)
        if ((more & ~types) >> type & 1U) wanted_from[type] = ring.last();
    types |= more;
}

/// With the mutex. A number before the first one that is there makes the stream begin with a gap.
std::int64_t ProjectHub::State::place_of(const Subscription& subscription) {
    const std::lock_guard lock(ring_mutex);
    if (subscription.last_event_id.empty()) return ring.last();
    const std::int64_t number = ring.number_of(subscription.last_event_id);
    for (std::size_t type = 0; type < wanted_from.size(); ++type)
        if ((subscription.types >> type & 1U) != 0 && number < wanted_from[type]) return -1;
    return number;
}

void ProjectHub::State::run() {
    while (wait_for_work()) {
        try {
            recheck();    // first: who lost the right reads nothing more
            keep_watched();
            read();
            failing = false;
        } catch (const std::exception& error) {
            // Nothing is lost: what was heard is kept, and all is looked at.
            if (!failing) log_warn("cannot read events of projects", {{"error", error.what()}});
            failing = true;
            std::unique_lock lock(mutex);
            topics.look_at_all = true;
            changed.wait_for(lock, options.poll, [this] { return stopping; });
        }
    }
}

/// False: stop.
bool ProjectHub::State::wait_for_work() {
    std::unique_lock lock(mutex);
    const auto woken = [this] {
        return stopping || recheck_wanted || has_new_stream || (reading_since && !topics.empty());
    };
    if (reading_since)
        changed.wait_for(lock, options.poll, woken);
    else
        changed.wait(lock, [this] { return stopping || reading_since; });
    // What comes at nearly the same time goes together.
    changed.wait_for(lock, options.pause, [this] { return stopping; });
    if (reading_since && streams.empty() && clock.tick() - unused_since > options.keep) {
        reading_since.reset();
        topics = {};
        const std::lock_guard ring_lock(ring_mutex);
        ring.break_off();    // gives its memory back
    }
    return !stopping;
}

/// True: there is something to read.
bool ProjectHub::State::take_work(Work& work) {
    const std::lock_guard lock(mutex);
    if (!reading_since) {
        reader.reset();
        return false;
    }
    const Tick now = clock.tick();
    if (!reader || reader_since != *reading_since) {
        reader_since = *reading_since;
        reader.emplace(feed, reader_since);
        looked_at_all = now;
        next_forget = now + options.forget;
    }
    work.topics = std::exchange(topics, {});
    work.topics.look_at_all |= now - looked_at_all >= options.poll;
    work.types = types;
    work.behind = std::chrono::ceil<std::chrono::milliseconds>(now - looked_at_all);
    work.looks_at_all = work.topics.look_at_all;
    work.began_at = now;
    return true;
}

void ProjectHub::State::read() {
    Work work;
    if (!take_work(work)) return;
    ProjectEvents found;
    try {
        reader->read(work.topics, work.types, work.behind, found);
        if (work.looks_at_all) looked_at_all = work.began_at;
        if (work.began_at >= next_forget) {
            reader->forget_quiet();
            next_forget = work.began_at + options.forget;
        }
    } catch (const std::exception&) {
        // Handled by run(); what was read before is not read again.
        put_back(std::move(work.topics));
        publish(found, work.types);
        throw;
    }
    put_back(std::move(work.topics));
    publish(found, work.types);
}

void ProjectHub::State::put_back(ChangedTopics rest) {
    const std::lock_guard lock(mutex);
    topics.job_ids.merge(rest.job_ids);
    std::ranges::move(rest.objects, std::back_inserter(topics.objects));
    topics.look_at_all |= rest.look_at_all;
}

void ProjectHub::State::publish(const ProjectEvents& found, ProjectEventTypes read_types) {
    std::map<std::string, ProjectEventTypes> appended;
    bool broken_off = found.broken_off;
    {
        const std::lock_guard lock(mutex);
        // Of a type that was wanted only after the read began, the read may have passed over some.
        broken_off |= types != read_types && !found.events.empty();
        const std::lock_guard ring_lock(ring_mutex);
        if (broken_off) ring.break_off();
        for (const ProjectEvent& event : found.events) {
            ring.append(event.project, event.type, event.data);
            appended[event.project] |= bit_of(event.type);
        }
    }
    if (appended.empty() && !broken_off) return;
    for (const auto& stream : live_streams())
        if (broken_off || stream->wants(appended)) stream->wake();
}

/// Asks about the owners of all streams when it is time, or when somebody wants it.
void ProjectHub::State::recheck() {
    {
        const std::lock_guard lock(mutex);
        if (!std::exchange(recheck_wanted, false) && clock.tick() < next_recheck) return;
    }
    next_recheck = {};    // a question that fails is asked again
    std::map<std::string, std::vector<std::shared_ptr<Stream>>> by_owner;
    for (auto& stream : live_streams())
        by_owner[stream->owner()].push_back(std::move(stream));
    std::vector<std::string> owners;
    for (const auto& [owner, of_owner] : by_owner)
        owners.push_back(owner);
    const auto good = owners.empty() ? std::map<std::string, std::vector<std::string>>{}
                                     : feed.projects_of(owners);
    for (const auto& [owner, of_owner] : by_owner) {
        const auto projects = good.find(owner);
        for (const auto& stream : of_owner)
            if (projects == good.end() || projects->second != stream->owner_projects())
                stream->cut();
    }
    next_recheck = clock.tick() + options.recheck;
}

/// Says whose jobs are followed when it is time, or when there is a new stream.
void ProjectHub::State::keep_watched() {
    {
        const std::lock_guard lock(mutex);
        const bool is_due = std::exchange(has_new_stream, false) || clock.tick() >= next_watch;
        if (!feed.watch || !is_due) return;
    }
    next_watch = {};    // what fails is said again
    std::set<std::string> projects;
    bool all = false;
    for (const auto& stream : live_streams()) {
        const RingFilter& filter = stream->filter();
        if ((filter.types & followed_types) == 0) continue;
        all = all || filter.projects.empty();
        projects.insert(filter.projects.begin(), filter.projects.end());
    }
    if (all) projects.clear();
    if (all || !projects.empty()) feed.watch({projects.begin(), projects.end()});
    next_watch = clock.tick() + store::watch_again;
}

ProjectHub::ProjectHub(ProjectFeed feed, ProjectHubOptions options, const Clock& clock)
    : state_(std::make_shared<State>(std::move(feed), std::move(options), clock)) {
    state_->thread = std::thread([state = state_.get()] { state->run(); });
}

ProjectHub::~ProjectHub() {
    stop();
}

std::shared_ptr<EventSource> ProjectHub::subscribe(Subscription subscription) {
    const std::string owner = subscription.owner;
    std::shared_ptr<Stream> stream;
    {
        const std::unique_lock lock = state_->lock_while_reading();
        const auto count = state_->per_owner.find(owner);
        if (count != state_->per_owner.end() && count->second >= state_->options.streams_per_owner)
            throw ProblemError(
                {.status = 429,
                 .code = "too_many_streams",
                 .detail = "this token has too many event streams open; close some"});
        state_->want(subscription.types);
        const std::int64_t place = state_->place_of(subscription);
        stream = std::make_shared<Stream>(state_, std::move(subscription), place);
        ++state_->per_owner[owner];
        state_->streams.emplace(stream.get(), stream);
        state_->has_new_stream = true;
    }
    state_->changed.notify_all();
    // As in Hub::subscribe: the client's hold is what counts for the owner's cap.
    return {stream.get(), [stream](EventSource*) { stream->close(); }};
}

void ProjectHub::hear(const std::string& topic) {
    {
        const std::lock_guard lock(state_->mutex);
        if (!state_->reading_since) return;
        if (topic == store::topics::tokens)
            state_->recheck_wanted = true;
        else if (topic == missed_topic)
            state_->topics.look_at_all = true;
        else if (is_id("job", topic))
            state_->topics.job_ids.insert(topic);
        else if (auto change = store::parse_object_change(topic))
            state_->topics.objects.push_back(*std::move(change));
        else
            return;
    }
    state_->changed.notify_all();
}

std::size_t ProjectHub::stream_count() const {
    const std::lock_guard lock(state_->mutex);
    return state_->streams.size();
}

void ProjectHub::recheck_owners() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->recheck_wanted = true;
    }
    state_->changed.notify_all();
}

void ProjectHub::stop() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
    }
    state_->changed.notify_all();
    if (state_->thread.joinable()) state_->thread.join();
}

}    // namespace slipway
