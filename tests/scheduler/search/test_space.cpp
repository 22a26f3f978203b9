#include "scheduler/search/space.h"

#include "scheduler/search/random.h"
#include "tests/scheduler/search/spaces.h"

namespace slipway::search {
namespace {

constexpr const char* conditional = R"({"space": {
    "a.momentum": {"type": "uniform", "min": 0, "max": 1, "when": {"optimizer": "sgd"}},
    "a.nesterov": {"type": "choice", "values": [true, false], "when": {"a.kind": [1, 2]}},
    "a.kind": {"type": "int_uniform", "min": 0, "max": 3, "when": {"optimizer": ["sgd"]}},
    "optimizer": {"type": "choice", "values": ["adam", "sgd"]},
    "fixed": {"type": "constant", "value": 7}}})";

TEST(SearchSpace, parents_come_before_what_depends_on_them) {
    std::string order;
    const Space space = compiled_space(conditional);
    for (const Parameter& parameter : space.parameters())
        order += parameter.path + " ";
    EXPECT_EQ(order, "fixed optimizer a.kind a.momentum a.nesterov ");
    EXPECT_EQ(space.dimension(), 4u);
}

TEST(SearchSpace, parameters_exist_when_their_conditions_hold) {
    const Space space = compiled_space(conditional);
    const auto at = [&](std::vector<double> unit) { return Json(space.point_at(unit)).dump(); };
    EXPECT_EQ(at({0.2, 0.5, 0.5, 0.2}), R"({"fixed":7,"optimizer":"adam"})");
    EXPECT_EQ(at({0.8, 0.0, 0.5, 0.2}),
              R"({"a.kind":0,"a.momentum":0.5,"fixed":7,"optimizer":"sgd"})");
    EXPECT_EQ(at({0.8, 0.3, 0.5, 0.2}),
              R"({"a.kind":1,"a.momentum":0.5,"a.nesterov":true,"fixed":7,"optimizer":"sgd"})");
}

TEST(SearchSpace, points_lead_back_to_the_cube) {
    const Space space = compiled_space(conditional);
    Draws draws(1, DrawSite::random, 0);
    for (int i = 0; i < 200; ++i) {
        std::vector<double> unit(4);
        for (double& u : unit)
            u = draws.next_uniform();
        const Point point = space.point_at(unit);
        EXPECT_EQ(space.point_at(*space.unit_of(point)), point);
    }
    EXPECT_FALSE(space.unit_of({{"optimizer", "lion"}}));
}

TEST(SearchSpace, constraints_are_compiled_and_checked) {
    const Space space = compiled_space(
        R"({"space": {"a": {"type": "int_uniform", "min": 0, "max": 9},
                      "b": {"type": "int_uniform", "min": 0, "max": 9}},
            "constraints": ["a <= b", "a + b < 12"]})");
    EXPECT_EQ(space.broken_constraint({{"a", 2}, {"b", 3}}), nullptr);
    EXPECT_EQ(space.broken_constraint({{"a", 4}, {"b", 3}})->text(), "a <= b");
    EXPECT_EQ(space.broken_constraint({{"a", 4}, {"b", 9}})->text(), "a + b < 12");
}

TEST(SearchSpace, wrong_constraints_name_place_and_names) {
    std::vector<Problem> problems;
    EXPECT_FALSE(Space::compile(
        decoded_space(R"({"space": {"train.width": {"type": "int_uniform", "min": 0, "max": 9}},
                          "constraints": ["train.widht < 3", "train.width <"]})"),
        problems));
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_EQ(problems[0].pointer, "/constraints/0");
    EXPECT_EQ(
        problems[0].message,
        "constraints[0] names train.widht, which is not a parameter of the space; did you mean "
        "\"train.width\"?");
    EXPECT_EQ(problems[0].allowed, std::vector<std::string>{"train.width"});
    EXPECT_EQ(problems[1].pointer, "/constraints/1");
}

}    // namespace
}    // namespace slipway::search
