// Batches of frames, one of each attempt, in one transaction: the attempts are locked by their
// fences, frames up to the last one stored are passed over, the rest become statements that are
// sent together, and `frames_relayed` moves with them. So a batch that is sent twice, by an agent
// that did not hear the answer, is stored once. Most batches are events, points and progress: of
// all attempts they are one statement of each kind, since a statement costs more than a row. What
// stands between events (states) or belongs to one job (checkpoints) is a statement of its own.
// Points of one name and step are merged before they are sent (the last one counts), events get the
// next numbers of the job, whose row is locked, and checkpoints that are no longer kept become
// garbage unless somebody uses them. Text that PostgreSQL cannot store is repaired, since one bad
// frame would otherwise stop the attempt for good.
#include "scheduler/store/relay.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/base/check.h"
#include "api/spec/checkpoint_name.h"
#include "api/spec/event.h"
#include "scheduler/store/job_rows.h"
#include "scheduler/store/pg/columns.h"
#include "scheduler/store/pg/group_commit.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

using enum JobState;

constexpr std::size_t name_bytes_max = 200;

std::vector<std::string> repaired_names(const std::vector<std::string>& names) {
    std::vector<std::string> repaired;
    for (const std::string& name : names)
        repaired.push_back(repaired_text(name, name_bytes_max));
    return repaired;
}

/// What the batches of a transaction have in common.
struct SharedStatements {
    Columns events{queries::insert_events};
    SeriesStatements series{};
    Columns advances{queries::advance_relay};

    std::vector<Statement> all() const {
        std::vector<Statement> ordered = series.all();
        for (const Columns* rows : {&events, &advances})
            if (!rows->empty()) ordered.push_back(rows->statement());
        return ordered;
    }
};

/// Turns the frames of an attempt that are new into statements.
class Batch {
public:
    Batch(RelayedOne& one, const Row& locked)
        : one_(one),
          key_(*one.key),
          series_(*one.series),
          now_(locked.time("now")),
          relayed_{.frames_relayed = locked.integer("frames_relayed"),
                   .event_seq = locked.integer("event_seq"),
                   .job_state = read_state(locked),
                   .intent = intent_of(locked)} {}

    void add(const RelayedFrame& frame) {
        if (frame.number <= relayed_.frames_relayed) return;
        relayed_.frames_relayed = frame.number;
        say_state_of(frame);
        for (const RelayedEvent& event : frame.events)
            add_event(event);
        for (const RelayedMetric& metric : frame.metrics)
            add_metric(metric);
        if (frame.checkpoint) add_checkpoint(*frame.checkpoint);
        keep_newest(progress_, frame.progress);
        keep_newest(best_, frame.best);
        keep_newest(effective_, frame.effective);
    }

    /// What has to be sent before what all share, to which the rest is added.
    std::vector<Statement> statements(Transaction& transaction, SharedStatements& shared) {
        enter_next();
        if (one_.process) record(*one_.process);
        add_events_to(shared.events);
        write_points(transaction, shared.series);
        shared.advances.add({key_.job_id, relayed_.event_seq, Param::or_null(progress_),
                             Param::or_null(best_), Param::or_null(effective_), key_.attempt,
                             relayed_.frames_relayed, one_.rank});
        return std::move(statements_);
    }

    /// Tells what the batch has done, and leaves the metrics as they are now.
    /// answers  to its own statements
    void stored(std::span<const Rows> answers) {
        for (const std::size_t pruning : prunings_)
            for (const Row row : answers[pruning])
                relayed_.pruned.push_back(row.text("name"));
        for (const auto& [name, end] : ends_)
            series_.ends[name] = end;
        series_.frames_relayed = relayed_.frames_relayed;
        series_.points_skipped += points_skipped_;
        series_.warned = series_.warned || points_skipped_ > 0;
        one_.stored = relayed_;
    }

private:
    /// A state waits for what follows: it may be one that the end passes.
    void say_state_of(const RelayedFrame& frame) {
        if (frame.ends && is_left_to_end(frame)) return next_state_.reset();
        enter_next();
        if (frame.state) next_state_ = frame.state->state;
        if (has_content(frame)) enter_next();
    }

    bool is_left_to_end(const RelayedFrame& frame) const {
        if (!frame.state || has_content(frame)) return false;
        return next_state_.value_or(frame.state->state) == frame.state->state;
    }

    static bool has_content(const RelayedFrame& frame) {
        return !frame.events.empty() || !frame.metrics.empty() || frame.checkpoint;
    }

    void enter_next() {
        if (next_state_) enter(*std::exchange(next_state_, std::nullopt));
    }

    void record(const RelayedProcess& process) {
        statements_.push_back({&queries::record_process,
                               {key_.job_id, key_.attempt, key_.fence, one_.rank, process.pid,
                                process.start_ticks, process.resumed_from_id}});
    }

    void enter(JobState state) {
        // An executor may start so fast that it never says "compiling".
        const bool skipped = relayed_.job_state == starting && state != compiling;
        if (skipped && allowed(compiling, state)) enter(compiling);
        const bool forward = state == compiling || state == running || state == finishing;
        if (!forward || !allowed(relayed_.job_state, state)) return;
        flush_events();
        statements_.push_back(
            {&queries::enter_state, {key_.job_id, to_string(state), relayed_.event_seq}});
        relayed_.job_state = state;
        ++relayed_.event_seq;    // the trigger's event
    }

    void add_event(const RelayedEvent& event) {
        const auto type = parse_word<EventType>(event.type);
        event_types_.push_back(type && is_relayed(*type) ? event.type : "warning");
        event_bodies_.push_back(repaired_json(event.body));
        ++relayed_.event_seq;
    }

    /// Those before a state go out before it, so that their times are in the order of their
    /// numbers.
    void flush_events() {
        Columns run(queries::insert_events);
        add_events_to(run);
        if (!run.empty()) statements_.push_back(run.statement());
    }

    void add_events_to(Columns& events) {
        const std::int64_t first = relayed_.event_seq - std::ssize(event_types_) + 1;
        for (std::size_t i = 0; i < event_types_.size(); ++i)
            events.add({key_.job_id, first + std::int64_t(i), std::move(event_types_[i]),
                        std::move(event_bodies_[i])});
        event_types_.clear();
        event_bodies_.clear();
    }

    void add_metric(const RelayedMetric& metric) {
        std::string name = repaired_text(metric.name, name_bytes_max);
        if (name.empty()) return;
        if (!has_room_for(name)) {
            if (!series_.warned && points_skipped_ == 0) warn_of(name);
            ++points_skipped_;
            return;
        }
        metrics_[std::move(name)][metric.step] = {.step = metric.step,
                                                  .epoch = metric.epoch,
                                                  .value = metric.value,
                                                  .attempt = key_.attempt,
                                                  .time = now_};
    }

    bool has_room_for(const std::string& name) {
        if (series_.names_max == 0 || series_.ends.contains(name) || metrics_.contains(name))
            return true;
        if (std::ssize(series_.ends) + new_names_ >= series_.names_max) return false;
        ++new_names_;
        return true;
    }

    void write_points(Transaction& transaction, SeriesStatements& statements) {
        if (metrics_.empty()) return;
        NewPoints points;
        for (const auto& [name, by_step] : metrics_) {
            std::vector<MetricSample>& samples = points[name];
            for (const auto& [step, sample] : by_step)
                samples.push_back(sample);
        }
        ends_ =
            add_points(transaction, key_.job_id, key_.attempt, points, series_.ends, statements);
    }

    void warn_of(const std::string& name) {
        const nlohmann::json body{
            {"code", "metric_names_limit"},
            {"message",
             fmt::format("the job has {} metrics, which is the maximum (--metric-names-max): "
                         "points of {} and of every other new metric are skipped",
                         series_.names_max, name)}};
        add_event({.type = "warning", .body = body.dump()});
    }

    void add_checkpoint(const RelayedCheckpoint& checkpoint) {
        if (!is_checkpoint_name(checkpoint.name)) return;
        const bool measured = !checkpoint.metric_name.empty();
        statements_.push_back(
            {&queries::insert_checkpoint,
             {checkpoint.id, key_.job_id, key_.attempt, checkpoint.name, checkpoint.step,
              checkpoint.epoch, repaired_names(checkpoint.kinds), repaired_json(checkpoint.files),
              std::max<std::int64_t>(checkpoint.bytes, 0),
              repaired_text(checkpoint.metric_name, name_bytes_max),
              measured ? Param(checkpoint.metric_value) : Param(std::nullopt),
              checkpoint.written_by.empty() ? Param(std::nullopt)
                                            : Param(repaired_json(checkpoint.written_by))}});
        if (checkpoint.kept) {
            statements_.push_back({&queries::set_checkpoint_kinds,
                                   {key_.job_id, repaired_names(checkpoint.kept->last),
                                    repaired_names(checkpoint.kept->best)}});
        }
        std::vector<std::string> names = checkpoint.pruned;
        std::erase_if(names, [](const std::string& name) { return !is_checkpoint_name(name); });
        if (!names.empty()) {
            statements_.push_back({&queries::lock_checkpoints, {key_.job_id, names}});
            prunings_.push_back(statements_.size());
            statements_.push_back({&queries::prune_checkpoints, {key_.job_id, names}});
        }
    }

    static void keep_newest(JsonText& kept, const JsonText& newer) {
        if (!newer.empty()) kept = repaired_json(newer);
    }

    RelayedOne& one_;
    const AttemptKey& key_;
    MetricSeries& series_;
    Instant now_;
    std::int64_t new_names_ = 0;
    std::int64_t points_skipped_ = 0;
    Relayed relayed_;
    std::optional<JobState> next_state_;    ///< said, and nothing since then
    std::vector<Statement> statements_;
    std::vector<std::size_t> prunings_;    ///< places of prune_checkpoints among them
    std::vector<std::string> event_types_;
    std::vector<std::string> event_bodies_;
    /// By name and step: of several points of a step the last one counts.
    std::map<std::string, std::map<std::int64_t, MetricSample>, std::less<>> metrics_;
    SeriesEnds ends_;    ///< of those
    JsonText progress_;
    JsonText best_;
    JsonText effective_;
};

/// The batches of those that are live.
std::vector<Batch> read_batches(Transaction& transaction, std::span<RelayedOne* const> ones) {
    Columns asked(queries::lock_relays);
    std::map<std::string_view, RelayedOne*> by_job;
    for (RelayedOne* one : ones) {
        asked.add({one->key->job_id, one->key->attempt, one->key->fence, one->rank});
        check(by_job.emplace(one->key->job_id, one).second, "a job is relayed once at a time");
    }
    const std::vector<Rows> answers =
        transaction.run(std::vector<Statement>{{&queries::keep_plans, {}}, asked.statement()});
    std::vector<Batch> batches;
    for (const Row locked : answers[1]) {
        RelayedOne& one = *by_job.at(locked.text("job_id"));
        MetricSeries& series = *one.series;
        // Another number: the outcome of the batch before was not heard, or there was none.
        if (series.frames_relayed != locked.integer("frames_relayed"))
            series.ends = read_series_ends(
                transaction, one.key->job_id,
                series.names_max > 0 ? series.names_max : std::numeric_limits<std::int64_t>::max());
        Batch& batch = batches.emplace_back(one, locked);
        for (const RelayedFrame& frame : *one.frames)
            batch.add(frame);
    }
    return batches;
}

void relay_group(Pool& pool, std::span<RelayedOne* const> ones) {
    transact(pool, [&](Transaction& transaction) {
        std::vector<Batch> batches = read_batches(transaction, ones);
        if (batches.empty()) return;
        SharedStatements shared;
        std::vector<Statement> statements;
        std::vector<std::size_t> begins;    // of the batches' own statements
        for (Batch& batch : batches) {
            begins.push_back(statements.size());
            std::ranges::move(batch.statements(transaction, shared),
                              std::back_inserter(statements));
        }
        std::ranges::move(shared.all(), std::back_inserter(statements));
        const std::vector<Rows> answers = transaction.commit(std::move(statements));
        for (std::size_t i = 0; i < batches.size(); ++i)
            batches[i].stored(std::span(answers).subspan(begins[i]));
    });
}

}    // namespace

bool is_refused_content(const Error& error) noexcept {
    const auto* refused = dynamic_cast<const PgError*>(&error);
    if (refused == nullptr) return error.code() == ErrorCode::invalid_argument;
    // Data exceptions, constraints, limits of the program.
    const std::string_view sqlstate = refused->sqlstate();
    return sqlstate.starts_with("22") || sqlstate.starts_with("23") || sqlstate.starts_with("54");
}

void relay_frames(Store& store, std::span<RelayedOne* const> ones,
                  std::span<std::exception_ptr> errors) {
    const GroupCommit<RelayedOne> group(
        [&store](std::span<RelayedOne* const> some) { relay_group(store.pool(), some); });
    group.add_group(ones, errors);
    for (const RelayedOne* one : ones)
        if (one->stored) store.announce(one->key->job_id);
}

Relayed relay_frames(Store& store, const AttemptKey& key, const std::vector<RelayedFrame>& frames,
                     MetricSeries& series, int rank) {
    RelayedOne one{.key = &key, .frames = &frames, .series = &series, .rank = rank};
    RelayedOne* const alone = &one;
    std::exception_ptr error;
    relay_frames(store, std::span(&alone, 1), std::span(&error, 1));
    if (error) std::rethrow_exception(error);
    if (!one.stored) throw Fenced(key);
    return *one.stored;
}

Relayed relay_frames(Store& store, const AttemptKey& key, const std::vector<RelayedFrame>& frames) {
    MetricSeries series;
    return relay_frames(store, key, frames, series);
}

}    // namespace slipway::store
