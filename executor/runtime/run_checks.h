#pragma once

#include "executor/program/program.h"
#include "executor/runtime/run.h"
#include "executor/runtime/run_plan.h"

namespace slipway {

struct RunningTeam {
    Team team;
    bool has_other_processes = false;
};

/// Programming errors of whoever starts a run: a plan, bindings or a team of another program.
void check_run(const Program& program, const RunPlan& plan, const Bindings& bindings,
               const RunningTeam& running);

}    // namespace slipway
