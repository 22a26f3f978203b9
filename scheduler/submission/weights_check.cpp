#include "scheduler/submission/weights_check.h"

#include <fmt/format.h>

#include "api/base/id.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/datasets.h"

namespace slipway::submission {

namespace {

std::vector<Problem> refuse(std::string code, std::string message) {
    return {
        {.pointer = "/model/init/from", .code = std::move(code), .message = std::move(message)}};
}

std::vector<Problem> check_checkpoint(store::Store& store, const Submitter& submitter,
                                      const std::string& id) {
    const auto checkpoint = store::find_checkpoint(store, id);
    if (!checkpoint || !submitter.sees(checkpoint->project))
        return refuse("not_found",
                      fmt::format("there is no checkpoint {}; GET /v1/checkpoints lists them", id));
    if (checkpoint->deleted_at)
        return refuse("not_found", fmt::format("the checkpoint {} is no longer kept; "
                                               "GET /v1/checkpoints lists those that are",
                                               id));
    if (std::string why = store::incompatibility(*checkpoint); !why.empty())
        return refuse("incompatible", std::move(why));
    return {};
}

std::vector<Problem> check_upload(store::Store& store, const Submitter& submitter,
                                  const std::string& id) {
    const auto upload = find_own_upload(store, submitter, id);
    if (!upload)
        return refuse("not_found",
                      fmt::format("there is no upload {}; create one with POST /v1/uploads", id));
    if (!upload->complete)
        return refuse("inconsistent", fmt::format("the upload {} is not complete; finish it with "
                                                  "POST /v1/uploads/{}/complete",
                                                  id, id));
    return {};
}

}    // namespace

std::vector<Problem> check_weights(store::Store& store, const Submitter& submitter,
                                   const JobSpec& spec) {
    if (!spec.model.init) return {};
    const std::string& from = spec.model.init->from;
    if (is_id("ckp", from)) return check_checkpoint(store, submitter, from);
    if (is_id("upl", from)) return check_upload(store, submitter, from);
    return refuse("bad_format",
                  fmt::format("model.init.from must be the id of a checkpoint (ckp_…) or of an "
                              "upload (upl_…), got \"{}\"",
                              from));
}

}    // namespace slipway::submission
