#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/base/json.h"
#include "api/spec/job_spec.h"
#include "executor/train/batch_inputs.h"
#include "executor/train/metric_sums.h"
#include "executor/train/model.h"

namespace slipway {

/// What a batch says: a sum over its samples, f32 of any shape, each core's own share, to which
/// padding adds nothing. Or, in an evaluation, rows: numbers of every sample f32 [n, …], which are
/// kept as they are for what no sum can say, padding and all.
struct TaskSum {
    std::string name;
    Tensor value;
    bool rows = false;
};

/// What a job learns to do: the loss of a batch, what else is measured of it, and what the sums
/// over all batches come to.
struct Task {
    /// Traces the network and the sums of one core's batch. The first two are "loss", the losses of
    /// all labels added up, and "labels", how many these were. A training pass may have fewer sums
    /// than an evaluation.
    std::function<std::vector<TaskSum>(const Model&, const BatchInputs&, ForwardPass&)> trace;
    /// The metrics of the samples added up, "loss" first; only what the sums hold.
    std::function<MetricValues(const MetricSums&)> values;
    /// What an evaluation says beyond that, as a JSON object: a table, values by name, and under
    /// "left_out" a sentence for each value that could not be calculated. Empty: nothing.
    std::function<Json(const MetricSums&)> details = {};
};

/// The task of a job, its options taken from the spec.
///   names  of the classes, or of the labels that are numbers, in their order
Task make_task(const JobSpec& spec, const std::vector<std::string>& names = {});

/// Whether the job wants this metric.
bool measures(const JobSpec& spec, TaskMetric metric);

}    // namespace slipway
