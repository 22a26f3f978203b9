#include "api/base/metric_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace slipway {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

bool same(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

TEST(MetricValue, every_value_comes_back_through_text) {
    for (const double value : {0.0, -1.5, 1e308, std::nan(""), inf, -inf}) {
        Json one = Json::object(), values = Json::object(), words = Json::object();
        put_value(one, value);
        put_named_value(values, words, "val_loss", value);
        const Json read = Json::parse(one.dump()), many = Json::parse(values.dump());
        EXPECT_TRUE(same(read_value(read), value)) << value;
        EXPECT_TRUE(same(read_named_value(many["val_loss"], words, "val_loss"), value)) << value;
        EXPECT_EQ(words.empty(), std::isfinite(value)) << value;
        EXPECT_EQ(read.contains("nonfinite"), !std::isfinite(value)) << value;
    }
}

TEST(MetricValue, values_by_name_have_a_word_for_each_that_is_no_number) {
    Json numbers{{"step", 1}};
    put_named_values(numbers, std::vector<std::pair<std::string, double>>{{"a", 1.5}, {"b", 2}});
    EXPECT_EQ(numbers, (Json{{"step", 1}, {"values", {{"a", 1.5}, {"b", 2.0}}}}));
    Json some = Json::object();
    put_named_values(some, std::vector<std::pair<std::string, double>>{{"a", -inf}, {"b", 2}});
    EXPECT_EQ(Json::parse(some.dump()),
              (Json{{"values", {{"a", nullptr}, {"b", 2.0}}}, {"nonfinite", {{"a", "-inf"}}}}));
    Json none = Json::object();
    put_named_values(none, {});
    EXPECT_EQ(none, (Json{{"values", Json::object()}}));
}

TEST(MetricValue, null_without_a_word_is_nan_and_text_is_no_value) {
    EXPECT_TRUE(std::isnan(read_value(Json{{"value", nullptr}})));
    EXPECT_TRUE(std::isnan(read_named_value(Json(), Json(), "val_loss")));
    EXPECT_TRUE(std::isnan(read_value(Json{{"value", nullptr}, {"nonfinite", "very much"}})));
    EXPECT_THROW(read_value(Json{{"value", "nan"}}), Json::exception);
    EXPECT_THROW(read_value(Json::object()), Json::exception);
}

}    // namespace
}    // namespace slipway
