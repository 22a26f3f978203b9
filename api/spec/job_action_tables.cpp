#include "api/base/id.h"
#include "api/spec/job_actions.h"
#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr std::size_t bulk_ids_max = 1000;

bool is_job_id(std::string_view text) {
    return is_id("job", text);
}

bool is_parent_id(std::string_view text) {
    return is_id("swp", text) || is_id("cv", text);
}

const TextForm parent_id{"the id of a sweep (swp_…) or of a cross-validation (cv_…)",
                         "^(swp|cv)_[0-9a-z]{26}$", is_parent_id};

const TextForm job_id{"the id of a job (job_…)", "^job_[0-9a-z]{26}$", is_job_id};

void judge_fork(const Json& given, JobForkBody& fork, const Reader& at) {
    if (fork.start != ForkStart::scratch || !given.contains("checkpoint")) return;
    const Reader here = at.at("checkpoint");
    here.report("inconsistent",
                fmt::format("{} has no meaning when start is scratch; leave it out", here.path()));
}

// An empty filter is a forgotten one more often than it means every job.
void judge_bulk(const Json& given, JobBulkBody&, const Reader& at) {
    if (!given.at("filter").empty()) return;
    const Reader here = at.at("filter");
    here.report("missing_field",
                fmt::format("{} must have at least one field; to name all jobs of a project, give "
                            "project",
                            here.path()));
}

const Object<BulkFilter>& bulk_filter_table() {
    static const auto table =
        Object<BulkFilter>("JobBulkFilter", "Jobs to act on: those that match every field given.")
            .field("ids", &BulkFilter::ids, "These jobs.",
                   List<Text>{.item = {.form = &job_id}, .max = bulk_ids_max, .unique = true},
                   {.absent_when_empty = true})
            .field("state", &BulkFilter::states, "Jobs in these states.",
                   List<Choice<JobState>>{.item = {}, .min = 1, .unique = true},
                   {.absent_when_empty = true})
            .field("project", &BulkFilter::project, "Jobs of this project.",
                   Text{.form = &plain_name}, {.absent_when_empty = true})
            .field("name", &BulkFilter::name,
                   "Jobs whose name contains this text; case-insensitive.", Text{},
                   {.absent_when_empty = true})
            .field("labels", &BulkFilter::labels, "Jobs that have all of these labels.",
                   Map<Text>{.key = &plain_name, .item = {.min = 0}}, {.absent_when_empty = true})
            .field("dataset", &BulkFilter::dataset, "Jobs that use this dataset (id).", Text{},
                   {.absent_when_empty = true})
            .field("kind", &BulkFilter::kind, "Jobs of this kind.", Choice<JobKind>{})
            .field("parent", &BulkFilter::parent,
                   "Jobs of this sweep or cross-validation (id): its trials or folds.",
                   Text{.form = &parent_id}, {.absent_when_empty = true});
    return table;
}

}    // namespace

const Object<JobForkBody>& job_fork_table() {
    static const auto table =
        Object<JobForkBody>("JobFork", "A new job, made from an existing training job.")
            .field("changes", &JobForkBody::changes,
                   "Changes to the spec, as a JSON merge patch (RFC 7396).", AnyObject{})
            .field("start", &JobForkBody::start,
                   "continue: from the full training state of the checkpoint; weights: from its "
                   "weights only; scratch: without a checkpoint.",
                   Choice<ForkStart>{})
            .field("checkpoint", &JobForkBody::checkpoint,
                   "Checkpoint to start from: last, best or the id of a checkpoint of the job.",
                   Text{})
            .rule(judge_fork);
    return table;
}

const Object<JobBulkBody>& job_bulk_table() {
    static const auto table =
        Object<JobBulkBody>("JobBulk", "An action on many jobs.")
            .field("action", &JobBulkBody::action, "Action on each job.", Choice<JobAction>{},
                   {.required = true})
            .field("filter", &JobBulkBody::filter, "Jobs to act on.",
                   Nested<BulkFilter>{&bulk_filter_table()}, {.required = true})
            .rule(judge_bulk);
    return table;
}

}    // namespace slipway
