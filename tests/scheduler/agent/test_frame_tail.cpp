#include "scheduler/agent/frame_tail.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

std::string line(int number, const std::string& rest) {
    return fmt::format("{{\"n\":{},\"time\":\"2026-11-20T20:37:00Z\",{}}}", number, rest);
}

std::string log_line(int number) {
    return line(number, R"("type":"log","level":"info","message":"x")");
}

constexpr const char* checkpoint = R"("type":"checkpoint","step":500,"epoch":2,
    "name":"step_000500_attempt_2","kinds":["last","best"],
    "files":[{"name":"model.safetensors","bytes":40,"sha256":"ab"},{"name":"state.json","bytes":2,"sha256":"cd"}],
    "metric":{"name":"val_loss","value":0.25},"pruned":["step_000100_attempt_1"])";

TEST(ReadFrame, a_state_is_written_by_the_database_alone) {
    const auto read = read_frame(line(7, R"("type":"state","state":"running")"));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->frame.number, 7);
    ASSERT_TRUE(read->frame.state);
    EXPECT_EQ(read->frame.state->state, JobState::running);
    EXPECT_TRUE(read->frame.events.empty());
    for (const char* never : {"succeeded", "queued", "nonsense"}) {
        const auto other =
            read_frame(line(1, fmt::format("\"type\":\"state\",\"state\":\"{}\"", never)));
        EXPECT_FALSE(other->frame.state) << never;
    }
}

TEST(ReadFrame, a_metric_leaves_points_and_an_event) {
    const auto read = read_frame(
        line(1, R"("type":"metric","step":12,"epoch":1,"values":{"lr":0.001,"train_loss":0.5})"));
    ASSERT_EQ(read->frame.metrics.size(), 2U);
    EXPECT_EQ(read->frame.metrics[1].name, "train_loss");
    EXPECT_EQ(read->frame.metrics[1].step, 12);
    EXPECT_EQ(read->frame.metrics[1].value, 0.5);
    ASSERT_EQ(read->frame.events.size(), 1U);
    EXPECT_EQ(read->frame.events[0].type, "metric");
    EXPECT_FALSE(Json::parse(read->frame.events[0].body).contains("type"));
}

TEST(ReadFrame, one_among_the_best_is_not_the_best) {
    const auto read = [](const char* kept) {
        return read_frame(line(1, fmt::format("{},\"kept\":{}", checkpoint, kept)));
    };
    const auto second = read(R"({"last":["step_000500_attempt_2"],
                                 "best":["step_000400_attempt_2","step_000500_attempt_2"]})");
    EXPECT_TRUE(second->frame.best.empty());
    EXPECT_EQ(second->frame.checkpoint->kept->best.size(), 2U);
    EXPECT_FALSE(Json::parse(second->frame.events.at(0).body).contains("kept"));
    const auto first = read(R"({"last":[],"best":["step_000500_attempt_2"]})");
    EXPECT_EQ(Json::parse(first->frame.best).at("value"), 0.25);
}

TEST(ReadFrame, a_metric_that_is_no_number_is_kept_as_what_it_is) {
    const auto read =
        read_frame(line(1, R"("type":"metric","step":1,"epoch":1,"values":{"a":null,"b":null,"c":2},
              "nonfinite":{"a":"-inf"})"));
    ASSERT_EQ(read->frame.metrics.size(), 3U);
    EXPECT_EQ(read->frame.metrics[0].value, -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isnan(read->frame.metrics[1].value));
    EXPECT_EQ(read->frame.metrics[2].value, 2);
    EXPECT_EQ(Json::parse(read->frame.events.at(0).body).at("nonfinite"), Json({{"a", "-inf"}}));
}

// Before, such a frame was unreadable: no row, and what it pruned stayed on the disk for good.
TEST(ReadFrame, a_checkpoint_whose_metric_is_no_number_keeps_its_row_and_what_it_replaces) {
    for (const char* metric : {R"({"name":"val_loss","value":null,"nonfinite":"nan"})",
                               R"({"name":"val_loss","value":null})"}) {
        std::string body = checkpoint;
        const std::string told = R"({"name":"val_loss","value":0.25})";
        body.replace(body.find(told), told.size(), metric);
        const auto read = read_frame(line(1, body));
        ASSERT_TRUE(read->frame.checkpoint) << metric;
        EXPECT_TRUE(std::isnan(read->frame.checkpoint->metric_value));
        EXPECT_EQ(read->frame.checkpoint->pruned,
                  std::vector<std::string>{"step_000100_attempt_1"});
        EXPECT_TRUE(read->frame.best.empty()) << "never the best, whatever its kinds say";
    }
}

TEST(ReadFrame, progress_replaces_the_job_s_progress) {
    const auto read = read_frame(line(1, R"("type":"progress","step":12,"steps_total":20)"));
    EXPECT_EQ(Json::parse(read->frame.progress), Json({{"step", 12}, {"steps_total", 20}}));
}

TEST(ReadFrame, a_checkpoint_leaves_a_row_an_event_and_the_best_so_far) {
    const auto read = read_frame(line(1, checkpoint));
    ASSERT_TRUE(read->frame.checkpoint);
    const store::RelayedCheckpoint& row = *read->frame.checkpoint;
    EXPECT_EQ(row.name, "step_000500_attempt_2");
    EXPECT_EQ(row.bytes, 42);
    EXPECT_EQ(row.metric_value, 0.25);
    EXPECT_EQ(row.pruned, std::vector<std::string>{"step_000100_attempt_1"});
    const Json best = Json::parse(read->frame.best);
    EXPECT_EQ(best.at("checkpoint"), row.id);
    EXPECT_EQ(best.at("metric"), "val_loss");
    EXPECT_EQ(Json::parse(read->frame.events.at(0).body).at("id"), row.id);
}

TEST(ReadFrame, last_words_are_understood_and_pass_through_finishing) {
    const auto read = read_frame(line(
        9, R"("type":"done","outcome":"succeeded","code":null,"message":"","result":{"step":5})"));
    ASSERT_TRUE(read->done);
    EXPECT_EQ(read->done->outcome, AttemptOutcome::succeeded);
    EXPECT_EQ(read->done->result.at("step"), 5);
    EXPECT_EQ(read->frame.state->state, JobState::finishing);
    EXPECT_TRUE(read->frame.events.empty()) << "the end event is the database's";
    const auto failed = read_frame(line(
        9,
        R"("type":"done","outcome":"failed","code":"nan_loss","message":"loss is nan at step 3")"));
    EXPECT_EQ(failed->done->code, "nan_loss");
    EXPECT_FALSE(failed->frame.state);
    EXPECT_EQ(read_frame(line(9, R"("type":"done","outcome":5)"))->done->outcome,
              AttemptOutcome::failed);
    for (const std::string& code :
         {std::string("a\\u0000b"), std::string(65, 'a'), std::string("A b")}) {
        const auto odd =
            read_frame(line(9, R"("type":"done","outcome":"failed","code":")" + code + "\""));
        EXPECT_EQ(odd->done->code, "internal") << code;
    }
}

TEST(ReadFrame, a_report_is_on_disk_and_leaves_only_its_number) {
    const auto read = read_frame(line(4, R"("type":"report","step":3,"finished":false)"));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->frame.number, 4);
    EXPECT_TRUE(read->frame.events.empty());
}

TEST(ReadFrame, a_numbered_frame_that_makes_no_sense_counts_on_as_a_warning) {
    for (
        const std::string& rest : std::vector<std::string>{
            R"("type":"unheard_of")", R"("type":5)", R"("x":1)", R"("type":"metric","step":1)",
            R"("type":"metric","step":1,"values":{"a":"b"})", R"("type":"state")",
            R"("type":"checkpoint","name":"a")",
            R"("type":"checkpoint","step":1,"epoch":1,"name":"../../etc","kinds":[],"files":[])",
            R"("type":"checkpoint","step":1,"epoch":1,"name":"a..b","kinds":[],"files":[])",
            R"("type":"checkpoint","step":1,"epoch":1,"name":"a","kinds":[],"files":[],"drop":["a..b"])",
            R"("type":"checkpoint","step":1,"epoch":1,"name":"a","kinds":[],"files":[],"drop":["a/b"])",
            R"("type":"checkpoint","step":1,"epoch":1,"name":"a","kinds":[],"files":[{"name":"..","bytes":1}])"}) {
        const auto read = read_frame(line(3, rest));
        ASSERT_TRUE(read) << rest;
        EXPECT_EQ(read->frame.number, 3);
        ASSERT_EQ(read->frame.events.size(), 1U) << rest;
        EXPECT_EQ(read->frame.events[0].type, "warning");
        EXPECT_FALSE(read->frame.checkpoint);
    }
}

TEST(ReadFrame, lines_that_are_no_frames_leave_nothing) {
    for (const std::string& text :
         {std::string("{\"type\":\"beat\"}"), std::string("nonsense"), std::string("[]"),
          std::string("{\"n\":\"1\"}"), std::string(100000, '['),
          std::string("{\"n\":1,\"a\":\"\xff\"}")})
        EXPECT_FALSE(read_frame(text));
}

TEST(FrameTail, frames_come_once_in_order_and_only_whole) {
    const TempFolder folder;
    const auto file = folder.path() / "frames.ndjson";
    FrameTail tail(file, 2);
    EXPECT_TRUE(tail.peek().empty()) << "there is no file yet";
    std::ofstream writer(file, std::ios::app);
    for (int number = 1; number <= 4; ++number)
        writer << log_line(number) << "\n";
    writer << log_line(5).substr(0, 20) << std::flush;
    ASSERT_EQ(tail.peek().size(), 2U);
    EXPECT_EQ(tail.peek()[0].frame.number, 3);
    EXPECT_EQ(tail.peek()[1].frame.number, 4) << "the same ones until they are stored";
    tail.advance();
    EXPECT_TRUE(tail.peek().empty());
    writer << log_line(5).substr(20) << "\n" << std::flush;
    ASSERT_EQ(tail.peek().size(), 1U);
    EXPECT_EQ(tail.last_number(), 5);
}

TEST(FrameTail, last_words_that_were_stored_before_are_told_apart) {
    const TempFolder folder;
    const auto file =
        folder.write("frames.ndjson",
                     log_line(1) + "\n" + line(2, R"("type":"done","outcome":"succeeded")") + "\n");
    FrameTail tail(file, 2);
    EXPECT_FALSE(tail.done_before()) << "nothing has been read yet";
    EXPECT_TRUE(tail.peek().empty());
    ASSERT_TRUE(tail.done_before());
    EXPECT_EQ(tail.done_before()->outcome, AttemptOutcome::succeeded);
    FrameTail behind(file, 1);
    EXPECT_EQ(behind.peek().size(), 1U);
    EXPECT_FALSE(behind.done_before()) << "they come as a frame";
}

TEST(FrameTail, batches_are_bounded_and_miss_nothing) {
    const TempFolder folder;
    std::string text;
    for (int number = 1; number <= 1234; ++number)
        text += log_line(number) + "\n";
    FrameTail tail(folder.write("frames.ndjson", text), 0);
    std::int64_t expected = 0;
    while (!tail.peek(100).empty()) {
        EXPECT_LE(tail.peek(100).size(), 100U);
        for (const ReadFrame& read : tail.peek(100))
            EXPECT_EQ(read.frame.number, ++expected);
        tail.advance();
    }
    EXPECT_EQ(expected, 1234);
}

// Goal: a file of any size without new frames holds the reader up for one bounded read.
TEST(FrameTail, a_file_without_new_frames_is_read_in_bounded_turns) {
    const TempFolder folder;
    const auto holes = folder.write("holes.ndjson", log_line(1) + "\n");
    std::filesystem::resize_file(holes, std::uintmax_t{1} << 40);
    FrameTail sparse(holes, 1);
    for (int turn = 1; turn <= 2; ++turn) {
        EXPECT_TRUE(sparse.peek().empty());
        EXPECT_TRUE(sparse.has_more());
        EXPECT_LE(sparse.offset(), turn * (FrameTail::peek_bytes_max + (1 << 20)));
    }
    std::string stale;
    for (int number = 1; number <= 10'000; ++number)
        stale += log_line(number) + std::string(1000, ' ') + "\n";
    ASSERT_GT(std::int64_t(stale.size()), 2 * FrameTail::peek_bytes_max);
    FrameTail tail(folder.write("stale.ndjson", stale + log_line(10'001) + "\n"), 10'000);
    int turns = 1;
    for (; tail.peek().empty() && tail.has_more(); ++turns) {
    }
    EXPECT_GT(turns, 2);
    ASSERT_EQ(tail.peek().size(), 1U);
    EXPECT_EQ(tail.peek()[0].frame.number, 10'001);
    tail.advance();
    EXPECT_TRUE(tail.peek().empty());
    EXPECT_FALSE(tail.has_more());
}

TEST(FrameTail, damage_between_frames_is_passed_over) {
    const TempFolder folder;
    const std::string text =
        log_line(1) + "\n" + std::string((2 << 20) + 5, 'x') + "\n\n{}\n" + log_line(2) + "\n";
    FrameTail tail(folder.write("frames.ndjson", text), 0);
    std::vector<std::int64_t> numbers;
    while (!tail.peek().empty()) {
        for (const ReadFrame& read : tail.peek())
            numbers.push_back(read.frame.number);
        tail.advance();
    }
    EXPECT_EQ(numbers, (std::vector<std::int64_t>{1, 2}));
}

}    // namespace
}    // namespace slipway
