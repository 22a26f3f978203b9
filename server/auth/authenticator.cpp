#include "server/auth/authenticator.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/json.h"
#include "api/base/log.h"
#include "api/base/sha256.h"
#include "server/auth/cookie.h"
#include "server/auth/token.h"
#include "server/http/problem.h"

namespace slipway {
namespace {

constexpr std::chrono::minutes note_every{1};
constexpr std::size_t noted_max = 10000;
constexpr std::chrono::seconds ticket_keep_min{60};
constexpr std::chrono::seconds ticket_keep_max{600};

[[noreturn]] void refuse(const std::string& detail) {
    throw ProblemError({.status = 401,
                        .code = "unauthenticated",
                        .detail = detail,
                        .headers = {{"WWW-Authenticate", "Bearer realm=\"slipway\""}}});
}

// The credentials of "Bearer x"; the scheme's letter case does not count (RFC 9110).
std::optional<std::string_view> bearer(std::string_view header) {
    constexpr std::string_view scheme = "bearer ";
    if (header.size() < scheme.size()) return std::nullopt;
    for (std::size_t i = 0; i < scheme.size(); ++i) {
        const char c = header[i];
        const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        if (lower != scheme[i]) return std::nullopt;
    }
    header.remove_prefix(scheme.size());
    while (header.starts_with(' '))
        header.remove_prefix(1);
    return header;
}

}    // namespace

Identity Authenticator::identify(const Request& request) {
    if (const auto header = request.header("authorization")) {
        const auto text = bearer(*header);
        if (!text) refuse("Authorization must be `Bearer slp_…`");
        if (auto identity = identify_token(*text, request.asked_at)) return *std::move(identity);
        refuse("this token is unknown, expired or revoked");
    }
    const auto secret = session_cookie(request);
    if (!secret) refuse("send Authorization: Bearer slp_… (or sign in with a browser)");
    const auto token = store::find_session(store_, sha256_hex(*secret), request.asked_at);
    if (!token) refuse("this session has ended; sign in again");
    require_same_origin(request);
    return accept(*token, true);
}

std::optional<Identity> Authenticator::identify_token(std::string_view text, Tick asked_at) {
    const auto parts = parse_token(text);
    if (!parts) return std::nullopt;
    const auto token = store::find_token_by_lookup(store_, parts->lookup, asked_at);
    if (!token || !same_secret(token->sha256, parts->sha256) || !token->usable) return std::nullopt;
    return accept(*token, false);
}

namespace {

// Which token a refused text was meant to be, and what is wrong with it.
FailedLogin reason_of(store::Store& store, std::string_view text) {
    const auto parts = parse_token(text);
    if (!parts) return {.reason = "not a token"};
    const auto token = store::find_token_by_lookup(store, parts->lookup);
    if (!token) return {.reason = "unknown token"};
    if (!same_secret(token->sha256, parts->sha256))
        return {.token_id = token->id, .reason = "wrong secret"};
    return {.token_id = token->id, .reason = token->revoked_at ? "revoked" : "expired"};
}

void note(store::Store& store, const Request& request, FailedLogin failure) {
    log_warn("a sign-in failed", {{"address", request.peer},
                                  {"reason", failure.reason},
                                  {"token_id", failure.token_id},
                                  {"suppressed", failure.suppressed},
                                  {"request_id", request.request_id}});
    const Json detail{
        {"address", request.peer}, {"reason", failure.reason}, {"suppressed", failure.suppressed}};
    store::append_audit(store, {.id = 0,
                                .at = {},
                                .token_id = failure.token_id,
                                .action = "login_failed",
                                .object = "",
                                .request_id = request.request_id,
                                .detail = detail.dump()});
}

}    // namespace

void Authenticator::note_failure(const Request& request,
                                 const std::function<FailedLogin()>& reason) {
    const auto suppressed = failed_logins_.admit(request.peer, clock_.tick());
    if (!suppressed) return;
    try {
        FailedLogin failure = reason();
        failure.suppressed = *suppressed;
        note(store_, request, std::move(failure));
    } catch (const Error& error) {
        log_warn("a failed sign-in was not noted in the audit log",
                 {{"address", request.peer}, {"error", error.what()}});
    }
}

void Authenticator::note_failed_login(const Request& request, std::string_view text) {
    note_failure(request, [&] { return reason_of(store_, text); });
}

void Authenticator::note_failed_link(const Request& request) {
    note_failure(request, [] { return FailedLogin{.reason = "a link that is used or too old"}; });
}

Identity Authenticator::accept(const store::Token& token, bool by_cookie) {
    note_use(token.id);
    return {.token_id = token.id,
            .token_name = token.name,
            .member = token.member,
            .grants = token.grants,
            .by_cookie = by_cookie};
}

void Authenticator::note_use(const std::string& token_id) {
    {
        const std::lock_guard lock(mutex_);
        const Tick now = clock_.tick();
        const auto known = used_at_.find(token_id);
        if (known != used_at_.end() && now - known->second < note_every) return;
        if (used_at_.size() >= noted_max) used_at_.clear();
        used_at_[token_id] = now;
    }
    try {
        store::touch_token(store_, token_id);
    } catch (const Error& error) {
        // A request that the database can answer must not fail for the note of its token's use.
        log_warn("the use of a token was not noted",
                 {{"token_id", token_id}, {"error", error.what()}});
    }
}

std::string open_session(store::Store& store, std::string_view token_id) {
    std::string secret = make_secret();
    store::create_session(store, sha256_hex(secret), token_id, session_keep);
    return secret;
}

std::string make_login_ticket(store::Store& store, std::string_view token_id,
                              std::chrono::seconds keep) {
    if (keep < ticket_keep_min || keep > ticket_keep_max)
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("a one-time link is valid for {} to {} seconds, got {}",
                                ticket_keep_min.count(), ticket_keep_max.count(), keep.count()));
    std::string secret = make_secret();
    store::create_login_ticket(store, sha256_hex(secret), token_id, keep);
    return secret;
}

std::optional<store::Token> redeem_login_ticket(store::Store& store, std::string_view secret) {
    if (!is_secret(secret)) return std::nullopt;
    auto token = store::use_login_ticket(store, sha256_hex(secret));
    if (token && !token->usable) return std::nullopt;
    return token;
}

IssuedToken issue_token(store::Store& store, store::Token token, std::int64_t made_max) {
    const TokenText made = make_token();
    token.id = new_id("tok");
    token.lookup = made.lookup;
    token.sha256 = made.sha256;
    return {.token = store::create_token(store, token, made_max), .text = made.text};
}

}    // namespace slipway
