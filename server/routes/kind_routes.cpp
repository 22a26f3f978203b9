#include "server/routes/kind_routes.h"

#include <utility>

#include "api/spec/job_kind.h"
#include "server/routes/job_answer.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/submissions.h"

namespace slipway::routes {

Response create_of_kind(const Context& context, JobKind kind) {
    submission::CheckedJob job = read_job(context, kind);
    if (!query_flag(context.request, "dry_run")) return submit(context, std::move(job));
    return json_response(preview(context, job));
}

Response list_of_kind(const Context& context, JobKind kind) {
    store::JobFilter filter;
    filter.states = query_enumerators<JobState>(context.request, "state");
    filter.projects = projects_asked(context);
    filter.dataset_id = query_text(context.request, "dataset");
    filter.kind = kind;
    return job_list(store::list_jobs(context.services.store, filter, query_page(context.request)));
}

store::Job job_of_kind(const Context& context, JobKind kind) {
    store::Job job = the_job(context);
    if (job.kind != kind) throw_not_found(traits(kind).request_name, job.id);
    return job;
}

}    // namespace slipway::routes
