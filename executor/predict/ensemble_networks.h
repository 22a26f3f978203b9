#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "executor/engine/engine.h"
#include "executor/predict/combined_outputs.h"
#include "executor/predict/ensemble_data.h"
#include "executor/train/attempt_plan.h"
#include "executor/train/reporter.h"
#include "executor/train/step.h"
#include "executor/train/train_data.h"

namespace slipway {

/// The networks of a plan's checkpoints, one or several, that run forward over the same batches.
/// All of them are in memory at once. Run's thread only.
class EnsembleNetworks {
public:
    /// What is wanted of a network for one core's batch: f32 [n, width].
    using Trace = std::function<Tensor(const Model&, const BatchInputs&, ForwardPass&)>;
    struct Wanted {
        Trace trace;
        BatchShape batch;
        std::string program;    ///< its name in reports
        std::string advice;     ///< how it needs less memory: "; a smaller batch …"
    };

    /// Builds and compiles them; networks of one architecture share a program. Then loads their
    /// weights.
    /// errors  TrainError out_of_memory when all of them do not fit the plan's memory limit;
    ///         spec_error when a network does not fit the samples; as read_trained_job
    EnsembleNetworks(const AttemptPlan& plan, const TrainData& data, Engine& engine,
                     const Wanted& wanted, Reporter& reporter);

    std::size_t size() const { return members_.size(); }
    /// The numbers of a row.
    std::int64_t width() const { return width_; }

    /// What each network says of a batch, as many rows on each core as `Wanted::batch` says.
    ///   batches  of one batch, by view
    std::vector<Value> run(const EnsembleViews& views,
                           const std::vector<LoadedBatch>& batches) const;

private:
    struct Member {
        std::size_t program = 0;
        std::vector<Array> network;    ///< parameters…, statistics…
    };

    void require_width(const TracedStep& step, const std::filesystem::path& checkpoint);
    void require_memory(const AttemptPlan& plan, const std::string& advice) const;

    Engine& engine_;
    std::int64_t width_ = 0;
    std::vector<StepProgram> programs_;
    std::vector<Member> members_;
};

/// One sample's row of what a network says: that of place `place` of `size` on a core.
OutputRow row_of(const Value& said, std::size_t core, std::size_t place, std::size_t size);

}    // namespace slipway
