#include "executor/main/problem_report.h"

#include <gtest/gtest.h>

#include <new>
#include <nlohmann/json.hpp>

#include "api/base/error.h"

namespace slipway {
namespace {

Json reported(const std::function<Json()>& make, std::size_t bytes_max = 1000) {
    return Json::parse(report_or_problem(make, bytes_max));
}

TEST(ProblemReport, a_report_that_is_too_long_is_a_problem_instead) {
    const auto make = [] { return Json{{"names", std::string(900, 'n')}, {"problem_count", 0}}; };
    EXPECT_EQ(reported(make)["problem_count"], 0);
    const Json refused = reported(make, 900);
    EXPECT_EQ(refused["error"], "exhausted");
    EXPECT_EQ(refused["problem_count"], 1);
    EXPECT_LT(refused.dump().size(), 900U);
}

TEST(ProblemReport, memory_that_does_not_suffice_is_a_problem) {
    const Json refused = reported([]() -> Json { throw std::bad_alloc(); });
    EXPECT_EQ(refused["error"], "exhausted");
    EXPECT_EQ(refused["problem_count"], 1);
}

TEST(ProblemReport, a_long_message_is_cut_off) {
    const Json refused = reported(
        []() -> Json {
            throw Error{ErrorCode::unavailable, std::string(1 << 20, 'm')};
        },
        10'000);
    EXPECT_EQ(refused["error"], "unavailable");
    EXPECT_LT(refused.dump().size(), 5000U);
}

}    // namespace
}    // namespace slipway
