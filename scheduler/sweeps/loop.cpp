// The impure half of a sweep: reads what its jobs look like, calls advance(), writes the step. A
// job of a trial and the decision that made it are written in one transaction
// (submission::Submission::also), and so is the end of a job with the decision that ends it. A step
// that cannot be written is forgotten together with the run in memory, and taken again from the
// log. Pausing and resuming the jobs of a paused sweep is not a decision of the search: it is done
// by comparing states, again with each look.

#include "scheduler/sweeps/loop.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "api/base/id.h"
#include "api/base/log.h"
#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "scheduler/store/access.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/metrics/curve.h"
#include "scheduler/store/pg/leader.h"
#include "scheduler/store/pg/listener.h"
#include "scheduler/store/splits.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/store/sweeps.h"
#include "scheduler/store/watched.h"
#include "scheduler/submission/judged_evaluation.h"
#include "scheduler/sweeps/coordinator.h"
#include "scheduler/sweeps/passed_by.h"
#include "scheduler/sweeps/trial_job.h"

namespace slipway::sweeps {

namespace {

constexpr const char* sweeps_leader_name = "slipway.sweeps";
/// Each is in memory with its trials.
constexpr int active_sweeps_max = 100'000;
constexpr int sweeps_at_once = 1000;
constexpr std::int64_t values_at_once = 100'000;
constexpr std::chrono::seconds rights_every{5};
constexpr std::chrono::seconds tidy_every{1};
constexpr int checkpoints_at_once = 1000;

/// What the token that made a sweep needs to have it go on.
store::Right right_of(const std::string& token_id, const std::string& project) {
    return {.token_id = token_id, .project = project, .role = TokenRole::editor};
}
const store::Reason paused_reason{"sweep_paused", "the sweep is paused"};

/// The values of the objective from `first_step` on; of several in one epoch the last. Moves
/// `first_step` to where the last of them begins, which may still change.
std::vector<Measured> values_of(store::Store& store, const std::string& job_id,
                                const SweepSpec& spec, std::int64_t& first_step) {
    const store::Curve curve =
        store::read_curve(store, job_id, measured_metric(spec), {.first = first_step},
                          {.buckets_max = values_at_once, .points_max = values_at_once});
    const bool by_step = spec.algorithm.time_attr == TimeAttribute::step;
    std::vector<Measured> values;
    for (const store::MetricBucket& bucket : curve.buckets) {
        const std::int64_t time = by_step ? bucket.last.step : bucket.last.epoch;
        if (!values.empty() && values.back().time == time) {
            values.back().value = bucket.last.value;
        } else {
            values.push_back({.time = time, .value = bucket.last.value});
            first_step = bucket.last.step;
        }
    }
    return values;
}

SweepFolds folds_of_split(const store::StoredSplit& split) {
    SweepFolds folds{.dataset_id = split.dataset_id, .sizes = {}};
    const Json report = store::stored_json(split.report);
    for (const Json& part : report.at("parts"))
        folds.sizes.push_back({.train = part.at("train").get<std::int64_t>(),
                               .val = part.at("val").get<std::int64_t>()});
    return folds;
}

/// With early stopping that of the best evaluation.
std::optional<double> judged_value(store::Store& store, const std::string& job_id,
                                   const SweepSpec& spec) {
    const auto job = store::find_job(store, job_id);
    const auto trained = decode_job_spec(job ? store::stored_json(job->spec) : Json());
    const auto& stopping = trained.value.train.early_stopping;
    const auto best =
        stopping ? submission::best_evaluation(store, job_id, *stopping) : std::nullopt;
    if (best) return submission::value_of(store, *best, measured_metric(spec));
    std::int64_t first_step = 0;
    const std::vector<Measured> values = values_of(store, job_id, spec, first_step);
    return values.empty() ? std::nullopt : std::optional(values.back().value);
}

/// The value of a fold is that of its last evaluation, once it has trained.
std::vector<Measured> value_of_fold(store::Store& store, const store::TrialJob& job,
                                    const SweepRun& run) {
    if (job.state != JobState::succeeded) return {};
    const auto value = judged_value(store, job.job_id, run.spec);
    if (!value) return {};
    const auto& trial = run.search.trials()[std::size_t(job.trial)];
    return {{.time = std::int64_t(trial.fold_values.size()) + 1, .value = *value}};
}

}    // namespace

struct SweepLoop::Parts {
    Parts(store::Store& store_, submission::QueueLimit limit_, SweepLoopOptions options_,
          const Clock& clock_)
        : store(store_),
          limit(limit_),
          options(std::move(options_)),
          clock(clock_),
          leader(store.options(), sweeps_leader_name),
          listener(store.options()) {}

    store::Store& store;
    const submission::QueueLimit limit;
    const SweepLoopOptions options;
    const Clock& clock;

    mutable std::mutex mutex;
    SweepLoopCounts published;    // guarded by mutex

    using OpenJobs = std::vector<store::TrialJob>;

    // The thread's own.
    store::Leader leader;
    store::LeaderTerm term;
    SweepLoopCounts counts;
    /// A run, and how far its jobs were when it was last looked at.
    struct Followed {
        SweepRun run;
        std::map<std::string, std::int64_t> seen = {};         // by job
        std::map<std::string, std::int64_t> read_from = {};    // by job: the step of the next read
        Tick values_read{};                                    // of jobs that have not ended
        Tick tidied{};            // when its checkpoints were last looked at
        bool is_untidy = true;    // something has changed since
    };
    std::map<std::string, Followed> runs;
    std::set<std::string> failing;    // sweeps whose last step failed, for the log
    std::set<std::string> behind;     // sweeps whose last step was cut short
    std::string served;               // the last of these
    std::set<store::Right> lost_rights;
    Tick rights_read{};
    std::vector<std::string> watched;
    Tick watched_at{};
    Tick led_at{};
    Tick ended_read{};

    store::Listener listener;
    std::jthread thread;

    void work(const std::stop_token& stop) {
        const std::stop_callback on_stop(stop, [this] { listener.wake(); });
        while (!stop.stop_requested()) {
            const Tick began = clock.tick();
            try {
                if (lead()) look();
            } catch (const std::exception& error) {
                log_warn("sweeps were not looked at", {{"reason", error.what()}});
            }
            publish();
            wait(stop, began);
        }
        leader.resign();
    }

    /// A burst of changes is one look. Without active sweeps only a sweep is worth one. What a job
    /// says as it runs waits for the next tick: it is read twice a second. Its end frees a core.
    void wait(const std::stop_token& stop, Tick began) {
        const auto left = [&](std::chrono::milliseconds whole) {
            return std::chrono::duration_cast<std::chrono::milliseconds>(
                std::max(Tick::duration::zero(), began + whole - clock.tick()));
        };
        while (!stop.stop_requested()) {
            if (!behind.empty()) break;
            const auto heard = listener.wait(left(options.tick));
            const bool is_worth_it = std::ranges::any_of(heard, [this](const std::string& topic) {
                return topic.starts_with("swp_") || topic == store::Listener::missed ||
                       (counts.active > 0 && topic == store::topics::queue);
            });
            if (is_worth_it || left(options.tick).count() == 0) break;
        }
        while (!stop.stop_requested() && left(options.pause) > std::chrono::milliseconds{1})
            listener.wait(left(options.pause));
    }

    void publish() {
        const std::scoped_lock lock(mutex);
        published = counts;
    }

    bool lead() {
        if (counts.leads && clock.tick() - led_at < store::lead_again) return true;
        led_at = clock.tick();
        const auto led = leader.lead();
        if (!led || led->number != term.number) runs.clear();
        counts.leads = led.has_value();
        if (led) term = *led;
        return counts.leads;
    }

    void look() {
        const auto active = store::list_active_sweeps(store, active_sweeps_max);
        counts.active = std::int64_t(active.size());
        std::map<std::string, OpenJobs> jobs;
        for (const store::ActiveSweep& sweep : active)
            jobs[sweep.id];
        std::erase_if(runs, [&](const auto& one) { return !jobs.contains(one.first); });
        if (!active.empty()) {
            read_rights(active);
            read_open_jobs(jobs);
            follow_all(active, jobs);
            keep_watched();
        }
        if (clock.tick() - ended_read >= options.tick) tidy_ended();
    }

    /// Sweeps whose points are quickly chosen go first; the others have some time, in turns.
    void follow_all(const std::vector<store::ActiveSweep>& active,
                    std::map<std::string, OpenJobs>& jobs) {
        std::map<std::string, const store::ActiveSweep*> slow;
        for (const store::ActiveSweep& sweep : active) {
            if (behind.contains(sweep.id))
                slow[sweep.id] = &sweep;
            else
                follow(sweep, jobs[sweep.id]);
        }
        std::erase_if(behind, [&](const std::string& id) { return !jobs.contains(id); });
        const Tick began = clock.tick();
        for (std::size_t left = slow.size(); left > 0; --left) {
            auto next = slow.upper_bound(served);
            if (next == slow.end()) next = slow.begin();
            served = next->first;
            follow(*next->second, jobs[served]);
            if (clock.tick() - began >= options.slow_sweeps_for) break;
        }
        counts.behind = std::int64_t(behind.size());
    }

    /// Trials that may be ended for what they report are followed.
    void keep_watched() {
        std::vector<std::string> judged;
        for (const auto& [id, followed] : runs)
            if (judges_running_trials(followed.run.spec)) judged.push_back(id);
        const bool is_due = judged != watched || clock.tick() - watched_at >= store::watch_again;
        if (judged.empty() || !is_due) return;
        store::keep_watched(store, judged);
        watched = std::move(judged);
        watched_at = clock.tick();
    }

    /// Of all of them at once, so that a look costs the same with one sweep and with a thousand
    /// that wait. Older than the runs may be: only this thread makes jobs, and a run that somebody
    /// else has changed is not written.
    void read_open_jobs(std::map<std::string, OpenJobs>& jobs) {
        std::vector<std::string> ids;
        for (const auto& [id, none] : jobs)
            ids.push_back(id);
        for (store::TrialJob& job : store::list_open_trial_jobs(store, ids))
            jobs[job.sweep_id].push_back(std::move(job));
    }

    /// Sweeps that have ended since, of whichever process.
    void tidy_ended() {
        ended_read = clock.tick();
        for (const std::string& id : store::list_untidied_sweeps(store, sweeps_at_once)) {
            try {
                auto stored = store::find_sweep(store, id);
                if (stored && !stored->external) tidy(load_run(store, *std::move(stored)));
                store::mark_sweep_tidied(store, id, term);
            } catch (const std::exception& error) {
                if (failing.insert(id).second)
                    log_warn("checkpoints of a sweep were not looked at",
                             {{"sweep_id", id}, {"reason", error.what()}});
            }
        }
    }

    /// Deletes what trials that were passed by need no longer.
    void tidy(const SweepRun& run) {
        if (run.spec.keep_checkpoints != KeptCheckpoints::all) tidy_checkpoints(run);
        if (run.spec.keep_reports != KeptCheckpoints::all) tidy_reports(run);
    }

    /// Programs and timelines: most of what a short trial leaves on disk.
    void tidy_reports(const SweepRun& run) {
        std::string after;
        for (;;) {
            const auto ended =
                store::list_whole_reports(store, run.sweep.id, after, checkpoints_at_once);
            std::vector<std::string> passed;
            for (const store::EndedTrialJob& one : ended)
                if (is_passed_by(run, one)) passed.push_back(one.id);
            counts.trimmed_reports += store::trim_reports(store, passed);
            if (int(ended.size()) < checkpoints_at_once) return;
            after = ended.back().id;
        }
    }

    /// What somebody needs meanwhile stays.
    void tidy_checkpoints(const SweepRun& run) {
        std::string after;
        for (;;) {
            const auto idle =
                store::list_idle_checkpoints(store, run.sweep.id, after, checkpoints_at_once);
            for (const store::IdleCheckpoint& one : idle)
                if (is_passed_by(run, one)) delete_idle(one.id);
            if (int(idle.size()) < checkpoints_at_once) return;
            after = idle.back().id;
        }
    }

    void delete_idle(const std::string& id) {
        try {
            if (store::delete_checkpoint(store, id)) ++counts.deleted_checkpoints;
        } catch (const Error& error) {
            if (error.code() != ErrorCode::conflict) throw;
            log_debug("a checkpoint of a sweep is in use", {{"checkpoint_id", id}});
        }
    }

    /// After its steps, and not after each one of a burst.
    void tidy_now_and_then(Followed& followed) {
        if (!followed.is_untidy || clock.tick() - followed.tidied < tidy_every) return;
        followed.tidied = clock.tick();
        followed.is_untidy = false;
        tidy(followed.run);
    }

    void read_rights(const std::vector<store::ActiveSweep>& active) {
        if (rights_read != Tick{} && clock.tick() - rights_read < rights_every) return;
        rights_read = clock.tick();
        std::set<store::Right> needed;
        for (const store::ActiveSweep& sweep : active)
            needed.insert(right_of(sweep.created_by, sweep.project));
        const auto lost = store::list_lost_rights(store, {needed.begin(), needed.end()});
        lost_rights = {lost.begin(), lost.end()};
    }

    /// One sweep that cannot go on does not keep the others from it.
    void follow(const store::ActiveSweep& sweep, const OpenJobs& jobs) {
        try {
            take_step(sweep, jobs);
            failing.erase(sweep.id);
        } catch (const std::exception& error) {
            runs.erase(sweep.id);
            ++counts.failed_steps;
            if (dynamic_cast<const store::SweepChanged*>(&error) != nullptr) return;
            if (failing.insert(sweep.id).second)
                log_warn("a sweep cannot go on",
                         {{"sweep_id", sweep.id}, {"reason", error.what()}});
        }
    }

    void take_step(const store::ActiveSweep& sweep, const OpenJobs& jobs) {
        auto found = runs.find(sweep.id);
        if (found == runs.end() || found->second.run.sweep.version != sweep.version) {
            runs.erase(sweep.id);
            auto stored = store::find_sweep(store, sweep.id);
            if (!stored) return;
            found = runs.emplace(sweep.id, Followed{load_run(store, *std::move(stored))}).first;
        }
        Followed& followed = found->second;
        if (!has_folds(followed.run)) return;
        move_jobs(followed.run, jobs);
        CoordinatorStep step = advance(followed.run, observe(followed, jobs));
        if (step.has_used_its_slice) {
            ++counts.slices_used;
            behind.insert(sweep.id);
        } else {
            behind.erase(sweep.id);
        }
        if (step.is_empty()) return tidy_now_and_then(followed);
        followed.is_untidy = true;
        write(followed.run, step);
        if (is_final(followed.run.sweep.state)) runs.erase(sweep.id);
    }

    /// False, and the folds are written down as soon as they are known: the trials cannot start.
    bool has_folds(SweepRun& run) {
        if (!run.spec.cross_validation || !run.folds.sizes.empty()) return true;
        if (run.sweep.state == SweepState::stopping) return true;    // nothing will start
        const auto split = store::find_split(store, run.sweep.split_id);
        if (split && split->state == store::SplitState::making) return false;
        store::SweepStep step{.sweep_id = run.sweep.id, .version = run.sweep.version};
        if (split && split->state == store::SplitState::ready) {
            step.folds = encode_folds(folds_of_split(*split));
        } else {
            step.state = SweepState::failed;
            step.reason = store::Reason{
                "split_failed",
                fmt::format("the split {} {}", run.sweep.split_id,
                            split ? "cannot be made: see its problems" : "was deleted")};
        }
        store::commit_sweep_step(store, step, term);
        runs.erase(run.sweep.id);    // the search is made of the folds
        return false;
    }

    Observation observe(Followed& followed, const OpenJobs& jobs) {
        const SweepRun& run = followed.run;
        Observation seen{.owner_is_lost = lost_rights.contains(
                             right_of(run.sweep.created_by, run.sweep.project))};
        const bool reads_all = clock.tick() - followed.values_read >= options.values_every;
        if (reads_all) followed.values_read = clock.tick();
        for (const store::TrialJob& job : jobs) {
            ObservedJob observed{.trial = job.trial, .state = job.state, .reason = job.reason};
            std::int64_t& before =
                followed.seen.try_emplace(job.job_id, job.seen + 1).first->second;
            if (!job.state) before = job.seen;
            if (before != job.seen && (reads_all || is_final(*job.state))) {
                observed.values =
                    run.spec.cross_validation
                        ? value_of_fold(store, job, run)
                        : values_of(store, job.job_id, run.spec,
                                    followed.read_from.try_emplace(job.job_id, 0).first->second);
                before = job.seen;
            }
            seen.jobs.push_back(std::move(observed));
        }
        if (run.spec.limits.max_core_s)
            seen.core_s = store::sweep_core_seconds(store, run.sweep.id);
        seen.age_s = std::chrono::duration<double>(clock.now() - run.sweep.created_at).count();
        return seen;
    }

    /// The jobs of a paused sweep pause, and go on with it.
    void move_jobs(const SweepRun& run, const OpenJobs& jobs) {
        for (const store::TrialJob& job : jobs) {
            if (!job.state) continue;
            const bool has_rest = *job.state == JobState::paused || *job.state == JobState::pausing;
            if (run.sweep.state == SweepState::paused && !has_rest) {
                move(job.job_id, [&] {
                    store::request_intent(store, job.job_id, Intent::pause, paused_reason);
                });
            } else if (run.sweep.state == SweepState::running && *job.state == JobState::paused &&
                       job.reason && job.reason->code == paused_reason.code) {
                move(job.job_id, [&] { store::resume_job(store, job.job_id); });
            }
        }
    }

    static void move(const std::string& job_id, const std::function<void()>& change) {
        try {
            change();
        } catch (const store::IllegalTransition&) {
            // It is about to end by itself.
            log_debug("a job of a sweep was not moved", {{"job_id", job_id}});
        }
    }

    void write(SweepRun& run, CoordinatorStep& step) {
        std::vector<submission::CheckedJob> jobs = make_jobs(run, step);
        // A job without a name gets an id when it is stored; the trial's row needs it before.
        for (submission::CheckedJob& job : jobs) {
            job.id = new_id("job");
            TrialJobs& trial = run.jobs[std::size_t(std::stoll(job.parent->key))];
            trial.job_id = job.id;
        }
        store::SweepStep stored = step_of(run, step.log);
        stored.state = step.state;
        stored.reason = step.reason;
        for (const auto& [trial, reason] : step.ends)
            stored.ends[run.jobs[std::size_t(trial)].job_id] = reason;
        if (jobs.empty()) {
            run.sweep = store::commit_sweep_step(store, stored, term);
        } else {
            submit_with(run, stored, std::move(jobs));
        }
        ++counts.steps;
    }

    std::vector<submission::CheckedJob> make_jobs(SweepRun& run, CoordinatorStep& step) {
        std::vector<submission::CheckedJob> jobs;
        for (const WantedJob& wanted : std::vector<WantedJob>(step.jobs)) {
            Decoded<submission::CheckedJob> job = make_trial_job(store, run, wanted);
            if (job.ok()) {
                jobs.push_back(std::move(job.value));
            } else {
                fail_trial(run, step, wanted.trial, joined_messages(job.problems));
            }
        }
        return jobs;
    }

    void submit_with(SweepRun& run, const store::SweepStep& stored,
                     std::vector<submission::CheckedJob> jobs) {
        const auto count = std::int64_t(jobs.size());
        submission::submit(store, limit,
                           {.jobs = std::move(jobs),
                            .token_id = run.sweep.created_by,
                            .also =
                                [&](store::Transaction& transaction) {
                                    store::write_sweep_step(transaction, stored, term);
                                }},
                           [](std::span<const store::Job>) { return store::StoredResponse{}; });
        counts.jobs += count;
        store::announce_sweep_step(store, stored);
        ++run.sweep.version;
        options.on_queued();
    }
};

SweepLoop::SweepLoop(store::Store& store, submission::QueueLimit limit, SweepLoopOptions options,
                     const Clock& clock)
    : parts_(std::make_unique<Parts>(store, limit, std::move(options), clock)) {
    parts_->thread = std::jthread([this](const std::stop_token& stop) { parts_->work(stop); });
}

SweepLoop::~SweepLoop() {
    parts_->thread.request_stop();
    parts_->thread.join();
}

void SweepLoop::wake() {
    parts_->listener.wake();
}

SweepLoopCounts SweepLoop::counts() const {
    const std::scoped_lock lock(parts_->mutex);
    return parts_->published;
}

}    // namespace slipway::sweeps
