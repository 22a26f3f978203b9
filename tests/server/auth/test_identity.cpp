#include "server/auth/identity.h"

#include <gtest/gtest.h>

#include <array>

#include "server/http/problem.h"

namespace slipway {
namespace {

// Goal: each role has its rights and those of the roles before it.
TEST(Identity, rights_grow_with_the_role) {
    constexpr std::array roles{Role::viewer, Role::editor, Role::admin};
    constexpr std::array rights{Access::read, Access::write, Access::admin};
    for (std::size_t role = 0; role < roles.size(); ++role) {
        Identity identity;
        identity.role = roles[role];
        EXPECT_TRUE(identity.may(Access::open));
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
    Identity identity;
    EXPECT_TRUE(identity.sees("any"));
    identity.projects = {"ct", "nlp"};
    EXPECT_TRUE(identity.sees("nlp"));
    EXPECT_FALSE(identity.sees("default"));
    EXPECT_NO_THROW(require_project(identity, "ct"));
    EXPECT_THROW(require_project(identity, "default"), ProblemError);
}

}    // namespace
}    // namespace slipway
