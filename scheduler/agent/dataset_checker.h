#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "scheduler/agent/agent_parts.h"
#include "scheduler/agent/dataset_places.h"
#include "scheduler/store/datasets.h"

namespace slipway {

/// What the report of `slipway-executor inspect` means; text that is no report is a problem of its
/// own. Pure.
store::DatasetVerdict read_verdict(const std::string& report);

/// A verdict that holds only one problem, with this message.
store::DatasetVerdict refuse(const std::string& message);

/// Has new data sets read and checked once by a process that may fail without harm: unpacks an
/// upload, looks at every file, stores the report. One thread, the one that talks to the database;
/// cut short by Error{unavailable} it is done again.
class DatasetChecker {
public:
    DatasetChecker(const AgentParts& parts, const Clock& clock, AgentCounts& counts);

    /// Takes a data set to check when there is one and a place for it.
    void look();
    /// Keeps the claims.
    void renew();
    /// Takes the ends of its processes out of `news`.
    void hear(SupervisorNews& news);
    /// Stores what was found, and removes some of what checks have left.
    void finish();

private:
    struct Check {
        store::Dataset dataset;
        std::string token;
        DatasetPlace place;
        std::optional<store::DatasetVerdict> verdict = {};
        std::optional<Ended> ended = {};
    };

    void begin(const store::DatasetCheck& claim);
    void start(Check& check, int project_number);
    store::DatasetVerdict judge(const Check& check) const;
    std::filesystem::path folder_of(const Check& check) const;
    void discard(const std::filesystem::path& place);
    void discard_unpacked(const Check& check);
    void keep_unpacked(Check& check);
    bool store_verdict(const Check& check);

    store::Store& store_;
    const AgentOptions& options_;
    const Launcher& launcher_;
    ProjectNumbers& projects_;
    const Clock& clock_;
    Supervisor& supervisor_;
    ProcessRecords& records_;
    AgentCounts& counts_;
    std::map<std::string, Check> checks_;
    std::vector<std::filesystem::path> leftovers_;    // some entries of one go each turn
};

}    // namespace slipway
