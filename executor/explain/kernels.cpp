#include "executor/explain/kernels.h"

#include <algorithm>
#include <array>

namespace slipway {

bool is_arithmetic(std::string_view step_name) {
    constexpr std::array<std::string_view, 4> beginnings{"dot", "convolution", "matmul",
                                                         "attention"};
    return std::ranges::any_of(beginnings, [step_name](std::string_view beginning) {
        return step_name.starts_with(beginning);
    });
}

std::int64_t bytes_touched(const Program& program, const Step& step) {
    std::int64_t bytes = 0;
    for (const auto* ids : {&step.reads, &step.writes})
        for (const BufferId id : *ids)
            bytes += program.buffers[id].shape.byte_count();
    return bytes;
}

void KernelTimes::add(const Program& program, const RunTimes& times) {
    seconds_.resize(program.steps.size());
    calls_.resize(program.steps.size());
    for (const WorkerTimes& worker : times.workers)
        for (const StepSpan& span : worker.steps) {
            seconds_[span.step] += std::chrono::duration<double>(span.end - span.begin).count();
            ++calls_[span.step];
        }
    ++runs_;
}

std::vector<KernelTime> KernelTimes::slowest(const Program& program) const {
    std::vector<KernelTime> kernels;
    if (runs_ == 0) return kernels;
    for (const Stage& stage : program.stages)
        for (std::size_t i = stage.first_step; i < stage.first_step + stage.step_count; ++i) {
            const Step& step = program.steps[i];
            const std::int64_t calls = calls_[i] / runs_;
            // Slices of a replicated step are parts of one call.
            const std::int64_t whole = stage.per_core ? calls : 1;
            kernels.push_back({.name = step.name,
                               .per_core = stage.per_core,
                               .arithmetic = is_arithmetic(step.name),
                               .calls = calls,
                               .seconds = seconds_[i] / double(runs_),
                               .bytes = whole * bytes_touched(program, step)});
        }
    std::ranges::stable_sort(kernels, std::ranges::greater(), &KernelTime::seconds);
    return kernels;
}

}    // namespace slipway
