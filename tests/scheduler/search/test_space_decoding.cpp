#include "api/spec/search_tables.h"

#include <algorithm>

#include "tests/scheduler/search/spaces.h"

namespace slipway::search {
namespace {

TEST(SpaceDecoding, nested_and_dotted_paths_are_the_same) {
    const auto nested = decoded_space(
        R"({"space": {"train": {"optimizer": {"lr": {"type": "uniform", "min": 0, "max": 1}},
                                "epochs": {"type": "constant", "value": 3}},
                      "task": {"type": {"type": "choice", "values": ["a"]}}}})");
    const auto dotted = decoded_space(
        R"({"space": {"train.optimizer": {"lr": {"type": "uniform", "min": 0, "max": 1}},
                      "train.epochs": {"type": "constant", "value": 3},
                      "task.type": {"type": "choice", "values": ["a"]}}})");
    EXPECT_EQ(nested, dotted);
    EXPECT_EQ(nested.space.at("train.optimizer.lr").given_at.pointer, "/space/train/optimizer/lr");
    EXPECT_EQ(dotted.space.at("train.optimizer.lr").given_at.pointer, "/space/train.optimizer/lr");
}

TEST(SpaceDecoding, what_is_encoded_decodes_to_the_same) {
    const auto space = decoded_space(R"({"space": {
        "a": {"b": {"type": "choice", "values": [1, "x", true, [1, 2], {"k": 1}], "ordered": true}},
        "c": {"type": "log_uniform", "min": 1e-5, "max": 1, "count": 4, "when": {"a.b": [1, "x"]}},
        "d": {"type": "log_int_uniform", "min": 1, "max": 64, "step": 1},
        "e": {"type": "normal", "mean": -1, "std": 0.1, "step": 0.01},
        "f": {"type": "log_normal", "mean": -1, "std": 0.1},
        "g": {"type": "constant", "value": "adam"},
        "h": {"type": "int_uniform", "min": -4, "max": 4}},
        "constraints": ["c < d"]})");
    EXPECT_EQ(decode_search_space(encode(space)).value, space);
    EXPECT_EQ(encode(decode_search_space(encode(space)).value), encode(space));
}

struct WrongSpace {
    const char* text;
    const char* pointer;
    const char* code;
    const char* message;
};

// Goal: whoever writes a wrong space reads where, what and what is allowed.
TEST(SpaceDecoding, wrong_spaces_are_explained) {
    const WrongSpace cases[] = {
        {R"({})", "/space", "missing_field",
         "space is required: an object of 1 to 128 parameters by path"},
        {R"({"space": 3})", "/space", "wrong_type",
         "space must be an object of 1 to 128 parameters by path, got 3"},
        {R"({"space": {}})", "/space", "out_of_bounds",
         "space must be an object of 1 to 128 parameters by path, got 0 parameters"},
        {R"({"space": {"a": 0.1}})", "/space/a", "wrong_type",
         "space.a must be a parameter, an object with type (for a fixed value: {\"type\": "
         "\"constant\", \"value\": …}), or an object of parameters, got 0.1"},
        {R"({"space": {"a": {}}})", "/space/a/type", "missing_field",
         "space.a.type is required: a parameter has a type, one of constant, choice, uniform, "
         "log_uniform, int_uniform, log_int_uniform, normal or log_normal"},
        {R"({"space": {"a..b": {"type": "constant", "value": 1}}})", "/space/a..b", "bad_format",
         "the key \"a..b\" in space must be a path of at most 200 characters: names of letters, "
         "digits, dashes and underscores, joined by dots"},
        {R"({"space": {"a": {"type": "loguniform", "min": 1, "max": 2}}})", "/space/a/type",
         "not_allowed", "did you mean \"log_uniform\"?"},
        {R"({"space": {"a": {"type": "uniform", "min": 1}}})", "/space/a/max", "missing_field",
         "space.a.max is required: a finite number"},
        {R"({"space": {"a": {"type": "uniform", "min": 1, "max": 1}}})", "/space/a/max",
         "inconsistent", "space.a.max must be above min, 1, got 1"},
        {R"({"space": {"a": {"type": "uniform", "min": 1, "max": 2, "low": 1}}})", "/space/a/low",
         "unknown_field", "there is no field space.a.low"},
        {R"({"space": {"a": {"type": "uniform", "min": 1, "max": 2, "values": [1]}}})",
         "/space/a/values", "not_in_this_variant",
         "space.a.values belongs to choice, not to uniform; leave it out"},
        {R"({"space": {"a": {"type": "log_uniform", "min": 0, "max": 2}}})", "/space/a/min",
         "out_of_bounds", "space.a.min must be above 0 with type log_uniform, got 0"},
        {R"({"space": {"a": {"type": "int_uniform", "min": 0.5, "max": 2}}})", "/space/a/min",
         "out_of_bounds", "space.a.min must be a whole number with type int_uniform, got 0.5"},
        {R"({"space": {"a": {"type": "int_uniform", "min": 0, "max": 2, "step": 0.5}}})",
         "/space/a/step", "out_of_bounds",
         "space.a.step must be a whole number with type int_uniform, got 0.5"},
        {R"({"space": {"a": {"type": "uniform", "min": 0, "max": 2, "step": 3}}})", "/space/a/step",
         "inconsistent", "space.a.step must be at most max - min, 2, got 3"},
        {R"({"space": {"a": {"type": "uniform", "min": 0, "max": 2, "step": 0}}})", "/space/a/step",
         "out_of_bounds", "space.a.step must be a number above 0, got 0"},
        {R"({"space": {"a": {"type": "uniform", "min": 0, "max": 2, "count": 0}}})",
         "/space/a/count", "out_of_bounds",
         "space.a.count must be a whole number from 1 to 10000, got 0"},
        {R"({"space": {"a": {"type": "choice", "values": []}}})", "/space/a/values",
         "out_of_bounds", "got 0 items"},
        {R"({"space": {"a": {"type": "choice", "values": [1, 2, 1.0]}}})", "/space/a/values/2",
         "inconsistent", "space.a.values contains 1.0 twice; keep one of them"},
        {R"({"space": {"a": {"type": "choice", "values": [null]}}})", "/space/a/values/0",
         "wrong_type", "got null"},
        {R"({"space": {"a": {"type": "normal", "mean": 0, "std": 0}}})", "/space/a/std",
         "out_of_bounds", "space.a.std must be a number above 0, got 0"},
        {R"({"space": {"a": {"type": "constant", "value": 1, "when": {"b": 2}}}})",
         "/space/a/when/b", "not_allowed",
         "space.a.when.b must name a parameter of the space, got \"b\""},
        {R"({"space": {"a": {"type": "constant", "value": 1, "when": {"bb": 2}},
                       "b": {"type": "choice", "values": ["x", "y"], "when": {}},
                       "c": {"type": "constant", "value": 1, "when": {"b": ["x", "z"]}}}})",
         "/space/c/when/b", "not_allowed",
         "space.c.when.b must be a value that b can have, \"x\" or \"y\", got \"z\""},
        {R"({"space": {"a": {"type": "constant", "value": 1, "when": {"b": 2}},
                       "b": {"type": "uniform", "min": 1, "max": 2}}})",
         "/space/a/when/b", "not_allowed",
         "space.a.when.b must name a parameter of type constant, choice or int_uniform, got one of "
         "type uniform; use a constraint instead"},
        {R"({"space": {"a": {"type": "constant", "value": 1, "when": {"b": 8}},
                       "b": {"type": "int_uniform", "min": 1, "max": 7, "step": 2}}})",
         "/space/a/when/b", "not_allowed",
         "space.a.when.b must be a value that b can have, a whole number from 1 to 7 in steps of "
         "2, "
         "got 8"},
        {R"({"space": {"a": {"type": "constant", "value": 1, "when": {"b": 2}},
                       "b": {"type": "constant", "value": 2, "when": {"a": 1}}}})",
         "/space/a/when", "inconsistent",
         "space.a.when makes a depend on itself; remove one of the conditions"},
        {R"({"space": {"a.b": {"type": "constant", "value": 1},
                       "a": {"b": {"type": "constant", "value": 2}}}})",
         "/space/a.b", "conflicting_fields",
         "the parameter a.b is given twice, also at /space/a/b; leave one out"},
        {R"({"space": {"a.b": {"type": "constant", "value": 1},
                       "a": {"type": "constant", "value": 2}}})",
         "/space/a.b", "conflicting_fields",
         "the parameter a.b is inside of the parameter a; leave one of them out"},
        {R"({"space": {"a": {"type": "constant", "value": 1}}, "constraints": [3]})",
         "/constraints/0", "wrong_type",
         "constraints[0] must be a string of 1 to 1000 characters, got 3"},
        {R"({"space": {"a": {"type": "constant", "value": 1}}, "constraint": []})", "/constraint",
         "unknown_field", "there is no field constraint; did you mean \"constraints\"?"},
    };
    for (const WrongSpace& wrong : cases) {
        const auto decoded = decode_search_space(Json::parse(wrong.text));
        const bool is_found = std::ranges::any_of(decoded.problems, [&](const Problem& problem) {
            return problem.pointer == wrong.pointer && problem.code == wrong.code &&
                   problem.message.find(wrong.message) != std::string::npos;
        });
        std::string got;
        for (const Problem& problem : decoded.problems)
            got += problem.pointer + " " + problem.code + " " + problem.message + "\n";
        EXPECT_TRUE(is_found) << wrong.text << "\nwanted " << wrong.pointer << " " << wrong.code
                              << " " << wrong.message << "\ngot " << got;
    }
}

TEST(SpaceDecoding, more_parameters_than_the_limit_are_refused) {
    Json space = Json::object();
    for (int i = 0; i < 129; ++i)
        space["p" + std::to_string(i)] = {{"type", "constant"}, {"value", i}};
    EXPECT_EQ(decode_search_space(Json{{"space", space}}).problems.at(0).message,
              "space must be an object of 1 to 128 parameters by path, got 129 parameters");
}

TEST(SpaceDecoding, the_schema_names_every_type) {
    Definitions definitions("#/$defs/");
    EXPECT_TRUE(SpaceKind{}.schema(definitions).is_object());
    EXPECT_EQ(definitions.all().at("ParameterSpec").at("oneOf").size(), 8u);
}

}    // namespace
}    // namespace slipway::search
