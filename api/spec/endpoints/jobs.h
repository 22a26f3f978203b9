#pragma once

#include <array>
#include <string_view>

#include "api/spec/endpoints/parts.h"
#include "api/spec/job_kind.h"

/// The endpoints of jobs: to submit, list, change and end them.
namespace slipway::job_endpoints {

using namespace endpoint_parts;

inline constexpr auto patches = std::to_array<int>({404, 409, 412, 413, 415, 422});

inline constexpr auto job_orders = std::to_array<std::string_view>(
    {"created_at", "-created_at", "name", "-name", "finished_at", "-finished_at"});
inline constexpr auto spec_forms = std::to_array<std::string_view>({"json", "curl"});
inline constexpr auto job_list = std::to_array<QueryParameter>({
    limit,
    cursor,
    project,
    job_states,
    {.name = "name", .summary = "Only jobs whose name contains this text; case-insensitive."},
    {.name = "label",
     .type = QueryType::pairs,
     .summary = "Only jobs that have all of these labels."},
    dataset,
    {.name = "kind",
     .type = QueryType::word,
     .summary = "Only training jobs, or only predictions.",
     .allowed = Words(Spelling<JobKind>::words)},
    {.name = "order_by",
     .type = QueryType::word,
     .summary = "Sort order; a leading minus reverses it.",
     .allowed = Words(job_orders),
     .standard = "-created_at"},
});
inline constexpr auto spec_query = std::to_array<QueryParameter>({
    {.name = "as",
     .type = QueryType::word,
     .summary = "json: the spec with every default filled in; curl: the command that submits it.",
     .allowed = Words(spec_forms),
     .standard = "json"},
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "create_job",
     .method = "POST",
     .path = "/v1/jobs",
     .group = "jobs",
     .summary = "Submit a job. With dry_run, returns a JobPreview with status 200.",
     .access = Access::write,
     .request = "JobSpec",
     .response = "Job",
     .success = 201,
     .errors = creates,
     .query = creating,
     .idempotent_by_key = true},
    {.name = "list_jobs",
     .method = "GET",
     .path = "/v1/jobs",
     .group = "jobs",
     .summary = "List jobs, newest first.",
     .response = "JobList",
     .errors = queries,
     .query = job_list},
    {.name = "get_job",
     .method = "GET",
     .path = "/v1/jobs/{id}",
     .group = "jobs",
     .summary = "Get a job. `Prefer: wait=N` waits up to N seconds for its state to change.",
     .response = "Job",
     .errors = not_found},
    {.name = "patch_job",
     .method = "PATCH",
     .path = "/v1/jobs/{id}",
     .group = "jobs",
     .summary =
         "Change the name, the labels or, while the job is queued, the class. Supports If-Match.",
     .access = Access::write,
     .request = "JobPatch",
     .response = "Job",
     .errors = patches},
    {.name = "delete_job",
     .method = "DELETE",
     .path = "/v1/jobs/{id}",
     .group = "jobs",
     .summary = "Delete a job that has ended, with its events, metrics and checkpoints.",
     .access = Access::write,
     .success = 204,
     .errors = acts},
    {.name = "cancel_job",
     .method = "POST",
     .path = "/v1/jobs/{id}/cancel",
     .group = "jobs",
     .summary = "Cancel a job; its checkpoints are kept. Safe to repeat.",
     .access = Access::write,
     .response = "Job",
     .errors = acts,
     .idempotent_by_key = true},
    {.name = "kill_job",
     .method = "POST",
     .path = "/v1/jobs/{id}/kill",
     .group = "jobs",
     .summary = "Kill a job at once, without saving a checkpoint. Safe to repeat.",
     .access = Access::write,
     .response = "Job",
     .errors = acts,
     .idempotent_by_key = true},
    {.name = "list_job_attempts",
     .method = "GET",
     .path = "/v1/jobs/{id}/attempts",
     .group = "jobs",
     .summary = "List the attempts to run a job, first to last.",
     .response = "AttemptList",
     .errors = not_found},
    {.name = "explain_job",
     .method = "GET",
     .path = "/v1/jobs/{id}/explain",
     .group = "jobs",
     .summary = "Explain the state of a job: while it is queued, what it waits for.",
     .response = "Explanation",
     .errors = not_found},
    {.name = "get_job_spec",
     .method = "GET",
     .path = "/v1/jobs/{id}/spec",
     .group = "jobs",
     .summary = "Get the spec with every default filled in, or the curl command that submits it.",
     .response = "JobSpec",
     .errors = finds,
     .query = spec_query,
     .other_media_type = "text/plain"},
});

}    // namespace slipway::job_endpoints
