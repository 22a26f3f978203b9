#pragma once

#include <filesystem>
#include <mutex>

#include "scheduler/agent/agent.h"
#include "server/routes/services.h"

namespace slipway {

/// Writes weights for other frameworks by the executor, a process of its own: what reads a
/// checkpoint is not in the service. One at a time, as it takes the memory of a whole checkpoint.
/// Safe from every thread.
class WeightsExporter {
public:
    /// `folder` gets what the executor writes, and only while it runs. `store` outlives this.
    WeightsExporter(store::Store& store, const AgentOptions& options, std::filesystem::path folder);

    /// Blocks until the file is there.
    /// errors  throws unavailable when it cannot be made, also after ten minutes
    void run(const WeightsExport& wanted);

private:
    store::Store& store_;
    const AgentOptions options_;
    const Launcher launcher_;
    const std::filesystem::path folder_;
    std::mutex one_at_a_time_;
};

}    // namespace slipway
