#pragma once

#include "scheduler/agent/agent.h"
#include "scheduler/agent/process_records.h"
#include "scheduler/agent/project_numbers.h"
#include "scheduler/agent/supervisor.h"
#include "scheduler/launcher/launcher.h"

namespace slipway {

/// What everything that starts processes for the agent is made of. All outlive who holds this.
struct AgentParts {
    store::Store& store;
    const AgentOptions& options;
    const Launcher& launcher;
    ProjectNumbers& projects;
    Supervisor& supervisor;
    ProcessRecords& records;
};

}    // namespace slipway
