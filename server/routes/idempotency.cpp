#include "server/routes/idempotency.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "api/base/log.h"
#include "api/base/parsed_json.h"
#include "api/base/sha256.h"
#include "scheduler/store/pg/connection.h"
#include "server/http/problem.h"

namespace slipway {
namespace {

constexpr std::size_t key_bytes_max = 128;

bool is_visible(char c) {
    return c >= '!' && c <= '~';
}

std::string without(const std::string& body, std::string_view member) {
    Json value = Json::parse(body, nullptr, false);
    if (!value.is_object()) return body;
    value[std::string(member)] = nullptr;
    return value.dump();
}

}    // namespace

std::string canonical_body(const std::string& body) {
    const auto parsed = parse_json(body);
    if (!parsed || !parsed->duplicates.empty()) return body;
    return parsed->value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<store::IdempotentRequest> idempotent_request(const Request& request,
                                                           const Identity& who) {
    const auto key = request.header("idempotency-key");
    if (!key) return std::nullopt;
    if (key->empty() || key->size() > key_bytes_max || !std::ranges::all_of(*key, is_visible))
        throw ProblemError({.status = 400,
                            .code = "invalid_idempotency_key",
                            .detail = "Idempotency-Key must be 1 to 128 visible ASCII characters"});
    std::string same{to_string(request.method)};
    same += ' ' + request.path;
    for (const Pair& pair : request.query_pairs)
        same += '\0' + pair.name + '=' + pair.value;
    same += '\n' + canonical_body(request.body);
    return store::IdempotentRequest{
        .token_id = who.token_id, .key = std::string(*key), .body_hash = sha256_hex(same)};
}

Response once(store::Store& store, const store::IdempotentRequest& request, store::Repeat repeat,
              const std::function<Response()>& work, std::string_view secret_member) {
    if (const auto first = store::begin_idempotent(store, request, repeat))
        return from_stored(*first, true);
    Response response;
    try {
        response = work();
    } catch (const store::PgError& error) {
        // A connection that broke leaves open what was committed: the mark stays, so that what
        // makes something is not done twice.
        if (repeat == store::Repeat::harmless || !error.sqlstate().empty())
            store::abandon_idempotent(store, request);
        throw;
    } catch (const std::exception&) {
        // The refusal goes on to the client; only the mark must not outlive it.
        store::abandon_idempotent(store, request);
        throw;
    }
    if (response.status >= 400 || response.again_after_s) {
        store::abandon_idempotent(store, request);
        return response;
    }
    store::StoredResponse stored = to_stored(response);
    if (!secret_member.empty()) stored.body = without(stored.body, secret_member);
    try {
        store::finish_idempotent(store, request, stored);
    } catch (const Error& error) {
        // It is done: who asks again with this key is told so, and it is not done again.
        log_warn("an answer could not be kept for its idempotency key",
                 {{"key", request.key}, {"reason", error.what()}});
    }
    return response;
}

store::StoredResponse to_stored(const Response& response) {
    return {.status = response.status,
            .body = response.body,
            .location = std::string(response.header("Location").value_or(""))};
}

Response from_stored(const store::StoredResponse& stored, bool replayed) {
    Response response;
    response.status = stored.status;
    response.body = stored.body;
    if (stored.body.empty()) response.media_type.clear();
    if (!stored.location.empty()) response.headers.push_back({"Location", stored.location});
    if (replayed) response.headers.push_back({"Idempotency-Replayed", "true"});
    return response;
}

}    // namespace slipway
