// A list of events in the order of their time, and one thread. Each pass of a server, each stage of
// an agent's turn and each step of an executor is an event; the time between two of them is drawn,
// longer while the database is slow, and a process that is frozen goes on when it is let go. What
// happens from outside was drawn before the run (make_scenario), so that a run can be shortened by
// leaving some of it out. After `active` nothing goes wrong any longer, jobs of the lowest class
// come without an end, and every job from before must end within what they would take one after
// the other. After each event all promises are checked.

#include "bench/simulator/world.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::simulator {

namespace {

constexpr Millis pulse{1000};
constexpr Millis maintenance_tick{1000};
const Instant epoch{std::chrono::hours(24 * 365)};

}    // namespace

World::World(const Scenario& scenario, BrokenRule broken, std::vector<std::string>* lines)
    : scenario_(scenario),
      lines_(lines),
      store_(checker_, broken),
      dice_(scenario.seed * 0x9E3779B97F4A7C15ULL + 1) {
    for (int i = 0; i < int(scenario.hosts.size()); ++i) {
        const std::string name = fmt::format("host_{}", i);
        hosts_.push_back(std::make_unique<HostModel>(
            HostModel{.agent = AgentModel(name, scenario.hosts[std::size_t(i)], {}, broken, *this),
                      .server = i < 2 ? std::optional(ServerModel(i, name, {})) : std::nullopt}));
    }
}

std::uint64_t World::dice() {
    dice_ ^= dice_ << 13;
    dice_ ^= dice_ >> 7;
    return dice_ ^= dice_ << 17;
}

Millis World::latency() {
    return Millis(1 + int(dice() % (database_slow_ > 0 ? 4000 : 10)));
}

void World::trace(const std::string& line) {
    if (lines_ != nullptr)
        lines_->push_back(
            fmt::format("{:9.3f}  {}", std::chrono::duration<double>(now_ - Tick{}).count(), line));
}

void World::schedule(Millis after, Kind kind, int who, int turn) {
    events_.push({now_ + after, ++order_, kind, who, turn});
}

StoreModel& World::store_now() {
    store_.now = epoch + std::chrono::duration_cast<std::chrono::microseconds>(now_ - Tick{}) +
                 clock_offset_;
    store_.tick = now_;
    return store_;
}

// ---- what agents ask of the world ----------------------------------------------

StoreModel& World::reach_store(const std::string& host) {
    if (!reaches_store(*hosts_[std::size_t(host_number(host))])) throw Unavailable{};
    return store_now();
}

bool World::loses_answer(const std::string&) {
    return answers_lost_ > 0 && one_in(5);
}

ProcessModel& World::start_process(const std::string& host, const StoreModel::Attempt& attempt,
                                   int resumed_from) {
    const int number = int(runs_.size());
    runs_.push_back(std::make_unique<Run>(Run{
        .process = ProcessModel(attempt.key, store_.job(attempt.key.job).shape, resumed_from, now_),
        .host = host_number(host)}));
    trace(fmt::format("{} starts job {} attempt {} from step {}", host, attempt.key.job,
                      attempt.key.attempt, resumed_from));
    checker_.process_started(attempt.key, host, attempt.cores);
    schedule(Millis(100 + int(dice() % 2000)), Kind::process, number);
    return runs_.back()->process;
}

World::Run& World::run_of(const ProcessModel& process) {
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run)
        if (&(*run)->process == &process) return **run;
    throw Violation("simulator", "an unknown process");
}

void World::ask(ProcessModel& process, std::optional<Intent> intent) {
    if (!process.ask(intent)) return;
    const auto found =
        std::ranges::find_if(runs_, [&](const auto& run) { return &run->process == &process; });
    Run& run = **found;
    schedule(Millis(100 + int(dice() % 3000)), Kind::process, int(found - runs_.begin()),
             ++run.turn);
}

void World::kill(ProcessModel& process) {
    process.kill();
    settle_process(run_of(process));
}

void World::settle_process(Run& run) {
    if (run.process.is_alive() || std::exchange(run.is_gone, true)) return;
    trace(fmt::format("the process of job {} attempt {} is gone ({})", run.process.key().job,
                      run.process.key().attempt, *run.process.exit_status()));
    checker_.process_gone(run.process.key(), run.process.vanished());
}

void World::cores_freed() {
    if (notifications_lost_ > 0) return;
    for (int host = 0; host < int(hosts_.size()); ++host)
        if (hosts_[std::size_t(host)]->server && !hosts_[std::size_t(host)]->writes)
            schedule(Millis(10), Kind::server_read, host, 1);
}

void World::wake(int host) {
    HostModel& model = *hosts_[std::size_t(host)];
    if (notifications_lost_ > 0 || !is_working(model)) return;
    model.agent.wake();
    if (!model.in_turn) schedule(latency(), Kind::agent, host);
}

// ---- events --------------------------------------------------------------------

void World::run_agent(int host) {
    HostModel& model = *hosts_[std::size_t(host)];
    model.in_turn = false;
    if (!is_working(model)) return;
    while (model.agent.run_stage()) {
        if (database_slow_ == 0 && !one_in(6)) continue;
        model.in_turn = true;
        return schedule(latency(), Kind::agent, host);
    }
}

void World::read_as_server(int host) {
    HostModel& model = *hosts_[std::size_t(host)];
    if (!is_working(model) || model.writes) return;
    if (!reaches_store(model)) return model.server->lose_database();
    model.writes = model.server->read(store_now(), now_);
    if (model.writes) schedule(latency(), Kind::server_write, host, model.instance);
}

void World::write_as_server(int host) {
    HostModel& model = *hosts_[std::size_t(host)];
    if (model.down > 0) return;
    if (model.frozen > 0) return schedule(Millis(200), Kind::server_write, host, model.instance);
    model.writes = false;
    if (!reaches_store(model)) return model.server->lose_database();
    try {
        const int placed = model.server->write(store_now(), [this] { return dice(); });
        if (placed == 0) return;
        trace(fmt::format("server {} places {}", host, placed));
        for (int other = 0; other < int(hosts_.size()); ++other)
            wake(other);
    } catch (const LeaderReplaced&) {
        trace(fmt::format("server {} was replaced as the leader", host));
    }
}

void World::advance(int number) {
    Run& run = *runs_[std::size_t(number)];
    const auto next = run.process.advance(now_);
    settle_process(run);
    if (next) schedule(*next, Kind::process, number, run.turn);
}

void World::handle(const Event& event) {
    switch (event.kind) {
        case Kind::stimulus:
            return happen(scenario_.stimuli[std::size_t(event.who)]);
        case Kind::restore:
            return restore(scenario_.stimuli[std::size_t(event.who)]);
        case Kind::submit:
            return submit(scenario_.stimuli[std::size_t(event.who)]);
        case Kind::pulse: {
            schedule(pulse, Kind::pulse, event.who);
            HostModel& host = *hosts_[std::size_t(event.who)];
            if (!is_working(host)) return;
            host.agent.watch_processes();
            if (!host.in_turn) run_agent(event.who);
            return;
        }
        case Kind::agent:
            return run_agent(event.who);
        case Kind::server_read:
            if (event.turn == 0) schedule(maintenance_tick, Kind::server_read, event.who);
            return read_as_server(event.who);
        case Kind::server_write:
            if (event.turn == hosts_[std::size_t(event.who)]->instance) write_as_server(event.who);
            return;
        case Kind::process:
            if (event.turn == runs_[std::size_t(event.who)]->turn) advance(event.who);
            return;
    }
}

// ---- the end -------------------------------------------------------------------

void World::calm_down() {
    trace("nothing goes wrong any longer");
    is_calm_ = true;
    for (int host = 0; host < int(hosts_.size()); ++host)
        join(host);
}

/// What the jobs that are left would take one after the other, with all that is known to go wrong.
Millis World::bound() const {
    // What is due at a time waits longer when the database's clock goes back.
    double seconds = 300 + back_s_;
    for (const StoreModel::Job& job : store_.jobs()) {
        const JobShape& shape = job.shape;
        if (is_final(job.state)) continue;
        const int tries = 1 + (shape.crash_at ? shape.restarts_max : 0);
        seconds += tries * (shape.steps * shape.step_s + 20 + (shape.crash_at ? 90 : 0)) +
                   shape.start_after_s.value_or(0) + (shape.is_deaf ? 70 : 0) + 60;
    }
    return Millis(std::int64_t(seconds * 1000));
}

void World::tell_who_waits() {
    if (lines_ == nullptr) return;
    for (const WaitReason& reason :
         make_plan(store_now().snapshot(ServerTimes{}.host_silence_max)).waiting)
        trace(fmt::format("{} waits: {} {}", reason.job_id, reason.code, reason.message));
}

bool World::has_ended() const {
    return std::ranges::all_of(store_.jobs(), [](const StoreModel::Job& job) {
        return job.shape.is_background || is_final(job.state);
    });
}

std::chrono::duration<double> World::run() {
    for (int i = 0; i < int(scenario_.stimuli.size()); ++i)
        schedule(scenario_.stimuli[std::size_t(i)].at, Kind::stimulus, i);
    for (int host = 0; host < scenario_.hosts_at_begin; ++host)
        join(host);
    std::optional<Tick> deadline;
    while (!events_.empty()) {
        const Event event = events_.top();
        events_.pop();
        now_ = event.at;
        if (!is_calm_ && now_ - Tick{} >= scenario_.active) calm_down();
        try {
            handle(event);
        } catch (const IllegalTransition&) {
            throw Violation("legal history", "a move is asked for that the table has not");
        }
        if (checked_version_ != store_.version()) store_.check();
        checked_version_ = store_.version();
        if (!is_calm_) continue;
        if (!deadline) deadline = now_ + bound();
        for (int job = 0; job < int(store_.jobs().size()); ++job)
            if (store_.job(job).state == JobState::paused) store_now(), store_.resume(job);
        if (has_ended()) break;
        if (now_ > *deadline) break;
    }
    tell_who_waits();
    checker_.all_ended();
    return now_ - Tick{};
}

}    // namespace slipway::simulator
