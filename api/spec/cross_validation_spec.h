#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/spec/job_spec.h"
#include "api/spec/requests.h"

namespace slipway {

// What a user may ask of a cross-validation: one job for each fold of a split. The values here are
// the defaults; bounds and documentation are in cross_validation_tables.cpp.

/// What is done when a fold fails.
enum class FoldFailure {
    keep_going,    ///< on the wire `continue`: the other folds train all the same
    cancel         ///< folds that have not ended are cancelled, none is started
};

/// `parallel`.
struct FoldParallelism {
    std::int64_t folds = 8;    ///< jobs at a time
    FoldFailure on_fold_failure = FoldFailure::keep_going;
    bool operator==(const FoldParallelism&) const = default;
};

/// `outputs`.
struct CrossValidationOutputs {
    bool oof_predictions = true;
    bool refit_on_all = false;    ///< one more training, on all samples, when every fold succeeded
    bool operator==(const CrossValidationOutputs&) const = default;
};

/// POST /v1/cross-validations. Either `split` or `split_id`.
struct CrossValidationSpec {
    std::string name;    ///< empty: the service makes one
    std::string project = "default";
    std::map<std::string, std::string> labels;
    std::optional<SplitCreate> split;    ///< made of the job's dataset, unless it has an equal one
    std::string split_id;                ///< spl_…; empty: `split`
    FoldParallelism parallel;
    CrossValidationOutputs outputs;
    JobSpec job;    ///< of every fold; its name, project and data.split are the cross-validation's
    bool operator==(const CrossValidationSpec&) const = default;
};

template <>
struct Spelling<FoldFailure> {
    static constexpr std::array<std::string_view, 2> words{"continue", "cancel"};
};

}    // namespace slipway
