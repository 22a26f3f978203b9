#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"
#include "api/spec/sweep_spec.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/sweeps.h"

namespace slipway::sweeps {

// Which weights have the value that a trial is judged by. All code that hands out, continues or
// keeps weights of a trial calls these functions.

/// The value that a trial is judged by, and when it was measured.
struct TrialValue {
    std::int64_t time = 0;
    double value = 0;
};

/// Whether a checkpoint of one of the trial's jobs was saved at that time, when that was measured.
/// Of a checkpoint whose job compared another metric the time alone decides. Not of folds. Pure.
bool has_value(const SweepSpec& spec, const TrialValue& of, const store::SavedMeasurement& saved);

/// Why trials with this job spec may have no checkpoint of their value: a sentence that names the
/// field and the fix. None: each of them saves it. Pure.
std::optional<Problem> missing_value_warning(const SweepSpec& spec, const JobSpec& job);

/// The checkpoint with the value of a trial, or why there is none.
struct ValueCheckpoint {
    std::optional<store::Checkpoint> checkpoint{};
    std::string missing{};    ///< a clause; empty: there is one
};
/// `spec` is that of the sweep.
ValueCheckpoint find_value_checkpoint(store::Store& store, const std::string& sweep_id,
                                      const SweepSpec& spec, const store::SweepTrial& trial);

/// The same of each fold of a trial that is a cross-validation.
struct FoldCheckpoint {
    std::int64_t fold = 0;
    double value = 0;
    ValueCheckpoint weights{};
};
/// Of the folds that have trained, in their order.
std::vector<FoldCheckpoint> list_fold_checkpoints(store::Store& store, const std::string& sweep_id,
                                                  const SweepSpec& spec,
                                                  const store::SweepTrial& trial);

}    // namespace slipway::sweeps
