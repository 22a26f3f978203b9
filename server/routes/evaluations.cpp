#include "server/routes/handlers.h"
#include "server/routes/job_answer.h"
#include "server/routes/kind_routes.h"

namespace slipway::routes {

Response create_evaluation(const Context& context) {
    return create_of_kind(context, JobKind::evaluate);
}

Response list_evaluations(const Context& context) {
    return list_of_kind(context, JobKind::evaluate);
}

Response get_evaluation(const Context& context) {
    return watched_job(context, job_of_kind(context, JobKind::evaluate));
}

}    // namespace slipway::routes
