#include "api/protocol/attempt_order.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/base/error.h"

namespace slipway {
namespace {

AttemptOrder full_order() {
    return {.job_id = "job_1",
            .attempt = 2,
            .fence = "f00d",
            .kind = JobKind::predict,
            .spec = Json{{"name", "x"}},
            .payload = Json{{"batch_size_per_core", 7}},
            .dataset = {.id = "ds_1",
                        .name = "digits",
                        .format = "idx",
                        .path = "/data/digits",
                        .options = Json{{"channels", 1}},
                        .content_hash = "sha256:ab"},
            .checkpoint_folder = "/store/checkpoints/job_1",
            .resume_from = "/store/checkpoints/job_1/step_1",
            .init_from = "/store/uploads/upl_1",
            .network_from = "/store/uploads/upl_2",
            .checkpoints = {"/store/checkpoints/job_0/step_1", "/store/checkpoints/job_2/step_1"},
            .split = StoredSplitOrder{"/store/splits/spl_1.json", "sha256:cd"},
            .member = MemberOrder{.rank = 1,
                                  .hosts = {"one", "two"},
                                  .rendezvous_folder = "/runs/job_1/2/rendezvous",
                                  .secret = "5ec2e7",
                                  .bind_address = "10.0.0.2",
                                  .timeout_s = 30},
            .worker_threads = 2,
            .grace_s = 1.5,
            .memory_bytes = 123,
            .report_folder = "/store/reports/job_1",
            .cache_folder = "/store/compile_cache/7",
            .packed_folder = "/store/packed/7",
            .decoded_folder = "/store/decoded/7/ds_1",
            .decoded_bytes_max = 34359738368,
            .traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"};
}

std::string problem_of(const Json& json) {
    try {
        read_attempt_order(json);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        return error.what();
    }
    return "";
}

TEST(AttemptOrder, what_is_written_is_read) {
    const Json json = to_json(full_order());
    EXPECT_EQ(to_json(read_attempt_order(json)), json);
    AttemptOrder least{.job_id = "job_1",
                       .fence = "f00d",
                       .spec = Json::object(),
                       .dataset = {},
                       .checkpoint_folder = "/c"};
    const Json small = to_json(least);
    EXPECT_EQ(to_json(read_attempt_order(small)), small);
    for (const char* name :
         {"payload", "resume_from", "init_from", "network_from", "split", "member"})
        EXPECT_TRUE(small.at(name).is_null()) << name;
}

TEST(AttemptOrder, every_member_is_required_and_of_its_type) {
    const Json json = to_json(full_order());
    for (const auto& [name, value] : json.items()) {
        Json without = json;
        without.erase(name);
        EXPECT_EQ(problem_of(without), "\"" + name + "\" is missing");
        if (name == "spec") continue;    // decoded by whoever knows specs
        Json odd = json;
        odd[name] = Json::array({Json::array()});
        EXPECT_NE(problem_of(odd), "") << name;
    }
    for (const char* part : {"dataset", "member"}) {
        for (const auto& [name, value] : json.at(part).items()) {
            Json without = json;
            without[part].erase(name);
            EXPECT_EQ(problem_of(without), "\"" + name + "\" is missing");
        }
    }
}

TEST(AttemptOrder, a_kind_that_is_none_and_a_payload_that_is_no_object_are_named) {
    Json json = to_json(full_order());
    json["payload"] = "all";
    EXPECT_EQ(problem_of(json), "payload must be null or an object, got string");
    json["kind"] = "export";
    EXPECT_EQ(problem_of(json), "kind must be one of train, predict, evaluate, got \"export\"");
}

TEST(AttemptOrder, a_member_is_one_of_several) {
    Json json = to_json(full_order());
    json["member"]["rank"] = 2;
    EXPECT_EQ(problem_of(json), "member.rank must be within 0..1, got 2");
    json["member"]["rank"] = -1;
    EXPECT_EQ(problem_of(json), "member.rank must be within 0..1, got -1");
    json["member"]["hosts"] = {"one"};
    EXPECT_EQ(problem_of(json), "member.hosts must name at least 2 hosts, got 1");
}

TEST(AttemptOrder, another_version_is_refused_by_name) {
    Json json = to_json(full_order());
    json["version"] = protocol_version + 1;
    const std::string problem = problem_of(json);
    EXPECT_NE(problem.find("version " + std::to_string(protocol_version + 1)), std::string::npos);
    EXPECT_NE(problem.find("install the service and the executor of one build"), std::string::npos);
}

}    // namespace
}    // namespace slipway
