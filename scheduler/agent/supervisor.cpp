// One thread polls the ends of all processes, their sockets and a descriptor that wakes it. What
// is seen becomes an event of the watch (attempt_watch.h), a pure state machine that answers
// with what to do: a request, a signal, or that it has ended. What was said is read before the
// time is looked at, so that a pause of this thread kills nobody for silence. A process whose
// leader has ended is reported only once nothing of it is left. A look that fails is tried again
// and counts as nothing seen. No call of this thread waits for the database or the disk.
#include "scheduler/agent/supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <thread>

#include "api/base/check.h"
#include "api/base/log.h"
#include "scheduler/agent/executor_link.h"
#include "scheduler/agent/memory_guard.h"

namespace slipway {

namespace {

constexpr std::chrono::milliseconds connect_pause_min{1};
constexpr std::chrono::milliseconds connect_pause_max{20};
constexpr std::chrono::milliseconds ahead_max{100};    // until the first step
/// What one says that has taken its first step is read at these times while it goes on: each frame
/// would wake this thread and the agent's, which stores what is said at the same times.
constexpr std::chrono::milliseconds listen_every{100};
/// Of one that has said so much since: its words fill a socket.
constexpr std::chrono::milliseconds listen_again{20};
constexpr std::size_t many_bytes = 16 << 10;
/// One that has said no frame for so long is heard when it speaks.
constexpr std::chrono::milliseconds quiet_after{1000};
constexpr std::chrono::milliseconds sweep_every{20};
constexpr std::chrono::milliseconds read_memory_every{200};

/// One watched process with its socket and its place on the stop ladder.
struct SupervisedProcess {
    SupervisedProcess(Watched arrival, Tick now) : watched(std::move(arrival)), began(now) {}

    Watched watched;
    const Tick began;
    LaunchedProcess& process() const { return *watched.process; }

    std::optional<ExecutorLink> link;
    Watch watch;
    MemoryGuard memory{*watched.process, watched.memory_bytes};
    std::optional<ProcessExit> exit;
    bool ahead = true;     // perhaps: see LaunchedProcess::go_ahead
    Tick listen_next{};    // its words may wait until then
    Tick frames_heard{};
    EndNote note;
    bool killed = false;    // by us
    bool unseen = false;    // the last look at it failed
    bool gone = false;      // the leader has ended; the rest of its session may not have
    std::optional<MemoryEnd> memory_end;

    bool talks() const { return link && link->connected(); }
};

struct Command {
    std::string name;
    WatchEvent event;
    std::int64_t save = 0;    // then the event is none
};

}    // namespace

struct Supervisor::Parts {
    Parts(std::chrono::milliseconds heartbeat_every_, std::function<void()> on_events_,
          const Clock& clock_)
        : heartbeat_every(heartbeat_every_),
          on_events(std::move(on_events_)),
          clock(clock_),
          waker(make_event()) {}

    const std::chrono::milliseconds heartbeat_every;
    const std::function<void()> on_events;
    const Clock& clock;
    const UniqueFd waker;
    std::atomic<bool> stopping{false};
    std::atomic<std::int64_t> watched_count{0};

    mutable std::mutex mutex;
    std::vector<Watched> arrivals;    // guarded by mutex
    std::deque<Command> commands;     // guarded by mutex
    SupervisorEvents events;          // guarded by mutex

    // The thread's own.
    std::vector<std::unique_ptr<SupervisedProcess>>
        processes;    // pointers: a SupervisedProcess stays where it is
    Tick next_heartbeat{};
    Tick next_reading{};      // of memory
    bool has_news = false;    // events that nobody was told of

    std::thread thread;

    void notify() const {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t wrote = write(waker.get(), &one, sizeof(one));
    }

    void work() {
        next_heartbeat = clock.tick();
        while (!stopping) {
            wait();
            take_arrivals();
            handle_commands();
            // What was said before what time it is: after a pause of this thread the words of the
            // meantime are still in the sockets.
            for (const auto& supervised : processes)
                listen(*supervised);
            heartbeat();
            read_memory();
            for (const auto& supervised : processes)
                if (!supervised->gone) pass_time(*supervised);
            reap();
        }
    }

    void wait() {
        std::vector<pollfd> polled{{waker.get(), POLLIN, 0}};
        Tick until = next_heartbeat;
        for (const auto& supervised : processes) {
            if (supervised->gone) {
                until = std::min(until, clock.tick() + sweep_every);
                continue;
            }
            polled.push_back({supervised->process().end_fd(), POLLIN, 0});
            if (supervised->talks()) {
                const bool full = supervised->link->wants_to_write();
                const bool waits = supervised->listen_next > clock.tick();
                if (waits) until = std::min(until, supervised->listen_next);
                const short awaited = short((waits ? 0 : POLLIN) | (full ? POLLOUT : 0));
                // One that has closed its end would wake a wait for nothing again and again.
                if (awaited != 0) polled.push_back({supervised->link->fd(), awaited, 0});
            } else if (supervised->link && supervised->process().has_begun()) {
                until = std::min(until, clock.tick() + connect_pause(*supervised));
            }
            if (supervised->ahead) until = std::min(until, supervised->began + ahead_max);
            if (supervised->memory.reads()) until = std::min(until, next_reading);
        }
        const auto rest =
            std::chrono::ceil<std::chrono::milliseconds>(until - clock.tick()).count();
        poll(polled.data(), polled.size(), int(std::clamp<std::int64_t>(rest, 0, 1000)));
        std::uint64_t notified = 0;
        [[maybe_unused]] const ssize_t got = read(waker.get(), &notified, sizeof(notified));
    }

    /// A program that waited has its socket in a few milliseconds, another one later.
    Tick::duration connect_pause(const SupervisedProcess& supervised) const {
        return std::clamp<Tick::duration>((clock.tick() - supervised.began) / 2, connect_pause_min,
                                          connect_pause_max);
    }

    void take_arrivals() {
        const std::scoped_lock lock(mutex);
        for (Watched& arrival : arrivals) {
            auto supervised = std::make_unique<SupervisedProcess>(std::move(arrival), clock.tick());
            if (!supervised->watched.folder.empty()) {
                supervised->link.emplace(
                    [one = supervised.get()] {
                        return one->process().connect(one->watched.folder);
                    },
                    supervised->watched.fence, supervised->watched.frames_after);
            }
            supervised->watch.since = supervised->watch.heard = clock.tick();
            processes.push_back(std::move(supervised));
        }
        arrivals.clear();
    }

    void handle_commands() {
        std::deque<Command> taken;
        {
            const std::scoped_lock lock(mutex);
            taken.swap(commands);
        }
        for (const Command& command : taken) {
            for (const auto& supervised : processes) {
                if (supervised->watched.name != command.name || supervised->gone) continue;
                if (command.save == 0) apply(*supervised, command.event);
                if (command.save > 0 && supervised->link) supervised->link->save(command.save);
            }
        }
    }

    void listen(SupervisedProcess& supervised) {
        if (supervised.gone) return;
        if (supervised.link && (supervised.talks() || supervised.process().has_begun()) &&
            supervised.link->connect()) {
            supervised.link->write();
            const LinkEvents heard = hear(supervised);
            if (heard.heard) apply(supervised, {.kind = WatchEvent::Kind::heard});
            if (heard.frames) keep_speaking(supervised.watched.name, heard.first_metric);
            if (heard.first_metric) stand_back(supervised);
        }
        pollfd ended{supervised.process().end_fd(), POLLIN, 0};
        if (poll(&ended, 1, 0) == 1) apply(supervised, {.kind = WatchEvent::Kind::exited});
    }

    LinkEvents hear(SupervisedProcess& supervised) {
        const Tick now = clock.tick();
        if (supervised.listen_next > now) return {};
        const LinkEvents heard = supervised.link->read();
        if (heard.frames) supervised.frames_heard = now;
        if (!supervised.ahead && now - supervised.frames_heard < quiet_after) {
            // At the same times for all.
            const Tick::duration every = heard.bytes < many_bytes ? listen_every : listen_again;
            supervised.listen_next = Tick((now.time_since_epoch() / every + 1) * every);
        }
        return heard;
    }

    static void stand_back(SupervisedProcess& supervised) {
        if (std::exchange(supervised.ahead, false)) supervised.process().stand_back();
    }

    void pass_time(SupervisedProcess& supervised) {
        if (clock.tick() >= supervised.began + ahead_max) stand_back(supervised);
        const bool waits = !supervised.process().has_begun();
        const bool cut_off = supervised.process().is_remote() && !supervised.talks();
        apply(supervised, {.kind = waits     ? WatchEvent::Kind::waits
                                   : cut_off ? WatchEvent::Kind::cut_off
                                             : WatchEvent::Kind::tick});
        // Who is to end and has not begun is told again, too.
        if (waits && supervised.watch.phase != Watch::Phase::waiting)
            apply(supervised, {.kind = WatchEvent::Kind::tick});
    }

    void heartbeat() {
        const Tick now = clock.tick();
        if (now < next_heartbeat) return;
        next_heartbeat = now + heartbeat_every;
        for (const auto& supervised : processes)
            if (supervised->link) supervised->link->heartbeat();
    }

    void read_memory() {
        const Tick now = clock.tick();
        if (now < next_reading) return;
        next_reading = now + read_memory_every;
        for (const auto& supervised : processes) {
            supervised->memory.read_host(now);
            if (supervised->gone || !supervised->memory.reads()) continue;
            alone(*supervised, [&] {
                if (supervised->memory.is_exceeded())
                    apply(*supervised, {.kind = WatchEvent::Kind::kill, .cause = EndCause::memory});
            });
        }
    }

    void apply(SupervisedProcess& supervised, const WatchEvent& event) {
        const EndCause before = supervised.watch.cause;
        const WatchActions actions =
            step(supervised.watch, event, clock.tick(), supervised.watched.limits);
        if (actions.request && supervised.link) supervised.link->stop(*actions.request);
        if (actions.terminate) supervised.process().terminate();
        if (actions.kill) supervised.process().kill();
        supervised.killed = supervised.killed || actions.kill;
        if (actions.gone) collect_exit(supervised);
        if (before == EndCause::none && supervised.watch.cause == EndCause::silent) {
            const std::scoped_lock lock(mutex);
            ++events.unresponsive;
        }
    }

    /// The leader has ended.
    void collect_exit(SupervisedProcess& supervised) {
        supervised.gone = true;
        supervised.exit = supervised.process().collect_exit();
        supervised.note = supervised.process().end_note();
        const bool by_others = !supervised.killed && supervised.exit && supervised.exit->killed;
        supervised.memory_end = supervised.memory.end(supervised.watch.cause, by_others);
    }

    /// One look at one process. A look that fails, for want of descriptors, is tried again: nobody
    /// is taken for dead because he was not seen.
    static void alone(SupervisedProcess& supervised, const std::function<void()>& look) {
        try {
            look();
            supervised.unseen = false;
        } catch (const Error& error) {
            if (!std::exchange(supervised.unseen, true))
                log_error("a process cannot be looked at",
                          {{"name", supervised.watched.name}, {"reason", error.what()}});
        }
    }

    static bool is_cleared(SupervisedProcess& supervised) {
        bool cleared = false;
        alone(supervised, [&] { cleared = supervised.process().is_cleared(); });
        return cleared;
    }

    /// Reports the processes of which nothing is left, and forgets them.
    void reap() {
        std::erase_if(processes, [&](const std::unique_ptr<SupervisedProcess>& supervised) {
            if (!supervised->gone || !is_cleared(*supervised)) return false;
            has_news = true;
            const std::scoped_lock lock(mutex);
            events.ended.push_back({.name = supervised->watched.name,
                                    .exit = supervised->exit,
                                    .cause = supervised->watch.cause,
                                    .memory = supervised->memory_end,
                                    .note = supervised->note});
            return true;
        });
        {
            const std::scoped_lock lock(mutex);
            watched_count = std::int64_t(processes.size() + arrivals.size());
        }
        if (std::exchange(has_news, false)) on_events();
    }

    /// Told at the end of the round: words of several are stored together.
    void keep_speaking(const std::string& name, bool stepped) {
        const std::scoped_lock lock(mutex);
        if (stepped) events.stepped.push_back(name);
        if (std::ranges::find(events.speaking, name) != events.speaking.end()) return;
        events.speaking.push_back(name);
        has_news = true;
    }

    void command(Command given) {
        {
            const std::scoped_lock lock(mutex);
            commands.push_back(std::move(given));
        }
        notify();
    }
};

Supervisor::Supervisor(std::chrono::milliseconds heartbeat_every, std::function<void()> on_events,
                       const Clock& clock)
    : parts_(std::make_unique<Parts>(heartbeat_every, std::move(on_events), clock)) {
    parts_->thread = std::thread([this] { parts_->work(); });
}

Supervisor::~Supervisor() {
    parts_->stopping = true;
    parts_->notify();
    parts_->thread.join();
}

void Supervisor::watch(Watched watched) {
    {
        const std::scoped_lock lock(parts_->mutex);
        parts_->arrivals.push_back(std::move(watched));
        ++parts_->watched_count;
    }
    parts_->notify();
}

void Supervisor::stop(const std::string& name, Intent intent) {
    parts_->command({.name = name, .event = {.kind = WatchEvent::Kind::stop, .intent = intent}});
}

void Supervisor::save(const std::string& name, std::int64_t number) {
    parts_->command({.name = name, .event = {}, .save = number});
}

void Supervisor::kill(const std::string& name, EndCause cause) {
    parts_->command({.name = name, .event = {.kind = WatchEvent::Kind::kill, .cause = cause}});
}

void Supervisor::done_received(const std::string& name) {
    parts_->command({.name = name, .event = {.kind = WatchEvent::Kind::done_received}});
}

SupervisorEvents Supervisor::take_events() {
    const std::scoped_lock lock(parts_->mutex);
    return std::exchange(parts_->events, {});
}

std::int64_t Supervisor::watched_count() const {
    return parts_->watched_count;
}

}    // namespace slipway
