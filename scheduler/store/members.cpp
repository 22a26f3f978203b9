// Changes of a project's members are made one after the other, under a lock of the project's row:
// two admins who remove each other would both see that an admin is left. Who asks is asked about
// again behind the lock, so that an admin who was removed while their request waited cannot come
// back by it. Whether rights follow needs no step of its own: they are read from these rows
// (the view token_grant).
#include "scheduler/store/members.h"

#include <fmt/core.h>

#include "api/base/json.h"
#include "api/base/plural.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/role_words.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

Membership read_membership(const Row& row) {
    return {.project = row.text("project"),
            .member = row.text("member"),
            .role = role_of_word(row.text("role")),
            .changed_by = row.text("changed_by"),
            .created_at = row.time("created_at"),
            .changed_at = row.time("changed_at")};
}

std::optional<Membership> first_membership(const Rows& rows) {
    if (rows.empty()) return std::nullopt;
    return read_membership(rows[0]);
}

struct LockedMembers {
    std::optional<Membership> before;    ///< of the member that changes
    std::int64_t members = 0;
    std::int64_t admins = 0;
};

LockedMembers lock_members(Transaction& transaction, const MemberChange& change) {
    if (transaction.run(queries::lock_members, {change.project}).empty())
        throw Error{ErrorCode::not_found, fmt::format("there is no project {}", change.project)};
    using Words = std::vector<std::string>;
    const std::vector<Rows> read =
        transaction.run({{&queries::list_lost_rights,
                          {Words{change.by.token_id}, Words{change.by.project},
                           Words{std::string(to_string(change.by.role))}}},
                         {&queries::find_membership, {change.project, change.member}},
                         {&queries::count_members, {change.project}}});
    if (!read[0].empty())
        throw Error{ErrorCode::permission_denied,
                    fmt::format("this token has lost the role {} in project {} meanwhile",
                                to_string(change.by.role), change.project)};
    return {.before = first_membership(read[1]),
            .members = read[2][0].integer("members"),
            .admins = read[2][0].integer("admins")};
}

void require_admin_left(const MemberChange& change, const LockedMembers& locked) {
    const bool is_last =
        locked.before && locked.before->role == TokenRole::admin && locked.admins == 1;
    if (is_last && !change.may_take_last_admin) throw LastAdmin(change.project, change.member);
}

void require_room(const MemberChange& change, const LockedMembers& locked) {
    if (locked.before || change.members_max == 0 || locked.members < change.members_max) return;
    throw Error{ErrorCode::exhausted,
                fmt::format("project {} has {}, and the maximum is {} (--members-max); "
                            "remove some first",
                            change.project, counted(locked.members, "member"), change.members_max)};
}

Statement audit_of(const MemberChange& change, const std::optional<Membership>& before,
                   std::optional<TokenRole> role) {
    const auto word = [](const auto& known) { return known ? Json(to_string(*known)) : Json(); };
    std::optional<TokenRole> role_before;
    if (before) role_before = before->role;
    const Json detail{
        {"member", change.member}, {"role", word(role)}, {"role_before", word(role_before)}};
    return {&queries::append_audit,
            {change.audit.token_id, change.audit.action, change.project, change.audit.request_id,
             detail.dump()}};
}

}    // namespace

Page<Membership> list_members(Store& store, std::string_view project, const PageRequest& page) {
    const std::string scope = fmt::format("members\n{}", project);
    const Rows rows = read(store.pool(), queries::list_memberships,
                           {project, place_of(scope, page), rows_to_ask(page)});
    return make_page<Membership>(rows, page, scope, read_membership, [](const Row& row) {
        return CursorPlace{row.text("member"), ""};
    });
}

std::optional<Membership> find_membership(Store& store, std::string_view project,
                                          std::string_view member) {
    return first_membership(read(store.pool(), queries::find_membership, {project, member}));
}

bool has_member(Store& store, std::string_view name, const std::vector<std::string>& projects) {
    return !read(store.pool(), queries::find_member, {name, Param::or_null(projects)}).empty();
}

Membership set_member(Store& store, const MemberChange& change, TokenRole role) {
    bool changed = false;
    const Membership made = transact(store.pool(), [&](Transaction& transaction) {
        changed = false;    // a transaction may be run again
        const LockedMembers locked = lock_members(transaction, change);
        if (locked.before && locked.before->role == role) return *locked.before;
        require_room(change, locked);
        require_admin_left(change, locked);
        changed = true;
        return read_membership(transaction.commit(
            {{&queries::add_member_name, {change.member, change.by.token_id}},
             audit_of(change, locked.before, role),
             {&queries::set_membership,
              {change.project, change.member, to_string(role), change.by.token_id}}})[2][0]);
    });
    if (changed) store.announce(topics::tokens);
    return made;
}

bool remove_member(Store& store, const MemberChange& change) {
    const bool removed = transact(store.pool(), [&](Transaction& transaction) {
        const LockedMembers locked = lock_members(transaction, change);
        if (!locked.before) return false;
        require_admin_left(change, locked);
        transaction.commit({audit_of(change, locked.before, std::nullopt),
                            {&queries::delete_membership, {change.project, change.member}}});
        return true;
    });
    if (removed) store.announce(topics::tokens);
    return removed;
}

}    // namespace slipway::store
