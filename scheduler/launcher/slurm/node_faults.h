#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "api/base/clock.h"

namespace slipway {

/// Nodes on which programs could not be started, one after the other: new jobs are kept from them
/// for a while. Safe from every thread.
class NodeFaults {
public:
    /// `clock` outlives it.
    explicit NodeFaults(const Clock& clock) : clock_(clock) {}

    /// A start on this node failed.
    void add(const std::string& node);
    /// A program ran there.
    void clear(const std::string& node);
    /// Nodes whose last three starts failed, less than ten minutes ago, by name.
    std::vector<std::string> excluded() const;

private:
    struct Row {
        int count = 0;    // in a row
        Tick last{};
    };

    const Clock& clock_;
    mutable std::mutex mutex_;
    std::map<std::string, Row> nodes_;    // guarded by mutex_
};

}    // namespace slipway
