#include "scheduler/submission/size_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "api/spec/documents.h"

namespace slipway::submission {

namespace {

/// All other fields together, at their longest, take less than job_spec_bytes_max.
constexpr std::array unbounded{"/model/layers", "/data/columns"};

struct Part {
    std::string pointer;
    std::size_t bytes = 0;
};

Part measured(const Json& spec, const char* pointer) {
    const Json::json_pointer at(pointer);
    return {pointer, spec.contains(at) ? spec.at(at).dump().size() : 0};
}

}    // namespace

std::vector<Problem> check_size(const JobSpec& spec) {
    if (spec.model.layers.empty() && !spec.data.columns) return {};
    const Json encoded = encode(spec);
    std::array<Part, unbounded.size()> parts;
    std::ranges::transform(unbounded, parts.begin(),
                           [&](const char* pointer) { return measured(encoded, pointer); });
    const Part& most = *std::ranges::max_element(parts, {}, &Part::bytes);
    const std::size_t bytes = encoded.dump().size();
    if (bytes <= job_spec_bytes_max) return {};
    std::string name = most.pointer.substr(1);
    std::ranges::replace(name, '/', '.');
    return {
        {.pointer = most.pointer,
         .code = "out_of_bounds",
         .message = fmt::format("the job with all defaults filled in must have at most {} "
                                "bytes, got {}, of which {} has {}; name fewer columns or layers",
                                job_spec_bytes_max, bytes, name, most.bytes)}};
}

}    // namespace slipway::submission
