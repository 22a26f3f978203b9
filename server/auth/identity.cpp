#include "server/auth/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "scheduler/store/access.h"
#include "server/http/problem.h"

namespace slipway {
namespace {

// The most that each role may do, in the order of its words.
constexpr std::array most{Access::read, Access::write, Access::admin};

}    // namespace

bool Identity::may(Access access) const {
    return access <= most[static_cast<std::size_t>(role)];
}

bool Identity::sees(std::string_view project) const {
    return store::covers(projects, project);
}

void require_access(const Identity& identity, Access access) {
    if (identity.may(access)) return;
    const auto needed = static_cast<Role>(std::ranges::find(most, access) - most.begin());
    throw ProblemError(
        {.status = 403,
         .code = "permission_denied",
         .detail = fmt::format("this needs a token with the role {}; yours, `{}`, "
                               "has the role {}",
                               to_string(needed), identity.token_name, to_string(identity.role))});
}

void require_project(const Identity& identity, std::string_view project) {
    if (identity.sees(project)) return;
    throw ProblemError({.status = 403,
                        .code = "permission_denied",
                        .detail = fmt::format("your token is for the project {}, not for `{}`",
                                              fmt::join(identity.projects, ", "), project)});
}

}    // namespace slipway
