#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/store/datasets.h"
#include "scheduler/store/rights.h"
#include "scheduler/store/store.h"

namespace slipway::submission {

/// Whose rights a job is checked by.
struct Submitter {
    std::string token_id;
    std::vector<std::string> projects = {};    ///< whose objects they see; empty: all
    bool sees_all_uploads = false;             ///< uploads belong to a token, not to a project
    Tick asked_at = store::asked_now;          ///< as scheduler/store/asked_at.h has it

    bool sees(std::string_view project) const;
};

/// A token that is good, as the checks of a submission know it: one that has a grant.
Submitter submitter_of(const std::string& token_id, const std::vector<store::Grant>& grants);

/// The upload of this id, of the submitter's token or of any when they see all.
std::optional<store::Upload> find_own_upload(store::Store& store, const Submitter& submitter,
                                             const std::string& id);

}    // namespace slipway::submission
