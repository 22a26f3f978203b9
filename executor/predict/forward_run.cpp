#include "executor/predict/forward_run.h"

#include <fmt/format.h>

#include <utility>

#include "executor/explain/graph_page.h"
#include "executor/train/initial_weights.h"

namespace slipway {

StepProgram compile_forward(Engine& engine, TracedStep step, const std::string& name,
                            const std::string& advice, Reporter& reporter) {
    StepProgram program;
    try {
        program = {engine.compile(step.graph), std::move(step.bindings)};
    } catch (const Error& error) {
        if (error.code() != ErrorCode::exhausted) throw;
        throw TrainError("out_of_memory", error.what() + advice);
    }
    const CompileRecord& record = engine.last_compile();
    reporter.compiled({.program = name,
                       .hash = to_hex(record.hash),
                       .seconds = record.seconds,
                       .cached = record.cached,
                       .peak_bytes = engine.memory(*program.executable).peak_bytes,
                       .after_warm_up = record.after_warm_up,
                       .cause = record.cause});
    return program;
}

std::vector<Array> load_network(Model& model, const std::filesystem::path& checkpoint,
                                Reporter& reporter) {
    const LoadedWeights loaded =
        load_initial_weights(model, checkpoint, {.strict = true, .replace_head = false});
    std::vector<Array> network;
    for (const auto* list : {&model.parameters.all(), &model.parameters.statistics()})
        for (const Parameter& parameter : *list)
            network.push_back(parameter.value);
    reporter.log("info", describe(loaded, checkpoint));
    return network;
}

void report_skipped(const TrainData& data, const std::string& effect, Reporter& reporter) {
    if (data.skipped.empty()) return;
    reporter.warning("images_skipped",
                     fmt::format("{} damaged images {}; the first is {}", data.skipped.size(),
                                 effect, to_string(data.skipped.front())));
    for (const DataProblem& problem : data.skipped)
        reporter.log("warn", "left out: " + to_string(problem));
}

void report_accepted(const TrainData& data, Reporter& reporter) {
    if (!data.raw) return;    // text
    for (const DataProblem& problem : data.images().take_accepted())
        reporter.warning("image_accepted", "taken as it is: " + to_string(problem));
}

}    // namespace slipway
