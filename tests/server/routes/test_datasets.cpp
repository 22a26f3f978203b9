#include <gtest/gtest.h>

#include <thread>

#include "api/spec/documents.h"
#include "scheduler/store/datasets.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct Datasets : testing::Test {
    TestService service;
    const Json body{{"name", "points"},
                    {"format", "csv"},
                    {"source", {{"path", "points"}}},
                    {"options", {{"label_column", "label"}}}};

    std::size_t count() { return service.expect(200, "GET", "/v1/datasets")["items"].size(); }
};

// Goal: a list of datasets is small however large their reports are.
TEST_F(Datasets, a_list_has_summaries_and_the_dataset_itself_has_all) {
    const std::string ready = service.ready_dataset("wide");
    const std::string failed = service.ready_dataset("broken");
    service.database.sql(
        "update dataset set report = jsonb_build_object('samples', 3, 'classes', "
        "(select jsonb_agg(repeat('x', 1000)) from generate_series(1, 2000))) where id = '" +
        ready + "'");
    service.database.sql(
        "update dataset set state = 'failed', problems = (select jsonb_agg(jsonb_build_object("
        "'file', '', 'row', n, 'field', '', 'message', 'bad')) from generate_series(1, 5000) n) "
        "where id = '" +
        failed + "'");
    const auto list = service.call("GET", "/v1/datasets");
    EXPECT_TRUE(check_document("DatasetList", Json::parse(list.body)).empty());
    EXPECT_LT(list.body.size(), 4000U);
    const Json parsed = Json::parse(list.body);
    for (const Json& item : parsed["items"]) {
        if (item["id"] == ready) EXPECT_EQ(item["report"], (Json{{"samples", 3}}));
        if (item["id"] == failed) EXPECT_EQ(item["problems"].size(), 1U);
    }
    EXPECT_EQ(service.expect(200, "GET", "/v1/datasets/" + ready)["report"]["classes"].size(),
              2000U);
    EXPECT_EQ(service.expect(200, "GET", "/v1/datasets/" + failed)["problems"].size(), 5000U);
}

TEST_F(Datasets, a_folder_below_a_root_becomes_one_that_is_checked) {
    const auto response = service.call("POST", "/v1/datasets", body);
    ASSERT_EQ(response.status, 201) << response.body;
    const Json dataset = Json::parse(response.body);
    EXPECT_TRUE(check_document("Dataset", dataset).empty());
    EXPECT_EQ(dataset["state"], "checking");
    const std::string id = dataset.value("id", "");
    EXPECT_EQ(response.header("Location"), "/v1/datasets/" + id);
    EXPECT_EQ(service.expect(200, "GET", "/v1/datasets/" + id)["name"], "points");
    EXPECT_EQ(service.expect(200, "GET", "/v1/datasets/points")["id"], id);
    service.expect(404, "GET", "/v1/datasets/other");
    service.expect(404, "GET", "/v1/datasets/points?project=elsewhere");
    const Json list = service.expect(200, "GET", "/v1/datasets?state=checking&format=csv");
    EXPECT_TRUE(check_document("DatasetList", list).empty());
    EXPECT_EQ(list["items"].size(), 1U);
    EXPECT_EQ(service.expect(200, "GET", "/v1/datasets?state=ready")["items"].size(), 0U);
}

TEST_F(Datasets, what_is_wrong_is_refused_and_nothing_is_stored) {
    const auto refused = [&](const Json& changes, const std::string& pointer) {
        Json wrong = body;
        wrong.merge_patch(changes);
        const Json problem = service.expect(422, "POST", "/v1/datasets", wrong);
        EXPECT_EQ(problem["errors"][0]["pointer"], pointer) << problem;
    };
    for (const char* path : {"../points", "/etc", "points/../..", "nowhere", "."})
        refused({{"source", {{"path", path}}}}, "/source/path");
    refused({{"format", "parquet"}}, "/format");
    refused({{"format", "text"}, {"options", {{"image_size", 8}}}}, "/options/image_size");
    refused({{"name", "a b"}}, "/name");
    refused({{"colour", 1}}, "/colour");
    refused({{"options", {{"file_column", "x"}}}}, "/options/file_column");
    refused({{"source", {{"path", nullptr}, {"upload", "upl_00000000000000000000000000"}}}},
            "/source/upload");
    EXPECT_EQ(count(), 0U);
}

TEST_F(Datasets, a_name_is_given_once_in_a_project) {
    service.expect(201, "POST", "/v1/datasets", body);
    service.expect(409, "POST", "/v1/datasets", body);
    Json elsewhere = body;
    elsewhere["project"] = "other";
    service.expect(201, "POST", "/v1/datasets", elsewhere);
}

TEST_F(Datasets, a_dry_run_stores_nothing) {
    const Json preview = service.expect(200, "POST", "/v1/datasets?dry_run=true", body);
    EXPECT_EQ(preview["name"], "points");
    EXPECT_EQ(count(), 0U);
}

TEST_F(Datasets, prefer_wait_answers_when_the_check_has_ended) {
    service.expect(201, "POST", "/v1/datasets", body);
    Json answer;
    std::jthread waiter([&] {
        answer =
            service.expect(200, "GET", "/v1/datasets/points", nullptr, {{"Prefer", "wait=20"}});
    });
    service.ready_dataset("another");    // ends every waiting check
    waiter.join();
    EXPECT_EQ(answer["state"], "ready");
    EXPECT_EQ(answer["report"]["samples"], 600);
    EXPECT_TRUE(check_document("Dataset", answer).empty());
}

TEST_F(Datasets, one_that_a_job_needs_is_kept) {
    service.ready_dataset("points");
    const std::string job = service.submit();
    service.expect(409, "DELETE", "/v1/datasets/points");
    service.expect(200, "POST", "/v1/jobs/" + job + "/cancel");
    service.expect(204, "DELETE", "/v1/datasets/points");
    service.expect(404, "GET", "/v1/datasets/points");
    service.expect(404, "DELETE", "/v1/datasets/points");
}

}    // namespace
}    // namespace slipway
