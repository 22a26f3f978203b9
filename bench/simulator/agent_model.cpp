#include "bench/simulator/agent_model.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::simulator {

void AgentModel::restart(int instance) {
    instance_ = instance;
    registered_ = reconciled_ = false;
    stage_ = Stage::renew;
    renew_at_ = reconcile_at_ = not_before_ = {};
    pause_ = {};
    live_.clear();
}

/// A question to the store, whose answer may get lost.
template <class Call>
auto AgentModel::call(const Call& call) {
    StoreModel& store = world_.reach_store(host_);
    if constexpr (std::is_void_v<decltype(call(store))>) {
        call(store);
        if (world_.loses_answer(host_)) throw Unavailable{};
    } else {
        auto answer = call(store);
        if (world_.loses_answer(host_)) throw Unavailable{};
        return answer;
    }
}

// ---- processes ----------------------------------------------------------------

void AgentModel::act(Live& live, const WatchEvent& event) {
    const WatchActions actions = step(live.watch, event, world_.tick(), times_.watch);
    if (actions.request) world_.ask(*live.process, *actions.request);
    if (actions.terminate) world_.ask(*live.process, std::nullopt);
    if (actions.kill) world_.kill(*live.process);
    if (actions.gone) {
        live.ended = live.watch.cause;
        live.speaking = true;
    }
}

void AgentModel::watch_processes() {
    for (auto& [key, live] : live_) {
        if (live.ended || live.process == nullptr) continue;
        live.process->hear_agent(world_.tick());
        if (live.process->speaks()) {
            act(live, {.kind = WatchEvent::Kind::heard});
            live.speaking = true;
        }
        act(live,
            {.kind = live.process->is_alive() ? WatchEvent::Kind::tick : WatchEvent::Kind::exited});
    }
}

// ---- a turn -------------------------------------------------------------------

bool AgentModel::run_stage() {
    if (stage_ == Stage::renew && world_.tick() < not_before_) return false;
    try {
        run(stage_);
        stage_ = Stage(int(stage_) + 1);
        if (stage_ != Stage::rest) return true;
        pause_ = {};
    } catch (const Unavailable&) {
        pause_ = std::clamp(pause_ * 2, Millis(100), times_.pause_max);
        not_before_ = world_.tick() + pause_;
        reconcile_at_ = {};
        reconciled_ = false;
    }
    stage_ = Stage::renew;
    return false;
}

void AgentModel::run(Stage stage) {
    const Tick now = world_.tick();
    switch (stage) {
        case Stage::renew:
            if (!registered_)
                call([&](StoreModel& store) { store.register_host(host_, cores_, instance_); });
            registered_ = true;
            if (renew_at_ > now) return;
            registered_ =
                call([&](StoreModel& store) { return store.record_heartbeat(host_, instance_); });
            if (!registered_) throw Unavailable{};
            renew();
            renew_at_ = now + times_.renew_every;
            return;
        case Stage::look:
            if (!std::exchange(reconciled_, true)) reconcile();
            return;
        case Stage::relay:
            return relay();
        case Stage::finish:
            return finish();
        case Stage::reconcile:
            if (reconcile_at_ > now) return;
            reconcile();
            reconcile_at_ = now + times_.poll_every;
            return;
        case Stage::rest:
            return;
    }
}

void AgentModel::renew() {
    std::vector<Key> held;
    for (const auto& [key, live] : live_)
        if (!live.fenced) held.push_back(key);
    const auto lost =
        call([&](StoreModel& store) { return store.renew(host_, held, times_.lease); });
    for (const Key& key : lost)
        give_up(live_.at(key));
}

void AgentModel::reconcile() {
    const auto found = call([&](StoreModel& store) { return store.live_attempts(host_); });
    for (const StoreModel::Attempt& each : found) {
        const auto known = live_.find(each.key);
        known == live_.end() ? begin(each) : update(each, known->second);
    }
    for (auto& [key, live] : live_)
        if (std::ranges::find(found, key, &StoreModel::Attempt::key) == found.end()) give_up(live);
    end_forgotten(found);
}

void AgentModel::end_forgotten(const std::vector<StoreModel::Attempt>& found) {
    std::erase_if(processes_, [&](const auto& each) {
        const auto& [key, process] = each;
        if (live_.contains(key)) return false;
        if (std::ranges::find(found, key, &StoreModel::Attempt::key) != found.end()) return false;
        if (process->is_alive()) world_.kill(*process);
        return true;
    });
}

void AgentModel::begin(const StoreModel::Attempt& found) {
    const StoreModel::Job& job = world_.reach_store(host_).job(found.key.job);
    Live live{.key = found.key,
              .read = std::size_t(found.frames_relayed),
              .frames_stored = found.frames_relayed,
              .job_state = job.state,
              .restarts = job.restarts,
              .recorded = found.started_at.has_value(),
              .watch = {.since = world_.tick(), .heard = world_.tick()}};
    if (job.shape.max_wall_s) {
        const auto rest = std::chrono::duration<double>(*job.shape.max_wall_s) - job.ran;
        live.time_is_up = world_.tick() + std::chrono::ceil<Millis>(
                                              std::max(rest, std::chrono::duration<double>(0)));
    }
    const auto record = processes_.find(found.key);
    if (record != processes_.end()) {
        live.process = record->second;    // one that is gone is found to be, with its last frames
    } else if (found.started_at) {
        live.ended = EndCause::none;
    } else if (job.intent) {
        live.problem = "it was ended before its executor started";
        live.ended = cause_of(*job.intent);
    } else {
        start(found, live);
    }
    Live& added = live_.emplace(found.key, std::move(live)).first->second;
    if (added.recorded || added.process == nullptr) return;
    try {
        call([&](StoreModel& store) { store.record_process(added.key); });
        added.recorded = true;
    } catch (const Fenced&) {
        give_up(added);
    }
}

void AgentModel::start(const StoreModel::Attempt& found, Live& live) {
    const std::vector<int> saved = world_.reach_store(host_).checkpoints_for(found.key);
    int resumed_from = saved.empty() ? 0 : std::ranges::max(saved);
    if (broken_ == BrokenRule::older_checkpoint_resumed && saved.size() > 1)
        resumed_from = saved[saved.size() - 2];
    live.process = &world_.start_process(host_, found, resumed_from);
    processes_[found.key] = live.process;
}

void AgentModel::update(const StoreModel::Attempt& found, Live& live) {
    const StoreModel::Job& job = world_.reach_store(host_).job(found.key.job);
    live.job_state = job.state;
    live.restarts = job.restarts;
    live.speaking = true;
    if (live.ended || live.process == nullptr) return;
    if (job.intent) act(live, {.kind = WatchEvent::Kind::stop, .intent = *job.intent});
    if (live.time_is_up && world_.tick() >= *live.time_is_up)
        act(live, {.kind = WatchEvent::Kind::stop, .intent = Intent::timeout});
}

void AgentModel::relay() {
    for (auto& [key, live] : live_) {
        if (live.fenced) continue;
        try {
            if (live.speaking || live.ended) relay_one(live);
        } catch (const Fenced&) {
            give_up(live);
        }
    }
}

void AgentModel::relay_one(Live& live) {
    live.speaking = false;
    if (live.process == nullptr) return;
    if (!live.recorded) call([&](StoreModel& store) { store.record_process(live.key); });
    live.recorded = true;
    const std::vector<Frame>& file = live.process->frames();
    if (live.read >= file.size()) return;
    live.speaking = true;
    const std::vector<Frame> frames(file.begin() + std::ptrdiff_t(live.read), file.end());
    const auto relayed = call([&](StoreModel& store) { return store.relay(live.key, frames); });
    live.job_state = relayed.job_state;
    live.frames_stored = relayed.frames_relayed;
    live.read = file.size();
    live.speaking = false;
    for (const Frame& frame : frames)
        if (frame.done) live.done = frame.done;
    if (live.ended) return;
    if (live.done) return act(live, {.kind = WatchEvent::Kind::done_received});
    if (relayed.intent) act(live, {.kind = WatchEvent::Kind::stop, .intent = *relayed.intent});
}

void AgentModel::finish() {
    bool freed = false;
    for (auto each = live_.begin(); each != live_.end();) {
        Live& live = each->second;
        const bool is_gone = live.ended || (broken_ == BrokenRule::cores_freed_early && live.done);
        if (!is_gone || (live.speaking && !live.fenced)) {
            ++each;
            continue;
        }
        if (!live.fenced) finish_one(live);
        processes_.erase(each->first);
        each = live_.erase(each);
        freed = true;
    }
    if (freed) world_.cores_freed();
}

void AgentModel::finish_one(Live& live) {
    const ProcessModel* process = live.process;
    if (process != nullptr && !live.done && !process->frames().empty())
        live.done = process->frames().back().done;    // stored by an agent before this one
    store::AttemptEnd end = decide_end(
        {.done = live.done,
         .exit_status = process != nullptr ? process->exit_status() : std::nullopt,
         .cause = live.ended.value_or(EndCause::none),
         .job_state = live.job_state,
         .restarts = live.restarts,
         .problem = live.problem,
         .output_tail = {},
         .position = process != nullptr ? std::optional(process->position()) : std::nullopt});
    try {
        call([&](StoreModel& store) { return store.finish(live.key, end); });
    } catch (const Fenced&) {
        world_.trace(fmt::format("{} ends job {} attempt {} too late", host_, live.key.job,
                                 live.key.attempt));
    } catch (const IllegalTransition&) {
        end.job_state = JobState::failed;
        end.reason = store::Reason{"internal", "the end cannot be stored"};
        call([&](StoreModel& store) { return store.finish(live.key, end); });
    }
}

void AgentModel::give_up(Live& live) {
    if (live.fenced) return;
    live.fenced = true;
    if (live.process == nullptr) {
        live.ended = EndCause::fenced;
    } else if (!live.ended) {
        act(live, {.kind = WatchEvent::Kind::kill, .cause = EndCause::fenced});
    }
}

}    // namespace slipway::simulator
