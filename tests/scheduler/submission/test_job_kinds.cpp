// Goal: each kind turns its request into a job that can be stored, or tells everything that is
// wrong with it, whoever asks: no HTTP is here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/submission/forked_job.h"
#include "tests/scheduler/submission/samples.h"

namespace slipway::submission {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct JobKinds : SubmissionTest {
    std::string upload(const std::string& token, std::int64_t size = 1) {
        return store::create_upload(store, {.id = new_id("upl"), .size = size, .created_by = token},
                                    std::chrono::hours{1})
            .id;
    }

    std::string complete_upload() {
        const std::string id = upload("tok_test", 0);
        EXPECT_TRUE(store::complete_upload(store, id));
        return id;
    }

    static Json importing(const std::string& network) {
        return training({{"model", {{"arch", "imported"}, {"from", network}}}});
    }

    Json prediction(const Json& changes = Json::object()) {
        Json body{{"from", {{"checkpoint", checkpoint}}}, {"data", {{"dataset", "points"}}}};
        body.merge_patch(changes);
        return body;
    }
};

TEST_F(JobKinds, a_request_is_decoded_by_the_row_of_its_kind) {
    for (const JobKind kind : all_job_kinds) {
        const auto request =
            row_of(kind).decode({.value = {{"project", "vision"}}, .duplicates = {}});
        EXPECT_EQ(row_of(kind).kind, kind);
        EXPECT_EQ(request.value.index(), std::size_t(kind));
        EXPECT_EQ(project_of(request.value), "vision");
        EXPECT_FALSE(request.ok()) << "its required fields are missing";
    }
}

TEST_F(JobKinds, a_training_job_has_its_dataset_and_no_payload) {
    const auto job = checked(JobKind::train, training()).value;
    EXPECT_EQ(job.kind, JobKind::train);
    EXPECT_EQ(job.name_stem, "mlp");
    EXPECT_EQ(job.dataset.value().name, "points");
    EXPECT_TRUE(job.payload.is_null());
    EXPECT_EQ(job.effective["world_size"], 1);
    EXPECT_TRUE(job.checkpoint_ids.empty());
    EXPECT_TRUE(job.upload_ids.empty());
}

TEST_F(JobKinds, a_training_job_tells_what_is_wrong_with_its_fields_and_artifacts_at_once) {
    EXPECT_THAT(problems(JobKind::train, training({{"data", {{"dataset", "pionts"}}},
                                                   {"train", {{"epochs", -1}}},
                                                   {"model", {{"init", {{"from", "ckp_1"}}}}}})),
                ElementsAre("/train/epochs", "/data/dataset", "/model/init/from"));
    EXPECT_THAT(
        problems(JobKind::train, training({{"data", {{"split", {{"id", "spl_1"}, {"fold", 0}}}}}})),
        ElementsAre("/data/split/id"));
}

TEST_F(JobKinds, a_slice_needs_no_more_hosts_than_are_known) {
    const Json spec = training({{"accelerator", {{"cores", nullptr}, {"slice", {{"cores", 16}}}}}});
    const auto first = [&](const Json& asked) {
        const auto found = checked(JobKind::train, asked).problems;
        return found.empty() ? "" : found.front().code + " " + found.front().message;
    };
    add_host("a");
    EXPECT_EQ(first(spec),
              "slice_unavailable a slice needs 2 hosts or more, and 1 host of 8 cores "
              "is known; set accelerator.cores, or have more hosts join (slipwayd "
              "agent, --virtual-hosts), got 16");
    add_host("b");
    EXPECT_EQ(first(spec), "");
    Json larger = spec;
    larger["accelerator"]["slice"]["cores"] = 24;
    EXPECT_EQ(first(larger),
              "slice_unavailable accelerator.slice.cores must be at most 16: 2 "
              "hosts of 8 cores are known, got 24");
    add_host("small", 4);
    EXPECT_FALSE(first(larger).empty());
    const auto job = checked(JobKind::train, spec);
    EXPECT_EQ(job.value.effective["world_size"], 16);
}

TEST_F(JobKinds, nothing_is_told_of_a_project_that_the_submitter_does_not_see) {
    EXPECT_THAT(problems(JobKind::train, training({{"data", {{"dataset", "pionts"}}}}), {"other"}),
                IsEmpty());
    trained_job();
    EXPECT_THAT(
        problems(JobKind::train,
                 training({{"project", "other"}, {"model", {{"init", {{"from", checkpoint}}}}}}),
                 {"other"}),
        ElementsAre("/data/dataset", "/model/init/from"));
    EXPECT_THAT(problems(JobKind::predict, prediction({{"project", "other"}}), {"other"}),
                ElementsAre("/data/dataset", "/from/checkpoint"));
}

TEST_F(JobKinds, the_weights_of_an_upload_are_those_of_its_token) {
    const auto told = [&](const std::string& id) {
        return joined_messages(
            checked(JobKind::train, training({{"model", {{"init", {{"from", id}}}}}})).problems);
    };
    EXPECT_THAT(told(upload("tok_other")), HasSubstr("there is no upload"));
    EXPECT_THAT(told(upload("tok_test")), HasSubstr("is not complete"));
    EXPECT_THAT(told("model.safetensors"), HasSubstr("must be the id of a checkpoint"));
}

TEST_F(JobKinds, the_network_of_an_upload_is_that_of_its_token) {
    const auto told = [&](const std::string& id) {
        const auto found = checked(JobKind::train, importing(id)).problems;
        for (const Problem& one : found)
            EXPECT_EQ(one.pointer, "/model/from");
        return joined_messages(found);
    };
    EXPECT_THAT(told(new_id("upl")), HasSubstr("there is no upload"));
    EXPECT_THAT(told(upload("tok_other")), HasSubstr("there is no upload"));
    EXPECT_THAT(told(upload("tok_test")), HasSubstr("is not complete"));
    EXPECT_THAT(told("network.pt2"), HasSubstr("must be the id of an upload"));
    EXPECT_THAT(told(checkpoint), HasSubstr("must be the id of an upload"));
    EXPECT_EQ(told(complete_upload()), "");
}

TEST_F(JobKinds, a_job_may_begin_with_a_network_and_weights_of_two_uploads) {
    const std::string network = complete_upload(), weights = complete_upload();
    Json spec = importing(network);
    spec["model"]["init"] = {{"from", weights}};
    const auto job = checked(JobKind::train, spec);
    EXPECT_TRUE(job.ok()) << joined_messages(job.problems);
    EXPECT_EQ(job.value.name_stem, "imported");
    EXPECT_THAT(job.value.upload_ids, ElementsAre(weights, network));
    spec["model"]["init"]["from"] = upload("tok_other");
    spec["model"]["from"] = upload("tok_test");
    EXPECT_THAT(problems(JobKind::train, spec), ElementsAre("/model/init/from", "/model/from"));
}

// Goal: what has a checkpoint needs the upload of its network no longer.
TEST_F(JobKinds, a_checkpoint_has_the_network_that_was_imported) {
    const std::string network = complete_upload();
    const std::string trained = trained_job(importing(network));
    EXPECT_TRUE(store::delete_upload(store, network));
    const Submitter other{.token_id = "tok_other", .projects = {}};
    EXPECT_TRUE(checked(JobKind::predict, prediction()).ok());
    EXPECT_TRUE(checked(JobKind::evaluate, {{"from", {{"checkpoint", checkpoint}}}}).ok());
    const store::Job origin = store::find_job(store, trained).value();
    const auto resumed =
        check_fork(origin, {.changes = {{"train", {{"epochs", 9}}}}}, other, store);
    EXPECT_TRUE(resumed.ok()) << joined_messages(resumed.problems);
    EXPECT_TRUE(resumed.value.upload_ids.empty());
    EXPECT_EQ(resumed.value.spec.model.from, network);
    EXPECT_TRUE(check_retry(origin, other, store).ok());
    const auto pointers = [&](const JobForkBody& fork) {
        std::vector<std::string> found;
        for (const Problem& one : check_fork(origin, fork, other, store).problems)
            found.push_back(one.pointer);
        return found;
    };
    EXPECT_THAT(pointers({.changes = {{"model", {{"from", complete_upload()}}}}}),
                ElementsAre("/changes/model/from"));
    for (const ForkStart start : {ForkStart::weights, ForkStart::scratch})
        EXPECT_THAT(pointers({.start = start}), ElementsAre("/changes/model/from"));
}

TEST_F(JobKinds, a_prediction_runs_the_spec_of_the_job_that_trained) {
    const std::string trained = trained_job();
    const auto job = checked(JobKind::predict, prediction({{"accelerator", {{"cores", 8}}}})).value;
    EXPECT_EQ(job.kind, JobKind::predict);
    EXPECT_EQ(job.name_stem, "predict-mlp");
    EXPECT_EQ(job.checkpoint_ids, std::vector{checkpoint});
    EXPECT_EQ(job.payload["from"], Json({{"job", trained}, {"checkpoint", checkpoint}}));
    EXPECT_EQ(job.payload["precision"], "f32") << "that of the training";
    EXPECT_EQ(job.spec.accelerator.cores, 8);
    EXPECT_EQ(to_string(job.spec.model.arch), "mlp");
}

TEST_F(JobKinds, a_prediction_tells_everything_that_is_wrong_at_once) {
    EXPECT_THAT(problems(JobKind::predict, prediction({{"data", {{"dataset", "pionts"}}}})),
                ElementsAre("/data/dataset", "/from/checkpoint"));
    EXPECT_THAT(problems(JobKind::predict,
                         prediction({{"from", {{"job", "job_1"}}}, {"batch_size_per_core", 0}})),
                ElementsAre("/batch_size_per_core", "/from/job"));
}

TEST_F(JobKinds, an_evaluation_has_the_dataset_the_split_and_the_batch_of_the_training) {
    const std::string trained = trained_job();
    const Json from{{"from", {{"checkpoint", checkpoint}}}};
    auto job = checked(JobKind::evaluate, from).value;
    EXPECT_EQ(job.kind, JobKind::evaluate);
    EXPECT_EQ(job.name_stem, "evaluate-mlp");
    EXPECT_EQ(job.checkpoint_ids, std::vector{checkpoint});
    EXPECT_EQ(job.dataset.value().name, "points");
    EXPECT_EQ(job.payload["from"], Json({{"job", trained}, {"checkpoint", checkpoint}}));
    EXPECT_EQ(job.payload["data"], Json({{"dataset", job.dataset_id()}, {"split", "val"}}));
    EXPECT_EQ(job.payload["precision"], "f32");
    EXPECT_EQ(job.effective["global_batch"], 32);
    EXPECT_EQ(job.effective["lr"], nullptr);
    EXPECT_EQ(row_of(JobKind::evaluate).decode({.value = job.payload, .duplicates = {}}).problems,
              std::vector<Problem>{})
        << "as a retry does";
    job = checked(JobKind::evaluate,
                  {{"from", {{"checkpoint", checkpoint}}}, {"accelerator", {{"cores", 8}}}})
              .value;
    EXPECT_EQ(job.spec.train.batch_size_per_core, 4);
    EXPECT_EQ(job.effective["global_batch"], 32);
    job = checked(JobKind::evaluate,
                  {{"from", {{"checkpoint", checkpoint}}}, {"data", {{"part", "test"}}}})
              .value;
    EXPECT_EQ(job.payload["data"]["split"], "all");
}

TEST_F(JobKinds, an_evaluation_tells_everything_that_is_wrong_at_once) {
    EXPECT_THAT(problems(JobKind::evaluate, {{"from", {{"checkpoint", checkpoint}}}}),
                ElementsAre("/from/checkpoint"));
    trained_job();
    EXPECT_THAT(problems(JobKind::evaluate, {{"from", {{"checkpoint", checkpoint}}},
                                             {"data", {{"dataset", "pionts"}}}}),
                ElementsAre("/data/dataset"));
    database.sql(
        "update job set spec = jsonb_set(jsonb_set(spec, '{train,batch_size_per_core}', "
        "'5'), '{data,split}', '{\"val_fraction\": 0}')");
    EXPECT_THAT(problems(JobKind::evaluate,
                         {{"from", {{"checkpoint", checkpoint}}}, {"accelerator", {{"cores", 8}}}}),
                ElementsAre("/data/split", "/accelerator/cores"));
}

TEST_F(JobKinds, nothing_is_told_of_a_dataset_that_the_evaluation_does_not_see) {
    trained_job();
    EXPECT_THAT(problems(JobKind::evaluate,
                         {{"project", "other"}, {"from", {{"checkpoint", checkpoint}}}}, {"other"}),
                ElementsAre("/from/checkpoint"));
}

TEST_F(JobKinds, a_prediction_by_the_spec_of_another_version_is_an_error_of_its_own) {
    trained_job();
    database.sql("update job set spec = spec || '{\"colour\": 1}'");
    try {
        checked(JobKind::predict, prediction());
        ADD_FAILURE() << "it was accepted";
    } catch (const OldJobSpec& error) {
        EXPECT_THAT(error.what(), HasSubstr("colour"));
        EXPECT_EQ(error.code(), ErrorCode::conflict);
    }
}

}    // namespace

}    // namespace slipway::submission
