#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "api/spec/sweep_spec.h"
#include "scheduler/sweeps/coordinator.h"
#include "scheduler/sweeps/plan.h"

// Sweeps that are accepted, and runs without a database.
namespace slipway::sweeps {

inline Json sweep_body(const Json& changes = Json::object()) {
    Json body = Json::parse(R"({
        "objective": {"metric": "val_loss"},
        "space": {"train.optimizer.lr": {"type": "log_uniform", "min": 0.0001, "max": 0.1}},
        "algorithm": {"name": "random"}, "limits": {"max_trials": 4, "max_concurrent": 2},
        "seed": 1,
        "job": {"model": {"arch": "mlp"}, "task": {"type": "classification"},
                "data": {"dataset": "points"},
                "train": {"epochs": 3, "optimizer": {"name": "adam", "lr": 0.01}}}})");
    body.merge_patch(changes);
    return body;
}

inline SweepSpec sweep_spec(const Json& changes = Json::object()) {
    Decoded<SweepSpec> decoded = decode_sweep(sweep_body(changes));
    EXPECT_TRUE(decoded.ok()) << joined_messages(decoded.problems);
    const auto problems = check_sweep(decoded.value);
    EXPECT_TRUE(problems.empty()) << joined_messages(problems);
    return decoded.value;
}

inline SweepRun new_run(const Json& changes = Json::object(), const SweepFolds& folds = {}) {
    SweepSpec spec = sweep_spec(changes);
    search::Search search = make_search(spec, spec.limits.max_trials.value(), {}, folds.sizes);
    store::Sweep sweep{.id = "swp_test",
                       .name = "test",
                       .project = "default",
                       .state = SweepState::running,
                       .max_trials = int(*spec.limits.max_trials),
                       .max_concurrent = int(spec.limits.max_concurrent)};
    return {.sweep = std::move(sweep),
            .spec = std::move(spec),
            .search = std::move(search),
            .folds = folds};
}

/// What makes the trials cross-validations of three folds.
inline Json fold_changes(const Json& more = Json::object()) {
    Json changes{{"job", nullptr}, {"objective", {{"metric", nullptr}}}};
    changes["cross_validation"] = {{"split", {{"method", "kfold"}, {"folds", 3}}},
                                   {"job", sweep_body().at("job")}};
    changes.merge_patch(more);
    return changes;
}

inline SweepRun new_fold_run(const Json& more = Json::object()) {
    return new_run(fold_changes(more),
                   {.dataset_id = "dst_test", .sizes = {{20, 10}, {20, 10}, {20, 10}}});
}

}    // namespace slipway::sweeps
