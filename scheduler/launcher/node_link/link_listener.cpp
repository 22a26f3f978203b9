// One thread polls the listening socket, the connections that have proved nothing yet and those
// that carry words. Who is expected stands in a table under a mutex, together with the socket of a
// new connection until somebody takes it. A pending one costs a descriptor and some kilobytes for
// at the most handshake_max; how many were refused is said from time to time, and a wrong key for a
// program that is expected by the program's name.
#include "scheduler/launcher/node_link/link_listener.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "api/base/error.h"
#include "api/base/log.h"
#include "scheduler/launcher/node_link/link_pump.h"
#include "scheduler/launcher/node_link/tcp.h"

namespace slipway {

namespace {

constexpr std::chrono::milliseconds accept_again{100};    // after there was no descriptor left
constexpr int wait_max_ms = 1000;
constexpr int accepted_at_once = 64;

/// Who may come.
struct Expected {
    LinkKey key;
    std::string name;
    UniqueFd ready;    // its newest connection, until it is taken
};

/// A connection that has proved nothing yet.
struct PendingConnection {
    SecretChannel channel;
    std::string peer;
    Tick until{};
    LinkStep step = LinkStep::wants_read;
};

struct Carried {
    std::string identity;
    LinkPump pump;
};

/// Two ends of a socket of this process.
std::pair<UniqueFd, UniqueFd> make_pair_of_sockets() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return {};
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void block_broken_pipes() {
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, nullptr);
}

}    // namespace

struct LinkListener::Parts {
    Parts(LinkListenerOptions options_, const Clock& clock_)
        : options(std::move(options_)),
          clock(clock_),
          listener(listen_tcp(options.address, options.port)),
          waker(make_event()) {}

    const LinkListenerOptions options;
    const Clock& clock;
    const UniqueFd listener;
    const UniqueFd waker;
    std::atomic<bool> stopping{false};

    std::mutex mutex;
    std::map<std::string, Expected, std::less<>> expected;    // guarded by mutex, by identity

    // The thread's own.
    std::deque<PendingConnection> pending;    // the oldest first
    std::vector<Carried> carried;
    Tick accept_from{};
    Tick tell_from{};
    std::int64_t refused = 0;    // since it was told
    std::string refused_peer;    // the last of them
    Tick tell_wrong_key_from{};
    std::int64_t wrong_keys = 0;    // likewise

    std::thread thread;

    void notify() const {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t wrote = write(waker.get(), &one, sizeof one);
    }

    void work() {
        block_broken_pipes();
        while (!stopping) {
            wait();
            drop_forgotten();
            std::erase_if(carried, [](Carried& one) { return !one.pump.work(); });
            accept_connections();
            continue_handshakes();
            tell_refused();
        }
    }

    void wait() const {
        const Tick now = clock.tick();
        Tick until = now + std::chrono::milliseconds(wait_max_ms);
        std::vector<pollfd> polled{{waker.get(), POLLIN, 0}};
        if (now >= accept_from)
            polled.push_back({listener.get(), POLLIN, 0});
        else
            until = std::min(until, accept_from);
        for (const PendingConnection& connection : pending) {
            const bool writes = connection.step == LinkStep::wants_write;
            polled.push_back({connection.channel.fd(), short(writes ? POLLOUT : POLLIN), 0});
            until = std::min(until, connection.until);
        }
        for (const Carried& one : carried)
            one.pump.add_polled(polled);
        const auto rest = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
        poll(polled.data(), polled.size(), int(std::max<std::int64_t>(rest, 0)));
        std::uint64_t notified = 0;
        [[maybe_unused]] const ssize_t got = read(waker.get(), &notified, sizeof notified);
    }

    void drop_forgotten() {
        const std::scoped_lock lock(mutex);
        std::erase_if(carried,
                      [&](const Carried& one) { return !expected.contains(one.identity); });
    }

    void accept_connections() {
        if (clock.tick() < accept_from) return;
        for (int count = 0; count < accepted_at_once; ++count) {
            UniqueFd socket(
                accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (!socket) {
                if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                    accept_from = clock.tick() + accept_again;
                return;
            }
            if (pending.size() >= options.pending_max) refuse_oldest();
            prepare_link(socket);
            add_pending(std::move(socket));
        }
    }

    void add_pending(UniqueFd socket) {
        std::string peer = peer_of(socket);
        try {
            pending.push_back({.channel = SecretChannel::accept(std::move(socket),
                                                                [this](std::string_view identity) {
                                                                    return find_key(identity);
                                                                }),
                               .peer = std::move(peer),
                               .until = clock.tick() + options.handshake_max});
        } catch (const Error&) {
            refuse(peer);
        }
    }

    std::optional<LinkKey> find_key(std::string_view identity) {
        const std::scoped_lock lock(mutex);
        const auto found = expected.find(identity);
        return found == expected.end() ? std::nullopt : std::optional(found->second.key);
    }

    void continue_handshakes() {
        const Tick now = clock.tick();
        std::erase_if(pending, [&](PendingConnection& connection) {
            connection.step = connection.channel.handshake();
            if (connection.step == LinkStep::done) {
                begin_link(connection);
                return true;
            }
            if (connection.step != LinkStep::ended && now < connection.until) return false;
            if (connection.step == LinkStep::ended && connection.channel.is_known())
                tell_wrong_key(connection);
            else
                refuse(connection.peer);
            return true;
        });
    }

    void begin_link(PendingConnection& connection) {
        const std::string identity = connection.channel.identity();
        auto [ours, theirs] = make_pair_of_sockets();
        const std::scoped_lock lock(mutex);
        const auto found = expected.find(identity);
        // Forgotten meanwhile, or no descriptor is left: it comes again.
        if (found == expected.end() || !ours) return;
        std::erase_if(carried, [&](const Carried& one) { return one.identity == identity; });
        log_info("a node has connected", {{"name", found->second.name}, {"from", connection.peer}});
        found->second.ready = std::move(theirs);
        carried.push_back({.identity = identity,
                           .pump = LinkPump(std::move(connection.channel), std::move(ours))});
    }

    void tell_wrong_key(const PendingConnection& connection) {
        std::string name;
        {
            const std::scoped_lock lock(mutex);
            const auto found = expected.find(connection.channel.identity());
            if (found != expected.end()) name = found->second.name;
        }
        ++wrong_keys;
        if (clock.tick() < tell_wrong_key_from) return;
        tell_wrong_key_from = clock.tick() + options.tell_every;
        log_warn(
            "a connection was refused: it does not prove the key of the program that it names",
            {{"name", name}, {"from", connection.peer}, {"count", std::exchange(wrong_keys, 0)}});
    }

    void refuse(const std::string& peer) {
        ++refused;
        refused_peer = peer;
    }

    void refuse_oldest() {
        refuse(pending.front().peer);
        pending.pop_front();
    }

    void tell_refused() {
        if (refused == 0 || clock.tick() < tell_from) return;
        tell_from = clock.tick() + options.tell_every;
        log_warn("connections were refused: they do not name a program that runs here",
                 {{"count", std::exchange(refused, 0)}, {"last_from", refused_peer}});
    }
};

LinkListener::LinkListener(LinkListenerOptions options, const Clock& clock)
    : parts_(std::make_unique<Parts>(std::move(options), clock)) {
    parts_->thread = std::thread([this] { parts_->work(); });
}

LinkListener::~LinkListener() {
    parts_->stopping = true;
    parts_->notify();
    parts_->thread.join();
}

std::uint16_t LinkListener::port() const {
    return port_of(parts_->listener);
}

void LinkListener::expect(const LinkKey& key, const std::string& name) {
    const std::scoped_lock lock(parts_->mutex);
    parts_->expected.insert_or_assign(key.identity,
                                      Expected{.key = key, .name = name, .ready = {}});
}

void LinkListener::forget(const std::string& identity) {
    {
        const std::scoped_lock lock(parts_->mutex);
        if (parts_->expected.erase(identity) == 0) return;
    }
    parts_->notify();
}

std::optional<UniqueFd> LinkListener::take(const std::string& identity) {
    const std::scoped_lock lock(parts_->mutex);
    const auto found = parts_->expected.find(identity);
    if (found == parts_->expected.end() || !found->second.ready) return std::nullopt;
    return std::exchange(found->second.ready, UniqueFd());
}

}    // namespace slipway
