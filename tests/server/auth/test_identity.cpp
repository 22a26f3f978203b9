#include "server/auth/identity.h"

#include <gtest/gtest.h>

#include <array>

#include "server/http/problem.h"

namespace slipway {
namespace {

Identity with(std::vector<store::Grant> grants) {
    Identity identity;
    identity.token_name = "nightly";
    identity.grants = std::move(grants);
    return identity;
}

// Goal: each role has its rights and those of the roles before it.
TEST(Identity, rights_grow_with_the_role) {
    constexpr std::array roles{Role::viewer, Role::editor, Role::admin};
    constexpr std::array rights{Access::read, Access::write, Access::admin};
    for (std::size_t role = 0; role < roles.size(); ++role) {
        const Identity identity = with({{.project = "", .role = roles[role]}});
        EXPECT_TRUE(identity.may(Access::open));
        EXPECT_TRUE(identity.may(Access::known));
        for (std::size_t right = 0; right < rights.size(); ++right) {
            EXPECT_EQ(identity.may(rights[right]), right <= role);
            if (right <= role)
                EXPECT_NO_THROW(require_access(identity, rights[right]));
            else
                EXPECT_THROW(require_access(identity, rights[right]), ProblemError);
        }
    }
}

TEST(Identity, projects_narrow_what_exists) {
    const Identity all = with({{.project = "", .role = Role::viewer}});
    EXPECT_TRUE(all.sees("any"));
    EXPECT_FALSE(all.is_bound());
    EXPECT_TRUE(all.projects().empty());
    const Identity bound =
        with({{.project = "ct", .role = Role::viewer}, {.project = "nlp", .role = Role::viewer}});
    EXPECT_TRUE(bound.is_bound());
    EXPECT_TRUE(bound.sees("nlp"));
    EXPECT_FALSE(bound.sees("default"));
    EXPECT_EQ(bound.projects(), (std::vector<std::string>{"ct", "nlp"}));
    EXPECT_NO_THROW(require_project(bound, Access::read, "ct"));
    EXPECT_THROW(require_project(bound, Access::read, "default"), ProblemError);
}

TEST(Identity, a_role_counts_in_its_project_only) {
    const Identity mixed =
        with({{.project = "ct", .role = Role::admin}, {.project = "nlp", .role = Role::viewer}});
    EXPECT_EQ(mixed.role(), Role::admin);
    EXPECT_TRUE(mixed.may(Access::write, "ct"));
    EXPECT_FALSE(mixed.may(Access::write, "nlp"));
    EXPECT_EQ(mixed.projects(Access::write), std::vector<std::string>{"ct"});
    EXPECT_THROW(require_project(mixed, Access::write, "nlp"), ProblemError);
}

// Goal: an empty list means every project to those who filter by it, so who may nothing gets none.
TEST(Identity, who_may_nothing_gets_no_list_of_projects) {
    const Identity nobody = with({});
    EXPECT_FALSE(nobody.role());
    EXPECT_TRUE(nobody.is_bound());
    EXPECT_TRUE(nobody.may(Access::known));
    EXPECT_FALSE(nobody.may(Access::read));
    EXPECT_FALSE(nobody.sees("ct"));
    EXPECT_THROW(nobody.projects(), ProblemError);
    const Identity viewer = with({{.project = "ct", .role = Role::viewer}});
    EXPECT_THROW(viewer.projects(Access::write), ProblemError);
}

}    // namespace
}    // namespace slipway
