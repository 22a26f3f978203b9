#pragma once

#include <optional>
#include <vector>

#include "executor/engine/engine.h"
#include "executor/explain/explainer.h"
#include "executor/train/attempt_plan.h"
#include "executor/train/reporter.h"
#include "executor/train/run_report.h"
#include "executor/train/step.h"
#include "executor/train/train_data.h"

namespace slipway {

/// The programs of a run.
struct TrainPrograms {
    StepProgram train;                          ///< the last batch of a step
    std::optional<StepProgram> accumulation;    ///< those before; none: a step is one batch
    std::optional<StepProgram> evaluation;      ///< none without validation samples

    /// Those that there are.
    std::vector<const StepProgram*> all() const {
        std::vector<const StepProgram*> programs{&train};
        for (const auto* program : {&accumulation, &evaluation})
            if (*program) programs.push_back(&**program);
        return programs;
    }
};

/// What programs are traced from. All outlive the call, as does ProgramPlace.
struct ProgramSources {
    const AttemptPlan& plan;
    const SamplerOptions& sampler;
    const TrainData& data;
    const Model& model;
    const Task& task;
    const UpdatePlan& update;
};

/// Where they are compiled, and who hears of it: each program, and the time it took.
struct ProgramPlace {
    Engine& engine;
    Explainer& explainer;
    RunReport& report;
    Reporter& reporter;
};

/// Traces and compiles what the run will execute. Training thread only.
/// errors  TrainError out_of_memory, naming the largest batch that fits
TrainPrograms compile_programs(const ProgramSources& sources, const ProgramPlace& place);

}    // namespace slipway
