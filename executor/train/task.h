#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/spec/job_spec.h"
#include "executor/train/batch_leaves.h"
#include "executor/train/metric_sums.h"
#include "executor/train/model.h"

namespace slipway {

/// A sum over samples: f32 of any shape, each core's own share. Padding adds nothing to it.
struct TaskSum {
    std::string name;
    Tensor value;
};

/// What a job learns to do: the loss of a batch, what else is measured of it, and what the sums
/// over all batches come to.
struct Task {
    /// Traces the network and the sums of one core's batch. The first two are "loss", the losses of
    /// all labels added up, and "labels", how many these were. A training pass may have fewer sums
    /// than an evaluation.
    std::function<std::vector<TaskSum>(const Model&, const BatchLeaves&, ForwardPass&)> trace;
    /// The metrics of the samples added up, "loss" first; only what the sums hold.
    std::function<MetricValues(const MetricSums&)> values;
};

/// The task of a job, its options taken from the spec.
Task make_task(const JobSpec& spec);

}    // namespace slipway
