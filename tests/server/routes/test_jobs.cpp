#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include <algorithm>
#include <set>

#include "api/base/id.h"
#include "api/spec/documents.h"
#include "api/spec/endpoints.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/hosts.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct Jobs : testing::Test {
    TestService service;
    Jobs() { service.ready_dataset("points"); }

    std::int64_t count() {
        return std::int64_t(service.expect(200, "GET", "/v1/jobs")["items"].size());
    }

    // The problem at this pointer of a spec that must be refused; nothing may be stored.
    Json refused(const Json& changes, const std::string& pointer) {
        Json body = TestService::spec();
        body.merge_patch(changes);
        const Json problem = service.expect(422, "POST", "/v1/jobs", body);
        EXPECT_EQ(count(), 0);
        for (const Json& one : problem.value("errors", Json::array()))
            if (one.value("pointer", "") == pointer) return one;
        ADD_FAILURE() << pointer << " is not in " << problem.dump(2);
        return Json::object();
    }
};

TEST_F(Jobs, a_new_job_is_queued_and_described) {
    const client::ClientResponse response = service.call("POST", "/v1/jobs", TestService::spec());
    ASSERT_EQ(response.status, 201) << response.body;
    const Json job = Json::parse(response.body);
    EXPECT_EQ(response.header("Location"), "/v1/jobs/" + job["id"].get<std::string>());
    EXPECT_EQ(response.header("ETag"), "\"v1\"");
    EXPECT_EQ(job["state"], "queued");
    EXPECT_EQ(job["effective"]["global_batch"], 16);
    EXPECT_TRUE(check_document("Job", job).empty());
    const Json again = service.expect(200, "GET", "/v1/jobs/" + job.value("id", ""));
    EXPECT_TRUE(check_document("Job", again).empty());
    EXPECT_EQ(again["queue"]["position"], 1);
    EXPECT_EQ(again["spec"]["train"]["optimizer"]["betas"], Json::array({0.9, 0.999}));
}

TEST_F(Jobs, the_trace_of_a_request_is_kept_with_its_job) {
    const std::string caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const auto response =
        service.call("POST", "/v1/jobs", TestService::spec(), {{"traceparent", caller}});
    ASSERT_EQ(response.status, 201) << response.body;
    const Json job = Json::parse(response.body);
    const std::string kept = job.at("traceparent");
    EXPECT_EQ(kept, response.header("traceparent"));
    EXPECT_EQ(kept.substr(0, 36), caller.substr(0, 36));
    EXPECT_NE(kept, caller);
    service.run(job.at("id"));
    EXPECT_EQ(store::list_live_attempts(service.store, "here").at(0).traceparent, kept);
    const std::string without = service.submit();
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs/" + without)["traceparent"], nullptr);
}

TEST_F(Jobs, lists_are_ordered_by_a_metric_and_narrowed_to_a_time) {
    for (const double loss : {2.0, 1.0, 3.0}) {
        const std::string id = service.submit({{"name", fmt::format("loss {}", loss)}});
        const store::AttemptKey key = service.run(id);
        store::RelayedFrame frame{.number = 3};
        frame.metrics = {{"val_loss", 1, 1, loss}, {"val_accuracy", 1, 1, 1 / loss}};
        service.relay(key, {frame});
        service.finish(key);
    }
    const auto listed = [&](const std::string& query) {
        const Json list = service.expect(200, "GET", "/v1/jobs?" + query);
        EXPECT_TRUE(check_document("JobList", list).empty());
        std::string values;
        for (const Json& job : list["items"])
            values += fmt::format("{:.1f} ", job.value("order_value", -1.0));
        return values;
    };
    EXPECT_EQ(listed("order_by=best&metric=val_loss"), "1.0 2.0 3.0 ");
    EXPECT_EQ(listed("order_by=-best&metric=val_loss"), "3.0 2.0 1.0 ");
    EXPECT_EQ(listed("order_by=best&metric=val_loss&mode=max"), "3.0 2.0 1.0 ");
    EXPECT_EQ(listed("order_by=best&metric=val_accuracy"), "1.0 0.5 0.3 ");
    EXPECT_EQ(listed("order_by=last&metric=val_loss&state=succeeded"), "1.0 2.0 3.0 ");
    EXPECT_EQ(listed("order_by=last&metric=nothing"), "");
    EXPECT_EQ(listed("created_after=2020-01-01T00:00:00Z&limit=1"), "-1.0 ");
    EXPECT_EQ(listed("created_before=2020-01-01T00:00:00Z"), "");
    EXPECT_EQ(listed("finished_after=2020-01-01T00:00:00Z&limit=1"), "-1.0 ");
    for (const auto& [query, pointer] : std::vector<std::pair<std::string, std::string>>{
             {"order_by=best", "?metric"},
             {"metric=val_loss", "?metric"},
             {"order_by=last&metric=val_loss&mode=max", "?mode"},
             {"created_after=2020", "?created_after"},
             {"created_after=2021-01-01T00:00:00Z&created_before=2020-01-01T00:00:00Z",
              "?created_before"}}) {
        const Json problem = service.expect(422, "GET", "/v1/jobs?" + query);
        EXPECT_EQ(problem["errors"][0]["pointer"], pointer) << query;
    }
}

TEST_F(Jobs, what_is_wrong_is_named_with_the_way_out) {
    EXPECT_EQ(refused({{"accelerator", {{"cores", 3}}}}, "/accelerator/cores")["allowed"].size(),
              2U);
    refused({{"accelerator", {{"cores", nullptr}, {"core_ids", {9}}}}}, "/accelerator/core_ids/0");
    const Json misspelt =
        refused({{"train", {{"optimiser", {{"name", "sgd"}}}}}}, "/train/optimiser");
    EXPECT_NE(misspelt.value("message", "").find("optimizer"), std::string::npos);
    const Json missing = refused({{"data", {{"dataset", "pionts"}}}}, "/data/dataset");
    EXPECT_EQ(missing["allowed"], Json::array({"points"}));
    refused({{"model", {{"arch", "unet"}}}}, "/model/arch");
    refused({{"labels", {{"k", std::string(5000, 'x')}}}}, "/labels/k");
}

TEST_F(Jobs, weights_to_begin_with_must_be_there) {
    const auto refused_from = [&](const char* from) {
        return refused({{"model", {{"init", {{"from", from}}}}}}, "/model/init/from")
            .value("message", "");
    };
    EXPECT_NE(refused_from("weights.safetensors").find("ckp_"), std::string::npos);
    EXPECT_NE(refused_from("../../etc/passwd").find("upl_"), std::string::npos);
    const std::string checkpoint = new_id("ckp"), upload = new_id("upl");
    EXPECT_NE(refused_from(checkpoint.c_str()).find("no checkpoint"), std::string::npos);
    EXPECT_NE(refused_from(upload.c_str()).find("no upload"), std::string::npos);
    const Json made = service.expect(201, "POST", "/v1/uploads", {{"size", 10}});
    EXPECT_NE(refused_from(made.value("id", "").c_str()).find("not complete"), std::string::npos);
}

TEST_F(Jobs, a_version_of_the_data_is_found_or_refused_with_both_names) {
    const std::string hash = "sha256:0123456789" + std::string(54, 'a');
    const auto create = [&](const std::string& name) {
        service.expect(201, "POST", "/v1/datasets",
                       {{"name", name}, {"format", "csv"}, {"source", {{"path", "points"}}}});
    };
    create("pinned");
    const auto check = store::claim_dataset_check(service.store, "here", std::chrono::seconds{60});
    ASSERT_TRUE(check.has_value());
    store::finish_dataset_check(service.store, check->dataset.id, check->fence,
                                {.ready = true,
                                 .report = R"({"samples":600})",
                                 .problems = {},
                                 .content_hash = hash,
                                 .bytes = 12});
    const auto data = [](const char* dataset, const std::string& version) {
        return Json{{"data", {{"dataset", dataset}, {"version", version}}}};
    };
    const std::string other =
        refused(data("pinned", "sha256:0123456780"), "/data/version").value("message", "");
    EXPECT_NE(other.find(hash), std::string::npos) << other;
    EXPECT_NE(other.find("sha256:0123456780"), std::string::npos) << other;
    EXPECT_EQ(refused(data("pinned", "0123456"), "/data/version")["code"], "bad_format");
    create("soon");
    EXPECT_NE(refused(data("soon", hash), "/data/version").value("message", "").find("wait"),
              std::string::npos);
    for (const std::string& version : {hash, hash.substr(7), std::string("01234567")}) {
        const std::string job = service.submit(data("pinned", version));
        const Json stored = service.expect(200, "GET", "/v1/jobs/" + job)["spec"];
        EXPECT_EQ(stored["data"]["version"], hash) << version;
    }
    const std::string without = service.submit();
    const Json stored = service.expect(200, "GET", "/v1/jobs/" + without)["spec"];
    EXPECT_FALSE(stored["data"].contains("version"));
}

TEST_F(Jobs, data_that_nothing_can_be_learnt_from_is_refused_with_the_likely_cause) {
    const auto create = [&](const std::string& name, const char* format, const Json& report) {
        service.expect(201, "POST", "/v1/datasets",
                       {{"name", name}, {"format", format}, {"source", {{"path", "points"}}}});
        const auto check =
            store::claim_dataset_check(service.store, "here", std::chrono::seconds{60});
        ASSERT_TRUE(check.has_value());
        store::finish_dataset_check(
            service.store, check->dataset.id, check->fence,
            {.ready = true, .report = report.dump(), .problems = {}, .content_hash = "sha256:ab"});
    };
    const auto on = [](const char* dataset) { return Json{{"data", {{"dataset", dataset}}}}; };
    const Json one = Json::array({{{"name", "photos"}, {"count", 9}}});
    const Json two = Json::array({{{"name", "a"}, {"count", 9}}, {{"name", "b"}, {"count", 9}}});
    create("one_folder", "image_folder", {{"samples", 9}, {"classes", one}});
    const std::string why = refused(on("one_folder"), "/data/dataset").value("message", "");
    EXPECT_NE(why.find("\"photos\""), std::string::npos) << why;
    EXPECT_NE(why.find("one level of folders"), std::string::npos) << why;
    create("wrong_column", "csv", {{"samples", 9}, {"classes", one}});
    EXPECT_NE(
        refused(on("wrong_column"), "/data/dataset").value("message", "").find("label_column"),
        std::string::npos);

    const Json sizes{{"min", {48, 64}}, {"max", {480, 640}}};
    create("photos", "image_folder",
           {{"samples", 18}, {"classes", two}, {"image_sizes", sizes}, {"feature_shape", nullptr}});
    EXPECT_NE(
        refused(on("photos"), "/data/dataset").value("message", "").find("64 x 48 to 640 x 480"),
        std::string::npos);
    Json other = on("wrong_column");
    other["data"]["columns"] = {{"label", "kind"}};
    service.submit(other);
    Json sized = on("photos");
    sized["data"]["image_size"] = 32;
    service.submit(sized);
    Json resized = on("photos");
    resized["data"]["augment"] = Json::array({{{"name", "resize"}, {"size", {32, 32}}}});
    service.submit(resized);
}

TEST_F(Jobs, all_problems_come_at_once) {
    Json body = TestService::spec();
    body["accelerator"] = {{"cores", 3}};
    body["data"]["dataset"] = "nothing";
    body["unknown"] = 1;
    const Json problem = service.expect(422, "POST", "/v1/jobs", body);
    EXPECT_EQ(problem["code"], "invalid_spec");
    EXPECT_EQ(problem["errors"].size(), 3U) << problem.dump(2);
    EXPECT_TRUE(check_document("Problem", problem).empty());
}

TEST_F(Jobs, a_dataset_that_failed_is_refused_with_its_problem) {
    service.expect(201, "POST", "/v1/datasets",
                   {{"name", "bad"}, {"format", "csv"}, {"source", {{"path", "points"}}}});
    const auto check = store::claim_dataset_check(service.store, "here", std::chrono::seconds{60});
    ASSERT_TRUE(check.has_value());
    store::finish_dataset_check(
        service.store, check->dataset.id, check->fence,
        {.ready = false,
         .report = {},
         .problems = R"([{"file":"points.csv","row":18,"field":"a","message":"abc is no number"}])",
         .content_hash = {},
         .bytes = 0});
    const Json problem = refused({{"data", {{"dataset", "bad"}}}}, "/data/dataset");
    for (const char* part : {"points.csv", "18", "abc"})
        EXPECT_NE(problem.value("message", "").find(part), std::string::npos) << problem;
}

TEST_F(Jobs, a_dataset_that_is_being_checked_is_waited_for) {
    service.expect(201, "POST", "/v1/datasets",
                   {{"name", "soon"}, {"format", "csv"}, {"source", {{"path", "points"}}}});
    service.submit({{"data", {{"dataset", "soon"}}}});
}

TEST_F(Jobs, bodies_that_are_no_json_are_told_apart_from_bad_ones) {
    client::ClientRequest request{.method = "POST", .target = "/v1/jobs", .body = "{\"a\":"};
    EXPECT_EQ(service.send(request, service.admin).status, 400);
    request.body = "";
    EXPECT_EQ(service.send(request, service.admin).status, 400);
    request.body = "[]";
    EXPECT_EQ(service.send(request, service.admin).status, 422);
    request.body = std::string((1 << 20) + 1, ' ');
    EXPECT_EQ(service.send(request, service.admin).status, 413);
    request.body = "{}";
    request.media_type = "text/plain";
    EXPECT_EQ(service.send(request, service.admin).status, 415);
    EXPECT_EQ(count(), 0);
}

TEST_F(Jobs, a_dry_run_shows_what_would_be_and_stores_nothing) {
    Json body = TestService::spec();
    body["accelerator"] = {{"cores", 8}};
    body["train"]["optimizer"]["lr_scaling"] = "linear";
    body["train"]["grad_accumulation"] = 3;
    body["train"]["precision"] = "bf16";
    const Json preview = service.expect(200, "POST", "/v1/jobs?dry_run=true", body);
    EXPECT_TRUE(check_document("JobPreview", preview).empty());
    EXPECT_EQ(preview["effective"]["world_size"], 8);
    EXPECT_EQ(preview["effective"]["global_batch"], 128 * 3);
    EXPECT_EQ(preview["effective"]["precision"], "bf16");
    EXPECT_NEAR(preview["effective"]["lr"].get<double>(), 0.08, 1e-12);
    EXPECT_EQ(preview["schedule"]["steps_total"], 4);    // 480 samples, 384 in a step
    EXPECT_EQ(preview["schedule"]["points"][3]["lr"], preview["effective"]["lr"]);
    EXPECT_EQ(count(), 0);
    body["accelerator"] = {{"cores", 3}};
    service.expect(422, "POST", "/v1/jobs?dry_run=true", body);
    body["accelerator"] = {{"cores", 8}};
    body["train"]["precision"] = "f16";
    const Json refusal = service.expect(422, "POST", "/v1/jobs?dry_run=true", body);
    EXPECT_EQ(refusal["errors"][0]["pointer"], "/train/precision");
    EXPECT_EQ(refusal["errors"][0]["allowed"], Json::array({"f32", "bf16", "bf16_true"}));
}

TEST_F(Jobs, a_job_without_a_name_gets_one) {
    Json body = TestService::spec();
    body.erase("name");
    const Json job = service.expect(201, "POST", "/v1/jobs", body);
    EXPECT_TRUE(job.value("name", "").starts_with("mlp-"));
    EXPECT_EQ(job["spec"]["name"], job["name"]);
}

// Goal: pages of any size give every job once, in order. Method: walk with limits 1 to 4.
TEST_F(Jobs, pages_give_every_job_once) {
    std::vector<std::string> ids;
    for (int i = 0; i < 5; ++i)
        ids.insert(ids.begin(), service.submit());
    for (int limit = 1; limit <= 4; ++limit) {
        std::vector<std::string> seen;
        std::string cursor;
        do {
            const Json page = service.expect(
                200, "GET",
                "/v1/jobs?limit=" + std::to_string(limit) +
                    (cursor.empty() ? "" : "&cursor=" + client::percent_encode(cursor)));
            EXPECT_TRUE(check_document("JobList", page).empty());
            for (const Json& job : page["items"])
                seen.push_back(job.value("id", ""));
            cursor = page["next_cursor"].is_null() ? "" : page.value("next_cursor", "");
        } while (!cursor.empty());
        EXPECT_EQ(seen, ids);
    }
}

TEST_F(Jobs, a_cursor_belongs_to_its_query) {
    for (int i = 0; i < 3; ++i)
        service.submit();
    const Json page = service.expect(200, "GET", "/v1/jobs?limit=1");
    const std::string cursor = client::percent_encode(page.value("next_cursor", ""));
    service.expect(200, "GET", "/v1/jobs?limit=2&cursor=" + cursor);
    for (const std::string& other :
         {"/v1/jobs?state=running&cursor=" + cursor, "/v1/jobs?order_by=name&cursor=" + cursor,
          std::string("/v1/jobs?cursor=nonsense")}) {
        const Json problem = service.expect(400, "GET", other);
        EXPECT_EQ(problem["code"], "cursor_mismatch") << other;
    }
}

TEST_F(Jobs, lists_are_narrowed) {
    service.submit({{"name", "alpha"}, {"labels", {{"team", "ct"}, {"stage", "1"}}}});
    const std::string beta =
        service.submit({{"name", "beta"}, {"labels", {{"team", "ct"}, {"stage", "2"}}}});
    const auto names = [&](const std::string& query) {
        std::set<std::string> found;
        const Json list = service.expect(200, "GET", "/v1/jobs" + query);
        for (const Json& job : list["items"])
            found.insert(job.value("name", ""));
        return found;
    };
    EXPECT_EQ(names(""), (std::set<std::string>{"alpha", "beta"}));
    EXPECT_EQ(names("?label=team:ct"), (std::set<std::string>{"alpha", "beta"}));
    EXPECT_EQ(names("?label=team:ct,stage:2"), std::set<std::string>{"beta"});
    EXPECT_EQ(names("?name=ALP"), std::set<std::string>{"alpha"});
    EXPECT_EQ(names("?name=%25"), std::set<std::string>{});
    EXPECT_EQ(names("?state=running"), std::set<std::string>{});
    service.run(beta);
    EXPECT_EQ(names("?state=running,paused"), std::set<std::string>{"beta"});
    EXPECT_EQ(names("?project=other"), std::set<std::string>{});
    service.expect(422, "GET", "/v1/jobs?state=asleep");
    service.expect(422, "GET", "/v1/jobs?limit=0&limitt=3");
}

TEST_F(Jobs, ids_of_other_forms_never_reach_the_database) {
    for (const std::string& id :
         {std::string("x"), std::string("job_"), std::string("ds_06c4n2k5t8r1v3w7x9y2z4a6b8"),
          std::string("job_'; drop table job; --"), std::string(300, 'j')})
        EXPECT_EQ(service.call("GET", "/v1/jobs/" + client::percent_encode(id)).status, 404) << id;
    service.expect(404, "GET", "/v1/jobs/job_00000000000000000000000000");
}

TEST_F(Jobs, cancel_ends_a_queued_job_and_repeating_it_is_fine) {
    const std::string id = service.submit();
    for (int i = 0; i < 3; ++i) {
        const Json job = service.expect(200, "POST", "/v1/jobs/" + id + "/cancel");
        EXPECT_EQ(job["state"], "cancelled");
        EXPECT_TRUE(check_document("Job", job).empty());
    }
    service.expect(200, "POST", "/v1/jobs/" + id + "/kill");
    service.expect(404, "POST", "/v1/jobs/job_00000000000000000000000000/cancel");
}

TEST_F(Jobs, cancel_asks_a_running_job_to_end) {
    const std::string id = service.submit();
    const auto key = service.run(id);
    EXPECT_EQ(service.expect(200, "POST", "/v1/jobs/" + id + "/cancel")["state"], "cancelling");
    EXPECT_EQ(service.expect(200, "POST", "/v1/jobs/" + id + "/cancel")["state"], "cancelling");
    const Json killed = service.expect(200, "POST", "/v1/jobs/" + id + "/kill");
    EXPECT_EQ(killed["state"], "cancelling");
    EXPECT_EQ(killed["reason"]["code"], "killed") << "who saves is killed by a second request";
    service.finish(key, JobState::cancelled);
    EXPECT_EQ(service.expect(200, "POST", "/v1/jobs/" + id + "/cancel")["state"], "cancelled");
}

TEST_F(Jobs, what_is_over_cannot_be_cancelled) {
    const std::string id = service.submit();
    service.finish(service.run(id));
    const Json problem = service.expect(409, "POST", "/v1/jobs/" + id + "/cancel");
    EXPECT_EQ(problem["code"], "illegal_transition");
    EXPECT_NE(problem.value("detail", "").find("succeeded"), std::string::npos);
}

TEST_F(Jobs, a_patch_changes_what_may_change) {
    const std::string id = service.submit();
    const std::string path = "/v1/jobs/" + id;
    const Json job =
        service.expect(200, "PATCH", path,
                       {{"name", "new"}, {"labels", {{"a", "b"}}}, {"queue", {{"class", "high"}}}});
    EXPECT_EQ(job["name"], "new");
    EXPECT_EQ(job["labels"], (Json{{"a", "b"}}));
    service.expect(422, "PATCH", path, {{"model", {{"arch", "lenet"}}}});
    service.run(id);
    service.expect(409, "PATCH", path, {{"queue", {{"class", "low"}}}});
}

TEST_F(Jobs, if_match_protects_from_lost_updates) {
    const std::string path = "/v1/jobs/" + service.submit();
    const auto first = service.call("GET", path);
    const std::string etag(first.header("ETag"));
    service.expect(200, "PATCH", path, {{"name", "one"}}, {{"If-Match", etag}});
    const Json problem =
        service.expect(412, "PATCH", path, {{"name", "two"}}, {{"If-Match", etag}});
    EXPECT_EQ(problem["code"], "precondition_failed");
    EXPECT_EQ(service.expect(200, "GET", path)["name"], "one");
    const auto second = service.call("GET", path);
    EXPECT_EQ(
        service.call("GET", path, nullptr, {{"If-None-Match", std::string(second.header("ETag"))}})
            .status,
        304);
}

TEST_F(Jobs, only_a_finished_job_can_be_deleted) {
    const std::string id = service.submit();
    service.expect(409, "DELETE", "/v1/jobs/" + id);
    service.expect(200, "POST", "/v1/jobs/" + id + "/cancel");
    service.expect(204, "DELETE", "/v1/jobs/" + id);
    service.expect(404, "DELETE", "/v1/jobs/" + id);
    service.expect(404, "GET", "/v1/jobs/" + id);
}

TEST_F(Jobs, prefer_wait_answers_when_the_state_changes) {
    const std::string id = service.submit();
    const auto started = std::chrono::steady_clock::now();
    client::ClientResponse response;
    std::jthread waiter([&] {
        response = service.call("GET", "/v1/jobs/" + id, nullptr, {{"Prefer", "wait=20"}});
    });
    service.expect(200, "GET", "/v1/jobs/" + id);
    service.expect(200, "POST", "/v1/jobs/" + id + "/cancel");
    waiter.join();
    EXPECT_EQ(Json::parse(response.body)["state"], "cancelled");
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds{10});
    // It is over: nothing to wait for.
    EXPECT_EQ(service.call("GET", "/v1/jobs/" + id, nullptr, {{"Prefer", "wait=20"}}).status, 200);
}

TEST_F(Jobs, prefer_wait_ends_without_a_change) {
    const std::string id = service.submit();
    const Json job = service.expect(200, "GET", "/v1/jobs/" + id, nullptr, {{"Prefer", "wait=1"}});
    EXPECT_EQ(job["state"], "queued");
}

TEST_F(Jobs, more_memory_than_any_host_has_is_refused_with_what_is_possible) {
    const Json wanted{{"accelerator", {{"memory_bytes", 5 << 20}}}};
    store::register_host(service.store, {.name = "small", .job_memory_bytes = 2 << 20});
    store::register_host(service.store, {.name = "large", .job_memory_bytes = 4 << 20});
    const std::string message = refused(wanted, "/accelerator/memory_bytes").value("message", "");
    EXPECT_NE(message.find(std::to_string(4 << 20)), std::string::npos) << message;
    Json body = TestService::spec();
    body["accelerator"]["memory_bytes"] = 4 << 20;
    service.expect(201, "POST", "/v1/jobs", body);
    store::register_host(service.store, {.name = "without_limit"});
    body["accelerator"]["memory_bytes"] = 5 << 20;
    service.expect(201, "POST", "/v1/jobs", body);
}

}    // namespace
}    // namespace slipway
