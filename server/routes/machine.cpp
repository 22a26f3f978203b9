#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/sha256.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/hosts.h"
#include "server/auth/token.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/guard.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

// The core that {n} names, on the host asked for, else on this machine, else on the first host.
store::Core the_core(const Context& context) {
    const std::string& text = context.request.parameter("n");
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) throw_not_found("core", text);
    const std::string asked = query_text(context.request, "host");
    std::optional<store::Core> found;
    for (store::Core& core : store::list_cores(context.services.store)) {
        if (core.core != number) continue;
        if (!asked.empty() && core.host != asked) continue;
        if (!found || core.host == context.services.host_name) found = std::move(core);
    }
    if (!found)
        throw_not_found("core", asked.empty() ? text : fmt::format("{} of {}", text, asked));
    return *std::move(found);
}

// Who works on a core is told only to those who may see the job's project.
Json render_core(const Context& context, const store::Core& core) {
    Json out = render(core);
    if (core.job_id.empty() || !context.who.is_bound()) return out;
    const auto job = store::find_job(context.services.store, core.job_id);
    if (!job || !context.who.sees(job->project)) out["job_id"] = nullptr;
    return out;
}

void require_machine(const Identity& who, std::string_view what) {
    require_all_projects(who, fmt::format("{} belong to the machine", what), "drain them");
}

store::Host the_host(const Context& context) {
    const std::string& name = context.request.parameter("h");
    for (store::Host& host : store::list_hosts(context.services.store))
        if (host.name == name) return std::move(host);
    throw_not_found("host", name);
}

Response changed_host(const Context& context, bool is_there) {
    if (!is_there) throw_not_found("host", context.request.parameter("h"));
    context.services.on_queued();
    return json_response(render(the_host(context)));
}

Response set_drained(const Context& context, bool drained) {
    require_machine(context.who, "cores");
    store::Core core = the_core(context);
    core.drain_reason = query_text(context.request, "reason");
    if (!store::drain_core(context.services.store, core.host, core.core, drained,
                           core.drain_reason))
        throw_not_found("core", context.request.parameter("n"));
    core.drained = drained;
    context.services.on_queued();
    return json_response(render_core(context, core));
}

}    // namespace

Response list_slices(const Context& context) {
    Json items = Json::array();
    for (const store::Slice& slice :
         store::list_slices(context.services.store, projects_asked(context)))
        items.push_back(render(slice));
    return json_response(render_list(std::move(items)));
}

Response list_hosts(const Context& context) {
    Json items = Json::array();
    for (const store::Host& host : store::list_hosts(context.services.store))
        items.push_back(render(host));
    return json_response(render_list(std::move(items)));
}

Response get_host(const Context& context) {
    return json_response(render(the_host(context)));
}

Response drain_host(const Context& context) {
    require_machine(context.who, "hosts");
    const HostDrainRequest body = read_body(context.request, decode_host_drain, "the request");
    return changed_host(context,
                        store::drain_host(context.services.store, context.request.parameter("h"),
                                          body.reason, context.who.token_id));
}

Response undrain_host(const Context& context) {
    require_machine(context.who, "hosts");
    return changed_host(
        context, store::undrain_host(context.services.store, context.request.parameter("h")));
}

Response delete_host(const Context& context) {
    require_machine(context.who, "hosts");
    const std::string& name = context.request.parameter("h");
    if (!store::remove_host(context.services.store, name, context.who.token_id))
        throw_not_found("host", name);
    return no_content();
}

Response create_join_token(const Context& context) {
    require_machine(context.who, "hosts");
    const JoinTokenCreate body =
        read_body(context.request, decode_join_token_create, "the join token");
    const std::string text = make_join_token();
    const store::JoinToken token{
        .id = new_id("hjt"),
        .sha256 = sha256_hex(text),
        .host = body.host,
        .uses = int(body.uses),
        .created_by = context.who.token_id,
        .expires_at = context.services.clock.now() + std::chrono::seconds{body.expires_in_s}};
    store::prune_join_tokens(context.services.store);
    store::create_join_token(context.services.store, token);
    return json_response({{"id", token.id},
                          {"host", token.host.empty() ? Json(nullptr) : Json(token.host)},
                          {"uses", token.uses},
                          {"expires_at", to_rfc3339(token.expires_at)},
                          {"created_by", token.created_by},
                          {"token", text}},
                         201);
}

Response list_cores(const Context& context) {
    const std::string host = query_text(context.request, "host");
    Json items = Json::array();
    for (const store::Core& core : store::list_cores(context.services.store))
        if (host.empty() || core.host == host) items.push_back(render_core(context, core));
    return json_response(render_list(std::move(items)));
}

Response get_core(const Context& context) {
    return json_response(render_core(context, the_core(context)));
}

Response drain_core(const Context& context) {
    return set_drained(context, true);
}

Response undrain_core(const Context& context) {
    return set_drained(context, false);
}

}    // namespace slipway::routes
