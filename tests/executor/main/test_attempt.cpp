// Goal: an attempt ends in the way its agent, its signals or its silence ask for, and says so.
// Method: run_attempt in this process with stand-in trainers; a socket plays the agent.

#include "executor/main/attempt.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/base/posix.h"
#include "api/protocol/version.h"
#include "executor/main/run_folder.h"
#include "executor/runtime/run_plan.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

Json order_json(const std::filesystem::path& folder, double grace_s = 60) {
    return {{"version", protocol_version},
            {"job_id", "job_1"},
            {"attempt", 2},
            {"fence", "f00d"},
            {"kind", "train"},
            {"payload", nullptr},
            {"spec",
             {{"model", {{"arch", "mlp"}}},
              {"task", {{"type", "classification"}}},
              {"data", {{"dataset", "digits"}}},
              {"train", {{"epochs", 1}, {"optimizer", {{"name", "sgd"}, {"lr", 0.1}}}}}}},
            {"dataset",
             {{"id", "ds_1"},
              {"name", "digits"},
              {"format", "idx"},
              {"path", "/data/digits"},
              {"options", Json::object()},
              {"content_hash", "sha256:ab"}}},
            {"checkpoint_folder", (folder / "checkpoints").string()},
            {"resume_from", (folder / "checkpoints" / "step_1").string()},
            {"init_from", (folder / "weights.safetensors").string()},
            {"network_from", (folder / "network.pt2").string()},
            {"checkpoints", Json::array()},
            {"split", {{"path", (folder / "split.json").string()}, {"hash", "sha256:cd"}}},
            {"member", nullptr},
            {"saves_requested", 0},
            {"worker_threads", 2},
            {"grace_s", grace_s},
            {"memory_bytes", 0},
            {"report_folder", (folder / "report").string()},
            {"cache_folder", ""},
            {"packed_folder", ""},
            {"decoded_folder", ""},
            {"decoded_bytes_max", 0},
            {"traceparent", ""}};
}

std::vector<Json> frames_in(const std::filesystem::path& folder) {
    std::ifstream file(folder / "frames.ndjson");
    std::vector<Json> frames;
    for (std::string line; std::getline(file, line);)
        frames.push_back(Json::parse(line));
    return frames;
}

/// Trains until somebody asks it to stop.
TrainOutcome train_for_ever(const AttemptPlan&, Reporter& reporter) {
    TrainOutcome outcome;
    eventually([&] {
        outcome.stopped = reporter.stop_requested();
        return outcome.stopped != StopReason::none;
    });
    return outcome;
}

TEST(RunAttempt, the_trace_of_the_job_is_in_its_log_and_in_the_environment) {
    TempFolder folder;
    Json order = order_json(folder.path());
    const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    order["traceparent"] = trace;
    folder.write("attempt.json", order.dump());
    run_attempt(
        folder.path(), [](const AttemptPlan&, Reporter&) { return TrainOutcome{}; },
        system_clock());
    EXPECT_STREQ(getenv("TRACEPARENT"), trace.c_str());
    unsetenv("TRACEPARENT");
    EXPECT_NE(read_file(folder.path() / "frames.ndjson").find(trace), std::string::npos);
}

TEST(ReadAttempt, the_order_becomes_a_plan) {
    const TempFolder folder;
    folder.write("attempt.json", order_json(folder.path()).dump());
    const auto order = read_attempt(folder.path());
    ASSERT_TRUE(order) << order.error().what();
    EXPECT_EQ(order->fence, "f00d");
    EXPECT_EQ(order->plan.attempt, 2);
    EXPECT_EQ(order->plan.spec.model.arch, Arch::mlp);
    EXPECT_EQ(order->plan.dataset_path, "/data/digits");
    EXPECT_EQ(order->plan.resume_from, folder.path() / "checkpoints" / "step_1");
    EXPECT_EQ(order->plan.init_from, folder.path() / "weights.safetensors");
    EXPECT_EQ(order->plan.network_from, folder.path() / "network.pt2");
    ASSERT_TRUE(order->plan.split_file);
    EXPECT_EQ(order->plan.split_file->path, folder.path() / "split.json");
    EXPECT_EQ(order->plan.split_file->hash, "sha256:cd");
    EXPECT_EQ(order->plan.split_file->content_hash, "sha256:ab");
    EXPECT_EQ(order->plan.worker_threads, std::min(2, granted_cpus()));
}

TEST(ReadAttempt, the_order_of_a_prediction_names_checkpoint_and_samples) {
    const TempFolder folder;
    Json order = order_json(folder.path());
    order["kind"] = "predict";
    order["checkpoints"] = {"/store/checkpoints/job_1/step_2"};
    order["payload"] = {{"from", {{"checkpoint", "ckp_00000000000000000000000000"}}},
                        {"data", {{"dataset", "digits"}, {"part", "t10k"}}},
                        {"batch_size_per_core", 7}};
    folder.write("attempt.json", order.dump());
    const auto read = read_attempt(folder.path());
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(read->plan.kind, JobKind::predict);
    ASSERT_TRUE(read->plan.inference);
    EXPECT_EQ(read->plan.inference->checkpoint(), "/store/checkpoints/job_1/step_2");
    EXPECT_EQ(read->plan.inference->data.part, "t10k");
    EXPECT_EQ(read->plan.inference->batch_size_per_core, 7);
    const auto expect_refused = [&](const Json& changes, const std::string& word) {
        Json other = order;
        other.update(changes);
        folder.write("attempt.json", other.dump());
        const auto wrong = read_attempt(folder.path());
        ASSERT_FALSE(wrong) << changes;
        EXPECT_NE(std::string(wrong.error().what()).find(word), std::string::npos)
            << wrong.error().what();
    };
    expect_refused({{"payload", {{"batch_size_per_core", 0}}}}, "batch_size_per_core");
    expect_refused({{"payload", nullptr}}, "payload");
    expect_refused({{"checkpoints", Json::array()}}, "the kind predict needs one");
    expect_refused({{"kind", "train"}}, "payload must be null for the kind train");
    expect_refused({{"kind", "rank"}}, "kind must be one of train, predict, evaluate");
}

TEST(ReadAttempt, the_order_of_an_evaluation_names_checkpoint_and_samples) {
    const TempFolder folder;
    Json order = order_json(folder.path());
    order["kind"] = "evaluate";
    order["checkpoints"] = {"/store/checkpoints/job_1/step_2"};
    order["payload"] = {{"from", {{"checkpoint", "ckp_00000000000000000000000000"}}},
                        {"data", {{"dataset", "digits"}, {"split", "val"}}}};
    folder.write("attempt.json", order.dump());
    const auto read = read_attempt(folder.path());
    ASSERT_TRUE(read) << read.error().what();
    EXPECT_EQ(read->plan.kind, JobKind::evaluate);
    ASSERT_TRUE(read->plan.inference);
    EXPECT_EQ(read->plan.inference->checkpoint(), "/store/checkpoints/job_1/step_2");
    EXPECT_EQ(read->plan.inference->data.split, PredictedSplit::val);
    EXPECT_TRUE(read->plan.inference->needs_labels);
    order["payload"]["batch_size_per_core"] = 7;
    folder.write("attempt.json", order.dump());
    EXPECT_FALSE(read_attempt(folder.path())) << "it has that of the training";
    order["payload"].erase("batch_size_per_core");
    order["checkpoints"] = Json::array();
    folder.write("attempt.json", order.dump());
    EXPECT_FALSE(read_attempt(folder.path()));
}

TEST(ReadAttempt, an_order_with_something_missing_or_wrong_names_it) {
    for (const char* name :
         {"version", "job_id", "fence", "spec", "dataset", "resume_from", "grace_s"}) {
        const TempFolder folder;
        Json order = order_json(folder.path());
        order.erase(name);
        folder.write("attempt.json", order.dump());
        const auto read = read_attempt(folder.path());
        ASSERT_FALSE(read) << name;
        EXPECT_NE(std::string(read.error().what()).find(name), std::string::npos)
            << read.error().what();
    }
    const TempFolder folder;
    EXPECT_FALSE(read_attempt(folder.path()));
    folder.write("attempt.json", "{");
    EXPECT_FALSE(read_attempt(folder.path()));
}

TEST(RunAttempt, a_run_that_ends_says_so_last_and_inputs_its_process_record) {
    const TempFolder folder;
    folder.write("attempt.json", order_json(folder.path()).dump());
    const int code = run_attempt(
        folder.path(),
        [](const AttemptPlan& plan, Reporter& reporter) {
            reporter.state(JobState::running);
            reporter.log("info", plan.spec.data.dataset);
            return TrainOutcome{};
        },
        system_clock());
    EXPECT_EQ(code, 0);
    const auto frames = frames_in(folder.path());
    ASSERT_EQ(frames.size(), 3U);
    EXPECT_EQ(frames[2].at("type"), "done");
    EXPECT_EQ(frames[2].at("outcome"), "succeeded");
}

// Goal: a spec that the service took and this build does not know is not the job's fault.
TEST(RunAttempt, an_order_of_another_build_is_no_spec_error) {
    const auto refused = [](const std::function<void(Json&)>& change) {
        const TempFolder folder;
        Json order = order_json(folder.path());
        change(order);
        folder.write("attempt.json", order.dump());
        EXPECT_EQ(run_attempt(folder.path(), train_for_ever, system_clock()), 1);
        const auto frames = frames_in(folder.path());
        EXPECT_EQ(frames.size(), 1U);
        EXPECT_EQ(frames.at(0).at("outcome"), "failed");
        EXPECT_EQ(frames.at(0).at("code"), "wrong_build");
        return frames.at(0).at("message").get<std::string>();
    };
    const auto names = [](const std::string& message, const char* field) {
        return message.find(field) != std::string::npos;
    };
    EXPECT_TRUE(names(refused([](Json& order) { order["spec"]["train"]["of_tomorrow"] = 1; }),
                      "of_tomorrow"));
    EXPECT_TRUE(
        names(refused([](Json& order) { order["spec"]["train"]["epochs"] = "many"; }), "epochs"));
    EXPECT_TRUE(names(refused([](Json& order) { order["version"] = 999; }), "999"));
}

// Goal: what the service has written is not the user's fault.
TEST(RunAttempt, an_order_that_is_damaged_or_too_large_fails_with_its_reason_on_file) {
    for (const std::string& text : {std::string("{"), std::string((4 << 20) + 1, ' ')}) {
        const TempFolder folder;
        folder.write("attempt.json", text);
        EXPECT_EQ(run_attempt(folder.path(), train_for_ever, system_clock()), 1);
        const auto frames = frames_in(folder.path());
        ASSERT_EQ(frames.size(), 1U);
        EXPECT_EQ(frames[0].at("outcome"), "failed");
        EXPECT_EQ(frames[0].at("code"), "internal");
        EXPECT_NE(std::string(frames[0].at("message")).find("attempt.json"), std::string::npos);
    }
}

TEST(RunAttempt, without_an_agent_it_saves_and_leaves) {
    const TempFolder folder;
    folder.write("attempt.json", order_json(folder.path(), 0.05).dump());
    EXPECT_EQ(run_attempt(folder.path(), train_for_ever, system_clock()), 75);
    EXPECT_EQ(frames_in(folder.path()).back().at("outcome"), "orphaned");
}

TEST(RunAttempt, an_agent_s_request_ends_it) {
    for (const auto& [reason, outcome] :
         std::vector<std::pair<std::string, std::string>>{{"cancel", "cancelled"},
                                                          {"timeout", "timed_out"},
                                                          {"pause", "orphaned"},
                                                          {"preempt", "orphaned"}}) {
        const TempFolder folder;
        folder.write("attempt.json", order_json(folder.path()).dump());
        std::thread agent([&folder, &reason] {
            std::optional<UniqueFd> socket;
            eventually([&] {
                socket = connect_unix(folder.path(), "executor.sock");
                return socket.has_value();
            });
            const std::string words =
                "{\"type\":\"hello\",\"fence\":\"f00d\",\"after\":0}\n{\"type\":\"stop\","
                "\"reason\":\"" +
                reason + "\"}\n";
            send(socket->get(), words.data(), words.size(), MSG_NOSIGNAL);
            std::string heard(4096, '\0');
            eventually(
                [&] { return recv(socket->get(), heard.data(), heard.size(), MSG_DONTWAIT) == 0; });
        });
        run_attempt(folder.path(), train_for_ever, system_clock());
        agent.join();
        EXPECT_EQ(frames_in(folder.path()).back().at("outcome"), outcome);
    }
}

}    // namespace
}    // namespace slipway
