#include "api/base/descriptors.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace slipway {
namespace {

TEST(InheritedDescriptor, an_environment_that_names_none_means_none) {
    constexpr const char* variable = "SLIPWAY_TEST_DESCRIPTOR";
    EXPECT_EQ(inherited_descriptor(variable), -1);
    for (const char* text : {"", "six", "6 ", "-", "99999999999999999999"}) {
        setenv(variable, text, 1);
        EXPECT_EQ(inherited_descriptor(variable), -1) << text;
    }
    setenv(variable, "6", 1);
    EXPECT_EQ(inherited_descriptor(variable), 6);
    unsetenv(variable);
}

}    // namespace
}    // namespace slipway
