#include "scheduler/agent/supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>

#include "api/base/check.h"
#include "api/base/log.h"
#include "scheduler/agent/executor_link.h"
#include "scheduler/agent/memory_guard.h"

namespace slipway {

namespace {

constexpr std::chrono::milliseconds connect_every{20};
constexpr std::chrono::milliseconds sweep_every{20};
constexpr std::chrono::milliseconds read_memory_every{200};

/// One watched process with its socket and its place on the stop ladder.
struct Ward {
    Watched watched;
    std::optional<ExecutorLink> link;
    Watch watch;
    MemoryGuard memory;
    std::optional<int> exit_status;
    bool killed = false;    // by us
    bool unseen = false;    // the last look at it failed
    bool gone = false;      // the leader has ended; the rest of its session may not have
    std::optional<MemoryEnd> memory_end;

    bool talks() const { return link && link->connected(); }
};

struct Command {
    std::string name;
    WatchEvent event;
};

}    // namespace

struct Supervisor::Parts {
    Parts(std::chrono::milliseconds beat, std::function<void()> news_call, const Clock& clock_)
        : beat_every(beat), on_news(std::move(news_call)), clock(clock_), waker(make_event()) {}

    const std::chrono::milliseconds beat_every;
    const std::function<void()> on_news;
    const Clock& clock;
    const UniqueFd waker;
    std::atomic<bool> stopping{false};
    std::atomic<std::int64_t> watched_count{0};

    mutable std::mutex mutex;
    std::vector<Watched> arrivals;    // guarded by mutex
    std::deque<Command> commands;     // guarded by mutex
    SupervisorNews news;              // guarded by mutex

    // The thread's own.
    std::vector<std::unique_ptr<Ward>> wards;    // pointers: a Ward stays where it is
    Tick next_beat{};
    Tick next_reading{};    // of memory
    MachineKills machine_kills;

    std::thread thread;

    void ring() const {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t wrote = write(waker.get(), &one, sizeof(one));
    }

    void work() {
        next_beat = clock.tick();
        while (!stopping) {
            wait();
            take_arrivals();
            obey_commands();
            // What was said before what time it is: after a pause of this thread the words of the
            // meantime are still in the sockets.
            for (const auto& ward : wards)
                listen(*ward);
            beat();
            read_memory();
            for (const auto& ward : wards)
                if (!ward->gone) apply(*ward, {.kind = WatchEvent::Kind::tick});
            bury();
        }
    }

    void wait() {
        std::vector<pollfd> polled{{waker.get(), POLLIN, 0}};
        Tick until = next_beat;
        for (const auto& ward : wards) {
            if (ward->gone) {
                until = std::min(until, clock.tick() + sweep_every);
                continue;
            }
            polled.push_back({ward->watched.process.pidfd.get(), POLLIN, 0});
            if (ward->talks()) {
                const bool full = ward->link->wants_to_write();
                polled.push_back({ward->link->fd(), short(POLLIN | (full ? POLLOUT : 0)), 0});
            } else if (ward->link) {
                until = std::min(until, clock.tick() + connect_every);
            }
            if (ward->memory.reads()) until = std::min(until, next_reading);
        }
        const auto rest =
            std::chrono::ceil<std::chrono::milliseconds>(until - clock.tick()).count();
        poll(polled.data(), polled.size(), int(std::clamp<std::int64_t>(rest, 0, 1000)));
        std::uint64_t rung = 0;
        [[maybe_unused]] const ssize_t got = read(waker.get(), &rung, sizeof(rung));
    }

    void take_arrivals() {
        const std::scoped_lock lock(mutex);
        for (Watched& arrival : arrivals) {
            auto ward = std::make_unique<Ward>();
            ward->watched = std::move(arrival);
            ward->memory = MemoryGuard(ward->watched.memory);
            if (!ward->watched.folder.empty()) {
                ward->link.emplace(ward->watched.folder, ward->watched.fence,
                                   ward->watched.frames_after);
            }
            ward->watch.since = ward->watch.heard = clock.tick();
            wards.push_back(std::move(ward));
        }
        arrivals.clear();
    }

    void obey_commands() {
        std::deque<Command> taken;
        {
            const std::scoped_lock lock(mutex);
            taken.swap(commands);
        }
        for (const Command& command : taken) {
            for (const auto& ward : wards) {
                if (ward->watched.name == command.name && !ward->gone) apply(*ward, command.event);
            }
        }
    }

    void listen(Ward& ward) {
        if (ward.gone) return;
        if (ward.link && ward.link->connect()) {
            ward.link->write();
            const LinkNews heard = ward.link->read();
            if (heard.heard) apply(ward, {.kind = WatchEvent::Kind::heard});
            if (heard.frames) tell_speaking(ward.watched.name);
        }
        pollfd ended{ward.watched.process.pidfd.get(), POLLIN, 0};
        if (poll(&ended, 1, 0) == 1) apply(ward, {.kind = WatchEvent::Kind::exited});
    }

    void beat() {
        const Tick now = clock.tick();
        if (now < next_beat) return;
        next_beat = now + beat_every;
        for (const auto& ward : wards)
            if (ward->link) ward->link->beat();
    }

    void read_memory() {
        const Tick now = clock.tick();
        if (now < next_reading) return;
        next_reading = now + read_memory_every;
        if (!wards.empty()) machine_kills.read(now);
        for (const auto& ward : wards) {
            if (ward->gone || !ward->memory.reads()) continue;
            alone(*ward, [&] {
                if (ward->memory.is_exceeded(ward->watched.process.id))
                    apply(*ward, {.kind = WatchEvent::Kind::kill, .cause = EndCause::memory});
            });
        }
    }

    void apply(Ward& ward, const WatchEvent& event) {
        const EndCause before = ward.watch.cause;
        const WatchActions actions = step(ward.watch, event, clock.tick(), ward.watched.limits);
        if (actions.request && ward.link) ward.link->stop(*actions.request);
        if (actions.terminate) signal_group(ward.watched.process, SIGTERM);
        if (actions.kill) signal_group(ward.watched.process, SIGKILL);
        ward.killed = ward.killed || actions.kill;
        if (actions.gone) lay_out(ward);
        if (before == EndCause::none && ward.watch.cause == EndCause::silent) {
            const std::scoped_lock lock(mutex);
            ++news.silenced;
        }
    }

    /// The leader has ended. Its group is killed before it is reaped: until then the number of the
    /// group cannot belong to anybody else.
    void lay_out(Ward& ward) {
        ward.gone = true;
        if (ward.watched.process.child) signal_group(ward.watched.process, SIGKILL);
        ward.exit_status = reap(ward.watched.process);
        const bool by_somebody = !ward.killed && ward.exit_status == 128 + SIGKILL;
        ward.memory_end =
            ward.memory.end(ward.watch.cause, by_somebody && machine_kills.have_risen());
    }

    /// One look at one process. A look that fails, for want of descriptors, is tried again: nobody
    /// is taken for dead because he was not seen.
    static void alone(Ward& ward, const std::function<void()>& look) {
        try {
            look();
            ward.unseen = false;
        } catch (const Error& error) {
            if (!std::exchange(ward.unseen, true))
                log_error("a process cannot be looked at",
                          {{"name", ward.watched.name}, {"reason", error.what()}});
        }
    }

    /// Whether nothing of its session is left; what is gets a SIGKILL.
    static bool is_empty(Ward& ward) {
        bool empty = false;
        alone(ward, [&] {
            const std::vector<pid_t> left = session_members(ward.watched.process.id.pid);
            for (const pid_t pid : left)
                ::kill(pid, SIGKILL);
            empty = left.empty();
        });
        return empty;
    }

    /// Tells of those of whose sessions nothing is left.
    void bury() {
        bool told = false;
        std::erase_if(wards, [&](const std::unique_ptr<Ward>& ward) {
            if (!ward->gone || !is_empty(*ward)) return false;
            ward->memory.remove_cgroup();
            told = true;
            const std::scoped_lock lock(mutex);
            news.ended.push_back({.name = ward->watched.name,
                                  .exit_status = ward->exit_status,
                                  .cause = ward->watch.cause,
                                  .memory = ward->memory_end});
            return true;
        });
        {
            const std::scoped_lock lock(mutex);
            watched_count = std::int64_t(wards.size() + arrivals.size());
        }
        if (told) on_news();
    }

    void tell_speaking(const std::string& name) {
        {
            const std::scoped_lock lock(mutex);
            if (std::ranges::find(news.speaking, name) != news.speaking.end()) return;
            news.speaking.push_back(name);
        }
        on_news();
    }

    void command(const std::string& name, const WatchEvent& event) {
        {
            const std::scoped_lock lock(mutex);
            commands.push_back({.name = name, .event = event});
        }
        ring();
    }
};

Supervisor::Supervisor(std::chrono::milliseconds beat_every, std::function<void()> on_news,
                       const Clock& clock)
    : parts_(std::make_unique<Parts>(beat_every, std::move(on_news), clock)) {
    parts_->thread = std::thread([this] { parts_->work(); });
}

Supervisor::~Supervisor() {
    parts_->stopping = true;
    parts_->ring();
    parts_->thread.join();
}

void Supervisor::watch(Watched watched) {
    {
        const std::scoped_lock lock(parts_->mutex);
        parts_->arrivals.push_back(std::move(watched));
        ++parts_->watched_count;
    }
    parts_->ring();
}

void Supervisor::stop(const std::string& name, Intent intent) {
    parts_->command(name, {.kind = WatchEvent::Kind::stop, .intent = intent});
}

void Supervisor::kill(const std::string& name, EndCause cause) {
    parts_->command(name, {.kind = WatchEvent::Kind::kill, .cause = cause});
}

void Supervisor::done_said(const std::string& name) {
    parts_->command(name, {.kind = WatchEvent::Kind::done_said});
}

SupervisorNews Supervisor::take_news() {
    const std::scoped_lock lock(parts_->mutex);
    return std::exchange(parts_->news, {});
}

std::int64_t Supervisor::watched_count() const {
    return parts_->watched_count;
}

}    // namespace slipway
