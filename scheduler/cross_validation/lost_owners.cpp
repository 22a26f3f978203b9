#include "scheduler/cross_validation/lost_owners.h"

#include <set>
#include <vector>

#include "scheduler/store/cross_validations.h"
#include "scheduler/store/rights.h"

namespace slipway {

store::Reason owner_lost() {
    return {"owner_lost", "the token that created it has lost the right to submit jobs"};
}

std::int64_t cancel_those_without_owner(store::Store& store) {
    const auto right_of = [](const store::UnfinishedCrossValidation& one) {
        return store::Right{
            .token_id = one.created_by, .project = one.project, .role = TokenRole::editor};
    };
    const auto unfinished = store::list_unfinished_cross_validations(store);
    std::set<store::Right> needed;
    for (const auto& one : unfinished)
        needed.insert(right_of(one));
    if (needed.empty()) return 0;
    const auto lost = store::list_lost_rights(store, {needed.begin(), needed.end()});
    const std::set<store::Right> lost_rights(lost.begin(), lost.end());
    std::int64_t cancelled = 0;
    for (const auto& one : unfinished)
        if (lost_rights.contains(right_of(one)) &&
            store::cancel_cross_validation(store, one.id, owner_lost()))
            ++cancelled;
    return cancelled;
}

}    // namespace slipway
