#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "executor/engine/engine.h"
#include "executor/train/model.h"
#include "executor/train/reporter.h"
#include "executor/train/step.h"
#include "executor/train/train_data.h"
#include "executor/train/train_error.h"

namespace slipway {

// What every run of a trained network needs that does not train it. Run's thread only.

/// Compiles the step and reports it under `name`.
///   advice  what is appended to the message when it needs more memory than there is
/// errors  TrainError out_of_memory
StepProgram compile_forward(Engine& engine, TracedStep step, const std::string& name,
                            const std::string& advice, Reporter& reporter);

/// Sets the model's values to the checkpoint's weights, all of them.
/// returns parameters…, statistics…, as set_network takes them
/// errors  as load_initial_weights
std::vector<Array> load_network(Model& model, const std::filesystem::path& checkpoint,
                                Reporter& reporter);

/// Warns of damaged images that the run is without; `effect` is what that means for the result.
void report_skipped(const TrainData& data, const std::string& effect, Reporter& reporter);
/// Readers do not speak: warns of damaged images that they took as they are since the last call.
void report_accepted(const TrainData& data, Reporter& reporter);

/// Does what writes files: a full disk is no full memory.
/// errors  TrainError disk_full
template <class Work>
void on_disk(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::exhausted) throw;
        throw TrainError("disk_full", error.what());
    }
}

}    // namespace slipway
