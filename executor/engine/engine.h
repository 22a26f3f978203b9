#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "executor/graph/tensor.h"

namespace slipway {

/// What a leaf or an output holds: one array when replicated, `cores` arrays when per core.
struct Value {
    std::vector<Array> arrays;
};

/// Numbers for the job's report; durations in seconds.
struct EngineCounters {
    std::int64_t compiles = 0;           ///< UncachedCompile
    std::int64_t cached_compiles = 0;    ///< CachedCompile
    std::int64_t executions = 0;
    double compile_s = 0;
    double execute_s = 0;
};

/// What a compiled step will need, known before it runs.
struct MemoryReport {
    std::int64_t input_bytes = 0, output_bytes = 0, donated_bytes = 0, temporary_bytes = 0;
    std::int64_t peak_bytes = 0;    ///< all of it, over all workers
};

struct EngineOptions {
    int cores = 1;      ///< virtual cores (replicas): 1 or 8
    int workers = 0;    ///< threads that run them in turn; 0 = min(CPUs granted, cores)
    std::int64_t memory_bytes_max =
        0;    ///< a program over it is refused before it runs; 0 = no limit
};

class Executable;

/// Compiles steps and runs them. One thread at a time may call it; it owns its worker threads and
/// joins them.
class Engine {
public:
    explicit Engine(EngineOptions options);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// The program of this graph: from the cache by hash_of(graph), else compiled.
    /// errors  exhausted when its peak exceeds memory_bytes_max (says both numbers)
    std::shared_ptr<const Executable> compile(const Graph& graph);

    /// Runs one step. `leaves` by position; a donated leaf's arrays are overwritten and returned as
    /// that output. Bits do not depend on `workers`.
    std::vector<Value> run(const Executable& executable, std::span<const Value> leaves);

    MemoryReport memory(const Executable& executable) const;
    /// The program as text, for /graphs and golden tests.
    std::string print(const Executable& executable) const;
    const EngineCounters& counters() const;
    int workers() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway
