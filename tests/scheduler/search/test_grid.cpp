#include "scheduler/search/grid.h"

#include "tests/scheduler/search/spaces.h"

namespace slipway::search {
namespace {

TEST(SearchGrid, points_come_in_order_and_once) {
    const Space space = compiled_space(
        R"({"space": {"a": {"type": "choice", "values": ["x", "y"]},
                      "b": {"type": "int_uniform", "min": 1, "max": 3, "when": {"a": "y"}},
                      "c": {"type": "uniform", "min": 0, "max": 1, "count": 2}},
            "constraints": ["b != 2"]})");
    std::string text;
    for (const Point& point : grid_points(space, 100))
        text += Json(point).dump() + "\n";
    EXPECT_EQ(text, R"({"a":"x","c":0.0}
{"a":"x","c":1.0}
{"a":"y","b":1,"c":0.0}
{"a":"y","b":1,"c":1.0}
{"a":"y","b":3,"c":0.0}
{"a":"y","b":3,"c":1.0}
)");
    EXPECT_EQ(grid_size(space, 100).points, 6u);
    EXPECT_EQ(grid_size(space, 6).points, 6u);
    EXPECT_EQ(grid_size(space, 5).points, std::nullopt);
    EXPECT_EQ(grid_size(space, 5).combinations, 12u);
    EXPECT_EQ(grid_points(space, 5).size(), 5u);
    EXPECT_FALSE(grid_too_large(grid_size(space, 6), 6));
}

TEST(SearchGrid, continuous_parameters_are_refused) {
    const Space space = compiled_space(
        R"({"space": {"a": {"b": {"type": "uniform", "min": 0, "max": 1}},
                      "c": {"type": "normal", "mean": 0, "std": 1, "step": 1}}})");
    const auto problems = grid_problems(space);
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_EQ(problems[0].pointer, "/space/a/b/count");
    EXPECT_EQ(problems[0].message,
              "a grid requires count or step for a.b, which is of type uniform");
    EXPECT_EQ(problems[1].pointer, "/space/c/type");
}

TEST(SearchGrid, a_grid_of_any_size_is_refused_at_once) {
    std::string text = R"({"space": {)";
    for (int i = 0; i < 60; ++i)
        text += (i ? ", \"p" : "\"p") + std::to_string(i) +
                R"(": {"type": "int_uniform", "min": 0, "max": 999999999})";
    const Space space = compiled_space(text + "}}");
    EXPECT_EQ(grid_too_large(grid_size(space, 1000), 1000)->message,
              "the grid must have at most 1000 points, got more than 10^19 combinations; use fewer "
              "values, a smaller count, shorter constraints, or random or sobol");
}

TEST(SearchGrid, a_constraint_that_nothing_satisfies_ends) {
    const Space space = compiled_space(
        R"({"space": {"a": {"type": "int_uniform", "min": 0, "max": 9999999}},
            "constraints": ["a < 0"]})");
    EXPECT_EQ(grid_size(space, 10).points, std::nullopt);
    EXPECT_EQ(grid_points(space, 10).size(), 0u);
}

}    // namespace
}    // namespace slipway::search
