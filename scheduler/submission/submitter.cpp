#include "scheduler/submission/submitter.h"

#include "api/base/check.h"
#include "api/base/id.h"
#include "scheduler/store/access.h"

namespace slipway::submission {

bool Submitter::sees(std::string_view project) const {
    return store::covers(projects, project);
}

Submitter submitter_of(const std::string& token_id, const std::vector<store::Grant>& grants) {
    check(!grants.empty(), "a token that may do nothing submits nothing");
    const bool sees_all = store::is_of_all_projects(grants);
    return {.token_id = token_id,
            .projects = sees_all ? std::vector<std::string>{}
                                 : store::projects_of(grants, TokenRole::viewer),
            .sees_all_uploads = sees_all && store::allows(grants, {}, TokenRole::admin)};
}

std::optional<store::Upload> find_own_upload(store::Store& store, const Submitter& submitter,
                                             const std::string& id) {
    auto upload = is_id("upl", id) ? store::find_upload(store, id) : std::nullopt;
    const bool own = upload && upload->created_by == submitter.token_id;
    if (!own && !submitter.sees_all_uploads) return std::nullopt;
    return upload;
}

}    // namespace slipway::submission
