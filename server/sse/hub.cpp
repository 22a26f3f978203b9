// One thread hears which jobs changed (NOTIFY, or a poll), one reads events and hands them to all
// streams: a thousand streams cost two threads and one query per pass, not a connection to the
// database each. A stream is a cursor and a bounded buffer. When the buffer is full, the stream is
// left out until its client has taken what is there; it is then read for again from its cursor, so
// a slow client holds up nobody and no event is held in memory for it.
//
// What the functions keep: a stream is offered events in order of seq, and leaves out those up to
// its cursor; the cursor moves only with what was put into the buffer (or was not asked for, or is
// covered by a gap frame); so nothing is lost or repeated whatever wakes the reader. A notice that
// is lost costs at most one poll. Streams of one job at different places take turns, one place for
// each pass. Owners are checked before events are handed out: who lost the right reads nothing
// more. Locks: the hub's mutex is never held while a stream's is taken or the store is asked.

#include "server/sse/hub.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <thread>

#include "api/base/log.h"
#include "scheduler/store/watched.h"
#include "server/http/byte_budget.h"
#include "server/http/problem.h"
#include "server/sse/event_text.h"

namespace slipway {

struct Hub::State {
    State(EventFeed feed_, HubOptions options_, const Clock& clock_)
        : feed(std::move(feed_)),
          options(options_),
          clock(clock_),
          shared_budget(options.shared_bytes, [](double) {}) {}

    // constant after construction
    const EventFeed feed;
    const HubOptions options;
    const Clock& clock;

    ByteBudget shared_budget;    // safe from every thread
    std::mutex mutex;
    std::condition_variable changed;
    // guarded by mutex
    std::map<std::string, std::map<Stream*, std::weak_ptr<Stream>>> streams;    // by job
    std::map<std::string, std::size_t> per_owner;
    std::set<std::string> dirty;    // jobs that may have something for a stream
    bool stopping = false;
    bool recheck_wanted = false;
    bool has_new_stream = false;
    // reader thread only
    Tick next_recheck{};
    Tick next_watch{};
    std::size_t turn = 0;
    bool failing = false;

    std::thread listener;
    std::thread reader;

    void listen();
    void read();
    void mark(const std::string& job_id);
    void mark_all();
    void want_recheck();
    void remove(Stream* stream, const std::string& job_id, const std::string& owner);
    std::vector<std::shared_ptr<Stream>> wait_for_work(Tick& next_poll);
    void feed_streams(const std::vector<std::shared_ptr<Stream>>& streams);
    void recheck();
    void keep_watched();
};

/// One client's stream: how far it was read for, and what it has not taken yet.
class Hub::Stream final : public EventSource {
public:
    Stream(std::shared_ptr<State> hub, Subscription subscription)
        : hub_(std::move(hub)),
          subscription_(std::move(subscription)),
          after_(subscription_.after_seq) {}
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    void start(std::function<void()> wake) override {
        const std::lock_guard lock(mutex_);
        wake_ = std::move(wake);
    }

    bool take(std::string& bytes) override {
        bool was_full = false;
        bool goes_on = true;
        {
            const std::lock_guard lock(mutex_);
            hub_->shared_budget.give(std::exchange(shared_taken_, shared_));    // it was sent
            shared_ = 0;
            bytes += std::exchange(buffer_, {});    // an idle stream holds no memory
            was_full = full_;
            full_ = false;
            goes_on = !ended_;
        }
        if (was_full && goes_on) hub_->mark(subscription_.job_id);
        return goes_on;
    }

    std::string_view heartbeat() const override { return stream_heartbeat; }

    void close() override {
        {
            const std::lock_guard lock(mutex_);
            if (closed_) return;
            closed_ = true;
            wake_ = {};
            hub_->shared_budget.give(std::exchange(shared_, 0) + std::exchange(shared_taken_, 0));
        }
        hub_->remove(this, subscription_.job_id, subscription_.owner);
    }

    const std::string& job_id() const { return subscription_.job_id; }

    /// Where to read on; none when it wants nothing now.
    std::optional<std::int64_t> cursor() {
        const std::lock_guard lock(mutex_);
        if (closed_ || ended_ || full_ || hub_->clock.tick() < again_at_) return std::nullopt;
        return after_;
    }

    /// Its owner may not read any more: nothing that waits is sent.
    void cut() {
        const std::lock_guard lock(mutex_);
        std::string().swap(buffer_);
        hub_->shared_budget.give(std::exchange(shared_, 0));
        ended_ = true;
        if (wake_) wake_();
    }

    /// What its owner needs for it.
    store::Right right() const {
        return {.token_id = subscription_.owner, .project = subscription_.project};
    }

    /// Hands over events of its job, in order; those it has had are left out. Stops when the buffer
    /// is full.
    void offer(std::span<const store::Event> events) {
        // Waking under the lock: close() promises that no call comes after it.
        const std::lock_guard lock(mutex_);
        const std::size_t before = buffer_.size();
        for (const store::Event& event : events)
            if (event.seq > after_ && !append(event)) break;
        if (wake_ && (buffer_.size() > before || ended_)) wake_();
    }

private:
    /// What the client gets of an event.
    std::string frames_of(const store::Event& event) const {
        std::string frames;
        if (event.seq > after_ + 1) frames = gap_frame(after_ + 1, event.seq - 1);
        const auto& types = subscription_.types;
        if (event.type == "end" || types.empty() ||
            std::find(types.begin(), types.end(), event.type) != types.end())
            frames += event_frame(event.seq, event.type, event.body);
        return frames;
    }

    /// False when the buffer may not grow by so much now.
    bool reserve(std::size_t bytes) {
        if (bytes == 0) return true;
        if (buffer_.size() >= hub_->options.buffer_bytes) return false;
        const std::size_t size = buffer_.size() + bytes;
        const std::size_t own = hub_->options.own_bytes + shared_;
        if (size <= own) return true;
        if (!hub_->shared_budget.take(size - own)) return false;
        shared_ += size - own;
        return true;
    }

    /// False: no room, or nothing follows.
    bool append(const store::Event& event) {
        if (closed_ || ended_) return false;
        const std::string frames = frames_of(event);
        if (!reserve(frames.size())) {
            // Of an empty buffer nothing is taken that would ask for more: wait for a later poll.
            full_ = !buffer_.empty();
            if (!full_) again_at_ = hub_->clock.tick() + hub_->options.poll / 2;
            return false;
        }
        buffer_ += frames;
        after_ = event.seq;
        const bool ends = event.type == "end" && event.seq > subscription_.known_seq;
        ended_ = ends || (subscription_.last_seq && event.seq >= *subscription_.last_seq);
        return !ended_;
    }

    const std::shared_ptr<State> hub_;    // shared: see Hub
    const Subscription subscription_;
    std::mutex mutex_;
    // guarded by mutex_
    std::function<void()> wake_;
    std::string buffer_{stream_preamble};
    std::size_t shared_ = 0;          // of the buffer, taken from the hub's shared budget
    std::size_t shared_taken_ = 0;    // of what the last take() gave
    std::int64_t after_;
    Tick again_at_{};
    bool full_ = false;    // there was more than the buffer takes
    bool ended_ = false;
    bool closed_ = false;
};

void Hub::State::mark(const std::string& job_id) {
    {
        const std::lock_guard lock(mutex);
        if (!streams.contains(job_id)) return;
        dirty.insert(job_id);
    }
    changed.notify_all();
}

void Hub::State::mark_all() {
    {
        const std::lock_guard lock(mutex);
        for (const auto& [job_id, of_job] : streams)
            dirty.insert(job_id);
    }
    changed.notify_all();
}

void Hub::State::want_recheck() {
    {
        const std::lock_guard lock(mutex);
        recheck_wanted = true;
    }
    changed.notify_all();
}

void Hub::State::remove(Stream* stream, const std::string& job_id, const std::string& owner) {
    const std::lock_guard lock(mutex);
    const auto of_job = streams.find(job_id);
    if (of_job == streams.end() || of_job->second.erase(stream) == 0) return;
    if (of_job->second.empty()) streams.erase(of_job);
    if (const auto count = per_owner.find(owner); --count->second == 0) per_owner.erase(count);
}

void Hub::State::listen() {
    for (;;) {
        {
            const std::lock_guard lock(mutex);
            if (stopping) return;
        }
        try {
            for (const std::string& topic : feed.wait(options.poll)) {
                if (topic == store::topics::tokens)
                    want_recheck();
                else
                    topic == "*" ? mark_all() : mark(topic);
            }
        } catch (const std::exception& error) {
            log_warn("cannot listen for events, polling", {{"error", error.what()}});
            std::unique_lock lock(mutex);
            changed.wait_for(lock, options.poll, [this] { return stopping; });
        }
    }
}

/// Waits for dirty jobs or the poll, and gives the streams of those jobs.
std::vector<std::shared_ptr<Hub::Stream>> Hub::State::wait_for_work(Tick& next_poll) {
    std::unique_lock lock(mutex);
    changed.wait_until(lock, next_poll,
                       [this] { return stopping || recheck_wanted || !dirty.empty(); });
    if (clock.tick() >= next_poll) {
        next_poll = clock.tick() + options.poll;
        for (const auto& [job_id, of_job] : streams)
            dirty.insert(job_id);
    }
    std::vector<std::shared_ptr<Stream>> found;
    for (const std::string& job_id : std::exchange(dirty, {}))
        if (const auto of_job = streams.find(job_id); of_job != streams.end())
            for (const auto& [key, weak] : of_job->second)
                if (auto stream = weak.lock()) found.push_back(std::move(stream));
    return found;
}

void Hub::State::read() {
    Tick next_poll = clock.tick() + options.poll;
    for (;;) {
        const auto found = wait_for_work(next_poll);
        {
            const std::lock_guard lock(mutex);
            if (stopping) return;
        }
        try {
            recheck();    // first: who lost the right reads nothing more
            feed_streams(found);
            keep_watched();
            failing = false;
        } catch (const std::exception& error) {
            // Nothing is lost: every stream keeps its cursor until the next poll.
            if (!failing) log_warn("cannot read events for streams", {{"error", error.what()}});
            failing = true;
        }
    }
}

/// Asks about the rights of all streams when it is time, or when somebody wants it.
void Hub::State::recheck() {
    std::map<store::Right, std::vector<std::shared_ptr<Stream>>> by_right;
    {
        const std::lock_guard lock(mutex);
        if (!std::exchange(recheck_wanted, false) && clock.tick() < next_recheck) return;
        next_recheck = {};    // a question that fails is asked again
        for (const auto& [job_id, of_job] : streams)
            for (const auto& [key, weak] : of_job)
                if (auto stream = weak.lock()) by_right[stream->right()].push_back(stream);
    }
    std::vector<store::Right> rights;
    for (const auto& [right, of_right] : by_right)
        rights.push_back(right);
    const auto lost =
        feed.lost && !rights.empty() ? feed.lost(rights) : std::vector<store::Right>{};
    for (const store::Right& right : lost)
        for (const auto& stream : by_right[right])
            stream->cut();
    next_recheck = clock.tick() + options.recheck;
}

/// Says which jobs have streams when it is time, or when there is a new one.
void Hub::State::keep_watched() {
    std::vector<std::string> job_ids;
    {
        const std::lock_guard lock(mutex);
        const bool is_due = std::exchange(has_new_stream, false) || clock.tick() >= next_watch;
        if (!feed.watch || !is_due) return;
        next_watch = {};    // what fails is said again
        for (const auto& [job_id, of_job] : streams)
            job_ids.push_back(job_id);
    }
    if (!job_ids.empty()) feed.watch(job_ids);
    next_watch = clock.tick() + store::watch_again;
}

/// One read for all these streams. Where streams of one job are at different places, this turn is
/// for one of the places, and the job stays dirty for the others.
void Hub::State::feed_streams(const std::vector<std::shared_ptr<Stream>>& found) {
    std::map<std::string, std::map<std::int64_t, std::vector<Stream*>>> places;
    for (const auto& stream : found)
        if (const auto cursor = stream->cursor())
            places[stream->job_id()][*cursor].push_back(stream.get());
    if (places.empty()) return;
    ++turn;
    std::vector<store::EventCursor> cursors;
    for (const auto& [job_id, of_job] : places)
        cursors.push_back(
            {job_id,
             std::next(of_job.begin(), static_cast<std::ptrdiff_t>(turn % of_job.size()))->first});
    const std::vector<store::Event> events = feed.read(cursors, options.page_events);

    std::span<const store::Event> rest(events);
    for (const store::EventCursor& cursor : cursors) {
        const auto end = std::find_if(rest.begin(), rest.end(), [&](const store::Event& event) {
            return event.job_id != cursor.job_id;
        });
        const auto page = rest.first(static_cast<std::size_t>(end - rest.begin()));
        rest = rest.subspan(page.size());
        auto& of_job = places[cursor.job_id];
        const std::int64_t last = page.empty() ? cursor.after_seq : page.back().seq;
        // A stream that is further on within the page is served by the same read.
        for (auto place = of_job.find(cursor.after_seq);
             place != of_job.end() && (place->first < last || place->first == cursor.after_seq);
             ++place)
            for (Stream* stream : place->second)
                stream->offer(page);
        if (store::may_go_on(page, options.page_events) || of_job.size() > 1) mark(cursor.job_id);
    }
}

Hub::Hub(EventFeed feed, HubOptions options, const Clock& clock)
    : state_(std::make_shared<State>(std::move(feed), options, clock)) {
    state_->listener = std::thread([state = state_.get()] { state->listen(); });
    state_->reader = std::thread([state = state_.get()] { state->read(); });
}

Hub::~Hub() {
    stop();
}

std::shared_ptr<EventSource> Hub::subscribe(Subscription subscription) {
    const std::string job_id = subscription.job_id;
    const std::string owner = subscription.owner;
    const auto stream = std::make_shared<Stream>(state_, std::move(subscription));
    {
        const std::lock_guard lock(state_->mutex);
        std::size_t& count = state_->per_owner[owner];
        if (count >= state_->options.streams_per_owner)
            throw ProblemError(
                {.status = 429,
                 .code = "too_many_streams",
                 .detail = "this token has too many event streams open; close some"});
        ++count;
        state_->streams[job_id].emplace(stream.get(), stream);
        state_->dirty.insert(job_id);
        state_->has_new_stream = true;
    }
    state_->changed.notify_all();
    // The reader may still hold the stream when the client has dropped it: the client's hold is
    // what counts for the owner's cap.
    return {stream.get(), [stream](EventSource*) { stream->close(); }};
}

std::optional<store::EventHead> Hub::head(const std::string& job_id) const {
    return state_->feed.head(job_id);
}

std::size_t Hub::stream_count() const {
    const std::lock_guard lock(state_->mutex);
    std::size_t count = 0;
    for (const auto& [job_id, of_job] : state_->streams)
        count += of_job.size();
    return count;
}

void Hub::recheck_owners() {
    state_->want_recheck();
}

void Hub::stop() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
    }
    state_->changed.notify_all();
    state_->feed.wake();
    if (state_->listener.joinable()) state_->listener.join();
    if (state_->reader.joinable()) state_->reader.join();
}

}    // namespace slipway
