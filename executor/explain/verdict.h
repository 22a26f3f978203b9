#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipway {

/// What a job's time goes to, as shares of tracing, compiling and training that add up to 1
/// (evaluation, saving and opening the dataset are left out).
struct TimeShares {
    double compile = 0;     ///< tracing too
    double input = 0;       ///< waiting for the next batch
    double transfer = 0;    ///< binding arrays, reading results
    double sync = 0;        ///< all-reduces and waiting at barriers
    double memory = 0;      ///< kernels that mostly move data
    double compute = 0;     ///< matmuls and convolutions
};

/// What a verdict needs to name the field that helps.
struct BottleneckInputs {
    int cores = 1;                     ///< that the job asked for
    int workers = 1;                   ///< threads that run them
    int cpus = 1;                      ///< granted to the process
    bool images = false;               ///< each is decoded when it is read
    bool augments = false;             ///< samples are changed when they are read
    bool bf16 = false;                 ///< there is a precision to change to that may be faster
    bool widens_bf16 = false;          ///< it computes in bf16, without instructions for that
    bool counts_epochs = true;         ///< train.epochs is given, not train.steps
    std::int64_t late_compiles = 0;    ///< after warm-up
    double cpu_share = 1;    ///< CPU time that all threads got, of the time they had work to do
    double shared_memory_share =
        0;                    ///< of `memory`: in replicated kernels, the update of weights
    double first_loss = 0;    ///< of training: of the first step here, and of the newest
    double last_loss = 0;
};

/// The kind of a job that did not learn: its loss has grown far above that of its first step.
inline constexpr std::string_view diverged_kind = "diverged";

/// What limits a job, and what to do about it.
struct Verdict {
    /// input_bound, compile_bound, sync_bound, memory_bound, compute_bound, diverged
    std::string_view kind;
    std::string field;      ///< of the job spec
    std::string message;    ///< one sentence with the number, one with the advice
};

/// Pure. A job that diverged gets that verdict before any about its speed. Else the share
/// that is largest in relation to what is still fine decides; when all are fine the job is
/// compute-bound, which is how it should be.
Verdict judge(const TimeShares& shares, const BottleneckInputs& bottleneck);

}    // namespace slipway
