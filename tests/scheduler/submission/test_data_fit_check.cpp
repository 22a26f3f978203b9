// Goal: what the check of a dataset has found is compared with a job before it is queued.
// Method: one dataset whose report is set, and a job that differs from a fitting one in one field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/submission/samples.h"

namespace slipway::submission {

namespace {

using testing::HasSubstr;

constexpr const char* words = R"({"feature_shape": [2], "class_count": 2,
    "classes": [{"name": "iris", "count": 3}, {"name": "rose", "count": 3}],
    "columns": ["width", "length", "family", "species"], "column_count": 4})";
constexpr const char* numbers = R"({"feature_shape": [2], "labels": [{"name": "price"}],
    "columns": ["width", "length", "price"], "column_count": 3})";
constexpr const char* digits = R"({"feature_shape": [1, 28, 28], "class_count": 2,
    "classes": [{"name": "0", "count": 3}, {"name": "1", "count": 3}]})";

struct Case {
    const char* format;
    const char* report;
    Json changes;
    const char* pointer;    // empty: it fits
    const char* text;
};

Json task(const char* type) {
    return {{"task", {{"type", type}}}};
}

Json columns(Json of) {
    return {{"data", {{"columns", std::move(of)}}}};
}

struct DataFit : SubmissionTest {
    void set(const std::string& name, const std::string& format, const std::string& report) {
        database.sql("update dataset set format = '" + format + "', report = '" + report +
                     "' where name = '" + name + "'");
    }
    Decoded<CheckedJob> fit(const Case& one) {
        set("points", one.format, one.report);
        return checked(JobKind::train, training(one.changes));
    }
};

TEST_F(DataFit, what_the_report_knows_is_told_at_submission) {
    const std::vector<Case> cases{
        {"csv", words, Json::object(), "", ""},
        {"csv", words, {{"model", {{"arch", "lenet"}}}}, "/model/arch", "needs images"},
        {"idx", digits, {{"model", {{"arch", "lenet"}}}}, "", ""},
        {"text", "{}", Json::object(), "/model/arch", "is of the format text"},
        {"csv", words, task("regression"), "/task/type", "has the class iris"},
        {"csv", words, task("multilabel"), "/task/type", "has the class iris"},
        {"npz", digits, task("regression"), "", ""},
        {"idx", digits, task("regression"), "/task/type", "is of the format idx"},
        {"csv", numbers, Json::object(), "/task/type", "are the numbers of price"},
        {"csv", numbers, task("regression"), "", ""},
        {"csv",
         words,
         {{"data", {{"split", {{"group_by", "nix"}}}}}},
         "/data/split/group_by",
         "it has width, length, family, species"},
        {"csv",
         words,
         {{"data", {{"split", {{"group_by", "famly"}}}}}},
         "/data/split/group_by",
         "did you mean `family`?"},
        {"csv", words, {{"data", {{"split", {{"group_by", "family"}}}}}}, "", ""},
        {"idx",
         digits,
         {{"data", {{"split", {{"group_by", "family"}}}}}},
         "/data/split/group_by",
         "has no columns"},
        {"csv", words, columns({{"label", "specis"}}), "/data/columns/label",
         "did you mean `species`?"},
        {"csv", words, columns({{"label", "family"}}), "", ""},
        {"csv", words, columns({{"features", {"width", "lenght"}}}), "/data/columns/features/1",
         "did you mean `length`?"},
        // Another label column than the dataset's own: the report does not say what it holds.
        {"csv", numbers, columns({{"label", "width"}}), "", ""},
        {"csv", "{}", {{"data", {{"split", {{"group_by", "nix"}}}}}}, "", ""},
    };
    for (const Case& one : cases) {
        const Decoded<CheckedJob> job = fit(one);
        const std::string where = std::string(one.format) + " " + one.changes.dump();
        if (std::string_view(one.pointer).empty()) {
            EXPECT_TRUE(job.ok()) << where << joined_messages(job.problems);
            continue;
        }
        ASSERT_EQ(job.problems.size(), 1U) << where << joined_messages(job.problems);
        EXPECT_EQ(job.problems[0].pointer, one.pointer) << where;
        EXPECT_THAT(job.problems[0].message, HasSubstr(one.text)) << where;
    }
}

TEST_F(DataFit, numeric_labels_of_several_columns_are_checked_by_name) {
    const Decoded<CheckedJob> job =
        fit({"csv",
             numbers,
             {{"task", {{"type", "regression"}}},
              {"data", {{"columns", {{"labels", {"price", "prize"}}}}}}},
             "",
             ""});
    ASSERT_EQ(job.problems.size(), 1U) << joined_messages(job.problems);
    EXPECT_EQ(job.problems[0].pointer, "/data/columns/labels/1");
}

TEST_F(DataFit, a_prediction_is_not_over_samples_of_another_shape) {
    set("points", "idx", digits);
    const std::string job = trained_job();
    ready_dataset("flowers");
    set("flowers", "csv", words);
    const Json body{{"from", {{"job", job}, {"checkpoint", "last"}}},
                    {"data", {{"dataset", "flowers"}}}};
    for (const JobKind kind : {JobKind::predict, JobKind::evaluate}) {
        const auto refused = checked(kind, body);
        ASSERT_FALSE(refused.problems.empty());
        EXPECT_EQ(refused.problems[0].pointer, "/data/dataset");
        EXPECT_THAT(refused.problems[0].message, HasSubstr("rows of 2 numbers"));
        EXPECT_THAT(refused.problems[0].message, HasSubstr("images of 1 x 28 x 28"));
    }
    EXPECT_TRUE(checked(JobKind::predict, {{"from", {{"job", job}, {"checkpoint", "last"}}},
                                           {"data", {{"dataset", "points"}}}})
                    .ok());
}

TEST_F(DataFit, weights_of_another_network_are_not_begun_with) {
    set("points", "csv", words);
    trained_job();
    ready_dataset("digits");
    set("digits", "idx", R"({"feature_shape": [1, 28, 28], "class_count": 3,
        "classes": [{"name": "0"}, {"name": "1"}, {"name": "2"}]})");
    const auto begun = [&](Json model, const char* dataset) {
        model["init"]["from"] = checkpoint;
        return checked(JobKind::train,
                       training({{"model", model}, {"data", {{"dataset", dataset}}}}));
    };
    EXPECT_TRUE(begun({{"arch", "mlp"}}, "points").ok());
    const auto other = begun({{"arch", "lenet"}}, "digits");
    ASSERT_EQ(other.problems.size(), 1U);
    EXPECT_EQ(other.problems[0].pointer, "/model/init/from");
    EXPECT_THAT(other.problems[0].message, HasSubstr("is of mlp, and this job trains lenet"));
    const auto classes = begun({{"arch", "mlp"}}, "digits");
    ASSERT_EQ(classes.problems.size(), 1U);
    EXPECT_THAT(classes.problems[0].message, HasSubstr("model.head.replace"));
    EXPECT_TRUE(begun({{"arch", "mlp"}, {"head", {{"replace", true}}}}, "digits").ok());
    EXPECT_TRUE(begun({{"arch", "lenet"}, {"init", {{"strict", false}}}}, "digits").ok());
    // Of these the executor finds out.
    const std::string network = new_id("upl");
    store::create_upload(store, {.id = network, .size = 0, .created_by = "tok_test"},
                         std::chrono::hours{1});
    store::complete_upload(store, network);
    for (const char* dataset : {"points", "digits"})
        EXPECT_TRUE(begun({{"arch", "imported"}, {"from", network}}, dataset).ok()) << dataset;
}

TEST_F(DataFit, an_unknown_dataset_is_told_with_the_nearest_that_is_usable) {
    ready_dataset("glyphs");
    database.sql("update dataset set state = 'failed', problems = '[]' where name = 'points'");
    const auto near = checked(JobKind::train, training({{"data", {{"dataset", "glyps"}}}}));
    ASSERT_EQ(near.problems.size(), 1U);
    EXPECT_THAT(near.problems[0].message, HasSubstr("did you mean `glyphs`?"));
    EXPECT_EQ(near.problems[0].allowed, std::vector<std::string>{"glyphs"});
}

}    // namespace

}    // namespace slipway::submission
