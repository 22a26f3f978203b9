// Goal: labels may be columns of numbers; a bad one is named by file, row and column.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "executor/data/inspect.h"
#include "executor/data/split.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

using Json = nlohmann::json;

const std::string scans =
    "file,sick,age,share,patient\n"
    "1.png,1, 30 ,0.25,p\n"
    "2.png,0,-4e1,0,q\n"
    "3.png,1,0,1,p\n";

/// The same table with images and without.
struct Scans {
    TempFolder folder;
    explicit Scans(const std::string& more = {}) {
        folder.write("images/labels.csv", scans + more);
        std::string numbers = scans + more;
        for (std::size_t at = 0; (at = numbers.find(".png")) != std::string::npos;)
            numbers.erase(at, 4);
        folder.write("table/t.csv", numbers);
        for (const char* name : {"1.png", "2.png", "3.png", "4.png"})
            folder.write(std::string("images/") + name, png_file(patterned_image(1, 4, 4)));
    }
    std::unique_ptr<Dataset> open(const std::string& format, DatasetOptions options) const {
        options.group_column = "patient";
        return open_dataset(format, folder.path() / (format == "csv" ? "table" : "images"),
                            options);
    }
};

constexpr std::array formats{"csv", "image_csv"};

std::vector<float> targets_of(const Dataset& dataset, std::int64_t sample) {
    const auto targets = dataset.targets(sample);
    return {targets.begin(), targets.end()};
}

}    // namespace

TEST(LabelColumns, are_numbers_in_their_order_and_not_among_the_features) {
    const Scans set;
    for (const char* format : formats) {
        const auto dataset = set.open(format, {.label_columns = {"age", "sick"}});
        const DatasetIndex& index = dataset->index();
        EXPECT_EQ(index.target_names, (std::vector<std::string>{"age", "sick"}));
        EXPECT_EQ(index.target_count(), 2);
        EXPECT_EQ(index.class_count(), 0);
        EXPECT_EQ(index.sample_count(), 3);
        EXPECT_EQ(targets_of(*dataset, 0), (std::vector<float>{30, 1}));
        EXPECT_EQ(targets_of(*dataset, 1), (std::vector<float>{-40, 0}));
        EXPECT_EQ(index.groups, (std::vector<std::int32_t>{0, 1, 0}));
    }
    const auto table = set.open("csv", {.label_columns = {"age", "sick"}});
    EXPECT_EQ(features_of(*table, 0), (std::vector<float>{1, 0.25F}));    // file and share
    const auto scaled = normalized(*table, {.mean = {1}, .deviation = {2}});
    EXPECT_EQ(targets_of(*scaled, 2), (std::vector<float>{0, 1}));
}

TEST(LabelColumns, a_bad_number_is_named_by_row_and_column) {
    struct Case {
        std::string row;
        std::string field;
        std::string says;
        bool shares = false;
    };
    const std::vector<Case> cases{
        {"4.png,x,1,0,p", "sick", "\"x\" is not a finite number"},
        {"4.png,1,nan,0,p", "age", "\"nan\" is not a finite number"},
        {"4.png,1,1e39,0,p", "age", "\"1e39\" is not a finite number"},
        {"4.png,1,,0,p", "age", "missing"},
        {"4.png,2,0,0,p", "sick", "must be from 0 to 1, got 2", true},
        {"4.png,-0.5,0,0,p", "sick", "must be from 0 to 1, got -0.5", true},
    };
    for (const char* format : formats) {
        for (const Case& one : cases) {
            const Scans set(one.row + "\n");
            const DatasetOptions options{
                .label_columns = one.shares ? std::vector<std::string>{"sick"}
                                            : std::vector<std::string>{"sick", "age"},
                .labels_are_shares = one.shares};
            const DataProblem problem = data_problem_of([&] { set.open(format, options); });
            EXPECT_EQ(problem.row, 5) << one.row;
            EXPECT_EQ(problem.field, one.field);
            EXPECT_TRUE(says(problem, one.says)) << problem.message;
        }
    }
}

TEST(LabelColumns, shares_between_nothing_and_all_are_labels) {
    const auto dataset =
        Scans().open("csv", {.label_columns = {"sick", "share"}, .labels_are_shares = true});
    EXPECT_EQ(targets_of(*dataset, 0), (std::vector<float>{1, 0.25F}));
}

TEST(LabelColumns, columns_that_cannot_be_labels_are_refused) {
    const Scans set;
    for (const char* format : formats) {
        const DataProblem problem = data_problem_of([&] {
            set.open(format, {.label_columns = {"sick", "weight"}});
        });
        EXPECT_EQ(problem.field, "weight");
        EXPECT_TRUE(says(problem, "Set label_columns to one of them")) << problem.message;
    }
    EXPECT_EQ(error_code_of([&] {
                  set.open("csv", {.label_columns = {"age"}, .feature_columns = {"sick", "age"}});
              }),
              ErrorCode::invalid_argument);
}

TEST(LabelColumns, an_inspection_says_what_each_holds_and_goes_on_after_a_bad_row) {
    const Scans set("4.png,1,x,1,p\n");
    const Json report = inspect_dataset("image_csv", set.folder.path() / "images",
                                        {.label_columns = {"sick", "age"}});
    EXPECT_EQ(report["samples"], 3);
    EXPECT_EQ(report["classes"], Json::array());
    EXPECT_EQ(report["problem_count"], 1);
    ASSERT_EQ(report["labels"].size(), 2U);
    const Json& sick = report["labels"][0];
    EXPECT_EQ(sick["name"], "sick");
    EXPECT_FLOAT_EQ(sick["mean"].get<float>(), 2.0F / 3);
    EXPECT_DOUBLE_EQ(sick["share"].get<double>(), 2.0 / 3);
    const Json& age = report["labels"][1];
    EXPECT_EQ(age["min"], -40.0);
    EXPECT_EQ(age["max"], 30.0);
    EXPECT_TRUE(age["share"].is_null());
    EXPECT_NEAR(age["std"].get<double>(), 28.674417556808756, 1e-5);    // numpy.std
}

TEST(LabelColumns, are_split_by_group_and_not_by_class) {
    const auto dataset = Scans().open("csv", {.label_columns = {"age"}});
    const Split split = split_samples(dataset->index(), {.val_fraction = 0.4, .by_group = true});
    EXPECT_EQ(count_split(dataset->index(), split).shared_groups, 0);
    EXPECT_EQ(error_code_of([&] {
                  split_samples(dataset->index(), {.val_fraction = 0.4, .stratified = true});
              }),
              ErrorCode::invalid_argument);
}

}    // namespace slipway
