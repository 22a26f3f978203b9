// Goal: the points that a search chooses for a seed never change: stored sweeps are restored by
// choosing them again.
// Method: hashes of the points of each sampler on spaces with every type, conditions and
// constraints of every operator, recorded when constraints were evaluated as trees of JSON values.
#include <array>

#include "api/base/sha256.h"
#include "tests/scheduler/search/plans.h"

namespace slipway::search {
namespace {

constexpr const char* every_type = R"({"space": {
    "a.lr": {"type": "log_uniform", "min": 1e-5, "max": 0.5},
    "a.width": {"type": "int_uniform", "min": 8, "max": 512, "step": 8},
    "a.depth": {"type": "log_int_uniform", "min": 1, "max": 64},
    "b.rate": {"type": "uniform", "min": -1, "max": 2},
    "b.quantum": {"type": "uniform", "min": 0.1, "max": 0.9, "step": 0.1},
    "b.normal": {"type": "normal", "mean": 1, "std": 2},
    "b.log_normal": {"type": "log_normal", "mean": -1, "std": 0.5, "step": 0.25},
    "c.fixed": {"type": "constant", "value": 3},
    "c.kind": {"type": "choice", "values": ["adam", "sgd", "lamb"]},
    "c.mixed": {"type": "choice", "values": [1, 1.5, true, false, "x", [1, 2], {"k": 1}, 9007199254740993]},
    "c.twin": {"type": "choice", "values": [9007199254740993, 9007199254740992, true, [1, 2], "x"]},
    "c.momentum": {"type": "uniform", "min": 0, "max": 1, "when": {"c.kind": ["sgd", "lamb"]}},
    "c.nested": {"type": "int_uniform", "min": 1, "max": 3, "when": {"c.kind": "sgd"}},
    "d.deep": {"type": "uniform", "min": 0, "max": 1, "when": {"c.nested": [1, 3]}}},
  "constraints": [)";

constexpr std::array<const char*, 6> constraint_lists{
    R"_()_",
    R"_("a.width * a.depth <= 4096 or c.kind == 'adam'")_",
    R"_("not (c.momentum > 0.5 and b.rate / a.lr < 10)", "c.mixed != c.twin")_",
    R"_("c.kind in ['adam', 'sgd'] and a.width % 16 == 0", "-b.rate < 0.5 or c.nested == 2")_",
    R"_("c.mixed == c.twin or c.mixed in [1, 1.5, 'x', true]", "d.deep + c.fixed - 3 >= 0.25", "c.kind < 'lb'")_",
    R"_("b.normal * 1e308 - b.normal * 1e308 != 1 or b.quantum <= 0.3", "c.mixed or b.log_normal", "a.depth - 1")_"};

constexpr std::array<const char*, 4> samplers_tried{
    R"({"name": "random"})", R"({"name": "sobol"})", R"({"name": "tpe", "startup_trials": 8})",
    R"({"name": "tpe", "startup_trials": 8, "candidates": 7, "constant_liar": false})"};

/// What 40 trials are, one of three started with a given point.
std::string points_of(const char* constraints, const char* algorithm, std::uint64_t seed) {
    SearchPlan plan = plan_of(algorithm, 40);
    plan.seed = seed;
    plan.start_points = {{{"a.lr", 0.0123}, {"c.kind", "sgd"}}, {{"a.width", 64}}};
    Search search(compiled_space(std::string(every_type) + constraints + "]}"), plan);
    std::string text;
    for (int i = 0; i < 40; ++i) {
        const Decision decision = asked(search);
        text += Json(decision.point).dump() + "\n";
        if (decision.action != Action::start) break;
        if (i % 4 == 3) continue;    // it runs on
        search.on(ReportEvent{i, 1, decision.point.at("b.rate").get<double>()});
        search.on(EndEvent{i, i % 7 == 5});
    }
    return text;
}

TEST(RecordedPoints, are_chosen_again) {
    std::string hashes;
    for (const char* constraints : constraint_lists) {
        std::string text;
        for (const char* algorithm : samplers_tried)
            for (const std::uint64_t seed : {1, 77})
                text += points_of(constraints, algorithm, seed);
        hashes += sha256_hex(text).substr(0, 16) + "\n";
    }
    EXPECT_EQ(hashes,
              "ba2c37e3977f770d\n0fefb48e45e3e42a\n614e5a4f2937e157\n"
              "096549a7e3c5972f\n1dda783bbafa3fb2\n3c7dcaad1ba8de71\n");
}

}    // namespace
}    // namespace slipway::search
