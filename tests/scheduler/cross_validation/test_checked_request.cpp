#include <gmock/gmock.h>

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
