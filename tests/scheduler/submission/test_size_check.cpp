#include "scheduler/submission/size_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "api/spec/documents.h"

namespace slipway::submission {
namespace {

using testing::HasSubstr;

std::vector<std::string> names(std::size_t count, std::size_t length) {
    return std::vector<std::string>(count, std::string(length, 'n'));
}

JobSpec with_layers(std::size_t columns) {
    JobSpec spec;
    spec.model.arch = Arch::layers;
    spec.model.layers = {{.type = LayerType::columns, .columns = names(columns, 200)}};
    return spec;
}

TEST(SizeCheck, a_spec_of_a_usual_size_is_well) {
    EXPECT_TRUE(check_size({}).empty());
    const JobSpec large = with_layers(8000);
    EXPECT_GT(encode(large).dump().size(), job_spec_bytes_max / 2);
    EXPECT_TRUE(check_size(large).empty());
}

TEST(SizeCheck, one_that_is_too_large_is_refused_at_the_field_that_takes_most_of_it) {
    JobSpec spec = with_layers(5000);
    spec.data.columns.emplace().features = names(6000, 200);
    const auto problems = check_size(spec);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].pointer, "/data/columns");
    EXPECT_EQ(problems[0].code, "out_of_bounds");
    const std::string bytes = std::to_string(encode(spec).dump().size());
    EXPECT_THAT(problems[0].message, HasSubstr("at most 2097152 bytes, got " + bytes));
    EXPECT_THAT(problems[0].message, HasSubstr("of which data.columns has 12"));
    spec = with_layers(11000);
    EXPECT_EQ(check_size(spec).at(0).pointer, "/model/layers");
}

}    // namespace
}    // namespace slipway::submission
