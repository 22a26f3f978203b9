#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/spec/requests.h"
#include "scheduler/store/store.h"

namespace slipway::store {

/// What a token may do in a project: what its own row and the membership of its member both allow.
struct Grant {
    std::string project{};    ///< empty: every project
    TokenRole role = TokenRole::viewer;
    bool operator==(const Grant&) const = default;
};

/// True when one of them has at least this role in `project`.
bool allows(const std::vector<Grant>& grants, std::string_view project, TokenRole role);

/// True when they are of every project, and not of named ones.
bool is_of_all_projects(const std::vector<Grant>& grants);

/// The projects in which they have at least this role. Empty means none, unless
/// is_of_all_projects.
std::vector<std::string> projects_of(const std::vector<Grant>& grants, TokenRole role);

/// A right that something under way depends on.
struct Right {
    std::string token_id{};
    std::string project{};    ///< empty: some project
    TokenRole role = TokenRole::viewer;
    auto operator<=>(const Right&) const = default;
};

/// What a token that has these grants depends on when it may show all that it sees.
std::vector<Right> rights_to_see(const std::string& token_id, const std::vector<Grant>& grants);

/// Those that no longer exist, by the database's clock: the token has ended, or its member
/// has lost the role.
std::vector<Right> list_lost_rights(Store& store, const std::vector<Right>& rights);

/// The projects that those of `ids` see that are good and see some (empty: all), by the database's
/// clock, in the order of Token::grants.
std::map<std::string, std::vector<std::string>> list_token_projects(
    Store& store, const std::vector<std::string>& ids);

}    // namespace slipway::store
