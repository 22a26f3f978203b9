// A loop that never gives up: read where the service listens, connect, prove the key, connect to
// the program beside us, carry words until one of the two is gone, wait a little, again. The
// program's executor.sock takes one agent after the other and asks each for the last frame it
// knows, so a connection that breaks anywhere loses nothing. The waits grow from pause_min to
// pause_max, with some chance in them: many nodes look for a service that comes back.
#include "scheduler/launcher/node_link/node_relay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "api/base/error.h"
#include "api/base/executor_socket.h"
#include "api/base/id.h"
#include "api/base/posix.h"
#include "scheduler/launcher/node_link/announcement.h"
#include "scheduler/launcher/node_link/link_pump.h"
#include "scheduler/launcher/node_link/tcp.h"

namespace slipway {

namespace {

constexpr std::chrono::milliseconds program_pause{20};    // until it listens

/// At least half of the pause.
std::chrono::milliseconds by_chance(std::chrono::milliseconds pause) {
    std::uint8_t byte = 0;
    random_bytes({&byte, 1});
    return pause / 2 + pause * byte / (2 * UINT8_MAX);
}

bool has_frame(std::string_view text) {
    return text.find("{\"n\":") != std::string_view::npos;
}

void block_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}    // namespace

struct NodeRelay::Parts {
    Parts(NodeRelayOptions options_, std::function<void(const std::string&)> say_,
          const Clock& clock_)
        : options(std::move(options_)), say(std::move(say_)), clock(clock_), waker(make_event()) {}

    const NodeRelayOptions options;
    const std::function<void(const std::string&)> say;
    const Clock& clock;
    const UniqueFd waker;
    std::atomic<bool> ending{false};

    // The thread's own.
    UniqueFd frames;
    bool silent = false;    // a person was told that the service is not reached
    std::chrono::milliseconds pause{};

    std::thread thread;

    void work() {
        block_signals();
        pause = options.pause_min;
        while (!ending) {
            try {
                carry_once();
            } catch (const Error& error) {
                complain(error.what());
            }
            wait({}, by_chance(pause));
            pause = std::min(pause * 2, options.pause_max);
        }
    }

    void carry_once() {
        const auto found = read_announcement(options.announcement);
        if (!found) return complain(fmt::format("{} is absent", options.announcement.string()));
        auto channel = reach(*found);
        if (!channel) return;
        auto program = connect_program(*channel);
        if (!program) return;
        pause = options.pause_min;
        if (std::exchange(silent, false)) say("connected to slipwayd again");
        LinkPump pump(*std::move(channel), *std::move(program),
                      [this](std::string_view text) { keep_frames(text); });
        carry(pump);
    }

    /// None: the service is not there, is another one, or knows us by another key.
    std::optional<SecretChannel> reach(const Announcement& service) {
        const auto refuse = [&](const std::string& why) {
            complain(fmt::format("cannot reach slipwayd at {} port {}: {}", service.address,
                                 service.port, why));
            return std::nullopt;
        };
        auto socket = begin_connect(service.address, service.port);
        if (!socket) return refuse("there is no way there");
        const Tick until = clock.tick() + options.handshake_max;
        if (!wait_for(socket->get(), POLLOUT, until)) return refuse("no answer");
        if (const int problem = connect_problem(*socket)) return refuse(std::strerror(problem));
        prepare_link(*socket);
        SecretChannel channel = SecretChannel::connect(*std::move(socket), options.key);
        while (true) {
            const LinkStep step = channel.handshake();
            if (step == LinkStep::done) return channel;
            if (step == LinkStep::ended)
                return refuse("it does not prove that it knows this program");
            const short event = step == LinkStep::wants_write ? POLLOUT : POLLIN;
            if (!wait_for(channel.fd(), event, until)) return refuse("no answer");
        }
    }

    /// None: the service has gone meanwhile, or the program has ended.
    std::optional<UniqueFd> connect_program(const SecretChannel& channel) {
        while (!ending) {
            if (auto program = connect_unix(options.folder, executor_socket_name)) return program;
            // What the service says stays where it is: only its end is of interest.
            if (wait({{channel.fd(), POLLRDHUP, 0}}, program_pause)) return std::nullopt;
        }
        return std::nullopt;
    }

    void carry(LinkPump& pump) {
        std::optional<Tick> until;    // once the program has ended
        while (pump.work()) {
            if (ending && !until) until = clock.tick() + options.last_words_max;
            if (until && clock.tick() >= *until) return;
            std::vector<pollfd> polled;
            pump.add_polled(polled);
            // The first one wakes us for the end alone, which needs no second word.
            const auto rest =
                until ? std::chrono::ceil<std::chrono::milliseconds>(*until - clock.tick())
                      : std::chrono::milliseconds(1000);
            if (!until) polled.push_back({waker.get(), POLLIN, 0});
            poll(polled.data(), polled.size(), int(std::max<std::int64_t>(rest.count(), 0)));
        }
    }

    /// On a disk that is another machine's, what is written here is not there at once.
    void keep_frames(std::string_view text) {
        if (!has_frame(text)) return;
        if (!frames)
            frames = UniqueFd(open((options.folder / "frames.ndjson").c_str(),
                                   O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        if (frames) fdatasync(frames.get());    // what fails here comes with the next frame
    }

    void complain(const std::string& why) {
        if (!std::exchange(silent, true)) say(why);
    }

    /// Until this time, or until the program has ended. True: the event has come.
    bool wait_for(int file, short event, Tick until) const {
        while (!ending) {
            const Tick now = clock.tick();
            if (now >= until) return false;
            if (wait({{file, event, 0}}, std::chrono::ceil<std::chrono::milliseconds>(until - now)))
                return true;
        }
        return false;
    }

    /// True: one of these has an event.
    bool wait(std::vector<pollfd> polled, std::chrono::milliseconds limit) const {
        polled.push_back({waker.get(), POLLIN, 0});
        poll(polled.data(), polled.size(), int(std::max<std::int64_t>(limit.count(), 0)));
        polled.pop_back();
        return std::ranges::any_of(polled, [](const pollfd& one) { return one.revents != 0; });
    }
};

NodeRelay::NodeRelay(NodeRelayOptions options, std::function<void(const std::string&)> say,
                     const Clock& clock)
    : parts_(std::make_unique<Parts>(std::move(options), std::move(say), clock)) {
    parts_->thread = std::thread([this] { parts_->work(); });
}

NodeRelay::~NodeRelay() {
    parts_->ending = true;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t wrote = write(parts_->waker.get(), &one, sizeof one);
    parts_->thread.join();
}

}    // namespace slipway
