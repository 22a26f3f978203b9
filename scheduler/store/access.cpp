#include "scheduler/store/access.h"

#include <fmt/core.h>

#include <algorithm>

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/role_words.h"
#include "scheduler/store/shared_reads.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

using std::chrono::milliseconds;

Token read_token(const Row& row) {
    return {.id = row.text("id"),
            .name = row.text("name"),
            .lookup = row.text("lookup"),
            .sha256 = row.text("sha256"),
            .role = row.text("role"),
            .projects = row.texts("projects"),
            .member = row.text("member"),
            .created_by = row.text("created_by"),
            .created_at = row.time("created_at"),
            .expires_at = row.maybe_time("expires_at"),
            .last_used_at = row.maybe_time("last_used_at"),
            .revoked_at = row.maybe_time("revoked_at"),
            .usable = row.flag("usable")};
}

Token read_token_with_grants(const Row& row) {
    Token token = read_token(row);
    std::vector<std::string> projects = row.texts("granted_projects");
    const std::vector<std::string> roles = row.texts("granted_roles");
    for (std::size_t i = 0; i < projects.size(); ++i)
        token.grants.push_back({std::move(projects[i]), role_of_word(roles[i])});
    return token;
}

AuditEntry read_audit(const Row& row) {
    return {.id = row.integer("id"),
            .at = row.time("at"),
            .token_id = row.text("token_id"),
            .action = row.text("action"),
            .object = row.text("object"),
            .request_id = row.text("request_id"),
            .detail = row.text("detail")};
}

void require_fewer_tokens(Transaction& transaction, const std::string& maker, std::int64_t max) {
    const std::int64_t made =
        transaction.run(queries::count_made_tokens, {maker})[0].integer("tokens");
    if (made < max) return;
    throw Error{ErrorCode::exhausted,
                fmt::format("{} valid tokens descend from the same first token as this one, and "
                            "the maximum is {} (--tokens-max); revoke some first",
                            made, max)};
}

std::optional<Token> first_token(const Rows& rows) {
    if (rows.empty()) return std::nullopt;
    return read_token_with_grants(rows[0]);
}

/// The token that a ticket or session row names, while it is good.
std::optional<Token> usable_token(Store& store, const Rows& rows) {
    if (rows.empty()) return std::nullopt;
    std::optional<Token> token = find_token(store, rows[0].text("token_id"));
    return token && token->usable ? token : std::nullopt;
}

}    // namespace

bool covers(const std::vector<std::string>& projects, std::string_view project) {
    return projects.empty() || std::ranges::find(projects, project) != projects.end();
}

Token create_token(Store& store, const Token& token, std::int64_t made_max) {
    return transact(store.pool(), [&](Transaction& transaction) {
        transaction.run(queries::lock_tokens);
        if (made_max > 0) require_fewer_tokens(transaction, token.created_by, made_max);
        const Rows made = transaction.run(
            queries::insert_token,
            {token.id, token.name, token.lookup, token.sha256, token.role, token.projects,
             token.created_by, token.expires_at, Param::or_null(token.member)});
        if (made.affected() == 0)
            throw Error(ErrorCode::unauthenticated,
                        "the token that was to make this one has expired or was revoked");
        return read_token_with_grants(
            transaction.commit({{&queries::find_token, {token.id}}}).back()[0]);
    });
}

std::optional<Token> find_token_by_lookup(Store& store, std::string_view lookup, Tick asked_at) {
    return *store.shared_reads().tokens.get(std::string(lookup), asked_at, [&] {
        return first_token(read(store.pool(), queries::find_token_by_lookup, {lookup}));
    });
}

std::optional<Token> find_token(Store& store, std::string_view id) {
    return first_token(read(store.pool(), queries::find_token, {id}));
}

Page<Token> list_tokens(Store& store, const PageRequest& page,
                        const std::vector<std::string>& projects) {
    const Rows rows = read(store.pool(), queries::list_tokens,
                           {place_of("tokens", page), rows_to_ask(page), Param::or_null(projects)});
    return make_page<Token>(rows, page, "tokens", read_token, place_of_id);
}

std::int64_t revoke_token(Store& store, std::string_view id, bool keep_made) {
    const std::int64_t revoked = transact(store.pool(), [&](Transaction& transaction) {
        transaction.run(queries::lock_tokens);
        return transaction.run(queries::revoke_token, {id, keep_made}).affected();
    });
    if (revoked > 0) store.announce(topics::tokens);
    return revoked;
}

void touch_token(Store& store, std::string_view id) {
    write(store.pool(), queries::touch_token, {id});
}

void create_login_ticket(Store& store, std::string_view sha256, std::string_view token_id,
                         std::chrono::seconds keep) {
    write(store.pool(), queries::insert_login_ticket, {sha256, token_id, milliseconds(keep)});
}

std::optional<Token> use_login_ticket(Store& store, std::string_view sha256) {
    return usable_token(store, write(store.pool(), queries::use_login_ticket, {sha256}));
}

void create_session(Store& store, std::string_view sha256, std::string_view token_id,
                    std::chrono::seconds keep) {
    write(store.pool(), queries::insert_session, {sha256, token_id, milliseconds(keep)});
}

std::optional<Token> find_session(Store& store, std::string_view sha256, Tick asked_at) {
    return *store.shared_reads().sessions.get(std::string(sha256), asked_at, [&] {
        return usable_token(store, read(store.pool(), queries::find_session, {sha256}));
    });
}

void end_session(Store& store, std::string_view sha256) {
    write(store.pool(), queries::end_session, {sha256});
}

void append_audit(Store& store, const AuditEntry& entry) {
    write(store.pool(), queries::append_audit,
          {entry.token_id, entry.action, entry.object, entry.request_id,
           entry.detail.empty() ? "{}" : entry.detail});
}

Page<AuditEntry> list_audit(Store& store, const PageRequest& page, const AuditFilter& filter) {
    const std::string scope = fmt::format("audit\ntoken {}\naction {}\nobject {}", filter.token_id,
                                          filter.action, filter.object);
    const Rows rows =
        read(store.pool(), queries::list_audit,
             {place_of(scope, page), Param::or_null(filter.token_id), Param::or_null(filter.action),
              Param::or_null(filter.object), rows_to_ask(page)});
    return make_page<AuditEntry>(rows, page, scope, read_audit, place_of_id);
}

}    // namespace slipway::store
