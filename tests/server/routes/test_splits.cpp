#include <gtest/gtest.h>

#include "api/base/id.h"
#include "api/spec/documents.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/deleted_datasets.h"
#include "scheduler/store/splits.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

const std::string some_hash = "sha256:" + std::string(64, 'a');

struct Splits : testing::Test {
    TestService service;
    const std::string dataset = service.ready_dataset("points");
    const std::string target = "/v1/datasets/points/splits";
    const Json body{{"method", "group_kfold"}, {"folds", 5}, {"group_by", "family"}};

    std::string create() { return service.expect(201, "POST", target, body).value("id", ""); }

    /// As an agent would; its id.
    std::string ready_split() {
        const std::string id = create();
        const auto claim = store::claim_split(service.store, "here", std::chrono::seconds{60});
        EXPECT_TRUE(claim && claim->id == id && claim->dataset_id == dataset);
        EXPECT_EQ(claim->content_hash, "abc");
        EXPECT_TRUE(store::finish_split(service.store, id, claim->fence,
                                        {.ready = true,
                                         .report = R"({"samples": 600})",
                                         .folds = 5,
                                         .hash = some_hash,
                                         .bytes = 3}));
        service.folder.write("store/splits/" + id + ".json", "{}\n");
        return id;
    }

    void finish_check(const std::string& id, bool is_good) {
        const auto claim =
            store::claim_dataset_check(service.store, "here", std::chrono::seconds{60});
        ASSERT_TRUE(claim && claim->dataset.id == id);
        ASSERT_TRUE(store::finish_dataset_check(service.store, id, claim->fence,
                                                {.ready = is_good, .content_hash = "abc"}));
    }

    /// Its id. `is_good`: its check has ended so; none: it has not ended.
    std::string checking_dataset(const std::string& name, std::optional<bool> is_good) {
        const std::string id = new_id("ds");
        store::create_dataset(service.store, {.id = id,
                                              .name = name,
                                              .format = "csv",
                                              .source = R"({"path":"points"})",
                                              .options = "{}"});
        if (is_good) finish_check(id, *is_good);
        return id;
    }

    static Json on(const std::string& id, int fold) {
        return {{"data",
                 {{"split",
                   {{"id", id}, {"fold", fold}, {"val_fraction", nullptr}, {"seed", nullptr}}}}}};
    }
};

TEST_F(Splits, one_is_asked_for_listed_and_made_in_the_background) {
    const auto response = service.call("POST", target, body);
    ASSERT_EQ(response.status, 201) << response.body;
    const Json split = Json::parse(response.body);
    EXPECT_TRUE(check_document("Split", split).empty());
    EXPECT_EQ(split["state"], "making");
    EXPECT_EQ(split["request"]["seed"], 0);
    const std::string id = split.value("id", "");
    EXPECT_EQ(response.header("Location"), "/v1/datasets/" + dataset + "/splits/" + id);
    EXPECT_EQ(service.expect(200, "GET", target + "/" + id)["id"], id);
    service.expect(409, "GET", target + "/" + id + "/manifest");
    const Json list = service.expect(200, "GET", target);
    EXPECT_TRUE(check_document("SplitList", list).empty());
    EXPECT_EQ(list["items"].size(), 1U);
    service.ready_dataset("others");
    EXPECT_EQ(service.expect(200, "GET", "/v1/datasets/others/splits")["items"].size(), 0U);
    service.expect(404, "GET", "/v1/datasets/others/splits/" + id);
    service.expect(404, "GET", target + "/spl_00000000000000000000000000");
    service.expect(404, "GET", target + "/one");
}

TEST_F(Splits, one_that_is_made_has_a_report_and_a_manifest) {
    const std::string id = ready_split();
    const Json split = service.expect(200, "GET", target + "/" + id);
    EXPECT_TRUE(check_document("Split", split).empty());
    EXPECT_EQ(split["state"], "ready");
    EXPECT_EQ(split["report"]["samples"], 600);
    EXPECT_EQ(split["folds"], 5);
    EXPECT_EQ(split["hash"], some_hash);
    EXPECT_TRUE(service.expect(200, "GET", target)["items"][0]["report"].is_null());
    EXPECT_EQ(service.call("GET", target + "/" + id + "/manifest").body, "{}\n");
}

TEST_F(Splits, what_is_wrong_is_refused) {
    const auto refused = [&](const Json& wrong, const std::string& pointer) {
        const Json problem = service.expect(422, "POST", target, wrong);
        EXPECT_EQ(problem["errors"][0]["pointer"], pointer) << problem;
    };
    refused(Json::object(), "/method");
    refused({{"method", "magic"}}, "/method");
    refused({{"method", "kfold"}, {"folds", 1}}, "/folds");
    service.expect(404, "POST", "/v1/datasets/none/splits", body);
    checking_dataset("fresh", false);
    service.expect(409, "POST", "/v1/datasets/fresh/splits", body);
    EXPECT_EQ(service.call_as(service.token(Role::viewer), "POST", target, body).status, 403);
    EXPECT_EQ(service.expect(200, "GET", target)["items"].size(), 0U);
}

TEST_F(Splits, one_of_a_dataset_that_is_being_checked_waits_for_the_check) {
    using namespace std::chrono_literals;
    for (const bool is_good : {true, false}) {
        const std::string name = is_good ? "good" : "bad";
        const std::string id = checking_dataset(name, std::nullopt);
        const Json split = service.expect(201, "POST", "/v1/datasets/" + name + "/splits", body);
        EXPECT_EQ(split["state"], "making");
        EXPECT_FALSE(store::claim_split(service.store, "here", 60s));
        finish_check(id, is_good);
        const auto claim = store::claim_split(service.store, "here", 60s);
        ASSERT_TRUE(claim);
        EXPECT_EQ(split["id"], claim->id);
        EXPECT_EQ(claim->dataset_failed, !is_good);
    }
}

TEST_F(Splits, a_job_names_a_fold_of_one_that_is_ready_and_of_its_dataset) {
    const std::string id = ready_split();
    service.submit(on(id, 4));
    const auto refused = [&](const Json& changes, const std::string& pointer) {
        Json spec = TestService::spec();
        spec.merge_patch(changes);
        const Json problem = service.expect(422, "POST", "/v1/jobs", spec);
        EXPECT_EQ(problem["errors"][0]["pointer"], pointer) << problem;
    };
    refused(on(id, 5), "/data/split/fold");
    refused(on("spl_00000000000000000000000000", 0), "/data/split/id");
    refused(on("somewhere", 0), "/data/split/id");
    refused(on(create(), 0), "/data/split/id");
    service.ready_dataset("others");
    Json elsewhere = on(id, 0);
    elsewhere["data"]["dataset"] = "others";
    refused(elsewhere, "/data/split/id");
}

TEST_F(Splits, one_that_a_job_needs_is_kept) {
    const std::string id = ready_split();
    const std::string job = service.submit(on(id, 0));
    service.expect(409, "DELETE", target + "/" + id);
    service.expect(200, "POST", "/v1/jobs/" + job + "/cancel");
    service.expect(204, "DELETE", target + "/" + id);
    service.expect(404, "GET", target + "/" + id);
    EXPECT_EQ(service.database.sql("select string_agg(path, ' ') from garbage"),
              "splits/" + id + ".json");
}

TEST_F(Splits, they_go_with_their_dataset) {
    const std::string id = ready_split();
    service.expect(204, "DELETE", "/v1/datasets/points");
    store::DatasetClearing clearing;
    while (store::clear_deleted_dataset(service.store, clearing, 100)) {
    }
    EXPECT_EQ(service.database.sql("select count(*) from split"), "0");
    EXPECT_EQ(service.database.sql("select path from garbage where path like 'splits/%'"),
              "splits/" + id + ".json");
}

TEST_F(Splits, a_claim_that_was_dropped_is_taken_over_and_only_one_verdict_counts) {
    const std::string id = create();
    using namespace std::chrono_literals;
    const auto first = store::claim_split(service.store, "a", 60s).value();
    EXPECT_FALSE(store::claim_split(service.store, "b", 60s));
    EXPECT_TRUE(store::renew_split(service.store, id, first.fence, 60s));
    service.database.sql("update split set make_expires_at = clock_timestamp() - interval '1 s'");
    const auto second = store::claim_split(service.store, "b", 60s).value();
    EXPECT_FALSE(store::renew_split(service.store, id, first.fence, 60s));
    EXPECT_FALSE(store::finish_split(service.store, id, first.fence, {}));
    EXPECT_TRUE(store::finish_split(service.store, id, second.fence,
                                    {.problems = R"([{"message": "no groups"}])"}));
    const Json failed = service.expect(200, "GET", target + "/" + id);
    EXPECT_EQ(failed["state"], "failed");
    EXPECT_EQ(failed["problems"][0]["message"], "no groups");
    EXPECT_FALSE(store::claim_split(service.store, "b", 60s));
}

TEST(Preview, gives_the_first_samples_that_the_check_kept) {
    TestService service;
    store::create_dataset(service.store, {.id = new_id("ds"),
                                          .name = "points",
                                          .format = "csv",
                                          .source = R"({"path":"points"})",
                                          .options = "{}"});
    service.expect(409, "GET", "/v1/datasets/points/preview");
    const auto check =
        store::claim_dataset_check(service.store, "here", std::chrono::seconds{60}).value();
    Json kept{{"samples", 600}, {"columns", {"x"}}, {"items", Json::array()}};
    for (int i = 0; i < 32; ++i) {
        kept["items"].push_back({{"sample", i},
                                 {"file", "a.csv"},
                                 {"row", i + 2},
                                 {"part", nullptr},
                                 {"class", "a"},
                                 {"labels", nullptr},
                                 {"group", nullptr},
                                 {"shape", {1}},
                                 {"image", nullptr},
                                 {"values", {0.5}},
                                 {"text", nullptr},
                                 {"problem", nullptr}});
    }
    store::finish_dataset_check(service.store, check.dataset.id, check.fence,
                                {.ready = true, .report = "{}", .preview = kept.dump()});
    const auto count = [&](const std::string& query) {
        const Json preview = service.expect(200, "GET", "/v1/datasets/points/preview" + query);
        EXPECT_TRUE(check_document("DatasetPreview", preview).empty());
        return preview["items"].size();
    };
    EXPECT_EQ(count(""), 8U);
    EXPECT_EQ(count("?n=32"), 32U);
    EXPECT_EQ(count("?n=1"), 1U);
    service.expect(422, "GET", "/v1/datasets/points/preview?n=0");
    service.expect(422, "GET", "/v1/datasets/points/preview?n=33");
    service.ready_dataset("old");
    service.expect(404, "GET", "/v1/datasets/old/preview");
}

}    // namespace
}    // namespace slipway
