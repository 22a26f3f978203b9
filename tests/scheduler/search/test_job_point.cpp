#include "scheduler/search/job_point.h"

#include "tests/scheduler/search/spaces.h"

namespace slipway::search {
namespace {

Json job() {
    return Json::parse(R"({"data": {"dataset": "digits"}, "task": {"type": "classification"},
        "model": {"arch": "mlp"},
        "train": {"epochs": 2, "batch_size_per_core": 32,
                  "optimizer": {"name": "adam", "lr": 0.001}}})");
}

std::vector<Problem> problems_of(std::string_view space, const Json& base = job()) {
    return space_problems(compiled_space(space), base);
}

std::string first_of(const std::vector<Problem>& problems) {
    return problems.empty()
               ? ""
               : problems[0].pointer + " " + problems[0].code + " " + problems[0].message;
}

TEST(JobPoint, values_are_put_at_their_paths) {
    const Json base = Json::parse(R"({"a": {"b": 1, "list": [{"x": 1}, {"x": 2}]}})");
    const Result<Json> made =
        with_point(base, {{"a.b", 2}, {"a.list.1.x", 3}, {"c.d", Json::array({1})}});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->dump(), R"({"a":{"b":2,"list":[{"x":1},{"x":3}]},"c":{"d":[1]}})");
    EXPECT_STREQ(with_point(base, {{"a.list.2.x", 3}}).error().what(),
                 "a.list.2.x cannot be set: a.list is an array of 2 elements, which has no element "
                 "\"2\"");
    EXPECT_STREQ(with_point(base, {{"a.b.c", 3}}).error().what(),
                 "a.b.c cannot be set: a.b is 1, which has no field \"c\"");
}

TEST(JobPoint, a_space_that_fits_has_no_problems) {
    EXPECT_EQ(joined_messages(problems_of(R"({"space": {
        "train.optimizer.lr": {"type": "log_uniform", "min": 1e-5, "max": 0.1},
        "train.optimizer.name": {"type": "choice", "values": ["adam", "sgd"]},
        "train.optimizer.momentum": {"type": "uniform", "min": 0, "max": 0.99,
                                     "when": {"train.optimizer.name": "sgd"}},
        "model": {"width": {"type": "int_uniform", "min": 16, "max": 256, "step": 16}},
        "train.batch_size_per_core": {"type": "choice", "values": [16, 32]},
        "train.seed": {"type": "int_uniform", "min": 0, "max": 9}}})")),
              "");
}

TEST(JobPoint, unknown_paths_are_named_with_what_is_meant) {
    EXPECT_EQ(first_of(problems_of(R"({"space": {"train.optimizer.lrr":
                  {"type": "uniform", "min": 0.1, "max": 1}}})")),
              "/space/train.optimizer.lrr unknown_field the parameter train.optimizer.lrr is not a "
              "field of a job: there is no \"lrr\" in train.optimizer; did you mean \"lr\"?");
    EXPECT_EQ(first_of(problems_of(R"({"space": {"batch_size_per_core":
                  {"type": "choice", "values": [1]}}})")),
              "/space/batch_size_per_core unknown_field the parameter batch_size_per_core is not a "
              "field of a job: there is no \"batch_size_per_core\" in a job; did you mean "
              "train.batch_size_per_core?");
}

TEST(JobPoint, impossible_values_are_named_with_what_is_allowed) {
    EXPECT_EQ(first_of(problems_of(R"({"space": {"train": {"optimizer": {"lr":
                  {"type": "uniform", "min": -1, "max": 1}}}}})")),
              "/space/train/optimizer/lr/min out_of_bounds train.optimizer.lr cannot be -1.0: "
              "train.optimizer.lr must be a number above 0, got -1.0");
    const auto arch = problems_of(R"({"space": {"model.arch":
                  {"type": "choice", "values": ["mlp", "reznet18"]}}})");
    EXPECT_EQ(arch.at(0).pointer, "/space/model.arch/values/1");
    EXPECT_EQ(arch.at(0).code, "not_allowed");
    EXPECT_FALSE(arch.at(0).allowed.empty());
    EXPECT_EQ(first_of(problems_of(R"({"space": {"train.batch_size_per_core":
                  {"type": "uniform", "min": 16.5, "max": 32}}})"))
                  .substr(0, 70),
              "/space/train.batch_size_per_core/min out_of_bounds train.batch_size_pe");
    EXPECT_EQ(first_of(problems_of(R"({"space": {"train.optimizer.lr":
                  {"type": "normal", "mean": 0.1, "std": 0.1}}})"))
                  .substr(0, 44),
              "/space/train.optimizer.lr/std out_of_bounds ");
}

TEST(JobPoint, a_value_that_another_field_forbids_is_found) {
    const auto problems = problems_of(R"({"space": {
        "train.optimizer.name": {"type": "choice", "values": ["sgd", "adam"]},
        "train.optimizer.momentum": {"type": "uniform", "min": 0, "max": 0.99}}})");
    EXPECT_EQ(first_of(problems),
              "/space/train.optimizer.name/values/1 not_in_this_variant train.optimizer.name "
              "cannot be \"adam\": train.optimizer.momentum belongs to sgd, not to adam; leave it "
              "out");
}

TEST(JobPoint, what_is_wrong_with_the_job_itself_is_said_once) {
    Json base = job();
    base["data"].erase("dataset");
    const auto problems = problems_of(R"({"space": {"train.optimizer.lr":
        {"type": "log_uniform", "min": 1e-5, "max": 0.1}}})",
                                      base);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].pointer, "/job/data/dataset");
    EXPECT_EQ(problems[0].code, "missing_field");
}

TEST(JobPoint, a_required_field_may_come_from_the_space) {
    Json base = job();
    base["train"]["optimizer"].erase("lr");
    EXPECT_EQ(joined_messages(problems_of(R"({"space": {"train.optimizer.lr":
        {"type": "log_uniform", "min": 1e-5, "max": 0.1}}})",
                                          base)),
              "");
}

// A check of each value takes as long as the job is large: these would take five seconds.
TEST(JobPoint, a_large_job_may_have_fewer_values) {
    Json large = job();
    large["model"] = {{"arch", "layers"}, {"layers", Json::array()}};
    for (int i = 0; i < 1000; ++i)
        large["model"]["layers"].push_back({{"type", "linear"}, {"out_features", 2}});
    const auto first_problem = [](int values, const Json& base) {
        Json choice{{"type", "choice"}, {"values", Json::array()}};
        for (int i = 0; i < values; ++i)
            choice["values"].push_back(i + 1);
        const auto problems = problems_of(Json{{"space", {{"train.seed", choice}}}}.dump(), base);
        return problems.empty() ? "" : problems[0].pointer;
    };
    EXPECT_EQ(first_problem(10, large), "");
    EXPECT_EQ(first_problem(270, large), "/space");
    EXPECT_EQ(first_problem(270, job()), "");
}

TEST(JobPoint, elements_of_lists_are_reached) {
    Json base = job();
    base["model"] = Json::parse(R"({"arch": "mlp", "hidden": [64, 32]})");
    EXPECT_EQ(joined_messages(problems_of(R"({"space": {"model.hidden.1":
        {"type": "int_uniform", "min": 8, "max": 64}}})",
                                          base)),
              "");
    EXPECT_EQ(first_of(problems_of(R"({"space": {"model.hidden.2":
        {"type": "int_uniform", "min": 8, "max": 64}}})",
                                   base)),
              "/space/model.hidden.2 unknown_field the parameter model.hidden.2 cannot be set: "
              "model.hidden is an array of 2 elements, which has no element \"2\"");
    EXPECT_EQ(first_of(problems_of(R"({"space": {"train.optimizer.betas.0":
        {"type": "uniform", "min": 0.8, "max": 0.99}}})",
                                   job())),
              "/space/train.optimizer.betas.0 unknown_field the parameter train.optimizer.betas.0 "
              "cannot be set: train.optimizer.betas is not in the job; give the whole list there, "
              "\"train.optimizer.betas\": [ … ], so that its element 0 can be set");
}

}    // namespace
}    // namespace slipway::search
