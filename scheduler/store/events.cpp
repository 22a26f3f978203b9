#include "scheduler/store/events.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

constexpr int events_max = 5000;
/// Of one job in a read of many jobs, but for its last event.
constexpr int change_bytes_max = 256 * 1024;

Event read_event(const Row& row) {
    return {row.text("job_id"), row.integer("seq"), row.text("type"), row.text("body"),
            row.time("created_at")};
}

std::vector<Event> read_events(const Rows& rows) {
    std::vector<Event> events;
    events.reserve(std::size_t(rows.size()));
    for (const Row row : rows)
        events.push_back(read_event(row));
    return events;
}

EventHead read_head(const Row& row) {
    return {row.text("id"), row.text("project"), row.integer("event_seq"), row.flag("ended")};
}

/// Cross-validations and sweeps have events of their own; an id tells which it is.
constexpr std::string_view of_cross_validations = "cv_";
constexpr std::string_view of_sweeps = "swp_";

bool is_of_job(std::string_view id) {
    return !id.starts_with(of_cross_validations) && !id.starts_with(of_sweeps);
}

void append(std::vector<Event>& events, std::vector<Event> more) {
    std::ranges::move(more, std::back_inserter(events));
}

/// The cursors of one kind, as parameters.
struct CursorColumns {
    std::vector<std::string> ids;
    std::vector<std::int64_t> seqs;
};

/// Empty `prefix`: those of jobs.
CursorColumns cursors_of(const std::vector<EventCursor>& cursors, std::string_view prefix) {
    CursorColumns columns;
    for (const EventCursor& cursor : cursors) {
        if (prefix.empty() ? !is_of_job(cursor.job_id) : !cursor.job_id.starts_with(prefix))
            continue;
        columns.ids.push_back(cursor.job_id);
        columns.seqs.push_back(cursor.after_seq);
    }
    return columns;
}

std::vector<EventHead> read_heads(const Rows& rows) {
    std::vector<EventHead> heads;
    for (const Row row : rows)
        heads.push_back(read_head(row));
    return heads;
}

}    // namespace

bool may_go_on(std::span<const Event> page, int limit) {
    std::size_t bytes = 0;
    for (const Event& event : page)
        bytes += event.body.size();
    return page.size() >= std::size_t(limit) || bytes >= std::size_t(event_page_bytes_max);
}

std::vector<Event> list_events(Store& store, std::string_view job_id, const EventQuery& query) {
    if (query.limit < 1 || query.limit > events_max) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("limit must be 1 to {}, got {}", events_max, query.limit)};
    }
    if (job_id.starts_with(of_cross_validations)) {
        return read_events(
            read(store.pool(), queries::list_cross_validation_events,
                 {job_id, query.after_seq, Param::or_null(query.types), query.limit}));
    }
    const Query& list = query.newest ? queries::list_newest_events : queries::list_events;
    return read_events(read(
        store.pool(), list,
        {job_id, query.after_seq, Param::or_null(query.types), query.limit, event_page_bytes_max}));
}

std::vector<Event> list_events_of_jobs(Store& store, const std::vector<EventCursor>& cursors,
                                       int limit_per_job) {
    // By id: cv_, job_, swp_.
    std::vector<Event> events;
    if (const CursorColumns of = cursors_of(cursors, of_cross_validations); !of.ids.empty()) {
        append(events, read_events(read(store.pool(), queries::list_events_of_cross_validations,
                                        {of.ids, of.seqs, limit_per_job})));
    }
    if (const CursorColumns jobs = cursors_of(cursors, ""); !jobs.ids.empty()) {
        append(events,
               read_events(read(store.pool(), queries::list_events_of_jobs,
                                {jobs.ids, jobs.seqs, limit_per_job, event_page_bytes_max})));
    }
    if (const CursorColumns of = cursors_of(cursors, of_sweeps); !of.ids.empty()) {
        append(events, read_events(read(store.pool(), queries::list_events_of_sweeps,
                                        {of.ids, of.seqs, limit_per_job, event_page_bytes_max})));
    }
    return events;
}

std::vector<EventHead> list_changed_jobs(Store& store, std::chrono::milliseconds window,
                                         int limit) {
    return read_heads(read(store.pool(), queries::list_changed_jobs, {window, limit}));
}

std::vector<EventHead> find_event_heads(Store& store, const std::vector<std::string>& job_ids) {
    std::vector<EventHead> heads =
        read_heads(read(store.pool(), queries::find_event_heads, {job_ids}));
    const auto add = [&](std::string_view prefix, const Query& query) {
        const bool any = std::ranges::any_of(
            job_ids, [&](const std::string& id) { return id.starts_with(prefix); });
        if (any)
            std::ranges::move(read_heads(read(store.pool(), query, {job_ids})),
                              std::back_inserter(heads));
    };
    add(of_cross_validations, queries::find_cross_validation_heads);
    add(of_sweeps, queries::find_sweep_heads);
    return heads;
}

std::vector<JobChanges> list_changes_of_jobs(Store& store, const std::vector<EventCursor>& cursors,
                                             Instant since, const std::vector<std::string>& types,
                                             int limit_per_job) {
    if (cursors.empty()) return {};
    std::vector<std::string> job_ids;
    std::vector<std::int64_t> seqs;
    for (const EventCursor& cursor : cursors) {
        job_ids.push_back(cursor.job_id);
        seqs.push_back(cursor.after_seq);
    }
    std::vector<JobChanges> changes;
    std::size_t bytes = 0;
    for (const Row row : read(store.pool(), queries::list_changes_of_jobs,
                              {job_ids, seqs, since, types, limit_per_job, change_bytes_max})) {
        if (changes.empty() || changes.back().head.job_id != row.text("id")) {
            changes.push_back({.head = read_head(row), .events = {}, .read_to = 0});
            changes.back().read_to = changes.back().head.event_seq;
            bytes = 0;
        }
        if (row.is_null("seq")) continue;
        JobChanges& job = changes.back();
        job.events.push_back({job.head.job_id, row.integer("seq"), row.text("type"),
                              row.text("body"), row.time("created_at")});
        bytes += job.events.back().body.size();
        if (job.events.size() == std::size_t(limit_per_job) ||
            bytes >= std::size_t(change_bytes_max))
            job.read_to = job.events.back().seq;
    }
    return changes;
}

Instant database_time(Store& store) {
    return read(store.pool(), queries::database_time)[0].time("now");
}

std::optional<std::int64_t> append_event(Store& store, std::string_view job_id,
                                         std::string_view type, const JsonText& body) {
    const Rows rows = write(store.pool(), queries::append_event, {job_id, type, body});
    if (rows.empty()) return std::nullopt;
    store.announce(job_id);
    return rows[0].integer("seq");
}

}    // namespace slipway::store
