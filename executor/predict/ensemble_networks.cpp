#include "executor/predict/ensemble_networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "api/spec/documents.h"
#include "executor/predict/forward_run.h"
#include "executor/predict/trained_job.h"
#include "executor/train/evaluate.h"
#include "executor/train/train_error.h"

// Every network sees a batch before the next batch is decoded: decoding is most of the work where
// samples are image files, and outputs need not be kept until the last network has run. The price
// is that the weights of all networks are in memory, while activations, which are more, are those
// of one (docs/decisions/0066).
namespace slipway {

namespace {

/// The plan's own spec with the network of one of its checkpoints.
JobSpec spec_of_member(const AttemptPlan& plan, std::size_t index) {
    JobSpec spec = plan.spec;
    if (index == 0) return spec;
    spec.model = read_trained_job(plan.inference->checkpoints[index]).spec.model;
    spec.model.init.reset();
    spec.model.head = {};
    return spec;
}

std::int64_t bytes_of(const std::vector<Array>& network) {
    std::int64_t bytes = 0;
    for (const Array& array : network)
        bytes += array.byte_count();
    return bytes;
}

}    // namespace

EnsembleNetworks::EnsembleNetworks(const AttemptPlan& plan, const TrainData& data, Engine& engine,
                                   const Wanted& wanted, Reporter& reporter)
    : engine_(engine) {
    const Task task{.trace = [&](const Model& model, const BatchInputs& batch,
                                 ForwardPass& pass) -> std::vector<TaskSum> {
                        return {{"rows", wanted.trace(model, batch, pass), true}};
                    },
                    .values = {}};
    std::vector<Json> compiled;    // the architecture of each program
    for (std::size_t i = 0; i < plan.inference->checkpoints.size(); ++i) {
        const JobSpec spec = spec_of_member(plan, i);
        Model model = build_model(spec, data.evaluated().shape().features.dims, data.class_count,
                                  Init::zeros(), data.details(), plan.inference->checkpoints[i]);
        Json architecture = encode(spec).at("model");
        const auto found = std::ranges::find(compiled, architecture);
        const auto program = std::size_t(found - compiled.begin());
        if (found == compiled.end()) {
            TracedStep step = trace_evaluation_step(model, task, wanted.batch);
            require_width(step, plan.inference->checkpoints[i]);
            programs_.push_back(
                compile_forward(engine, std::move(step), wanted.program, wanted.advice, reporter));
            compiled.push_back(std::move(architecture));
        }
        members_.push_back(
            {program, load_network(model, plan.inference->checkpoints[i], reporter)});
        require_memory(plan, wanted.advice);
    }
}

void EnsembleNetworks::require_width(const TracedStep& step,
                                     const std::filesystem::path& checkpoint) {
    const Tensor& rows =
        step.bindings.outputs.of(std::span(step.graph.outputs), StepOutput::rows).front();
    if (programs_.empty()) width_ = rows.dims()[1];
    if (rows.dims()[1] == width_) return;
    throw TrainError("spec_error",
                     fmt::format("the networks of an ensemble have the same outputs, and that of "
                                 "{} has {} where the first one has {}; leave one of them out",
                                 checkpoint.string(), rows.dims()[1], width_));
}

/// The engine has looked at each program with the weights of one network.
void EnsembleNetworks::require_memory(const AttemptPlan& plan, const std::string& advice) const {
    if (plan.memory_bytes_max == 0) return;
    std::int64_t weights = 0, peak = 0;
    for (const Member& member : members_) {
        const std::int64_t own = bytes_of(member.network);
        weights += own;
        peak =
            std::max(peak, engine_.memory(*programs_[member.program].executable).peak_bytes - own);
    }
    if (weights + peak <= plan.memory_bytes_max) return;
    throw TrainError(
        "out_of_memory",
        fmt::format("the weights of {} networks are {} bytes and a batch needs {} more, and the "
                    "memory limit is {}; name fewer checkpoints, raise accelerator.memory_bytes{}",
                    members_.size(), weights, peak, plan.memory_bytes_max, advice));
}

std::vector<Value> EnsembleNetworks::run(const EnsembleViews& views,
                                         const std::vector<LoadedBatch>& batches) const {
    std::vector<Value> said;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const StepProgram& program = programs_[members_[i].program];
        StepValues values(program.bindings.inputs);
        set_network(values, members_[i].network);
        set_batch(values, batches[views.view_of(i)]);
        const std::vector<Value> outputs =
            engine_.run(*program.executable, std::move(values).take());
        said.push_back(program.bindings.outputs.of(std::span(outputs), StepOutput::rows).front());
    }
    return said;
}

OutputRow row_of(const Value& said, std::size_t core, std::size_t place, std::size_t size) {
    check(core < said.arrays.size(), "each core has rows of its own");
    const std::span<const float> numbers = said.arrays[core].as<float>();
    const std::size_t width = numbers.size() / size;
    return numbers.subspan(place * width, width);
}

}    // namespace slipway
