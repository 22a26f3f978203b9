#include "scheduler/submission/submitter.h"

#include "api/base/id.h"
#include "scheduler/store/access.h"

namespace slipway::submission {

bool Submitter::sees(std::string_view project) const {
    return store::covers(projects, project);
}

std::optional<store::Upload> find_own_upload(store::Store& store, const Submitter& submitter,
                                             const std::string& id) {
    auto upload = is_id("upl", id) ? store::find_upload(store, id) : std::nullopt;
    const bool own = upload && upload->created_by == submitter.token_id;
    if (!own && !submitter.sees_all_uploads) return std::nullopt;
    return upload;
}

}    // namespace slipway::submission
