#pragma once

#include <memory>

#include "executor/engine/engine.h"
#include "executor/optim/update_plan.h"
#include "executor/train/step_bindings.h"
#include "executor/train/task.h"

namespace slipway {

/// A step as a graph, with the names of its inputs and outputs.
struct TracedStep {
    Graph graph;
    StepBindings bindings;
};

/// A traced step that is compiled.
struct StepProgram {
    std::shared_ptr<const Executable> executable;
    StepBindings bindings;
};

/// Whether a step's last batch finds sums of batches before it.
enum class Accumulation { none, finished };

/// One training step: forward, backward, the all_reduce of the gradients and the optimizer's
/// update. Parameters, optimizer state and statistics are donated. Gradient sums are what the
/// batches before it left (trace_accumulation_step); a step of one batch has none. A network that
/// drops nothing has no inputs of dropout (train/dropout.h). Runs nothing.
TracedStep trace_train_step(const Model& model, const Task& task, const UpdatePlan& plan,
                            const BatchShape& batch,
                            Accumulation accumulation = Accumulation::none);
/// All batches of a step but the last: adds their gradients up and leaves the weights alone. The
/// same graph for each of them, however many there are. The gradient sums are donated.
TracedStep trace_accumulation_step(const Model& model, const Task& task, const UpdatePlan& plan,
                                   const BatchShape& batch);
/// One evaluation step: forward, batch norm by its statistics, and the task's sums and rows.
TracedStep trace_evaluation_step(const Model& model, const Task& task, const BatchShape& batch);

}    // namespace slipway
