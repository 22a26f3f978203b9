#pragma once

#include "scheduler/store/asked_at.h"
#include "scheduler/store/rights.h"
#include "scheduler/store/store.h"

namespace slipway::store {

/// A token, without the token: `lookup` finds the row, `sha256` proves the rest (compare in
/// constant time).
struct Token {
    std::string id{};    ///< tok_…
    std::string name{};
    std::string lookup{};                   ///< public part of the token text, unique
    std::string sha256{};                   ///< of the whole token text, hexadecimal
    std::string role{};                     ///< admin, editor, viewer: the most that it may do
    std::vector<std::string> projects{};    ///< it is bound to; empty: to none
    std::string member{};                   ///< whose it is; empty: nobody's
    std::string created_by{};
    Instant created_at{};
    std::optional<Instant> expires_at{};
    std::optional<Instant> last_used_at{};
    std::optional<Instant> revoked_at{};
    bool usable = true;    ///< neither expired nor revoked, by database time
    /// What it may do, by project, with what its member may there; none when it is not usable. Not
    /// in lists.
    std::vector<Grant> grants{};
};

/// True when objects of `project` exist for a token of these projects.
bool covers(const std::vector<std::string>& projects, std::string_view project);

/// `id, name, lookup, sha256, role, projects, member, created_by, expires_at` are taken.
/// Error{conflict} when the lookup part exists, Error{unauthenticated} when the token `created_by`
/// is no longer valid. `made_max`: valid tokens that may descend from the first token of its
/// maker, which nobody has made: that one's, those of the tokens that it made, and so on; above it
/// Error{exhausted}. 0: no limit.
Token create_token(Store& store, const Token& token, std::int64_t made_max = 0);

std::optional<Token> find_token_by_lookup(Store& store, std::string_view lookup,
                                          Tick asked_at = asked_now);
std::optional<Token> find_token(Store& store, std::string_view id);

/// Newest first; revoked ones too. With `projects`, those that are bound to some of them and to no
/// other; without, all.
Page<Token> list_tokens(Store& store, const PageRequest& page,
                        const std::vector<std::string>& projects = {});

/// Ends the token and, unless `keep_made`, those that it made, and those that they made; sessions
/// and tickets end with their tokens. How many tokens that is; 0: there is none of this id.
/// Repeating it is fine.
std::int64_t revoke_token(Store& store, std::string_view id, bool keep_made = false);

/// Notes the use; at most one write a minute.
void touch_token(Store& store, std::string_view id);

/// One-time link: stores the hash of its secret; good for `keep`. A token has at most 20: those
/// that would end first go.
void create_login_ticket(Store& store, std::string_view sha256, std::string_view token_id,
                         std::chrono::seconds keep);

/// The token the ticket stands for; the ticket is used up. Nothing when unknown, used or too old.
std::optional<Token> use_login_ticket(Store& store, std::string_view sha256);

/// A browser's cookie: stores the hash of its secret. A token has at most 20: the oldest goes.
void create_session(Store& store, std::string_view sha256, std::string_view token_id,
                    std::chrono::seconds keep);

/// The session's token, while both are good.
std::optional<Token> find_session(Store& store, std::string_view sha256, Tick asked_at = asked_now);

void end_session(Store& store, std::string_view sha256);

struct AuditEntry {
    std::int64_t id = 0;
    Instant at{};
    std::string token_id{};
    std::string action{};    ///< "job.cancel"
    std::string object{};    ///< "job_…"
    std::string request_id{};
    JsonText detail{};
};

/// Every field narrows; an empty one does not.
struct AuditFilter {
    std::string token_id{};
    std::string action{};
    std::string object{};
};

/// `id` and `at` are set by the database.
void append_audit(Store& store, const AuditEntry& entry);

/// Newest first.
Page<AuditEntry> list_audit(Store& store, const PageRequest& page, const AuditFilter& filter = {});

}    // namespace slipway::store
