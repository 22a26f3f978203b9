#include "api/spec/answers/answer_kinds.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr Number nothing_or_more{.min = 0};
constexpr auto decision_kinds = std::to_array<std::string_view>({"start", "wait", "preempt"});

const Object<Answer>& queued_table() {
    static const auto table =
        Object<Answer>("QueuedJob", "A queued job.")
            .open()
            .field("position",
                   "1: the next job to start, among those that may have the same hosts; null: the "
                   "job is held, or behind 1,000 ready jobs.",
                   count, or_null)
            .field("job_id", "job_…", any_text, known)
            .field("name", "Name of the job.", any_text, known)
            .field("project", "Project that the job belongs to.", any_text, known)
            .field("class", "Scheduling class.", Choice<QueueClass>{}, known)
            .field("cores", "Number of cores that it needs.", count, known)
            .field("core_id", "Core that it needs.", Integer{.min = 1, .max = 8}, or_null)
            .field("pool", "Pool of hosts that it runs on; null: all hosts.", any_text, or_null)
            .field("queued_at", "Time of submission.", Time{}, known)
            .field("not_before", "Earliest start time.", Time{}, or_null)
            .field("estimated_start_at",
                   "Estimated start time; null: the job is held, or too far back in the queue.",
                   Time{}, or_null)
            .field("estimate_from", estimate_summary, Word{.allowed = estimate_words}, or_null);
    return table;
}

/// Columns of the rows by class and by project.
Object<Answer>& with_queue_counts(Object<Answer>& table) {
    return table.field("jobs", "Queued jobs.", count, known)
        .field("ready", "Queued jobs that wait neither for a time nor for a dataset.", count, known)
        .field("oldest_ready_s", "Age of the oldest ready job, since its submission.",
               nothing_or_more, or_null);
}

const Object<Answer>& queue_of_class_table() {
    static auto table = Object<Answer>("QueueOfClass", "The queued jobs of a class.")
                            .open()
                            .field("class", "Scheduling class.", Choice<QueueClass>{}, known);
    static const auto& whole = with_queue_counts(table);
    return whole;
}

const Object<Answer>& queue_of_project_table() {
    static auto table = Object<Answer>("QueueOfProject", "The queued jobs of a project.")
                            .open()
                            .field("project", "Name of the project.", any_text, known);
    static const auto& whole = with_queue_counts(table);
    return whole;
}

const Object<Answer>& queue_reason_table() {
    static const auto table =
        Object<Answer>("QueueReason", "How many queued jobs wait for one reason.")
            .open()
            .field("code",
                   "Reason as in /explain; starting: the next pass starts them; in_line: ready, "
                   "behind jobs of the same kind that the scheduler examines first.",
                   any_text, known)
            .field("jobs", "Queued jobs.", count, known);
    return table;
}

const Object<Answer>& queue_rate_table() {
    static const auto table =
        Object<Answer>("QueueRate", "What happened in the last seconds, exact to 10 seconds.")
            .open()
            .field("window_s", "Length of the window.", count, known)
            .field("submitted", "Jobs submitted.", count, known)
            .field("started", "Attempts started.", count, known)
            .field("ended", "Jobs that ended.", count, known)
            .field("submitted_per_s", "Jobs submitted per second.", nothing_or_more, known)
            .field("started_per_s", "Attempts started per second.", nothing_or_more, known)
            .field("ended_per_s", "Jobs ended per second.", nothing_or_more, known)
            .field("wait_mean_s",
                   "Mean time from submission to the first start, of jobs first started in the "
                   "window.",
                   nothing_or_more, or_null)
            .field("wait_max_s", "The longest of these times.", nothing_or_more, or_null);
    return table;
}

const Object<Answer>& core_use_table() {
    static const auto table =
        Object<Answer>("CoreUse", "How much of the machine is in use.")
            .open()
            .field("total", "Cores of all hosts.", count, known)
            .field("held", "Cores that jobs hold.", count, known)
            .field("free", "Cores that a job may take now.", count, known)
            .field("drained", "Drained cores without a job.", count, known)
            .field("lost", "Cores without a job whose host sends no heartbeat.", count, known)
            .field("utilisation", "held / (held + free); null: no core is usable.",
                   Number{.min = 0, .max = 1}, or_null);
    return table;
}

const Object<Answer>& pool_use_table() {
    static const auto table =
        Object<Answer>("PoolUse", "A pool of hosts and the jobs that wait for it.")
            .open()
            .field("pool", "Name of the pool.", any_text, known)
            .field("hosts", "Hosts of the pool.", count, known)
            .field("ready",
                   "Queued jobs of this pool that wait neither for a time nor for a dataset; of "
                   "each project at most 1,000 are counted. Jobs of no pool are not among them.",
                   count, known)
            .field("cores", "Use of its cores now, by all projects.",
                   Nested<Answer>{&core_use_table()}, known);
    return table;
}

const Object<Answer>& decision_table() {
    static const auto table =
        Object<Answer>("Decision", "What the scheduler decided on a job.")
            .open()
            .field("id", "Number of the decision.", count, known)
            .field("at", "Time of the decision.", Time{}, known)
            .field("job_id", "job_…", any_text, known)
            .field("project", "Project that the job belongs to.", any_text, known)
            .field("kind",
                   "start: it got cores; wait: it has waited for this reason for a second; "
                   "preempt: it has to save and free its cores.",
                   Word{.allowed = decision_kinds}, known)
            .field("code",
                   "For a start: free_cores or backfill; for a wait: as in /explain; otherwise "
                   "preempted.",
                   any_text, known)
            .field("message", "Human-readable reason.", any_text, known)
            .field("host", "Host of a start.", any_text, or_null)
            .field("cores", "Cores of a start.", List<Integer>{{.min = 1, .max = 8}}, or_null)
            .field("related_job", "Job that it waits for, is preempted by, or starts before.",
                   any_text, or_null);
    return table;
}

const Object<Answer>& group_table() {
    static const auto table =
        Object<Answer>("Group", "Jobs of a project that share a limit.")
            .open()
            .field("name", "Name of the group.", any_text, known)
            .field("project", "Project that the group belongs to.", any_text, known)
            .field("limit", "Maximum number of its jobs that run at the same time; null: none.",
                   count, or_null)
            .field("running", "Jobs of the group that hold cores.", count, known)
            .field("ready",
                   "Queued jobs of the group that wait neither for a time nor for a dataset; "
                   "counted up to 1,001.",
                   count, known);
    return table;
}

const Object<Answer>& simulated_job_table() {
    static const auto table =
        Object<Answer>("SimulatedJob", "When and where the job would start.")
            .open()
            .field("job_id", "job_… of a queued job.", any_text, or_null)
            .field("starts_at", "Time of its start; null: later than was simulated, or never.",
                   Time{}, or_null)
            .field("starts_in_s", "Seconds until that time.", nothing_or_more, or_null)
            .field("host", "Host that it would run on.", any_text, or_null)
            .field("cores", "Cores that it would get.", List<Integer>{{.min = 1, .max = 8}},
                   or_null)
            .field("estimate_from", estimate_summary, Word{.allowed = estimate_words}, or_null)
            .field("unchanged_starts_at", "For a job of the queue: its start without the change.",
                   Time{}, or_null)
            .field("code", "Why it would wait at first, as in /explain; null: it would not.",
                   any_text, or_null)
            .field("message", "Human-readable message.", any_text, or_null)
            .field("blocking_job", "Job that holds the cores or starts first.", any_text, or_null);
    return table;
}

const Object<Answer>& start_change_table() {
    static const auto table =
        Object<Answer>("StartChange", "A job that would start at another time.")
            .open()
            .field("job_id", "job_…", any_text, known)
            .field("project", "Project that the job belongs to.", any_text, known)
            .field("before_at", "Start without the change; null: later than was simulated.", Time{},
                   or_null)
            .field("after_at", "Start with the change; null: later than was simulated.", Time{},
                   or_null)
            .field("by_s", "Seconds between them; null: one of them is unknown.", nothing_or_more,
                   or_null);
    return table;
}

const Object<Answer>& simulation_table() {
    static const auto table =
        Object<Answer>("QueueSimulation", "What the change would do.")
            .open()
            .field("at", "Time of the queue that was simulated.", Time{}, known)
            .field("job", "The job of the request.", Nested<Answer>{&simulated_job_table()},
                   or_null)
            .field("delayed_jobs", "Queued jobs that would start a second or more later.", count,
                   known)
            .field("delayed", "The 100 most delayed of them, among those that the caller may see.",
                   List<Nested<Answer>>{{&start_change_table()}}, known)
            .field("sooner_jobs", "Queued jobs that would start a second or more sooner.", count,
                   known)
            .field("sooner",
                   "The 100 of them that would gain most, among those that the caller may see.",
                   List<Nested<Answer>>{{&start_change_table()}}, known)
            .field("jobs", "Queued jobs that were simulated.", count, known)
            .field("complete",
                   "True: simulated until no further job could start. False: a limit of 2,000 "
                   "passes, 30 days or 250 ms ended the simulation.",
                   Flag{}, known)
            .field("until", "Time until which it was simulated.", Time{}, known);
    return table;
}

const Object<Answer>& queue_stats_table() {
    static const auto table =
        Object<Answer>("QueueStats", "What the queue holds and how fast it moves.")
            .open()
            .field("at", "Time of the numbers.", Time{}, known)
            .field("jobs", "Queued jobs.", count, known)
            .field("ready", "Queued jobs that wait neither for a time nor for a dataset.", count,
                   known)
            .field("by_class", "By class, the most urgent first.",
                   List<Nested<Answer>>{{&queue_of_class_table()}}, known)
            .field("by_project", "The 100 projects with the most queued jobs.",
                   List<Nested<Answer>>{{&queue_of_project_table()}}, known)
            .field("other_projects",
                   "Number of projects with queued jobs that by_project leaves out.", count, known)
            .field("by_reason", "By reason, the most frequent first; their sum is jobs.",
                   List<Nested<Answer>>{{&queue_reason_table()}}, known)
            .field("rates", "The last 1, 5 and 15 minutes.",
                   List<Nested<Answer>>{{&queue_rate_table()}}, known)
            .field("cores", "Use of the cores now, by all projects.",
                   Nested<Answer>{&core_use_table()}, known)
            .field("pools", "The pools of hosts, by name.",
                   List<Nested<Answer>>{{&pool_use_table()}}, known)
            .field("default_pool", "Pool of jobs that name none; null: all hosts.", any_text,
                   or_null);
    return table;
}

}    // namespace

std::span<const ObjectTable* const> queue_answer_tables() {
    static const auto queue = page_of("QueueList", queued_table());
    static const auto decisions = page_of("DecisionList", decision_table());
    static const auto groups = page_of("GroupList", group_table());
    static const std::vector<const ObjectTable*> all{
        &queue, &decisions, &groups, &group_table(), &queue_stats_table(), &simulation_table()};
    return all;
}

}    // namespace slipway
