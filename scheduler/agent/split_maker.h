#pragma once

#include <map>
#include <optional>
#include <string>

#include "scheduler/agent/agent_parts.h"
#include "scheduler/agent/dataset_places.h"
#include "scheduler/store/splits.h"

namespace slipway {

/// What the report of `slipway-executor split` means; text that is no report is a problem of its
/// own. Pure.
store::SplitVerdict read_split_verdict(const std::string& report);

/// Has splits made by a process that may fail without harm, as DatasetChecker has data sets
/// checked: it reads the data set, writes the manifest and reports. One thread, the one that talks
/// to the database; cut short by Error{unavailable} it is done again.
class SplitMaker {
public:
    /// All outlive the maker.
    SplitMaker(const AgentParts& parts);

    /// Takes a split to make when there is one and a place for it.
    void look();
    /// Keeps the claims.
    void renew();
    /// Takes the ends of its processes out of `news`.
    void hear(SupervisorNews& news);
    /// Stores what was made.
    void finish();

private:
    struct Making {
        store::SplitClaim claim;
        std::optional<Ended> ended = {};
        std::optional<store::SplitVerdict> verdict = {};
    };

    void begin(store::SplitClaim claim);
    void start(const store::SplitClaim& claim, const DatasetPlace& dataset, int project_number);
    void keep_manifest(Making& making);
    bool store_verdict(const Making& making);
    store::SplitVerdict judge(const Making& making) const;
    std::filesystem::path folder_of(const std::string& id) const;

    store::Store& store_;
    const AgentOptions& options_;
    const Launcher& launcher_;
    ProjectNumbers& projects_;
    Supervisor& supervisor_;
    ProcessRecords& records_;
    std::map<std::string, Making> makings_;
};

}    // namespace slipway
