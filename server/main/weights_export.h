#pragma once

#include <atomic>
#include <filesystem>

#include "scheduler/agent/agent.h"
#include "scheduler/agent/process_records.h"
#include "server/routes/export_queue.h"

namespace slipway {

/// Writes weights for other frameworks by the executor, a process of its own: what reads a
/// checkpoint is not in the service. For one thread: it takes the memory of a whole checkpoint.
class WeightsExporter {
public:
    /// `folder` gets what the executor writes, and only while it runs. `store` outlives this. Ends
    /// what a service before this one was exporting.
    WeightsExporter(store::Store& store, const AgentOptions& options, std::filesystem::path folder);

    const std::filesystem::path& folder() const { return folder_; }

    /// Blocks until the file is there.
    /// errors  throws unavailable when it cannot be made, when it is no plain file, after ten
    ///         minutes, and once `stop` is set
    void run(const WeightsExport& wanted, const std::filesystem::path& file,
             const std::atomic<bool>& stop);

private:
    std::unique_ptr<LaunchedProcess> start(const std::string& name, const WeightsExport& wanted,
                                           const std::filesystem::path& own);

    store::Store& store_;
    const AgentOptions options_;
    const Launcher& launcher_;    // of options_
    const std::filesystem::path folder_;
    ProcessRecords records_;    // of run()'s thread, once this is made
};

}    // namespace slipway
