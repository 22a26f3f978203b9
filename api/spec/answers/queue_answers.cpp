#include "api/spec/answers/answer_kinds.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr Number nothing_or_more{.min = 0};

const Object<Answer>& queued_table() {
    static const auto table =
        Object<Answer>("QueuedJob", "A queued job.")
            .open()
            .field("position",
                   "1: the next job to start; null: the job is held, or behind 1,000 ready jobs.",
                   count, or_null)
            .field("job_id", "job_…", any_text, known)
            .field("project", "Project that the job belongs to.", any_text, known)
            .field("class", "Scheduling class.", Choice<QueueClass>{}, known)
            .field("cores", "Number of cores that it needs.", count, known)
            .field("core_id", "Core that it needs.", Integer{.min = 1, .max = 8}, or_null)
            .field("queued_at", "Time of submission.", Time{}, known)
            .field("not_before", "Earliest start time.", Time{}, or_null);
    return table;
}

/// Columns of the rows by class and by project.
Object<Answer>& with_queue_counts(Object<Answer>& table) {
    return table.field("jobs", "Queued jobs.", count, known)
        .field("ready", "Queued jobs that no time and no dataset holds.", count, known)
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
                   "behind jobs of the same kind that the scheduler looks at.",
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
            .field("drained", "Cores without a job that accept none.", count, known)
            .field("lost", "Cores without a job whose host sends no heartbeat.", count, known)
            .field("utilisation", "held / (held + free); null: no core is usable.",
                   Number{.min = 0, .max = 1}, or_null);
    return table;
}

const Object<Answer>& queue_stats_table() {
    static const auto table =
        Object<Answer>("QueueStats", "What the queue holds and how fast it moves.")
            .open()
            .field("at", "Time of the numbers.", Time{}, known)
            .field("jobs", "Queued jobs.", count, known)
            .field("ready", "Queued jobs that no time and no dataset holds.", count, known)
            .field("by_class", "By class, the most urgent first.",
                   List<Nested<Answer>>{{&queue_of_class_table()}}, known)
            .field("by_project", "The 100 projects with the most queued jobs.",
                   List<Nested<Answer>>{{&queue_of_project_table()}}, known)
            .field("other_projects", "Projects with queued jobs that by_project leaves out.", count,
                   known)
            .field("by_reason", "By reason, the most frequent first; their sum is jobs.",
                   List<Nested<Answer>>{{&queue_reason_table()}}, known)
            .field("rates", "The last 1, 5 and 15 minutes.",
                   List<Nested<Answer>>{{&queue_rate_table()}}, known)
            .field("cores", "Use of the cores now, by all projects.",
                   Nested<Answer>{&core_use_table()}, known);
    return table;
}

}    // namespace

std::span<const ObjectTable* const> queue_answer_tables() {
    static const auto queue = page_of("QueueList", queued_table());
    static const std::vector<const ObjectTable*> all{&queue, &queue_stats_table()};
    return all;
}

}    // namespace slipway
