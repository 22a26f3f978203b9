#include <nlohmann/json.hpp>

#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

Response end_job(const Context& context, Intent intent, const store::Reason& reason) {
    const store::Job before = the_job(context);
    const auto job = store::request_intent(context.services.store, before.id, intent, reason);
    if (!job) throw_not_found("job", before.id);
    context.services.on_changed();
    return json_text_response(render(*job, std::nullopt)).with("ETag", version_etag(job->version));
}

}    // namespace

Response cancel_job(const Context& context) {
    return end_job(context, Intent::cancel,
                   {.code = "cancelled", .message = "cancelled by a user"});
}

Response kill_job(const Context& context) {
    return end_job(context, Intent::kill,
                   {.code = "killed", .message = "killed by a user, without saving"});
}

}    // namespace slipway::routes
