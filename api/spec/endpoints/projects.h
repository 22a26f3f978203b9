#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of projects: what they are entitled to.
namespace slipway::project_endpoints {

using namespace endpoint_parts;

inline constexpr auto creates_project = std::to_array<int>({409, 413, 415, 422, 429});
inline constexpr auto changes_project = std::to_array<int>({404, 413, 415, 422});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "create_project",
     .method = "POST",
     .path = "/v1/projects",
     .group = "projects",
     .summary = "Create a project. A dataset in a new project creates it, too.",
     .access = Access::admin,
     .request = "ProjectCreate",
     .response = "Project",
     .success = 201,
     .errors = creates_project,
     .idempotent_by_key = true},
    {.name = "list_projects",
     .method = "GET",
     .path = "/v1/projects",
     .group = "projects",
     .summary = "List the projects with their weight, quota and usage, by name.",
     .response = "ProjectList",
     .errors = queries,
     .query = paging},
    {.name = "get_project",
     .method = "GET",
     .path = "/v1/projects/{p}",
     .group = "projects",
     .summary = "Get a project.",
     .response = "Project",
     .errors = not_found},
    {.name = "patch_project",
     .method = "PATCH",
     .path = "/v1/projects/{p}",
     .group = "projects",
     .summary = "Change the weight of a project.",
     .access = Access::admin,
     .request = "ProjectPatch",
     .response = "Project",
     .errors = changes_project},
    {.name = "get_project_quota",
     .method = "GET",
     .path = "/v1/projects/{p}/quota",
     .group = "projects",
     .summary = "Get the quota of a project.",
     .response = "ProjectQuota",
     .errors = not_found},
    {.name = "put_project_quota",
     .method = "PUT",
     .path = "/v1/projects/{p}/quota",
     .group = "projects",
     .summary = "Set the quota of a project. An absent field means no quota.",
     .access = Access::admin,
     .request = "ProjectQuota",
     .response = "ProjectQuota",
     .errors = changes_project},
    {.name = "list_groups",
     .method = "GET",
     .path = "/v1/projects/{p}/groups",
     .group = "projects",
     .summary = "List the groups of jobs of a project that have a limit, by name.",
     .response = "GroupList",
     .errors = finds,
     .query = paging},
    {.name = "put_group",
     .method = "PUT",
     .path = "/v1/projects/{p}/groups/{g}",
     .group = "projects",
     .summary = "Set how many jobs of a group run at the same time.",
     .access = Access::write,
     .request = "GroupPut",
     .response = "Group",
     .errors = changes_project},
});

}    // namespace slipway::project_endpoints
