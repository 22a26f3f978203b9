#pragma once

#include <span>

#include "scheduler/store/store.h"

namespace slipway::store {

/// Of a job, a cross-validation or a sweep: whose id `job_id` is then, everywhere in this header.
/// Of sweeps there are streams only (list_events_of_jobs, find_event_heads).
struct Event {
    std::string job_id;
    std::int64_t seq = 0;    ///< 1, 2, 3 … of the job, without gaps, in the order of commit
    std::string type;        ///< state progress metric log checkpoint compile warning end
    JsonText body;
    Instant created_at;
};

struct EventQuery {
    std::int64_t after_seq = 0;
    std::vector<std::string> types{};    ///< empty: all
    int limit = 500;                     ///< 1 to 5000
    bool newest = false;    ///< the last `limit` of them instead of the first; still in order
};

/// A read of events ends with the one with which the bodies reach it, whatever its limit.
inline constexpr int event_page_bytes_max = 1 << 20;

/// True when nothing but `limit` or event_page_bytes_max may have ended this page.
bool may_go_on(std::span<const Event> page, int limit);

/// Events of one job, in order. Empty when there is no such job.
std::vector<Event> list_events(Store& store, std::string_view job_id, const EventQuery& query);

/// How far a reader of one job's events has come.
struct EventCursor {
    std::string job_id;
    std::int64_t after_seq = 0;
};

/// The next events of many jobs in one statement, at most `limit_per_job` of each: for the SSE hub.
/// Ordered by job, then seq.
std::vector<Event> list_events_of_jobs(Store& store, const std::vector<EventCursor>& cursors,
                                       int limit_per_job = 200);

struct EventHead {
    std::string job_id;
    std::string project;
    std::int64_t event_seq = 0;
    bool ended = false;    ///< in an end state: no event will follow, unless it is gone on with
};

/// Jobs that changed within `window` (database time), newest first: what streams of projects watch.
/// Ask with a window of at least two polls.
std::vector<EventHead> list_changed_jobs(Store& store, std::chrono::milliseconds window,
                                         int limit = 500);

/// Heads of the named jobs; unknown ones are absent.
std::vector<EventHead> find_event_heads(Store& store, const std::vector<std::string>& job_ids);

/// What happened to one job since a reader of many jobs last looked.
struct JobChanges {
    EventHead head;
    std::vector<Event> events;    ///< of the types asked for, in order
    std::int64_t read_to =
        0;    ///< the reader's next cursor; the head's event_seq, or a page's end
};

/// Of jobs that a reader knows nothing of: events created after a time, of the job's last 1,000.
inline constexpr std::int64_t unknown_cursor = -1;

/// The next events of these types of many jobs, at most `limit_per_job` of each, by job: for the
/// stream of a project. Jobs that are gone are absent.
std::vector<JobChanges> list_changes_of_jobs(Store& store, const std::vector<EventCursor>& cursors,
                                             Instant since, const std::vector<std::string>& types,
                                             int limit_per_job = 200);

/// Now, by the database's clock, by which events are dated.
Instant database_time(Store& store);

/// Adds one event to a job's stream outside of an attempt (type warning or log). Returns its seq;
/// nothing when there is no such job.
std::optional<std::int64_t> append_event(Store& store, std::string_view job_id,
                                         std::string_view type, const JsonText& body);

}    // namespace slipway::store
