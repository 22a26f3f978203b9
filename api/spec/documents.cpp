#include "api/spec/documents.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/base/parsed_json.h"
#include "api/spec/cross_validation_spec.h"
#include "api/spec/job_actions.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

template <class T>
Decoded<T> decode(const Object<T>& table, const Json& json,
                  const std::vector<JsonProblem>& duplicates = {}, bool is_request = false) {
    Decoded<T> decoded{};
    for (const JsonProblem& one : duplicates) {
        decoded.problems.push_back({one.pointer, one.code, one.message});
    }
    table.read(json, decoded.value, Reader(decoded.problems, table, is_request));
    sort_problems(decoded.problems);
    return decoded;
}

template <class T>
Decoded<T> decode(const Object<T>& table, const ParsedJson& parsed) {
    return decode(table, parsed.value, parsed.duplicates, !parsed.is_stored);
}

const ObjectTable* find_table(std::string_view name) {
    for (const auto tables :
         {request_tables(), job_answer_tables(), report_answer_tables(), queue_answer_tables(),
          cross_validation_answer_tables(), sweep_answer_tables(), other_answer_tables()}) {
        const auto found = std::find_if(tables.begin(), tables.end(), [&](const ObjectTable* one) {
            return one->name() == name;
        });
        if (found != tables.end()) return *found;
    }
    return nullptr;
}

}    // namespace

Decoded<JobSpec> decode_job_spec(const ParsedJson& parsed) {
    return decode(job_table(), parsed);
}

Decoded<JobSpec> decode_job_spec(const Json& json) {
    return decode(job_table(), json);
}

Decoded<PredictionSpec> decode_prediction(const ParsedJson& parsed) {
    return decode(prediction_table(), parsed);
}

Decoded<PredictionSpec> decode_prediction(const Json& json) {
    return decode(prediction_table(), json);
}

Decoded<EvaluationSpec> decode_evaluation(const ParsedJson& parsed) {
    return decode(evaluation_spec_table(), parsed);
}

Decoded<EvaluationSpec> decode_evaluation(const Json& json) {
    return decode(evaluation_spec_table(), json);
}

Decoded<CrossValidationSpec> decode_cross_validation(const ParsedJson& parsed) {
    return decode(cross_validation_table(), parsed);
}

Decoded<CrossValidationSpec> decode_cross_validation(const Json& json) {
    return decode(cross_validation_table(), json);
}

Decoded<JobPatchBody> decode_job_patch(const ParsedJson& parsed) {
    return decode(job_patch_table(), parsed);
}

Decoded<JobForkBody> decode_job_fork(const ParsedJson& parsed) {
    return decode(job_fork_table(), parsed);
}

Decoded<JobBulkBody> decode_job_bulk(const ParsedJson& parsed) {
    return decode(job_bulk_table(), parsed);
}

Decoded<DatasetCreate> decode_dataset_create(const ParsedJson& parsed) {
    return decode(dataset_create_table(), parsed);
}

Decoded<SplitCreate> decode_split_create(const ParsedJson& parsed) {
    return decode(split_create_table(), parsed);
}

Decoded<UploadCreate> decode_upload_create(const ParsedJson& parsed) {
    return decode(upload_create_table(), parsed);
}

Decoded<TokenCreate> decode_token_create(const ParsedJson& parsed) {
    return decode(token_create_table(), parsed);
}

Decoded<LoginRequest> decode_login(const ParsedJson& parsed) {
    return decode(login_table(), parsed);
}

Decoded<JoinTokenCreate> decode_join_token_create(const ParsedJson& parsed) {
    return decode(join_token_create_table(), parsed);
}

Decoded<HostDrainRequest> decode_host_drain(const ParsedJson& parsed) {
    return decode(host_drain_request_table(), parsed);
}

Decoded<QueueSimulateBody> decode_queue_simulate(const ParsedJson& parsed) {
    return decode(queue_simulate_table(), parsed);
}

Decoded<MemberPut> decode_member_put(const ParsedJson& parsed) {
    return decode(member_put_table(), parsed);
}

Decoded<GroupPut> decode_group_put(const ParsedJson& parsed) {
    return decode(group_put_table(), parsed);
}

Decoded<ProjectCreate> decode_project_create(const ParsedJson& parsed) {
    return decode(project_create_table(), parsed);
}

Decoded<ProjectPatch> decode_project_patch(const ParsedJson& parsed) {
    return decode(project_patch_table(), parsed);
}

Decoded<ProjectQuota> decode_project_quota(const ParsedJson& parsed) {
    return decode(project_quota_table(), parsed);
}

Decoded<WebhookPatch> decode_webhook_patch(const ParsedJson& parsed) {
    return decode(webhook_patch_table(), parsed);
}

Decoded<WebhookCreate> decode_webhook_create(const ParsedJson& parsed) {
    return decode(webhook_create_table(), parsed);
}

Decoded<SweepSpec> decode_sweep(const ParsedJson& parsed) {
    return decode(sweep_table(), parsed);
}

Decoded<SweepSpec> decode_sweep(const Json& json) {
    return decode(sweep_table(), json);
}

Decoded<SweepPatchBody> decode_sweep_patch(const ParsedJson& parsed) {
    return decode(sweep_patch_table(), parsed);
}

Decoded<SweepExtendBody> decode_sweep_extend(const ParsedJson& parsed) {
    return decode(sweep_extend_table(), parsed);
}

Decoded<RetryFailedBody> decode_retry_failed(const ParsedJson& parsed) {
    return decode(retry_failed_table(), parsed);
}

Decoded<SweepPromoteBody> decode_sweep_promote(const ParsedJson& parsed) {
    return decode(sweep_promote_table(), parsed);
}

Decoded<SweepSuggestBody> decode_sweep_suggest(const ParsedJson& parsed) {
    return decode(sweep_suggest_table(), parsed);
}

Decoded<SweepObserveBody> decode_sweep_observe(const ParsedJson& parsed) {
    return decode(sweep_observe_table(), parsed);
}

Decoded<SweepSimulateBody> decode_sweep_simulate(const ParsedJson& parsed) {
    return decode(sweep_simulate_table(), parsed);
}

Json encode(const JobSpec& spec) {
    return job_table().write(spec);
}

Json encode(const EffectiveValues& values) {
    return {{"world_size", values.world_size},
            {"global_batch", values.global_batch},
            {"lr", values.lr},
            {"precision", to_string(values.precision)}};
}

Json encode(const CrossValidationSpec& spec) {
    Json json = cross_validation_table().write(spec);
    // Each fold has its own.
    for (const char* name : {"name", "project"})
        json["job"].erase(name);
    json["job"]["data"].erase("split");
    return json;
}

Json encode(const PredictionSpec& prediction) {
    return prediction_table().write(prediction);
}

Json encode_effective(const PredictionSpec& prediction) {
    return {{"world_size", prediction.accelerator.cores},
            {"global_batch", global_batch(prediction)},
            {"lr", nullptr},
            {"precision", to_string(prediction.precision.value_or(Precision::f32))}};
}

Json encode(const EvaluationSpec& evaluation) {
    return evaluation_spec_table().write(evaluation);
}

Json encode(const DatasetCreate& dataset) {
    Json json = dataset_create_table().write(dataset);
    json["options"] = encode_dataset_options(dataset);
    return json;
}

Json encode(const SweepSpec& sweep) {
    return sweep_table().write(sweep);
}

Json encode(const SplitCreate& split) {
    return split_create_table().write(split);
}

Json encode_dataset_options(const DatasetCreate& dataset) {
    return dataset_options_table().write_variant(&dataset.options, to_string(dataset.format));
}

std::string joined_messages(const std::vector<Problem>& problems) {
    std::string text;
    for (const Problem& problem : problems)
        text += (text.empty() ? "" : "\n") + problem.message;
    return text;
}

std::vector<Problem> check_document(std::string_view name, const Json& json) {
    const ObjectTable* const table = find_table(name);
    check(table != nullptr, "a document's name is in the tables");
    return table->check(json);
}

Json schema_document(std::string_view name) {
    const ObjectTable* const table = find_table(name);
    if (table == nullptr) {
        throw Error{ErrorCode::not_found,
                    fmt::format("there is no document {}; see /openapi.json", shortened(name))};
    }
    Definitions definitions("#/$defs/");
    Json schema = table->schema(definitions);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    schema["title"] = name;
    if (!definitions.all().empty()) schema["$defs"] = definitions.all();
    return schema;
}

}    // namespace slipway
