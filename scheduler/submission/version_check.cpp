#include "scheduler/submission/version_check.h"

#include <fmt/format.h>

#include "api/spec/data_version.h"
#include "scheduler/store/datasets.h"

namespace slipway::submission {

namespace {

std::vector<Problem> refuse_version(std::string message) {
    return {{.pointer = "/data/version", .code = "inconsistent", .message = std::move(message)}};
}

}    // namespace

std::vector<Problem> check_version(JobSpec& spec, const std::optional<store::Dataset>& dataset) {
    std::string& version = spec.data.version;
    if (!dataset || !is_data_version(version)) return {};
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

}    // namespace slipway::submission
