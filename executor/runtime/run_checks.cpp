#include "executor/runtime/run_checks.h"

#include <algorithm>
#include <span>

#include "api/base/check.h"

namespace slipway {

namespace {

void check_bindings(const std::vector<Slot>& slots,
                    const std::vector<std::vector<std::byte*>>& addresses, int cores) {
    check(slots.size() == addresses.size(), "every slot is bound");
    for (std::size_t i = 0; i < slots.size(); ++i)
        check(addresses[i].size() == std::size_t(slots[i].per_core ? cores : 1),
              "a slot is bound once, or once per core");
}

bool joins_all_cores(const Program& program) {
    return std::ranges::any_of(program.stages, [&](const Stage& stage) {
        const auto steps = std::span(program.steps).subspan(stage.first_step, stage.step_count);
        return !stage.per_core && std::ranges::any_of(steps, &Step::batches_cores);
    });
}

}    // namespace

void check_run(const Program& program, const RunPlan& plan, const Bindings& bindings,
               const RunningTeam& running) {
    const int cores = running.team.cores;
    check_bindings(program.inputs, bindings.inputs, cores);
    check_bindings(program.outputs, bindings.outputs, cores);
    check(plan.steps.size() == program.steps.size() && plan.stages.size() == program.stages.size(),
          "the plan is of this program");
    check(program.replicas_together == 1 || program.replicas_together == plan.blocks.front().count,
          "the program was made for blocks of this size");
    check(program.cores == 0 || program.cores == cores,
          "the program was made for this number of cores");
    check(!running.has_other_processes || !joins_all_cores(program),
          "a program for several processes has no step that reads the values of all cores");
}

}    // namespace slipway
