// Goal: a cross-validation always ends, never has more jobs than it may, and its end says why.
// Method: cases by hand, and random runs in which every job ends in a drawn way.
#include "scheduler/search/fold_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace slipway::search {
namespace {

FoldPlanInputs inputs_of(const std::vector<FoldState>& states) {
    FoldPlanInputs inputs{.parallel = 8};
    for (std::size_t i = 0; i < states.size(); ++i)
        inputs.folds.push_back({.fold = std::int64_t(i), .state = states[i], .reason = "nan_loss"});
    return inputs;
}

using enum FoldState;
using Numbers = std::vector<std::int64_t>;

TEST(FoldPlan, starts_folds_in_order_up_to_the_limit) {
    FoldPlanInputs inputs = inputs_of({training, waiting, waiting, waiting, succeeded});
    inputs.parallel = 3;
    EXPECT_EQ(plan_folds(inputs).train, (Numbers{1, 2}));
    inputs.parallel = 1;
    EXPECT_TRUE(plan_folds(inputs).train.empty());
}

TEST(FoldPlan, predictions_go_before_trainings) {
    FoldPlanInputs inputs = inputs_of({predicting, waiting, training});
    inputs.folds[0].awaits_prediction = true;
    inputs.parallel = 2;
    EXPECT_EQ(plan_folds(inputs).predict, Numbers{0});
    EXPECT_TRUE(plan_folds(inputs).train.empty());
}

TEST(FoldPlan, a_failed_fold_lets_the_others_train_and_is_named_at_the_end) {
    FoldPlanInputs inputs = inputs_of({succeeded, failed, waiting});
    EXPECT_EQ(plan_folds(inputs).train, Numbers{2});
    const FoldPlan end = plan_folds(inputs_of({succeeded, failed, succeeded}));
    EXPECT_EQ(end.end, FoldsEnd::failed);
    EXPECT_NE(end.reason.find("fold 1: nan_loss"), std::string::npos) << end.reason;
}

TEST(FoldPlan, with_cancel_a_failed_fold_ends_the_others) {
    FoldPlanInputs inputs = inputs_of({failed, training, waiting});
    inputs.on_failure = FoldFailure::cancel;
    EXPECT_TRUE(plan_folds(inputs).cancel_jobs);
    EXPECT_TRUE(plan_folds(inputs).train.empty());
    inputs.folds[1].state = cancelled;
    EXPECT_EQ(plan_folds(inputs).end, FoldsEnd::failed);
}

TEST(FoldPlan, cancelling_waits_for_jobs_and_starts_none) {
    FoldPlanInputs inputs = inputs_of({succeeded, predicting, waiting});
    inputs.cancelling = true;
    EXPECT_TRUE(plan_folds(inputs).cancel_jobs);
    inputs.folds[1].awaits_prediction = true;    // it has no job
    EXPECT_EQ(plan_folds(inputs).end, FoldsEnd::cancelled);
}

TEST(FoldPlan, the_refit_is_last_and_its_failure_is_said) {
    FoldPlanInputs inputs = inputs_of({succeeded, succeeded});
    inputs.refit_wanted = true;
    inputs.oof_wanted = true;
    EXPECT_TRUE(plan_folds(inputs).collect_oof);
    EXPECT_FALSE(plan_folds(inputs).refit);
    inputs.oof_wanted = false;
    EXPECT_TRUE(plan_folds(inputs).refit);
    inputs.refit = FoldProgress{.fold = -1, .state = training};
    EXPECT_EQ(plan_folds(inputs).end, FoldsEnd::none);
    EXPECT_FALSE(plan_folds(inputs).refit);
    inputs.refit->state = failed;
    EXPECT_EQ(plan_folds(inputs).end, FoldsEnd::failed);
    inputs.refit->state = succeeded;
    EXPECT_EQ(plan_folds(inputs).end, FoldsEnd::succeeded);
}

TEST(FoldPlan, without_folds_there_is_nothing_to_do) {
    FoldPlanInputs inputs{.oof_wanted = true, .refit_wanted = true};
    const FoldPlan plan = plan_folds(inputs);
    EXPECT_FALSE(plan.collect_oof || plan.refit || plan.end != FoldsEnd::none);
    inputs.cancelling = true;
    EXPECT_EQ(plan_folds(inputs).end, FoldsEnd::cancelled);
}

/// Does what the plan says, then ends one drawn job.
class DrawnRun {
public:
    explicit DrawnRun(unsigned seed) : draw_(seed) {
        inputs_ = inputs_of(std::vector<FoldState>(1 + draw_() % 6, waiting));
        inputs_.parallel = 1 + std::int64_t(draw_() % 4);
        inputs_.on_failure = draw_() % 2 == 0 ? FoldFailure::keep_going : FoldFailure::cancel;
        inputs_.refit_wanted = draw_() % 2 == 0;
        predictions_ = draw_() % 2 == 0;
    }

    /// False: it has ended.
    bool step() {
        if (draw_() % 40 == 0) inputs_.cancelling = true;
        const FoldPlan plan = plan_folds(inputs_);
        if (plan.end != FoldsEnd::none) {
            end_ = plan.end;
            return false;
        }
        for (const std::int64_t fold : plan.train)
            fold_at(fold).state = training;
        for (const std::int64_t fold : plan.predict)
            fold_at(fold).awaits_prediction = false;
        if (plan.refit) inputs_.refit = FoldProgress{.fold = -1, .state = training};
        std::vector<FoldProgress*> running = jobs();
        EXPECT_LE(std::int64_t(running.size()), inputs_.parallel);
        EXPECT_FALSE(running.empty()) << "nothing runs, and it has not ended";
        if (running.empty()) return false;
        end_job(*running[draw_() % running.size()], plan.cancel_jobs);
        return true;
    }

    FoldsEnd end() const { return end_; }
    const FoldPlanInputs& inputs() const { return inputs_; }

private:
    FoldProgress& fold_at(std::int64_t fold) { return inputs_.folds[std::size_t(fold)]; }

    std::vector<FoldProgress*> jobs() {
        std::vector<FoldProgress*> running;
        for (FoldProgress& fold : inputs_.folds) {
            const bool has_job = fold.state == training || fold.state == predicting;
            if (has_job && !fold.awaits_prediction) running.push_back(&fold);
        }
        if (inputs_.refit && inputs_.refit->state == training) running.push_back(&*inputs_.refit);
        return running;
    }

    void end_job(FoldProgress& job, bool cancelled_now) {
        const bool ends_well = draw_() % 8 != 0 && !cancelled_now;
        if (!ends_well) {
            job.state = cancelled_now ? cancelled : failed;
        } else if (job.state == training && predictions_ && job.fold >= 0) {
            job.state = predicting;
            job.awaits_prediction = true;
        } else {
            job.state = succeeded;
        }
    }

    std::mt19937 draw_;
    FoldPlanInputs inputs_;
    bool predictions_ = false;
    FoldsEnd end_ = FoldsEnd::none;
};

TEST(FoldPlan, every_run_ends_as_its_folds_did) {
    for (unsigned seed = 0; seed < 2000; ++seed) {
        DrawnRun run(seed);
        int steps = 0;
        while (run.step() && ++steps < 100) {
        }
        ASSERT_LT(steps, 100) << "seed " << seed;
        const FoldPlanInputs& inputs = run.inputs();
        const bool all_well = std::ranges::all_of(
            inputs.folds, [](FoldState state) { return state == succeeded; }, &FoldProgress::state);
        const bool refit_well = !inputs.refit || inputs.refit->state == succeeded;
        if (run.end() == FoldsEnd::succeeded) {
            EXPECT_TRUE(all_well && refit_well) << "seed " << seed;
            EXPECT_EQ(inputs.refit.has_value(), inputs.refit_wanted) << "seed " << seed;
        } else {
            EXPECT_TRUE(inputs.cancelling || !all_well || !refit_well) << "seed " << seed;
        }
    }
}

}    // namespace
}    // namespace slipway::search
