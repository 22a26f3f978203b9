#include "scheduler/search/parameter.h"

#include <cmath>
#include <map>

#include "scheduler/search/random.h"
#include "tests/scheduler/search/spaces.h"

namespace slipway::search {
namespace {

ParameterSpec parameter(std::string_view text) {
    return decoded_space(R"({"space": {"p": )" + std::string(text) + "}}").space.at("p");
}

TEST(SearchParameter, types_map_the_unit_interval) {
    EXPECT_EQ(value_at(parameter(R"({"type": "constant", "value": [1, 2]})"), 0.3),
              Json::parse("[1, 2]"));
    const auto choice = parameter(R"({"type": "choice", "values": ["a", 2, true]})");
    EXPECT_EQ(value_at(choice, 0), "a");
    EXPECT_EQ(value_at(choice, 0.34), 2);
    EXPECT_EQ(value_at(choice, 1), true);
    EXPECT_EQ(value_at(parameter(R"({"type": "uniform", "min": -1, "max": 3})"), 0.5), 1.0);
    const auto log = parameter(R"({"type": "log_uniform", "min": 1e-4, "max": 1})");
    EXPECT_NEAR(value_at(log, 0.5).get<double>(), 1e-2, 1e-16);
    EXPECT_EQ(value_at(log, 0), 1e-4);
    EXPECT_EQ(value_at(log, 1), 1.0);
    const auto whole = parameter(R"({"type": "int_uniform", "min": 1, "max": 4})");
    EXPECT_EQ(value_at(whole, 0), 1);
    EXPECT_EQ(value_at(whole, 0.25), 2);
    EXPECT_EQ(value_at(whole, 1), 4);
    EXPECT_TRUE(value_at(whole, 0.5).is_number_integer());
    const auto normal = parameter(R"({"type": "normal", "mean": 2, "std": 3})");
    EXPECT_EQ(value_at(normal, 0.5), 2.0);
    EXPECT_NEAR(value_at(normal, 0.975).get<double>(), 2 + 3 * 1.959963984540054, 1e-12);
    const auto log_normal = parameter(R"({"type": "log_normal", "mean": 0, "std": 1})");
    EXPECT_EQ(value_at(log_normal, 0.5), 1.0);
}

TEST(SearchParameter, quantised_types_stay_on_their_quanta) {
    const auto uniform = parameter(R"({"type": "uniform", "min": 0.1, "max": 0.5, "step": 0.1})");
    EXPECT_EQ(value_count(uniform), 5u);
    EXPECT_EQ(value_at(uniform, 0.5), 0.3);
    EXPECT_EQ(value_at(uniform, 1), 0.5);
    const auto stride = parameter(R"({"type": "int_uniform", "min": 8, "max": 30, "step": 8})");
    EXPECT_EQ(value_count(stride), 3u);
    EXPECT_EQ(value_at(stride, 1), 24);
    const auto log = parameter(R"({"type": "log_uniform", "min": 0.5, "max": 8, "step": 0.5})");
    EXPECT_EQ(value_at(log, 0), 0.5);
    EXPECT_EQ(value_at(log, 1), 8.0);
    const auto normal = parameter(R"({"type": "normal", "mean": 0, "std": 1, "step": 0.5})");
    EXPECT_EQ(value_at(normal, 0.5), 0.0);
    EXPECT_EQ(value_at(normal, 0.7), 0.5);
}

// Goal: each value is as likely as the type says.
// Method: the lengths of the values' intervals add up to 1 and are those of the distribution.
TEST(SearchParameter, values_have_their_share_of_the_interval) {
    const auto whole = parameter(R"({"type": "int_uniform", "min": 1, "max": 5})");
    const auto log = parameter(R"({"type": "log_int_uniform", "min": 1, "max": 5})");
    double sum = 0;
    for (int value = 1; value <= 5; ++value) {
        EXPECT_NEAR(interval_of(whole, value)->end - interval_of(whole, value)->begin, 0.2, 1e-15);
        const Interval of_log = *interval_of(log, value);
        EXPECT_NEAR(of_log.end - of_log.begin,
                    std::log((value + 0.5) / (value - 0.5)) / std::log(11), 1e-12);
        sum += of_log.end - of_log.begin;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(SearchParameter, the_interval_of_a_value_leads_back_to_it) {
    for (const char* text : {R"({"type": "choice", "values": ["a", "b", "c"]})",
                             R"({"type": "uniform", "min": -3, "max": 5, "step": 0.25})",
                             R"({"type": "int_uniform", "min": -3, "max": 500, "step": 7})",
                             R"({"type": "log_int_uniform", "min": 1, "max": 1000})",
                             R"({"type": "log_uniform", "min": 0.01, "max": 4, "step": 0.01})",
                             R"({"type": "normal", "mean": 1, "std": 2, "step": 0.1})"}) {
        const ParameterSpec spec = parameter(text);
        Draws draws(3, DrawSite::random, 0);
        for (int i = 0; i < 500; ++i) {
            const double u = draws.next_uniform();
            const Json value = value_at(spec, u);
            const auto interval = interval_of(spec, value);
            ASSERT_TRUE(interval) << text << value;
            EXPECT_LE(interval->begin - 1e-9, u) << text << value;
            EXPECT_GE(interval->end + 1e-9, u) << text << value;
            EXPECT_EQ(value_at(spec, interval->middle()), value) << text;
        }
    }
    for (const char* text : {R"({"type": "uniform", "min": -3, "max": 5})",
                             R"({"type": "log_uniform", "min": 1e-6, "max": 4})",
                             R"({"type": "normal", "mean": 1, "std": 2})",
                             R"({"type": "log_normal", "mean": 1, "std": 2})"}) {
        const ParameterSpec spec = parameter(text);
        for (double u = 0.05; u < 1; u += 0.05)
            EXPECT_NEAR(interval_of(spec, value_at(spec, u))->middle(), u, 1e-12) << text;
    }
}

TEST(SearchParameter, impossible_values_have_no_interval) {
    const auto whole = parameter(R"({"type": "int_uniform", "min": 1, "max": 9, "step": 2})");
    EXPECT_FALSE(interval_of(whole, 2));
    EXPECT_FALSE(interval_of(whole, 11));
    EXPECT_FALSE(interval_of(whole, "3"));
    EXPECT_FALSE(interval_of(parameter(R"({"type": "choice", "values": [1, 2]})"), 3));
    EXPECT_FALSE(interval_of(parameter(R"({"type": "constant", "value": 1})"), 3));
    EXPECT_FALSE(interval_of(parameter(R"({"type": "log_normal", "mean": 0, "std": 1})"), -1));
}

TEST(SearchParameter, grids_are_even_on_the_scale) {
    const auto values = [](const ParameterSpec& spec) {
        Json list = Json::array();
        for (std::uint64_t i = 0; i < grid_count(spec).value_or(0); ++i)
            list.push_back(grid_value(spec, i));
        return list.dump();
    };
    EXPECT_EQ(values(parameter(R"({"type": "uniform", "min": 0, "max": 1, "count": 5})")),
              "[0.0,0.25,0.5,0.75,1.0]");
    EXPECT_EQ(values(parameter(R"({"type": "log_uniform", "min": 1e-4, "max": 1, "count": 5})")),
              "[0.0001,0.001,0.01,0.1,1.0]");
    EXPECT_EQ(values(parameter(R"({"type": "log_int_uniform", "min": 1, "max": 8, "count": 8})")),
              "[1,2,3,4,6,8]");
    EXPECT_EQ(values(parameter(R"({"type": "int_uniform", "min": 2, "max": 9, "step": 3})")),
              "[2,5,8]");
    EXPECT_EQ(values(parameter(R"({"type": "uniform", "min": 0, "max": 1, "step": 0.4})")),
              "[0.0,0.4,0.8]");
    EXPECT_EQ(values(parameter(R"({"type": "uniform", "min": 0, "max": 1})")), "[]");
}

}    // namespace
}    // namespace slipway::search
