#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/program/program.h"
#include "executor/runtime/collectives.h"
#include "executor/runtime/run_plan.h"
#include "executor/runtime/run_times.h"

namespace slipway {

/// The caller's memory for one run, by position: one address when replicated, one per core
/// otherwise. A donated input's address stands again at its output.
struct Bindings {
    std::vector<std::vector<std::byte*>> inputs;
    std::vector<std::vector<std::byte*>> outputs;
};

/// Runs programs on `workers` threads that stand for `cores` virtual cores: owns the threads and
/// joins them, and owns the arenas, which grow to the largest program run.
/// One thread at a time may call it. The bits of a result do not depend on `workers`.
class Runtime {
public:
    /// cpu_scope  each worker is kept on a CPU that nobody else claims in it (cpus.h), as long as
    ///            there are any; empty: all run where the system puts them
    /// collectives  of the other processes that run the same programs on other replicas; null:
    ///              there are none. Must outlive the runtime. A program that joins cores in a
    ///              replicated stage (Step::batches_cores) is for one process alone.
    explicit Runtime(Team team, const std::string& cpu_scope = {},
                     Collectives* collectives = nullptr);
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    /// Runs the program to its end. A kernel's exception ends the run: the first is rethrown here,
    /// after all workers have stopped; the runtime may be used again, outputs are undefined.
    /// `timeline`: keep when each step ran, besides the sums of times that are always kept.
    void run(const Program& program, const RunPlan& plan, const Bindings& bindings,
             bool timeline = false);

    /// Makes whole what runs by this plan left in shards, in memory bound by position; without
    /// other processes nothing. To be called by all of them, between the same two runs.
    /// errors  as Collectives::all_reduce
    void gather(const Program& program, const RunPlan& plan, std::span<std::byte* const> inputs);

    /// Of the last run that ended well; valid until the next.
    const RunTimes& times() const;

    /// Of the last run, if it was ended by a kernel's exception.
    std::optional<FailedStep> failed_step() const;

    const Team& team() const;
    /// Where each worker is kept; none: anywhere.
    const std::vector<std::optional<int>>& worker_cpus() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway
