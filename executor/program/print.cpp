#include <fmt/format.h>
#include <fmt/ranges.h>

#include "executor/program/program.h"

namespace slipway {

namespace {

std::string place_of(const Program& program, BufferId id) {
    const Buffer& buffer = program.buffers[id];
    if (buffer.region == Region::input || buffer.region == Region::output)
        return fmt::format("{}{}", to_string(buffer.region), buffer.position);
    return fmt::format("{}+{}", to_string(buffer.region), buffer.offset);
}

std::string names_of(const Program& program, const std::vector<BufferId>& ids) {
    std::vector<std::string> names;
    for (const BufferId id : ids)
        names.push_back(fmt::format("%{}@{}", id, place_of(program, id)));
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string print(std::string_view kind, std::size_t position, const Slot& slot) {
    const std::string donated =
        slot.donated ? fmt::format(" donated {}", *slot.donated) : std::string();
    return fmt::format("{}{} {}{}{}\n", kind, position, to_string(slot.shape),
                       slot.per_core ? " per_core" : "", donated);
}

std::string print(const Program& program, const Step& step) {
    std::string text = fmt::format("    {} <- {} <- {}", names_of(program, step.writes), step.name,
                                   names_of(program, step.reads));
    for (const auto& [read, write] : step.in_place)
        text += fmt::format(" in_place({},{})", read, write);
    if (step.elements > 0) text += fmt::format(" elements={}", step.elements);
    if (step.batches_cores) text += " batches_cores";
    if (step.has_coarse_elements) text += " has_coarse_elements";
    if (step.together) text += " together";
    if (step.continues) text += " continues";
    return text + "\n";
}

}    // namespace

std::string_view to_string(Region region) {
    static constexpr std::array<std::string_view, region_count> names{
        "input", "output", "constant", "worker", "core", "shared", "sum"};
    return names[std::size_t(region)];
}

std::string print(const Program& program) {
    static constexpr std::array<std::string_view, 3> combines{"add", "maximum", "minimum"};
    std::string text = "program\n";
    if (program.replicas_together > 1)
        text += fmt::format("replicas_together {}\n", program.replicas_together);
    if (program.cores > 0) text += fmt::format("cores {}\n", program.cores);
    for (std::size_t i = 0; i < program.inputs.size(); ++i)
        text += print("input", i, program.inputs[i]);
    for (std::size_t i = 0; i < program.outputs.size(); ++i)
        text += print("output", i, program.outputs[i]);
    for (const Region region : {Region::worker, Region::core, Region::shared, Region::sum})
        text += fmt::format("arena {} {} bytes\n", to_string(region),
                            program.arena_bytes[std::size_t(region)]);
    text += fmt::format("constants {} bytes\n", constant_bytes(program));
    for (const Stage& stage : program.stages) {
        text += fmt::format("stage {}\n", stage.per_core ? "per_core" : "replicated");
        for (std::size_t i = 0; i < stage.step_count; ++i) {
            if (i + stage.block_step_count == stage.step_count && stage.block_step_count > 0)
                text += fmt::format("  for each {} cores\n", block_cores);
            text += print(program, program.steps[stage.first_step + i]);
        }
        for (const Sum& sum : stage.sums)
            text +=
                fmt::format("    all_reduce {}{} {}{}\n", combines[std::size_t(sum.combine)],
                            sum.rounds_to_bf16 ? " as bf16" : "", names_of(program, {sum.buffer}),
                            sum.waiting ? " waiting " + names_of(program, {*sum.waiting}) : "");
    }
    return text;
}

}    // namespace slipway
