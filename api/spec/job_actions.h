#pragma once

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/json.h"
#include "api/spec/job_kind.h"
#include "api/spec/job_state.h"
#include "api/spec/spelling.h"

namespace slipway {

// Bodies of the requests that act on jobs, as plain data.

/// What a fork begins with.
enum class ForkStart {
    keep_training,    ///< on the wire `continue`: the whole state of a checkpoint
    weights,          ///< the weights of a checkpoint, as of model.init
    scratch           ///< nothing
};

template <>
struct Spelling<ForkStart> {
    static constexpr std::array<std::string_view, 3> words{"continue", "weights", "scratch"};
};

/// POST /v1/jobs/{id}/fork.
struct JobForkBody {
    Json changes = Json::object();    ///< a merge patch (RFC 7396) of the job's spec
    ForkStart start = ForkStart::keep_training;
    std::string checkpoint = "last";    ///< last, best or an id; not with scratch
    bool operator==(const JobForkBody&) const = default;
};

/// What POST /v1/jobs/bulk does to each job; each has an endpoint of its own, too.
enum class JobAction { cancel, kill, pause, resume, remove };

template <>
struct Spelling<JobAction> {
    static constexpr std::array<std::string_view, 5> words{"cancel", "kill", "pause", "resume",
                                                           "delete"};
};

/// Which jobs; every field narrows, at least one is given.
struct BulkFilter {
    std::vector<std::string> ids;
    std::vector<JobState> states;    ///< on the wire `state`
    std::string project;
    std::string name;    ///< contained in the job's
    std::map<std::string, std::string> labels;
    std::string dataset;
    std::optional<JobKind> kind;
    std::string parent;
    bool operator==(const BulkFilter&) const = default;
};

/// POST /v1/jobs/bulk.
struct JobBulkBody {
    JobAction action = JobAction::cancel;
    BulkFilter filter;
    bool operator==(const JobBulkBody&) const = default;
};

}    // namespace slipway
