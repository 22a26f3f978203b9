#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "api/base/json.h"
#include "api/spec/evaluation_spec.h"
#include "api/spec/field.h"
#include "api/spec/job_spec.h"
#include "api/spec/prediction_spec.h"
#include "api/spec/requests.h"

namespace slipway {

struct JobForkBody;
struct JobBulkBody;
struct CrossValidationSpec;
struct SweepSpec;
struct SweepPatchBody;
struct SweepExtendBody;
struct RetryFailedBody;
struct SweepPromoteBody;
struct SweepSuggestBody;
struct SweepObserveBody;
struct SweepSimulateBody;

/// A decoded body. With problems, `value` holds what could be read: for messages, not for use.
template <class T>
struct Decoded {
    T value;
    std::vector<Problem> problems;    ///< all of them, sorted by pointer

    bool ok() const { return problems.empty(); }
};

// Bodies of requests. Duplicate keys of the text are among the problems. Pure.
Decoded<JobSpec> decode_job_spec(const ParsedJson& parsed);
Decoded<PredictionSpec> decode_prediction(const ParsedJson& parsed);
Decoded<EvaluationSpec> decode_evaluation(const ParsedJson& parsed);
Decoded<CrossValidationSpec> decode_cross_validation(const ParsedJson& parsed);
Decoded<JobPatchBody> decode_job_patch(const ParsedJson& parsed);
Decoded<JobForkBody> decode_job_fork(const ParsedJson& parsed);    // job_actions.h
Decoded<JobBulkBody> decode_job_bulk(const ParsedJson& parsed);    // likewise
Decoded<DatasetCreate> decode_dataset_create(const ParsedJson& parsed);
Decoded<SplitCreate> decode_split_create(const ParsedJson& parsed);
Decoded<UploadCreate> decode_upload_create(const ParsedJson& parsed);
Decoded<TokenCreate> decode_token_create(const ParsedJson& parsed);
Decoded<MemberPut> decode_member_put(const ParsedJson& parsed);
Decoded<LoginRequest> decode_login(const ParsedJson& parsed);
Decoded<HostDrainRequest> decode_host_drain(const ParsedJson& parsed);
Decoded<JoinTokenCreate> decode_join_token_create(const ParsedJson& parsed);
Decoded<QueueSimulateBody> decode_queue_simulate(const ParsedJson& parsed);
Decoded<GroupPut> decode_group_put(const ParsedJson& parsed);
Decoded<ProjectCreate> decode_project_create(const ParsedJson& parsed);
Decoded<ProjectPatch> decode_project_patch(const ParsedJson& parsed);
Decoded<ProjectQuota> decode_project_quota(const ParsedJson& parsed);
Decoded<WebhookCreate> decode_webhook_create(const ParsedJson& parsed);
Decoded<WebhookPatch> decode_webhook_patch(const ParsedJson& parsed);
// sweep_spec.h
Decoded<SweepSpec> decode_sweep(const ParsedJson& parsed);
Decoded<SweepPatchBody> decode_sweep_patch(const ParsedJson& parsed);
Decoded<SweepExtendBody> decode_sweep_extend(const ParsedJson& parsed);
Decoded<RetryFailedBody> decode_retry_failed(const ParsedJson& parsed);
Decoded<SweepPromoteBody> decode_sweep_promote(const ParsedJson& parsed);
Decoded<SweepSuggestBody> decode_sweep_suggest(const ParsedJson& parsed);
Decoded<SweepObserveBody> decode_sweep_observe(const ParsedJson& parsed);
Decoded<SweepSimulateBody> decode_sweep_simulate(const ParsedJson& parsed);

/// The same from a value that is already trusted to be free of duplicates: a stored spec. Its names
/// may have characters that those of a request may not.
Decoded<JobSpec> decode_job_spec(const Json& json);
Decoded<PredictionSpec> decode_prediction(const Json& json);
Decoded<EvaluationSpec> decode_evaluation(const Json& json);
Decoded<CrossValidationSpec> decode_cross_validation(const Json& json);
Decoded<SweepSpec> decode_sweep(const Json& json);

/// The normalised form: every default filled in, fields of other variants left out. Decodes to an
/// equal spec.
Json encode(const JobSpec& spec);
Json encode(const EffectiveValues& values);
Json encode(const PredictionSpec& prediction);
Json encode(const EvaluationSpec& evaluation);
Json encode(const CrossValidationSpec& spec);    // cross_validation_spec.h
/// EffectiveValues of a job that predicts; its precision is filled in. "lr" is null.
Json encode_effective(const PredictionSpec& prediction);
Json encode(const DatasetCreate& dataset);
Json encode(const SplitCreate& split);
Json encode(const SweepSpec& sweep);
/// Only what concerns the format: what executor/data reads.
Json encode_dataset_options(const DatasetCreate& dataset);

/// All problems in one text, for programs without a place for a list: one line each.
std::string joined_messages(const std::vector<Problem>& problems);

/// The JSON Schema (2020-12) of a document by its name in openapi.json ("JobSpec").
/// errors  throws not_found naming those that exist
Json schema_document(std::string_view name);

/// What is wrong with `json` as the document of this name, for tests of answers; none: all is well.
/// An unknown name is a bug.
std::vector<Problem> check_document(std::string_view name, const Json& json);

/// The OpenAPI 3.1 document: every endpoint and every document. The same at each call.
Json openapi_document(std::string_view version);

/// What this version can do: architectures, optimizers, schedules, formats with the schemas of
/// their parameters, and the words that other fields take.
/// `confinement`: what this machine enforces, [{"name", "enforced", "detail"}]; `limits`: what a
/// token or a project may hold at a time.
Json capabilities_document(const Json& confinement, const Json& limits);

/// The fields of a document as a Markdown table, for docs/formats.md.
std::string markdown_table(std::string_view name);

}    // namespace slipway
