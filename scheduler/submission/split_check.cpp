#include "scheduler/submission/split_check.h"

#include <fmt/format.h>

#include "api/base/id.h"
#include "scheduler/store/splits.h"

namespace slipway::submission {

namespace {

std::vector<Problem> refuse_split(std::string field, std::string code, std::string message) {
    return {{.pointer = "/data/split/" + field,
             .code = std::move(code),
             .message = std::move(message)}};
}

}    // namespace

std::vector<Problem> check_split(store::Store& store, const JobSpec& spec,
                                 const std::string& dataset_id) {
    const std::string& id = spec.data.split.id;
    if (id.empty() || dataset_id.empty()) return {};
    const auto split = is_id("spl", id) ? store::find_split(store, id) : std::nullopt;
    if (!split || split->dataset_id != dataset_id) {
        return refuse_split("id", "not_found",
                            fmt::format("the dataset {} has no split `{}`; GET "
                                        "/v1/datasets/{}/splits lists them",
                                        spec.data.dataset, id, dataset_id));
    }
    if (split->state != store::SplitState::ready) {
        const bool failed = split->state == store::SplitState::failed;
        return refuse_split("id", "inconsistent",
                            fmt::format("the split {} {}", id,
                                        failed ? "could not be made: see its problems"
                                               : "is still being made: wait with GET and Prefer: "
                                                 "wait=30"));
    }
    const std::int64_t fold = spec.data.split.fold;
    if (fold < split->folds) return {};
    return refuse_split(
        "fold", "out_of_bounds",
        fmt::format("data.split.fold must be from 0 to {}, got {}", split->folds - 1, fold));
}

}    // namespace slipway::submission
