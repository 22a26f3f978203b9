#include "executor/cache/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Environment, is_the_same_each_time) {
    EXPECT_EQ(cache_environment("LLVM 19"), cache_environment("LLVM 19"));
    EXPECT_EQ(cpu_mark(), cpu_mark());
}

TEST(Environment, names_build_compiler_and_cpu) {
    const std::string environment = cache_environment("LLVM 19.1.7");
    EXPECT_THAT(environment, testing::HasSubstr(build_mark()));
    EXPECT_THAT(environment, testing::HasSubstr("LLVM 19.1.7"));
    EXPECT_THAT(environment, testing::HasSubstr(cpu_mark()));
    EXPECT_NE(environment, cache_environment("LLVM 19.1.8"));
}

TEST(Environment, knows_the_build_and_the_cpu) {
    EXPECT_GE(build_mark().size(), 16U);
    EXPECT_NE(build_mark(), "unknown");
    EXPECT_NE(cpu_mark().find_first_not_of('0'), std::string::npos);
}

}    // namespace
}    // namespace slipway
