#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/base/clock.h"
#include "scheduler/store/access.h"
#include "server/auth/failed_logins.h"
#include "server/auth/identity.h"
#include "server/http/message.h"

namespace slipway {

/// Says who sent a request. Asks the database each time, so that a revoked token ends at once; the
/// note of its last use is written at most once a minute. Safe from every thread.
class Authenticator {
public:
    /// Both outlive it.
    Authenticator(store::Store& store, const Clock& clock) : store_(store), clock_(clock) {}

    /// `Authorization: Bearer slp_…`, else the session cookie (then unsafe methods must come from
    /// our own pages, see require_same_origin).
    /// errors  401 `unauthenticated` when there is neither or it is no longer good;
    ///         403 `cross_site`; unavailable when the database is down
    Identity identify(const Request& request);

    /// The identity of a token's text; none when unknown, expired or revoked.
    std::optional<Identity> identify_token(std::string_view text, Tick asked_at = store::asked_now);

    /// Notes in the audit log and in the service's that a sign-in with this text failed, from where
    /// and why; at most as often as FailedLogins says. Never throws.
    void note_failed_login(const Request& request, std::string_view text);
    /// Likewise of a one-time link.
    void note_failed_link(const Request& request);

private:
    Identity accept(const store::Token& token, bool by_cookie);
    void note_failure(const Request& request, const std::function<FailedLogin()>& reason);
    void note_use(const std::string& token_id);

    store::Store& store_;
    const Clock& clock_;
    FailedLogins failed_logins_;
    std::mutex mutex_;
    std::unordered_map<std::string, Tick> used_at_;    // guarded by mutex_
};

/// How long a browser stays signed in.
inline constexpr std::chrono::seconds session_keep = std::chrono::hours{24 * 14};

/// A new session of this token: the secret for the cookie. Only its hash is stored.
std::string open_session(store::Store& store, std::string_view token_id);

/// A new one-time link secret. `keep` is 60 s to 10 min.
/// errors  throws invalid_argument outside of these bounds
std::string make_login_ticket(store::Store& store, std::string_view token_id,
                              std::chrono::seconds keep);

/// Uses up a one-time link's secret: the token it stands for, or none when it is unknown, used,
/// too old or its token is no longer good.
std::optional<store::Token> redeem_login_ticket(store::Store& store, std::string_view secret);

/// A new token and its text, which cannot be had again. `token.name, role, projects, member,
/// created_by, expires_at` are taken.
struct IssuedToken {
    store::Token token;
    std::string text;
};
/// `made_max` as create_token has it.
IssuedToken issue_token(store::Store& store, store::Token token, std::int64_t made_max = 0);

}    // namespace slipway
