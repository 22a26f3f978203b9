#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of the members of projects.
namespace slipway::member_endpoints {

using namespace endpoint_parts;

inline constexpr auto sets_member = std::to_array<int>({404, 409, 413, 415, 422});
inline constexpr auto removes_member = std::to_array<int>({404, 409, 422});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "list_members",
     .method = "GET",
     .path = "/v1/projects/{p}/members",
     .group = "projects",
     .summary = "List the members of a project with their roles, by name.",
     .response = "MemberList",
     .errors = finds,
     .query = paging},
    {.name = "get_member",
     .method = "GET",
     .path = "/v1/projects/{p}/members/{m}",
     .group = "projects",
     .summary = "Get the role of a member in a project.",
     .response = "Member",
     .errors = finds},
    {.name = "put_member",
     .method = "PUT",
     .path = "/v1/projects/{p}/members/{m}",
     .group = "projects",
     .summary = "Give a member a role in a project. Takes effect at once; safe to repeat.",
     .access = Access::admin,
     .request = "MemberPut",
     .response = "Member",
     .errors = sets_member},
    {.name = "delete_member",
     .method = "DELETE",
     .path = "/v1/projects/{p}/members/{m}",
     .group = "projects",
     .summary = "Remove a member from a project. Takes effect at once.",
     .access = Access::admin,
     .success = 204,
     .errors = removes_member},
});

}    // namespace slipway::member_endpoints
