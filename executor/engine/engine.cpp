#include "executor/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <system_error>

#include "api/base/clock.h"
#include "api/base/error.h"
#include "executor/codegen/jit/kernel_store.h"
#include "executor/codegen/lower.h"
#include "executor/engine/program_store.h"
#include "executor/engine/shape_difference.h"
#include "executor/graph/hash.h"
#include "executor/graph/print.h"
#include "executor/passes/pipeline.h"
#include "executor/program/temporary_bytes.h"
#include "executor/runtime/run.h"
#include "executor/runtime/run_plan.h"

// compile() finds a program by the hash of its graph, which the names of inputs do not change, or
// optimises, lowers and compiles it; the least recently used of 64 goes. A program may have been
// made for an earlier engine of the process: it is constant, and what changes in a run (arenas,
// counts, threads) is the engine's own. When a program must be
// made after the warm-up, the shapes of earlier ones say why, for the event that users see. run()
// binds arrays to the program's inputs and outputs: an input that is donated is overwritten and
// must have no other owner, which is checked for every run. What a program of several processes
// leaves in shards is its caller's to gather: the arrays are, and only the caller knows who reads
// them. In debug builds equal hashes are
// checked to mean equal graphs. Where the engine chooses its workers, a program is made for each
// number that is tried, and the runtime is replaced by one with as many threads: one lives at a
// time, so that no arena is there twice.
namespace slipway {

/// A program ready to run, and what is known about it.
class Executable {
public:
    Graph optimized;    ///< what the program was lowered from
    Program program;
    RunPlan plan;
    MemoryReport memory;
    GraphShapes shapes;
    std::string canonical;        ///< the graph it was made from; debug builds only
    bool saves_memory = false;    ///< as of LowerOptions
    ProgramKey key;
    double making_s = 0;    ///< what it took to compile
};

namespace {

// A training job has made its programs by then; each later one costs it time again.
constexpr std::int64_t warm_up_runs = 2;

#ifdef NDEBUG
constexpr bool keeps_canonical = false;
#else
constexpr bool keeps_canonical = true;
#endif

/// The graph as text without input names, which do not make a different program.
std::string canonical_text(const Graph& graph) {
    std::string text = print(graph);
    for (std::size_t at = text.find(" name="); at != std::string::npos;
         at = text.find(" name=", at))
        text.erase(at, text.find('\n', at) - at);
    return text;
}

/// More cores than a block has, here or elsewhere.
bool sums_in_blocks(const EngineOptions& options) {
    return options.cores > block_cores || options.collectives != nullptr;
}

std::int64_t bytes_of(const Slot& slot, int cores) {
    return slot.shape.byte_count() * (slot.per_core ? cores : 1);
}

MemoryReport memory_of(const Program& program, const Team& team, const ExchangePlan& exchange,
                       const Collectives* collectives) {
    MemoryReport report;
    for (const Slot& slot : program.inputs) {
        report.input_bytes += bytes_of(slot, team.cores);
        if (slot.donated) report.donated_bytes += bytes_of(slot, team.cores);
    }
    for (const Slot& slot : program.outputs)
        if (!slot.donated) report.output_bytes += bytes_of(slot, team.cores);
    report.temporary_bytes = temporary_bytes(program, team);
    if (collectives != nullptr)
        report.temporary_bytes += exchange_bytes(program, exchange, *collectives);
    report.constant_bytes = constant_bytes(program);
    report.code_bytes = program.code_bytes;
    report.peak_bytes = report.input_bytes + report.output_bytes + report.temporary_bytes;
    return report;
}

Graph optimized_of(const Graph& graph, const EngineOptions& options) {
    return optimize(graph, {.passes = {.precision = options.precision}}).graph;
}

bool fits(const MemoryReport& report, std::int64_t bytes_max) {
    return bytes_max == 0 || report.peak_bytes <= bytes_max;
}

/// Whether the program would take less if it were made to save memory.
bool can_save_memory(const Program& program, bool saves_memory) {
    return program.replicas_together > 1 && !saves_memory;
}

void require_memory(const MemoryReport& report, std::int64_t bytes_max) {
    if (fits(report, bytes_max)) return;
    throw Error(
        ErrorCode::exhausted,
        fmt::format("one step needs {} bytes (inputs {}, outputs {}, temporaries {}), more "
                    "than the limit of {}; use a smaller batch or model, or raise the limit",
                    report.peak_bytes, report.input_bytes, report.output_bytes,
                    report.temporary_bytes, bytes_max));
}

/// The addresses of an input's arrays; they must be what the program was compiled for.
std::vector<std::byte*> addresses_of(const Value& value, const Slot& slot, std::size_t position,
                                     int cores) {
    const auto count = std::size_t(slot.per_core ? cores : 1);
    if (value.arrays.size() != count)
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("run: input {} needs {} arrays, got {}", position, count,
                                value.arrays.size()));
    std::vector<std::byte*> addresses;
    for (Array array : value.arrays) {
        if (array.empty() || array.shape() != slot.shape)
            throw Error(ErrorCode::invalid_argument,
                        fmt::format("run: input {} is {}, got {}", position, to_string(slot.shape),
                                    array.empty() ? "nothing" : to_string(array.shape())));
        addresses.push_back(array.bytes());
    }
    return addresses;
}

/// What is overwritten must not be seen under another name.
void require_sole_owners(const Program& program, const Bindings& bindings) {
    std::vector<const std::byte*> all;
    for (const auto& addresses : bindings.inputs)
        all.insert(all.end(), addresses.begin(), addresses.end());
    std::ranges::sort(all);
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
        if (!program.inputs[i].donated) continue;
        const std::byte* const address = bindings.inputs[i][0];
        if (std::ranges::upper_bound(all, address) - std::ranges::lower_bound(all, address) > 1)
            throw Error(ErrorCode::invalid_argument,
                        fmt::format("run: input {} is donated and shares its memory with another "
                                    "input; clone one of them",
                                    i));
    }
}

double seconds_since(Tick begin) {
    return std::chrono::duration<double>(system_clock().tick() - begin).count();
}

}    // namespace

struct Engine::Parts {
    explicit Parts(const EngineOptions& the_options)
        : options(the_options),
          granted(make_team(the_options.cores, the_options.workers)),
          choice(chooses(the_options) ? granted.workers : 1) {
        make_runtime(granted.workers);
    }

    static bool chooses(const EngineOptions& options) {
        return options.chooses_workers && options.collectives == nullptr;
    }

    int wanted_workers() const { return chooses(options) ? choice.workers() : granted.workers; }

    void make_runtime(int workers) {
        runtime.reset();    // its threads and CPUs first
        runtime = std::make_unique<Runtime>(Team{.cores = granted.cores, .workers = workers},
                                            options.cpu_scope, options.collectives);
    }

    /// Nothing is in shards where there is no other process.
    std::optional<ShardedUpdate> sharded(const std::optional<ShardedUpdate>& update) const {
        return options.collectives != nullptr ? update : std::nullopt;
    }

    ProgramKey key_of(const Hash128& hash, const std::optional<ShardedUpdate>& update) const {
        Hasher hasher;
        hasher.add(hash);
        for (const std::size_t input : update ? update->state : std::vector<std::size_t>{})
            hasher.add(std::uint64_t(input));
        return {.hash = update ? hasher.finish() : hash,
                .cores = granted.cores,
                .workers = granted.workers,
                .in_blocks = sums_in_blocks(options)};
    }

    std::shared_ptr<const Executable> find_in(ProgramStore& store, const Graph& graph,
                                              const ProgramKey& key) const {
        auto executable = store.find(key);
        check(!keeps_canonical || !executable || executable->canonical == canonical_text(graph),
              "equal hashes mean equal graphs");
        return executable;
    }

    /// A program of an earlier engine; that one may have had another limit of memory.
    std::shared_ptr<const Executable> find_earlier(const Graph& graph, const ProgramKey& key) {
        if (options.programs == nullptr) return nullptr;
        auto executable = find_in(*options.programs, graph, key);
        if (!executable) return nullptr;
        if (!fits(executable->memory, options.memory_bytes_max) &&
            can_save_memory(executable->program, executable->saves_memory))
            return nullptr;
        require_memory(executable->memory, options.memory_bytes_max);
        programs.insert(key, executable);
        return executable;
    }

    void insert(const ProgramKey& key, const std::shared_ptr<const Executable>& executable) {
        programs.insert(key, executable);
        if (options.programs != nullptr) options.programs->insert(key, executable);
    }

    /// Why a program must be made, when others were made before and have run.
    std::string cause_of(const GraphShapes& shapes) const {
        std::vector<const GraphShapes*> known;
        for (const auto& [key, executable] : programs.entries())
            known.push_back(&executable->shapes);
        if (known.empty()) return {};
        return difference(shapes, *known[nearest_shapes(shapes, known)]);
    }

    void measure_compile(const Executable& executable, double seconds) {
        const Tick now = system_clock().tick();
        const auto donated = std::ranges::count_if(
            executable.program.inputs, [](const Slot& slot) { return slot.donated.has_value(); });
        metrics.add(Metric::compile_time, seconds, now);
        metrics.add(Metric::input_output_alias_count, double(donated), now);
        metrics.count(Counter::uncached_compile);
        metrics.count(Counter::create_compile_handles);
        ++counters.compiles;
        counters.compile_s += seconds;
    }

    void measure_run(const Executable& executable) {
        const RunTimes& times = runtime->times();
        std::chrono::duration<double> waiting{0}, reducing{0}, running{0};
        for (const WorkerTimes& worker : times.workers) {
            waiting += worker.waiting;
            running += worker.end - worker.begin;
            reducing = std::max<std::chrono::duration<double>>(reducing, worker.reducing);
        }
        const Tick end = times.end;
        const double execute_s = std::chrono::duration<double>(end - times.begin).count();
        metrics.add(Metric::execute_time, execute_s, end);
        metrics.add(Metric::device_lock_wait,
                    std::chrono::duration<double>(times.start_wait()).count(), end);
        metrics.add(Metric::barrier_wait_time, waiting.count() / double(times.workers.size()), end);
        metrics.add(Metric::all_reduce_time, reducing.count(), end);
        metrics.count(Counter::mark_step);
        if (!have_run.insert(&executable).second) metrics.count(Counter::cached_compile);
        ++counters.executions;
        counters.execute_s += execute_s;
        if (chooses(options))
            choose_by(executable, {.seconds = execute_s, .working_s = (running - waiting).count()});
    }

    /// One program decides for all: the one that takes most of the time.
    void choose_by(const Executable& executable, const TimedRun& run) {
        double& mine_s = spent_s[&executable];
        mine_s += run.seconds;
        if (deciding == nullptr || mine_s > 2 * spent_s[deciding]) {
            if (deciding != nullptr && deciding != &executable) choice.restart();
            deciding = &executable;
        }
        if (deciding == &executable) choice.ran(run);
        // Of programs that are long gone.
        if (spent_s.size() > 2 * ProgramStore::programs_max) spent_s = {{&executable, run.seconds}};
        if (in_use.size() > 2 * ProgramStore::programs_max) in_use.clear();
    }

    /// The program for so many workers; null: it would take too much memory.
    std::shared_ptr<const Executable> made_for(const Executable& executable, int workers) {
        ProgramKey key = executable.key;
        key.workers = workers;
        std::shared_ptr<const Executable> made = programs.find(key);
        if (!made && options.programs != nullptr) made = options.programs->find(key);
        if (!made) {
            const Tick begin = system_clock().tick();
            auto fresh = std::make_shared<Executable>();
            fresh->shapes = executable.shapes;
            fresh->optimized = executable.optimized;
            fresh->canonical = executable.canonical;
            lower_for(*fresh, {.cores = granted.cores, .workers = workers}, {});
            fresh->key = key;
            fresh->making_s = seconds_since(begin);
            counters.compile_s += fresh->making_s;
            made = fresh;
            if (options.programs != nullptr) options.programs->insert(key, made);
        }
        if (!fits(made->memory, options.memory_bytes_max)) return nullptr;
        programs.insert(key, made);
        return made;
    }

    /// What runs the program with as many workers as are wanted, and the runtime for it.
    const Executable& ready(const Executable& executable) {
        changing_s = 0;
        const int wanted = needs_all.contains(&executable) ? granted.workers : wanted_workers();
        if (last_used(executable).key.workers == wanted && runtime->team().workers == wanted)
            return last_used(executable);
        const Tick begin = system_clock().tick();
        std::shared_ptr<const Executable>& used = in_use[&executable];
        used = wanted == granted.workers ? nullptr : made_for(executable, wanted);
        if (!used && wanted != granted.workers) {
            needs_all.insert(&executable);
            if (deciding == &executable) choice.cannot_run(wanted);
        }
        change_runtime(executable, used);
        changing_s = seconds_since(begin);
        return last_used(executable);
    }

    /// A runtime for what `used` was made for. Where the system refuses a further thread, one
    /// worker goes on, which is the calling thread.
    void change_runtime(const Executable& executable, std::shared_ptr<const Executable>& used) {
        const int workers = last_used(executable).key.workers;
        if (runtime->team().workers == workers) return;
        try {
            make_runtime(workers);
        } catch (const std::system_error&) {
            // Not the end of a job that has run until now.
            make_runtime(1);
            choice.cannot_start(workers);
            used = made_for(executable, 1);
            if (!used) throw;
        }
    }

    /// What the caller has may be another program at an address that one had before.
    const Executable& last_used(const Executable& executable) const {
        const auto used = in_use.find(&executable);
        const bool is_known =
            used != in_use.end() && used->second && used->second->key.hash == executable.key.hash;
        return is_known ? *used->second : executable;
    }

    std::shared_ptr<Executable> build(const Graph& graph, const ProgramKey& key,
                                      const std::optional<ShardedUpdate>& update) const {
        const auto executable = std::make_shared<Executable>();
        executable->shapes = shapes_of(graph);
        executable->optimized = optimized_of(graph, options);
        executable->key = key;
        lower_for(*executable, granted, update);
        require_memory(executable->memory, options.memory_bytes_max);
        if (keeps_canonical) executable->canonical = canonical_text(graph);
        return executable;
    }

    /// The program of its optimised graph; where it does not fit, one that saves memory.
    void lower_for(Executable& executable, const Team& team,
                   const std::optional<ShardedUpdate>& update) const {
        const auto make_program = [&](bool saves_memory) {
            executable.saves_memory = saves_memory;
            executable.program = lower(executable.optimized, {.workers = team.workers,
                                                              .cores = team.cores,
                                                              .in_blocks = sums_in_blocks(options),
                                                              .saves_memory = saves_memory,
                                                              .kernels = kernels});
            executable.plan = make_run_plan(executable.program, team, update);
            executable.memory =
                memory_of(executable.program, team, executable.plan.exchange, options.collectives);
        };
        make_program(false);
        if (!fits(executable.memory, options.memory_bytes_max) &&
            can_save_memory(executable.program, false))
            make_program(true);
    }

    Bindings bind(const Program& program, std::span<const Value> inputs,
                  std::vector<Value>& outputs) const {
        Bindings bindings;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            bindings.inputs.push_back(addresses_of(inputs[i], program.inputs[i], i, granted.cores));
        require_sole_owners(program, bindings);
        for (const Slot& slot : program.outputs) {
            Value& output = outputs.emplace_back();
            if (slot.donated) {
                output = inputs[*slot.donated];
            } else {
                for (int core = 0; core < (slot.per_core ? granted.cores : 1); ++core)
                    output.arrays.emplace_back(slot.shape);
            }
            std::vector<std::byte*>& addresses = bindings.outputs.emplace_back();
            for (Array& array : output.arrays)
                addresses.push_back(array.bytes());
        }
        return bindings;
    }

    const EngineOptions options;
    // Shared: programs keep it alive, and all of an engine's programs share its kernels.
    const std::shared_ptr<KernelStore> kernels = std::make_shared<KernelStore>(options.cache);
    const Team granted;
    WorkerChoice choice;
    std::unique_ptr<Runtime> runtime;    ///< never null
    EngineCounters counters;
    Metrics metrics;
    CompileRecord compiled;
    double binding_s = 0, changing_s = 0;
    double making_s = 0;                     ///< of all programs that were asked for
    ProgramStore programs;                   ///< of this engine
    std::set<const Executable*> have_run;    ///< of them
    /// By what the caller has: the program for another number of workers that ran last.
    std::map<const Executable*, std::shared_ptr<const Executable>> in_use;
    std::set<const Executable*> needs_all;    ///< fewer workers would take too much memory
    std::map<const Executable*, double> spent_s;
    const Executable* deciding = nullptr;    ///< whose runs are compared
};

Engine::Engine(EngineOptions options) : parts_(std::make_unique<Parts>(options)) {}
Engine::~Engine() = default;

std::shared_ptr<const Executable> Engine::compile(const Graph& graph,
                                                  const std::optional<ShardedUpdate>& update) {
    Parts& parts = *parts_;
    const std::optional<ShardedUpdate> sharded = parts.sharded(update);
    const Tick begin = system_clock().tick();
    const Hash128 hash = program_hash(graph, parts.options.precision);
    const ProgramKey key = parts.key_of(hash, sharded);
    auto executable = parts.find_in(parts.programs, graph, key);
    const bool repeated = executable != nullptr;
    if (!executable) executable = parts.find_earlier(graph, key);
    parts.compiled = {
        .hash = hash, .cached = executable != nullptr, .repeated = repeated, .cause = {}};
    if (executable) {
        ++parts.counters.cached_compiles;
    } else {
        const auto made = parts.build(graph, key, sharded);
        parts.compiled.seconds = made->making_s = seconds_since(begin);
        executable = made;
        parts.compiled.after_warm_up = parts.counters.executions >= warm_up_runs;
        if (parts.compiled.after_warm_up) parts.compiled.cause = parts.cause_of(executable->shapes);
        parts.measure_compile(*executable, parts.compiled.seconds);
        parts.insert(key, executable);
    }
    if (!repeated) parts.making_s += executable->making_s;
    parts.choice.made_program(parts.making_s);
    parts.metrics.add(Metric::tensors_graph_size, double(executable->shapes.nodes),
                      system_clock().tick());
    return executable;
}

std::vector<Value> Engine::run(const Executable& executable, std::span<const Value> inputs,
                               bool timeline) {
    if (inputs.size() != executable.program.inputs.size())
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("run: the graph has {} inputs, got {}",
                                executable.program.inputs.size(), inputs.size()));
    const Executable& used = parts_->ready(executable);
    const Program& program = used.program;
    const Tick begin = system_clock().tick();
    std::vector<Value> outputs;
    const Bindings bindings = parts_->bind(program, inputs, outputs);
    parts_->binding_s = seconds_since(begin);
    parts_->runtime->run(program, used.plan, bindings, timeline);
    parts_->measure_run(executable);
    return outputs;
}

void Engine::gather(const Executable& executable, std::span<const Array> inputs) {
    std::vector<std::byte*> addresses;
    for (Array array : inputs)
        addresses.push_back(array.bytes());
    parts_->runtime->gather(executable.program, executable.plan, addresses);
}

std::optional<FailedStep> Engine::failed_step() const {
    return parts_->runtime->failed_step();
}

MemoryReport Engine::memory(const Executable& executable) const {
    return executable.memory;
}

std::string Engine::print(const Executable& executable) const {
    return slipway::print(executable.program);
}

const EngineCounters& Engine::counters() const {
    return parts_->counters;
}

int Engine::workers() const {
    return parts_->granted.workers;
}

const WorkerChoice& Engine::worker_choice() const {
    return parts_->choice;
}

int Engine::cores() const {
    return parts_->granted.cores;
}

const std::vector<std::optional<int>>& Engine::worker_cpus() const {
    return parts_->runtime->worker_cpus();
}

const CompileRecord& Engine::last_compile() const {
    return parts_->compiled;
}

const RunTimes& Engine::times() const {
    return parts_->runtime->times();
}

double Engine::binding_s() const {
    return parts_->binding_s;
}

double Engine::changing_s() const {
    return parts_->changing_s;
}

const Program& Engine::program(const Executable& executable) const {
    return parts_->last_used(executable).program;
}

const ExchangePlan& Engine::exchange_plan(const Executable& executable) const {
    return executable.plan.exchange;
}

const Graph& Engine::optimized(const Executable& executable) const {
    return executable.optimized;
}

Metrics& Engine::metrics() {
    return parts_->metrics;
}

Hash128 program_hash(const Graph& graph, PrecisionPolicy precision) {
    const Hash128 hash = hash_of(graph);
    if (precision == PrecisionPolicy::f32) return hash;
    Hasher hasher;
    hasher.add(hash);
    hasher.add(std::uint64_t(precision));
    return hasher.finish();
}

std::string code_compiler() {
    return compiler_version();
}

MemoryReport plan_memory(const Graph& graph, const EngineOptions& options) {
    const Team team = make_team(options.cores, options.workers);
    const Graph optimized = optimized_of(graph, options);
    const auto report_of = [&](const Program& program) {
        return memory_of(program, team, make_exchange_plan(program, team.cores),
                         options.collectives);
    };
    LowerOptions lowering{
        .workers = team.workers, .cores = team.cores, .in_blocks = sums_in_blocks(options)};
    const Program program = lower(optimized, lowering);
    const MemoryReport report = report_of(program);
    if (fits(report, options.memory_bytes_max) || !can_save_memory(program, false)) return report;
    lowering.saves_memory = true;
    return report_of(lower(optimized, lowering));
}

}    // namespace slipway
