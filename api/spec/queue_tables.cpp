#include "api/base/id.h"
#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr std::int64_t more_hosts_max = 64;

bool names_a_job(std::string_view text) {
    return is_id("job", text);
}

const TextForm queued_job_id{"the id of a job (job_…)", "^job_[0-9a-z]{26}$", names_a_job};

void judge_simulation(const Json& given, QueueSimulateBody& body, const Reader& at) {
    const bool has_job = given.contains("job"), has_id = given.contains("job_id");
    const auto report = [&](const char* field, std::string_view what) {
        const Reader here = at.at(field);
        here.report("inconsistent", fmt::format("{} {}", here.path(), what));
    };
    if (has_job && has_id) report("job_id", "cannot be given with job; leave one of them out");
    if (given.contains("class") && !has_job && !has_id)
        report("class", "has no meaning without job_id; give the job whose class it would be");
    if (given.contains("class") && has_job)
        report("class", "has no meaning with job; set job.queue.class");
    if (!body.pool.empty() && body.more_hosts == 0)
        report("pool", "has no meaning without more_hosts; the pool of a job is job.queue.pool");
    if (!has_job && !has_id && body.more_hosts == 0)
        report("more_hosts", "must be at least 1 without job and job_id: nothing would change");
}

}    // namespace

const Object<GroupPut>& group_put_table() {
    static const auto table =
        Object<GroupPut>("GroupPut", "Limit of a group.")
            .field("limit", &GroupPut::limit,
                   "Maximum number of jobs of the group that run at the same time.",
                   Integer{.min = 1, .max = 10000}, {.required = true});
    return table;
}

const Object<QueueSimulateBody>& queue_simulate_table() {
    static const auto table =
        Object<QueueSimulateBody>("QueueSimulate", "A change of the queue or of the machine.")
            .field("job", &QueueSimulateBody::job, "A training job that would be submitted now.",
                   Nested<JobSpec>{&job_table()})
            .field("job_id", &QueueSimulateBody::job_id, "A job of the queue.",
                   Text{.form = &queued_job_id}, {.absent_when_empty = true})
            .field("class", &QueueSimulateBody::job_class, "Class that this job would have.",
                   Choice<QueueClass>{})
            .field("more_hosts", &QueueSimulateBody::more_hosts, "Free hosts that would be added.",
                   Integer{.max = more_hosts_max})
            .field("cores_per_host", &QueueSimulateBody::cores_per_host, "Cores of each of them.",
                   Integer{.min = 1, .max = 8})
            .field(
                "pool", &QueueSimulateBody::pool,
                "Pool of these hosts. Default: the default pool of the service, otherwise local.",
                Text{.form = &plain_name}, {.absent_when_empty = true})
            .rule(judge_simulation);
    return table;
}

}    // namespace slipway
