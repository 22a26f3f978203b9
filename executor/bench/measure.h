#pragma once

#include "executor/bench/workloads.h"
#include "executor/passes/passes.h"

namespace slipway {

struct BenchOptions {
    PrecisionPolicy precision = PrecisionPolicy::f32;
    int threads = 1;    ///< which run the cores
    int cores = 0;      ///< virtual cores, which share the batch; 0: one for each thread
    int repeats = 20;
    /// As a deterministic job of one core: `cores` are the parts in which it computes the batch
    /// (docs/decisions/0004).
    bool one_core = false;
    bool pin = false;                ///< workers on CPUs of their own, as in training
    bool chooses_threads = false;    ///< `threads` is the most; measured once it has chosen
    std::int64_t batch = 0;          ///< 0: the workload's own
    std::string_view optimizer = "adamw";
};

/// One workload's training step, measured. Times in milliseconds.
struct BenchResult {
    std::int64_t batch = 0;
    int cores = 0;
    int threads = 0;    ///< in use
    double median_ms = 0, min_ms = 0;
    double cpu_ms = 0;         ///< what all threads worked for one step
    double items_per_s = 0;    ///< samples, by the median
    double trace_ms = 0, compile_ms = 0;
    std::int64_t peak_bytes = 0;    ///< of the plan: inputs, outputs and temporaries
    double flops = 0;               ///< of the matmuls and convolutions left in the program
    double limit_ms = 0;            ///< flops at the library's rate, measured in this process
    double rate = 0;                ///< that rate: flops per second over all threads
    double faults_per_step = 0;     ///< minor page faults of the process
    std::int64_t resident_peak_bytes = 0;    ///< of the process
    double loss = 0;                         ///< of the last step
};

/// Traces, compiles, warms up, runs `repeats` steps.
/// errors  invalid_argument when the options do not fit or the compiler lacks something
BenchResult measure(const Workload& workload, const BenchOptions& options);

}    // namespace slipway
