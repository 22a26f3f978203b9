#include "executor/train/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/explain/graph_page.h"
#include "executor/train/fitting_batch.h"
#include "executor/train/run_options.h"
#include "executor/train/settings.h"
#include "executor/train/train_error.h"

namespace slipway {

namespace {

bool accumulates(const ProgramSources& sources) {
    return sources.sampler.batches_per_step > 1;
}

bool evaluates(const ProgramSources& sources) {
    return !sources.data.split.val.empty();
}

BatchShape shape_of(const ProgramSources& sources, std::int64_t batch_size) {
    return {batch_size, sources.data.training->shape()};
}

TracedStep train_step(const ProgramSources& sources, std::int64_t batch_size) {
    return trace_train_step(sources.model, sources.task, sources.update,
                            shape_of(sources, batch_size),
                            accumulates(sources) ? Accumulation::finished : Accumulation::none);
}

TracedStep accumulation_step(const ProgramSources& sources, std::int64_t batch_size) {
    return trace_accumulation_step(sources.model, sources.task, sources.update,
                                   shape_of(sources, batch_size));
}

TracedStep evaluation_step(const ProgramSources& sources, std::int64_t batch_size) {
    return trace_evaluation_step(sources.model, sources.task,
                                 {batch_size, sources.data.evaluated().shape()});
}

template <class Make>
auto traced(Explainer& explainer, const Make& make) {
    const auto timed = explainer.time(Phase::trace);
    return make();
}

/// A step that updates parameters may leave the optimizer's state in shards: the run gathers it.
std::optional<ShardedUpdate> sharded_update(const StepBindings& bindings) {
    if (bindings.outputs.count(StepOutput::parameters) == 0) return std::nullopt;
    ShardedUpdate update;
    for (std::size_t i = 0; i < bindings.inputs.count(StepInput::optimizer_state); ++i)
        update.state.push_back(bindings.inputs.first(StepInput::optimizer_state) + i);
    return update;
}

/// Traces a step by `make` and compiles it.
template <class Make>
StepProgram compile_one(const ProgramPlace& place, const std::string& name, const Make& make) {
    TracedStep step = traced(place.explainer, make);
    std::shared_ptr<const Executable> executable;
    {
        const auto timed = place.explainer.time(Phase::compile);
        executable = place.engine.compile(step.graph, sharded_update(step.bindings));
    }
    place.report.compiled(name, step.graph, *executable);
    const CompileRecord& record = place.engine.last_compile();
    place.reporter.compiled({.program = name,
                             .hash = to_hex(record.hash),
                             .seconds = record.seconds,
                             .cached = record.cached,
                             .peak_bytes = place.engine.memory(*executable).peak_bytes,
                             .after_warm_up = record.after_warm_up,
                             .cause = record.cause});
    return {std::move(executable), std::move(step.bindings)};
}

TrainPrograms compile_all(const ProgramSources& sources, const ProgramPlace& place) {
    const std::int64_t batch_size = sources.sampler.batch_size_per_core;
    TrainPrograms programs;
    programs.train =
        compile_one(place, "train_step", [&] { return train_step(sources, batch_size); });
    if (accumulates(sources))
        programs.accumulation = compile_one(place, "accumulation_step",
                                            [&] { return accumulation_step(sources, batch_size); });
    if (evaluates(sources))
        programs.evaluation = compile_one(place, "evaluation_step",
                                          [&] { return evaluation_step(sources, batch_size); });
    return programs;
}

/// How much smaller the batch must be, for a job that needs more memory than it may have.
std::string batch_advice(const ProgramSources& sources) {
    const AttemptPlan& plan = sources.plan;
    JobSpec spec = plan.spec;
    const auto peak = [&](std::int64_t asked) {
        spec.train.batch_size_per_core = asked;
        const SamplerOptions options = sampler_options(spec, part_threads(plan));
        const auto members = std::int64_t(plan.member ? plan.member->hosts.size() : 1);
        const EngineOptions engine = engine_options(plan, options.cores / members, nullptr);
        const std::int64_t batch_size = options.batch_size_per_core;
        std::vector<Graph> graphs{train_step(sources, batch_size).graph};
        if (accumulates(sources)) graphs.push_back(accumulation_step(sources, batch_size).graph);
        if (evaluates(sources)) graphs.push_back(evaluation_step(sources, batch_size).graph);
        std::int64_t needed = 0;
        for (const Graph& graph : graphs)
            needed = std::max(needed, plan_memory(graph, engine).peak_bytes);
        return needed;
    };
    const std::int64_t largest =
        largest_fitting_batch(plan.spec.train.batch_size_per_core, plan.memory_bytes_max, peak);
    if (largest == 0) return "; not even one sample per core fits";
    return fmt::format(
        "; the largest train.batch_size_per_core that fits is {}; with train.grad_accumulation a "
        "step can still have as many samples",
        largest);
}

}    // namespace

TrainPrograms compile_programs(const ProgramSources& sources, const ProgramPlace& place) {
    try {
        return compile_all(sources, place);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::exhausted) throw;
        throw TrainError("out_of_memory", error.what() + batch_advice(sources));
    }
}

}    // namespace slipway
