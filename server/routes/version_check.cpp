#include "server/routes/version_check.h"

#include <fmt/format.h>

#include "api/spec/data_version.h"
#include "scheduler/store/datasets.h"

namespace slipway::routes {

namespace {

std::vector<Problem> refuse_version(std::string message) {
    return {{.pointer = "/data/version", .code = "inconsistent", .message = std::move(message)}};
}

}    // namespace

std::vector<Problem> check_version(const Context& context, JobSpec& spec,
                                   const std::string& dataset_id) {
    std::string& version = spec.data.version;
    if (dataset_id.empty() || !is_data_version(version)) return {};
    const auto dataset = store::find_dataset(context.services.store, dataset_id);
    if (!dataset) return {};    // it has just been deleted: storing the job says so
    if (dataset->state == store::DatasetState::checking) {
        return refuse_version(
            fmt::format("the dataset {} is still being checked and has no "
                        "content_hash yet: wait with GET /v1/datasets/{} and "
                        "Prefer: wait=30, or leave data.version out",
                        dataset->name, dataset->id));
    }
    if (!is_of_version(dataset->content_hash, version)) {
        return refuse_version(
            fmt::format("the dataset {} is of version {}, and data.version is "
                        "{}; name the dataset that has it, or leave "
                        "data.version out",
                        dataset->name, dataset->content_hash, version));
    }
    version = dataset->content_hash;
    return {};
}

}    // namespace slipway::routes
