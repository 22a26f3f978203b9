#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "api/base/json.h"
#include "api/spec/documents.h"
#include "api/spec/job_kind.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/jobs.h"

namespace slipway::submission {

/// A job of any kind that the service can take as it is: every default filled in, every artifact
/// that it names found.
struct CheckedJob {
    JobKind kind = JobKind::train;
    /// What runs. Name, project, labels, cores, limits and queue are those of the request; an empty
    /// name is made when the job is stored.
    JobSpec spec = {};
    /// Of a kind that has one (has_payload): the request, normalised, its artifacts by id.
    Json payload = nullptr;
    Json effective = {};           ///< EffectiveValues
    std::string name_stem = {};    ///< what a made name begins with: "lenet"
    std::string id = {};           ///< new_id("job"); empty: one is made when it is stored
    std::optional<store::Dataset> dataset = {};
    /// That it begins with or reads, kept until it has ended.
    std::vector<std::string> checkpoint_ids = {};
    std::vector<std::string> upload_ids = {};       ///< likewise
    std::optional<store::JobOrigin> origin = {};    ///< of a retry or a fork
    std::optional<store::JobParent> parent = {};    ///< a sweep or a cross-validation

    std::string dataset_id() const { return dataset ? dataset->id : std::string(); }
};

/// The stored spec of a job that a request refers to is of another version of the service.
class OldJobSpec : public Error {
public:
    explicit OldJobSpec(const std::string& message) : Error(ErrorCode::conflict, message) {}
};

/// Adds `more` to `problems`, each at a place that has none yet: one mistake is told once.
void add_problems(std::vector<Problem>& problems, std::vector<Problem> more);

}    // namespace slipway::submission
