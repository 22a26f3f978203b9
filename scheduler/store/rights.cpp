#include "scheduler/store/rights.h"

#include <algorithm>

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/role_words.h"

namespace slipway::store {

bool allows(const std::vector<Grant>& grants, std::string_view project, TokenRole role) {
    return std::ranges::any_of(grants, [&](const Grant& grant) {
        return grant.role >= role && (grant.project.empty() || grant.project == project);
    });
}

bool is_of_all_projects(const std::vector<Grant>& grants) {
    return std::ranges::any_of(grants, [](const Grant& grant) { return grant.project.empty(); });
}

std::vector<std::string> projects_of(const std::vector<Grant>& grants, TokenRole role) {
    std::vector<std::string> projects;
    for (const Grant& grant : grants)
        if (grant.role >= role && !grant.project.empty()) projects.push_back(grant.project);
    return projects;
}

std::vector<Right> rights_to_see(const std::string& token_id, const std::vector<Grant>& grants) {
    std::vector<Right> rights;
    for (const Grant& grant : grants)
        rights.push_back({.token_id = token_id, .project = grant.project});
    return rights;
}

std::vector<Right> list_lost_rights(Store& store, const std::vector<Right>& rights) {
    std::vector<std::string> token_ids, projects, roles;
    for (const Right& right : rights) {
        token_ids.push_back(right.token_id);
        projects.push_back(right.project);
        roles.emplace_back(to_string(right.role));
    }
    std::vector<Right> lost;
    for (const Row row :
         read(store.pool(), queries::list_lost_rights, {token_ids, projects, roles}))
        lost.push_back({.token_id = row.text("token_id"),
                        .project = row.text("project"),
                        .role = role_of_word(row.text("role"))});
    return lost;
}

std::map<std::string, std::vector<std::string>> list_token_projects(
    Store& store, const std::vector<std::string>& ids) {
    std::map<std::string, std::vector<std::string>> projects;
    for (const Row row : read(store.pool(), queries::list_token_projects, {ids})) {
        std::vector<std::string> seen = row.texts("projects");
        // Every one: as list filters have it.
        if (std::ranges::find(seen, "") != seen.end()) seen.clear();
        projects.emplace(row.text("token_id"), std::move(seen));
    }
    return projects;
}

}    // namespace slipway::store
