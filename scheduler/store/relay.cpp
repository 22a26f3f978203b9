// A batch of frames in one transaction: the attempt is locked by its fence, frames up to the
// last one stored are passed over, the rest become statements that are sent together, and
// `frames_relayed` moves with them. So a batch that is sent twice, by an agent that did not hear
// the answer, is stored once. Points of one name and step are merged before they are sent (the
// last one counts), events get the next numbers of the job, whose row is locked, and checkpoints
// that are no longer kept become garbage unless somebody uses them. Text that PostgreSQL cannot
// store is repaired, since one bad frame would otherwise stop the attempt for good.
#include "scheduler/store/relay.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/spec/checkpoint_name.h"
#include "api/spec/event.h"
#include "scheduler/store/job_rows.h"
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

/// Turns the frames that are new into the statements of one transaction.
class Batch {
public:
    Batch(const AttemptKey& key, const Row& locked, const MetricNames& names)
        : key_(key),
          names_(names),
          relayed_{.frames_relayed = locked.integer("frames_relayed"),
                   .event_seq = locked.integer("event_seq"),
                   .job_state = read_state(locked),
                   .intent = intent_of(locked)} {}

    void add(const RelayedFrame& frame) {
        if (frame.number <= relayed_.frames_relayed) return;
        relayed_.frames_relayed = frame.number;
        if (frame.state) enter(frame.state->state);
        for (const RelayedEvent& event : frame.events)
            add_event(event);
        for (const RelayedMetric& metric : frame.metrics)
            add_metric(metric);
        if (frame.checkpoint) add_checkpoint(*frame.checkpoint);
        keep_newest(progress_, frame.progress);
        keep_newest(best_, frame.best);
        keep_newest(effective_, frame.effective);
    }

    /// Everything, ending with the job's and the attempt's own rows.
    std::vector<Statement> statements() {
        flush_events();
        if (!metrics_.empty()) statements_.push_back(metrics_statement());
        statements_.push_back(
            {&queries::advance_relay,
             {key_.job_id, relayed_.event_seq, Param::or_null(progress_), Param::or_null(best_),
              Param::or_null(effective_), key_.attempt, relayed_.frames_relayed}});
        return std::move(statements_);
    }

    /// The names as they are when the batch is stored.
    void add_to(MetricNames& names) {
        names.known.merge(new_names_);
        names.points_skipped += points_skipped_;
        names.warned = names.warned || points_skipped_ > 0;
    }

    /// What the batch has done, by the answers to its statements.
    Relayed relayed(const std::vector<Rows>& answers) const {
        Relayed relayed = relayed_;
        for (const std::size_t pruning : prunings_)
            for (const Row row : answers.at(pruning))
                relayed.pruned.push_back(row.text("name"));
        return relayed;
    }

private:
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

    /// Events go out in runs, so that states stand between them where they happened.
    void flush_events() {
        if (event_types_.empty()) return;
        const std::int64_t first = relayed_.event_seq - std::int64_t(event_types_.size()) + 1;
        statements_.push_back(
            {&queries::insert_events, {key_.job_id, first, event_types_, event_bodies_}});
        event_types_.clear();
        event_bodies_.clear();
    }

    void add_metric(RelayedMetric metric) {
        metric.name = repaired_text(metric.name, name_bytes_max);
        if (metric.name.empty()) return;
        if (!has_room_for(metric.name)) {
            if (!names_.warned && points_skipped_ == 0) warn_of(metric.name);
            ++points_skipped_;
            return;
        }
        metrics_.insert_or_assign({metric.name, metric.step}, metric);
    }

    bool has_room_for(const std::string& name) {
        if (names_.max == 0 || names_.known.contains(name) || new_names_.contains(name))
            return true;
        if (std::ssize(names_.known) + std::ssize(new_names_) >= names_.max) return false;
        new_names_.insert(name);
        return true;
    }

    void warn_of(const std::string& name) {
        const nlohmann::json body{
            {"code", "metric_names_limit"},
            {"message",
             fmt::format("the job has {} metrics, which is the maximum (--metric-names-max): "
                         "points of {} and of every other new metric are skipped",
                         names_.max, name)}};
        add_event({.type = "warning", .body = body.dump()});
    }

    Statement metrics_statement() const {
        std::vector<std::string> names;
        std::vector<std::int64_t> steps;
        std::vector<std::int64_t> epochs;
        std::vector<double> values;
        for (const auto& [place, metric] : metrics_) {
            names.push_back(metric.name);
            steps.push_back(metric.step);
            epochs.push_back(metric.epoch);
            values.push_back(metric.value);
        }
        return {&queries::insert_metrics,
                {key_.job_id, key_.attempt, names, steps, epochs, values}};
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
              measured ? Param(checkpoint.metric_value) : Param(std::nullopt)}});
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

    const AttemptKey& key_;
    const MetricNames& names_;
    std::set<std::string> new_names_;
    std::int64_t points_skipped_ = 0;
    Relayed relayed_;
    std::vector<Statement> statements_;
    std::vector<std::size_t> prunings_;    ///< places of prune_checkpoints among them
    std::vector<std::string> event_types_;
    std::vector<std::string> event_bodies_;
    /// By name and step: one statement must not write a point twice; the last one counts.
    std::map<std::pair<std::string, std::int64_t>, RelayedMetric> metrics_;
    JsonText progress_;
    JsonText best_;
    JsonText effective_;
};

}    // namespace

bool is_refused_content(const Error& error) noexcept {
    const auto* refused = dynamic_cast<const PgError*>(&error);
    if (refused == nullptr) return error.code() == ErrorCode::invalid_argument;
    // Data exceptions, constraints, limits of the program.
    const std::string_view sqlstate = refused->sqlstate();
    return sqlstate.starts_with("22") || sqlstate.starts_with("23") || sqlstate.starts_with("54");
}

Relayed relay_frames(Store& store, const AttemptKey& key, const std::vector<RelayedFrame>& frames,
                     MetricNames& names) {
    const Relayed relayed = transact(store.pool(), [&](Transaction& transaction) {
        const Rows locked =
            transaction.run(queries::lock_attempt, {key.job_id, key.attempt, key.fence});
        if (locked.empty()) throw Fenced(key);
        Batch batch(key, locked[0], names);
        for (const RelayedFrame& frame : frames)
            batch.add(frame);
        const Relayed stored = batch.relayed(transaction.commit(batch.statements()));
        batch.add_to(names);
        return stored;
    });
    store.announce(key.job_id);
    return relayed;
}

Relayed relay_frames(Store& store, const AttemptKey& key, const std::vector<RelayedFrame>& frames) {
    MetricNames names;
    return relay_frames(store, key, frames, names);
}

}    // namespace slipway::store
