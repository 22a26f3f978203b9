// Stores what executors have said. Each batch of frames is a transaction and costs as much as a
// hundred events, so batches become larger as an attempt gets older: the first frames wait only for
// those that follow them at once, the first step for nothing, later ones up to a tenth of a second.
// One batch of each attempt
// at a time, several attempts side by side: one after the other, each waited for the commits of all
// before it, and a start for all of them.
#include <fmt/format.h>

#include <algorithm>

#include "api/base/log.h"
#include "scheduler/agent/attempt_reconciler.h"
#include "scheduler/store/relay.h"

namespace slipway {

namespace {

/// An executor that finds its programs in memory takes its first step within them.
constexpr std::chrono::milliseconds first_words{15};
constexpr std::chrono::milliseconds relay_pause_min{60};
constexpr std::chrono::milliseconds relay_pause_max{100};

}    // namespace

void AttemptReconciler::drain_events(SupervisorEvents& events) {
    for (const std::string& name : events.speaking) {
        const auto found = live_.find(name);
        if (found == live_.end()) continue;
        Live& live = found->second;
        live.speaking = true;
        if (live.spoke_first != Tick{}) continue;
        live.spoke_first = clock_.tick();
        live.relay_next = live.spoke_first + first_words;
    }
    for (const std::string& name : events.stepped) {
        const auto found = live_.find(name);
        if (found != live_.end()) found->second.relay_next = Tick{};
    }
    std::erase_if(events.ended, [this](const Ended& ended) {
        const auto found = live_.find(ended.name);
        if (found == live_.end()) return false;
        found->second.ended = ended;
        found->second.speaking = true;    // its last words
        return true;
    });
    counts_.unresponsive += events.unresponsive;
}

std::optional<Tick> AttemptReconciler::relay() {
    const Tick now = clock_.tick();
    std::optional<Tick> next;
    std::vector<Live*> due;
    for (auto& [name, live] : live_) {
        const bool unrecorded = !live.recorded && live.process.pid != 0;
        if (live.fenced || live.failed || live.member_stored ||
            !(unrecorded || live.speaking || live.ended))
            continue;
        const Tick when =
            std::max(unrecorded || live.ended ? now : live.relay_next, live.not_before);
        if (when <= now)
            due.push_back(&live);
        else
            next = std::min(next.value_or(when), when);
    }
    each_alone(due, [this](Live& live) {
        relay_one(live);
        finish_at_once(live);
    });
    for (const Live* live : due)
        if (live->speaking) {
            const Tick when = std::max(live->ended ? now : live->relay_next, live->not_before);
            next = std::min(next.value_or(when), when);
        }
    return next;
}

void AttemptReconciler::relay_one(Live& live) {
    try {
        if (!live.recorded && live.process.pid != 0) record(live);
        if (live.ended || (live.speaking && live.relay_next <= clock_.tick()))
            live.speaking = relay_batch(live);
    } catch (const store::Fenced&) {
        give_up(live);
    } catch (const Error& error) {
        if (!store::is_refused_content(error)) throw;
        fail(live, "bad_frame",
             fmt::format("a frame of the executor cannot be stored: {}", error.what()));
    }
}

/// What has ended and has said all is stored to its end beside what others report: its core is free
/// a turn earlier.
void AttemptReconciler::finish_at_once(Live& live) {
    if (live.ended && live.speaking) relay_one(live);    // finds that no more was said
    if (is_complete(live) && !live.fenced && !live.end_stored) finish_one(live);
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

/// Stores the next frames; false when there are none.
bool AttemptReconciler::relay_batch(Live& live) {
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
    std::vector<store::RelayedFrame> frames;
    for (const ReadFrame& each : read)
        frames.push_back(each.frame);
    keep_member_frames(live, frames);
    if (!live.metrics) live.metrics.emplace().names_max = options_.metric_names_max;
    const std::int64_t skipped_before = live.metrics->points_skipped;
    const store::Relayed relayed =
        store::relay_frames(store_, live.key, frames, *live.metrics, live.rank);
    live.job_state = relayed.job_state;
    live.frames_stored = relayed.frames_relayed;
    const Tick now = clock_.tick();
    live.relay_next = now + std::clamp<Tick::duration>(3 * (now - live.spoke_first),
                                                       relay_pause_min, relay_pause_max);
    {
        const std::lock_guard lock(mutex_);
        counts_.metric_points_skipped += live.metrics->points_skipped - skipped_before;
        counts_.frames_relayed += std::int64_t(frames.size());
        made_garbage_ = made_garbage_ || !relayed.pruned.empty();
    }
    for (const ReadFrame& each : read)
        if (each.done) keep_done(live, *each.done);
    live.tail.advance();
    if (live.done || live.ended) return true;
    if (relayed.intent && is_asked(live, *relayed.intent))
        supervisor_.stop(live.name(), *relayed.intent);
    return true;
}

/// What the executor says cannot be kept: it ends, nothing more of it is read, nobody else waits.
void AttemptReconciler::fail(Live& live, const std::string& code, const std::string& why) {
    log_error("an attempt failed because a frame of its executor cannot be stored",
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

}    // namespace slipway
