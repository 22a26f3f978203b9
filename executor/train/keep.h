#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "executor/train/settings.h"

namespace slipway {

/// The checkpoints of a job that are still wanted, oldest first.
struct KeptCheckpoints {
    struct Entry {
        std::string name;
        std::int64_t step = 0;
        std::optional<double> metric;    ///< the rule's metric, when this one was evaluated
        bool operator==(const Entry&) const = default;
    };
    std::vector<Entry> last;
    std::vector<Entry> best;    ///< best first
    bool operator==(const KeptCheckpoints&) const = default;
};

/// What saving one more checkpoint means.
struct KeepDecision {
    KeptCheckpoints kept;               ///< with the new one
    std::vector<std::string> kinds;     ///< of the new one: "last", "best"
    std::vector<std::string> pruned;    ///< names kept before and no longer wanted
};

/// Pure. Of equal metrics the earlier one stays best; a metric that is NaN or infinite
/// never is.
KeepDecision keep(const KeepRule& rule, const KeptCheckpoints& before,
                  const KeptCheckpoints::Entry& saved);

/// Their names, in the same order.
std::vector<std::string> names_of(const std::vector<KeptCheckpoints::Entry>& entries);

nlohmann::json to_json(const KeptCheckpoints& kept);
/// errors  data_loss when the JSON has another form
KeptCheckpoints kept_from_json(const nlohmann::json& json);

}    // namespace slipway
