#include "api/spec/openapi_texts.h"

#include <algorithm>
#include <array>

namespace slipway {

namespace {

struct StatusText {
    int status;
    std::string_view text;
};

constexpr auto status_texts = std::to_array<StatusText>({
    {200, "Success."},
    {201, "Created; the Location header has its URL."},
    {204, "Success; no content."},
    {206, "The requested range."},
    {303, "Redirect to the dashboard."},
    {304, "Not modified."},
    {400, "Malformed request."},
    {401, "Missing or invalid credentials."},
    {403, "Insufficient permissions."},
    {404, "Not found, or not visible to the caller."},
    {409, "Not possible in the current state."},
    {410, "The content has been deleted."},
    {412, "Modified since it was last read."},
    {413, "The body is too large."},
    {415, "Unsupported media type of the body."},
    {416, "The range is outside the file."},
    {422, "Invalid fields; `errors` lists all of them."},
    {429, "Too many requests or too much in use; retry after Retry-After."},
    {500, "Internal error; the log contains the request id."},
    {503, "Service unavailable; retry after Retry-After."},
    {507, "Not enough disk space."},
});

struct GroupText {
    std::string_view group;
    std::string_view text;
};

constexpr auto group_texts = std::to_array<GroupText>({
    {"jobs", "Jobs, and what they produce: events, logs, metrics, reports and programs."},
    {"checkpoints", "Saved states of training jobs."},
    {"predictions", "Jobs that run a checkpoint over a dataset."},
    {"evaluations", "Jobs that measure a checkpoint on labelled samples."},
    {"cross-validations", "Trainings of one configuration on every fold of a split."},
    {"sweeps", "Hyperparameter searches: many training jobs that differ in values."},
    {"datasets", "Datasets and their stored splits."},
    {"uploads", "Files that are sent in pieces and become datasets."},
    {"machine", "Hosts and their cores."},
    {"queue", "Waiting jobs: their order, their number, and the effect of a change."},
    {"projects", "Projects: weights, quotas and usage."},
    {"access", "Tokens, browser sessions and the audit log."},
    {"webhooks", "Messages to other services when a job changes its state."},
    {"service", "Health, metrics, version and this document."},
});

// The first row that fits.
constexpr auto path_parameter_texts = std::to_array<PathParameterText>({
    {"/v1/jobs/", "id", "Id of the job.", "job_01jd0000000000000000000000"},
    {"/v1/jobs/", "hash", "Hash of the graph.", "5f2c9a"},
    {"/v1/checkpoints/", "id", "Id of the checkpoint.", "ckp_01jd0000000000000000000000"},
    {"/v1/checkpoints/", "name", "Name of the file.", "model.safetensors"},
    {"/v1/predictions/", "id", "Id of the prediction.", "job_01jd0000000000000000000000"},
    {"/v1/evaluations/", "id", "Id of the evaluation.", "job_01jd0000000000000000000000"},
    {"/v1/cross-validations/", "id", "Id of the cross-validation.",
     "cv_01jd0000000000000000000000"},
    {"/v1/datasets/", "id", "Id or name of the dataset.", "mnist10k"},
    {"/v1/datasets/", "sid", "Id of the split.", "spl_01jd0000000000000000000000"},
    {"/v1/uploads/", "id", "Id of the upload.", "upl_01jd0000000000000000000000"},
    {"/v1/cores/", "n", "Number of the core, from 1.", "5"},
    {"/v1/hosts/", "h", "Name of the host.", "training-1"},
    {"/v1/projects/", "p", "Name of the project.", "default"},
    {"/v1/projects/", "g", "Name of the group.", "lr-search"},
    {"/v1/projects/", "m", "Name of the member.", "ann@example.org"},
    {"/v1/tokens/", "id", "Id of the token.", "tok_01jd0000000000000000000000"},
    {"/v1/sweeps/", "id", "Id of the sweep.", "swp_01jd0000000000000000000000"},
    {"/v1/sweeps/", "tid", "Number of the trial, from 0.", "3"},
    {"/v1/webhooks/", "id", "Id of the webhook.", "whk_01jd0000000000000000000000"},
    {"/v1/webhooks/", "did", "Id of the delivery.", "dlv_01jd0000000000000000000000"},
    {"", "", "Identifies the object.", ""},
});

}    // namespace

std::string_view status_text(int status) noexcept {
    const auto* const row = std::ranges::find(status_texts, status, &StatusText::status);
    return row == status_texts.end() ? "See `detail`." : row->text;
}

std::string_view group_text(std::string_view group) noexcept {
    const auto* const row = std::ranges::find(group_texts, group, &GroupText::group);
    return row == group_texts.end() ? group : row->text;
}

const PathParameterText& path_parameter_text(std::string_view path,
                                             std::string_view name) noexcept {
    const auto* const row =
        std::ranges::find_if(path_parameter_texts, [&](const PathParameterText& text) {
            return path.starts_with(text.prefix) && text.name == name;
        });
    return row == path_parameter_texts.end() ? path_parameter_texts.back() : *row;
}

}    // namespace slipway
