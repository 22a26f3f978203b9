#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "api/base/clock.h"

namespace slipway {

/// A step whose kernel threw.
struct FailedStep {
    std::string name;
    int replica = -1;    ///< -1: it is done once for all replicas
};

/// One step of a program on one worker, in a run whose timeline is kept.
struct StepSpan {
    std::uint32_t step = 0;    ///< in Program::steps
    int core = -1;             ///< from 0; -1: of a replicated stage
    Tick begin{}, end{};
};

/// An adding up of contributions on one worker, in a run whose timeline is kept; or with those of
/// other processes.
struct SumSpan {
    Tick begin{}, end{};
};

/// What one worker did in a run. Own cache lines: each worker writes its own all the time.
struct alignas(128) WorkerTimes {
    Tick begin{}, end{};
    std::chrono::nanoseconds waiting{};    ///< for the other workers
    /// Adding up contributions of cores, and waiting for those of other processes.
    std::chrono::nanoseconds reducing{};
    std::chrono::nanoseconds awaiting{};            ///< of `reducing`: for other processes
    std::vector<std::chrono::nanoseconds> cores;    ///< computing for each core
    std::vector<StepSpan> steps;                    ///< only with a timeline
    std::vector<SumSpan> sums;                      ///< only with a timeline
};

/// Where the time of one run went.
struct RunTimes {
    Tick begin{}, end{};    ///< as the caller saw it
    std::vector<WorkerTimes> workers;
    std::vector<SumSpan> exchanges;    ///< each with the other processes, while the workers went on
    bool timeline = false;             ///< steps and sums were kept

    /// From the call until every worker had begun.
    std::chrono::nanoseconds start_wait() const;
    /// That sums were on their way between processes; how long the workers stood still for them is
    /// `awaiting`.
    std::chrono::nanoseconds exchanging() const;
};

}    // namespace slipway
