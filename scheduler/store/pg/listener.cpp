#include "scheduler/store/pg/listener.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "api/base/posix.h"
#include "scheduler/store/pg/connection.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds listen_pause_max{1000};

milliseconds time_left(Tick deadline) {
    const auto left = deadline - system_clock().tick();
    return std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(left));
}

std::vector<std::string> each_once(std::vector<std::string> topics) {
    std::ranges::sort(topics);
    const auto repeated = std::ranges::unique(topics);
    topics.erase(repeated.begin(), repeated.end());
    return topics;
}

}    // namespace

struct Listener::State {
    explicit State(const StoreOptions& options_) : options(options_) {
        options.application_name += " listener";
    }

    /// True when wake() was called since the last time this was asked.
    bool take_wake() const {
        std::uint64_t count = 0;
        return ::read(wake_event.get(), &count, sizeof count) == ssize_t(sizeof count);
    }

    bool connect() {
        try {
            connection = std::make_unique<Connection>(options);
            connection->run(queries::listen);
            pause = milliseconds{50};
            return true;
        } catch (const Error&) {
            // The database is down: whoever waits polls, and we try again.
            connection.reset();
            return false;
        }
    }

    std::vector<std::string> heard() {
        try {
            return connection->notifications();
        } catch (const Error&) {
            // The database went away: the next connection tells that something was missed.
            connection.reset();
            return {};
        }
    }

    void pause_before_retry(Tick deadline) {
        pollfd entry{wake_event.get(), POLLIN, 0};
        poll(&entry, 1, int(std::min(pause, time_left(deadline)).count()));
        pause = std::min(pause * 2, listen_pause_max);
    }

    StoreOptions options;
    std::unique_ptr<Connection> connection;
    milliseconds pause{50};
    UniqueFd wake_event = make_event();
};

Listener::Listener(const StoreOptions& options) : state_(std::make_unique<State>(options)) {}
Listener::~Listener() = default;

std::vector<std::string> Listener::wait(milliseconds timeout) {
    const Tick deadline = system_clock().tick() + timeout;
    while (true) {
        if (!state_->connection && state_->connect()) return {std::string(missed)};
        if (state_->connection) {
            std::vector<std::string> topics = each_once(state_->heard());
            if (!topics.empty()) return topics;
        }
        if (state_->take_wake() || time_left(deadline) == milliseconds{0}) return {};
        if (state_->connection) {
            state_->connection->wait_readable(time_left(deadline), state_->wake_event.get());
        } else {
            state_->pause_before_retry(deadline);
        }
    }
}

void Listener::wake() {
    const std::uint64_t one = 1;
    // Cannot fail but by overflow, and then the wait ends anyway.
    while (::write(state_->wake_event.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
}

}    // namespace slipway::store
