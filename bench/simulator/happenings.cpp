#include <fmt/format.h>

#include <algorithm>

#include "bench/simulator/world.h"

// What happens to the service from outside, and how it is put right again.
namespace slipway::simulator {

namespace {

constexpr Millis patience_of_client{1000};

bool is_of_job(Happening what) {
    return what == Happening::cancel || what == Happening::kill || what == Happening::pause;
}

bool is_of_executor(Happening what) {
    return what == Happening::executor_crash || what == Happening::executor_freeze;
}

}    // namespace

void World::happen(const Stimulus& stimulus) {
    const int index = int(&stimulus - scenario_.stimuli.data());
    if (stimulus.what == Happening::submit) return submit(stimulus);
    trace(describe(stimulus));
    ++store_.tally.faults;
    const Millis left = scenario_.active - std::chrono::duration_cast<Millis>(now_ - Tick{});
    schedule(std::min(stimulus.lasts, std::max(left, Millis(0))), Kind::restore, index);
    if (is_of_job(stimulus.what)) return happen_to_job(stimulus);
    if (is_of_executor(stimulus.what)) return happen_to_executor(stimulus);
    switch (stimulus.what) {
        case Happening::database_down:
            ++database_down_;
            // Sessions are gone with it; whoever asks first afterwards leads.
            for (const auto& host : hosts_) {
                if (!host->server) continue;
                host->server->lose_database();
                store_.session_gone(host->server->holder());
            }
            return;
        case Happening::database_slow:
            return void(++database_slow_);
        case Happening::answers_lost:
            return void(++answers_lost_);
        case Happening::notifications_lost:
            return void(++notifications_lost_);
        case Happening::clock_jump:
            clock_offset_ += std::chrono::seconds(stimulus.amount);
            back_s_ += std::max(-stimulus.amount, 0);
            return;
        default:
            return happen_to_host(stimulus);
    }
}

void World::happen_to_job(const Stimulus& stimulus) {
    if (store_.jobs().empty()) return;
    const int job = stimulus.who % int(store_.jobs().size());
    store_now();
    const Intent intent = stimulus.what == Happening::cancel ? Intent::cancel
                          : stimulus.what == Happening::kill ? Intent::kill
                                                             : Intent::pause;
    if (store_.request_intent(job, intent)) trace(fmt::format("job {} is asked to end", job));
    for (int host = 0; host < int(hosts_.size()); ++host)
        wake(host);
}

void World::happen_to_host(const Stimulus& stimulus) {
    const int number = stimulus.who % int(hosts_.size());
    HostModel& host = *hosts_[std::size_t(number)];
    const bool is_machine =
        stimulus.what == Happening::machine_crash || stimulus.what == Happening::machine_freeze;
    switch (stimulus.what) {
        case Happening::join:
            return join(number);
        case Happening::drain:
            store_now();
            return store_.drain(host.agent.host(), 1 + stimulus.amount % host.agent.cores(), true);
        case Happening::network_cut:
            ++host.cut;
            if (host.server) host.server->lose_database();
            return;
        case Happening::service_freeze:
        case Happening::machine_freeze:
            ++host.frozen;
            break;
        default:
            ++host.down;
            host.writes = false;
            host.in_turn = false;
            if (host.server) store_.session_gone(host.server->holder());
    }
    if (!is_machine) return;
    for (int i = 0; i < int(runs_.size()); ++i) {
        Run& run = *runs_[std::size_t(i)];
        if (run.host != number || !run.process.is_alive()) continue;
        if (stimulus.what == Happening::machine_freeze) {
            freeze(run, i, 1);
        } else {
            run.process.kill();
            settle_process(run);
        }
    }
}

void World::freeze(Run& run, int index, int by) {
    run.frozen = std::max(run.frozen + by, 0);
    run.process.freeze(run.frozen > 0);
    ++run.turn;
    if (run.frozen == 0) schedule(Millis(10), Kind::process, index, run.turn);
}

void World::happen_to_executor(const Stimulus& stimulus) {
    std::vector<int> alive;
    for (int i = 0; i < int(runs_.size()); ++i)
        if (runs_[std::size_t(i)]->process.is_alive()) alive.push_back(i);
    if (alive.empty()) return;
    const int index = alive[std::size_t(stimulus.who) % alive.size()];
    Run& run = *runs_[std::size_t(index)];
    trace(fmt::format("that of job {}", run.process.key().job));
    if (stimulus.what == Happening::executor_crash) {
        run.process.crash();
        return settle_process(run);
    }
    freeze(run, index, 1);
    thaw_later_[stimulus.id] = index;
}

void World::restore(const Stimulus& stimulus) {
    const int number = stimulus.who % int(hosts_.size());
    HostModel& host = *hosts_[std::size_t(number)];
    switch (stimulus.what) {
        case Happening::pause:
            if (store_.jobs().empty()) return;
            store_now();
            store_.resume(stimulus.who % int(store_.jobs().size()));
            return;
        case Happening::drain:
            store_now();
            return store_.drain(host.agent.host(), 1 + stimulus.amount % host.agent.cores(), false);
        case Happening::network_cut:
            return void(--host.cut);
        case Happening::database_down:
            return void(--database_down_);
        case Happening::database_slow:
            return void(--database_slow_);
        case Happening::answers_lost:
            return void(--answers_lost_);
        case Happening::notifications_lost:
            return void(--notifications_lost_);
        case Happening::executor_freeze:
            if (const auto found = thaw_later_.find(stimulus.id); found != thaw_later_.end())
                freeze(*runs_[std::size_t(found->second)], found->second, -1);
            return;
        case Happening::service_freeze:
        case Happening::machine_freeze:
            --host.frozen;
            if (stimulus.what == Happening::service_freeze) return;
            for (int i = 0; i < int(runs_.size()); ++i)
                if (runs_[std::size_t(i)]->host == number && runs_[std::size_t(i)]->frozen > 0)
                    freeze(*runs_[std::size_t(i)], i, -1);
            return;
        case Happening::service_crash:
        case Happening::machine_crash:
            if (--host.down > 0) return;
            host.agent.restart(++host.instance);
            if (host.server) host.server->restart();
            return;
        default:
            return;
    }
}

void World::submit(const Stimulus& stimulus) {
    const int index = int(&stimulus - scenario_.stimuli.data());
    const std::string key = fmt::format("key {}", stimulus.id);
    if (database_down_ > 0) return schedule(patience_of_client, Kind::submit, index);
    store_now();
    trace(fmt::format("job {}: {}", store_.jobs().size(), describe(stimulus)));
    store_.submit(key, stimulus.shape);
    if (loses_answer("")) return schedule(patience_of_client, Kind::submit, index);
    cores_freed();    // the same notification
}

void World::join(int number) {
    HostModel& host = *hosts_[std::size_t(number)];
    if (std::exchange(host.joined, true)) return;
    host.agent.restart(++host.instance);
    schedule(Millis(int(dice() % 1000)), Kind::pulse, number);
    if (!host.server) return;
    host.server->restart();
    schedule(Millis(int(dice() % 1000)), Kind::server_read, number);
}

}    // namespace slipway::simulator
