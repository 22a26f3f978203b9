#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/engine/worker_choice.h"
#include "executor/graph/tensor.h"
#include "executor/measure/metrics.h"
#include "executor/passes/passes.h"
#include "executor/runtime/run_times.h"
#include "executor/runtime/sharded_update.h"

namespace slipway {

class ObjectCache;
class ProgramStore;
class Collectives;
struct Program;
struct ExchangePlan;
struct RunTimes;

/// What an input or an output holds: one array when replicated, `cores` arrays when per core.
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
    std::int64_t constant_bytes =
        0;                          ///< of the temporaries: numbers that are part of the program
    std::int64_t code_bytes = 0;    ///< machine code of its loop kernels; not in the peak
    std::int64_t peak_bytes = 0;    ///< inputs, outputs and temporaries, over all workers
};

/// What the last compile() did.
struct CompileRecord {
    Hash128 hash;
    double seconds = 0;            ///< 0 when the program was there
    bool cached = false;           ///< the program was there
    bool repeated = false;         ///< this engine had been asked for it before
    bool after_warm_up = false;    ///< made after step 2 had run: training should have no such
    std::string cause;             ///< of one after warm-up: in what it differs from the nearest
};

struct EngineOptions {
    int cores = 1;      ///< virtual cores (replicas) of this process
    int workers = 0;    ///< threads that run them in turn; 0 = min(CPUs granted, cores)
    std::int64_t memory_bytes_max =
        0;    ///< a program over it is made to save memory, or refused before it runs; 0 = no limit
    PrecisionPolicy precision = PrecisionPolicy::f32;
    /// Where machine code is kept between processes; outlives the engine. None: nowhere.
    ObjectCache* cache = nullptr;
    /// Programs of earlier engines of this process, and for later ones; outlives the engine. None:
    /// the engine has its own alone.
    ProgramStore* programs = nullptr;
    /// Workers are kept on CPUs that nobody else claims under this name; empty: on none.
    std::string cpu_scope = {};
    /// Of the other processes that run the same programs on other replicas; outlives the engine.
    /// None: there are none.
    Collectives* collectives = nullptr;
    /// `workers` is the most: fewer run a program where they are as fast (worker_choice.h). Not
    /// with other processes, whose waiting has other causes.
    bool chooses_workers = false;
};

/// Name and version of what makes machine code while a job runs: part of the cache's environment.
std::string code_compiler();

/// Names the program that this graph becomes: hash_of(graph) in f32, another hash in each other
/// precision.
Hash128 program_hash(const Graph& graph, PrecisionPolicy precision);

/// What a step would need on such an engine. Compiles it and throws the program away.
MemoryReport plan_memory(const Graph& graph, const EngineOptions& options);

class Executable;

/// Compiles steps and runs them. One thread at a time may call it; it owns its worker threads and
/// joins them.
class Engine {
public:
    explicit Engine(EngineOptions options);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// The program of this graph in the engine's precision: from the cache by program_hash, else
    /// compiled.
    /// update  of a graph that updates parameters: with other processes each may update a shard of
    ///         the elements, and leave the state in shards, until gather(). None: whatever it
    ///         writes is whole in all processes after each run
    /// errors  exhausted when its peak exceeds memory_bytes_max (says both numbers)
    std::shared_ptr<const Executable> compile(const Graph& graph,
                                              const std::optional<ShardedUpdate>& update = {});

    /// Runs one step. `inputs` by position; a donated input's arrays are overwritten and returned
    /// as that output. Bits do not depend on `workers`. `timeline`: keep when each of its steps
    /// ran. Where the engine chooses its workers it may make the program for fewer first.
    std::vector<Value> run(const Executable& executable, std::span<const Value> inputs,
                           bool timeline = false);

    /// Makes whole what the last run of a program with a ShardedUpdate left in shards: before
    /// anybody but the next run of it reads the state. All processes call it after the same run.
    /// inputs  of the executable, by position, as far as it has state
    void gather(const Executable& executable, std::span<const Array> inputs);

    MemoryReport memory(const Executable& executable) const;
    /// The program as text, for /graphs and golden tests.
    std::string print(const Executable& executable) const;
    const EngineCounters& counters() const;
    /// The most that run a program.
    int workers() const;
    /// How many were chosen, and why.
    const WorkerChoice& worker_choice() const;
    int cores() const;
    /// Where each worker of the last run is kept, or of the next one before the first; none:
    /// anywhere.
    const std::vector<std::optional<int>>& worker_cpus() const;

    const CompileRecord& last_compile() const;
    /// Of the last run, if it was ended by a kernel's exception.
    std::optional<FailedStep> failed_step() const;
    /// Where the time of the last run went; valid until the next.
    const RunTimes& times() const;
    /// Seconds that finding and making the memory of the last run took.
    double binding_s() const;
    /// Seconds that the last run took to change the number of workers before it began.
    double changing_s() const;
    /// For as many workers as ran it last; before the first run, for all.
    const Program& program(const Executable& executable) const;
    /// What it exchanges with the other processes, if there are any.
    const ExchangePlan& exchange_plan(const Executable& executable) const;
    /// What the passes made of its graph: what the program was lowered from.
    const Graph& optimized(const Executable& executable) const;
    /// What is measured: the engine's own are added by it, the others by whoever measures them.
    Metrics& metrics();

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway
