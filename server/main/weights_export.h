#pragma once

#include <atomic>
#include <filesystem>

#include "scheduler/agent/agent.h"
#include "server/routes/export_queue.h"

namespace slipway {

/// Writes weights for other frameworks by the executor, a process of its own: what reads a
/// checkpoint is not in the service. For one thread: it takes the memory of a whole checkpoint.
class WeightsExporter {
public:
    /// `folder` gets what the executor writes, and only while it runs. `store` outlives this.
    WeightsExporter(store::Store& store, const AgentOptions& options, std::filesystem::path folder);

    const std::filesystem::path& folder() const { return folder_; }

    /// Blocks until the file is there.
    /// errors  throws unavailable when it cannot be made, after ten minutes, and once `stop` is set
    void run(const WeightsExport& wanted, const std::filesystem::path& file,
             const std::atomic<bool>& stop) const;

private:
    store::Store& store_;
    const AgentOptions options_;
    const Launcher launcher_;
    const std::filesystem::path folder_;
};

}    // namespace slipway
