// Level-triggered: a pass reads where a cross-validation stands, in the database and nowhere else,
// and does what plan_folds says is next. Between two passes it remembers only for which ones there
// was nothing to do: a thousand of them cost one statement.
#include "scheduler/cross_validation/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "api/base/log.h"
#include "api/base/parsed_json.h"
#include "scheduler/cross_validation/fold_job.h"
#include "scheduler/cross_validation/fold_progress.h"
#include "scheduler/cross_validation/lost_owners.h"
#include "scheduler/cross_validation/oof_file.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/submission/judged_evaluation.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

using store::CrossValidationState;
using store::StoredFold;

/// One cross-validation on its way.
class Advance {
public:
    Advance(const CoordinatorParts& parts, const store::LeaderTerm& term,
            store::CrossValidation cross_validation)
        : parts_(parts), term_(term), of_(std::move(cross_validation)) {}

    /// Nothing can be done before its jobs or its split change.
    bool is_settled() const { return !done_ && !waits_for_queue_; }

    /// Whether anything was done.
    bool run() {
        auto spec = decode_cross_validation(store::stored_json(of_.spec));
        if (!spec.ok()) {
            end(CrossValidationState::failed,
                store::Reason{"old_spec", "the stored request is of another version: " +
                                              joined_messages(spec.problems)});
            return true;
        }
        spec_ = std::move(spec.value);
        if (of_.state == CrossValidationState::preparing && !begin()) return done_;
        folds_ = store::list_folds(parts_.store, of_.id);
        settle();
        act(search::plan_folds(inputs()));
        return done_;
    }

private:
    void end(CrossValidationState state, const std::optional<store::Reason>& reason) {
        store::finish_cross_validation(parts_.store, of_.id, state, reason, term_);
        log_info("a cross-validation has ended",
                 {{"cross_validation_id", of_.id}, {"state", to_string(state)}});
        done_ = true;
    }

    /// False: its split is not ready, or never will be.
    bool begin() {
        const auto split = store::find_split(parts_.store, of_.split_id);
        if (!split) {
            end(CrossValidationState::failed,
                store::Reason{"split_failed", "its split was deleted"});
            return false;
        }
        if (split->state == store::SplitState::making) return false;
        if (split->state == store::SplitState::failed) {
            end(CrossValidationState::failed,
                store::Reason{"split_failed",
                              "the dataset cannot be divided so: " + first_problem(*split)});
            return false;
        }
        const Json report = store::stored_json(split->report);
        store::FoldSizes sizes;
        for (const Json& part : report.at("parts")) {
            sizes.train.push_back(part.at("train").get<std::int64_t>());
            sizes.val.push_back(part.at("val").get<std::int64_t>());
        }
        of_.repeats = report.at("repeats").get<std::int64_t>();
        done_ = true;
        // False: it was cancelled after it was read; the next pass reads it again.
        if (!store::begin_folds(parts_.store, of_.id, *split, of_.repeats, sizes, term_))
            return false;
        of_.state = CrossValidationState::running;
        return true;
    }

    static std::string first_problem(const store::StoredSplit& split) {
        const Json problems = store::stored_json(split.problems);
        if (!problems.is_array() || problems.empty()) return "no reason is known";
        const std::string field = problems.front().value("field", std::string());
        const std::string message = problems.front().value("message", std::string());
        return field.empty() ? message : fmt::format("{}: {}", field, message);
    }

    void settle() {
        std::vector<store::FoldSettlement> settlements;
        for (StoredFold& fold : folds_) {
            auto settlement = settlement_of(fold, spec_.outputs.oof_predictions);
            if (!settlement) continue;
            judge_by_best(*settlement);
            apply(*settlement, fold);
            settlements.push_back(*std::move(settlement));
        }
        if (settlements.empty()) return;
        store::settle_folds(parts_.store, of_.id, settlements, term_);
        done_ = true;
    }

    /// A job that was stopped early has ended with evaluations that it rejected.
    void judge_by_best(store::FoldSettlement& settlement) const {
        const auto& rule = spec_.job.train.early_stopping;
        if (!rule || settlement.result.empty()) return;
        const auto best = submission::best_evaluation(parts_.store, settlement.job_id, *rule);
        if (!best) return;
        Json result = store::stored_json(settlement.result);
        std::vector<std::string> names;
        for (const auto& [name, value] : result.items())
            if (validation_metric(name)) names.push_back(name);
        result.erase("nonfinite");
        for (const std::string& name : names)
            put_value(result, name, submission::value_of(parts_.store, *best, name));
        result["step"] = best->step;
        result["epoch"] = best->epoch;
        settlement.result = result.dump();
    }

    static void put_value(Json& result, const std::string& name,
                          const std::optional<double>& value) {
        const double number = value.value_or(std::numeric_limits<double>::quiet_NaN());
        result[name] = std::isfinite(number) ? Json(number) : Json(nullptr);
        if (std::isinf(number)) result["nonfinite"][name] = number > 0 ? "inf" : "-inf";
    }

    search::FoldPlanInputs inputs() const {
        search::FoldPlanInputs inputs{.parallel = spec_.parallel.folds,
                                      .on_failure = spec_.parallel.on_fold_failure,
                                      .cancelling = of_.state == CrossValidationState::cancelling,
                                      .oof_wanted = spec_.outputs.oof_predictions && !of_.oof,
                                      .refit_wanted = spec_.outputs.refit_on_all};
        for (const StoredFold& fold : folds_) {
            if (fold.fold == StoredFold::refit) {
                inputs.refit = progress_of(fold);
            } else {
                inputs.folds.push_back(progress_of(fold));
            }
        }
        return inputs;
    }

    void act(const search::FoldPlan& plan) {
        if (plan.cancel_jobs) {
            const auto asked = store::end_jobs_of_parent(
                parts_.store, of_.id, Intent::cancel,
                {"cancelled", fmt::format("the cross-validation {} ends", of_.id)});
            done_ = done_ || !asked.empty();
        }
        if (!plan.train.empty() || !plan.predict.empty() || plan.refit) submit(plan);
        if (plan.collect_oof) collect_oof();
        finish(plan);
    }

    void finish(const search::FoldPlan& plan) {
        using enum search::FoldsEnd;
        if (plan.end == succeeded) end(CrossValidationState::succeeded, std::nullopt);
        if (plan.end == cancelled) end(CrossValidationState::cancelled, std::nullopt);
        if (plan.end == failed)
            end(CrossValidationState::failed, store::Reason{"folds_failed", plan.reason});
    }

    void submit(const search::FoldPlan& plan) {
        const auto who = owner_of(parts_.store, of_);    // may have lost the right since
        if (!who) {
            store::cancel_cross_validation(parts_.store, of_.id, owner_lost());
            done_ = true;
            return;
        }
        const FoldJobSource source{of_, spec_, *who, parts_.store};
        submission::Submission wanted{.jobs = {}, .token_id = who->token_id};
        store::FoldClaim claim;
        std::vector<store::FoldSettlement> refused;
        const auto add = [&](Decoded<submission::CheckedJob> job, std::int64_t fold,
                             std::vector<int>& claimed) {
            if (!job.ok()) return refused.push_back(refusal(fold, joined_messages(job.problems)));
            claimed.push_back(int(fold));
            wanted.jobs.push_back(std::move(job.value));
        };
        for (const std::int64_t fold : plan.predict)
            add(prediction_of_fold(source, fold_at(fold)), fold, claim.predict);
        for (const std::int64_t fold : plan.train)
            add(retraining_of_fold(source, fold_at(fold)), fold, claim.train);
        if (plan.refit) add_refit(source, wanted, claim);
        if (!refused.empty()) refuse(refused);
        if (!wanted.jobs.empty()) store_jobs(std::move(wanted), claim);
    }

    void add_refit(const FoldJobSource& source, submission::Submission& wanted,
                   store::FoldClaim& claim) {
        Decoded<submission::CheckedJob> job = training_of_fold(source, StoredFold::refit);
        if (!job.ok()) {
            return end(CrossValidationState::failed,
                       store::Reason{"refit_failed", joined_messages(job.problems)});
        }
        claim.refit = true;
        wanted.jobs.push_back(std::move(job.value));
    }

    store::FoldSettlement refusal(std::int64_t fold, const std::string& why) const {
        return {.fold = fold,
                .from = fold_at(fold).state,
                .state = "failed",
                .reason = "its job was refused: " + why};
    }

    void refuse(const std::vector<store::FoldSettlement>& refused) {
        store::settle_folds(parts_.store, of_.id, refused, term_);
        done_ = true;
    }

    void store_jobs(submission::Submission wanted, const store::FoldClaim& claim) {
        wanted.also = [&](store::Transaction& transaction) {
            store::claim_folds(transaction, of_.id, claim, term_);
        };
        try {
            submission::submit(parts_.store,
                               {.queued = parts_.queued, .jobs_max = parts_.queued_jobs_max},
                               std::move(wanted),
                               [](std::span<const store::Job>) { return store::StoredResponse{}; });
            parts_.store.announce(of_.id);
            done_ = true;
        } catch (const store::LeaderReplaced&) {
            throw;
        } catch (const Error& error) {
            // A full queue and a moved fold are looked at again; what the jobs begin with is gone
            // for good, and so is a class that the project may not have.
            const bool for_good =
                error.code() == ErrorCode::not_found || error.code() == ErrorCode::invalid_argument;
            if (error.code() == ErrorCode::unavailable) throw;
            waits_for_queue_ = true;
            if (for_good) refuse_all(claim, error.what());
        }
    }

    void refuse_all(const store::FoldClaim& claim, const std::string& why) {
        std::vector<store::FoldSettlement> refused;
        for (const auto* folds : {&claim.train, &claim.predict})
            for (const int fold : *folds)
                refused.push_back(refusal(fold, why));
        if (!refused.empty()) refuse(refused);
        if (claim.refit) end(CrossValidationState::failed, store::Reason{"refit_failed", why});
    }

    const StoredFold& fold_at(std::int64_t number) const {
        return *std::ranges::find(folds_, number, &StoredFold::fold);
    }

    void collect_oof() {
        std::vector<OofPart> files;
        const std::int64_t count =
            std::ranges::count_if(folds_, [](const StoredFold& fold) { return fold.fold >= 0; });
        const std::int64_t repeats = std::max<std::int64_t>(of_.repeats, 1);
        for (const StoredFold& fold : folds_) {
            if (fold.fold < 0) continue;
            files.push_back({.fold = fold.fold,
                             .repeat = fold.fold * repeats / count,
                             .file = parts_.artifacts.locate(Artifact::report, fold.prediction_id,
                                                             "predictions.csv")});
        }
        try {
            const fs::path folder = parts_.artifacts.locate(Artifact::report, of_.id);
            fs::create_directories(folder);
            fs::permissions(folder, fs::perms::owner_all);
            of_.oof = write_oof(files, folder / "oof.csv", repeats > 1);
            store::keep_oof(parts_.store, of_.id, *of_.oof, parts_.host, term_);
            done_ = true;
        } catch (const store::LeaderReplaced&) {
            throw;
        } catch (const fs::filesystem_error& error) {
            end(CrossValidationState::failed, store::Reason{"oof_failed", error.what()});
        } catch (const Error& error) {    // a file, or the disk: it will not get better by itself
            end(CrossValidationState::failed, store::Reason{"oof_failed", error.what()});
        }
    }

    const CoordinatorParts& parts_;
    const store::LeaderTerm& term_;
    store::CrossValidation of_;
    CrossValidationSpec spec_;
    std::vector<StoredFold> folds_;
    bool done_ = false;
    bool waits_for_queue_ = false;
};

/// Whether anything was done.
bool advance_one(const CoordinatorParts& parts, const store::LeaderTerm& term,
                 const store::UnfinishedCrossValidation& unfinished, SettledMemory& memory) {
    const auto known = memory.find(unfinished.id);
    if (known != memory.end() && known->second == unfinished.progress) return false;
    auto found = store::find_cross_validation(parts.store, unfinished.id);
    if (!found) return false;
    Advance advance(parts, term, *std::move(found));
    const bool done = advance.run();
    if (advance.is_settled()) {
        memory[unfinished.id] = unfinished.progress;
    } else {
        memory.erase(unfinished.id);
    }
    return done;
}

}    // namespace

std::int64_t advance_cross_validations(const CoordinatorParts& parts, const store::LeaderTerm& term,
                                       SettledMemory* memory) {
    SettledMemory none;
    std::int64_t steps = 0;
    for (const auto& one : store::list_unfinished_cross_validations(parts.store)) {
        try {
            if (advance_one(parts, term, one, memory != nullptr ? *memory : none)) ++steps;
        } catch (const store::LeaderReplaced&) {
            throw;
        } catch (const std::exception& error) {    // the others go on; it is looked at again
            log_warn("a cross-validation could not be brought forward",
                     {{"cross_validation_id", one.id}, {"reason", error.what()}});
        }
    }
    return steps;
}

}    // namespace slipway
