#include "server/routes/weights_check.h"

#include <fmt/format.h>

#include "api/base/id.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/datasets.h"
#include "server/routes/lookup.h"

namespace slipway::routes {

namespace {

std::vector<Problem> refuse(std::string code, std::string message) {
    return {
        {.pointer = "/model/init/from", .code = std::move(code), .message = std::move(message)}};
}

std::vector<Problem> check_checkpoint(const Context& context, const std::string& id) {
    const auto checkpoint = store::find_checkpoint(context.services.store, id);
    if (!checkpoint || !context.who.sees(checkpoint->project))
        return refuse("not_found",
                      fmt::format("there is no checkpoint {}; GET /v1/checkpoints lists them", id));
    if (checkpoint->deleted_at)
        return refuse("not_found", fmt::format("the checkpoint {} is no longer kept; "
                                               "GET /v1/checkpoints lists those that are",
                                               id));
    return {};
}

std::vector<Problem> check_upload(const Context& context, const std::string& id) {
    const auto upload = find_own_upload(context.services.store, context.who, id);
    if (!upload)
        return refuse("not_found",
                      fmt::format("there is no upload {}; POST /v1/uploads makes one", id));
    if (!upload->complete)
        return refuse("inconsistent", fmt::format("the upload {} is not complete; finish it with "
                                                  "POST /v1/uploads/{}/complete",
                                                  id, id));
    return {};
}

}    // namespace

std::vector<Problem> check_weights(const Context& context, const JobSpec& spec) {
    if (!spec.model.init) return {};
    const std::string& from = spec.model.init->from;
    if (is_id("ckp", from)) return check_checkpoint(context, from);
    if (is_id("upl", from)) return check_upload(context, from);
    return refuse("bad_format",
                  fmt::format("model.init.from must be the id of a checkpoint (ckp_…) or of an "
                              "upload (upl_…), got \"{}\"",
                              from));
}

}    // namespace slipway::routes
