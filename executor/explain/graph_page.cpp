#include "executor/explain/graph_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>

#include "executor/graph/print.h"

namespace slipway {

namespace {

Json slot_json(const std::string& name, const Slot& slot) {
    Json json{{"name", name},
              {"shape", to_string(slot.shape)},
              {"per_core", slot.per_core},
              {"bytes", slot.shape.byte_count()},
              {"aliased", nullptr}};
    if (slot.donated) json["aliased"] = *slot.donated;
    return json;
}

std::string input_name(const Graph& graph, std::size_t position) {
    const auto* attributes =
        std::get_if<InputAttributes>(&graph.inputs[position].node().attributes);
    return attributes != nullptr ? attributes->name : std::string();
}

/// Every step of the program, with what it touches; times are in the report, where they are known.
Json steps_json(const Program& program) {
    Json steps = Json::array();
    for (const Stage& stage : program.stages)
        for (std::size_t i = stage.first_step; i < stage.first_step + stage.step_count; ++i) {
            const Step& step = program.steps[i];
            steps.push_back({{"name", step.name},
                             {"per_core", stage.per_core},
                             {"arithmetic", is_arithmetic(step.name)},
                             {"bytes", bytes_touched(program, step)}});
        }
    return steps;
}

}    // namespace

std::string to_hex(const Hash128& hash) {
    return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

Json memory_json(const MemoryReport& memory) {
    return {{"input_bytes", memory.input_bytes},       {"output_bytes", memory.output_bytes},
            {"aliased_bytes", memory.donated_bytes},   {"temporary_bytes", memory.temporary_bytes},
            {"constant_bytes", memory.constant_bytes}, {"code_bytes", memory.code_bytes},
            {"peak_bytes", memory.peak_bytes}};
}

Json kernels_json(const std::vector<KernelTime>& kernels, std::size_t count_max) {
    double total = 0;
    for (const KernelTime& kernel : kernels)
        total += kernel.seconds;
    Json json = Json::array();
    for (std::size_t i = 0; i < std::min(count_max, kernels.size()); ++i) {
        const KernelTime& kernel = kernels[i];
        const bool measured = kernel.seconds > 0;
        json.push_back({{"name", kernel.name},
                        {"per_core", kernel.per_core},
                        {"arithmetic", kernel.arithmetic},
                        {"calls", kernel.calls},
                        {"seconds", kernel.seconds},
                        {"share", measured ? kernel.seconds / total : 0.0},
                        {"bytes", kernel.bytes},
                        {"bytes_per_s", measured ? double(kernel.bytes) / kernel.seconds : 0.0}});
    }
    return json;
}

Json graph_summary(const std::string& program, const CompileRecord& compiled, const Graph& graph,
                   const Program& lowered, const MemoryReport& memory) {
    return {{"hash", to_hex(compiled.hash)},
            {"program", program},
            {"nodes", topological_order(graph).size()},
            {"inputs", lowered.inputs.size()},
            {"outputs", lowered.outputs.size()},
            {"kernels", lowered.steps.size()},
            {"compile_s", compiled.seconds},
            {"after_warm_up", compiled.after_warm_up},
            {"cause", compiled.cause.empty() ? Json() : Json(compiled.cause)},
            {"memory", memory_json(memory)}};
}

Json graph_page(Json summary, const Graph& graph, const Program& lowered) {
    Json page = std::move(summary);
    Json inputs = Json::array();
    Json outputs = Json::array();
    for (std::size_t i = 0; i < lowered.inputs.size(); ++i)
        inputs.push_back(slot_json(input_name(graph, i), lowered.inputs[i]));
    for (std::size_t i = 0; i < lowered.outputs.size(); ++i)
        outputs.push_back(slot_json(fmt::format("output {}", i), lowered.outputs[i]));
    page["input_slots"] = std::move(inputs);
    page["output_slots"] = std::move(outputs);
    page["steps"] = steps_json(lowered);
    page["ir"] = print(graph);
    page["text"] = print(lowered);
    return page;
}

}    // namespace slipway
