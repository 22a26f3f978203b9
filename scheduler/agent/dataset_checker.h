#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/agent/claimed_work.h"
#include "scheduler/agent/dataset_location.h"
#include "scheduler/store/datasets.h"

namespace slipway {

/// What the report of `slipway-executor inspect` means; text that is no report is a problem of its
/// own. Pure.
store::DatasetCheckResult read_check_result(const std::string& report);

/// A result that holds only one problem, with this message.
store::DatasetCheckResult refuse(const std::string& message);

/// A dataset to check, and where its files are on this host.
struct DatasetCheckClaim {
    store::DatasetCheck check;
    DatasetLocation location = {};
};

/// Has new datasets read and checked once by a process that may fail without harm: unpacks an
/// upload, looks at every file, stores the report.
class DatasetChecker final : public ClaimedWork<DatasetCheckClaim, store::DatasetCheckResult> {
public:
    explicit DatasetChecker(const AgentParts& parts);

    /// Removes some of what checks have left.
    void clean();

private:
    const std::string& id_of(const DatasetCheckClaim& claim) const override;
    const std::string& project_of(const DatasetCheckClaim& claim) const override;
    std::optional<DatasetCheckClaim> claim_next(std::chrono::milliseconds lease) override;
    bool renew_claim(const DatasetCheckClaim& claim, std::chrono::milliseconds lease) override;
    void release_claim(const DatasetCheckClaim& claim) override;
    bool finish_claim(const DatasetCheckClaim& claim,
                      const store::DatasetCheckResult& result) override;
    std::optional<std::string> find_inputs(DatasetCheckClaim& claim) override;
    ClaimedWorkProcess prepare(const DatasetCheckClaim& claim) override;
    store::DatasetCheckResult read_report(const std::string& report) const override;
    store::DatasetCheckResult reject(const std::string& message) const override;
    void keep(const DatasetCheckClaim& claim, store::DatasetCheckResult& result) override;
    void after(const DatasetCheckClaim& claim, bool stored) override;

    std::filesystem::path copies_of(const DatasetCheckClaim& claim);
    void discard(const std::filesystem::path& location);
    void discard_unpacked(const DatasetCheckClaim& claim);

    std::vector<std::filesystem::path> leftovers_;    // some entries of one go each turn
};

}    // namespace slipway
