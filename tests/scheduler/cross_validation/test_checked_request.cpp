#include <gmock/gmock.h>

#include "scheduler/submission/split_fit_check.h"
#include "tests/scheduler/cross_validation/samples.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CheckedRequest : public CrossValidationTest {
protected:
    std::vector<std::string> pointers(const Json& changes) {
        std::vector<std::string> found;
        for (const Problem& one : checked_request(request(changes)).problems)
            found.push_back(one.pointer);
        return found;
    }
};

TEST_F(CheckedRequest, names_what_is_not_there) {
    EXPECT_THAT(pointers({{"job", {{"data", {{"dataset", "poins"}}}}}}),
                ElementsAre("/job/data/dataset"));
    EXPECT_THAT(pointers({{"split", nullptr}, {"split_id", new_id("spl")}}),
                ElementsAre("/split_id"));
    EXPECT_THAT(pointers({{"job", {{"model", {{"init", {{"from", new_id("ckp")}}}}}}}}),
                ElementsAre("/job/model/init/from"));
}

TEST_F(CheckedRequest, takes_a_dataset_that_is_still_being_checked) {
    checking_dataset("later");
    EXPECT_THAT(pointers({{"job", {{"data", {{"dataset", "later"}}}}}}), IsEmpty());
}

TEST_F(CheckedRequest, a_stored_split_needs_two_folds) {
    const auto of_points = store::find_dataset(store, "default", "points").value().id;
    store::create_split(store, {.id = new_id("spl"),
                                .dataset_id = of_points,
                                .request = R"({"method": "fraction"})",
                                .created_by = token});
    const std::string split = make_split(1);
    EXPECT_THAT(pointers({{"split", nullptr}, {"split_id", split}}), ElementsAre("/split_id"));
}

// Method: the report of a dataset is all that is known of it, so the checks are asked with reports.
TEST(SplitFit, tells_what_the_report_knows) {
    store::Dataset dataset{.name = "points",
                           .format = "csv",
                           .options = R"({"group_column": "family"})",
                           .state = store::DatasetState::ready,
                           .report = R"({"samples": 20, "group_count": 4,
                                         "classes": [{"name": "rare", "count": 3},
                                                     {"name": "usual", "count": 17}]})"};
    const auto fits = [&](const SplitCreate& split) {
        return submission::check_split_fit(split, dataset).empty();
    };
    using enum SplitMethod;
    EXPECT_TRUE(fits({.method = kfold, .folds = 20}));
    EXPECT_FALSE(fits({.method = kfold, .folds = 21}));
    EXPECT_FALSE(fits({.method = time_series, .folds = 20})) << "the first section only trains";
    EXPECT_TRUE(fits({.method = group_kfold, .folds = 4}));
    EXPECT_FALSE(fits({.method = group_kfold, .folds = 5}));
    EXPECT_FALSE(fits({.method = kfold, .folds = 5, .group_by = "family"}));
    EXPECT_TRUE(fits({.method = group_kfold, .folds = 5, .group_by = "other"})) << "not counted";
    const auto warns = [&](const SplitCreate& split) {
        return submission::rare_class_warning(split, dataset).has_value();
    };
    EXPECT_TRUE(warns({.method = stratified_kfold, .folds = 4}));
    EXPECT_FALSE(warns({.method = stratified_kfold, .folds = 3}));
    EXPECT_FALSE(warns({.method = kfold, .folds = 4}));
    dataset.report.clear();
    EXPECT_TRUE(fits({.method = kfold, .folds = 21})) << "nothing is known yet";
}

TEST_F(CheckedRequest, predictions_need_the_weights_that_are_measured) {
    const auto job = [](const Json& checkpoint, const Json& train = Json::object()) {
        return Json{{"job", {{"checkpoint", checkpoint}, {"train", train}}}};
    };
    const Json stops{{"early_stopping", {{"metric", "val_loss"}, {"patience", 2}}}};
    EXPECT_THAT(pointers(job({{"every_epochs", 2}})), ElementsAre());
    EXPECT_THAT(pointers(job({{"every_epochs", 2}, {"save_final", false}})),
                ElementsAre("/job/checkpoint/save_final"));
    EXPECT_THAT(pointers(job({{"every_epochs", 2}}, stops)),
                ElementsAre("/job/checkpoint/every_epochs"));
    EXPECT_THAT(pointers(job({{"best", {{"metric", "val_accuracy"}}}}, stops)),
                ElementsAre("/job/checkpoint/best/metric"));
    const auto checked = checked_request(request(job(Json::object(), stops)));
    ASSERT_EQ(checked.value.warnings.size(), 1U);
    EXPECT_EQ(checked.value.warnings[0].pointer, "/job/train/early_stopping");
}

TEST_F(CheckedRequest, knows_the_number_of_folds_where_the_request_tells_it) {
    EXPECT_EQ(folds_of(checked_request(request()).value), 3);
    EXPECT_EQ(folds_of(checked_request(
                           request({{"split", {{"method", "repeated_kfold"}, {"repeats", 4}}}}))
                           .value),
              12);
    EXPECT_FALSE(
        folds_of(checked_request(
                     request({{"split", {{"method", "leave_one_group_out"}, {"folds", nullptr}}}}))
                     .value));
}

}    // namespace
}    // namespace slipway
