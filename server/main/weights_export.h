#pragma once

#include <filesystem>
#include <mutex>

#include "server/routes/services.h"

namespace slipway {

/// Writes weights for other frameworks by the executor, a process of its own: what reads a
/// checkpoint is not in the service. One at a time, as it takes the memory of a whole checkpoint.
/// Safe from every thread.
class WeightsExporter {
public:
    /// `folder` gets what the executor says, and only while it runs.
    WeightsExporter(std::filesystem::path executor, std::filesystem::path folder);

    /// Blocks until the file is there.
    /// errors  throws unavailable when it cannot be made, also after ten minutes
    void run(const WeightsExport& wanted);

private:
    const std::filesystem::path executor_;
    const std::filesystem::path folder_;
    std::mutex one_at_a_time_;
};

}    // namespace slipway
