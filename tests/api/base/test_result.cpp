#include "api/base/result.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway {
namespace {

Result<int> half(int number) {
    if (number % 2 != 0) return Error(ErrorCode::invalid_argument, "odd");
    return number / 2;
}

TEST(Result, holds_a_value_or_an_error) {
    EXPECT_EQ(*half(4), 2);
    EXPECT_EQ(half(3).error().code(), ErrorCode::invalid_argument);
}

TEST(Result, value_throws_the_error) {
    EXPECT_THROW(half(3).value(), Error);
}

TEST(ResultDeathTest, an_untested_error_is_a_bug) {
    const Result<int> result = half(3);
    EXPECT_DEATH(*result, "broken invariant");
}

TEST(Error, knows_where_it_was_thrown) {
    const Error error(ErrorCode::not_found, "gone");
    EXPECT_NE(std::string(error.where().file_name()).find("test_result"), std::string::npos);
    EXPECT_EQ(to_string(error.code()), "not_found");
}

}    // namespace
}    // namespace slipway
