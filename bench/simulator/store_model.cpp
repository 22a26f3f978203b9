#include "bench/simulator/store_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "scheduler/store/jobs.h"

namespace slipway::simulator {

namespace {

using enum JobState;

std::string project_name(int project) {
    return fmt::format("project_{}", project);
}

bool is_training(JobState state) {
    return state == starting || state == compiling || state == running;
}

}    // namespace

void Tally::add(const Tally& other) {
    jobs += other.jobs;
    attempts += other.attempts;
    preempted += other.preempted;
    rescued += other.rescued;
    fenced += other.fenced;
    lost_races += other.lost_races;
    leaders += other.leaders;
    faults += other.faults;
}

void StoreModel::submit(const std::string& key, const JobShape& shape) {
    if (keys_.contains(key) && broken_ != BrokenRule::key_forgotten) return;
    const int number = int(jobs_.size());
    keys_.emplace(key, number);
    checker_.job_accepted(number, key, shape);
    Job job{.id = fmt::format("job_{:05}", number), .shape = shape, .queued_at = now};
    if (shape.start_after_s) job.not_before = now + std::chrono::seconds(*shape.start_after_s);
    if (shape.valid_for_s) job.valid_until = now + std::chrono::seconds(*shape.valid_for_s);
    jobs_.push_back(std::move(job));
    ++tally.jobs;
    attempts_.emplace_back();
    ++version_;
}

void StoreModel::move(int number, JobState to, const std::string& reason) {
    Job& job = jobs_.at(std::size_t(number));
    if (!allowed(job.state, to)) throw IllegalTransition{};
    checker_.job_moved(number, job.state, to, reason);
    job.state = to;
    job.intent = default_intent(to);
    job.reason = reason;
    job.is_in_queue = to == queued;
    if (to == starting) job.not_before.reset();
    ++version_;
}

bool StoreModel::request_intent(int number, Intent intent) {
    Job& job = jobs_.at(std::size_t(number));
    const IntentMeaning& meaning = meaning_of(intent);
    const auto target = is_active(job.state) ? meaning.asked : meaning.rest;
    if (!target) return false;
    if (job.state == *target) {
        if (!job.intent || !is_sharper(intent, *job.intent)) return false;
    } else if (!allowed(job.state, *target)) {
        return false;
    } else {
        move(number, *target, "user");
    }
    if (is_active(*target)) job.intent = intent;
    if (intent == Intent::cancel || intent == Intent::kill) checker_.end_asked(number);
    return true;
}

bool StoreModel::resume(int number) {
    if (job(number).state != paused) return false;
    move(number, queued, "");
    return true;
}

void StoreModel::drain(const std::string& host, int core, bool drained) {
    Host& row = hosts_[host];
    drained ? void(row.drained.insert(core)) : void(row.drained.erase(core));
    ++version_;
}

std::optional<int> StoreModel::lead(int holder, Millis lease) {
    const bool may = leader_.holder == holder || leader_.expires_at < now ||
                     leader_.expires_at > now + 2 * lease || !leader_.has_session;
    if (!may) return std::nullopt;
    leader_.term += leader_.holder != holder;
    tally.leaders = leader_.term;
    leader_.holder = holder;
    leader_.has_session = true;
    leader_.expires_at = now + lease;
    return leader_.term;
}

void StoreModel::session_gone(int holder) {
    if (leader_.holder == holder) leader_.has_session = false;
}

void StoreModel::check_term(int term) const {
    if (term != leader_.term && broken_ != BrokenRule::term_ignored) throw LeaderReplaced{};
    checker_.leader_wrote(term, leader_.term);
}

std::vector<WaitingJob> StoreModel::ready_jobs() const {
    std::vector<WaitingJob> ready;
    for (const Job& job : jobs_) {
        if (!job.is_in_queue || (job.not_before && *job.not_before > now)) continue;
        WaitingJob waiting{.job_id = job.id,
                           .class_rank = job.shape.class_rank,
                           .queued_at = job.queued_at,
                           .cores = job.shape.cores,
                           .core_id = job.shape.core_id,
                           .due_at = {},
                           .project = project_name(job.shape.project)};
        if (broken_ == BrokenRule::newest_job_first) {
            waiting.class_rank = 0;
            waiting.project = "one";
            waiting.queued_at = Instant{} - job.queued_at.time_since_epoch();
        }
        if (job.shape.max_wall_s)
            waiting.runs_at_most = std::chrono::ceil<std::chrono::seconds>(
                std::max(std::chrono::duration<double>(*job.shape.max_wall_s) - job.ran,
                         std::chrono::duration<double>(0)));
        ready.push_back(std::move(waiting));
    }
    return ready;
}

std::vector<RunningJob> StoreModel::running_jobs() const {
    std::vector<RunningJob> list;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        const Job& job = jobs_[i];
        if (!is_active(job.state)) continue;
        const Attempt& attempt = attempts_[i].back();
        RunningJob row{.job_id = job.id,
                       .project = project_name(job.shape.project),
                       .class_rank = job.shape.class_rank,
                       .cores = job.shape.cores,
                       .started_at = attempt.created_at,
                       .preemptible = is_training(job.state) && job.shape.preemptible,
                       .ending = job.intent.has_value()};
        if (job.shape.max_wall_s)
            row.ends_by = attempt.created_at + std::chrono::seconds(*job.shape.max_wall_s);
        list.push_back(std::move(row));
    }
    return list;
}

std::vector<ProjectShare> StoreModel::shares() const {
    std::vector<ProjectShare> list;
    for (int project = 0; project < int(usage_core_s_.size()); ++project)
        list.push_back({.name = project_name(project),
                        .weight = 1.0 + project,
                        .usage_core_s = usage_core_s_[std::size_t(project)]});
    return list;
}

Snapshot StoreModel::snapshot(Millis host_silence_max) const {
    Snapshot snapshot{.queue = ready_jobs(), .cores = {}, .now = now};
    if (snapshot.queue.empty()) return snapshot;
    const bool looks = broken_ != BrokenRule::leased_cores_given;
    for (const auto& [name, host] : hosts_) {
        for (int core = 1; core <= host.cores; ++core) {
            const auto lease = leases_.find({name, core});
            snapshot.cores.push_back(
                {.host = name,
                 .core = core,
                 .drained = host.drained.contains(core),
                 .alive = host.heartbeat_at > now - host_silence_max &&
                          host.heartbeat_at < now + host_silence_max,
                 .held_by = lease == leases_.end() || !looks ? "" : job(lease->second.key.job).id});
        }
    }
    snapshot.running = running_jobs();
    snapshot.projects = shares();
    return snapshot;
}

bool StoreModel::can_place(const PlacedJob& placed) const {
    const Job& wanted = job(number_of(placed.job_id));
    const auto host = hosts_.find(placed.host);
    if (wanted.state != queued || host == hosts_.end()) return false;
    if (wanted.not_before && *wanted.not_before > now) return false;
    return std::ranges::all_of(placed.cores, [&](int core) {
        const bool is_leased = leases_.contains({placed.host, core});
        return core <= host->second.cores && !host->second.drained.contains(core) &&
               (!is_leased || broken_ == BrokenRule::leased_cores_given);
    });
}

bool StoreModel::place(const PlacedJob& placed, std::uint64_t fence, Millis lease, int term) {
    check_term(term);
    if (!can_place(placed)) {
        ++tally.lost_races;
        return false;
    }
    const int number = number_of(placed.job_id);
    Job& job = jobs_.at(std::size_t(number));
    ++tally.attempts;
    move(number, starting, "");
    const Key key{number, ++job.attempts, fence};
    checker_.attempt_began(key, placed.host, placed.cores);
    attempts_[std::size_t(number)].push_back(
        {.key = key, .host = placed.host, .cores = placed.cores, .created_at = now});
    for (const int core : placed.cores)
        leases_.insert({{placed.host, core},
                        {.key = key, .expires_at = now + lease, .runs_out = tick + lease}});
    return true;
}

bool StoreModel::preempt(const std::string& id, int term) {
    const int number = number_of(id);
    if (!is_training(job(number).state)) return false;
    check_term(term);
    ++tally.preempted;
    move(number, preempting, "preempted");
    return true;
}

std::vector<store::HeldLease> StoreModel::leases() const {
    std::vector<store::HeldLease> held;
    for (const auto& [core, lease] : leases_) {
        const Key& key = lease.key;
        store::HeldLease one{
            .key = {fmt::to_string(key.job), key.attempt, fmt::to_string(key.fence)},
            .host = core.first,
            .expires_at = lease.expires_at};
        if (held.empty() || held.back().key != one.key) held.push_back(std::move(one));
    }
    return held;
}

bool StoreModel::rescue(const store::HeldLease& lease, int term) {
    const Key key{std::stoi(lease.key.job_id), lease.key.attempt, std::stoull(lease.key.fence)};
    Attempt* attempt = find_live(key);
    if (attempt == nullptr) return false;
    const bool is_as_seen = std::ranges::any_of(leases_, [&](const auto& each) {
        return each.second.key == key && each.second.expires_at == lease.expires_at;
    });
    if (!is_as_seen && broken_ != BrokenRule::rescue_without_a_look) return false;
    check_term(term);
    ++tally.rescued;
    end(*attempt,
        {.exit_kind = "lost",
         .job_state = queued,
         .counts_as_restart = broken_ == BrokenRule::lost_host_counted,
         .reason = store::Reason{"host_lost", ""}},
        true);
    return true;
}

void StoreModel::expire_queued(int term) {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        const Job& job = jobs_[i];
        if (!job.is_in_queue || job.attempts > 0 || !job.valid_until || *job.valid_until > now)
            continue;
        check_term(term);
        move(int(i), expired, "expired");
    }
}

void StoreModel::release_due(int term) {
    for (Job& job : jobs_) {
        if (!job.is_in_queue || !job.not_before || *job.not_before > now) continue;
        check_term(term);
        job.not_before.reset();
        ++version_;
    }
}

void StoreModel::register_host(const std::string& host, int cores, int instance) {
    Host& row = hosts_[host];
    row.cores = cores;
    row.instance = instance;
    row.heartbeat_at = now;
    ++version_;
}

bool StoreModel::record_heartbeat(const std::string& host, int instance) {
    Host& row = hosts_[host];
    if (row.instance != instance) return false;
    row.heartbeat_at = now;
    return true;
}

StoreModel::Attempt* StoreModel::find_live(const Key& key) {
    std::vector<Attempt>& attempts = attempts_.at(std::size_t(key.job));
    if (attempts.empty()) return nullptr;
    if (broken_ == BrokenRule::fence_ignored) return &attempts[std::size_t(key.attempt - 1)];
    Attempt& newest = attempts.back();
    return newest.key == key && !newest.ended ? &newest : nullptr;
}

StoreModel::Attempt& StoreModel::live_or_fenced(const Key& key) {
    if (Attempt* attempt = find_live(key)) return *attempt;
    ++tally.fenced;
    throw Fenced{};
}

void StoreModel::free_by_core(const Key& key) {
    const Attempt& attempt = attempts_[std::size_t(key.job)][std::size_t(key.attempt - 1)];
    for (const int core : attempt.cores)
        leases_.erase({attempt.host, core});
}

std::vector<Key> StoreModel::renew(const std::string& host, const std::vector<Key>& held,
                                   Millis lease) {
    std::vector<Key> lost;
    for (const Key& key : held) {
        const Attempt* attempt = find_live(key);
        if (attempt == nullptr || attempt->host != host) {
            lost.push_back(key);
            ++tally.fenced;
            if (broken_ == BrokenRule::leases_freed_by_core) free_by_core(key);
            continue;
        }
        for (auto& [core, row] : leases_)
            if (row.key == key) row = {key, now + lease, tick + lease};
    }
    hosts_[host].heartbeat_at = now;
    return lost;
}

std::vector<StoreModel::Attempt> StoreModel::live_attempts(const std::string& host) const {
    std::vector<Attempt> live;
    for (const std::vector<Attempt>& attempts : attempts_)
        if (!attempts.empty() && !attempts.back().ended && attempts.back().host == host)
            live.push_back(attempts.back());
    return live;
}

void StoreModel::record_process(const Key& key) {
    Attempt& attempt = live_or_fenced(key);
    checker_.attempt_written(key, "process");
    if (!attempt.started_at) attempt.started_at = now;
}

void StoreModel::enter(Job& job, int number, JobState state) {
    if (job.state == starting && state != compiling) enter(job, number, compiling);
    const bool forward = state == compiling || state == running || state == finishing;
    if (forward && allowed(job.state, state)) move(number, state, job.reason);
}

void StoreModel::store_frame(Attempt& attempt, const Frame& frame) {
    Job& job = jobs_[std::size_t(attempt.key.job)];
    checker_.frame_stored(attempt.key, frame.number);
    if (frame.state) enter(job, attempt.key.job, *frame.state);
    if (frame.step) checker_.step_stored(attempt.key, *frame.step);
    if (frame.checkpoint) {
        checker_.checkpoint_stored(attempt.key, *frame.checkpoint);
        job.checkpoints.push_back(*frame.checkpoint);
    }
}

StoreModel::Relayed StoreModel::relay(const Key& key, const std::vector<Frame>& frames) {
    Attempt& attempt = live_or_fenced(key);
    const bool again = broken_ == BrokenRule::frames_stored_twice;
    for (const Frame& frame : frames) {
        if (frame.number <= attempt.frames_relayed && !again) continue;
        store_frame(attempt, frame);
        attempt.frames_relayed = frame.number;
    }
    const Job& job = jobs_[std::size_t(key.job)];
    return {attempt.frames_relayed, job.state, job.intent};
}

void StoreModel::end(Attempt& attempt, const store::AttemptEnd& end, bool by_rescue) {
    const int number = attempt.key.job;
    Job& job = jobs_[std::size_t(number)];
    store::EndingJob ending{.state = job.state,
                            .restarts = job.restarts,
                            .restarts_max = job.shape.restarts_max,
                            .crash_key = job.crash_key,
                            .crashes = job.crashes};
    if (broken_ == BrokenRule::intent_dropped) ending.state = running;
    const store::Settlement settlement = store::settle(ending, end);
    std::vector<JobState> path = store::states_between(job.state, settlement.state);
    path.push_back(settlement.state);
    for (JobState from = job.state; const JobState to : path) {
        if (!allowed(from, to)) throw IllegalTransition{};
        from = to;
    }
    if (by_rescue) {
        bool valid = false;
        for (const auto& [core, lease] : leases_)
            valid = valid || (lease.key == attempt.key && lease.runs_out > tick);
        checker_.attempt_rescued(attempt.key, valid, settlement.restarts_added, settlement.state);
    } else {
        checker_.attempt_ended(attempt.key);
    }
    attempt.ended = true;
    std::erase_if(leases_, [&](const auto& each) { return each.second.key == attempt.key; });
    const std::string reason = settlement.reason ? settlement.reason->code : "";
    for (const JobState to : path)
        move(number, to, reason);
    job.restarts += settlement.restarts_added;
    job.crash_key = end.crash_key;
    job.crashes = settlement.crashes;
    if (settlement.retry_after.count() > 0) job.not_before = now + settlement.retry_after;
    if (attempt.started_at) job.ran += now - *attempt.started_at;
    usage_core_s_[std::size_t(job.shape.project)] +=
        job.shape.cores * std::chrono::duration<double>(now - attempt.created_at).count();
    if (broken_ == BrokenRule::queue_row_forgotten && by_rescue) job.is_in_queue = false;
}

JobState StoreModel::finish(const Key& key, const store::AttemptEnd& how) {
    end(live_or_fenced(key), how, false);
    return job(key.job).state;
}

void StoreModel::check() const {
    std::vector<std::tuple<std::string, int, Key>> leases;
    for (const auto& [core, lease] : leases_)
        leases.emplace_back(core.first, core.second, lease.key);
    checker_.leases_are(leases);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        int live = 0;
        for (const Attempt& attempt : attempts_[i])
            live += !attempt.ended;
        checker_.job_state_is(int(i), jobs_[i].state, jobs_[i].is_in_queue, live);
    }
}

}    // namespace slipway::simulator
