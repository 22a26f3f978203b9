#pragma once

#include "scheduler/store/store.h"

namespace slipway::store {

/// A project: jobs and datasets of one name, which share cores with those of others by weight.
struct Project {
    std::string name{};
    double weight = 1;
    std::optional<int> cores_max{};    ///< that its jobs may hold at a time; none: no quota
    std::string class_max{};           ///< the most urgent class of its jobs; empty: any
    std::string created_by{};          ///< tok_… or empty
    Instant created_at{};
    double usage_core_s = 0;        ///< decayed to half in a day, running jobs included
    std::int64_t cores_held = 0;    ///< by its jobs now
    std::int64_t queued_jobs = 0;
};

/// By name. `names` empty: all.
Page<Project> list_projects(Store& store, const std::vector<std::string>& names,
                            const PageRequest& page);
std::optional<Project> find_project(Store& store, std::string_view name);

/// Makes a project and returns it. errors  throws conflict when it is there, exhausted as
/// claim_project
Project create_project(Store& store, std::string_view name, double weight,
                       std::string_view created_by, std::int64_t projects_max);

/// Why jobs of this project may not be of this class; nothing when they may.
std::optional<ClassNotAllowed> find_class_refusal(Store& store, std::string_view project,
                                                  std::string_view queue_class);
/// Throws ClassNotAllowed as submitting a job of this class would.
void require_class(Store& store, std::string_view project, std::string_view queue_class);

/// Nothing when there is none.
std::optional<Project> set_weight(Store& store, std::string_view name, double weight);
/// `class_max` empty: any class. Jobs of the queue stay as they are.
std::optional<Project> set_quota(Store& store, std::string_view name, std::optional<int> cores_max,
                                 std::string_view class_max = {});

}    // namespace slipway::store
