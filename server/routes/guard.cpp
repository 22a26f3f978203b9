#include "server/routes/guard.h"

#include <fmt/format.h>

#include <cmath>

#include "api/base/log.h"
#include "api/base/plural.h"
#include "api/spec/job_spec.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/pg/connection.h"
#include "scheduler/submission/checked_job.h"
#include "server/http/problem.h"
#include "server/http/server.h"
#include "server/routes/idempotency.h"
#include "server/routes/query.h"
#include "server/routes/state_sentence.h"

namespace slipway {
namespace {

// The refusals of store and submission, which know no HTTP, as problems with codes of their own.
Response with_problems(const Request& request, std::string_view class_pointer,
                       const std::function<Response()>& work) {
    try {
        return work();
    } catch (const store::IllegalTransition& refusal) {
        throw ProblemError(
            {.status = 409,
             .code = "illegal_transition",
             .detail = illegal_transition_sentence("the job", refusal.from(), refusal.to()),
             .items = {{.pointer = "/state", .code = refusal.from(), .message = refusal.what()}}});
    } catch (const store::ClassNotAllowed& refusal) {
        throw ProblemError({.status = 422,
                            .code = "invalid_spec",
                            .detail = refusal.what(),
                            .items = {class_problem(refusal, class_pointer)}});
    } catch (const store::LastAdmin& refusal) {
        throw ProblemError({.status = 409, .code = "last_admin", .detail = refusal.what()});
    } catch (const store::VersionMismatch& refusal) {
        throw ProblemError({.status = 412,
                            .code = "precondition_failed",
                            .detail = "it has changed since it was read; read it again",
                            .headers = {{"ETag", fmt::format("\"v{}\"", refusal.present())}}});
    } catch (const store::IdempotencyMismatch& refusal) {
        throw ProblemError(
            {.status = 422, .code = "idempotency_key_reused", .detail = refusal.what()});
    } catch (const store::IdempotencyInFlight& refusal) {
        throw ProblemError({.status = 409,
                            .code = "idempotency_in_flight",
                            .detail = refusal.what(),
                            .headers = {{"Retry-After", "1"}}});
    } catch (const store::IdempotencyUnknown& refusal) {
        throw ProblemError(
            {.status = 409, .code = "idempotency_outcome_unknown", .detail = refusal.what()});
    } catch (const submission::OldJobSpec& refusal) {
        throw ProblemError({.status = 409, .code = "old_job", .detail = refusal.what()});
    } catch (const ProblemError&) {
        throw;
    } catch (const store::PgError& refusal) {
        if (refusal.sqlstate() != store::disk_full) throw;
        throw ProblemError({.status = 507,
                            .code = "disk_full",
                            .detail = "the disk of the database is full, so nothing was stored; "
                                      "the operator must free space"});
    } catch (const Error& refusal) {
        // Cursors are the only text of a query that the store takes apart by itself.
        if (refusal.code() == ErrorCode::invalid_argument && request.query("cursor"))
            throw ProblemError(
                {.status = 400, .code = "cursor_mismatch", .detail = refusal.what()});
        throw;
    }
}

bool changes_something(const Request& request, const Response& response) {
    return request.method != Method::GET && request.method != Method::HEAD &&
           response.status < 400 && !query_flag(request, "dry_run");
}

std::string object_of(const Request& request, const Response& response) {
    for (const Pair& parameter : request.parameters)
        return parameter.value;
    const std::string_view location = response.header("Location").value_or("");
    return std::string(location.substr(location.rfind('/') + 1));
}

// After the fact, but of jobs, which are stored with their entry: a request that did its work must
// not fail because it could not be noted.
void note(const Context& context, const Response& response) {
    if (response.audited || !changes_something(context.request, response) ||
        context.who.token_id.empty() || context.endpoint.name == "append_upload")
        return;
    try {
        store::AuditEntry entry = audit_entry(context);
        entry.object = object_of(context.request, response);
        store::append_audit(context.services.store, entry);
    } catch (const Error& error) {
        log_warn("an action was not noted in the audit log",
                 {{"action", context.endpoint.name},
                  {"request_id", context.request.request_id},
                  {"error", error.what()}});
    }
}

// An answer that its client may take long to read ends with any right of those that it was made by.
void bind_to_rights(const Context& context, Response& response) {
    const bool may_take_long = response.file || response.body.size() > counted_answer_bytes;
    if (may_take_long && !context.who.token_id.empty())
        response.permit = context.services.transfers->permit(
            store::rights_to_see(context.who.token_id, context.who.grants));
}

// What `admit_body` found, and when.
struct AdmittedBody {
    Identity who;
    Tick at;
};

constexpr std::chrono::seconds admission_keep{1};

// A request that waits is called again, and is still one.
void require_rate(const Request& request, Services& services, const Identity& who) {
    if (request.waited_s > 0) return;
    const auto wait_s = services.request_rates->admit(who.token_id, services.clock.tick());
    if (!wait_s) return;
    const auto seconds = static_cast<std::int64_t>(std::ceil(*wait_s));
    throw ProblemError(
        {.status = 429,
         .code = "rate_limited",
         .detail = fmt::format("this token may send {} a second (--requests-per-s); send "
                               "the next one in {} s",
                               counted(services.request_rates->per_s(), "request"), seconds),
         .headers = {{"Retry-After", fmt::to_string(seconds)}}});
}

// What every answer goes through, whatever made it.
Response finished(const Context& context, Response response) {
    if (!response.again_after_s && !response.alone) note(context, response);
    bind_to_rights(context, response);
    response.identified = !context.who.token_id.empty();
    return response;
}

// The rest of a gathered request's work is guarded like its beginning.
Response with_rest_guarded(const Context& context, std::string_view class_pointer,
                           Response response) {
    const Request& request = context.request;
    response.rest = [&request, &services = context.services, &endpoint = context.endpoint,
                     who = context.who, class_pointer, rest = std::move(response.rest)] {
        return with_problems(request, class_pointer, [&] {
            return finished(Context{request, services, who, endpoint}, rest());
        });
    };
    return response;
}

}    // namespace

ProblemItem class_problem(const store::ClassNotAllowed& refusal, std::string_view pointer) {
    std::vector<std::string> allowed;
    for (const std::string_view word : Spelling<QueueClass>::words)
        if (!allowed.empty() || word == refusal.allowed()) allowed.emplace_back(word);
    return {.pointer = std::string(pointer),
            .code = "not_allowed",
            .message = fmt::format("{}; ask an admin for more (quota.class_max)", refusal.what()),
            .allowed = std::move(allowed)};
}

store::AuditEntry audit_entry(const Context& context) {
    return {.id = 0,
            .at = {},
            .token_id = context.who.token_id,
            .action = std::string(context.endpoint.name),
            .object = {},
            .request_id = context.request.request_id,
            .detail = "{}"};
}

Identity admit(const Request& request, Services& services, const Endpoint& endpoint) {
    if (request.admission) {
        const auto& early = *static_cast<const AdmittedBody*>(request.admission.get());
        if (services.clock.tick() - early.at < admission_keep) return early.who;
    }
    Identity who;
    if (endpoint.access != Access::open) {
        who = services.authenticator.identify(request);
        require_rate(request, services, who);
        require_access(who, endpoint.access);
    }
    require_query(request, endpoint);
    return who;
}

std::shared_ptr<const void> admit_body(const Request& request, Services& services,
                                       const Endpoint& endpoint) {
    // Shared: the request may be copied.
    return std::make_shared<const AdmittedBody>(
        AdmittedBody{admit(request, services, endpoint), services.clock.tick()});
}

Response guard(const Request& request, Services& services, const Endpoint& endpoint,
               const GuardedRoute& route) {
    return with_problems(request, route.class_pointer, [&] {
        const Identity who = admit(request, services, endpoint);
        const Context context{request, services, who, endpoint};
        const auto handle = [&] { return route.function(context); };
        const auto work = [&] {
            Response response = route.heavy
                                    ? services.heavy_requests->run(request, who.token_id, handle)
                                    : handle();
            if (response.rest)
                return with_rest_guarded(context, route.class_pointer, std::move(response));
            return finished(context, std::move(response));
        };
        if (request.method != Method::POST || route.own_idempotency ||
            endpoint.access == Access::open || query_flag(request, "dry_run"))
            return work();
        const auto same = idempotent_request(request, who);
        if (!same) return work();
        // What is created would be there twice.
        const store::Repeat repeat =
            endpoint.success == 201 ? store::Repeat::forbidden : store::Repeat::harmless;
        return once(services.store, *same, repeat, work, route.secret_member);
    });
}

void require_all_projects(const Identity& who, std::string_view fact, std::string_view action) {
    if (!who.is_bound()) return;
    throw ProblemError({.status = 403,
                        .code = "permission_denied",
                        .detail = fmt::format("{}: an admin's token that is bound to projects or "
                                              "to a member cannot {}",
                                              fact, action)});
}

}    // namespace slipway
