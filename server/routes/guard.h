#pragma once

#include <memory>

#include "scheduler/store/access.h"
#include "server/http/problem.h"
#include "server/routes/services.h"

namespace slipway {

/// The request as an entry of the audit log, which has yet to name its object.
store::AuditEntry audit_entry(const Context& context);

/// How an endpoint's row and its function become a handler: who asks, may they, is the query one
/// that the row describes; Idempotency-Key; the store's refusals as problems; the audit log.
struct GuardedRoute {
    RouteFunction function = nullptr;
    /// The function looks after Idempotency-Key itself, in the transaction of its data.
    bool own_idempotency = false;
    /// The function submits one job, which may be stored with those of other requests.
    bool gathers_submissions = false;
    /// The function may take a second and more: few run at a time (heavy_requests.h).
    bool heavy = false;
    /// A member of the answer that must not be stored for repeated requests.
    std::string_view secret_member = {};
    /// Where the body has the class of the job that the function submits.
    std::string_view class_pointer = "/queue/class";
};

/// The refusal of a class as a problem of the member of the body that asks for it.
ProblemItem class_problem(const store::ClassNotAllowed& refusal, std::string_view pointer);

/// Answers one request; throws for what is not an answer.
Response guard(const Request& request, Services& services, const Endpoint& endpoint,
               const GuardedRoute& route);

/// For what belongs to no project: an admin of some of them has no say in it, nor may learn from it
/// of the others. `fact`: "the audit log is of all projects"; `action`: "read it".
/// errors  throws 403 when the token is bound to projects
void require_all_projects(const Identity& who, std::string_view fact, std::string_view action);

/// The part of `guard` that comes before the function: for receivers of uploads.
/// errors  throws 401, 403, 422, 429
Identity admit(const Request& request, Services& services, const Endpoint& endpoint);

/// `admit` before a body is read. `guard` goes by what it returns when the body follows at once,
/// and asks the database again when the body was slow: a token that is revoked ends at once.
std::shared_ptr<const void> admit_body(const Request& request, Services& services,
                                       const Endpoint& endpoint);

}    // namespace slipway
