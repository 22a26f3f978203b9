#include "server/routes/handlers.h"
#include "server/routes/job_answer.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/submissions.h"

namespace slipway::routes {

Response create_evaluation(const Context& context) {
    submission::CheckedJob job = read_job(context, JobKind::evaluate);
    if (!query_flag(context.request, "dry_run")) return submit(context, std::move(job));
    return json_response(preview(context, job));
}

Response list_evaluations(const Context& context) {
    store::JobFilter filter;
    filter.states = query_enumerators<JobState>(context.request, "state");
    filter.projects = projects_asked(context);
    filter.dataset_id = query_text(context.request, "dataset");
    filter.kind = JobKind::evaluate;
    return job_list(store::list_jobs(context.services.store, filter, query_page(context.request)));
}

Response get_evaluation(const Context& context) {
    const store::Job job = the_job(context);
    if (job.kind != JobKind::evaluate) throw_not_found("evaluation", job.id);
    return watched_job(context, job);
}

}    // namespace slipway::routes
