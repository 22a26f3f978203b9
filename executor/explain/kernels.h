#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "executor/program/program.h"
#include "executor/runtime/run_times.h"

namespace slipway {

/// One step of a program, measured in the runs whose timeline was kept.
struct KernelTime {
    std::string name;
    bool per_core = false;
    bool arithmetic = false;    ///< a product or convolution; the others mostly move data
    std::int64_t calls = 0;     ///< per run
    double seconds = 0;         ///< per run, summed over cores and workers
    std::int64_t bytes = 0;     ///< per run, read and written
};

/// Adds up how long each step of one program took. One thread.
class KernelTimes {
public:
    /// A run of the program whose timeline was kept.
    void add(const Program& program, const RunTimes& times);

    std::int64_t runs() const { return runs_; }
    /// Slowest first.
    std::vector<KernelTime> slowest(const Program& program) const;

private:
    std::vector<double> seconds_;        // by step
    std::vector<std::int64_t> calls_;    // by step
    std::int64_t runs_ = 0;
};

/// True when a step of this name is limited by arithmetic rather than by memory.
bool is_arithmetic(std::string_view step_name);

/// Bytes that one call of a step reads and writes, all of its elements.
std::int64_t bytes_touched(const Program& program, const Step& step);

}    // namespace slipway
