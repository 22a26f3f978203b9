#include "api/protocol/frames.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "api/base/error.h"
#include "api/protocol/agent_messages.h"

namespace slipway {
namespace {

const CheckpointFrame full_checkpoint{
    .step = 500,
    .epoch = 2,
    .name = "step_000500_attempt_2",
    .kinds = {"last", "best"},
    .files = {{"model.safetensors", 40, "ab"}, {"state.json", 2, "cd"}},
    .metric = std::pair("val_loss", std::numeric_limits<double>::quiet_NaN()),
    .pruned = {"step_000100_attempt_1"},
    .kept = CheckpointFrame::Kept{.last = {"step_000500_attempt_2"}, .best = {}},
    .writer = CheckpointWriter{.program = "slipway-executor 0.1.0", .build = "ab12"}};

/// One of each type, with every field.
std::vector<Json> all_frames() {
    return {to_json(StateFrame{JobState::running}),
            to_json(ProgressFrame{}),
            to_json(MetricFrame{3, 1, {{"train_loss", INFINITY}}}),
            to_json(LogFrame{"info", "text"}),
            to_json(WarningFrame{"code", "text"}),
            to_json(CompileFrame{"train_step", "ab", 1.5, false, 100, "a shape"}),
            to_json(ReportFrame{}),
            to_json(full_checkpoint),
            to_json(DoneFrame{})};
}

TEST(Frames, each_type_has_one_frame) {
    std::vector<std::string_view> types;
    const std::vector<Json> frames = all_frames();
    for (const Json& frame : frames)
        types.push_back(frame.at("type").get_ref<const std::string&>());
    const auto words = all_words<FrameType>();
    EXPECT_EQ(types, std::vector<std::string_view>(words.begin(), words.end()));
}

TEST(Frames, what_is_written_is_read) {
    for (const JobState state : {JobState::compiling, JobState::running, JobState::finishing})
        EXPECT_EQ(read_state_frame(to_json(StateFrame{state})).state, state);
    const MetricFrame metric{3, 1, {{"a", -INFINITY}, {"b", 0.5}}};
    const MetricFrame read = read_metric_frame(to_json(metric));
    EXPECT_EQ(read.values, metric.values);
    EXPECT_EQ(read.step, 3);
    EXPECT_EQ(read.epoch, 1);
    const CheckpointFrame checkpoint = read_checkpoint_frame(to_json(full_checkpoint));
    EXPECT_EQ(to_json(checkpoint), to_json(full_checkpoint));
    EXPECT_EQ(checkpoint.bytes(), 42);
    EXPECT_TRUE(std::isnan(checkpoint.metric->second));
    const DoneFrame done{.outcome = AttemptOutcome::timed_out,
                         .code = "early_stopping",
                         .message = "m",
                         .result = Json{{"step", 1}}};
    EXPECT_EQ(to_json(read_done_frame(to_json(done))), to_json(done));
}

TEST(Frames, an_executor_from_before_an_upgrade_is_understood) {
    Json json = to_json(full_checkpoint);
    json["drop"] = std::move(json["pruned"]);
    json.erase("pruned");
    json.erase("written_by");
    EXPECT_EQ(read_checkpoint_frame(json).pruned, full_checkpoint.pruned);
    EXPECT_EQ(read_checkpoint_frame(json).writer, std::nullopt);
}

template <class Read>
std::string problem_of(Read read, const Json& json) {
    try {
        read(json);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        return error.what();
    }
    return "";
}

TEST(Frames, a_field_of_another_form_is_named) {
    for (const char* word : {"succeeded", "queued", "nonsense"})
        EXPECT_NE(problem_of(read_state_frame, Json{{"state", word}}).find(word),
                  std::string::npos);
    for (const auto& [name, value] :
         std::vector<std::pair<const char*, Json>>{{"step", -1},
                                                   {"step", 1e300},
                                                   {"step", std::int64_t{1} << 54},
                                                   {"epoch", "1"},
                                                   {"values", Json{{"a", "b"}}},
                                                   {"values", nullptr}}) {
        Json json = to_json(MetricFrame{3, 1, {}});
        json[name] = value;
        EXPECT_NE(problem_of(read_metric_frame, json), "") << name << " " << value;
    }
    const std::vector<std::pair<const char*, Json>> wrong{
        {"name", "../../etc"},
        {"name", "a..b"},
        {"name", std::string(121, 'a')},
        {"pruned", Json::array({"a/b"})},
        {"pruned", 5},
        {"kinds", "best"},
        {"kept", Json{{"last", Json::array()}}},
        {"metric", Json{{"name", 1}, {"value", 2}}},
        {"files", Json::array({Json{{"name", ".."}, {"bytes", 1}, {"sha256", ""}}})},
        {"files",
         Json::array({Json{{"name", std::string("a\0b", 3)}, {"bytes", 1}, {"sha256", ""}}})},
        {"files", Json::array({Json{{"name", "a"}, {"bytes", -1}, {"sha256", ""}}})},
        {"files",
         Json::array({Json{{"name", "a"}, {"bytes", std::int64_t{1} << 53}, {"sha256", ""}},
                      Json{{"name", "b"}, {"bytes", 1}, {"sha256", ""}}})}};
    for (const auto& [name, value] : wrong) {
        Json json = to_json(full_checkpoint);
        json[name] = value;
        EXPECT_NE(problem_of(read_checkpoint_frame, json), "") << name << " " << value;
    }
}

// Goal: an end is never missed for its form.
TEST(Frames, a_done_frame_of_any_form_is_an_end) {
    EXPECT_EQ(read_done_frame(Json{{"outcome", 5}}).outcome, AttemptOutcome::failed);
    EXPECT_EQ(read_done_frame(Json{{"outcome", "nonsense"}}).outcome, AttemptOutcome::failed);
    EXPECT_TRUE(read_done_frame(Json{{"result", "x"}}).result.is_null());
    for (const std::string& code :
         {std::string("a\0b", 3), std::string(65, 'a'), std::string("A b")})
        EXPECT_EQ(read_done_frame(Json{{"code", code}}).code, "internal");
}

// Goal: the pages that describe the protocol have every word of it, and no frame that is not there.
TEST(Frames, docs_list_every_type_and_field) {
    std::ifstream file(std::string(SLIPWAY_SOURCE_DIR) + "/docs/contributing/protocol.md");
    const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::size_t begin = page.find("\n## Frames\n");
    ASSERT_NE(begin, std::string::npos);
    const std::string section = page.substr(begin, page.find("\n## ", begin + 5) - begin);
    for (const Json& frame : all_frames()) {
        const auto type = frame.at("type").get<std::string>();
        const std::size_t at = section.find("\n| `" + type + "` |");
        ASSERT_NE(at, std::string::npos) << type;
        const std::string row = section.substr(at, section.find('\n', at + 1) - at);
        for (const auto& [name, value] : frame.items())
            if (name != "type") EXPECT_NE(row.find(name), std::string::npos) << type << "." << name;
    }
    for (const std::string& line :
         {hello_line("f", 1), stop_line(Intent::pause), std::string(heartbeat_line)}) {
        const auto type = Json::parse(line).at("type").get<std::string>();
        EXPECT_NE(section.find("| `" + type + "` |"), std::string::npos) << type;
    }
}

}    // namespace
}    // namespace slipway
