#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoint of the audit log.
namespace slipway::audit_endpoints {

using namespace endpoint_parts;

inline constexpr auto audit_query = std::to_array<QueryParameter>({
    limit,
    cursor,
    {.name = "token", .summary = "Only actions of this token (id)."},
    {.name = "action", .summary = "Only this action, such as create_job."},
    {.name = "object", .summary = "Only actions on this object (id or name)."},
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "list_audit",
     .method = "GET",
     .path = "/v1/audit",
     .group = "access",
     .summary = "List what was changed and by whom, newest first, with failed logins.",
     .access = Access::admin,
     .response = "AuditList",
     .errors = queries,
     .query = audit_query},
});

}    // namespace slipway::audit_endpoints
