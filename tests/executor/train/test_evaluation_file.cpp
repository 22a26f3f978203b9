// Goal: the file of a run's evaluations has the newest one when it ends, and is not written for
// each.
// Method: a clock by hand; the file is read after each call.
#include "executor/train/evaluation_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "api/base/error.h"
#include "tests/support/hand_clock.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

using namespace std::chrono_literals;

class EvaluationFiles : public ::testing::Test {
protected:
    /// The step of what the file says; 0: there is none.
    std::int64_t written() const {
        const auto path = folder_.path() / "report/evaluation.json";
        return std::filesystem::exists(path) ? Json::parse(read_file(path))["step"].get<int>() : 0;
    }
    void evaluate(std::int64_t step) {
        file_.keep({.step = step, .epoch = 1, .samples = 4, .values = {}, .details = {}});
        file_.write_when_due();
    }

    TempFolder folder_;
    HandClock clock_;
    EvaluationFile file_{folder_.path() / "report", clock_};
};

TEST_F(EvaluationFiles, the_first_of_a_long_run_is_written_at_once) {
    clock_.advance(1s);
    evaluate(10);
    EXPECT_EQ(written(), 10);
}

TEST_F(EvaluationFiles, a_short_run_writes_its_last_one_when_it_ends) {
    for (const std::int64_t step : {10, 20, 30}) {
        clock_.advance(300ms);
        evaluate(step);
    }
    EXPECT_EQ(written(), 0);
    file_.write();
    EXPECT_EQ(written(), 30);
}

TEST_F(EvaluationFiles, between_them_the_newest_is_written_each_second) {
    clock_.advance(1s);
    evaluate(10);
    clock_.advance(500ms);
    evaluate(20);
    EXPECT_EQ(written(), 10);
    clock_.advance(400ms);
    evaluate(30);
    clock_.advance(100ms);
    file_.write_when_due();
    EXPECT_EQ(written(), 30);
}

TEST_F(EvaluationFiles, what_is_written_is_not_written_again) {
    clock_.advance(1s);
    evaluate(10);
    std::filesystem::remove(folder_.path() / "report/evaluation.json");
    clock_.advance(10s);
    file_.write_when_due();
    file_.write();
    EXPECT_EQ(written(), 0);
}

TEST_F(EvaluationFiles, without_a_folder_nothing_is_written) {
    EvaluationFile none({}, clock_);
    none.keep({.step = 1, .epoch = 1, .samples = 4, .values = {}, .details = {}});
    EXPECT_NO_THROW(none.write());
}

TEST_F(EvaluationFiles, what_cannot_be_written_is_told_once_and_the_next_is_tried) {
    folder_.write("report", "a file where the folder should be");
    clock_.advance(1s);
    EXPECT_THROW(evaluate(10), Error);
    EXPECT_NO_THROW(file_.write());
    std::filesystem::remove(folder_.path() / "report");
    clock_.advance(1s);
    evaluate(20);
    EXPECT_EQ(written(), 20);
}

}    // namespace

}    // namespace slipway
