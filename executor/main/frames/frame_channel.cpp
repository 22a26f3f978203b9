// The log is the truth and the socket a shortcut: the channel keeps no queue, it remembers how
// far each connection has been sent and reads the rest from the file. So a slow or dead agent
// costs no memory, and one that comes back names the last frame it has stored and gets what
// follows. Who connects must show the attempt's fence in its first message; a newer connection
// with the right fence takes the place of the older one, since an agent that was replaced may
// not know it yet. One thread polls the sockets and a descriptor that wakes it. After it has sent
// frames it takes no notice of new ones for half the channel's age, at most 20 ms: later frames, of
// which the agent stores ten a second, wake nobody one by one. Nor do the first ones: a run that
// finds its programs says eight times what it is about to do before its first step, which is sent
// at once, and each wake-up here is one of the agent's, too.
#include "executor/main/frames/frame_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/base/check.h"
#include "api/base/posix.h"
#include "api/protocol/agent_messages.h"

namespace slipway {

namespace {

constexpr std::size_t pending_max = 8;           // connections that have not said hello
constexpr std::size_t line_bytes_max = 65536;    // of what an agent says
constexpr std::size_t send_bytes = 256 << 10;    // read ahead from the log
constexpr std::size_t frame_bytes_max = 1 << 20;
constexpr std::chrono::milliseconds rest_max{20};    // between two times that frames are sent
constexpr std::chrono::milliseconds young_max{50};
constexpr std::chrono::milliseconds look_every{5};    // for frames that wake nobody, while young

struct Connection {
    UniqueFd fd;
    std::string received;    // not yet a whole line
    std::string to_send;
    std::int64_t log_offset = 0;    // what is before it in the log has been sent or is in to_send
    std::int64_t after = 0;         // frames up to this number are known to the agent
    bool authenticated = false;
    bool closed = false;
};

void read_available(Connection& connection) {
    std::array<char, 16384> chunk{};
    while (true) {
        const ssize_t got = recv(connection.fd.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
        if (got > 0) {
            connection.received.append(chunk.data(), std::size_t(got));
            if (connection.received.size() > line_bytes_max) break;
            continue;
        }
        if (got < 0 && errno == EINTR) continue;
        if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) connection.closed = true;
        return;
    }
}

std::optional<std::string> take_line(std::string& received) {
    const std::size_t end = received.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = received.substr(0, end);
    received.erase(0, end + 1);
    return line;
}

}    // namespace

struct FrameChannel::Parts {
    Parts(const FrameLog& log_, FrameChannelOptions options_, const Clock& clock_)
        : log(log_),
          options(std::move(options_)),
          clock(clock_),
          listener((options.listener != nullptr ? *options.listener : own_listener)
                       .listen_in(options.run_folder)),
          waker(make_event()),
          began(clock.tick()),
          last_request(clock.tick().time_since_epoch().count()) {}

    const FrameLog& log;
    const FrameChannelOptions options;
    const Clock& clock;
    FrameListener own_listener;
    const int listener;
    const UniqueFd waker;
    const Tick began;
    std::atomic<bool> stopping{false};
    std::atomic<bool> hurried{false};    // a frame was sent at once
    std::atomic<bool> rests{false};      // and looks for new frames soon: nobody need wake it
    std::atomic<Tick::rep> last_request;
    std::atomic<std::int64_t> saves_requested{0};

    mutable std::mutex mutex;
    std::condition_variable delivered_changed;
    std::optional<std::string> stop_reason;    // guarded by mutex
    std::int64_t delivered_bytes = -1;         // guarded by mutex; -1: nobody is connected

    // The thread's own.
    std::vector<Connection> pending;
    std::optional<Connection> agent;
    std::vector<pollfd> polled;
    Tick next_heartbeat{};
    Tick rests_until{};
    bool abandoned = false;

    std::thread thread;

    void notify() const {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t wrote = write(waker.get(), &one, sizeof(one));
    }

    void serve() {
        next_heartbeat = clock.tick();
        while (!stopping) {
            wait();
            accept_pending();
            for (Connection& connection : pending)
                read_requests(connection);
            authenticate();
            if (agent) read_requests(*agent);
            write_frames();
            end_when_abandoned();
        }
    }

    std::chrono::milliseconds silence() const {
        const Tick heard{Tick::duration{last_request.load()}};
        return std::chrono::duration_cast<std::chrono::milliseconds>(clock.tick() - heard);
    }

    void end_when_abandoned() {
        if (abandoned || options.abandoned_after.count() == 0) return;
        if (silence() < options.abandoned_after) return;
        abandoned = true;
        options.on_abandoned();
    }

    void wait() {
        polled = {{listener, POLLIN, 0}, {waker.get(), POLLIN, 0}};
        for (const Connection& connection : pending)
            polled.push_back({connection.fd.get(), POLLIN, 0});
        if (agent) {
            const bool full = !agent->to_send.empty();
            polled.push_back({agent->fd.get(), short(POLLIN | (full ? POLLOUT : 0)), 0});
        }
        Tick until = rests ? std::min(rests_until, next_heartbeat) : next_heartbeat;
        const Tick now = clock.tick();
        if (agent && !hurried && now < began + young_max) until = std::min(until, now + look_every);
        const auto rest = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
        const auto heartbeat_ms = options.heartbeat_every.count();
        poll(polled.data(), polled.size(), int(std::clamp<std::int64_t>(rest, 0, heartbeat_ms)));
        std::uint64_t count = 0;
        if (is_ready(waker.get())) [[maybe_unused]]
            const ssize_t got = read(waker.get(), &count, sizeof(count));
        // Before the log is looked at: who writes to it after that look wakes us.
        if (rests && clock.tick() >= rests_until) rests = false;
    }

    /// It looks for new frames, and goes on to for a while.
    bool looks_itself() const { return !hurried && clock.tick() < began + young_max - look_every; }

    bool is_ready(int fd) const {
        return std::ranges::any_of(
            polled, [fd](const pollfd& one) { return one.fd == fd && one.revents != 0; });
    }

    /// A start is not kept waiting.
    void rest_a_while() {
        const Tick now = clock.tick();
        rests_until = now + std::min<Tick::duration>((now - began) / 2, rest_max);
        rests = true;
    }

    void accept_pending() {
        while (is_ready(listener)) {
            UniqueFd accepted(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (!accepted) return;
            // The oldest silent one makes room: it had its time to say hello.
            if (pending.size() == pending_max) pending.erase(pending.begin());
            polled.push_back({accepted.get(), POLLIN, POLLIN});    // it may have said hello already
            pending.push_back({.fd = std::move(accepted), .received = {}, .to_send = {}});
        }
    }

    void read_requests(Connection& from) {
        if (!is_ready(from.fd.get())) return;
        read_available(from);
        while (!from.closed) {
            const auto line = take_line(from.received);
            if (!line) break;
            handle_request(from, read_agent_message(*line));
        }
        if (from.received.size() > line_bytes_max) from.closed = true;
    }

    void handle_request(Connection& from, const std::optional<AgentMessage>& message) {
        if (!message) {
            from.closed = true;
            return;
        }
        if (!from.authenticated) {
            from.authenticated = message->type == "hello" && message->fence == options.fence;
            from.closed = !from.authenticated;
            from.after = message->after;
            if (from.closed) return;
        }
        last_request = clock.tick().time_since_epoch().count();
        if (message->type == "save")
            saves_requested = std::max(saves_requested.load(), message->number);
        if (message->type == "stop") {
            const std::scoped_lock lock(mutex);
            if (!stop_reason) stop_reason = message->reason;
        }
    }

    void authenticate() {
        for (Connection& connection : pending) {
            if (connection.authenticated && !connection.closed) agent = std::move(connection);
        }
        std::erase_if(pending, [](const Connection& connection) {
            return !connection.fd || connection.closed || connection.authenticated;
        });
    }

    void write_frames() {
        const bool heartbeat_due = clock.tick() >= next_heartbeat;
        if (heartbeat_due) next_heartbeat = clock.tick() + options.heartbeat_every;
        if (agent && !agent->closed) {
            const std::int64_t known = agent->log_offset;
            read_ahead(*agent);
            if (agent->log_offset > known) rest_a_while();
            if (heartbeat_due && agent->to_send.size() < send_bytes)
                agent->to_send += heartbeat_line;
            if (!send_available(agent->fd, agent->to_send)) agent->closed = true;
        }
        if (agent && agent->closed) agent.reset();
        const std::scoped_lock lock(mutex);
        delivered_bytes = agent ? (agent->to_send.empty() ? agent->log_offset : 0) : -1;
        delivered_changed.notify_all();
    }

    void read_ahead(Connection& to) const {
        while (to.to_send.size() < send_bytes && to.log_offset < log.bytes()) {
            // No longer than what is there: a text of a MiB costs more than a frame.
            const auto there = std::size_t(log.bytes() - to.log_offset);
            const std::string lines =
                log.read_lines(to.log_offset, std::min(there, frame_bytes_max));
            if (lines.empty()) return;    // the disk does not read: the agent has the file as well
            to.log_offset += std::int64_t(lines.size());
            std::string_view rest = lines;
            while (!rest.empty()) {
                const std::string_view line = rest.substr(0, rest.find('\n') + 1);
                if (frame_number(line).value_or(0) > to.after) to.to_send += line;
                rest.remove_prefix(line.size());
            }
        }
    }
};

FrameChannel::FrameChannel(const FrameLog& log, FrameChannelOptions options, const Clock& clock)
    : parts_(std::make_unique<Parts>(log, std::move(options), clock)) {
    parts_->thread = std::thread([this] { parts_->serve(); });
}

FrameChannel::~FrameChannel() {
    parts_->stopping = true;
    parts_->notify();
    parts_->thread.join();
}

void FrameChannel::wake(Urgency urgency) {
    if (urgency == Urgency::now) {
        parts_->hurried = true;
        parts_->notify();
    } else if (!parts_->rests && !(urgency == Urgency::with_others && parts_->looks_itself())) {
        parts_->notify();
    }
}

std::optional<std::string> FrameChannel::stop_reason() const {
    const std::scoped_lock lock(parts_->mutex);
    return parts_->stop_reason;
}

std::int64_t FrameChannel::saves_requested() const {
    return parts_->saves_requested;
}

std::chrono::milliseconds FrameChannel::agent_silence() const {
    return parts_->silence();
}

bool FrameChannel::flush(std::chrono::milliseconds limit) {
    const std::int64_t wanted = parts_->log.bytes();
    parts_->notify();
    std::unique_lock lock(parts_->mutex);
    parts_->delivered_changed.wait_for(lock, limit, [&] {
        return parts_->delivered_bytes >= wanted || parts_->delivered_bytes == -1;
    });
    return parts_->delivered_bytes >= wanted;
}

}    // namespace slipway
