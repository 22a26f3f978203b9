// Goal: every point of a run is in the files that the job asks for, once, whatever ended the
// attempts; and a file that cannot be written costs no more than itself.
// Method: event files are read by a reader of their own, in Python (read_events.py).
#include "executor/main/sinks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "executor/main/event_files.h"
#include "tests/support/hand_clock.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class NothingElse final : public Reporter {
public:
    std::vector<std::string> warnings;

    void state(JobState) override {}
    void begin(std::int64_t) override {}
    void progress(const Progress&) override {}
    void metric(const MetricPoint&) override {}
    void epoch(const EpochSummary&) override {}
    void log(const std::string&, const std::string&) override {}
    void warning(const std::string& code, const std::string& message) override {
        warnings.push_back(code + ": " + message);
    }
    void checkpoint(const SavedCheckpoint&) override {}
    void compiled(const CompiledProgram&) override {}
    void reported(const WrittenReport&) override {}
    StopReason stop_requested() override { return StopReason::none; }
};

struct Sinks : testing::Test {
    TempFolder folder;
    fs::path out = folder.path() / "report";
    HandClock clock;
    NothingElse inner;

    /// An attempt that goes on after step `done` and reports these.
    void attempt(std::int64_t done, std::vector<std::int64_t> steps,
                 std::vector<SinkName> names = {SinkName::csv, SinkName::tensorboard}) {
        SinkReporter reporter(inner, std::move(names), out, clock);
        reporter.begin(done);
        for (const std::int64_t step : steps)
            reporter.metric({.step = step,
                             .epoch = 1,
                             .values = {{"train_loss", 1.0 / double(step)}, {"lr", 0.5}}});
        clock.advance(std::chrono::seconds(1));
    }

    std::string events() const {
        const fs::path text = folder.path() / "events.txt";
        const std::string command =
            fmt::format("/usr/bin/python3 {}/tests/executor/main/read_events.py {} > {} 2>&1",
                        SLIPWAY_SOURCE_DIR, (out / "tensorboard").string(), text.string());
        EXPECT_EQ(std::system(command.c_str()), 0) << read_file(text);
        return read_file(text);
    }
};

TEST_F(Sinks, tensorboard_gets_every_number_with_its_step) {
    attempt(0, {1, 200, 1'000'000'000'000});
    EXPECT_EQ(events(),
              "0 version brain.Event:2\n1 session 1\n1 train_loss 1\n1 lr 0.5\n"
              "200 train_loss 0.005\n200 lr 0.5\n"
              "1000000000000 train_loss 1e-12\n1000000000000 lr 0.5\n");
}

TEST_F(Sinks, a_resumed_attempt_says_no_step_twice_even_after_a_torn_write) {
    attempt(0, {10, 20, 30});
    for (const auto& entry : fs::directory_iterator(out / "tensorboard"))
        std::ofstream(entry.path(), std::ios::app | std::ios::binary) << "torn off";
    attempt(20, {30, 40}, {SinkName::tensorboard});
    attempt(0, {10}, {SinkName::csv});
    EXPECT_EQ(events(),
              "0 version brain.Event:2\n1 session 1\n10 train_loss 0.1\n10 lr 0.5\n"
              "20 train_loss 0.05\n20 lr 0.5\n"
              "0 version brain.Event:2\n21 session 1\n30 train_loss 0.0333333\n30 lr 0.5\n"
              "40 train_loss 0.025\n40 lr 0.5\n");
    EXPECT_EQ(read_file(out / "metrics.csv"), "step,epoch,train_loss,lr\n10,1,0.1,0.5\n");
}

TEST_F(Sinks, of_one_second_and_one_process_are_files_of_their_own) {
    const EventFile one(out, 0, clock), other(out, 0, clock);
    EXPECT_NE(one.path(), other.path());
    EXPECT_THAT(one.path().filename().string(), HasSubstr("events.out.tfevents.0000086400."));
}

TEST_F(Sinks, none_leave_no_files) {
    attempt(0, {1}, {});
    EXPECT_TRUE(fs::is_empty(out));
}

TEST_F(Sinks, one_that_cannot_be_written_is_said_once_and_left_out) {
    folder.write("report/tensorboard", "a file where the folder belongs");
    attempt(0, {1, 2});
    ASSERT_EQ(inner.warnings.size(), 1U);
    EXPECT_THAT(inner.warnings[0], HasSubstr("sink_failed: the sink tensorboard"));
    EXPECT_EQ(read_file(out / "metrics.csv"), "step,epoch,train_loss,lr\n1,1,1,0.5\n2,1,0.5,0.5\n");
}

TEST_F(Sinks, one_that_fails_later_is_said_once_and_left_out) {
    Sink failing{.name = "paper", .metric = [](const MetricPoint& point) {
                     if (point.step > 1) throw Error{ErrorCode::exhausted, "no paper"};
                 }};
    std::vector<std::string> lines;
    Sink console{.name = "console", .say = [&](const std::string& line) { lines.push_back(line); }};
    SinkReporter reporter(inner, {}, out, clock, {failing, console});
    for (const std::int64_t step : {1, 2, 3})
        reporter.metric({.step = step, .epoch = 1, .values = {}});
    EXPECT_EQ(inner.warnings,
              std::vector<std::string>{"sink_failed: the sink paper is off from now on: no paper"});
    EXPECT_EQ(lines,
              std::vector<std::string>{"warning: the sink paper is off from now on: no paper"});
}

}    // namespace
}    // namespace slipway
