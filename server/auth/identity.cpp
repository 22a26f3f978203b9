#include "server/auth/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "api/base/check.h"
#include "server/http/problem.h"

namespace slipway {
namespace {

constexpr std::size_t named_projects_max = 10;

// The most that each role may do, in the order of its words.
constexpr std::array most{Access::read, Access::write, Access::admin};

// The least role that may; none when no role is needed.
std::optional<Role> needed_for(Access access) {
    const auto* const found = std::ranges::find(most, access);
    if (found == most.end()) return std::nullopt;
    return static_cast<Role>(found - most.begin());
}

[[noreturn]] void forbid(std::string detail) {
    throw ProblemError({.status = 403, .code = "permission_denied", .detail = std::move(detail)});
}

std::string role_text(std::optional<Role> role) {
    return role ? fmt::format("has the role {}", to_string(*role)) : "has no role in any project";
}

std::string name_of(const Identity& identity) {
    if (identity.member.empty()) return fmt::format("yours, `{}`,", identity.token_name);
    return fmt::format("yours, `{}` of the member `{}`,", identity.token_name, identity.member);
}

std::optional<Role> role_in(const Identity& identity, std::string_view project) {
    for (const Role role : {Role::admin, Role::editor, Role::viewer})
        if (store::allows(identity.grants, project, role)) return role;
    return std::nullopt;
}

// Of thousands a few say what is meant.
std::string listed(std::vector<std::string> projects) {
    if (projects.empty()) return "no project";
    const bool cut = projects.size() > named_projects_max;
    if (cut) projects.resize(named_projects_max);
    return fmt::format("the project {}{}", fmt::join(projects, ", "), cut ? ", …" : "");
}

}    // namespace

std::optional<Role> Identity::role() const {
    if (grants.empty()) return std::nullopt;
    return std::ranges::max(grants, {}, &store::Grant::role).role;
}

bool Identity::may(Access access) const {
    const auto needed = needed_for(access);
    return !needed || role() >= needed;
}

bool Identity::may(Access access, std::string_view project) const {
    const auto needed = needed_for(access);
    check(needed.has_value(), "what concerns a project needs a role");
    return store::allows(grants, project, *needed);
}

std::vector<std::string> Identity::projects(Access access) const {
    const auto needed = needed_for(access);
    check(needed.has_value(), "what concerns projects needs a role");
    // No other than an empty list means all of them.
    if (store::allows(grants, {}, *needed)) return {};
    auto found = store::projects_of(grants, *needed);
    if (found.empty()) require_access(*this, access);
    check(!found.empty(), "who has the role has it in a project");
    return found;
}

void require_access(const Identity& identity, Access access) {
    if (identity.may(access)) return;
    forbid(fmt::format("this needs a token with the role {}; {} {}", to_string(*needed_for(access)),
                       name_of(identity), role_text(identity.role())));
}

void require_project(const Identity& identity, Access access, std::string_view project) {
    if (identity.may(access, project)) return;
    if (!identity.sees(project))
        forbid(fmt::format("your token is for {}, not for `{}`",
                           listed(store::projects_of(identity.grants, Role::viewer)), project));
    forbid(fmt::format("this needs the role {} in the project `{}`; {} {} there",
                       to_string(*needed_for(access)), project, name_of(identity),
                       role_text(role_in(identity, project))));
}

}    // namespace slipway
