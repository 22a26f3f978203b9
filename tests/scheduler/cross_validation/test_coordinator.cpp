// Goal: every fold gets its jobs once, however often the coordinator is asked and whenever it
// stops. Method: the coordinator against a real database; the test ends jobs as an agent would, and
// writes the predictions that an executor would.
#include "scheduler/cross_validation/coordinator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <random>

#include "scheduler/cross_validation/fold_progress.h"
#include "scheduler/cross_validation/lost_owners.h"
#include "scheduler/store/pg/leader.h"
#include "tests/scheduler/cross_validation/samples.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using store::CrossValidationState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

store::CrossValidation retry_folds(store::Store& store, const std::string& id,
                                   CrossValidationState seen,
                                   const std::vector<store::RetriedFold>& folds) {
    return store::retry_folds(store, id, seen, folds);
}

class Coordinator : public CrossValidationTest {
protected:
    Coordinator() { add_host(); }

    std::int64_t advance(const store::LeaderTerm& term = {}) {
        return advance_cross_validations(parts, term);
    }

    /// Until nothing is left to do.
    void settle() {
        while (advance() > 0) {
        }
    }

    store::CrossValidation found(const std::string& id) {
        return store::find_cross_validation(store, id).value();
    }

    std::vector<std::string> states(const std::string& id) {
        std::vector<std::string> all;
        for (const store::StoredFold& fold : store::list_folds(store, id))
            if (fold.fold >= 0) all.push_back(fold.state);
        return all;
    }

    /// The jobs that have not ended, by key.
    std::map<std::string, std::string> open_jobs(const std::string& id) {
        std::map<std::string, std::string> open;
        for (const store::Job& job :
             store::list_jobs(store, {.parent_id = id}, {.limit = 200}).items)
            if (!is_final(job.state)) open[job.parent->key] = job.id;
        return open;
    }

    std::vector<std::string> keys(const std::string& id) {
        std::vector<std::string> all;
        for (const store::Job& job :
             store::list_jobs(store, {.parent_id = id}, {.limit = 200}).items)
            all.push_back(job.parent->key);
        return all;
    }

    /// As its agent would: with a checkpoint and a last evaluation, or with predictions.
    void end_job(const std::string& job_id, JobState state = JobState::succeeded,
                 double val_loss = 0.5) {
        const store::Job job = store::find_job(store, job_id).value();
        const store::AttemptKey key = place(job_id);
        if (job.kind == JobKind::train) {
            relay_frames(store, key,
                         {{.number = 1,
                           .checkpoint = store::RelayedCheckpoint{.id = new_id("ckp"),
                                                                  .name = "step_1",
                                                                  .step = 1,
                                                                  .kinds = {"last"},
                                                                  .files = "[]",
                                                                  .bytes = 1}}});
        } else {
            const std::int64_t fold = std::stoll(job.parent->key);
            folder.write("store/reports/" + job_id + "/predictions.csv",
                         fmt::format("sample,p\n{},0\n{},1\n", fold, fold + 100));
        }
        const std::string result = fmt::format(R"({{"step": 4, "val_loss": {}}})", val_loss);
        finish_attempt(store, key,
                       {.exit_kind = std::string(to_string(state)),
                        .job_state = state,
                        .reason = state == JobState::failed
                                      ? std::optional(store::Reason{"nan_loss", "the loss is NaN"})
                                      : std::nullopt,
                        .result = state == JobState::succeeded ? result : std::string()});
    }

    /// All that are open, one after the other, until it has ended.
    void run_to_the_end(const std::string& id) {
        for (settle(); !has_ended(found(id).state); settle())
            for (const auto& [key, job] : open_jobs(id))
                end_job(job);
    }

    TempFolder folder;
    CoordinatorParts parts{
        .store = store, .queued = queued, .artifacts = ArtifactStore(folder.path()), .host = host};
};

TEST_F(Coordinator, folds_get_jobs_when_the_split_is_ready_and_as_many_as_may_run) {
    const std::string id = create({{"parallel", {{"folds", 2}}}});
    settle();
    EXPECT_EQ(found(id).state, CrossValidationState::preparing);
    const std::string split = make_split();
    settle();
    EXPECT_EQ(found(id).state, CrossValidationState::running);
    EXPECT_EQ(found(id).split_hash.size(), 71U);
    EXPECT_THAT(keys(id), UnorderedElementsAre("0", "1"));
    EXPECT_EQ(advance(), 0);
    const store::Job job = store::find_job(store, open_jobs(id).at("1")).value();
    const Json spec = Json::parse(job.spec);
    EXPECT_EQ(spec["data"]["split"], Json({{"id", split}, {"fold", 1}}));
    EXPECT_THAT(job.name, HasSubstr("fold-1"));
    end_job(job.id);
    settle();
    EXPECT_THAT(keys(id), UnorderedElementsAre("0", "1", "1-oof"));
    const Json payload =
        Json::parse(store::find_job(store, open_jobs(id).at("1-oof")).value().payload);
    EXPECT_EQ(payload["from"]["job"], job.id);
    EXPECT_EQ(payload["data"]["split"], "val");
    run_to_the_end(id);
    EXPECT_EQ(found(id).state, CrossValidationState::succeeded);
    EXPECT_EQ(found(id).oof.value().rows, 6);
    EXPECT_EQ(read_file(folder.path() / "store/reports" / id / "oof.csv"),
              "sample,fold,p\n0,0,0\n1,1,0\n2,2,0\n100,0,1\n101,1,1\n102,2,1\n");
    EXPECT_EQ(advance(), 0);
}

TEST_F(Coordinator, the_summary_is_of_the_folds) {
    const std::string id = create({{"outputs", {{"oof_predictions", false}}}});
    make_split();
    settle();
    double loss = 0.25;
    for (const auto& [key, job] : open_jobs(id))
        end_job(job, JobState::succeeded, loss *= 2);
    settle();
    EXPECT_EQ(found(id).state, CrossValidationState::succeeded);
    const auto summary = summarize(store::list_folds(store, id));
    ASSERT_EQ(summary.size(), 1U);
    EXPECT_EQ(summary[0].name, "val_loss");
    EXPECT_NEAR(*summary[0].statistics.mean, (0.5 + 1 + 2) / 3, 1e-12);
}

TEST_F(Coordinator, a_failed_fold_is_named_and_the_others_go_on_or_not) {
    for (const char* policy : {"continue", "cancel"}) {
        const std::string id = create({{"split", {{"seed", std::string(policy).size()}}},
                                       {"outputs", {{"oof_predictions", false}}},
                                       {"parallel", {{"folds", 2}, {"on_fold_failure", policy}}}});
        make_split();
        settle();
        end_job(open_jobs(id).at("1"), JobState::failed);
        settle();
        run_to_the_end(id);
        const store::CrossValidation ended = found(id);
        EXPECT_EQ(ended.state, CrossValidationState::failed);
        EXPECT_EQ(ended.reason.value().code, "folds_failed");
        EXPECT_THAT(ended.reason.value().message, HasSubstr("fold 1: training failed: nan_loss"));
        if (policy == std::string("continue")) {
            EXPECT_THAT(states(id), ElementsAre("succeeded", "failed", "succeeded"));
        } else {
            EXPECT_THAT(states(id), ElementsAre("cancelled", "failed", "cancelled"));
        }
    }
}

TEST_F(Coordinator, failed_folds_are_tried_again_from_where_they_got_to) {
    const std::string id = create({{"parallel", {{"folds", 3}}}});
    make_split();
    settle();
    const std::string failed = open_jobs(id).at("1");
    end_job(failed, JobState::failed);
    run_to_the_end(id);
    ASSERT_EQ(found(id).state, CrossValidationState::failed);
    const auto folds = store::list_folds(store, id);
    EXPECT_EQ(failure_code(folds.at(0)), std::nullopt);
    EXPECT_EQ(failure_code(folds.at(1)), "nan_loss");
    const std::vector<store::RetriedFold> retried{{.fold = 1, .state = "failed"}};
    EXPECT_EQ(retry_folds(store, id, CrossValidationState::failed, retried).state,
              CrossValidationState::running);
    EXPECT_THAT(states(id), ElementsAre("succeeded", "waiting", "succeeded"));
    EXPECT_THROW(retry_folds(store, id, CrossValidationState::failed, retried), Error);
    settle();
    const auto open = open_jobs(id);
    ASSERT_TRUE(open.contains("1"));
    EXPECT_EQ(open.size(), 1U);
    EXPECT_EQ(store::find_job(store, open.at("1")).value().origin.value().job_id, failed);
    EXPECT_EQ(store::list_folds(store, id).at(1).job_id, open.at("1"));
    run_to_the_end(id);
    EXPECT_EQ(found(id).state, CrossValidationState::succeeded);
    EXPECT_EQ(found(id).oof.value().rows, 6);
    EXPECT_EQ(store::list_folds(store, id).at(1).job_id, open.at("1"));
}

TEST_F(Coordinator, a_fold_without_predictions_keeps_its_training) {
    const std::string id = create({{"parallel", {{"folds", 3}}}});
    make_split();
    settle();
    for (const auto& [key, job] : open_jobs(id))
        end_job(job);
    settle();
    const std::string trained = store::list_folds(store, id).at(2).job_id;
    end_job(open_jobs(id).at("2-oof"), JobState::failed);
    run_to_the_end(id);
    ASSERT_EQ(found(id).state, CrossValidationState::failed);
    const store::StoredFold fold = store::list_folds(store, id).at(2);
    EXPECT_TRUE(has_trained(fold));
    const std::vector<store::RetriedFold> retried{
        {.fold = 2, .state = "failed", .has_trained = has_trained(fold)}};
    retry_folds(store, id, CrossValidationState::failed, retried);
    settle();
    EXPECT_THAT(open_jobs(id), ElementsAre(::testing::Key("2-oof")));
    run_to_the_end(id);
    EXPECT_EQ(found(id).state, CrossValidationState::succeeded);
    EXPECT_EQ(store::list_folds(store, id).at(2).job_id, trained);
}

TEST_F(Coordinator, a_retry_while_others_run_is_seen) {
    const std::string id = create({{"parallel", {{"folds", 3}}}});
    make_split();
    SettledMemory memory;
    const auto pass = [&] { return advance_cross_validations(parts, {}, &memory); };
    while (pass() > 0) {
    }
    end_job(open_jobs(id).at("0"), JobState::failed);
    while (pass() > 0) {
    }
    EXPECT_EQ(pass(), 0);
    retry_folds(store, id, CrossValidationState::running,
                std::vector<store::RetriedFold>{{.fold = 0, .state = "failed"}});
    while (pass() > 0) {
    }
    EXPECT_THAT(open_jobs(id),
                ElementsAre(::testing::Key("0"), ::testing::Key("1"), ::testing::Key("2")));
}

TEST_F(Coordinator, cancelled_while_it_prepares_or_runs) {
    const std::string early = create();
    EXPECT_TRUE(store::cancel_cross_validation(store, early, {"cancelled", "on request"}));
    settle();
    EXPECT_EQ(found(early).state, CrossValidationState::cancelled);
    EXPECT_FALSE(store::cancel_cross_validation(store, early, {"cancelled", "again"}));

    const std::string id = create();
    make_split();
    settle();
    end_job(open_jobs(id).at("0"));
    settle();
    EXPECT_TRUE(store::cancel_cross_validation(store, id, {"cancelled", "on request"}));
    settle();
    EXPECT_EQ(found(id).state, CrossValidationState::cancelled);
    EXPECT_EQ(found(id).reason.value().message, "on request");
    EXPECT_THAT(states(id), ElementsAre("cancelled", "cancelled", "cancelled"));
}

// Goal: whoever cancels between two reads of the coordinator ends it as cancelled.
TEST_F(Coordinator, cancelled_at_any_moment_of_its_start) {
    const std::string first = create();
    make_split();
    for (int round = 0; round < 30; ++round) {
        const std::string id = create();
        std::jthread canceller([&] {
            store::cancel_cross_validation(store, id, {"cancelled", "on request"});
        });
        settle();
        canceller.join();
        settle();
        for (const auto& [key, job] : open_jobs(id))
            end_job(job, JobState::cancelled);
        settle();
        EXPECT_EQ(found(id).state, CrossValidationState::cancelled);
    }
}

TEST_F(Coordinator, who_lost_the_right_starts_no_more_folds) {
    const std::string id = create({{"parallel", {{"folds", 1}}}});
    make_split();
    settle();
    store::revoke_token(store, token);
    end_job(open_jobs(id).at("0"));
    settle();
    EXPECT_EQ(found(id).state, CrossValidationState::cancelled);
    EXPECT_EQ(found(id).reason.value().code, "owner_lost");
    EXPECT_THAT(keys(id), ElementsAre("0"));
}

TEST_F(Coordinator, whose_member_may_only_read_now_starts_no_more_folds) {
    const std::string id = create({{"parallel", {{"folds", 1}}}});
    make_split();
    database.sql(
        "insert into member (name, created_by) values ('ann', '');"
        "insert into membership (project, member, role, changed_by)"
        " values ('default', 'ann', 'editor', '');"
        "update token set member = 'ann'");
    settle();
    EXPECT_THAT(keys(id), ElementsAre("0"));
    database.sql("update membership set role = 'viewer'");
    end_job(open_jobs(id).at("0"));
    settle();
    EXPECT_EQ(found(id).state, CrossValidationState::cancelled);
    EXPECT_EQ(found(id).reason.value().code, "owner_lost");
    EXPECT_THAT(keys(id), ElementsAre("0"));
}

TEST_F(Coordinator, what_runs_ends_when_its_owner_is_lost) {
    const std::string id = create({{"parallel", {{"folds", 1}}}});
    make_split();
    settle();
    EXPECT_EQ(cancel_those_without_owner(store), 0);
    EXPECT_EQ(found(id).state, CrossValidationState::running);
    store::revoke_token(store, token);
    EXPECT_EQ(cancel_those_without_owner(store), 1);
    EXPECT_EQ(cancel_those_without_owner(store), 0) << "it was cancelled before";
    settle();
    EXPECT_EQ(found(id).state, CrossValidationState::cancelled) << "its only job was still queued";
    EXPECT_EQ(found(id).reason.value().code, "owner_lost");
    EXPECT_THAT(keys(id), ElementsAre("0"));
}

TEST_F(Coordinator, a_full_queue_is_waited_for) {
    const std::string id = create();
    make_split();
    parts.queued_jobs_max = 2;
    settle();
    EXPECT_THAT(keys(id), ElementsAre());
    EXPECT_EQ(found(id).state, CrossValidationState::running);
    parts.queued_jobs_max = 3;
    settle();
    EXPECT_THAT(keys(id), UnorderedElementsAre("0", "1", "2"));
}

TEST_F(Coordinator, a_split_that_cannot_be_made_ends_it) {
    const std::string id = create();
    const auto claim = store::claim_split(store, host, std::chrono::seconds{60}).value();
    store::finish_split(store, claim.id, claim.fence,
                        {.problems = R"([{"message": "no column family"}])"});
    settle();
    EXPECT_EQ(found(id).state, CrossValidationState::failed);
    EXPECT_THAT(found(id).reason.value().message, HasSubstr("no column family"));
}

TEST_F(Coordinator, an_equal_split_is_used_again_and_kept_while_it_is_used) {
    const std::string id = create();
    const std::string split = make_split();
    const std::string again = create();
    EXPECT_EQ(found(again).split_id, split);
    EXPECT_NE(found(create({{"split", {{"seed", 1}}}})).split_id, split);
    EXPECT_EQ(store::code_of([&] { store::delete_split(store, split); }), ErrorCode::conflict);
    EXPECT_EQ(store::code_of([&] { store::delete_dataset(store, found(id).dataset_id); }),
              ErrorCode::conflict);
    run_to_the_end(id);
    run_to_the_end(again);
    EXPECT_TRUE(store::delete_split(store, split));
}

TEST_F(Coordinator, the_refit_is_one_more_job_on_all_samples) {
    const std::string id = create({{"outputs", {{"refit_on_all", true}}}});
    make_split();
    run_to_the_end(id);
    EXPECT_EQ(found(id).state, CrossValidationState::succeeded);
    const store::Job refit = store::find_job(store, found(id).refit_job_id).value();
    EXPECT_EQ(Json::parse(refit.spec)["data"]["split"]["val_fraction"], 0);
    EXPECT_EQ(refit.parent.value().key, "refit");
}

TEST_F(Coordinator, deleted_jobs_leave_what_was_known_of_them) {
    const std::string id = create();
    make_split();
    run_to_the_end(id);
    const auto before = summarize(store::list_folds(store, id));
    while (store::delete_jobs_of_parent(store, id) > 0) {
    }
    const auto folds = store::list_folds(store, id);
    EXPECT_EQ(summarize(folds)[0].statistics.mean, before[0].statistics.mean);
    EXPECT_FALSE(folds[0].training);
    EXPECT_FALSE(folds[0].job_id.empty());
    EXPECT_TRUE(store::delete_cross_validation(store, id));
    EXPECT_FALSE(store::delete_cross_validation(store, id));
    EXPECT_EQ(count("cross_validation_fold"), 0);
    EXPECT_EQ(count("garbage where path = 'reports/" + id + "'"), 1);
}

TEST_F(Coordinator, a_replaced_leader_writes_nothing) {
    const std::string id = create();
    make_split();
    store::Leader leader(store.options(), "slipway.cross_validations");
    store::LeaderTerm old = leader.lead().value();
    ++old.number;    // a term that is not the database's
    EXPECT_THROW(advance(old), store::LeaderReplaced);
    EXPECT_EQ(found(id).state, CrossValidationState::preparing);
    EXPECT_GT(advance(leader.lead().value()), 0);
}

// Goal: what is settled costs nothing, and whatever changes is seen.
TEST_F(Coordinator, looks_again_only_at_what_has_changed) {
    SettledMemory memory;
    const auto pass = [&] { return advance_cross_validations(parts, {}, &memory); };
    const auto pass_until_settled = [&] {
        while (pass() > 0) {
        }
    };
    const std::string id = create({{"parallel", {{"folds", 2}}}});
    pass_until_settled();
    EXPECT_EQ(memory.count(id), 1U);
    make_split();
    EXPECT_GT(pass(), 0);
    pass_until_settled();
    EXPECT_EQ(pass(), 0);
    end_job(open_jobs(id).at("0"));
    EXPECT_GT(pass(), 0);
    pass_until_settled();
    parts.queued_jobs_max = 1;    // the next job has to wait for the queue: it is tried each time
    end_job(open_jobs(id).at("1"));
    pass_until_settled();
    EXPECT_EQ(memory.count(id), 0U);
    parts.queued_jobs_max = 0;
    pass_until_settled();
    store::cancel_cross_validation(store, id, {"cancelled", "on request"});
    pass_until_settled();
    EXPECT_EQ(found(id).state, CrossValidationState::cancelled);
    EXPECT_EQ(memory.count(id), 0U);
}

// Goal: two leaders at once, as after a frozen one wakes, give no fold two jobs.
TEST_F(Coordinator, passes_in_any_order_give_each_key_one_job) {
    std::mt19937 draw(5);
    for (int round = 0; round < 5; ++round) {
        const std::string id = create({{"parallel", {{"folds", 1 + round % 3}}},
                                       {"split", {{"seed", 100 + round}}},
                                       {"outputs", {{"refit_on_all", true}}}});
        make_split();
        for (int step = 0; step < 200 && !has_ended(found(id).state); ++step) {
            std::jthread other([&] { advance(); });
            advance();
            other.join();
            const auto open = open_jobs(id);
            if (open.empty()) continue;
            end_job(std::next(open.begin(), int(draw() % open.size()))->second);
        }
        EXPECT_EQ(found(id).state, CrossValidationState::succeeded);
        EXPECT_THAT(keys(id),
                    UnorderedElementsAre("0", "1", "2", "0-oof", "1-oof", "2-oof", "refit"));
    }
}

}    // namespace
}    // namespace slipway
