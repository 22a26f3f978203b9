// Stores what executors have said. Each batch of frames is a transaction and costs as much as a
// hundred events, so batches become larger as an attempt gets older: the first frames wait only for
// those that follow them at once, the first step for nothing, later ones up to a tenth of a second.
// One batch of each attempt at a time, in threads of their own: in the thread that starts attempts,
// a start waited for the commits of all others. First words, last words and long batches are stored
// alone, so that they wait for nobody else's; the others, which are most, go together. What the
// supervisor sees of an attempt while a step of it runs is taken in afterwards.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "api/base/log.h"
#include "scheduler/agent/attempt_reconciler.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/relay.h"

namespace slipway {

namespace {

/// An executor that finds its programs in memory takes its first step within them.
constexpr std::chrono::milliseconds first_words{15};
constexpr std::chrono::milliseconds relay_pause_min{60};
/// Attempts that have run for longer store at the same times, so that they go together.
constexpr std::chrono::milliseconds relay_every{100};
constexpr std::chrono::milliseconds steady_pause_min{25};
/// What is heard so soon after such a time counts as said before it.
constexpr std::chrono::milliseconds hearing_takes{25};
/// In one transaction. More would wait for each other's, and each holds the locks of all.
constexpr std::size_t together_max = 16;
/// Who said more the last time has a step of its own: to read frames takes a thread's time.
constexpr std::size_t few_frames = 100;
constexpr std::chrono::seconds faults_every{2};
constexpr std::chrono::seconds stuck_pause{1};    // before a step that failed is tried again
/// A process that says nothing for so long is recorded without its first words.
constexpr std::chrono::milliseconds record_pause{50};

void name_host(store::AttemptEnd& end) {
    end.message = fmt::format("host {}: {}", end.fault_host, end.message);
    if (end.reason)
        end.reason->message = fmt::format("host {}: {}", end.fault_host, end.reason->message);
}

}    // namespace

void AttemptReconciler::drain_events(SupervisorEvents& events) {
    for (const std::string& name : events.speaking) {
        const auto found = live_.find(name);
        if (found != live_.end() && !found->second.heard.spoke)
            found->second.heard.spoke = clock_.tick();
    }
    for (const std::string& name : events.stepped) {
        const auto found = live_.find(name);
        if (found != live_.end()) found->second.heard.stepped = true;
    }
    std::erase_if(events.ended, [this](const Ended& ended) {
        const auto found = live_.find(ended.name);
        if (found == live_.end()) return false;
        found->second.heard.ended = ended;
        return true;
    });
    counts_.unresponsive += events.unresponsive;
    for (auto& [name, live] : live_)
        if (!live.busy) take_in(live);
}

/// What was heard of an attempt of which no step runs.
void AttemptReconciler::take_in(Live& live) {
    const Heard heard = std::exchange(live.heard, {});
    if (heard.spoke) {
        expect_words(live, *heard.spoke);
        if (live.spoke_first == Tick{}) {
            live.spoke_first = *heard.spoke;
            live.relay_next = live.spoke_first + first_words;
        }
    }
    if (heard.stepped) {
        live.stepped = true;
        live.relay_next = Tick{};
    }
    if (heard.ended) {
        live.ended = heard.ended;
        live.speaking = true;    // its last words
    }
}

/// The first of the times at which attempts like this one store together, not before `from`.
Tick AttemptReconciler::common_time(const Live& live, Tick from) const {
    const Tick::duration every = live.is_watched ? relay_every : options_.store_every;
    const Tick::duration last = from.time_since_epoch() - Tick::duration{1};
    return Tick(last - last % every + every);
}

/// Frames may be waiting. Who has been silent for a while stores together with the others, too.
void AttemptReconciler::expect_words(Live& live, Tick since) const {
    if (live.is_steady && !live.speaking)
        live.relay_next = std::max(live.relay_next, common_time(live, since - hearing_takes));
    live.speaking = true;
}

/// Who begins to follow an attempt does not wait for what would have been stored later.
void AttemptReconciler::set_watched(Live& live, bool is_watched) const {
    if (is_watched == live.is_watched) return;
    live.is_watched = is_watched;
    if (is_watched && live.is_steady)
        live.relay_next = std::min(live.relay_next, common_time(live, clock_.tick()));
}

void AttemptReconciler::begin_step(Live& live, Step step) {
    live.busy = true;
    steps_.add([this, &live, step] {
        StepEnd end{.live = &live, .problem = {}, .unavailable = {}};
        try_for(end, [&] { (this->*step)(live); });
        end_steps({&end, 1});
    });
}

void AttemptReconciler::try_for(StepEnd& end, const std::function<void()>& act) {
    try {
        end.problem = problem_of(act);
    } catch (const Error&) {
        end.unavailable = std::current_exception();
    }
}

/// One step of several attempts.
void AttemptReconciler::begin_relay(std::vector<Live*> lives) {
    for (Live* live : lives)
        live->busy = true;
    steps_.add([this, lives = std::move(lives)] {
        std::vector<StepEnd> ends = relay_together(lives);
        end_steps(ends);
    });
}

void AttemptReconciler::end_steps(std::span<StepEnd> ends) {
    {
        const std::scoped_lock lock(mutex_);
        std::ranges::move(ends, std::back_inserter(ended_steps_));
    }
    on_step_ended_();
}

/// Returns what one of them threw, if any did.
std::exception_ptr AttemptReconciler::collect_ended() {
    std::vector<StepEnd> ended;
    {
        const std::scoped_lock lock(mutex_);
        ended.swap(ended_steps_);
    }
    std::exception_ptr unavailable;
    for (const StepEnd& end : ended) {
        Live& live = *end.live;
        live.busy = false;
        live.not_before = end.problem.empty() ? Tick{} : clock_.tick() + stuck_pause;
        if (!end.problem.empty()) note_problem(live.name(), end.problem);
        if (end.unavailable) unavailable = end.unavailable;
        counts_ = sum_of(counts_, std::exchange(live.counts, {}));
        made_garbage_ = std::exchange(live.made_garbage, false) || made_garbage_;
        take_in(live);
    }
    forget_ended();
    return unavailable;
}

void AttemptReconciler::collect() {
    if (const std::exception_ptr unavailable = collect_ended()) std::rethrow_exception(unavailable);
}

void AttemptReconciler::collect_all() {
    steps_.wait();
    collect_ended();
}

std::optional<Tick> AttemptReconciler::relay() {
    const Tick now = clock_.tick();
    std::optional<Tick> next;
    std::vector<Live*> together;
    for (auto& [name, live] : live_) {
        if (live.busy || live.fenced || live.failed || live.member_stored || live.end_stored)
            continue;
        const bool unrecorded = is_unrecorded(live);
        if (!(unrecorded || live.speaking || live.ended)) continue;
        if (unrecorded && live.record_by == Tick{}) live.record_by = now + record_pause;
        const Tick when = std::max(next_step_of(live, now), live.not_before);
        if (when > now)
            next = std::min(next.value_or(when), when);
        else if (unrecorded || live.ended || !live.is_steady || live.hosts > 1)
            begin_step(live, &AttemptReconciler::relay_and_finish);
        else
            together.push_back(&live);
    }
    for (std::size_t at = 0; at < together.size(); at += together_max) {
        const auto begin = together.begin() + std::ptrdiff_t(at);
        const std::size_t count = std::min(together_max, together.size() - at);
        begin_relay({begin, begin + std::ptrdiff_t(count)});
    }
    return next;
}

bool AttemptReconciler::is_unrecorded(const Live& live) {
    return !live.recorded && live.process.pid != 0;
}

/// When there is something to store of it.
Tick AttemptReconciler::next_step_of(const Live& live, Tick now) {
    if (live.ended) return now;
    if (!is_unrecorded(live)) return live.relay_next;
    const bool spoke = live.speaking && live.spoke_first != Tick{};
    return spoke ? std::min(live.relay_next, live.record_by) : live.record_by;
}

/// What has ended and has said all is stored to its end at once: its core is free a turn earlier.
void AttemptReconciler::relay_and_finish(Live& live) {
    relay_one(live);
    if (live.ended && live.speaking) relay_one(live);    // finds that no more was said
    if (is_complete(live) && lacks_end(live)) finish_one(live);
}

void AttemptReconciler::relay_one(Live& live) {
    const bool speaks = live.ended || (live.speaking && live.relay_next <= clock_.tick());
    if (speaks && !live.fenced) {
        Live* const alone = &live;
        const StepEnd end = std::move(relay_together({&alone, 1}).front());
        if (end.unavailable) std::rethrow_exception(end.unavailable);
        if (!end.problem.empty()) throw Error{ErrorCode::internal, end.problem};
    }
    if (is_unrecorded(live) && !live.fenced) record(live);    // it had nothing to say
}

/// Stores the next frames of each. What goes wrong with one is in its end.
std::vector<AttemptReconciler::StepEnd> AttemptReconciler::relay_together(
    std::span<Live* const> lives) {
    std::vector<StepEnd> ends;
    std::deque<Words> words;
    std::vector<store::RelayedOne*> asked;
    for (Live* live : lives) {
        ends.push_back({.live = live, .problem = {}, .unavailable = {}});
        try_for(ends.back(), [&] { live->speaking = read_words(*live, words); });
    }
    for (Words& one : words)
        asked.push_back(&one.batch);
    std::vector<std::exception_ptr> errors(asked.size());
    store::relay_frames(store_, asked, errors);
    for (std::size_t i = 0; i < words.size(); ++i) {
        Words& one = words[i];
        StepEnd& end =
            *std::ranges::find(ends, one.live, [](const StepEnd& of) { return of.live; });
        try_for(end, [&] { take_answer(one, errors[i]); });
    }
    return ends;
}

void AttemptReconciler::take_answer(Words& words, const std::exception_ptr& problem) {
    Live& live = *words.live;
    try {
        if (problem) std::rethrow_exception(problem);
    } catch (const Error& error) {
        if (!store::is_refused_content(error)) throw;
        return fail(live, "bad_frame",
                    fmt::format("a frame of the executor cannot be stored: {}", error.what()));
    }
    words.batch.stored ? keep_relayed(words) : give_up(live);
}

void AttemptReconciler::record(Live& live) {
    try {
        store::record_process(store_, live.key, live.rank, live.process.pid,
                              live.process.start_ticks, live.resumed_from_id);
        live.recorded = true;
    } catch (const store::Fenced&) {
        give_up(live);
    }
}

/// Of a library that complains in a loop, or of an executor that tries to fill the disk.
void AttemptReconciler::limit_output(Live& live) {
    const std::int64_t bytes_max = options_.frames_bytes_max;
    struct stat found {};
    if (bytes_max <= 0 || live.failed || lstat((live.folder / "output.log").c_str(), &found) != 0 ||
        found.st_size <= bytes_max)
        return;
    fail(live, "frames_limit",
         fmt::format("the attempt's process wrote more than {} MiB to its output (output.log; "
                     "--frames-max-mib)",
                     bytes_max >> 20));
}

/// Adds the next frames, if there are any; false when no more are to be expected.
bool AttemptReconciler::read_words(Live& live, std::deque<Words>& words) {
    const std::int64_t bytes_max = options_.frames_bytes_max;
    if (bytes_max > 0 && live.tail.offset() > bytes_max) {
        fail(live, "frames_limit",
             fmt::format("the attempt reported more than {} MiB of events, metrics and logs "
                         "(--frames-max-mib): raise monitor.log_every_steps",
                         bytes_max >> 20));
        return false;
    }
    const std::vector<ReadFrame>& read = live.tail.peek();
    if (live.tail.done_before() && !live.done) keep_done(live, *live.tail.done_before());
    if (read.empty()) return live.tail.has_more();
    // Whole before it is added: what throws leaves no batch without a key.
    Words added{.live = &live};
    for (const ReadFrame& each : read) {
        added.frames.push_back(each.frame);
        // Its end is stored next.
        added.frames.back().ends = each.done && live.ended && live.hosts == 1;
    }
    keep_member_frames(live, added.frames);
    if (!live.metrics) live.metrics.emplace().names_max = options_.metric_names_max;
    added.points_skipped_before = live.metrics->points_skipped;
    added.batch = {
        .key = &live.key, .frames = &added.frames, .series = &*live.metrics, .rank = live.rank};
    if (is_unrecorded(live))
        added.batch.process = {.pid = live.process.pid,
                               .start_ticks = live.process.start_ticks,
                               .resumed_from_id = live.resumed_from_id};
    Words& kept = words.emplace_back(std::move(added));
    kept.batch.frames = &kept.frames;
    return true;
}

void AttemptReconciler::keep_relayed(const Words& words) {
    Live& live = *words.live;
    const store::Relayed& relayed = *words.batch.stored;
    live.job_state = relayed.job_state;
    live.frames_stored = relayed.frames_relayed;
    live.recorded = live.recorded || words.batch.process.has_value();
    live.relay_next = next_relay(live, words.frames.size());
    live.counts.metric_points_skipped += live.metrics->points_skipped - words.points_skipped_before;
    live.counts.frames_relayed += std::int64_t(words.frames.size());
    live.made_garbage = live.made_garbage || !relayed.pruned.empty();
    for (const ReadFrame& each : live.tail.peek())
        if (each.done) keep_done(live, *each.done);
    live.tail.advance();
    if (live.done || live.ended) return;
    if (relayed.intent && is_asked(live, *relayed.intent))
        supervisor_.stop(live.name(), *relayed.intent);
}

/// The first batches soon after each other; from then on those of all attempts at the same times.
Tick AttemptReconciler::next_relay(Live& live, std::size_t frames) const {
    const Tick now = clock_.tick();
    const Tick::duration age = now - live.spoke_first;
    // Until then the words of a start are stored soon: somebody may wait for them.
    const bool has_begun = 3 * age >= relay_every || (live.stepped && !live.is_watched);
    live.is_steady = frames <= few_frames && has_begun;
    if (!live.is_steady)
        return now + std::clamp<Tick::duration>(3 * age, relay_pause_min, relay_every);
    return common_time(live, now + steady_pause_min);
}

/// What the executor says cannot be kept: it ends, nothing more of it is read, nobody else waits.
void AttemptReconciler::fail(Live& live, const std::string& code, const std::string& why) {
    log_error("an attempt failed because of what its executor reports",
              {{"attempt", live.name()}, {"reason", why}});
    live.done = DoneFrame{.code = code, .message = why};
    live.failed = true;
    live.speaking = false;
    if (!live.ended) supervisor_.kill(live.name(), EndCause::kill);
}

void AttemptReconciler::keep_done(Live& live, const DoneFrame& done) {
    live.done = done;
    if (!live.ended) supervisor_.done_received(live.name());
}

/// It has ended, and all that it said is stored that will be.
bool AttemptReconciler::is_complete(const Live& live) {
    return live.ended && (live.fenced || live.failed || live.member_stored || !live.speaking);
}

/// A member of a slice that has stored its own end waits for those of the others.
bool AttemptReconciler::lacks_end(const Live& live) {
    if (live.fenced || live.end_stored) return false;
    return !live.member_stored || (live.rank == 0 && !live.ended_members.empty());
}

void AttemptReconciler::finish() {
    const Tick now = clock_.tick();
    for (auto& [name, live] : live_) {
        if (live.busy || !is_complete(live) || !lacks_end(live) || live.not_before > now) continue;
        begin_step(live, &AttemptReconciler::finish_one);
    }
    forget_ended();
}

void AttemptReconciler::forget_ended() {
    bool freed = false;
    for (auto each = live_.begin(); each != live_.end();) {
        const Live& live = each->second;
        if (live.busy || !is_complete(live)) {
            ++each;
            continue;
        }
        const bool over = live.fenced || live.end_stored;
        if (over || live.member_stored) records_.forget(each->first);
        each = over ? live_.erase(each) : std::next(each);
        freed = freed || over;
    }
    if (freed && options_.on_freed) options_.on_freed();
}

void AttemptReconciler::finish_one(Live& live) {
    if (live.hosts > 1) return finish_member(live);
    store::AttemptEnd end = own_end(live);
    if (!end.fault_host.empty()) name_host(end);
    note_start(live, end);
    finish_with(live, end);
}

/// What the start of an attempt says of this host.
void AttemptReconciler::note_start(const Live& live, const store::AttemptEnd& own) {
    if (own.fault_host == options_.host)
        faults_.add(live.key.job_id, own.message, own.fails_everywhere || !own.crash_key.empty());
    else if (live.stepped || own.job_state == JobState::succeeded)
        faults_.clear();
}

/// A job is asked for only while enough starts have failed in a row.
void AttemptReconciler::drain_when_faulty() {
    if (clock_.tick() < faults_next_) return;
    faults_next_ = clock_.tick() + faults_every;
    const auto has_begun = [this](const std::string& job_id) {
        const auto job = store::find_job(store_, job_id);
        return job && (job->state == JobState::running || job->state == JobState::finishing ||
                       job->state == JobState::succeeded);
    };
    const std::optional<std::string> reason = faults_.reason_to_drain(has_begun);
    if (!reason) return;
    log_error("this host takes no more jobs", {{"host", options_.host}, {"reason", *reason}});
    store::drain_host(store_, options_.host, *reason, {});
    faults_.clear();
}

void AttemptReconciler::finish_with(Live& live, const store::AttemptEnd& decided) {
    const bool is_refused = !decided.fault_host.empty() && decided.job_state == JobState::queued;
    const store::AttemptEnd end =
        is_refused ? try_elsewhere(decided, live.wanted, store::list_hosts(store_)) : decided;
    try {
        store_end(live, end);
    } catch (const store::Fenced&) {
        log_warn("an attempt ended that was no longer ours", {{"attempt", live.name()}});
    } catch (const Error& problem) {
        const auto* illegal = dynamic_cast<const store::IllegalTransition*>(&problem);
        if (illegal == nullptr && !store::is_refused_content(problem)) throw;
        log_error("the end of an attempt cannot be stored as it was reported",
                  {{"attempt", live.name()}, {"reason", problem.what()}});
        store::AttemptEnd fallback = end;
        fallback.job_state = JobState::failed;
        fallback.reason = store::Reason{.code = "internal", .message = problem.what()};
        fallback.result.clear();
        store_end(live, fallback);
    }
    live.end_stored = true;
    preparations_.add([this] {
        launcher_.tidy();
        spares_.refill();
    });
    ++live.counts.finished;
    if (end.exit_kind == "crashed") ++live.counts.crashed;
}

void AttemptReconciler::store_end(const Live& live, const store::AttemptEnd& end) {
    const JobState state = store::finish_attempt(store_, live.key, end);
    log_info("attempt ended", {{"job_id", live.key.job_id},
                               {"attempt", live.key.attempt},
                               {"how", end.exit_kind},
                               {"job_state", to_string(state)},
                               {"message", end.message}});
}

}    // namespace slipway
