#pragma once

#include <optional>
#include <string>

#include "scheduler/agent/claimed_work.h"
#include "scheduler/agent/dataset_location.h"
#include "scheduler/store/splits.h"

namespace slipway {

/// What the report of `slipway-executor split` means; text that is no report is a problem of its
/// own. Pure.
store::SplitResult read_split_result(const std::string& report);

/// A split to make, and where the dataset is on this host.
struct SplitMakingClaim {
    store::SplitClaim split;
    DatasetLocation location = {};
};

/// Has splits made by a process that may fail without harm: it reads the dataset, writes the
/// manifest and reports.
class SplitMaker final : public ClaimedWork<SplitMakingClaim, store::SplitResult> {
public:
    explicit SplitMaker(const AgentParts& parts);

private:
    const std::string& id_of(const SplitMakingClaim& claim) const override;
    const std::string& project_of(const SplitMakingClaim& claim) const override;
    std::optional<SplitMakingClaim> claim_next(std::chrono::milliseconds lease) override;
    bool renew_claim(const SplitMakingClaim& claim, std::chrono::milliseconds lease) override;
    void release_claim(const SplitMakingClaim& claim) override;
    bool finish_claim(const SplitMakingClaim& claim, const store::SplitResult& result) override;
    std::optional<std::string> find_inputs(SplitMakingClaim& claim) override;
    ClaimedWorkProcess prepare(const SplitMakingClaim& claim) override;
    store::SplitResult read_report(const std::string& report) const override;
    store::SplitResult reject(const std::string& message) const override;
    void keep(const SplitMakingClaim& claim, store::SplitResult& result) override;
    void after(const SplitMakingClaim& claim, bool stored) override;
};

}    // namespace slipway
