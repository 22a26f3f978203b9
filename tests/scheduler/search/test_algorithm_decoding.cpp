#include "api/spec/search_algorithm.h"

#include <algorithm>

#include "tests/scheduler/search/plans.h"

namespace slipway::search {
namespace {

TEST(AlgorithmDecoding, every_algorithm_has_its_fields) {
    for (const char* text :
         {R"({"name": "grid"})", R"({"name": "random"})", R"({"name": "sobol", "scramble": false})",
          R"({"name": "tpe", "startup_trials": 5, "candidates": 24, "constant_liar": false})",
          R"({"name": "asha", "mode": "promote", "time_attr": "step", "min_time": 100,
              "max_time": 2700, "reduction_factor": 3, "brackets": 2,
              "sampler": {"name": "tpe", "startup_trials": 20, "constant_liar": true}})",
          R"({"name": "hyperband", "max_time": 81})",
          R"({"name": "median_stop", "grace_time": 5, "min_samples": 4})",
          R"({"name": "pbt", "population": 16, "interval": 2, "max_time": 20, "quantile": 0.2,
              "resample_probability": 0.1, "perturbation": 1.5})"}) {
        const auto decoded = decode_algorithm(Json::parse(text));
        EXPECT_EQ(joined_messages(decoded.problems), "") << text;
        EXPECT_EQ(decode_algorithm(encode(decoded.value)).value, decoded.value) << text;
    }
}

TEST(AlgorithmDecoding, the_sampler_is_the_algorithm_or_named_by_it) {
    EXPECT_EQ(sampler_of(plan_of(R"({"name": "tpe", "candidates": 7})", 1).algorithm).candidates,
              7);
    EXPECT_EQ(sampler_of(plan_of(R"({"name": "asha", "max_time": 9})", 1).algorithm).name,
              SamplerName::random);
    EXPECT_EQ(sampler_of(plan_of(R"({"name": "asha", "max_time": 9, "sampler":
                                     {"name": "sobol"}})",
                                 1)
                             .algorithm)
                  .name,
              SamplerName::sobol);
}

struct WrongAlgorithm {
    const char* text;
    const char* pointer;
    const char* code;
    const char* message;
};

TEST(AlgorithmDecoding, wrong_algorithms_are_explained) {
    const WrongAlgorithm cases[] = {
        {R"({})", "/name", "missing_field", "name is required"},
        {R"({"name": "bayes"})", "/name", "not_allowed", "got \"bayes\""},
        {R"({"name": "asha"})", "/max_time", "missing_field", "max_time is required"},
        {R"({"name": "asha", "max_time": 1})", "/max_time", "inconsistent",
         "max_time must be above min_time, 1, got 1"},
        {R"({"name": "asha", "max_time": 27, "brackets": 4})", "/brackets", "inconsistent",
         "brackets must be at most 3, the rungs from min_time to max_time but one, got 4"},
        {R"({"name": "asha", "max_time": 27, "mode": "halt"})", "/mode", "not_allowed",
         "got \"halt\""},
        {R"({"name": "asha", "max_time": 27, "reduction_factor": 1})", "/reduction_factor",
         "out_of_bounds", "reduction_factor must be a whole number from 2 to 100, got 1"},
        {R"({"name": "random", "max_time": 27})", "/max_time", "not_in_this_variant",
         "max_time belongs to asha, hyperband or pbt, not to random; leave it out"},
        {R"({"name": "pbt", "max_time": 4, "interval": 4})", "/interval", "inconsistent",
         "interval must be below max_time, 4, got 4"},
        {R"({"name": "pbt", "max_time": 4, "quantile": 0.6})", "/quantile", "out_of_bounds",
         "got 0.6"},
        {R"({"name": "hyperband", "max_time": 4, "sampler": {"name": "grid"}})", "/sampler/name",
         "not_allowed",
         "sampler.name cannot be grid with hyperband, which decides how many trials it needs"},
        {R"({"name": "asha", "max_time": 4, "sampler": {"name": "random", "candidates": 3}})",
         "/sampler/candidates", "not_in_this_variant",
         "sampler.candidates belongs to tpe, not to random; leave it out"},
    };
    for (const WrongAlgorithm& wrong : cases) {
        const auto decoded = decode_algorithm(Json::parse(wrong.text));
        std::string got;
        bool is_found = false;
        for (const Problem& one : decoded.problems) {
            got += one.pointer + " " + one.code + " " + one.message + "\n";
            is_found = is_found || (one.pointer == wrong.pointer && one.code == wrong.code &&
                                    one.message.find(wrong.message) != std::string::npos);
        }
        EXPECT_TRUE(is_found) << wrong.text << "\nwanted " << wrong.pointer << " " << wrong.code
                              << " " << wrong.message << "\ngot " << got;
    }
}

}    // namespace
}    // namespace slipway::search
