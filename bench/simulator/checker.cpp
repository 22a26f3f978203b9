#include "bench/simulator/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace slipway::simulator {

namespace {

using enum JobState;

[[noreturn]] void broken(const char* promise, std::string detail) {
    throw Violation(promise, detail);
}

std::string name_of(const Key& key) {
    return fmt::format("job {} attempt {}", key.job, key.attempt);
}

/// An end and what of the job's life explains it.
struct Explanation {
    JobState end;
    bool (*holds)(const JobShape& shape, bool end_asked, const std::string& reason);
};

constexpr std::array<Explanation, 5> explanations{{
    {succeeded, [](const JobShape& shape, bool, const std::string&) { return !shape.fails; }},
    {cancelled, [](const JobShape&, bool end_asked, const std::string&) { return end_asked; }},
    {timed_out,
     [](const JobShape& shape, bool, const std::string&) { return bool(shape.max_wall_s); }},
    {expired,
     [](const JobShape& shape, bool, const std::string&) { return bool(shape.valid_for_s); }},
    {failed,
     [](const JobShape& shape, bool, const std::string& reason) {
         return (shape.fails && reason == "data_error") || reason == "executor_lost" ||
                reason == "repeated_crash";
     }},
}};

}    // namespace

Checker::SeenAttempt& Checker::attempt_of(const Key& key) {
    SeenJob& job = jobs_.at(std::size_t(key.job));
    if (key.attempt < 1 || key.attempt > int(job.attempts.size()))
        broken("fence", name_of(key) + " writes and was never begun");
    return job.attempts[std::size_t(key.attempt - 1)];
}

void Checker::job_accepted(int job, const std::string& idempotency_key, const JobShape& shape) {
    if (!by_key_.emplace(idempotency_key, job).second)
        broken("one job a key", fmt::format("job {} is the second of {}", job, idempotency_key));
    jobs_.push_back({.shape = shape, .reason = {}, .attempts = {}});
}

void Checker::job_moved(int job, JobState from, JobState to, const std::string& reason) {
    SeenJob& seen = jobs_.at(std::size_t(job));
    if (seen.state != from || !allowed(from, to))
        broken("legal history",
               fmt::format("job {} goes from {} to {}", job, to_string(seen.state), to_string(to)));
    seen.state = to;
    seen.reason = reason;
    if (is_final(to) && ++seen.ends > 1) broken("one end", fmt::format("job {} ended again", job));
}

void Checker::attempt_began(const Key& key, const std::string& host,
                            const std::vector<int>& cores) {
    SeenJob& job = jobs_.at(std::size_t(key.job));
    if (job.live != 0) broken("one live attempt", name_of(key) + " begins beside another one");
    if (key.attempt != int(job.attempts.size()) + 1)
        broken("attempts in order",
               name_of(key) + fmt::format(" comes after {}", job.attempts.size()));
    job.live = key.attempt;
    job.attempts.push_back({.key = key,
                            .host = host,
                            .cores = cores,
                            .resumed_from = job.checkpoint,
                            .step = job.checkpoint});
}

void Checker::attempt_written(const Key& key, const std::string& what) {
    const SeenAttempt& attempt = attempt_of(key);
    if (attempt.ended || attempt.key != key)
        broken("fence", name_of(key) + " was replaced, and its " + what + " was taken");
}

void Checker::attempt_ended(const Key& key) {
    attempt_written(key, "end");
    if (processes_.contains(key))
        broken("cores of processes that are gone", name_of(key) + " ends before its process");
    attempt_of(key).ended = true;
    jobs_.at(std::size_t(key.job)).live = 0;
}

void Checker::attempt_rescued(const Key& key, bool lease_is_valid, int restarts_added,
                              JobState to) {
    attempt_written(key, "rescue");
    if (lease_is_valid) broken("a heartbeat in time wins", name_of(key) + " had renewed its lease");
    if (restarts_added != 0 || is_final(to) != (to == cancelled))
        broken("a lost host is not the job's", name_of(key) + " was lost with its host");
    attempt_of(key).ended = true;
    jobs_.at(std::size_t(key.job)).live = 0;
}

void Checker::frame_stored(const Key& key, std::int64_t number) {
    attempt_written(key, "frame");
    SeenAttempt& attempt = attempt_of(key);
    if (number != attempt.frames + 1)
        broken("frames once and in order",
               name_of(key) + fmt::format(" stores frame {} after {}", number, attempt.frames));
    attempt.frames = number;
}

void Checker::step_stored(const Key& key, int step) {
    SeenAttempt& attempt = attempt_of(key);
    if (step != attempt.step + 1)
        broken("steps without gaps",
               name_of(key) + fmt::format(", which resumed from step {}, stores step {} after {}",
                                          attempt.resumed_from, step, attempt.step));
    attempt.step = step;
}

void Checker::checkpoint_stored(const Key& key, int step) {
    attempt_written(key, "checkpoint");
    SeenJob& job = jobs_.at(std::size_t(key.job));
    if (step < job.checkpoint)
        broken("checkpoints grow",
               name_of(key) + fmt::format(" saves step {} after {}", step, job.checkpoint));
    job.checkpoint = step;
}

void Checker::leader_wrote(int term, int newest_term) {
    if (term != newest_term)
        broken("a replaced leader writes nothing",
               fmt::format("term {} writes in term {}", term, newest_term));
}

void Checker::process_started(const Key& key, const std::string& host,
                              const std::vector<int>& cores) {
    for (const auto& [other, process] : processes_) {
        const bool is_live = !attempt_of(other).ended;
        if (!is_live || process.host != host) continue;
        for (const int core : cores)
            if (std::ranges::count(process.cores, core) > 0)
                broken("one process a core", fmt::format("{} and {} run on core {} of {}",
                                                         name_of(other), name_of(key), core, host));
    }
    processes_[key] = {host, cores};
}

void Checker::process_gone(const Key& key, bool vanished) {
    processes_.erase(key);
    jobs_.at(std::size_t(key.job)).vanished += vanished;
}

void Checker::leases_are(const std::vector<std::tuple<std::string, int, Key>>& leases) const {
    std::set<std::pair<std::string, int>> held;
    std::map<Key, std::size_t> cores_of;
    for (const auto& [host, core, key] : leases) {
        if (!held.emplace(host, core).second)
            broken("no core twice", fmt::format("core {} of {} is leased twice", core, host));
        ++cores_of[key];
    }
    std::size_t live = 0;
    for (const SeenJob& job : jobs_) {
        if (job.live == 0) continue;
        ++live;
        const SeenAttempt& attempt = job.attempts[std::size_t(job.live - 1)];
        const auto found = cores_of.find(attempt.key);
        if (found == cores_of.end() || found->second != attempt.cores.size())
            broken("leases of live attempts", name_of(attempt.key) + " has not all of its cores");
    }
    if (live != cores_of.size())
        broken("leases of live attempts", "an attempt that has ended leases cores");
}

void Checker::job_state_is(int job, JobState state, bool is_in_queue, int live_attempts) const {
    const SeenJob& seen = jobs_.at(std::size_t(job));
    if (state != seen.state) broken("legal history", fmt::format("job {} moved by itself", job));
    if (is_in_queue != (state == queued))
        broken("no lost job", fmt::format("job {} is {} and {} the queue", job, to_string(state),
                                          is_in_queue ? "in" : "not in"));
    if (live_attempts != int(is_active(state)))
        broken("one live attempt", fmt::format("job {} is {} with {} live attempts", job,
                                               to_string(state), live_attempts));
}

void Checker::all_ended() const {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        const SeenJob& job = jobs_[i];
        if (job.shape.is_background) continue;
        if (job.ends == 0)
            broken("no job waits for ever", fmt::format("job {} is {}", i, to_string(job.state)));
        for (const Explanation& each : explanations)
            if (each.end == job.state && !each.holds(job.shape, job.end_asked, job.reason))
                broken("an end as the job's life says",
                       fmt::format("job {} is {} ({})", i, to_string(job.state), job.reason));
        const int too_many = job.reason == "executor_lost"    ? job.shape.restarts_max + 1
                             : job.reason == "repeated_crash" ? 3
                                                              : 0;
        if (job.vanished < too_many)
            broken("an end as the job's life says",
                   fmt::format("job {} has lost {} executors ({})", i, job.vanished, job.reason));
        if (job.state == succeeded && job.attempts.back().step != job.shape.steps)
            broken("steps without gaps", fmt::format("job {} succeeded at step {} of {}", i,
                                                     job.attempts.back().step, job.shape.steps));
    }
}

}    // namespace slipway::simulator
